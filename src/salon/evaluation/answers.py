"""Measuring answers: how often the first quote answers, how often Salon rightly stays silent.

The product is run as it is: texts go into a home of their own, and every question goes through
retrieval, selection and abstention as `salon ask` does. An answer is right if a text answers the
question and one of the quotes that a reply would give holds a labelled answer, or is a labelled
sentence; everything else that is answered counts as unsupported.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from salon.app import Salon
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Document, Provenance
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash, content_hash
from salon.evaluation.progress import Progress, silent
from salon.evaluation.questions import CharSpan, LabelledQuestion, LabelledQuestions
from salon.experts.abstention import Abstention
from salon.experts.answering import RETRIEVED
from salon.experts.composing.extractive import choose
from salon.experts.evidence import Evidence, Quote, Signs
from salon.grounding.risk import Judged, Point, find_threshold
from salon.settings import Settings

if TYPE_CHECKING:
    from salon.corpus.search import FoundPassage

STEPS = tuple(step / 20 for step in range(19, -1, -1))
"""The thresholds of the trade-off, from strict to none."""
MOST_QUOTES = 3
"""Quotes in one reply, as profiles have it by default."""
FOUND = 30
"""Passages that are searched for, so that enough are left when some are hidden."""
_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOnce:
    """One question as it was answered."""

    id: str
    group: str
    is_answerable: bool
    signs: Signs
    score: float
    is_right: bool
    """Whether one of the quotes that a reply gives answers."""
    is_first: bool
    """Whether the first of them does."""
    is_hidden: bool
    """Whether the texts that answer it were hidden, so that silence is right."""
    took_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeOff:
    """What answering from one threshold on comes to."""

    threshold: float
    answered: int
    coverage: float
    """The share of the questions that are answered."""
    risk: float
    """The share of unsupported answers among those given."""
    quote_hit_1: float
    """The share of the answers given whose first quote answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFigures:
    """What a run showed."""

    kind: str
    questions: int
    answerable: int
    quote_hit_1: float
    """Of the answerable questions: the first quote answers, out of the whole corpus."""
    reply_hit: float
    """The same of any of the quotes that a reply gives."""
    quote_hit_1_inside: float
    """The same, inside the text that is known to answer."""
    bm25_hit_1_inside: float
    """The same with BM25 over the sentences of that text."""
    auroc: float
    """That the score tells right answers from wrong ones."""
    miss_auroc: float | None
    """That the score tells questions with their texts from the same without."""
    alpha: float
    threshold: float
    answered: int
    coverage: float
    risk: float
    """The share of unsupported answers among those given, at the shipped threshold."""
    best: Point | None
    """What could be promised on these very questions."""
    curve: tuple[TradeOff, ...]
    """From strict to loose; thresholds that nothing reaches are left out."""
    p50_ms: float


def evaluate_answers(
    labelled: LabelledQuestions,
    settings: Settings,
    *,
    alpha: float = 0.1,
    limit: int | None = None,
    progress: Progress = silent,
) -> tuple[AnswerFigures, list[AskedOnce]]:
    """Ask every question, and say how it went."""
    questions = list(islice(labelled.questions, limit))
    if not any(one.is_answerable for one in questions):
        raise InvalidInput("none of these questions has an answer in its texts")
    with Salon(settings) as salon:
        documents = store_texts(salon, labelled, progress)
        run = _Run(salon, labelled, documents)
        asked: list[AskedOnce] = []
        inside, words = [], []
        with progress("asking") as show:
            for number, question in enumerate(questions, start=1):
                asked += run.ask(question)
                if question.is_answerable:
                    inside.append(run.hits_inside(question))
                    words.append(run.words_hit_inside(question))
                show(number, len(questions))
        shipped = run.abstention
    return _figures(labelled.kind, asked, inside, words, abstention=shipped, alpha=alpha), asked


