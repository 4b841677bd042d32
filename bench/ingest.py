"""`python -m bench.ingest`: taking text in, and searching while text is being taken in.

The first row gives passages their vectors through Salon (read from the archive, embedded, kept in
archive and index), beside the embedder alone on the same texts, by turns. The others search with
several threads, by turns while nothing else happens and while documents are stored and indexed in
the background as a server does it; every passage found is compared with the bytes of its span.
"""

import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle, islice
from pathlib import Path

from bench.corpora import opened, passage_texts
from bench.figures import Row, Sizes, alternate, timed
from bench.program import make_parser, report, say
from bench.searching import TOP, p99
from bench.synthetic import ENGLISH, QUESTIONS, Texts
from salon.app import Salon
from salon.archive.vectors import VectorStore
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Provenance
from salon.core.embedding import Embedder
from salon.corpus.search import SearchAnswer
from salon.providers.embedders import DEFAULT_ADDRESS, open_embedder
from salon.retrieval.filling import VectorFilling
from salon.settings import Settings

REPETITIONS = 3
SEARCHES_PER_READER = 100
_DOCUMENT_CHARACTERS = 20_000
_PAUSE_S = 0.1
"""Between two documents; they still come faster than they can be given their vectors."""

_numbers = count()


# Vectors


def filling_row(folder: Path, sizes: Sizes) -> Row:
    """Give passages their vectors, against the embedder alone."""
    embedder = open_embedder(DEFAULT_ADDRESS)
    figures = alternate(
        partial(_filled_a_second, folder, embedder, sizes),
        partial(_embedded_a_second, folder, embedder, sizes),
        sizes.repetitions,
    )
    embedder.close()
    return Row(
        name="vector-filling",
        what=f"{sizes.embedded_passages:,} passages given their vectors",
        unit="/s",
        salon=figures[0],
        peer=figures[1],
        peer_is=f"{DEFAULT_ADDRESS} alone, same texts",
        least_ratio=0.85,
        repetitions=sizes.repetitions,
    )


def _filled_a_second(folder: Path, embedder: Embedder, sizes: Sizes) -> float:
    say("vectors through Salon")
    home = folder / f"filling-{next(_numbers)}"
    with opened(home, sizes.passage_characters) as corpus:
        corpus.archive.write(partial(_store, texts=_documents(sizes)))
        corpus.index.catch_up()
        filling = VectorFilling(corpus.index, VectorStore(corpus.archive), embedder)
        with timed() as watch:
            computed = filling.fill().computed
    return computed / watch.seconds


def _embedded_a_second(folder: Path, embedder: Embedder, sizes: Sizes) -> float:
    say("vectors by the embedder alone")
    home = folder / f"alone-{next(_numbers)}"
    with opened(home, sizes.passage_characters) as corpus:
        corpus.archive.write(partial(_store, texts=_documents(sizes)))
        corpus.index.catch_up()
        texts = [passage.text for passage in passage_texts(corpus)]
    with timed() as watch:
        embedder.embed_passages(texts)
    return len(texts) / watch.seconds


