"""A text as the words that carry its meaning: stems, and how telling each of them is.

Words are folded and stemmed as search does it. How telling a stem is comes from a table of how
many texts hold it; a stem that the table does not know is as telling as the rarest it knows.

Invariant: the same text always reads the same; no text is too odd to be read.
"""

import math
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import tantivy
from pydantic import BaseModel, ConfigDict

from salon.core.errors import FileMissing, InvalidSettings
from salon.retrieval.lexical.folding import fold
from salon.retrieval.lexical.query import STOPWORDS

FREQUENCIES = Path(__file__).with_name("weights") / "frequencies.json"

_LONG = 6
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*\d*")
_OWNER = re.compile(r"['\u2019]s?\Z")

_IRREGULAR = {
    form: forms.split()[0]
    for forms in (
        "become became", "begin began begun", "break broke broken", "bring brought",
        "build built", "buy bought", "catch caught", "choose chose chosen", "come came",
        "deal dealt", "draw drew drawn", "drink drank drunk", "drive drove driven", "eat ate eaten",
        "fall fell fallen", "feed fed", "feel felt", "fight fought", "find found", "fly flew flown",
        "forget forgot forgotten", "freeze froze frozen", "get got gotten", "give gave given",
        "go went gone", "grow grew grown", "hear heard", "hide hid hidden", "hold held",
        "keep kept", "know knew known", "lay laid", "lead led", "leave left", "lend lent",
        "lose lost", "make made", "mean meant", "meet met", "pay paid", "ride rode ridden",
        "ring rang rung", "rise rose risen", "run ran", "say said", "see saw seen", "seek sought",
        "sell sold", "send sent", "shake shook shaken", "shoot shot", "show shown",
        "shrink shrank shrunk", "sing sang sung", "sink sank sunk", "sit sat", "sleep slept",
        "speak spoke spoken", "spend spent", "stand stood", "steal stole stolen", "strike struck",
        "swear swore sworn", "swim swam", "take took taken", "teach taught", "tear tore torn",
        "tell told", "think thought", "throw threw thrown", "understand understood", "win won",
        "wear wore worn", "withdraw withdrew withdrawn", "write wrote written", "man men",
        "woman women", "child children", "person people", "foot feet", "mouse mice",
        "life lives", "analysis analyses", "bacterium bacteria",
    )
    for form in forms.split()[1:]
}  # fmt: skip


class Word(NamedTuple):
    """A word as it stands, where it begins, and the stem it is compared by."""

    text: str
    start: int
    stem: str
    is_content: bool


def read_words(text: str) -> list[Word]:
    """Return the words of a text, in order."""
    return [
        Word(found[0], found.start(), *_compared_by(found[0])) for found in _WORD.finditer(text)
    ]


@lru_cache(maxsize=65_536)
def _compared_by(text: str) -> tuple[str, bool]:
    lowered = _OWNER.sub("", fold(text).lower())
    # A letter alone is an initial or an enumeration; a number is compared as a quantity too.
    is_content = lowered not in STOPWORDS and (len(lowered) > 1 or lowered.isdigit())
    return _stem(_IRREGULAR.get(lowered, lowered)), is_content


def _stem(lowered: str) -> str:
    stems: list[str] = _stemmer().analyze(lowered)
    return "".join(stems) or lowered


@cache
def _stemmer() -> Any:
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


class FrequencyFile(BaseModel):
    """In how many of so many texts each stem was seen, and which words are mostly names.

    `names` are words in lower case that were mostly seen with a capital letter inside sentences.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    texts: int
    rarest: int
    stems: dict[str, int]
    names: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tellingness:
    """How telling each stem is, from 0 (in every text) to 1 (in none that was counted)."""

    known: dict[str, float]
    names: frozenset[str] = frozenset()

    def is_name(self, lowered: str, stem: str, *, is_first: bool) -> bool:
        """Tell whether a word with a capital letter is one because it is a name.

        The first word of a sentence has one anyway: there a word that is not known as a name
        counts only if it is a long one that was never counted.
        """
        if lowered in self.names:
            return True
        return stem not in self.known and not (is_first and len(lowered) < _LONG)

    def of(self, stem: str) -> float:
        """Return how telling a stem is."""
        return self.known.get(stem, 1.0)


@cache
def shipped_tellingness() -> Tellingness:
    """Return what comes with Salon."""
    return tellingness(read_frequencies(FREQUENCIES))


def tellingness(counted: FrequencyFile) -> Tellingness:
    """Return how telling stems are where they were seen so often."""
    top = math.log(1 + counted.texts / counted.rarest)
    return Tellingness(
        known={
            stem: math.log(1 + counted.texts / max(count, counted.rarest)) / top
            for stem, count in counted.stems.items()
        },
        names=counted.names,
    )


def read_frequencies(path: Path) -> FrequencyFile:
    """Read a table of frequencies."""
    try:
        return FrequencyFile.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}", hint="install Salon again") from error
    except ValueError as error:
        raise InvalidSettings(
            f"{path} holds no frequencies", hint="make it anew with tools/train_support.py"
        ) from error
