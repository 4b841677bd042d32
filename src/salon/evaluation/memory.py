"""Measuring memory search on very long conversations: is the evidence among what is recalled?

The layout is LoCoMo's: conversations of many dated sessions between two people, and questions, each
with the turns that hold its answer. What is scored is the share of these turns among the first so
many found; answers are not judged. The searcher is the one that a companion's recall uses, and
bm25s ranks the same turns in the same run, each with its speaker's name before it.

Invariant: nothing that is searched or weighed depends on a question's evidence or answer.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from salon.conversation.memory.search import Utterance, UtteranceSearch
from salon.core.clock import instant, parse_instant
from salon.core.embedding import Embedder
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash
from salon.evaluation.files import read_json
from salon.evaluation.metrics import PeerComparison, compare_with_peer, percentile
from salon.evaluation.progress import Progress, silent
from salon.evaluation.systems import Bm25s

DEPTHS = (5, 10, 25, 50)
COMPARED_AT = 10
OURS, PEER = "salon memory", "bm25s"
CATEGORIES: Mapping[int, str] = {
    1: "several turns",
    2: "when",
    3: "beyond the text",
    4: "one turn",
    5: "about the other speaker",
}
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D\d+:\d+")
_DATE = "%I:%M %p on %d %B, %Y"


class _Turn(BaseModel):
    model_config = ConfigDict(extra="ignore")

    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _Question(BaseModel):
    model_config = ConfigDict(extra="ignore")

    question: str
    category: int
    evidence: list[str] = []


class _Sample(BaseModel):
    model_config = ConfigDict(extra="ignore")

    sample_id: str = ""
    conversation: dict[str, Any]
    qa: list[_Question]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, the places of the turns that hold its answer, and what kind it is."""

    text: str
    evidence: tuple[int, ...]
    category: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LongConversation:
    """What was said, in order, and what is asked about it."""

    name: str
    said: tuple[Utterance, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFigures:
    """The mean share of the evidence among the first so many found."""

    system: str
    category: str
    """`all`, or one of the kinds of question."""
    questions: int
    recall: dict[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """How well memory search finds evidence, beside the peer."""

    conversations: int
    turns: int
    questions: int
    skipped: int
    """Questions whose evidence is not in the conversation, or that have none."""
    figures: tuple[MemoryFigures, ...]
    by_conversation: dict[str, float]
    """Our recall at 10 in each conversation."""
    comparison: PeerComparison
    search_ms: float
    """Median time of one search, without the vector of the question."""


def read_conversations(path: Path) -> tuple[list[LongConversation], int]:
    """Return a file's conversations, in LoCoMo's layout, and how many questions were skipped."""
    found = read_json(path)
    if not isinstance(found, list) or not found:
        raise InvalidInput(f"{path} does not hold a list of conversations")
    skipped, read = 0, []
    for number, raw in enumerate(found):
        try:
            sample = _Sample.model_validate(raw)
            read.append(_conversation(sample, number))
        except (ValidationError, ValueError) as error:
            raise InvalidInput(f"{path}, conversation {number}: {error}") from error
        skipped += len(sample.qa) - len(read[-1].questions)
    return read, skipped


def evaluate_memory(
    conversations: Sequence[LongConversation],
    embedder: Embedder,
    *,
    skipped: int = 0,
    progress: Progress = silent,
) -> MemoryReport:
    """Ask every question of every conversation, and say how much of the evidence was found."""
    rows: list[tuple[str, int, dict[str, tuple[float, ...]]]] = []
    times: list[float] = []
    total = sum(len(one.questions) for one in conversations)
    if not total:
        raise InvalidInput("no question has evidence in its conversation")
    with progress("questions") as show:
        for one in conversations:
            ours, peer = _searches(one, embedder)
            for question in one.questions:
                begun = time.perf_counter()
                ranked, embedding = ours(question.text)
                times.append(time.perf_counter() - begun - embedding)
                found = {OURS: ranked, PEER: peer(question.text)}
                shares = {name: _shares(places, question) for name, places in found.items()}
                rows.append((one.name, question.category, shares))
                show(len(rows), total)
    at = DEPTHS.index(COMPARED_AT)
    return MemoryReport(
        conversations=len(conversations),
        turns=sum(len(one.said) for one in conversations),
        questions=total,
        skipped=skipped,
        figures=tuple(_figures(rows)),
        by_conversation={
            one.name: _mean([s[OURS][at] for name, _, s in rows if name == one.name])
            for one in conversations
            if one.questions
        },
        comparison=compare_with_peer(
            PEER, [s[OURS][at] for _, _, s in rows], [s[PEER][at] for _, _, s in rows]
        ),
        search_ms=round(percentile(times, 0.5) * 1000, 3),
    )


def _searches(one: LongConversation, embedder: Embedder) -> Any:
    """Return our search and the peer's over the turns of a conversation."""
    search = UtteranceSearch(one.said, embedder.embed_passages([said.text for said in one.said]))
    named = {CardHash(said.id): f"{said.speaker}: {said.text}" for said in one.said}
    bm25s = Bm25s(named)
    places = {said.id: place for place, said in enumerate(one.said)}
    now = one.said[-1].at

    def ours(question: str) -> tuple[list[int], float]:
        begun = time.perf_counter()
        vector = embedder.embed_query(search.query_text(question))
        embedding = time.perf_counter() - begun
        hits = search.search(question, vector, limit=max(DEPTHS), now=now)
        return [hit.place for hit in hits], embedding

    def peer(question: str) -> list[int]:
        return [places[hit.card] for hit in bm25s.rank(question, max(DEPTHS))]

    return ours, peer


def _shares(places: Sequence[int], question: Question) -> tuple[float, ...]:
    wanted = set(question.evidence)
    return tuple(len(wanted & set(places[:depth])) / len(wanted) for depth in DEPTHS)


def _figures(
    rows: Sequence[tuple[str, int, Mapping[str, tuple[float, ...]]]],
) -> list[MemoryFigures]:
    figures = []
    for system in (OURS, PEER):
        for category in (None, *sorted({category for _, category, _ in rows})):
            shares = [s[system] for _, found, s in rows if category in (None, found)]
            figures.append(
                MemoryFigures(
                    system=system,
                    category="all" if category is None else CATEGORIES.get(category, str(category)),
                    questions=len(shares),
                    recall={
                        depth: _mean([one[place] for one in shares])
                        for place, depth in enumerate(DEPTHS)
                    },
                )
            )
    return figures


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)


def _conversation(sample: _Sample, number: int) -> LongConversation:
    said: list[Utterance] = []
    sessions = sorted(
        (int(match[1]), name)
        for name in sample.conversation
        if (match := _SESSION.fullmatch(name)) and sample.conversation[name]
    )
    for _, name in sessions:
        at = _instant(str(sample.conversation.get(f"{name}_date_time", "")))
        for raw in sample.conversation[name]:
            turn = _Turn.model_validate(raw)
            text = turn.text + (f" [photo: {turn.blip_caption}]" if turn.blip_caption else "")
            said.append(Utterance(turn.dia_id, text, name, turn.speaker, at))
    places = {one.id: place for place, one in enumerate(said)}
    questions = []
    for asked in sample.qa:
        named = [found for one in asked.evidence for found in _EVIDENCE.findall(one)]
        evidence = tuple(sorted({places[one] for one in named if one in places}))
        if evidence:
            questions.append(
                Question(text=asked.question, evidence=evidence, category=asked.category)
            )
    return LongConversation(
        name=sample.sample_id or str(number), said=tuple(said), questions=tuple(questions)
    )


def _instant(spelled: str) -> str:
    try:
        return instant(datetime.strptime(f"{spelled} +0000", f"{_DATE} %z"))
    except ValueError:
        return instant(parse_instant(spelled))
