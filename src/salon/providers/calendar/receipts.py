"""What a person is told once an event is in a calendar."""

from zoneinfo import ZoneInfo

from salon.gate.actions import Reading
from salon.gate.ends import Receipt
from salon.gate.means import CalendarEvent
from salon.gate.time_answers import spell_time


def receipt_of(event: CalendarEvent, zone: ZoneInfo, *, reference: str) -> Receipt:
    """Return the receipt of an event."""
    when = spell_time(event.start, Reading(now=event.start, zone=zone))
    return Receipt(text=f"“{event.title}” is in the calendar, {when}.", reference=reference)
