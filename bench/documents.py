"""`python -m bench.documents [--documents N]`: making an archive of documents searchable.

Salon stores the documents, cuts them, indexes words, computes vectors and keeps all of it on disk.
Beside it, in a process of its own on the same texts: `bm25s` in memory and the same embedder, with
nothing stored. What Salon adds to these two is what its machinery costs.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

from bench.corpora import opened
from bench.figures import Row, timed
from bench.own_process import answer_of, give_answer, peak_mb
from bench.program import make_parser, report, say
from bench.synthetic import ENGLISH, Texts
from salon.archive.vectors import VectorStore
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Provenance
from salon.core.hashing import content_hash
from salon.evaluation.systems import Bm25s
from salon.providers.embedders import DEFAULT_ADDRESS, open_embedder
from salon.retrieval.filling import VectorFilling

DOCUMENTS = 10_000
CHARACTERS = 800
"""Of one document: an abstract, which is one passage to both sides."""
_PASSAGE = 1_000
_PER_WRITE = 500


def texts_of(count: int) -> list[str]:
    """Return the documents, the same for both sides."""
    return list(Texts(words=ENGLISH).documents(count, CHARACTERS))


def through_salon(folder: Path, count: int) -> None:
    """Store and index the documents, and print what it took."""
    texts = texts_of(count)
    embedder = open_embedder(DEFAULT_ADDRESS)
    embedder.embed_passages(texts[:1])
    with timed() as watch, opened(folder, _PASSAGE) as corpus:
        for begin in range(0, count, _PER_WRITE):
            corpus.archive.write(partial(_store, texts=texts[begin : begin + _PER_WRITE]))
        corpus.index.catch_up()
        filled = VectorFilling(corpus.index, VectorStore(corpus.archive), embedder).fill()
    give_answer({"seconds": watch.seconds, "vectors": filled.computed, "peak_mb": peak_mb()})


def _store(tx: ArchiveTransaction, texts: list[str]) -> None:
    for card in tx.add_many([text.encode() for text in texts]):
        tx.add_document(Provenance(title="made up"), source=card.hash)


def alone(count: int) -> None:
    """Index the words with `bm25s`, compute the vectors, and print what it took."""
    texts = texts_of(count)
    embedder = open_embedder(DEFAULT_ADDRESS)
    embedder.embed_passages(texts[:1])
    with timed() as watch:
        ranked = Bm25s({content_hash(text.encode()): text for text in texts})
        vectors = embedder.embed_passages(texts)
    assert ranked.rank(texts[0], 1)
    give_answer({"seconds": watch.seconds, "vectors": len(vectors), "peak_mb": peak_mb()})


def measure(folder: Path, count: int) -> list[Row]:
    """Run both sides, one after the other."""
    say(f"{count:,} documents through Salon")
    ours = answer_of("bench.documents", "salon", folder / "home", count)
    say(f"{count:,} documents through bm25s and the embedder alone")
    peer = answer_of("bench.documents", "alone", count)
    what = (
        f"{count:,} documents made searchable ({ours['vectors']:,} and {peer['vectors']:,} vectors)"
    )
    return [
        Row(
            name=f"documents-{name}",
            what=what,
            unit=unit,
            salon=ours[key],
            peer=peer[key],
            peer_is="`bm25s` and the same embedder, nothing kept",
            most_ratio=goal,
            repetitions=1,
        )
        for name, key, unit, goal in (
            ("time", "seconds", " s", 1.25),
            ("memory", "peak_mb", " MB", 1.25),
        )
    ]


def main() -> None:
    """Do one side's work, or both and print the table."""
    match sys.argv[1:]:
        case ["salon", folder, count]:
            through_salon(Path(folder), int(count))
        case ["alone", count]:
            alone(int(count))
        case _:
            parser = make_parser("documents", __doc__)
            parser.add_argument("--documents", type=int, default=DOCUMENTS)
            chosen = parser.parse_args()
            with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
                report(measure(Path(folder), chosen.documents), as_json=chosen.json)


if __name__ == "__main__":
    main()
