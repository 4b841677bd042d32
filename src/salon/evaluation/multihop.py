"""Measuring search on questions that need several documents at once, beside its peers.

A collection has documents with a title and a text, and questions with the titles that together
support the answer, as studies of retrieval pass on 2WikiMultihopQA. Only texts are stored and
searched: titles link one document to the next so plainly that the set would look solved. The
product is run as it is, in a home of its own.

Invariants: a question counts only if every supporting title is in the corpus; all systems are asked
the same questions by turns; nothing but the figures depends on which titles support what.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean

from pydantic import BaseModel, ConfigDict

from salon.app import Salon
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Provenance
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash, content_hash
from salon.evaluation.beir import read_corpus
from salon.evaluation.files import bad_line, read_rows
from salon.evaluation.metrics import PeerComparison, compare_with_peer, percentile
from salon.evaluation.progress import Progress, silent
from salon.evaluation.systems import RESULTS, Bm25s, SalonMode, System
from salon.settings import Settings

DEPTHS = (2, 5, 10)
ALL_SUPPORT_DEPTH = 5
_DOCUMENTS_PER_COMMIT = 500
_WARM_UP = "a first question, which loads whatever is loaded when first needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HopQuestion:
    """A question, what kind of question it is, and the titles that together support its answer."""

    id: str
    kind: str
    text: str
    supports: tuple[str, ...]
    is_whole: bool
    """Whether whoever made the collection found every supporting document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HopFigures:
    """How much of the support was found, as means over some questions."""

    questions: int
    recall: dict[int, float]
    all_support_at_5: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemHops:
    """What one way of searching achieved, over all questions and over those of each kind."""

    system: str
    overall: HopFigures
    by_kind: dict[str, HopFigures]
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MultihopReport:
    """Everything that `salon eval multihop` found out."""

    documents: int
    distinct_texts: int
    passages: int
    entities: int
    questions: int
    questions_evaluated: int
    questions_without_support: int
    embedder: str
    indexing_s: float
    graph_s: float
    systems: tuple[SystemHops, ...]
    comparisons: tuple[PeerComparison, ...]
    """How the graph's recall of support in the first five differs from each peer's."""

    def as_json(self) -> dict[str, object]:
        """Return what JSON knows; depths become strings there."""
        return asdict(self)


