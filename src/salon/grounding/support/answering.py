"""What the selector looks at by words: named numbers for a question and each of some sentences.

A question says by its first words what kind of answer it wants: a person, a time, a number. A
sentence that could hold one has such a thing in it beyond what the question already says.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from salon.grounding.support.meaning import Floats, ranks, weighed
from salon.grounding.support.names import Name, NameBook, read_names, unknown_names
from salon.grounding.support.opposites import opposed
from salon.grounding.support.quantities import (
    missing_quantities,
    read_quantities,
    values_of,
    without_marks,
)
from salon.grounding.support.words import Tellingness, Word, read_words, shipped_tellingness

Form: TypeAlias = Literal["question", "statement"]

ASKING = frozenset({"who", "what", "when", "where", "why", "which", "how", "whose", "whom"})
"""Words that ask; no answer holds them."""
_ABOUT_THE_SAME = 0.4

_KINDS: tuple[tuple[str, "re.Pattern[str]"], ...] = tuple(
    (kind, re.compile(form, re.IGNORECASE))
    for kind, form in (
        (
            "number",
            (
                r"\bhow (?:many|much|old|long|far|tall|large|big|high|often|fast|deep|wide)\b"
                r"|\b(?:what|which) (?:percent(?:age)?|number|share|fraction|proportion|amount)\b"
            ),
        ),
        ("time", r"\bwhen\b|\b(?:what|which) (?:year|date|century|decade|month|day|time)\b"),
        ("person", r"\bwho(?:se|m)?\b"),
        (
            "place",
            (
                r"\bwhere\b|\b(?:what|which) (?:country|city|state|town|river|region|place"
                r"|continent|island|county|province|area)\b"
            ),
        ),
        ("reason", r"\bwhy\b|\bwhat (?:reason|cause|caused|led)\b"),
        ("thing", r"\bwhat\b|\bwhich\b|\bhow\b|\?\s*\Z"),
    )
)
_TIME = re.compile(
    r"\b\d{3,4}s?\b|\b(?:january|february|march|april|june|july|august|september|october"
    r"|november|december|century|centuries|decade|years?|months?|today|ago|during|period|era)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|due|since|therefore|so that|in order|owing|result|caused?|causes|thus"
    r"|reasons?|led to|leads to)\b",
    re.IGNORECASE,
)
_FINDS = re.compile(
    r"\b(?:conclu\w+|suggest\w*|indicat\w+|demonstrat\w+|show(?:s|ed|n)?|found|find(?:s|ings?)"
    r"|reveal\w*|results?|thus|therefore|significant\w*|associated|evidence|confirm\w*)\b",
    re.IGNORECASE,
)
_SETS_OUT = re.compile(
    r"\b(?:aim(?:s|ed)?|objective|purpose|investigat\w+|whether|methods?|we (?:used|performed"
    r"|examined|studied|measured|analy[sz]ed)|background|design|setting|participants)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, read: its content words, what it names, and what kind of answer it wants.

    A statement is a question that wants nothing in particular.
    """

    text: str
    words: tuple[Word, ...]
    stems: tuple[str, ...]
    names: tuple[Name, ...]
    kind: str

    @property
    def form(self) -> Form:
        """Whether it is a question or a statement."""
        return "statement" if self.kind == "none" else "question"

    @classmethod
    def read(cls, question: str) -> "Asked":
        """Read a question."""
        words = tuple(read_words(question))
        content = (
            word.stem for word in words if word.is_content and word.text.lower() not in ASKING
        )
        return cls(
            text=without_marks(question),
            words=words,
            stems=tuple(dict.fromkeys(content)) or tuple(word.stem for word in words),
            names=tuple(read_names(question, shipped_tellingness())),
            kind=next((name for name, form in _KINDS if form.search(question)), "none"),
        )


def word_features(
    asked: Asked, sentences: Sequence[str], telling: Tellingness
) -> dict[str, list[float]]:
    """Return every feature for all sentences, of which there is at least one."""
    read = [read_words(sentence) for sentence in sentences]
    stems = [frozenset(word.stem for word in words) for words in read]
    present = np.array(
        [[stem in one for stem in asked.stems] or [False] for one in stems], dtype=np.float64
    )
    values = np.array([telling.of(stem) for stem in asked.stems] or [1.0])
    weights = values / values.sum()
    shared = weighed(present, weights)
    near = np.maximum(present, np.maximum(_moved(present, 1), _moved(present, -1)))
    found = [
        _holds(asked, sentence, words) for sentence, words in zip(sentences, read, strict=True)
    ]
    last = max(1, len(sentences) - 1)
    return {
        "shared": list(shared),
        "shared_with_neighbours": list(weighed(near, weights)),
        "shared_rank": list(ranks(shared)),
        "shared_behind": list(shared - shared.max()),
        "most_telling_missing": list(((1 - present) * values).max(axis=1)),
        "pairs": [_pairs(asked.words, words) for words in read],
        "kind_is_there": [float(one is True) for one in found],
        "kind_is_missing": [float(one is False) for one in found],
        "opposed": [
            float(share >= _ABOUT_THE_SAME and bool(opposed(asked.text, sentence)))
            for share, sentence in zip(shared, sentences, strict=True)
        ],
        "is_question": [float(sentence.rstrip().endswith("?")) for sentence in sentences],
        "finds": [float(_FINDS.search(sentence) is not None) for sentence in sentences],
        "sets_out": [float(_SETS_OUT.search(sentence) is not None) for sentence in sentences],
        "length": [math.log1p(len(words)) for words in read],
        "place": [place / last for place in range(len(sentences))],
        **_of_all(asked, sentences, present, values),
    }


def _of_all(
    asked: Asked, sentences: Sequence[str], present: Floats, values: Floats
) -> dict[str, list[float]]:
    """Return what holds for the sentences together: what of the question none of them has."""
    everything = "\n".join(sentences)
    gone = present.max(axis=0) == 0
    count = len(sentences)
    whole = {
        "names_missing": float(len(unknown_names(asked.names, NameBook.of(everything)))),
        "numbers_missing": float(len(missing_quantities(asked.text, values_of(everything)))),
        "missing_everywhere": float(values[gone].max()) if gone.any() else 0.0,
        "share_missing_everywhere": float(values[gone].sum() / values.sum()),
        "question_length": math.log1p(len(asked.stems)),
    }
    return {name: [value] * count for name, value in whole.items()}


def _moved(rows: Floats, by: int) -> Floats:
    moved = np.zeros_like(rows)
    if by > 0:
        moved[by:] = rows[:-by]
    else:
        moved[:by] = rows[-by:]
    return moved


def _pairs(question: Sequence[Word], words: Sequence[Word]) -> float:
    """Return the share of the question's neighbouring content words that are neighbours here."""
    mine = [word.stem for word in question if word.is_content]
    theirs = [word.stem for word in words if word.is_content]
    wanted, there = set(pairwise(mine)), set(pairwise(theirs))
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _holds(asked: Asked, sentence: str, words: Sequence[Word]) -> bool | None:
    """Tell whether a sentence holds something of the wanted kind that the question does not."""
    said = {word.stem for word in asked.words}
    if asked.kind == "number":
        known = {one.value for one in read_quantities(asked.text)}
        return any(one.value not in known for one in read_quantities(sentence))
    if asked.kind == "time":
        return any(found[0].lower() not in said for found in _TIME.finditer(sentence))
    if asked.kind in {"person", "place"}:
        return any(
            word.text[0].isupper() and word.is_content and word.stem not in said for word in words
        )
    if asked.kind == "reason":
        return _REASON.search(sentence) is not None
    return None
