"""A cry for help in a message, and the fixed reply to it.

High recall matters more than anything here, so doubt counts as a signal; idioms ("this traffic is
killing me"), denials and stories are told apart so that the reply keeps its weight. The reply comes
from a file that people review; no model and no persona has a word in it.

What this is not: a diagnosis, or a promise to notice. It reads English, one message at a time.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from salon.core.embedding import Embedder
from salon.guard.crisis_meaning import POSSIBLE, most_likely

Kind = Literal["self", "overdose", "other", "danger"]
Certainty = Literal["certain", "possible"]
Span = tuple[int, int]

SIGNALS = Path(__file__).with_name("crisis_signals.json")
REPLIES = Path(__file__).with_name("crisis_replies.json")
_STRAIGHT = str.maketrans("\u2019\u2018\u201c\u201d\u00a0\n\t", "''\"\"   ")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_LONGEST = 400
_MOST = 20_000
"""Of a longer text the beginning and the end are read."""
_MINE = frozenset({"self", "overdose"})
_OVERLAP = 160
_BEFORE = 60
_HELP_FOR_112 = "112"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Signal(_File):
    kind: Kind
    patterns: list[str]
    can_be_negated: bool = False


class _SignalFile(_File):
    about: str
    parts: dict[str, str]
    idioms: list[str]
    negations: list[str]
    denials: list[str]
    """Sentences that say plainly that it is not so; they get no second look."""
    signals: list[_Signal]
    urgency: list[Kind]
    anchors: str
    """A text without any of these words has no signal; looking for them is cheap."""


class _Line(_File):
    name: str
    reach: str
    page: str


class _Region(_File):
    emergency: str
    lines: list[_Line]
    violence: list[_Line] = []


class _Sentences(_File):
    line: str
    emergency: str
    emergency_other: str
    emergency_now: str


class _ReplyFile(_File):
    about: str
    checked: str
    ai: str
    replies: dict[str, list[str]]
    unknown_region: _Region
    regions: dict[str, _Region]
    emergency_112: list[str]
    sentences: _Sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class Crisis:
    """What a message signals, and the characters that do."""

    kind: Kind
    start: int
    end: int
    certainty: Certainty = "certain"


@dataclass(frozen=True, slots=True)
class _Compiled:
    idioms: tuple[re.Pattern[str], ...]
    negations: tuple[re.Pattern[str], ...]
    denials: tuple[re.Pattern[str], ...]
    signals: tuple[tuple[_Signal, tuple[re.Pattern[str], ...]], ...]
    urgency: tuple[Kind, ...]
    anchors: re.Pattern[str]


def find_crisis(text: str, embedder: Embedder | None = None) -> Crisis | None:
    """Return the most urgent signal of a message, `None` where there is none.

    With an embedder, what no pattern catches gets a second look; what that finds is possible.
    """
    rules = _signals()
    plain = _plain(text)
    stretches = list(_stretches(plain))
    found = [one for start, end in stretches for one in _in(plain[start:end], start)]
    others = [one for one in found if one.kind == "other"]
    # "My son is harming himself" is about the son, though part of it reads like the first person.
    found = [one for one in found if one.kind not in _MINE or not _inside(one, others)]
    if found:
        return min(found, key=lambda one: (rules.urgency.index(one.kind), one.start))
    return None if embedder is None else _second_look(text, plain, stretches, embedder)


def _plain(text: str) -> str:
    plain = text.lower().translate(_STRAIGHT)
    if len(plain) != len(text):  # a few letters change length in lower case
        plain = text.translate(_STRAIGHT)
    if len(plain) > _MOST:
        plain = plain[: _MOST // 2] + " " * (len(plain) - _MOST) + plain[-_MOST // 2 :]
    return plain


def _second_look(text: str, plain: str, stretches: list[Span], embedder: Embedder) -> Crisis | None:
    """Ask the head about the sentences that no idiom and no denial explains."""
    open_ones = [one for one in stretches if not _is_explained(plain[slice(*one)])]
    # As they were written: other steps ask for the vector of the same text.
    sentences = [text[start:end].strip() for start, end in open_ones]
    found = most_likely(sentences, embedder)
    if found is None or found[2] < POSSIBLE:
        return None
    start, end = open_ones[found[0]]
    kind: Kind = found[1]  # type: ignore[assignment]  # the head knows these kinds alone
    return Crisis(kind=kind, start=start, end=end, certainty="possible")


def _is_explained(text: str) -> bool:
    rules = _signals()
    if not text.strip() or any(one.search(text) for one in (*rules.idioms, *rules.denials)):
        return True
    return any(
        _is_negated(text, match.start(), rules)
        for signal, patterns in rules.signals
        if signal.can_be_negated
        for pattern in patterns
        for match in pattern.finditer(text)
    )


def crisis_reply(crisis: Crisis, region: str = "") -> str:
    """Return the reply to a signal, with the help there is in a region (`US`, `de-AT`, `en_GB`)."""
    file = _replies()
    here = _region(file, region)
    lines = [file.sentences.line.format(**one.model_dump()) for one in here.lines]
    violence = [file.sentences.line.format(**one.model_dump()) for one in here.violence]
    filled = {
        "lines": " ".join(lines),
        "violence": " ".join(violence),
        "emergency": file.sentences.emergency.format(emergency=here.emergency),
        "emergency_other": file.sentences.emergency_other.format(emergency=here.emergency),
        "emergency_now": file.sentences.emergency_now.format(emergency=here.emergency),
        "ai": file.ai,
    }
    paragraphs = (one.format(**filled) for one in file.replies[_reply_to(crisis)])
    return "\n\n".join(one for one in paragraphs if one)


def crisis_replies() -> Iterator[str]:
    """Walk every reply that there is, for every region; none of them claims anything."""
    file = _replies()
    signs = [
        Crisis(kind=kind, start=0, end=0, certainty=certainty)
        for kind in get_args(Kind)
        for certainty in get_args(Certainty)
    ]
    for region in ("", *file.regions, *file.emergency_112):
        yield from (crisis_reply(one, region) for one in signs if _reply_to(one) in file.replies)


def _reply_to(crisis: Crisis) -> str:
    return crisis.kind if crisis.certainty == "certain" else f"possible_{crisis.kind}"


def _region(file: _ReplyFile, region: str) -> _Region:
    code = re.split(r"[-_]", region.strip().upper())[-1]
    if code == "UK":
        code = "GB"
    found = file.regions.get(code)
    if found is None and code in file.emergency_112:
        found = file.unknown_region.model_copy(update={"emergency": _HELP_FOR_112})
    return found or file.unknown_region


def _stretches(text: str) -> Iterator[Span]:
    """Walk the sentences of a text, very long ones in pieces that overlap.

    What a pattern costs grows faster than the text, so no text may be long.
    """
    for sentence in _SENTENCE.finditer(text):
        for start in range(sentence.start(), sentence.end(), _LONGEST - _OVERLAP):
            yield start, min(start + _LONGEST, sentence.end())
            if start + _LONGEST >= sentence.end():
                break


def _inside(one: Crisis, others: list[Crisis]) -> bool:
    return any(other.start < one.end and one.start < other.end for other in others)


def _in(text: str, offset: int) -> Iterator[Crisis]:
    rules = _signals()
    if not rules.anchors.search(text):
        return
    for idiom in rules.idioms:
        text = idiom.sub(_blank, text)
    for signal, patterns in rules.signals:
        for pattern in patterns:
            for match in pattern.finditer(text):
                if not (signal.can_be_negated and _is_negated(text, match.start(), rules)):
                    yield Crisis(
                        kind=signal.kind, start=offset + match.start(), end=offset + match.end()
                    )


def _is_negated(text: str, start: int, rules: _Compiled) -> bool:
    before = text[max(0, start - _BEFORE) : start]
    clause = re.split(r"[.!?;]|\bbut\b", before)[-1]
    return any(one.search(clause) for one in rules.negations)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


@cache
def _signals() -> _Compiled:
    read = _SignalFile.model_validate(json.loads(SIGNALS.read_text(encoding="utf-8")))

    def compiled(pattern: str) -> re.Pattern[str]:
        for name, part in read.parts.items():
            pattern = pattern.replace(f"{{{name}}}", part)
        return re.compile(pattern, re.IGNORECASE)

    return _Compiled(
        idioms=tuple(compiled(one) for one in read.idioms),
        negations=tuple(compiled(one) for one in read.negations),
        denials=tuple(compiled(one) for one in read.denials),
        signals=tuple(
            (one, tuple(compiled(pattern) for pattern in one.patterns)) for one in read.signals
        ),
        urgency=tuple(read.urgency),
        anchors=re.compile(read.anchors, re.IGNORECASE),
    )


@cache
def _replies() -> _ReplyFile:
    return _ReplyFile.model_validate(json.loads(REPLIES.read_text(encoding="utf-8")))
