"""Finding entries of the audit log: what is found is what a walk over all of it would give."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from salon.archive.audit import finding
from salon.archive.migrations import MIGRATIONS
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import Archive
from salon.core.clock import instant
from salon.core.entries import EntryFilter, as_since, as_until, event_kinds
from salon.core.errors import InvalidInput
from salon.core.events import (
    ActionMoved,
    AuditEntry,
    AvatarUsed,
    CouncilMoved,
    Note,
    TurnTaken,
)
from tests.archive.backends import BACKENDS, START, Place
from tests.archive.raw import tamper
from tests.archive.samples import log

DIGEST = "d" * 64
ACTORS = ("ann", "ben", "the server")
NAMES = ("a", "b", "nobody")


def notes(number: int) -> tuple[Note, ...]:
    """Return what is noted in one go: some of it about the same things as before."""
    session = NAMES[number % 2]
    avatar = NAMES[number // 2 % 2]
    return (
        TurnTaken(avatar=avatar, session=session, number=number, message_sha256=DIGEST),
        AvatarUsed(avatar=avatar, act="ask", question_sha256=DIGEST, outcome="answered"),
        ActionMoved(action=f"act_{number}", flow="mail", session=session, moved_to="x", rule="r"),
        CouncilMoved(round=session, act="vote", seat="III", phase="voting"),
    )


def fill(archive: Archive, rounds: int = 4) -> None:
    """Write a log in which everything that can be asked for occurs, under several actors."""
    for number in range(rounds):
        by = ACTORS[number % 3]
        archive.put(NAMES[number % 2], f"text {number}".encode(), by=by)
        for note in notes(number):
            archive.write(lambda tx, note=note: tx.note(note), by=by)  # type: ignore[misc]


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def full(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Archive]:
    """Return an archive whose clock was set back once, as clocks are."""
    place = Place(tmp_path_factory.mktemp("full"), BACKENDS[request.param])
    first = place.open()
    fill(first)
    first.close()
    archive = place.open(start=START - timedelta(hours=1))
    fill(archive)
    yield archive
    place.close()


def fits(entry: AuditEntry, where: EntryFilter) -> bool:
    """Say the same as the filter, the plain way."""
    about = ("session", "round", "handle", "document", "avatar")
    return (
        (not where.kinds or entry.body["kind"] in where.kinds)
        and (where.by is None or entry.by == where.by)
        and all(
            getattr(where, name) is None or entry.body.get(name) == getattr(where, name)
            for name in about
        )
        and (where.since is None or entry.at >= where.since)
        and (where.until is None or entry.at <= where.until)
    )


names = st.none() | st.sampled_from(NAMES)
moments = st.none() | st.integers(-4000, 200).map(lambda n: instant(START + timedelta(seconds=n)))
filters = st.builds(
    EntryFilter,
    kinds=st.lists(st.sampled_from(event_kinds()), max_size=3).map(tuple),
    by=st.none() | st.sampled_from((*ACTORS, "nobody")),
    session=names,
    round=names,
    handle=names,
    avatar=names,
    since=moments,
    until=moments,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    where=filters,
    after=st.integers(0, 70),
    before=st.none() | st.integers(0, 70),
    newest_first=st.booleans(),
)
def test_what_is_found_is_what_a_walk_over_the_whole_log_gives(
    full: Archive, where: EntryFilter, after: int, before: int | None, newest_first: bool
) -> None:
    matching = [entry for entry in log(full) if fits(entry, where)]
    between = [one for one in matching if after < one.seq < (1000 if before is None else before)]
    found = list(
        full.audit_entries(after=after, before=before, where=where, newest_first=newest_first)
    )
    assert found == (between[::-1] if newest_first else between)
    assert full.count_audit_entries(where) == len(matching)


def test_a_clock_that_was_set_back_hides_nothing(full: Archive) -> None:
    times = [entry.at for entry in log(full)]
    assert times != sorted(times)
    end = instant(START - timedelta(minutes=30))
    found = list(full.audit_entries(where=EntryFilter(until=end)))
    assert [one.at for one in found] == [one for one in times if one <= end]
    assert found[0].seq > 1
    assert full.count_audit_entries(EntryFilter(until=end)) == len(found)


def test_numbers_far_beyond_the_log_are_answered(full: Archive) -> None:
    assert list(full.audit_entries(after=10**30)) == []
    assert len(list(full.audit_entries(before=10**30))) == full.checkpoint().seq


@pytest.mark.parametrize(
    "where",
    [
        EntryFilter(kinds=("turn_taken",)),
        EntryFilter(kinds=("turn_taken", "council_moved", "handle_set")),
        EntryFilter(session="a"),
        EntryFilter(round="a", kinds=("council_moved",)),
        EntryFilter(handle="a", by="ann"),
        EntryFilter(document="a"),
        EntryFilter(avatar="a", since=as_since("2020-01-01")),
        EntryFilter(by="ann"),
    ],
    ids=lambda one: "-".join(name for name, value in _given(one)),
)
@pytest.mark.parametrize("newest_first", [False, True], ids=["oldest", "newest"])
def test_an_index_leads_and_nothing_is_sorted(
    tmp_path: Path, where: EntryFilter, newest_first: bool
) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive:
        fill(archive)
        traced: list[str] = []

        def trace(_cursor: object, sql: str, _values: object) -> bool:
            traced.append(sql)
            return True

        with archive.snapshot() as connection:
            connection.set_exec_trace(trace)
            list(finding.find_entries(connection, where, newest_first=newest_first))
            connection.set_exec_trace(None)
            plans = [plan(connection, sql) for sql in traced]
    assert all("SCAN audit" not in one for one in plans), plans
    assert all("TEMP B-TREE" not in one for one in plans), plans
    assert "USING INDEX idx_audit_" in plans[-1]


def _given(where: EntryFilter) -> list[tuple[str, object]]:
    return [(name, value) for name in where.__slots__ if (value := getattr(where, name))]


def plan(connection: apsw.Connection, sql: str) -> str:
    """Return how SQLite goes about a query; what stands for its values does not matter."""
    steps = connection.execute(f"EXPLAIN QUERY PLAN {sql}", ["1"] * sql.count("?"))
    return "; ".join(str(step[3]) for step in steps)


def test_many_entries_are_not_counted_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "MOST_COUNTED", 3)
    common = EntryFilter(kinds=("turn_taken",))
    with SqliteArchive(tmp_path / "salon.db") as archive:
        fill(archive, rounds=6)
        rare = TurnTaken(avatar="a", session="rare", number=1, message_sha256=DIGEST)
        archive.write(lambda tx: tx.note(rare))
        assert archive.count_audit_entries(common) == 7, "the index alone tells"
        assert archive.count_audit_entries(replace(common, session="rare")) == 1
        assert archive.count_audit_entries(replace(common, avatar="a")) is None
        assert len(list(archive.audit_entries(where=replace(common, avatar="a")))) == 5
        monkeypatch.setattr(finding, "MOST_COUNTED_BY_INDEX", 5)
        assert archive.count_audit_entries(common) is None


def test_a_log_from_before_gets_its_indexes_and_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("salon.archive.migrations.MIGRATIONS", MIGRATIONS[:5])
        with SqliteArchive(tmp_path / "salon.db") as archive:
            fill(archive)
            head = archive.checkpoint()
    with SqliteArchive(tmp_path / "salon.db") as archive:
        assert archive.checkpoint() == head
        assert archive.verify().is_sound
        found = archive.audit_entries(where=EntryFilter(session="a"))
        assert [one.body["kind"] for one in found] == ["turn_taken", "action_moved"] * 2


@pytest.mark.parametrize("body", ["no json", "[1]", '{"kind": 3}', b"\x00\xff", "[" * 5000, ""])
def test_a_broken_entry_is_about_nothing_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str | bytes
) -> None:
    path = tmp_path / "salon.db"
    with monkeypatch.context() as patch:
        patch.setattr("salon.archive.migrations.MIGRATIONS", MIGRATIONS[:5])
        with SqliteArchive(path) as archive:
            fill(archive)
    tamper(path, "UPDATE audit SET body = ? WHERE seq = 3", (body,))
    with SqliteArchive(path) as archive:  # indexes what is there, whole or broken
        found = list(archive.audit_entries(where=EntryFilter(session="a")))
        assert [one.seq for one in found] == [5, 15, 17]
        assert not archive.verify().is_sound
    tamper(path, "UPDATE audit SET body = ? WHERE seq = 5", (body,))
    with SqliteArchive(path) as archive:
        found = list(archive.audit_entries(where=EntryFilter(session="a")))
        assert [one.seq for one in found] == [15, 17]


def test_a_page_is_read_while_the_log_grows(full: Archive) -> None:
    walk = full.audit_entries(newest_first=True)
    head = full.checkpoint().seq
    first = list(islice(walk, 3))
    full.write(lambda tx: tx.note(notes(0)[0]))
    assert [one.seq for one in (*first, *islice(walk, 3))] == list(range(head, head - 6, -1))


def test_a_kind_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidInput, match="turn_token") as caught:
        EntryFilter(kinds=("turn_taken", "turn_token"))
    assert "turn_taken" in (caught.value.hint or "")
    with pytest.raises(InvalidInput, match="the session to look for"):
        EntryFilter(session="\udcff")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-11-15", "2026-11-15T00:00:00.000000Z", "2026-11-15T23:59:59.999999Z"),
        ("2026-11-15T08:30", "2026-11-15T08:30:00.000000Z", "2026-11-15T08:30:00.000000Z"),
        ("2026-11-15T08:30:00+02:00", "2026-11-15T06:30:00.000000Z", "2026-11-15T06:30:00.000000Z"),
    ],
)
def test_a_day_is_all_of_it_and_a_moment_is_that_moment(text: str, first: str, last: str) -> None:
    assert (as_since(text), as_until(text)) == (first, last)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "0001-01-01T00:00+14:00", "12"])
def test_what_is_no_time_is_refused(text: str) -> None:
    for read in (as_since, as_until):
        with pytest.raises(InvalidInput, match="no day and no moment"):
            read(text)
