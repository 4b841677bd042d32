"""Events as iCalendar text, what is taken, and a folder as a calendar."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import icalendar
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import InvalidSettings, ProviderFailed, UnknownProvider
from salon.gate.ends import Done, NotDone, NotNow
from salon.gate.means import CalendarEvent
from salon.providers.calendar import CalendarOptions, open_calendar
from salon.providers.calendar.busy import busy_in
from salon.providers.calendar.event_text import event_text, folded
from salon.providers.writing_once import write_once

BERLIN = ZoneInfo("Europe/Berlin")
NINE = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)


def make_event(title: str = "A call", uid: str = "salon-1") -> CalendarEvent:
    return CalendarEvent(
        uid=uid,
        title=title,
        start=NINE,
        end=NINE + timedelta(minutes=30),
        description="Call with Jo",
        reminder_minutes=15,
        stamped_at=NINE,
    )


def test_an_event_is_what_other_programs_read() -> None:
    text = event_text(make_event("Grüße, \\ and; more\nSUMMARY:another"))
    found: Any = icalendar.Calendar.from_ical(text)
    [read] = found.walk("VEVENT")
    assert read["SUMMARY"] == "Grüße, \\ and; more\nSUMMARY:another"
    assert read["UID"] == "salon-1"
    assert read["DTSTART"].dt == NINE
    assert read["DTEND"].dt - read["DTSTART"].dt == timedelta(minutes=30)
    [alarm] = read.walk("VALARM")
    assert alarm["TRIGGER"].dt == timedelta(minutes=-15)
    assert text == event_text(make_event("Grüße, \\ and; more\nSUMMARY:another")), "every try"


@given(st.text(max_size=200))
def test_no_title_can_become_a_property_of_its_own(title: str) -> None:
    title = title.encode(errors="replace").decode()
    lines = event_text(make_event(title)).replace(b"\r\n ", b"").split(b"\r\n")
    names = [line.split(b":")[0] for line in lines if line]
    assert names.count(b"SUMMARY") == 1
    assert len(lines) == len(event_text(make_event()).replace(b"\r\n ", b"").split(b"\r\n"))


@given(st.text(alphabet="aü€😀", max_size=300))
def test_lines_are_folded_at_75_bytes_and_never_inside_a_character(text: str) -> None:
    lines = folded(text).split(b"\r\n")[:-1]
    assert all(len(line) <= 75 for line in lines)
    assert lines[0].decode() + "".join(line.decode()[1:] for line in lines[1:]) == text


def _calendar(*lines: str) -> str:
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", *lines, "END:VCALENDAR", ""])


def _event(*lines: str) -> str:
    return _calendar("BEGIN:VEVENT", "UID:x", "DTSTAMP:20260101T000000Z", *lines, "END:VEVENT")


@pytest.mark.parametrize(
    ("lines", "taken"),
    [
        (("DTSTART:20261116T080000Z", "DTEND:20261116T083000Z"), [("08:00", "08:30")]),
        (("DTSTART:20261116T090000", "DURATION:PT45M"), [("08:00", "08:45")]),
        (("DTSTART;TZID=America/New_York:20261116T030000", "DURATION:PT1H"), [("08:00", "09:00")]),
        (("DTSTART;VALUE=DATE:20261116",), [("23:00", "23:00")]),
        (("DTSTART:20261109T080000Z", "DURATION:PT15M", "RRULE:FREQ=WEEKLY"), [("08:00", "08:15")]),
        (
            ("DTSTART:20261109T080000Z", "DURATION:PT15M", "RRULE:FREQ=WEEKLY",
             "EXDATE:20261116T080000Z"),
            [],
        ),
        (("DTSTART:20261116T080000Z", "DURATION:PT1H", "TRANSP:TRANSPARENT"), []),
        (("DTSTART:20261116T080000Z", "DURATION:PT1H", "STATUS:CANCELLED"), []),
        (("DTSTART:20261116T080000Z",), []),
        (("DTSTART:20261118T080000Z", "DURATION:PT1H"), []),
    ],
    ids=["in UTC", "floating", "with a zone", "a whole day", "repeated", "an exception",
         "transparent", "cancelled", "without length", "another day"],
)  # fmt: skip
def test_what_is_taken_is_read_as_calendar_programs_do(
    lines: tuple[str, ...], taken: list[tuple[str, str]]
) -> None:
    start = datetime(2026, 11, 15, 23, 0, tzinfo=UTC)
    found = busy_in([_event(*lines)], start, start + timedelta(days=1), BERLIN)
    assert [(f"{one.start:%H:%M}", f"{one.end:%H:%M}") for one in found] == taken


def test_a_calendar_that_cannot_be_read_is_an_error_and_not_an_empty_one() -> None:
    for text in ("nonsense", _event("DTSTART:yesterday")):
        with pytest.raises(ProviderFailed, match="cannot be read"):
            busy_in([text], NINE, NINE + timedelta(days=1), BERLIN)


def test_a_folder_is_a_calendar(tmp_path: Path) -> None:
    calendar = open_calendar(f"ics:{tmp_path / 'events'}", CalendarOptions(zone=BERLIN))
    assert list(calendar.busy(NINE, NINE + timedelta(days=1))) == []
    assert calendar.look("salon-1") == NotDone()
    done = calendar.add(make_event())
    assert isinstance(done, Done)
    assert "Monday, November 16, 2026 at 9:00 AM (CET)" in done.receipt.text
    [busy] = calendar.busy(NINE, NINE + timedelta(hours=1))
    assert busy.start == NINE
    assert isinstance(calendar.look("salon-1"), Done)
    calendar.add(make_event("Another title"))
    [path] = (tmp_path / "events").iterdir()
    assert b"SUMMARY:A call" in path.read_bytes(), "the first one stays"
    assert list(calendar.busy(NINE + timedelta(days=1), NINE + timedelta(days=2))) == []


def test_a_folder_that_cannot_be_used_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    calendar = open_calendar(f"ics:{tmp_path / 'file'}", CalendarOptions(zone=BERLIN))
    assert isinstance(calendar.add(make_event()), NotNow)
    folder = open_calendar(f"ics:{tmp_path}", CalendarOptions(zone=BERLIN))
    (tmp_path / "dir.ics").mkdir()
    with pytest.raises(ProviderFailed, match="cannot be read"):
        folder.busy(NINE, NINE)
    (tmp_path / "dir.ics").rmdir()
    assert list(folder.busy(NINE, NINE)) == []


@pytest.mark.parametrize("address", ["", "ics:", "google:me", "caldav:"])
def test_an_address_that_means_nothing_is_refused(address: str) -> None:
    with pytest.raises(UnknownProvider, match="no calendar"):
        open_calendar(address, CalendarOptions(zone=BERLIN))


@pytest.mark.parametrize(
    "url", ["ftp://x/", "https://meg:secret@x/", "nothing", "http://calendar.example.com/"]
)
def test_an_address_that_would_give_the_password_away_is_refused(url: str) -> None:
    options = CalendarOptions(zone=BERLIN, user="meg", password="secret")
    with pytest.raises(InvalidSettings) as refused:
        open_calendar(f"caldav:{url}", options)
    assert "secret" not in str(refused.value)
    assert "secret" not in repr(options)


def test_a_file_is_written_whole_once_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new" / "file"
    assert write_once(path, b"one") is True
    assert write_once(path, b"two") is False
    assert path.read_bytes() == b"one"
    assert [one.name for one in path.parent.iterdir()] == ["file"]

    def fail(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr("os.link", fail)
    with pytest.raises(OSError, match="no links"):
        write_once(tmp_path / "other", b"x")
    assert not list(tmp_path.glob(".*"))
    monkeypatch.undo()
    monkeypatch.setattr("salon.providers.writing_once._HAS_FOLDER_SYNC", False)
    assert write_once(tmp_path / "third", b"x")


def test_without_the_extra_one_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "recurring_ical_events", None)
    with pytest.raises(UnknownProvider, match="extra"):
        busy_in(["x"], NINE, NINE, BERLIN)
