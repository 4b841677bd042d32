"""Staying in step with the archive: incremental, exact, whatever happens in between."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import HashMismatch
from salon.core.hashing import CardHash, content_hash
from salon.retrieval.fts_index import FtsIndex


def _contents(path: Path) -> list[tuple[object, ...]]:
    """Return the rows of an index as far as they mean something."""
    connection = apsw.Connection(str(path))
    rows = connection.execute(
        "SELECT hash, number, start, stop FROM lexical_passage"
        " JOIN lexical_card ON lexical_card.id = card ORDER BY hash, number"
    ).fetchall()
    words = connection.execute("SELECT count(*) FROM lexical_words").get
    connection.close()
    assert words == len(rows)
    return [tuple(row) for row in rows]


def _tamper(archive: SqliteArchive, card: CardHash) -> None:
    connection = apsw.Connection(str(archive.path))
    connection.execute("UPDATE card SET content = x'41' WHERE hash = ?", (card,))
    connection.close()


def _card(number: int) -> bytes:
    return f"Card {number} is about topic{number % 7} and nothing else.".encode()


def test_catching_up_takes_in_only_what_is_new(archive: SqliteArchive, index: FtsIndex) -> None:
    archive.add_many([_card(1), _card(2)])
    assert index.behind() == 1
    assert index.catch_up().indexed == 2
    assert index.behind() == 0
    archive.add(_card(3))
    assert index.behind() == 1
    assert index.catch_up().indexed == 1
    assert index.stats().seq == archive.checkpoint().seq


def test_catching_up_twice_changes_nothing(archive: SqliteArchive, index: FtsIndex) -> None:
    archive.add_many([_card(number) for number in range(10)])
    index.catch_up()
    before = _contents(index.path)
    again = index.catch_up()
    assert (again.indexed, again.removed, again.already) == (0, 0, 0)
    assert _contents(index.path) == before


def test_events_that_touch_no_text_are_passed(archive: SqliteArchive, index: FtsIndex) -> None:
    card = archive.add(_card(1)).hash
    archive.write(lambda tx: tx.set_handle("topic/one", card))
    archive.write(lambda tx: tx.remove_handle("topic/one"))
    index.catch_up()
    assert index.behind() == 0


def test_a_deleted_card_is_not_found_even_before_the_index_knows(
    archive: SqliteArchive, index: FtsIndex
) -> None:
    card = archive.add(b"A secret about quaggas.").hash
    archive.add(b"Quaggas are extinct.")
    index.catch_up()
    archive.write(lambda tx: tx.delete(card, reason="a request"))
    assert index.behind() == 1
    found = index.search("quaggas", limit=1)
    assert [passage.text for passage in found] == ["Quaggas are extinct."]


def test_a_deleted_card_leaves_no_word_in_the_file(archive: SqliteArchive, index: FtsIndex) -> None:
    archive.add_many([_card(number) for number in range(20)])
    card = archive.add(b"Unspeakable xylograph.").hash
    index.catch_up()
    archive.write(lambda tx: tx.delete(card, reason="a request"))
    assert index.catch_up().removed == 1
    assert not index.has(card)
    index.close()
    left = b"".join(path.read_bytes() for path in index.path.parent.glob("lexical.db*"))
    assert b"xylograph" not in left
    assert card.encode() not in left


def test_scores_after_a_deletion_are_those_of_an_index_without_the_card(
    tmp_path: Path, archive: SqliteArchive, index: FtsIndex
) -> None:
    added = archive.add_many([_card(number) * (1 + number % 4) for number in range(60)])
    index.catch_up()
    for card in added[10:40]:
        archive.write(lambda tx, card=card: tx.delete(card.hash, reason="test"))  # type: ignore[misc]
    index.catch_up()
    with FtsIndex(tmp_path / "fresh.db", archive) as fresh:
        fresh.catch_up()
        kept = {(p.hash, p.start, p.score) for p in index.search("topic3 card", limit=100)}
        built = {(p.hash, p.start, p.score) for p in fresh.search("topic3 card", limit=100)}
    assert kept == built


def test_a_card_that_comes_back_is_found_again(archive: SqliteArchive, index: FtsIndex) -> None:
    card = archive.add(_card(5)).hash
    index.catch_up()
    archive.write(lambda tx: tx.delete(card, reason="test"))
    archive.add(_card(5))
    index.catch_up()
    assert [passage.hash for passage in index.search("topic5")] == [card]


def test_what_was_derived_from_a_deleted_card_goes_too(
    archive: SqliteArchive, index: FtsIndex
) -> None:
    source, summary = (added.hash for added in archive.add_many([_card(1), b"A summary."]))
    archive.write(lambda tx: tx.mark_derived(summary, from_card=source))
    index.catch_up()
    archive.write(lambda tx: tx.delete(source, reason="test"))
    assert index.catch_up().removed == 2
    assert index.stats().cards == 0


def test_cards_of_an_adopted_file_are_taken_in_across_several_commits(
    tmp_path: Path, archive: SqliteArchive
) -> None:
    archive.add_many([_card(number) for number in range(23)])
    with FtsIndex(tmp_path / "lexical.db", archive, cards_per_commit=5) as index:
        assert index.catch_up().indexed == 23
        assert index.behind() == 0


def test_a_failure_in_the_middle_loses_nothing_and_doubles_nothing(
    tmp_path: Path, archive: SqliteArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = archive.add_many([_card(number) for number in range(23)])
    get = SqliteArchive.get
    fails_at = added[12].hash

    def broken(self: SqliteArchive, card: CardHash) -> object:
        if card == fails_at:
            raise RuntimeError("the power went")
        return get(self, card)

    with FtsIndex(tmp_path / "lexical.db", archive, cards_per_commit=5) as index:
        monkeypatch.setattr(SqliteArchive, "get", broken)
        with pytest.raises(RuntimeError):
            index.catch_up()
        monkeypatch.undo()
        assert index.stats().cards == 10
        assert index.behind() == 1
        assert index.catch_up().indexed == 13
        assert index.stats().cards == 23


def test_a_damaged_card_is_counted_and_the_rest_goes_on(
    archive: SqliteArchive, index: FtsIndex
) -> None:
    cards = archive.add_many([_card(1), _card(2)])
    _tamper(archive, cards[0].hash)
    done = index.catch_up()
    assert (done.indexed, done.damaged) == (1, 1)


def test_a_card_damaged_after_indexing_is_never_served(
    archive: SqliteArchive, index: FtsIndex
) -> None:
    card = archive.add(_card(1)).hash
    index.catch_up()
    _tamper(archive, card)
    with pytest.raises(HashMismatch):
        index.search("topic1")


def test_an_index_of_another_archive_starts_over(tmp_path: Path, archive: SqliteArchive) -> None:
    archive.add(_card(1))
    with FtsIndex(tmp_path / "lexical.db", archive) as index:
        index.catch_up()
    with SqliteArchive(tmp_path / "other.db") as other:
        other.add(_card(2))
        with FtsIndex(tmp_path / "lexical.db", other) as index:
            assert index.behind() == 1
            assert index.catch_up().indexed == 1
            assert index.stats().cards == 1
            assert index.search("topic1") == []


def test_an_archive_restored_from_an_older_copy_starts_the_index_over(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive:
        archive.add(_card(1))
    shutil.copy(tmp_path / "salon.db", tmp_path / "backup.db")
    with SqliteArchive(tmp_path / "salon.db") as archive:
        archive.add(_card(2))
        with FtsIndex(tmp_path / "lexical.db", archive) as index:
            index.catch_up()
    with (
        SqliteArchive(tmp_path / "backup.db") as restored,
        FtsIndex(tmp_path / "lexical.db", restored) as index,
    ):
        restored.add(_card(3))
        index.catch_up()
        assert index.search("topic2") == []
        assert len(index.search("topic3")) == 1


def test_a_deleted_index_is_built_again(tmp_path: Path, archive: SqliteArchive) -> None:
    archive.add_many([_card(number) for number in range(8)])
    with FtsIndex(tmp_path / "lexical.db", archive) as index:
        index.catch_up()
        before = _contents(index.path)
    for path in tmp_path.glob("lexical.db*"):
        path.unlink()
    with FtsIndex(tmp_path / "lexical.db", archive) as index:
        index.catch_up()
        assert _contents(index.path) == before
        assert index.rebuild().indexed == 8
        assert _contents(index.path) == before


@settings(max_examples=15)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(0, 7)),
            st.tuples(st.just("delete"), st.integers(0, 7)),
            st.tuples(st.just("catch up"), st.just(0)),
        ),
        max_size=25,
    )
)
def test_after_any_history_the_index_equals_one_built_afresh(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    with (
        SqliteArchive(folder / "salon.db") as archive,
        FtsIndex(folder / "lexical.db", archive, cards_per_commit=2) as index,
        FtsIndex(folder / "fresh.db", archive) as fresh,
    ):
        for verb, number in history:
            card = archive.find(content_hash(_card(number)))
            if verb == "add":
                archive.add(_card(number))
            elif verb == "delete" and card is not None:
                archive.write(lambda tx, card=card: tx.delete(card.hash, reason="t"))  # type: ignore[misc]
            elif verb == "catch up":
                index.catch_up()
        index.catch_up()
        fresh.catch_up()
        assert _contents(index.path) == _contents(fresh.path)
    shutil.rmtree(folder)


CATCH_UP = """
import sys
from salon.archive.sqlite_archive import SqliteArchive
from salon.retrieval.fts_index import FtsIndex
folder = sys.argv[1]
with SqliteArchive(folder + "/salon.db") as archive:
    with FtsIndex(folder + "/lexical.db", archive, cards_per_commit=1) as index:
        print("ready", flush=True)
        index.catch_up()
"""


def test_an_index_killed_again_and_again_ends_up_complete(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive:
        archive.add_many([_card(number) for number in range(400)])
        with FtsIndex(tmp_path / "lexical.db", archive) as index:
            reached = [index.stats().cards]
            for kill in range(4):
                with subprocess.Popen(
                    [sys.executable, "-c", CATCH_UP, str(tmp_path)], stdout=subprocess.PIPE
                ) as child:
                    assert child.stdout is not None
                    child.stdout.readline()
                    wanted = reached[-1] + 10 * (kill + 1)
                    while child.poll() is None and index.stats().cards < wanted:
                        pass
                    child.send_signal(signal.SIGKILL)
                reached.append(index.stats().cards)
            index.catch_up()
            with FtsIndex(tmp_path / "fresh.db", archive) as fresh:
                fresh.catch_up()
                assert _contents(index.path) == _contents(fresh.path)
    assert reached == sorted(reached)
    assert 0 < reached[1] < 400
