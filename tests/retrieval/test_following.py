"""Staying in step with the archive: incremental, exact, whatever happens in between."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salon.archive.export.transfer import export_archive, import_archive
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.hashing import CardHash, content_hash
from salon.retrieval.following import Scope
from salon.retrieval.passage_index import PassageIndex
from tests.archive.raw import damage
from tests.documents import add_document
from tests.retrieval.opening import Engine, opened_index


def _contents(index: PassageIndex) -> list[tuple[object, ...]]:
    """Return the passages of an index, of which each must be known to the words too."""
    found = [
        (one.hash, one.number, one.start, one.end)
        for card in index.catalogue.cards()
        for one in index.catalogue.passages_of(card)
    ]
    assert index.lexical.count() == len(found)
    return sorted(found)


def _found(index: PassageIndex, query: str, limit: int = 100) -> list[CardHash]:
    """Return the cards with these words, best first."""
    ids = index.lexical.search(query, limit).ids.tolist()
    passages = index.catalogue.find(ids)
    return [passages[one].hash for one in ids]


def _card(number: int) -> bytes:
    return f"Card {number} is about topic{number % 7} and nothing else.".encode()


def test_catching_up_takes_in_only_what_is_new(archive: SqliteArchive, index: PassageIndex) -> None:
    archive.add_many([_card(1), _card(2)])
    assert index.behind() == 1
    assert index.catch_up().indexed == 2
    assert index.behind() == 0
    archive.add(_card(3))
    assert index.behind() == 1
    assert index.catch_up().indexed == 1
    assert index.seq() == archive.checkpoint().seq


def test_catching_up_twice_changes_nothing(archive: SqliteArchive, index: PassageIndex) -> None:
    archive.add_many([_card(number) for number in range(10)])
    index.catch_up()
    before = _contents(index)
    again = index.catch_up()
    assert (again.indexed, again.removed, again.already) == (0, 0, 0)
    assert _contents(index) == before


def test_events_that_touch_no_text_are_passed(archive: SqliteArchive, index: PassageIndex) -> None:
    card = archive.add(_card(1)).hash
    archive.write(lambda tx: tx.set_handle("topic/one", card))
    archive.write(lambda tx: tx.remove_handle("topic/one"))
    index.catch_up()
    assert index.behind() == 0


def test_a_deleted_card_leaves_no_word_in_the_files_once_compacted(
    tmp_path: Path, archive: SqliteArchive, index: PassageIndex
) -> None:
    archive.add_many([_card(number) for number in range(20)])
    card = archive.add(b"Unspeakable xylograph.").hash
    index.catch_up()
    archive.write(lambda tx: tx.delete(card, reason="a request"))
    assert index.catch_up().removed == 1
    assert not index.catalogue.knows(card)
    assert index.compact()
    assert not index.compact()
    assert (len(_found(index, "topic3")), _found(index, "xylograph")) == (3, [])
    index.close()
    left = b"".join(path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file())
    assert b"xylograph" not in left
    assert card.encode() not in left


def test_scores_after_a_deletion_are_those_of_an_index_without_the_card(
    tmp_path: Path, archive: SqliteArchive, index: PassageIndex, engine: Engine
) -> None:
    added = archive.add_many([_card(number) * (1 + number % 4) for number in range(60)])
    index.catch_up()
    for card in added[10:40]:
        archive.write(lambda tx, card=card: tx.delete(card.hash, reason="test"))  # type: ignore[misc]
    index.catch_up()
    index.compact()
    with opened_index(tmp_path / "fresh", archive, engine=engine) as fresh:
        fresh.catch_up()
        kept = index.lexical.search("topic3 card", limit=100)
        built = fresh.lexical.search("topic3 card", limit=100)
    assert kept.ids.tolist() == built.ids.tolist()
    assert kept.scores.tolist() == pytest.approx(built.scores.tolist())


def test_a_card_that_comes_back_is_found_again(archive: SqliteArchive, index: PassageIndex) -> None:
    card = archive.add(_card(5)).hash
    index.catch_up()
    archive.write(lambda tx: tx.delete(card, reason="test"))
    archive.add(_card(5))
    index.catch_up()
    assert _found(index, "topic5") == [card]


def test_what_was_derived_from_a_deleted_card_goes_too(
    archive: SqliteArchive, index: PassageIndex
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
    with opened_index(tmp_path / "index", archive, changes_per_commit=5) as index:
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

    with opened_index(tmp_path / "index", archive, changes_per_commit=5) as index:
        monkeypatch.setattr(SqliteArchive, "get", broken)
        with pytest.raises(RuntimeError):
            index.catch_up()
        monkeypatch.undo()
        assert index.stats().cards == 10
        assert index.behind() == 1
        assert index.catch_up().indexed == 13
        assert index.stats().cards == 23


def test_a_damaged_card_is_counted_and_the_rest_goes_on(
    archive: SqliteArchive, index: PassageIndex
) -> None:
    cards = archive.add_many([_card(1), _card(2)])
    damage(archive.path, cards[0].hash)
    done = index.catch_up()
    assert (done.indexed, done.damaged) == (1, 1)


def test_an_index_of_another_archive_starts_over(tmp_path: Path, archive: SqliteArchive) -> None:
    archive.add(_card(1))
    with opened_index(tmp_path / "index", archive) as index:
        index.catch_up()
    with SqliteArchive(tmp_path / "other.db") as other:
        other.add(_card(2))
        with opened_index(tmp_path / "index", other) as index:
            assert index.behind() == 1
            assert index.catch_up().indexed == 1
            assert index.stats().cards == 1
            assert _found(index, "topic1") == []


def test_an_archive_restored_from_an_older_copy_starts_the_index_over(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive:
        archive.add(_card(1))
    shutil.copy(tmp_path / "salon.db", tmp_path / "backup.db")
    with SqliteArchive(tmp_path / "salon.db") as archive:
        archive.add(_card(2))
        with opened_index(tmp_path / "index", archive) as index:
            index.catch_up()
    with (
        SqliteArchive(tmp_path / "backup.db") as restored,
        opened_index(tmp_path / "index", restored) as index,
    ):
        restored.add(_card(3))
        index.catch_up()
        assert _found(index, "topic2") == []
        assert len(_found(index, "topic3")) == 1


def test_a_deleted_index_is_built_again(tmp_path: Path, archive: SqliteArchive) -> None:
    archive.add_many([_card(number) for number in range(8)])
    with opened_index(tmp_path / "index", archive) as index:
        index.catch_up()
        before = _contents(index)
    shutil.rmtree(tmp_path / "index")
    with opened_index(tmp_path / "index", archive) as index:
        index.catch_up()
        assert _contents(index) == before
        assert index.rebuild().indexed == 8
        assert _contents(index) == before


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
        opened_index(folder / "index", archive, changes_per_commit=2) as index,
        opened_index(folder / "fresh", archive) as fresh,
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
        assert _contents(index) == _contents(fresh)
    shutil.rmtree(folder)


CATCH_UP = """
import sys
from pathlib import Path
from salon.archive.sqlite_archive import SqliteArchive
from tests.retrieval.opening import opened_index
folder = Path(sys.argv[1])
with SqliteArchive(folder / "salon.db") as archive:
    with opened_index(folder / "index", archive, engine=sys.argv[2], changes_per_commit=1) as index:
        print("ready", flush=True)
        index.catch_up()
