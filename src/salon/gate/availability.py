"""Free times: half-hour slots on weekdays between nine and five, in the person's own zone.

All arithmetic is on instants; the wall clock of a zone only says when a working day begins and
ends. A wall time that a change of the clocks skips does not exist and is never offered.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from salon.core.errors import InvalidInput
from salon.gate.means import Busy

DEFAULT_ZONE = "America/New_York"
"""Where nothing is set and the system does not say which zone it is in."""
_SATURDAY = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """When calls are offered."""

    opens: time = time(9)
    closes: time = time(17)
    slot_minutes: int = 30
    days_ahead: int = 7
    most: int = 3


USUAL_HOURS = Hours()


def get_zone(name: str) -> ZoneInfo:
    """Return a time zone by its name, or raise `InvalidInput`."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"there is no time zone {name!r}", hint="give a name such as Europe/Berlin"
        ) from error


def free_slots(
    busy: Sequence[Busy],
    *,
    now: datetime,
    zone: ZoneInfo,
    hours: Hours = USUAL_HOURS,
    minutes: int | None = None,
) -> list[datetime]:
    """Return the first free starts, as instants in UTC; a call of `minutes` fits into each."""
    found = []
    for start in _starts(now, zone, hours, minutes or hours.slot_minutes):
        if is_free(start, minutes or hours.slot_minutes, busy):
            found.append(start)
            if len(found) == hours.most:
                break
    return found


def is_free(start: datetime, minutes: int, busy: Sequence[Busy]) -> bool:
    """Tell whether nothing is in the way of so many minutes from an instant on."""
    end = start + timedelta(minutes=minutes)
    return all(one.end <= start or one.start >= end for one in busy)


def is_offered(start: datetime, zone: ZoneInfo, minutes: int, hours: Hours = USUAL_HOURS) -> bool:
    """Tell whether an instant lies inside the working hours of its day."""
    local = start.astimezone(zone)
    opens, closes = _bounds(local.date(), zone, hours)
    is_weekday = local.weekday() < _SATURDAY
    return is_weekday and opens <= start and start + timedelta(minutes=minutes) <= closes


def horizon(now: datetime, zone: ZoneInfo, hours: Hours = USUAL_HOURS) -> datetime:
    """Return the end of the last day on which something is offered."""
    last = now.astimezone(zone).date() + timedelta(days=hours.days_ahead)
    return _bounds(last, zone, hours)[1]


def in_zone(day: date, at: time, zone: ZoneInfo) -> datetime | None:
    """Return the instant at which a zone's clocks show this, `None` if they skip it.

    What they show twice is taken the first time.
    """
    wall = datetime.combine(day, at, tzinfo=zone)
    instant = wall.astimezone(UTC)
    shown = instant.astimezone(zone)
    return instant if shown.replace(tzinfo=None) == wall.replace(tzinfo=None) else None


def _starts(now: datetime, zone: ZoneInfo, hours: Hours, minutes: int) -> Iterator[datetime]:
    first = now.astimezone(zone).date()
    for ahead in range(hours.days_ahead + 1):
        day = first + timedelta(days=ahead)
        if day.weekday() >= _SATURDAY:
            continue
        opens, closes = _bounds(day, zone, hours)
        start = opens
        while start + timedelta(minutes=minutes) <= closes:
            if start > now:
                yield start
            start += timedelta(minutes=hours.slot_minutes)


def _bounds(day: date, zone: ZoneInfo, hours: Hours) -> tuple[datetime, datetime]:
    """Return when a working day begins and ends; clocks that skip these times are read anyway."""
    opens = datetime.combine(day, hours.opens, tzinfo=zone).astimezone(UTC)
    closes = datetime.combine(day, hours.closes, tzinfo=zone).astimezone(UTC)
    return opens, closes