class _Run:
    """The product over one set of texts."""

    def __init__(
        self, salon: Salon, labelled: LabelledQuestions, documents: dict[CardHash, str]
    ) -> None:
        from salon.experts.abstention import shipped

        self._salon = salon
        self._labelled = labelled
        self._names = documents
        self.abstention: Abstention = shipped()
        self._selector = salon.selector

    def ask(self, question: LabelledQuestion) -> list[AskedOnce]:
        """Ask a question; one that is answered somewhere also with its texts hidden."""
        begun = time.perf_counter()
        found = self._salon.search(question.text, limit=FOUND).passages
        evidence = self._evidence(question.text, found[:RETRIEVED])
        took = time.perf_counter() - begun
        results = [self._result(question, evidence, took, is_hidden=False)]
        if question.is_answerable and self._labelled.kind == "claims":
            others = [one for one in found if self._names[one.hash] not in question.answers]
            hidden = self._evidence(question.text, others[:RETRIEVED])
            results.append(self._result(question, hidden, took, is_hidden=True))
        return results

    def hits_inside(self, question: LabelledQuestion) -> bool:
        """Tell whether the selector picks a right sentence out of a text that answers."""
        from salon.retrieval.chunking import sentences

        name, spans = next(iter(question.answers.items()))
        text = self._labelled.texts[name]
        places = list(sentences(text))
        scores = self._selector.scores(question.text, [text[a:b] for a, b in places])
        best = places[max(range(len(places)), key=lambda one: scores[one])]
        return covers(best, spans, whole=self._labelled.kind == "claims")

    def words_hit_inside(self, question: LabelledQuestion) -> bool:
        """Tell the same of BM25 over the sentences of that text."""
        from salon.evaluation.systems import Bm25s
        from salon.retrieval.chunking import sentences

        name, spans = next(iter(question.answers.items()))
        text = self._labelled.texts[name]
        places = list(sentences(text))
        words = {CardHash(str(one)): text[a:b] for one, (a, b) in enumerate(places)}
        hits = Bm25s(words).rank(question.text, 1)
        best = places[int(hits[0].card)] if hits else places[0]
        return covers(best, spans, whole=self._labelled.kind == "claims")

    def _evidence(self, question: str, passages: "Sequence[FoundPassage]") -> Evidence:
        from salon.experts.evidence import gather_evidence

        return gather_evidence(question, passages, self._selector)

    def _result(
        self, question: LabelledQuestion, evidence: Evidence, took: float, *, is_hidden: bool
    ) -> AskedOnce:
        quotes = choose(evidence.quotes, MOST_QUOTES)
        score = self.abstention.probability(evidence.signs) if quotes else 0.0
        rights = [not is_hidden and self._is_right(question, one) for one in quotes]
        return AskedOnce(
            id=question.id,
            group=question.group,
            is_answerable=question.is_answerable,
            signs=evidence.signs,
            score=score,
            is_right=any(rights),
            is_first=bool(rights) and rights[0],
            is_hidden=is_hidden,
            took_s=took,
        )

    def _is_right(self, question: LabelledQuestion, quote: Quote) -> bool:
        name = self._names[quote.hash]
        spans = question.answers.get(name, ())
        text = self._labelled.texts[name].encode()
        start = len(text[: quote.start].decode())
        place = (start, start + len(quote.text))
        return covers(place, spans, whole=self._labelled.kind == "claims")


def covers(place: CharSpan, spans: Sequence[CharSpan], *, whole: bool) -> bool:
    """Tell whether a quote holds an answer; of a whole sentence, most of it is enough."""
    start, end = place
    for begin, stop in spans:
        shared = min(end, stop) - max(start, begin)
        if (whole and shared > 0.5 * min(stop - begin, end - start)) or (
            not whole and start <= begin and stop <= end
        ):
            return True
    return False


