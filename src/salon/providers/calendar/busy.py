"""From iCalendar text to what is taken: repeated events, whole days, events that block nothing.

Needs the extra `actions`. A calendar that cannot be read is an error and not an empty one, since
an empty one would say that every time is free.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from salon.core.errors import ProviderFailed, UnknownProvider
from salon.gate.means import Busy

_FREE = {"TRANSP": "TRANSPARENT", "STATUS": "CANCELLED"}
"""Events with one of these take no time."""
_A_DAY = timedelta(days=1)


def busy_in(
    calendars: Iterable[bytes | str], start: datetime, end: datetime, zone: ZoneInfo
) -> list[Busy]:
    """Return what is taken between two instants, in order; whole days are days of `zone`."""
    found = [
        one
        for text in calendars
        for one in _events(text, start, end, zone)
        if one.start < end and one.end > start
    ]
    return sorted(found, key=lambda one: (one.start, one.end))


def _events(text: bytes | str, start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[Busy]:
    try:
        import icalendar
        import recurring_ical_events  # type: ignore[import-untyped]
    except ImportError as error:
        raise UnknownProvider(
            "calendars cannot be read without the extra", hint="pip install 'salon[actions]'"
        ) from error
    try:
        for calendar in icalendar.Calendar.from_ical(text, multiple=True):
            # A day more on both sides: whole days and floating times depend on the zone.
            near = recurring_ical_events.of(calendar).between(start - _A_DAY, end + _A_DAY)
            yield from (one for event in near if (one := _busy(event, zone)) is not None)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ProviderFailed(
            f"a calendar cannot be read: {error}", hint="open it in a calendar program"
        ) from error


def _busy(event: Any, zone: ZoneInfo) -> Busy | None:
    if any(str(event.get(name, "")).upper() == value for name, value in _FREE.items()):
        return None
    begins, ends = event["DTSTART"].dt, event["DTEND"].dt  # the expansion writes both
    start, end = _instant(begins, zone), _instant(ends, zone)
    return Busy(start=start, end=end) if end > start else None


def _instant(moment: date | datetime, zone: ZoneInfo) -> datetime:
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time(0))
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
