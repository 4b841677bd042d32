"""An event as iCalendar text (RFC 5545): the same event gives the same bytes at every try.

Times are written in UTC, so no time zone has to be described. Text is escaped and long lines are
folded, so nothing in a title can become a property of its own.
"""

from datetime import UTC, datetime

from salon.gate.means import CalendarEvent

PRODUCT = "-//Salon//Salon//EN"
LONGEST_LINE = 75
"""In bytes, without the line break."""


def event_text(event: CalendarEvent) -> bytes:
    """Return a calendar that holds this one event."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        f"PRODID:{PRODUCT}",
        "CALSCALE:GREGORIAN",
        "BEGIN:VEVENT",
        f"UID:{escaped(event.uid)}",
        f"DTSTAMP:{stamp(event.stamped_at)}",
        f"DTSTART:{stamp(event.start)}",
        f"DTEND:{stamp(event.end)}",
        f"SUMMARY:{escaped(event.title)}",
        f"DESCRIPTION:{escaped(event.description)}",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        f"DESCRIPTION:{escaped(event.title)}",
        f"TRIGGER:-PT{event.reminder_minutes}M",
        "END:VALARM",
        "END:VEVENT",
        "END:VCALENDAR",
    ]
    return b"".join(folded(line) for line in lines)


def stamp(moment: datetime) -> str:
    """Spell an instant as iCalendar does."""
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def escaped(text: str) -> str:
    """Return a text as the value of a property; line breaks of any kind become `\\n`."""
    plain = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return "\\n".join(plain.splitlines())


def folded(line: str) -> bytes:
    """Return a line of at most 75 bytes, and what is left on lines that begin with a blank."""
    parts, current = [], b""
    for character in line:
        encoded = character.encode()
        if len(current) + len(encoded) > LONGEST_LINE:
            parts.append(current)
            current = b" "
        current += encoded
    return b"".join(part + b"\r\n" for part in [*parts, current])
