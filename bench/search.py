"""`python -m bench.search [--passages N]`: search at size, beside the bare engines in the same run.

One corpus of made-up text is stored, indexed and searched through Salon's own classes; the peers
are tantivy and a numpy scan without anything around them, on the same passages and vectors, asked
the same questions in turns, three times over. Memory is measured in a process that does nothing
but search.
"""

import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from bench.corpora import INDEX, Built, Corpus, build, opened, passage_texts
from bench.figures import Row, Sizes, timed
from bench.own_process import answer_of, disk_mb
from bench.program import make_parser, report, say
from bench.searching import TOP, GivenVectors, make_queries, ms, p99
from bench.synthetic import DIMENSIONS, QUESTIONS, SyntheticEmbedder
from salon.archive.vectors import VectorStore
from salon.core.embedding import Vector, Vectors
from salon.core.indexes import IndexedText
from salon.providers.embedders import DEFAULT_ADDRESS, open_embedder
from salon.retrieval.lexical.tantivy_index import BYTES_PER_THREAD, TantivyIndex
from salon.retrieval.searcher import Searcher, Timings

QUERIES = 500
ROUNDS = 3
"""Each query is asked so often and its best time counts: on a shared machine everything stands
still now and then, also a loop that only counts, and that is not what is measured here."""
_COUNTED = 20_000
_THREADS = min(4, os.cpu_count() or 1)
_PARTS = ("lexical_s", "dense_s", "fuse_s", "read_s")


class BareTantivy:
    """tantivy with its own English stemming, and nothing around it."""

    def __init__(self, folder: Path, passages: Sequence[IndexedText]) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text", stored=False, tokenizer_name="en_stem")
        folder.mkdir(parents=True)
        self._index = tantivy.Index(schema.build(), str(folder))
        with timed() as watch:
            writer = self._index.writer(BYTES_PER_THREAD * _THREADS, _THREADS)
            for passage in passages:
                writer.add_document(tantivy.Document(text=[passage.text]))
            writer.commit()
            writer.wait_merging_threads()
        self.seconds = watch.seconds
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, query: str) -> object:
        """Return the ten best."""
        return self._searcher.search(self._index.parse_query(query, ["text"]), TOP).hits