def _documents(sizes: Sizes) -> list[str]:
    texts, size = Texts(words=ENGLISH), sizes.passage_characters
    return list(texts.documents(max(1, sizes.embedded_passages // 20), size * 4 // 5 * 20))


def _store(tx: ArchiveTransaction, texts: list[str]) -> None:
    for card in tx.add_many([text.encode() for text in texts]):
        tx.add_document(Provenance(title="made up"), source=card.hash)


# Readers


@dataclass(slots=True)
class Readers:
    """What several threads saw while they searched."""

    took_ms: list[float] = field(default_factory=list)
    passages: int = 0
    wrong: int = 0


@dataclass(slots=True)
class Taken:
    """What was taken in meanwhile."""

    documents: int = 0
    seconds: float = 0.0


def reader_rows(folder: Path, sizes: Sizes, searches: int) -> list[Row]:
    """Search with several threads, idle and during ingest."""
    idle, busy, taken = Readers(), Readers(), Taken()
    settings = Settings.model_validate({"home": folder / "home", "actor": "bench"})
    settings.home.mkdir(parents=True)
    with Salon(settings) as salon:
        say("indexing what is there beforehand")
        salon.archive.write(partial(_store, texts=_documents(sizes)))
        salon.index()
        _read(salon, Readers(), sizes.readers, 2)
        for _ in range(sizes.repetitions):
            say("searching while nothing else happens")
            _read(salon, idle, sizes.readers, searches)
            say("searching during ingest")
            with _ingesting(salon, taken):
                _read(salon, busy, sizes.readers, searches)
            say(f"{taken.documents} documents so far; waiting for the vectors under way")
            salon.stop_indexing()
            salon.index_words()
        salon.embedder.close()
    return _rows_of(idle, busy, taken, sizes)


def _read(salon: Salon, seen: Readers, readers: int, searches: int) -> None:
    """Let every reader search so many times."""
    found: list[list[tuple[float, SearchAnswer]]] = [[] for _ in range(readers)]

    def search(mine: list[tuple[float, SearchAnswer]], first: int) -> None:
        for question in islice(cycle(QUESTIONS), first, first + searches):
            with timed() as watch:
                answer = salon.search(question, limit=TOP)
            mine.append((watch.seconds * 1000, answer))

    threads = [
        threading.Thread(target=search, args=(mine, first)) for first, mine in enumerate(found)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for took_ms, answer in (one for mine in found for one in mine):
        seen.took_ms.append(took_ms)
        _check(salon, answer, seen)


def _check(salon: Salon, answer: SearchAnswer, seen: Readers) -> None:
    """Compare what was found with the archive."""
    seen.passages += len(answer.passages)
    for one in answer.passages:
        content = salon.archive.get(one.hash).content
        is_right = content[one.start : one.end].decode() == one.content
        is_of_document = salon.archive.get_document(one.document_id).text == one.hash
        seen.wrong += not (is_right and is_of_document)
    seen.wrong += not answer.passages


@contextmanager
def _ingesting(salon: Salon, taken: Taken) -> Iterator[None]:
    """Store document after document for a block, and have them indexed in the background."""
    texts, is_over = Texts(seed=next(_numbers) + 100, words=ENGLISH), threading.Event()

    def store() -> None:
        while True:
            (text,) = texts.documents(1, _DOCUMENT_CHARACTERS)
            salon.archive.write(partial(_store, texts=[text]))
            salon.start_indexing()
            taken.documents += 1
            if is_over.wait(_PAUSE_S):
                return

    writer = threading.Thread(target=store)
    with timed() as watch:
        writer.start()
        yield
        is_over.set()
        writer.join()
    taken.seconds += watch.seconds


def _rows_of(idle: Readers, busy: Readers, taken: Taken, sizes: Sizes) -> list[Row]:
    who = f"{sizes.readers} readers"
    count_ = len(busy.took_ms)
    return [
        Row(name="readers-p50", what=f"search by {who} during ingest, p50", unit="ms",
            salon=statistics.median(busy.took_ms), peer=statistics.median(idle.took_ms),
            peer_is="the same without ingest", repetitions=count_),
        Row(name="readers-p99", what=f"search by {who} during ingest, p99", unit="ms",
            salon=p99(busy.took_ms), peer=p99(idle.took_ms), peer_is="the same without ingest",
            most_ratio=2.0, repetitions=count_),
        Row(name="readers-consistent", what="passages found that are not their span", unit="",
            salon=busy.wrong + idle.wrong,
            peer_is=f"of {busy.passages + idle.passages:,}", below=1, repetitions=count_),
        Row(name="readers-ingest", what="text stored meanwhile", unit="MB/s",
            salon=taken.documents * _DOCUMENT_CHARACTERS / 1e6 / taken.seconds,
            peer_is=f"{taken.documents:,} documents", repetitions=sizes.repetitions),
    ]  # fmt: skip


def main() -> None:
    """Measure, and print one table."""
    parser = make_parser("ingest", __doc__)
    parser.add_argument("--passages", type=int, default=Sizes().embedded_passages, metavar="N")
    parser.add_argument("--readers", type=int, default=Sizes().readers, metavar="N")
    parser.add_argument("--searches", type=int, default=SEARCHES_PER_READER, metavar="N")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
    given = parser.parse_args()
    sizes = Sizes(
        embedded_passages=given.passages, readers=given.readers, repetitions=given.repetitions
    )
    with tempfile.TemporaryDirectory(prefix="salon-bench-", dir=given.folder) as folder:
        rows = [
            filling_row(Path(folder), sizes),
            *reader_rows(Path(folder), sizes, given.searches),
        ]
    report(rows, as_json=given.json)


if __name__ == "__main__":
    main()