class _QuestionRow(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    type: str = ""
    question: str
    supporting_titles: list[str]
    all_titles_found: bool = True


def read_questions(path: Path) -> tuple[HopQuestion, ...]:
    """Read questions from JSON lines with `id`, `question` and `supporting_titles`."""
    questions: list[HopQuestion] = []
    for number, row in read_rows(path, _QuestionRow):
        if not row.question.strip():
            raise bad_line(path, number, "a question without words")
        questions.append(
            HopQuestion(
                id=row.id,
                kind=row.type or "unknown",
                text=row.question,
                supports=tuple(dict.fromkeys(row.supporting_titles)),
                is_whole=row.all_titles_found and bool(row.supporting_titles),
            )
        )
    if not questions:
        raise InvalidInput(f"{path} holds no questions")
    return tuple(questions)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    """The distinct texts, without titles, and which of them each title stands for."""

    texts: dict[CardHash, str]
    by_title: dict[str, frozenset[CardHash]]
    documents: int

    @classmethod
    def read(cls, corpus: Path) -> "_Texts":
        texts: dict[CardHash, str] = {}
        by_title: dict[str, frozenset[CardHash]] = {}
        documents = read_corpus(corpus)
        for document in documents:
            content = replace(document, title="").content
            if content:
                card = content_hash(content.encode())
                texts[card] = content
                known = by_title.get(document.title, frozenset())
                by_title[document.title] = known | {card}
        return cls(texts=texts, by_title=by_title, documents=len(documents))

    def supported(self, questions: Sequence[HopQuestion]) -> list[HopQuestion]:
        """Return the questions all of whose support is here."""
        return [
            one
            for one in questions
            if one.is_whole and all(title in self.by_title for title in one.supports)
        ]


def evaluate_multihop(
    corpus: Path,
    questions: Path,
    settings: Settings,
    *,
    limit_questions: int | None = None,
    progress: Progress = silent,
) -> MultihopReport:
    """Store, index and search a collection in the home of `settings`, and say how well it went."""
    texts = _Texts.read(corpus)
    everything = read_questions(questions)
    supported = texts.supported(everything)
    if not supported:
        raise InvalidInput(
            f"{corpus} has the support of no question in {questions}",
            hint="do the two files belong to the same collection?",
        )
    asked = supported[:limit_questions]
    bm25s = Bm25s(texts.texts)
    with Salon(settings) as salon:
        begun = time.perf_counter()
        _store_new(salon, texts.texts, progress)
        with progress("indexing") as show:
            salon.index(show)
        indexing_s = time.perf_counter() - begun
        begun = time.perf_counter()
        salon.graph.catch_up(salon.archive)
        graph_s = time.perf_counter() - begun
        modes = [SalonMode(salon, mode) for mode in ("graph", "hybrid", "dense", "sparse")]
        runs = _ask_all([*modes, bm25s], asked, progress)
        return MultihopReport(
            documents=texts.documents,
            distinct_texts=len(texts.texts),
            passages=salon.index_coverage().passages,
            entities=salon.graph.stats().entities,
            questions=len(everything),
            questions_evaluated=len(asked),
            questions_without_support=len(everything) - len(supported),
            embedder=str(salon.embedder.model),
            indexing_s=indexing_s,
            graph_s=graph_s,
            systems=tuple(_figures(run, asked, texts.by_title) for run in runs),
            comparisons=tuple(_comparisons(runs, asked, texts.by_title)),
        )


# Storing and searching


def _store_new(salon: Salon, texts: Mapping[CardHash, str], progress: Progress) -> None:
    there = {document.text for document in salon.archive.documents()}
    if foreign := len(there - texts.keys()):
        raise InvalidInput(
            f"{salon.settings.home} holds {foreign:,} documents that are not in this corpus",
            hint="they would be found too; keep each corpus in a folder of its own",
        )
    new = [text for card, text in texts.items() if card not in there]
    with progress("storing") as show:
        for start in range(0, len(new), _DOCUMENTS_PER_COMMIT):
            batch = new[start : start + _DOCUMENTS_PER_COMMIT]
            salon.archive.write(partial(_store, texts=batch))
            show(start + len(batch), len(new))


def _store(transaction: ArchiveTransaction, *, texts: Sequence[str]) -> None:
    for card, _ in transaction.add_many([text.encode() for text in texts]):
        transaction.add_document(Provenance(title=card), source=card)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What one system returned for each question, and how long it took."""

    system: str
    rankings: list[list[CardHash]]
    seconds: list[float]


def _ask_all(
    systems: Sequence[System], questions: Sequence[HopQuestion], progress: Progress
) -> list[_Run]:
    """Put every question to every system by turns, so that a busy moment hits all of them."""
    runs = [_Run(system=system.name, rankings=[], seconds=[]) for system in systems]
    for system in systems:
        system.ask(_WARM_UP)
    depth = max(*DEPTHS, RESULTS)
    with progress("searching") as show:
        for done, question in enumerate(questions, start=1):
            for system, run in zip(systems, runs, strict=True):
                begun = time.perf_counter()
                system.ask(question.text)
                run.seconds.append(time.perf_counter() - begun)
                run.rankings.append([hit.card for hit in system.rank(question.text, depth)])
            show(done, len(questions))
    return runs


# Figures


def _figures(
    run: _Run, questions: Sequence[HopQuestion], by_title: Mapping[str, frozenset[CardHash]]
) -> SystemHops:
    kinds: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        kinds.setdefault(question.kind, []).append(place)

    def over(places: Sequence[int]) -> HopFigures:
        found = {
            depth: [
                _found(run.rankings[place], questions[place], by_title, depth) for place in places
            ]
            for depth in DEPTHS
        }
        return HopFigures(
            questions=len(places),
            recall={depth: fmean(shares) for depth, shares in found.items()},
            all_support_at_5=fmean(share == 1 for share in found[ALL_SUPPORT_DEPTH]),
        )

    milliseconds = [1000 * seconds for seconds in run.seconds]
    return SystemHops(
        system=run.system,
        overall=over(range(len(questions))),
        by_kind={kind: over(places) for kind, places in sorted(kinds.items())},
        p50_ms=percentile(milliseconds, 0.5),
        p99_ms=percentile(milliseconds, 0.99),
    )


def _found(
    ranking: Sequence[CardHash],
    question: HopQuestion,
    by_title: Mapping[str, frozenset[CardHash]],
    depth: int,
) -> float:
    """Return the share of a question's support among the first `depth` documents."""
    top = set(ranking[:depth])
    return fmean(bool(by_title[title] & top) for title in question.supports)


def _comparisons(
    runs: Sequence[_Run],
    questions: Sequence[HopQuestion],
    by_title: Mapping[str, frozenset[CardHash]],
) -> Iterator[PeerComparison]:
    """Hold the first system's recall in the first five against that of each other one."""
    shares = [
        [
            _found(ranking, question, by_title, ALL_SUPPORT_DEPTH)
            for ranking, question in zip(run.rankings, questions, strict=True)
        ]
        for run in runs
    ]
    for run, theirs in zip(runs[1:], shares[1:], strict=True):
        yield compare_with_peer(run.system, shares[0], theirs)
