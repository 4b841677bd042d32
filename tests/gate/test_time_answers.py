"""Times in answers: what could mean two things is asked about again."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.gate.actions import Problem, Reading
from salon.gate.time_answers import read_time, spell_time

ZONE = ZoneInfo("America/New_York")
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)  # a Sunday
READING = Reading(now=NOW, zone=ZONE)
OFFERED = tuple(datetime(2026, 11, 16, hour, 0, tzinfo=UTC) for hour in (14, 15, 16))


def _read(text: str, offered: tuple[datetime, ...] = OFFERED) -> str:
    found = read_time(text, READING, offered=offered, minutes=30)
    if found is None or isinstance(found, Problem):
        return "asks" if found else "nothing"
    return f"{found.astimezone(ZONE):%a %Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("the second one", "Mon 2026-11-16 10:00"),
        ("1", "Mon 2026-11-16 09:00"),
        ("Option 2, please", "Mon 2026-11-16 10:00"),
        ("#3", "Mon 2026-11-16 11:00"),
        ("the last one", "Mon 2026-11-16 11:00"),
        ("let's do the first", "Mon 2026-11-16 09:00"),
        ("10", "Mon 2026-11-16 10:00"),
        ("11 am", "Mon 2026-11-16 11:00"),
        ("Tuesday at 3", "Tue 2026-11-17 15:00"),
        ("on tuesday, 3 p.m.", "Tue 2026-11-17 15:00"),
        ("how about Wed at 9:30?", "nothing"),
        ("Wed at 9:30", "Wed 2026-11-18 09:30"),
        ("2026-11-20 15:00", "Fri 2026-11-20 15:00"),
        ("2026-11-20T15:00", "Fri 2026-11-20 15:00"),
        ("Nov 20 at 3pm", "Fri 2026-11-20 15:00"),
        ("20 November, 15:00", "Fri 2026-11-20 15:00"),
        ("the 20th of November at noon", "Fri 2026-11-20 12:00"),
        ("tomorrow at 10", "Mon 2026-11-16 10:00"),
        ("January 8 at 4", "Fri 2027-01-08 16:00"),
        ("November 20, 2026 at 12", "Fri 2026-11-20 12:00"),
    ],
)
def test_clear_times_are_understood(text: str, meaning: str) -> None:
    assert _read(text) == meaning


@pytest.mark.parametrize(
    "text",
    [
        "the fifth one",  # three were offered
        "11/20 at 3",  # which is the month?
        "next tuesday at 3",  # which week?
        "sunday at 3",  # today is a Sunday
        "tuesday",  # when?
        "at 4",  # on which day?
        "tuesday at 8",  # neither morning nor evening is in the hours
        "tuesday at 17:00",  # it would end after five
        "saturday at 10",
        "2026-02-30 10:00",
        "2026-11-13 10:00",  # it has passed
        "2028-11-13 10:00",  # too far away
        "tuesday at 25",
        "tuesday at 13 pm",
        "2027-03-14 02:30",  # the clocks skip it, and it is a Sunday
    ],
)
def test_what_is_open_or_impossible_is_asked_again(text: str) -> None:
    assert _read(text) == "asks"


@pytest.mark.parametrize("text", ["", "Jordan Lee", "maybe", "tuesday at 3 or so", "yes", "soon"])
def test_what_names_no_time_is_none(text: str) -> None:
    assert _read(text) == "nothing"


def test_a_time_that_was_offered_is_understood_in_the_very_words_of_the_offer() -> None:
    for one in OFFERED:
        shown = spell_time(one, READING)
        assert read_time(shown, READING, offered=OFFERED, minutes=30) == one
        assert read_time(shown, READING, offered=(), minutes=30) is None


def test_a_bare_number_that_is_also_an_hour_is_asked_about() -> None:
    afternoon = tuple(datetime(2026, 11, 16, hour, 0, tzinfo=UTC) for hour in (19, 20, 21))
    assert [f"{one.astimezone(ZONE):%H}" for one in afternoon] == ["14", "15", "16"]
    assert _read("3", afternoon) == "asks"  # the third one, or three o'clock
    assert _read("the third one", afternoon) == "Mon 2026-11-16 16:00"
    assert _read("3pm", afternoon) == "Mon 2026-11-16 15:00"


def test_a_day_with_one_offered_time_names_it() -> None:
    one_each = (OFFERED[0], OFFERED[0] + timedelta(days=1))
    assert _read("tuesday", one_each) == "Tue 2026-11-17 09:00"
    assert _read("9", one_each) == "asks"
    assert _read("first", ()) == "asks"
    assert _read("1", ()) == "nothing"


def test_a_time_is_spelled_with_nothing_left_open() -> None:
    assert spell_time(OFFERED[0], READING) == "Monday, November 16, 2026 at 9:00 AM (EST)"


@given(st.text(max_size=60))
def test_whatever_is_typed_gives_a_time_ahead_or_a_question(text: str) -> None:
    found = read_time(text, READING, offered=OFFERED, minutes=30)
    if isinstance(found, datetime):
        assert found > NOW


@given(st.dates(date(2026, 11, 16), date(2027, 11, 1)), st.integers(9, 16))
def test_an_exact_time_is_read_back_exactly(day: date, hour: int) -> None:
    found = read_time(f"{day:%Y-%m-%d} {hour}:00", READING, offered=OFFERED, minutes=30)
    if day.weekday() < 5:
        assert isinstance(found, datetime)
        assert f"{found.astimezone(ZONE):%Y-%m-%d %H:%M}" == f"{day:%Y-%m-%d} {hour:02}:00"
    else:
        assert isinstance(found, Problem)
