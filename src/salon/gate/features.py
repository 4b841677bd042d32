"""What the learned gate looks at: n-grams, signals and vectors of the latest two messages.

N-grams are hashed, so that no vocabulary is kept. The reply at hand is not among the features of
the next move: who predicts whether to act must not be told what was then said.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from salon.gate.lexicon import Lexicon, lexicon_of
from salon.gate.messages import read_message
from salon.gate.phrases import Words
from salon.gate.policy import Policy, make_policy
from salon.gate.signals import normal, read_reply
from salon.gate.verdicts import Said, Side

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BUCKETS = 1 << 15
_WORD = re.compile(r"\w+|[?!]")
_LONGEST_GRAM = 5
_BEFORE_ANYTHING = "[start]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """How far an action's fields are: those required, those given, and whether it commits."""

    required: int
    given: int
    commits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A conversation at the point where the assistant moves next."""

    history: tuple[Said, ...]
    fields: Fields | None = None

    @property
    def message(self) -> str:
        """Return what the person said last."""
        return next((one.text for one in reversed(self.history) if one.side is Side.PERSON), "")

    @property
    def before(self) -> str:
        """Return what the assistant said last, or nothing."""
        spoken = (one.text for one in reversed(self.history) if one.side is Side.ASSISTANT)
        return next(spoken, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """A moment as numbers: hashed n-grams, signals by name."""

    buckets: tuple[int, ...]
    values: tuple[float, ...]
    signals: dict[str, float]


@lru_cache(maxsize=1)
def _plain_policy() -> Policy:
    return make_policy()


def read_moment(moment: Moment, *, ngrams: bool = True) -> Features:
    """Return the features of a moment, all but the vectors."""
    policy = _plain_policy()
    lexicon = lexicon_of(policy.actions, policy.language)
    message, before = normal(moment.message), normal(moment.before) or _BEFORE_ANYTHING
    grams = _hash(_grams(message, before)) if ngrams else {}
    return Features(
        buckets=tuple(grams),
        values=tuple(grams.values()),
        signals=_signals(moment, message, before, lexicon),
    )


def vectors_of(texts: list[str], embedder: object) -> "npt.NDArray[np.float32]":
    """Return one vector for each text; nothing said is the zero vector."""
    import numpy as np  # noqa: PLC0415 - heavy: only where vectors are wanted

    known = sorted({text for text in texts if text.strip()}, key=lambda one: (len(one), one))
    found = embedder.embed_passages(known) if known else None  # type: ignore[attr-defined]
    width = 0 if found is None else found.shape[1]
    places = {text: number for number, text in enumerate(known)}
    out = np.zeros((len(texts), width), np.float32)
    for row, text in enumerate(texts):
        if found is not None and text in places:
            out[row] = found[places[text]]
    return out


def _grams(message: str, before: str) -> list[Counter[str]]:
    words, said = _WORD.findall(message), _WORD.findall(before)
    return [
        Counter(_word_grams("u", words, 3)),
        Counter(_word_grams("p", said, 2)),
        Counter(_letter_grams(words)),
    ]


def _word_grams(mark: str, words: list[str], longest: int) -> Iterable[str]:
    for size in range(1, longest + 1):
        for start in range(len(words) - size + 1):
            yield f"{mark}{size}:{' '.join(words[start : start + size])}"


def _letter_grams(words: list[str]) -> Iterable[str]:
    for word in words:
        padded = f" {word} "
        for size in range(2, _LONGEST_GRAM + 1):
            for start in range(len(padded) - size + 1):
                yield "c:" + padded[start : start + size]


def _hash(groups: list[Counter[str]]) -> dict[int, float]:
    """Return the buckets of n-grams, each group of length one."""
    values: dict[int, float] = {}
    for grams in groups:
        weights = {gram: 1 + math.log(count) for gram, count in grams.items()}
        length = math.sqrt(sum(one * one for one in weights.values())) or 1.0
        for gram, weight in weights.items():
            bucket = zlib.crc32(gram.encode()) % BUCKETS
            values[bucket] = values.get(bucket, 0.0) + weight / length
    return values


def _signals(moment: Moment, message: str, before: str, lexicon: Lexicon) -> dict[str, float]:
    said = read_message(moment.message, lexicon)
    asked = read_reply(moment.before, lexicon)
    is_confirming = "?" in before and lexicon.confirming.search(Words(before)) is not None
    is_start = before == _BEFORE_ANYTHING
    words = message.split()
    has_question = "?" in message
    turns = sum(one.side is Side.PERSON for one in moment.history)
    questions = 0
    for one in reversed(moment.history):
        if one.side is Side.ASSISTANT:
            if "?" not in one.text:
                break
            questions += 1
    wants = bool(said.requests) or _names_action(message, lexicon)
    signals: dict[str, float] = {
        "start": is_start,
        "asked": asked.has_question_mark,
        "confirming": is_confirming,
        "asking": bool(asked.asking),
        "affirms": said.is_affirming,
        "declines": said.is_declining,
        "question": has_question,
        "wants": wants,
        "hypothetical": said.stance == "hypothetical",
        "active": said.stance == "active",
        "digits": any(one.isdigit() for one in message),
        "short": len(words) <= 3,
        "middling": 3 < len(words) <= 8,
        "second clause": " and " in message or "," in message,
        "turns": min(turns, 4) / 4,
        "questions in a row": min(questions, 4) / 4,
        "affirms confirming": said.is_affirming and is_confirming,
        "affirms confirming shortly": said.is_affirming and is_confirming and len(words) <= 6,
        "affirms asked": said.is_affirming and asked.has_question_mark,
        "declines confirming": said.is_declining and is_confirming,
        "question on confirming": has_question and is_confirming,
        "more on confirming": is_confirming and not said.is_affirming and len(words) > 3,
        "thanks after no question": not asked.has_question_mark and "thank" in message,
    }
    return {
        name: float(value)
        for name, value in (signals | _field_signals(moment.fields, signals)).items()
    }


def _names_action(message: str, lexicon: Lexicon) -> bool:
    words = Words(message)
    return any(one.triggers.search(words) is not None for one in lexicon.actions)


def _field_signals(fields: Fields | None, signals: dict[str, float]) -> dict[str, float]:
    if fields is None:
        return dict.fromkeys(FIELD_SIGNALS, 0.0)
    is_full = fields.given >= fields.required
    return {
        "fields": 1.0,
        "required": min(fields.required, 6) / 4,
        "given": min(fields.given, 6) / 4,
        "missing": min(max(fields.required - fields.given, 0), 6) / 3,
        "full": is_full,
        "full and free": is_full and not fields.commits,
        "commits": fields.commits,
        "full, commits, confirming": is_full and fields.commits and signals["confirming"],
        "full, commits, affirmed": is_full and fields.commits and signals["affirms confirming"],
        "full, commits, not declined": is_full
        and fields.commits
        and signals["confirming"]
        and not signals["declines"]
        and not signals["question"],
    }


FIELD_SIGNALS = (
    "fields", "required", "given", "missing", "full", "full and free", "commits",
    "full, commits, confirming", "full, commits, affirmed", "full, commits, not declined",
)  # fmt: skip
SIGNALS = (
    "start", "asked", "confirming", "asking", "affirms", "declines", "question", "wants",
    "hypothetical", "active", "digits", "short", "middling", "second clause", "turns",
    "questions in a row", "affirms confirming", "affirms confirming shortly", "affirms asked",
    "declines confirming", "question on confirming", "more on confirming",
    "thanks after no question", *FIELD_SIGNALS,
)  # fmt: skip
"""The names of all signals, in the order of the weights."""