class BareScan:
    """All vectors in one numpy matrix."""

    def __init__(self, corpus: Corpus, count: int) -> None:
        self._matrix: Vectors = np.empty((count, DIMENSIONS), np.float32)
        rows = VectorStore(corpus.archive).walk(SyntheticEmbedder.model)
        for place, row in enumerate(rows):
            self._matrix[place] = row.vector

    def scores(self, vector: Vector) -> Vector:
        """Return the best ten scores, best first."""
        scores = self._matrix @ vector
        best: Vector = scores[np.argpartition(scores, len(scores) - TOP)[-TOP:]]
        return np.sort(best)[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Milliseconds per query of each side, and how many of the nearest were found."""

    ours: list[float] = field(default_factory=list)
    words: list[float] = field(default_factory=list)
    scan: list[float] = field(default_factory=list)
    parts: list[Timings] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    whole_parts: list[Timings] = field(default_factory=list)
    found: list[float] = field(default_factory=list)
    counting: list[float] = field(default_factory=list)
    """A loop that only counts, after each query: what the machine itself does to times."""

    @property
    def both(self) -> list[float]:
        """Return what the bare engines take one after the other."""
        return [words + scan for words, scan in zip(self.words, self.scan, strict=True)]


def search_rows(folder: Path, sizes: Sizes) -> list[Row]:
    """Measure search over one corpus."""
    characters = sizes.passage_characters
    say(f"building {sizes.passages:,} passages")
    built = build(folder, sizes.passages, characters)
    disk = disk_mb(folder / INDEX)
    say("searching alone")
    alone = answer_of("bench.searching", folder, characters, sizes.queries)
    with opened(folder, characters) as corpus:
        say("building the bare engines")
        passages = list(passage_texts(corpus))
        with timed() as engine, TantivyIndex(folder / "words") as words:
            words.add(passages)
            words.commit()
        bare = BareTantivy(folder / "bare", passages)
        megabytes = sum(len(passage.text) for passage in passages) / 1e6
        rates = megabytes / engine.seconds, megabytes / bare.seconds
        del passages
        scan = BareScan(corpus, built.passages)
        say("searching by turns")
        rounds = _measure(corpus, bare, scan, sizes.queries)
        measured = _best_of(rounds)
    return [
        *_speed_rows(built.passages, measured),
        *_single_rows(rounds),
        *_part_rows(measured),
        *_word_rows(built, rates),
        *_index_rows(built, disk, alone, measured),
    ]


def _measure(corpus: Corpus, tantivy_: BareTantivy, scan: BareScan, count: int) -> list[Measured]:
    queries = make_queries(count)
    index = corpus.index.vectors
    assert index is not None
    real, questions = open_embedder(DEFAULT_ADDRESS), cycle(QUESTIONS)
    given = GivenVectors(queries)
    embedding = GivenVectors(queries, lambda: real.embed_query(next(questions)))
    searcher, whole = (Searcher(corpus.index, lambda one=one: one) for one in (given, embedding))  # type: ignore[misc]
    rounds: list[Measured] = []
    vectors = given.embed_passages(queries)
    for _ in range(ROUNDS):
        measured = Measured()
        for query, vector in zip(queries, vectors, strict=True):
            with timed() as ours:
                found = searcher.search(query, limit=TOP)
            measured.ours.append(ours.seconds * 1000)
            measured.parts.append(found.timings)
            measured.words.append(ms(lambda query=query: tantivy_.search(query)))  # type: ignore[misc]
            with timed() as watch:
                exact = scan.scores(vector)
            measured.scan.append(watch.seconds * 1000)
            with timed() as all_of_it:
                found = whole.search(query, limit=TOP)
            measured.whole.append(all_of_it.seconds * 1000)
            measured.whole_parts.append(found.timings)
            scores = index.search(vector, TOP).scores
            # As near as the tenth counts as found: of equals, either will do.
            measured.found.append(float(np.mean(scores >= exact[-1] - 1e-5)))
            measured.counting.append(ms(_count))
        rounds.append(measured)
    real.close()
    return rounds


def _count() -> None:
    for _ in range(_COUNTED):
        pass


def _best_of(rounds: Sequence[Measured]) -> Measured:
    """Return each query's best time of all rounds; what it is made of is that of the last."""

    def best(times: Callable[[Measured], list[float]]) -> list[float]:
        return [min(of_query) for of_query in zip(*map(times, rounds), strict=True)]

    return Measured(
        ours=best(lambda one: one.ours),
        words=best(lambda one: one.words),
        scan=best(lambda one: one.scan),
        whole=best(lambda one: one.whole),
        parts=rounds[-1].parts,
        whole_parts=rounds[-1].whole_parts,
        found=rounds[-1].found,
    )


def _speed_rows(passages: int, measured: Measured) -> list[Row]:
    peer = "bare tantivy + bare numpy scan"
    embedding = _median(measured.whole_parts, "embed_s")
    others = {part: _median(measured.whole_parts, part) for part in _PARTS}
    largest = max(others, key=others.__getitem__)
    count = len(measured.ours)
    return [
        Row(name="hybrid-p50", what=f"hybrid search of {passages:,} passages, p50", unit="ms",
            salon=statistics.median(measured.ours), peer=statistics.median(measured.both),
            peer_is=peer, most_ratio=1.5, repetitions=count),
        Row(name="hybrid-p99", what="the same, p99, each query at its best of 3", unit="ms",
            salon=p99(measured.ours),
            peer=p99(measured.both), peer_is=peer, most_ratio=1.5, repetitions=count),
        Row(name="with-embedding", what="the same with the question's embedding, p50", unit="ms",
            salon=statistics.median(measured.whole), peer=embedding,
            peer_is=f"of which {DEFAULT_ADDRESS}", repetitions=count),
        Row(name="largest-other-part", what=f"its largest other part, {_NAMES[largest]}, p50",
            unit="ms", salon=others[largest], peer=embedding, peer_is="the question's embedding",
            most_ratio=1.0, repetitions=count),
    ]  # fmt: skip


def _single_rows(rounds: Sequence[Measured]) -> list[Row]:
    """Show what single answers take, which a pause of the machine spoils on both sides."""
    ours = [took for one in rounds for took in one.ours]
    both = [took for one in rounds for took in one.both]
    counting = [took for one in rounds for took in one.counting]
    return [
        Row(name="hybrid-p99-single", what="the same, p99 of single answers", unit="ms",
            salon=p99(ours), peer=p99(both), peer_is="bare tantivy + bare numpy scan",
            repetitions=len(ours)),
        Row(name="counting-p99", what="a loop that only counts, p99", unit="ms",
            salon=p99(counting), peer=statistics.median(counting), peer_is="its own p50",
            repetitions=len(counting)),
    ]  # fmt: skip


_NAMES = {"lexical_s": "words", "dense_s": "vectors", "fuse_s": "fusion", "read_s": "reading"}


def _part_rows(measured: Measured) -> list[Row]:
    peers = {
        "lexical_s": (statistics.median(measured.words), "bare tantivy, the best 10"),
        "dense_s": (statistics.median(measured.scan), "bare numpy scan, the best 10"),
    }
    rows = []
    for part in _PARTS:
        peer, peer_is = peers.get(part, (None, ""))
        rows.append(
            Row(
                name=f"part-{_NAMES[part]}",
                what=f"of the search: {_NAMES[part]}, p50",
                unit="ms",
                salon=_median(measured.parts, part),
                peer=peer,
                peer_is=peer_is,
                repetitions=len(measured.ours),
            )
        )
    return rows


def _word_rows(built: Built, rates: tuple[float, float]) -> list[Row]:
    peer_is = "bare tantivy, passages cut already"
    return [
        Row(name="words-engine", what="passages into the lexical index", unit="MB/s",
            salon=rates[0], peer=rates[1], peer_is=peer_is, least=20.0, repetitions=1),
        Row(name="words-ingest", what="documents read, cut and into the lexical index",
            unit="MB/s", salon=built.text_mb / built.words_s, peer=rates[1], peer_is=peer_is,
            least=20.0, repetitions=1),
    ]  # fmt: skip


def _index_rows(built: Built, disk: float, alone: dict[str, Any], measured: Measured) -> list[Row]:
    vectors_mb = built.passages * DIMENSIONS * 4 / 1e6
    return [
        Row(name="dense-recall", what=f"recall@{TOP} of the vectors", unit="",
            salon=statistics.fmean(measured.found), peer=1.0, peer_is="exact scan", least=0.99,
            repetitions=len(measured.found)),
        Row(name="vectors-ingest", what="vectors into archive and index", unit="/s",
            salon=built.passages / built.vectors_s, peer_is="", repetitions=1),
        Row(name="index-disk", what="indexes on disk", unit="MB", salon=disk,
            peer=built.text_mb + vectors_mb, peer_is="the text, and its vectors as float32",
            repetitions=1),
        Row(name="resident", what="memory of a process that searches, peak", unit="MB",
            salon=alone["peak_mb"], peer=alone["before_mb"], peer_is="before it opens anything",
            repetitions=1),
        Row(name="anonymous", what="of which not files that are mapped", unit="MB",
            salon=alone["anonymous_mb"], peer_is="", repetitions=1),
    ]  # fmt: skip


def _median(timings: Sequence[Timings], part: str) -> float:
    return 1000 * statistics.median(float(getattr(one, part)) for one in timings)


def main() -> None:
    """Measure, and print one table."""
    parser = make_parser("search", __doc__)
    parser.add_argument("--passages", type=int, default=Sizes().passages, metavar="N")
    parser.add_argument("--queries", type=int, default=QUERIES, metavar="N")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="salon-bench-", dir=given.folder) as folder:
        rows = search_rows(Path(folder), Sizes(passages=given.passages, queries=given.queries))
    report(rows, as_json=given.json)


if __name__ == "__main__":
    main()
