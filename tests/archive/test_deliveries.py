"""Deliveries: what is taken once stays taken, until whoever took it ends without an answer."""

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from salon.archive.deliveries import KEPT, Deliveries, Standing
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import Conflict

EVENTS = 60
TAKER = f"""
import sys
from salon.archive.deliveries import Deliveries
from salon.archive.sqlite_archive import SqliteArchive
with SqliteArchive(sys.argv[1]) as archive, Deliveries(archive) as deliveries:
    deliveries.count()
    print("ready", flush=True)
    sys.stdin.readline()
    taken = [deliveries.take("slack", f"Ev{{n}}").standing for n in range({EVENTS})]
    print(" ".join(taken), flush=True)
    sys.stdin.readline()
"""
HOLDER = """
import sys
from salon.archive.deliveries import Deliveries
from salon.archive.sqlite_archive import SqliteArchive
deliveries = Deliveries(SqliteArchive(sys.argv[1]))
delivery = deliveries.take("slack", "Ev1")
if sys.argv[2] == "sending":
    deliveries.sending(delivery)
print("held", flush=True)
sys.stdin.readline()
"""


class SetClock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 15, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


class Home:
    """One archive file and those who take deliveries from it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "salon.db"
        self.clock = SetClock()
        self._opened: list[SqliteArchive | Deliveries] = []

    def archive(self) -> SqliteArchive:
        archive = SqliteArchive(self.file)
        self._opened.append(archive)
        return archive

    def deliveries(self) -> Deliveries:
        """Return what another process would have: its own archive, its own lock."""
        made = Deliveries(self.archive(), clock=self.clock)
        self._opened.append(made)
        return made

    def run(self, program: str, *args: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", program, str(self.file), *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        for one in reversed(self._opened):
            one.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.close()


def test_a_delivery_is_taken_once(home: Home) -> None:
    here, there = home.deliveries(), home.deliveries()
    delivery = here.take("slack", "Ev1")
    assert delivery.standing is Standing.MINE
    assert here.take("slack", "Ev1").standing is Standing.KNOWN
    assert there.take("slack", "Ev1").standing is Standing.ELSEWHERE
    assert there.take("discord", "Ev1").standing is Standing.MINE
    here.sending(delivery)
    here.sending(delivery)
    assert there.take("slack", "Ev1").standing is Standing.ELSEWHERE
    here.answered(delivery)
    assert there.take("slack", "Ev1").standing is Standing.KNOWN


def test_what_was_answered_stays_so_after_a_restart(home: Home) -> None:
    here = home.deliveries()
    here.answered(here.take("slack", "Ev1"))
    here.close()
    assert home.deliveries().take("slack", "Ev1").standing is Standing.KNOWN
    assert here.take("slack", "Ev1").standing is Standing.KNOWN


def test_what_a_process_leaves_is_the_next_ones(home: Home) -> None:
    here, there, third = home.deliveries(), home.deliveries(), home.deliveries()
    delivery = here.take("slack", "Ev1")
    here.close()
    assert there.take("slack", "Ev1").standing is Standing.MINE
    with pytest.raises(Conflict, match="another process"):
        here.sending(delivery)
    there.sending(there.take("slack", "Ev2"))
    there.close()
    doubtful = third.take("slack", "Ev2")
    assert doubtful.standing is Standing.IN_DOUBT
    third.sending(doubtful)
    third.answered(doubtful)
    assert here.take("slack", "Ev2").standing is Standing.KNOWN


def test_what_failed_is_given_back_as_it_stands(home: Home) -> None:
    here, there = home.deliveries(), home.deliveries()
    delivery = here.take("slack", "Ev1")
    here.give_back(delivery)
    delivery = there.take("slack", "Ev1")
    assert delivery.standing is Standing.MINE
    there.sending(delivery)
    there.give_back(delivery)
    assert there.take("slack", "Ev1").standing is Standing.IN_DOUBT


@pytest.mark.parametrize(
    ("state", "standing"), [("taken", Standing.MINE), ("sending", Standing.IN_DOUBT)]
)
def test_a_process_that_is_killed_holds_nothing_back(
    home: Home, state: str, standing: Standing
) -> None:
    with home.run(HOLDER, state) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        here = home.deliveries()
        assert here.take("slack", "Ev1").standing is Standing.ELSEWHERE
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert here.take("slack", "Ev1").standing is standing
    # What it locked is gone too; only those who still run have a file.
    assert len(list((home.file.parent / "workers").iterdir())) == 1


def test_of_two_processes_one_gets_each_event(home: Home) -> None:
    home.archive()
    with home.run(TAKER) as first, home.run(TAKER) as second:
        for one in (first, second):
            assert one.stdout
            assert one.stdout.readline() == "ready\n"
        for one in (first, second):
            assert one.stdin
            print(file=one.stdin, flush=True)
        said = [one.stdout.readline().split() for one in (first, second) if one.stdout]
        for one in (first, second):
            one.communicate("\n")
    assert [len(one) for one in said] == [EVENTS, EVENTS]
    for both in zip(*said, strict=True):
        assert sorted(both) == ["elsewhere", "mine"]


def test_of_many_threads_one_gets_each_event(home: Home) -> None:
    takers = [home.deliveries(), home.deliveries()]
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(
            lambda number: takers[number % 2].take("slack", f"Ev{number // 8}").standing,
            range(8 * EVENTS),
        )
    assert Counter(found)[Standing.MINE] == EVENTS


def test_deliveries_are_forgotten_after_a_while(home: Home) -> None:
    here = home.deliveries()
    here.answered(here.take("slack", "Ev1"))
    home.clock.at += KEPT - timedelta(seconds=1)
    for number in range(EVENTS):
        here.answered(here.take("slack", f"later-{number}"))
    assert here.take("slack", "Ev1").standing is Standing.KNOWN
    home.clock.at += timedelta(seconds=2)
    here.take("slack", "another")
    assert here.count() == EVENTS + 1
    home.clock.at += KEPT * 2
    assert here.take("slack", "Ev1").standing is Standing.MINE
    assert here.count() == 1


def test_nothing_of_an_event_is_kept_and_nothing_is_said_of_it(home: Home) -> None:
    archive = home.archive()
    before = archive.checkpoint()
    with Deliveries(archive) as here:
        here.sending(here.take("harmonica", "what did alice ask? \ud800"))
    assert archive.checkpoint() == before
    assert archive.verify().is_sound
    archive.close()
    assert b"alice" not in home.file.read_bytes()
