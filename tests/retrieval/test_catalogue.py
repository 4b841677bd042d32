"""The catalogue counts as it goes; what it says must be what counting would find."""

import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.embedding import EmbeddingModel
from salon.core.hashing import CardHash
from salon.retrieval.catalogue import Catalogue, CatalogueStats
from salon.retrieval.chunking import ChunkSettings
from salon.retrieval.index_file import IndexFile
from tests.retrieval.opening import opened_index

CHUNKS = ChunkSettings(size=20, overlap=4)


def model(name: str) -> EmbeddingModel:
    return EmbeddingModel(address=f"test:{name}", fingerprint=name, dimensions=2)


def card(number: int) -> CardHash:
    return CardHash(sha256(str(number).encode()).hexdigest())


def counted(file: IndexFile) -> CatalogueStats:
    with file.read() as connection:
        cards = connection.execute("SELECT count(*) FROM catalogue_card").get
        passages = connection.execute("SELECT count(*) FROM catalogue_passage").get
        with_vector = connection.execute(
            "SELECT count(*) FROM catalogue_passage WHERE has_vector = 1"
        ).get
    return CatalogueStats(cards=cards, passages=passages, with_vector=with_vector)


def insert(catalogue: Catalogue, number: int) -> None:
    if not catalogue.has(card(number)):
        catalogue.insert(card(number), "a few words of text. " * number)


def mark(catalogue: Catalogue, number: int) -> None:
    ids = [passage.id for passage in catalogue.passages_of(card(number))]
    catalogue.mark_vectors(ids[::2])
    catalogue.mark_vectors(ids[1::3], can_have=False)


def start_over(catalogue: Catalogue, _: int) -> None:
    catalogue.drop_tables()
    catalogue.create_tables()


CHANGES: dict[str, Callable[[Catalogue, int], object]] = {
    "insert": insert,
    "remove": lambda catalogue, number: catalogue.remove(card(number)),
    "mark": mark,
    "unmark": lambda catalogue, _: catalogue.unmark_vectors(),
    "model": lambda catalogue, number: catalogue.use_model(model(str(number % 2))),
    "start over": start_over,
}
CHANGE = st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 5))


@settings(max_examples=40, deadline=None)
@given(st.lists(CHANGE, max_size=25))
def test_what_is_told_is_what_counting_finds(changes: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = IndexFile(Path(folder) / "passages.db")
        catalogue = Catalogue(file, CHUNKS)
        catalogue.create_tables()
        for name, number in changes:
            CHANGES[name](catalogue, number)
            assert catalogue.stats() == counted(file)
        catalogue.create_tables()
        assert catalogue.stats() == counted(file)
        file.close()


def test_an_index_that_is_up_to_date_waits_for_no_writer(tmp_path: Path) -> None:
    with (
        SqliteArchive(tmp_path / "salon.db") as archive,
        opened_index(tmp_path / "index", archive) as index,
        opened_index(tmp_path / "index", archive) as other,
    ):
        archive.add(b"a few words of text")
        index.catch_up()
        with index.writing():  # with a lock that another process or connection would wait for
            assert other.catch_up().indexed == 0
            assert other.behind() == 0
