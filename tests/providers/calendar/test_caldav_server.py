"""CalDAV against a real Radicale: an event once, whatever happens on the way."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Thread
from zoneinfo import ZoneInfo

import pytest

from salon.core.errors import ProviderFailed, UnknownProvider
from salon.gate.ends import Done, NotDone, NotNow, Refused, Unclear
from salon.gate.means import Calendar
from salon.providers.calendar import CalendarOptions, open_calendar
from tests.providers.calendar.server import (
    PASSWORD,
    USER,
    calendar_server,
    events,
    free_port,
)
from tests.providers.calendar.test_calendar_files import NINE, make_event

ZONE = ZoneInfo("Europe/Berlin")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("radicale")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with calendar_server(folder) as address:
        yield address


def _open(url: str, *, password: str | None = PASSWORD, timeout_s: float = 20) -> Calendar:
    options = CalendarOptions(zone=ZONE, user=USER, password=password, timeout_s=timeout_s)
    return open_calendar(f"caldav:{url}", options)


def test_an_event_is_there_once_however_often_it_is_put(url: str, folder: Path) -> None:
    calendar, event = _open(url), make_event(uid="salon-once")
    assert calendar.look(event.uid) == NotDone()
    first = calendar.add(event)
    assert isinstance(first, Done)
    assert first == calendar.add(event)
    assert isinstance(calendar.look(event.uid), Done)
    kept = [text for text in events(folder) if "UID:salon-once" in text]
    assert len(kept) == 1
    assert "SUMMARY:A call" in kept[0]
    [busy] = calendar.busy(NINE - timedelta(hours=1), NINE + timedelta(hours=1))
    assert (busy.start, busy.end) == (event.start, event.end)


def test_an_event_that_lies_elsewhere_under_its_uid_is_found(url: str, folder: Path) -> None:
    place = folder / "collections" / "collection-root" / USER / "work"
    [known] = [path for path in place.glob("*.ics") if "salon-once" in path.read_text()]
    (place / "moved-by-somebody.ics").write_text(
        known.read_text().replace("salon-once", "salon-moved")
    )
    assert isinstance(_open(url).look("salon-moved"), Done)
    assert isinstance(_open(url).add(make_event(uid="salon-moved")), Done)
    assert sum("UID:salon-moved" in text for text in events(folder)) == 1


def test_a_wrong_password_is_refused_and_not_repeated_in_a_message(url: str) -> None:
    calendar = _open(url, password="wrong-secret")
    refused = calendar.add(make_event(uid="salon-2"))
    assert isinstance(refused, Refused)
    assert "wrong-secret" not in refused.reason
    assert isinstance(calendar.look("salon-2"), Unclear)
    with pytest.raises(ProviderFailed, match="user or password"):
        calendar.busy(NINE, NINE)


def test_a_calendar_that_is_not_there_is_refused(url: str) -> None:
    calendar = _open(url.replace("work", "nowhere"))
    assert isinstance(calendar.add(make_event(uid="salon-3")), Refused)
    with pytest.raises(ProviderFailed, match="no such calendar"):
        calendar.busy(NINE, NINE + timedelta(days=1))


def test_a_server_that_is_not_there_was_certainly_told_nothing() -> None:
    calendar = _open(f"http://127.0.0.1:{free_port()}/x/")
    assert isinstance(calendar.add(make_event()), NotNow)
    assert isinstance(calendar.look("x"), Unclear)
    with pytest.raises(ProviderFailed, match="cannot be used"):
        calendar.busy(NINE, NINE)


@pytest.fixture
def answers() -> Iterator[tuple[str, list[bytes]]]:
    """A server that gives the next of these answers to every request; an empty one hangs up."""
    queue: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65_536)
                    answer = queue.pop(0) if queue else b""
                    if answer == b"wait":
                        while connection.recv(65_536):
                            pass  # until the other side has had enough
                    else:
                        connection.sendall(answer)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/cal/", queue
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def _status(code: int) -> bytes:
    return f"HTTP/1.1 {code} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def test_how_a_failing_server_ends_is_told_apart(answers: tuple[str, list[bytes]]) -> None:
    url, queue = answers
    calendar, hasty = _open(url, password=None), _open(url, password=None, timeout_s=0.3)
    for status, end in (
        (423, NotNow),
        (429, NotNow),
        (503, NotNow),
        (500, Unclear),
        (504, Unclear),
    ):
        queue += [_status(status)]
        assert isinstance(calendar.add(make_event()), end), status
    queue += [_status(412)]
    assert isinstance(calendar.add(make_event()), Done)
    queue += [b"wait"]
    late = hasty.add(make_event())
    assert isinstance(late, Unclear)
    assert "in time" in late.reason
    assert isinstance(calendar.add(make_event()), Unclear), "hung up in the middle"


def test_without_the_extra_one_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "caldav.davclient", None)
    with pytest.raises(UnknownProvider, match="extra"):
        _open("http://127.0.0.1:1/").busy(NINE, NINE)
