"""Which of the things a passage names a question asks for, judged by the words around each name.

"Who is the mother of the director of La Yuma?" leads on to whoever stands after "directed by". Only
the closeness of words is compared, with a few groups of words that speak of the same relation; no
meaning is claimed.

Invariant: a relevance is between 0 and 1, and it is 0 without a cue near the name.
"""

import re
from collections.abc import Iterable, Iterator

from salon.retrieval.graph.mentions import PassageMention
from salon.retrieval.graph.word_lists import RELATIONS

BEFORE = 60
AFTER = 30
"""How many characters before and after a name may hold a cue."""
NEAR, FAR = 3, 6
"""A cue counts fully up to so many words away, and half after so many more."""
SAME_RELATION = 0.7
"""What a word counts for that speaks of the relation without being a form of the cue."""

_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE_END = re.compile(r"[.!?]\s")
_GROUP_OF = {word: number for number, group in enumerate(RELATIONS) for word in group}


def relevance(text: str, mention: PassageMention, cues: Iterable[str]) -> float:
    """Return how close the words around a mention come to what is asked."""
    wanted = tuple(cues)
    return max(
        (
            _likeness(cue, word) / (1 + max(0, distance - NEAR) / FAR)
            for distance, word in _around(text, mention)
            for cue in wanted
        ),
        default=0.0,
    )


def _around(text: str, mention: PassageMention) -> Iterator[tuple[int, str]]:
    """Walk the words around a mention, each with how many words away it is."""
    before = _SENTENCE_END.split(text[max(0, mention.start - BEFORE) : mention.start])[-1]
    yield from enumerate((word.lower() for word in reversed(_WORD.findall(before))), start=1)
    after = text[mention.end : mention.end + AFTER]
    yield from enumerate((word.lower() for word in _WORD.findall(after)), start=1)


def _likeness(cue: str, word: str) -> float:
    if cue == word or _same_stem(cue, word):
        return 1.0
    group = _GROUP_OF.get(cue)
    return SAME_RELATION if group is not None and group == _GROUP_OF.get(word) else 0.0


def _same_stem(one: str, other: str) -> bool:
    """Tell whether two words begin alike far enough to be forms of one: director, directed."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= 5 and shared >= 0.6 * max(len(one), len(other)) - 0.5
