"""Corpora of made-up text: stored, indexed and opened through Salon's own classes.

As a program (`python -m bench.corpora FOLDER PASSAGES CHARACTERS`) this builds one and prints how
long each step took and how much memory.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from bench.figures import timed
from bench.own_process import give_answer, peak_mb
from bench.synthetic import SyntheticEmbedder, Texts
from salon.archive.sqlite_archive import SqliteArchive
from salon.archive.vectors import VectorStore
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Provenance
from salon.core.indexes import IndexedText
from salon.providers.indexes import IndexPlan, open_passage_index
from salon.retrieval.chunking import ChunkSettings
from salon.retrieval.filling import VectorFilling
from salon.retrieval.passage_index import PassageIndex

INDEX = "index"
PASSAGES_PER_DOCUMENT = 100
WINDOW = 8_192
"""Passages per commit of vectors that cost nothing to compute."""
_DOCUMENTS_PER_WRITE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """An archive with its index."""

    archive: SqliteArchive
    index: PassageIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """How much was built, how long that took, and how much memory."""

    passages: int
    text_mb: float
    store_s: float
    words_s: float
    vectors_s: float
    peak_mb: float


@contextmanager
def opened(folder: Path, characters: int) -> Iterator[Corpus]:
    """Open a corpus with passages of so many characters for a block."""
    chunks = ChunkSettings(size=characters, overlap=characters // 5)
    plan = IndexPlan(folder=folder / INDEX, chunks=chunks)
    with SqliteArchive(folder / "salon.db") as archive, open_passage_index(archive, plan) as index:
        yield Corpus(archive=archive, index=index)


def build(folder: Path, passages: int, characters: int) -> Built:
    """Store and index about this many passages."""
    texts = Texts()
    with opened(folder, characters) as corpus:
        with timed() as store:
            stored = _store_all(corpus.archive, texts, passages, characters)
        with timed() as words:
            corpus.index.catch_up()
        with timed() as vectors:
            store_of_vectors = VectorStore(corpus.archive)
            VectorFilling(corpus.index, store_of_vectors, SyntheticEmbedder(), WINDOW).fill()
        return Built(
            passages=corpus.index.stats().passages,
            text_mb=stored / 1e6,
            store_s=store.seconds,
            words_s=words.seconds,
            vectors_s=vectors.seconds,
            peak_mb=peak_mb(),
        )


def passage_texts(corpus: Corpus) -> Iterator[IndexedText]:
    """Walk all passages with their texts."""
    for card in corpus.index.catalogue.cards():
        content = corpus.archive.get(card).content
        for passage in corpus.index.catalogue.passages_of(card):
            text = content[passage.start : passage.end].decode()
            yield IndexedText(passage.id, card, text)


def _store_all(archive: SqliteArchive, texts: Texts, passages: int, characters: int) -> int:
    """Store documents and return their size."""
    stored, left = 0, max(1, passages // PASSAGES_PER_DOCUMENT)
    # A passage shares a fifth of its text with its neighbour.
    size = characters * 4 // 5 * min(PASSAGES_PER_DOCUMENT, passages)
    while left:
        batch = list(texts.documents(min(left, _DOCUMENTS_PER_WRITE), size))
        archive.write(partial(_store, batch=batch))
        stored += sum(len(text) for text in batch)
        left -= len(batch)
    return stored


def _store(tx: ArchiveTransaction, batch: list[str]) -> None:
    cards = tx.add_many([text.encode() for text in batch])
    for number, card in enumerate(cards):
        tx.add_document(Provenance(title=f"made up {number}"), source=card.hash)


def main() -> None:
    """Build what the arguments name."""
    folder, passages, characters = sys.argv[1:]
    give_answer(asdict(build(Path(folder), int(passages), int(characters))))


if __name__ == "__main__":
    main()