def store_texts(
    salon: Salon, labelled: LabelledQuestions, progress: Progress
) -> dict[CardHash, str]:
    """Store the texts of a set where they are not stored yet, and return their names."""
    names = {content_hash(text.encode()): name for name, text in labelled.texts.items()}
    there = {document.text for document in salon.archive.documents()}
    if there - set(names):
        raise InvalidInput(
            f"{salon.settings.home} holds other documents already",
            hint="keep each corpus in a folder of its own",
        )
    new = [(card, name) for card, name in names.items() if card not in there]

    def store(tx: ArchiveTransaction, batch: list[tuple[CardHash, str]]) -> list[Document]:
        cards = tx.add_many([labelled.texts[name].encode() for _, name in batch])
        return [
            tx.add_document(Provenance(title=name), source=card.hash)
            for card, (_, name) in zip(cards, batch, strict=True)
        ]

    with progress("storing") as show:
        for start in range(0, len(new), _BATCH):
            salon.archive.write(partial(store, batch=new[start : start + _BATCH]))
            show(min(start + _BATCH, len(new)), len(new))
    salon.index_words()
    with progress("computing vectors") as show:
        salon.index_vectors(show)
    return names


# Figures


def _figures(
    kind: str,
    asked: Sequence[AskedOnce],
    inside: Sequence[bool],
    words: Sequence[bool],
    *,
    abstention: Abstention,
    alpha: float,
) -> AnswerFigures:
    judged = [Judged(score=one.score, is_right=one.is_right) for one in asked]
    threshold = abstention.threshold(alpha)
    given = [one for one in judged if one.score >= threshold]
    seen = [one for one in asked if not one.is_hidden]
    answerable = [one for one in seen if one.is_answerable]
    hidden = [one.score for one in asked if one.is_hidden]
    return AnswerFigures(
        kind=kind,
        questions=len(seen),
        answerable=len(answerable),
        quote_hit_1=statistics.fmean(one.is_first for one in answerable),
        reply_hit=statistics.fmean(one.is_right for one in answerable),
        quote_hit_1_inside=statistics.fmean(inside),
        bm25_hit_1_inside=statistics.fmean(words),
        auroc=auroc([one.score for one in judged if one.is_right],
                    [one.score for one in judged if not one.is_right]),
        miss_auroc=auroc([one.score for one in answerable], hidden) if hidden else None,
        alpha=alpha,
        threshold=threshold,
        answered=len(given),
        coverage=len(given) / len(judged),
        risk=sum(not one.is_right for one in given) / len(given) if given else 0.0,
        best=find_threshold(judged, alpha=alpha),
        curve=trade_off(asked),
        p50_ms=statistics.median(one.took_s for one in seen) * 1000,
    )  # fmt: skip


def trade_off(asked: Sequence[AskedOnce]) -> tuple[TradeOff, ...]:
    """Return how many are answered from each threshold on, and how many of them wrongly."""
    points = []
    for threshold in STEPS:
        given = [one for one in asked if one.score >= threshold]
        if given:
            points.append(
                TradeOff(
                    threshold=threshold,
                    answered=len(given),
                    coverage=len(given) / len(asked),
                    risk=statistics.fmean(not one.is_right for one in given),
                    quote_hit_1=statistics.fmean(one.is_first for one in given),
                )
            )
    return tuple(points)


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return how often one of the first is above one of the second; equals count half."""
    import numpy as np

    if not higher or not lower:
        return float("nan")
    both = np.concatenate([np.asarray(higher), np.asarray(lower)])
    order = np.argsort(both, kind="stable")
    ranks = np.empty(len(both))
    ordered = both[order]
    first = np.searchsorted(ordered, ordered, "left")
    last = np.searchsorted(ordered, ordered, "right")
    ranks[order] = (first + last + 1) / 2
    count = len(higher)
    return float((ranks[:count].sum() - count * (count + 1) / 2) / (count * len(lower)))


def as_json(figures: AnswerFigures) -> dict[str, object]:
    """Return the figures for machines."""
    return asdict(figures)
