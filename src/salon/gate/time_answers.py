"""Understanding a time in an answer: "the second one", "Tuesday at 3", "2026-11-20 15:00".

Conservative: an answer that could mean two things is asked about again, never guessed. What was
understood is shown with its weekday, date and zone before anybody approves it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from salon.gate.actions import Problem, Reading
from salon.gate.availability import USUAL_HOURS, Hours, in_zone, is_offered

ORDINALS: dict[str, int] = {
    "first": 1, "1st": 1, "1": 1, "second": 2, "2nd": 2, "2": 2, "third": 3, "3rd": 3, "3": 3,
    "fourth": 4, "4th": 4, "4": 4, "fifth": 5, "5th": 5, "5": 5, "last": -1, "latest": -1,
    "earliest": 1,
}  # fmt: skip
WEEKDAYS: dict[str, int] = {
    "monday": 0, "mon": 0, "tuesday": 1, "tue": 1, "tues": 1, "wednesday": 2, "wed": 2,
    "thursday": 3, "thu": 3, "thur": 3, "thurs": 3, "friday": 4, "fri": 4, "saturday": 5, "sat": 5,
    "sunday": 6, "sun": 6,
}  # fmt: skip
MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sep sept", "october oct", "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
NEAR_DAYS: dict[str, int] = {"today": 0, "tomorrow": 1}
CLOCK_WORDS: dict[str, time] = {"noon": time(12), "midday": time(12)}
FARTHEST = timedelta(days=365)

_FILLERS = re.compile(
    r"\b(?:please|let'?s|do|take|i'?d|like|prefer|want|would|i|we|how|about|works?|thanks|"
    r"(?:is|are) (?:fine|good)|for me|then|book|schedule|it|for|on|at|the|of|option|number|slot|"
    r"one|choice|ok|okay|yes|sure|make|move|to)\b|[#,!.]+(?=\s|$)|#",
    re.IGNORECASE,
)
_ISO_DAY = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?:t(?=\d)|\b)", re.IGNORECASE)
_MONTHS = "|".join(sorted(MONTHS, key=len, reverse=True))
_MONTH_DAY = re.compile(
    rf"\b(?P<month>{_MONTHS})\.?\s+(?P<day>\d{{1,2}})(?![\d:])(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?\b",
    re.IGNORECASE,
)
_DAY_MONTH = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?P<month>{_MONTHS})\b\.?(?:,?\s+(?P<year>\d{{4}}))?",
    re.IGNORECASE,
)
_NUMERIC_DAY = re.compile(r"\b\d{1,2}[/.]\d{1,2}(?:[/.]\d{2,4})?(?![\d:])")
_WEEKDAY = re.compile(
    rf"\b(?P<next>next\s+)?(?P<day>{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_NEAR = re.compile(rf"\b(?P<day>{'|'.join(NEAR_DAYS)})\b", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?<![\d/.-])(?P<hour>\d{1,2})(?:[:h](?P<minute>\d{2}))?(?::00)?\s*"
    r"(?P<half>[ap])?\.?(?(half)m\b\.?|(?![\w/-]))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clock:
    """A time on a clock face that may still be in either half of the day."""

    options: tuple[time, ...]


def read_time(
    text: str,
    reading: Reading,
    *,
    offered: Sequence[datetime],
    minutes: int,
    hours: Hours = USUAL_HOURS,
) -> datetime | Problem | None:
    """Return the instant that an answer names; what to ask again; or `None` if it names none."""
    if (chosen := _find_spelled(text, reading, offered)) is not None:
        return chosen
    rest = " ".join(_FILLERS.sub(" ", text.casefold()).split())
    if (number := _find_ordinal(rest)) is not None:
        return _by_number(number, rest, offered, reading)
    if _NUMERIC_DAY.search(rest):
        return Problem("I am not sure which day that is; please write it like 2026-11-20.")
    day, rest = _take_day(rest, reading)
    if isinstance(day, Problem):
        return day
    clock, rest = _take_clock(rest)
    if rest or (day is None and clock is None):
        return None
    if day is not None and clock is not None:
        found = _at(day, clock, reading, minutes, hours)
    else:
        found = _among(day, clock, reading, offered)
    return (
        found if isinstance(found, Problem) else _require_possible(found, reading, minutes, hours)
    )


def spell_time(start: datetime, reading: Reading) -> str:
    """Return an instant as a person in the zone reads it, without anything left open."""
    local = start.astimezone(reading.zone)
    clock = f"{local:%I:%M %p}".lstrip("0")
    return f"{local:%A}, {local:%B} {local.day}, {local.year} at {clock} ({local:%Z})"


def _find_spelled(text: str, reading: Reading, offered: Sequence[datetime]) -> datetime | None:
    """Return the time that was offered in these very words: a form hands back what it showed."""
    said = " ".join(text.split())
    return next((one for one in offered if spell_time(one, reading) == said), None)


def _find_ordinal(rest: str) -> int | None:
    return ORDINALS.get(rest)


def _by_number(
    number: int, rest: str, offered: Sequence[datetime], reading: Reading
) -> datetime | Problem | None:
    if not offered:
        return None if rest.isdigit() else Problem("I have no times to choose from; name one.")
    if number > len(offered):
        return Problem(f"I offered {len(offered)} times; which of them, or which other time?")
    chosen = offered[number - 1 if number > 0 else number]
    if rest.isdigit():
        # "3" may be the third one or three o'clock, where another slot begins.
        at_that_hour = [
            one
            for one in offered
            if one.astimezone(reading.zone).hour % 12 == int(rest) % 12 and one != chosen
        ]
        if at_that_hour:
            return Problem("Do you mean the number in the list or the hour? Please say it in full.")
    return chosen


def _take_day(rest: str, reading: Reading) -> tuple[date | Problem | None, str]:
    today = reading.now.astimezone(reading.zone).date()
    if match := _ISO_DAY.search(rest):
        return _date(int(match[1]), int(match[2]), int(match[3])), _without(rest, match)
    if match := _MONTH_DAY.search(rest) or _DAY_MONTH.search(rest):
        return _named_date(match, today), _without(rest, match)
    if match := _NEAR.search(rest):
        return today + timedelta(days=NEAR_DAYS[match["day"]]), _without(rest, match)
    if match := _WEEKDAY.search(rest):
        return _weekday(match, today), _without(rest, match)
    return None, rest


def _named_date(match: re.Match[str], today: date) -> date | Problem:
    month, day = MONTHS[match["month"]], int(match["day"])
    if match["year"]:
        return _date(int(match["year"]), month, day)
    this_year = _date(today.year, month, day)
    if isinstance(this_year, date) and this_year < today:
        return _date(today.year + 1, month, day)
    return this_year


def _weekday(match: re.Match[str], today: date) -> date | Problem:
    ahead = (WEEKDAYS[match["day"]] - today.weekday()) % 7
    if match["next"] or ahead == 0:
        return Problem("I am not sure which week you mean; please give the date, like 2026-11-20.")
    return today + timedelta(days=ahead)


def _date(year: int, month: int, day: int) -> date | Problem:
    try:
        return date(year, month, day)
    except ValueError:
        return Problem("That day does not exist; please give another date.")


def _take_clock(rest: str) -> tuple[_Clock | None, str]:
    for word, at in CLOCK_WORDS.items():
        if re.search(rf"\b{word}\b", rest):
            return _Clock(options=(at,)), " ".join(rest.replace(word, " ").split())
    match = _CLOCK.search(rest)
    if match is None:
        return None, rest
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    options = tuple(
        time(one, minute) for one in _hours(hour, match["half"]) if one < 24 and minute < 60
    )
    return _Clock(options=options), _without(rest, match)


def _hours(hour: int, half: str | None) -> tuple[int, ...]:
    if half is not None:
        return (hour % 12 + (12 if half == "p" else 0),) if 1 <= hour <= 12 else ()
    return (hour % 12, hour % 12 + 12) if 1 <= hour <= 12 else (hour,)


def _among(
    day: date | None, clock: _Clock | None, reading: Reading, offered: Sequence[datetime]
) -> datetime | Problem:
    """Find the one time that was offered and fits a day without a time, or the reverse."""
    there = [(one, one.astimezone(reading.zone)) for one in offered]
    if clock is not None:
        matching = [one for one, local in there if local.time() in clock.options]
        question = Problem("On which day? Please give the day and the time.")
    else:
        matching = [one for one, local in there if local.date() == day]
        question = Problem("At what time on that day?")
    return matching[0] if len(matching) == 1 else question


def _at(
    day: date, clock: _Clock, reading: Reading, minutes: int, hours: Hours
) -> datetime | Problem:
    instants = [in_zone(day, one, reading.zone) for one in clock.options]
    real = [one for one in instants if one is not None]
    if not real:
        return Problem("The clocks do not show that time on that day; please give another one.")
    fitting = [one for one in real if is_offered(one, reading.zone, minutes, hours)]
    if len(fitting) == 1:
        return fitting[0]
    if len(real) == 1:
        return real[0]
    return Problem("In the morning or in the afternoon? Please give the time with am or pm.")


def _require_possible(
    start: datetime, reading: Reading, minutes: int, hours: Hours
) -> datetime | Problem:
    if start <= reading.now:
        return Problem("That time has passed; please give a later one.")
    if start - reading.now > FARTHEST:
        return Problem("That is more than a year away; please give an earlier date.")
    if not is_offered(start, reading.zone, minutes, hours):
        return Problem(
            f"I book on weekdays from {hours.opens:%H:%M} to {hours.closes:%H:%M}; "
            "please give a time in these hours."
        )
    return start


def _without(text: str, match: re.Match[str]) -> str:
    return " ".join((text[: match.start()] + " " + text[match.end() :]).split())