"""


def test_an_index_killed_again_and_again_ends_up_complete(tmp_path: Path, engine: Engine) -> None:
    with SqliteArchive(tmp_path / "salon.db") as archive:
        archive.add_many([_card(number) for number in range(200)])
        with opened_index(tmp_path / "index", archive, engine=engine) as index:
            reached = [index.stats().cards]
            for kill in range(3):
                with subprocess.Popen(
                    [sys.executable, "-c", CATCH_UP, str(tmp_path), engine],
                    stdout=subprocess.PIPE,
                ) as child:
                    assert child.stdout is not None
                    child.stdout.readline()
                    wanted = reached[-1] + 5 * (kill + 1)
                    while child.poll() is None and index.stats().cards < wanted:
                        pass
                    child.send_signal(signal.SIGKILL)
                reached.append(index.stats().cards)
            index.catch_up()
            with opened_index(tmp_path / "fresh", archive, engine=engine) as fresh:
                fresh.catch_up()
                assert _contents(index) == _contents(fresh)
    assert reached == sorted(reached)
    assert 0 < reached[1] < 200


# The texts of documents alone


@pytest.fixture
def documents(tmp_path: Path, archive: SqliteArchive) -> Iterator[PassageIndex]:
    with opened_index(tmp_path / "documents", archive, scope=Scope.DOCUMENTS) as opened:
        yield opened


def test_only_texts_of_documents_are_taken_in(
    archive: SqliteArchive, documents: PassageIndex
) -> None:
    archive.add(_card(1))
    document = add_document(archive, "A document about topic1.")
    assert documents.catch_up().indexed == 1
    assert _found(documents, "topic1") == [document.text]
    assert documents.documents_of(document.text) == [document.id]
    assert documents.behind() == 0


def test_a_removed_document_is_gone_unless_another_has_the_same_text(
    archive: SqliteArchive, documents: PassageIndex
) -> None:
    one = add_document(archive, "One text about topic1.", title="first")
    two = add_document(archive, "One text about topic1.", title="second")
    documents.catch_up()
    assert documents.documents_of(one.text) == sorted([one.id, two.id])
    archive.write(lambda tx: tx.remove_document(one.id))
    assert documents.catch_up().removed == 0
    assert _found(documents, "topic1") == [two.text]
    archive.write(lambda tx: tx.remove_document(two.id))
    assert documents.catch_up().removed == 1
    assert _found(documents, "topic1") == []


def test_a_document_removed_before_the_index_saw_it_is_never_there(
    archive: SqliteArchive, documents: PassageIndex
) -> None:
    document = add_document(archive, "A short visit of topic4.")
    archive.write(lambda tx: tx.remove_document(document.id))
    documents.catch_up()
    assert _found(documents, "topic4") == []
    assert documents.stats().cards == 0


def test_a_card_deleted_by_force_takes_its_document_out(
    archive: SqliteArchive, documents: PassageIndex
) -> None:
    document = add_document(archive, "A text that somebody wants gone: topic6.")
    documents.catch_up()
    archive.write(lambda tx: tx.delete(document.source, reason="a request", force=True))
    assert documents.catch_up().removed == 1
    assert documents.documents_of(document.text) == []


def test_documents_that_an_import_brought_are_taken_in(
    tmp_path: Path, archive: SqliteArchive, documents: PassageIndex
) -> None:
    with SqliteArchive(tmp_path / "other.db") as other:
        document = add_document(other, "A text from elsewhere about topic2.")
        with (tmp_path / "export").open("w+b") as stream:
            export_archive(other, stream)
            stream.seek(0)
            import_archive(archive, stream)
    assert documents.catch_up().indexed == 1
    assert documents.documents_of(document.text) == [document.id]


def test_words_lost_beside_the_catalogue_are_indexed_again(
    tmp_path: Path, archive: SqliteArchive
) -> None:
    archive.add_many([_card(number) for number in range(8)])
    with opened_index(tmp_path / "index", archive) as index:
        index.catch_up()
        before = _contents(index)
    shutil.rmtree(tmp_path / "index" / "words")
    with opened_index(tmp_path / "index", archive) as index:
        assert _contents(index) == before
        assert len(_found(index, "topic3")) == 1
