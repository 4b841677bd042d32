"""The lexical index: what it finds, how it ranks, what it refuses to misread."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import InvalidInput, StorageFailed
from salon.retrieval.chunking import ChunkSettings
from salon.retrieval.fts_index import FoundPassage, FtsIndex

GRAVITY = b"Gravity bends light. Newton described gravity as a force between masses."
PACKETS = b"Packet switching was invented by Paul Baran. Networks carry packets."
COMMONS = "Das Café liegt in Zürich. La forêt est à tout le monde.".encode()


def _texts(found: list[FoundPassage]) -> list[str]:
    return [passage.text for passage in found]


def test_a_result_is_an_exact_span_of_its_card(archive: SqliteArchive, index: FtsIndex) -> None:
    long = " ".join(f"Sentence {n} speaks of förests and trees." for n in range(200)).encode()
    card = archive.add(long).hash
    index.catch_up()
    found = index.search("forests", limit=50)
    assert len(found) > 5
    for passage in found:
        assert passage.hash == card
        assert long[passage.start : passage.end].decode() == passage.text


def test_better_matches_come_first_with_higher_scores(
    archive: SqliteArchive, index: FtsIndex
) -> None:
    archive.add_many([GRAVITY, PACKETS, b"Gravity is mentioned once among " + b"many words " * 50])
    index.catch_up()
    found = index.search("gravity force")
    assert _texts(found)[0] == GRAVITY.decode()
    assert [passage.score for passage in found] == sorted(
        (passage.score for passage in found), reverse=True
    )
    assert len(found) == 2


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("network", 1),  # stemmed
        ("SWITCHED packets", 1),
        ("cafe", 1),  # without its accent
        ("FORÊT", 1),
        ("zurich", 1),
        ("nothing of the sort", 0),
        ("", 0),
        ("   ?!  ", 0),
    ],
)
def test_words_match_by_stem_and_without_accents(
    archive: SqliteArchive, index: FtsIndex, query: str, hits: int
) -> None:
    archive.add_many([PACKETS, COMMONS])
    index.catch_up()
    assert len(index.search(query)) == hits


def test_scripts_that_write_vowels_as_marks_keep_their_words(
    archive: SqliteArchive, index: FtsIndex
) -> None:
    archive.add_many(["हिन्दी एक भाषा है".encode(), "हद नद".encode()])
    index.catch_up()
    assert len(index.search("हिन्दी")) == 1


@pytest.mark.parametrize(
    "query",
    [
        'gravity"',
        '"gravity" OR "',
        "gravity NEAR(",
        "text:gravity",
        "gravity*",
        "^gravity -light",
        "gravity AND NOT (",
        "{gravity} : }",
        "gravity'; DROP TABLE lexical_card; --",
        "gravity\0light",
        "\ud800 gravity",
        "gravity " * 5000,
        " ".join(f"word{number}" for number in range(3000)) + " gravity",
    ],
)
def test_whatever_a_person_types_is_searched_as_words(
    archive: SqliteArchive, index: FtsIndex, query: str
) -> None:
    archive.add(GRAVITY)
    index.catch_up()
    found = index.search(query)
    assert found == [] if query.startswith("word0") else len(found) == 1
    assert index.stats().cards == 1


@given(query=st.text(max_size=60))
def test_no_query_at_all_raises(shared_index: FtsIndex, query: str) -> None:
    shared_index.search(query)


@pytest.fixture(scope="module")
def shared_index(tmp_path_factory: pytest.TempPathFactory) -> FtsIndex:
    folder = tmp_path_factory.mktemp("shared")
    archive = SqliteArchive(folder / "salon.db")
    archive.add_many([GRAVITY, PACKETS, COMMONS])
    index = FtsIndex(folder / "lexical.db", archive)
    index.catch_up()
    return index


def test_a_search_for_no_passages_is_refused(index: FtsIndex) -> None:
    with pytest.raises(InvalidInput):
        index.search("gravity", limit=0)


def test_cards_that_are_not_text_are_left_out(archive: SqliteArchive, index: FtsIndex) -> None:
    archive.add_many([b"\x89PNG\r\n\x1a\n gravity", b"gravity\0", b"\xff gravity", b" \n "])
    archive.add(b"\0" * 2_000_000)
    done = index.catch_up()
    assert (done.indexed, done.not_text) == (1, 4)
    assert index.search("gravity") == []


def test_the_file_holds_no_text_of_the_cards(archive: SqliteArchive, index: FtsIndex) -> None:
    archive.add(GRAVITY)
    index.catch_up()
    index.close()
    assert b"bends light" not in index.path.read_bytes()


def test_other_passage_sizes_start_the_index_over(tmp_path: Path, archive: SqliteArchive) -> None:
    archive.add(GRAVITY)
    with FtsIndex(tmp_path / "lexical.db", archive) as index:
        index.catch_up()
        assert index.stats().passages == 1
    small = ChunkSettings(size=30, overlap=0)
    with FtsIndex(tmp_path / "lexical.db", archive, chunks=small) as index:
        assert index.behind() > 0
        assert index.search("gravity") == []
        assert index.catch_up().indexed == 1
        assert index.stats().passages == 3
        assert max(len(passage.text) for passage in index.search("gravity")) <= 30


def test_a_file_that_is_no_index_is_refused_and_left_alone(
    tmp_path: Path, archive: SqliteArchive
) -> None:
    (tmp_path / "letter.txt").write_text("Dear Elinor, " * 100)
    with pytest.raises(StorageFailed, match="not an index"):
        FtsIndex(tmp_path / "letter.txt", archive)
    assert (tmp_path / "letter.txt").read_text().startswith("Dear Elinor")


def test_threads_search_while_another_one_catches_up(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def search(index: FtsIndex) -> None:
        try:
            for _ in range(30):
                index.search("number gravity")
        except BaseException as error:
            failures.append(error)

    with (
        SqliteArchive(tmp_path / "salon.db") as archive,
        FtsIndex(tmp_path / "lexical.db", archive, cards_per_commit=5) as index,
    ):
        archive.add_many([f"Card number {number} has gravity.".encode() for number in range(100)])
        threads = [threading.Thread(target=search, args=(index,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        index.catch_up()
        for thread in threads:
            thread.join()
        assert failures == []
        assert index.stats().cards == 100
