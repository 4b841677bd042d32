"""What a question names, and which words say what is asked about it.

Questions are short and often oddly written ("conrad iv", "God'S Gift To Women"), so the rules for
texts do not hold here. Nothing is looked up, and no meaning is claimed.

Invariant: a word of a question belongs to a name or is a cue, never both.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from salon.retrieval.chunking import CharSpan
from salon.retrieval.graph.names import NameWords, name_words
from salon.retrieval.graph.word_lists import FUNCTION_WORDS

PART_OF_NAME = 0.8
"""What a piece between commas counts for, beside the whole."""

LONGEST_NAME = 12
MOST_WORDS = 64
"""How many words a known name may have, and how many of a question are looked at."""
ASK_FOR_KIND = frozenset({"which", "what"})
LEAD_TO_KIND = frozenset({"both", "of", "the"})
"""Words after which a question says what kind of thing it asks about, or what kind a name is."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019.&-]+[^\W_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s(?=\W|$)")
_QUALIFIER = re.compile(r"\s*\([^)]*\)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question by its names, each with what it counts for, and by its other telling words."""

    names: dict[NameWords, float]
    cues: frozenset[str]

    @property
    def named_words(self) -> frozenset[str]:
        """Every word of any name."""
        return frozenset(word for name in self.names for word in name)


def read_question(
    question: str, is_known: Callable[[NameWords], bool] = lambda _: False
) -> Question:
    """Part a question into names and cues; `is_known` tells names that somebody has used before.

    Names are told by their capitals. A known name may reach over small words between capitals; in
    a question without capitals known names are all there is to go by.
    """
    text = _POSSESSIVE.sub("", question)
    words = list(_WORD.finditer(text))[:MOST_WORDS]
    runs = list(_capitalised_runs(words))
    known = list(_known_spans(words, is_known, in_capitals=bool(runs)))
    names: dict[NameWords, float] = {}
    for start, end in runs:
        for piece, counts in _pieces(text[start:end]):
            names[piece] = max(counts, names.get(piece, 0.0))
    names |= {name_words(text[start:end]): 1.0 for start, end in known}
    names.pop((), None)
    return Question(names=names, cues=_cues(text, [*runs, *known]))


def _capitalised_runs(words: Sequence[re.Match[str]]) -> Iterator[CharSpan]:
    """Walk runs of words with capitals or digits; a comma does not end one, a small word does."""
    start, end = None, 0
    for place, word in enumerate(words):
        is_opener = place == 0 and word[0].lower() in FUNCTION_WORDS
        if not word[0][0].islower() and not is_opener:
            start = word.start() if start is None else start
            end = word.end()
        elif start is not None:
            yield start, end
            start = None
    if start is not None:
        yield start, end


def _known_spans(
    words: Sequence[re.Match[str]], is_known: Callable[[NameWords], bool], *, in_capitals: bool
) -> Iterator[CharSpan]:
    """Walk the longest known names, from left to right."""
    plain = [name_words(word[0]) for word in words]
    place = 0
    while place < len(words):
        longest = place
        for end in range(place + 1, min(len(words), place + LONGEST_NAME) + 1):
            first, last = words[place][0], words[end - 1][0]
            if in_capitals and (first[0].islower() or last[0].islower()):
                continue
            name = tuple(word for parts in plain[place:end] for word in parts)
            if is_known(name) and any(word not in FUNCTION_WORDS for word in name):
                longest = end
        if longest > place:
            yield words[place].start(), words[longest - 1].end()
        place = max(longest, place + 1)


def _pieces(run: str) -> Iterator[tuple[NameWords, float]]:
    """Walk what a run may name: all of it, without a qualifier, and its parts between commas."""
    bare = _QUALIFIER.sub("", run)
    yield name_words(run), 1.0
    yield name_words(bare), 1.0
    parts = bare.split(",")
    if len(parts) > 1:
        for part in parts:
            yield name_words(part), PART_OF_NAME


def _cues(text: str, names: list[CharSpan]) -> frozenset[str]:
    """Return the words that say what is asked, without those that say what kind of thing it is.

    In "which film has the director ..." and "the director of film La Yuma" the film is no cue.
    """
    cues: set[str] = set()
    kinds: set[str] = set()
    before = ""
    for found in _WORD.finditer(text):
        if any(start <= found.start() < end for start, end in names):
            continue
        names_follow = any(
            found.end() <= start and not text[found.end() : start].strip(" :,")
            for start, _ in names
        )
        is_kind = before in ASK_FOR_KIND or (names_follow and before in LEAD_TO_KIND)
        chosen = kinds if is_kind else cues
        chosen.update(word for word in name_words(found[0]) if len(word) > 2)
        before = found[0].lower()
    plain = {word.removesuffix("s") for word in kinds}
    return frozenset(cues - FUNCTION_WORDS - kinds - plain - {f"{word}s" for word in kinds})
