"""What can be seen in one sentence: what it does, how dense and how plain it is, what it lacks.

Pure functions of text. A sentence that is quotable stands by itself: whole, prose, not leaning on
what came before, not speaking to a machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from salon.council.offline.cues import (
    CONTRAST,
    CUT_SHORT,
    FIGURE,
    FINITE,
    LEADING_LABEL,
    LEANS_A_LITTLE,
    LIST_NUMBER,
    NEEDS_CONTEXT,
    REFERS_ELSEWHERE,
    ROLE_CUES,
    SELF_TALK,
    Role,
)
from salon.council.offline.languages import LEANING_OF
from salon.council.offline.words import stems, words
from salon.guard.instructions import is_instruction
from salon.retrieval.graph.entities import entity_key, find_mentions

SHORTEST, LONGEST = 40, 420
"""Characters of a sentence that is quoted."""
FEWEST_WORDS = 7
_MOST_READ = 2_000
_LONGEST_SHORTENED = 12
_STOPS = frozenset(".!?\u2026\u3002\uff01\uff1f")
_CLOSING = " \"')]\u201d\u2019\u00bb"
_PAIRS = (("(", ")"), ("\u201c", "\u201d"))
_MARKUP = ("|", "\t", "[", "]", "```", "##", "\\", "<", "\n\n", "\ufffd", "**", "__")
_DENSE = 0.15
"""Numbers or names among the words of a sentence that can hold no more."""
_EASY, _HARD = 9.0, 24.0
"""Readability index (ARI, in school years) of plain sentences, and of hopeless ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a sentence shows; shares are from 0 to 1."""

    role: Role | None
    figures: float
    names: float
    contrast: float
    ease: float
    own_voice: float
    """Less where it speaks of its own making, or leans a little on what stands before."""
    stems: frozenset[str]
    entities: frozenset[str]


def label_length(text: str) -> int:
    """Return how many characters of a heading or a list number stand before a sentence."""
    found = LEADING_LABEL.match(text) or LIST_NUMBER.match(text)
    return found.end() if found else 0


def is_quotable(text: str, language: str | None = None) -> bool:
    """Tell whether a sentence can stand in a chapter by itself."""
    return why_not_quotable(text, language) is None


def why_not_quotable(text: str, language: str | None = None) -> str | None:
    """Return what keeps a sentence from standing by itself, or `None`.

    `language` is set where it is not English.
    """
    for is_wrong, reason in _FAULTS:
        if is_wrong(text):
            return reason
    if language is None:
        return None if FINITE.search(text) else "it is not a whole sentence"
    leaning = LEANING_OF.get(language)
    is_leaning = leaning is not None and leaning.match(text) is not None
    return "it leans on what stands before it" if is_leaning else None


def leans_on(text: str) -> str | None:
    """Return the words at the beginning of a sentence that point to something before it."""
    found = NEEDS_CONTEXT.match(text)
    return found[0] if found else None


def _is_fragment(text: str) -> bool:
    first = next((character for character in text if character.isalnum()), "")
    return (
        first.islower()
        or text.rstrip(_CLOSING)[-1:] not in _STOPS
        or CUT_SHORT.search(text, max(0, len(text) - _LONGEST_SHORTENED)) is not None
    )


def _is_no_prose(text: str) -> bool:
    letters = sum(character.isalpha() for character in text)
    capitals = sum(character.isupper() for character in text)
    return (
        letters < 0.6 * len(text)
        or capitals > 0.3 * max(letters, 1)
        or any(sign in text for sign in _MARKUP)
        or any(text.count(first) != text.count(second) for first, second in _PAIRS)
        or text.count('"') % 2 == 1
    )


_FAULTS = (
    (lambda text: not SHORTEST <= len(text) <= LONGEST, "it is too short or too long"),
    (lambda text: len(words(text)) < FEWEST_WORDS, "it has too few words"),
    (_is_fragment, "it is not a whole sentence"),
    (_is_no_prose, "it is not prose"),
    (lambda text: NEEDS_CONTEXT.match(text) is not None, "it leans on what stands before it"),
    (lambda text: REFERS_ELSEWHERE.search(text) is not None, "it points elsewhere"),
    (is_instruction, "it speaks to the machine"),
)


def traits_of(text: str) -> Traits:
    """Return what a sentence shows; of one without end, what its beginning shows."""
    return _traits_of(text[:_MOST_READ])


@lru_cache(maxsize=8_000)
def _traits_of(text: str) -> Traits:
    count = max(1, len(words(text)))
    mentions = find_mentions(text)
    return Traits(
        role=role_of(text),
        figures=_dense(len(FIGURE.findall(text)), count),
        names=_dense(len(mentions), count),
        contrast=min(1.0, len(CONTRAST.findall(text)) / 2),
        ease=ease_of([text]),
        own_voice=_own_voice(text),
        stems=stems(text),
        entities=frozenset(entity_key(mention.name) for mention in mentions),
    )


def role_of(text: str) -> Role | None:
    """Return what a sentence does; where several cues are there, the earlier role in reading."""
    counts = {role: len(cue.findall(text)) for role, cue in ROLE_CUES.items()}
    counts[Role.DEFINITION] *= 3  # one such cue says more than several of the others
    best = max(counts.values())
    return next((role for role in Role if best and counts[role] == best), None)


def ease_of(texts: Sequence[str]) -> float:
    """Return how easily sentences read, from 0 to 1, by the length of words and sentences."""
    read = [word for text in texts for word in words(text)]
    if not read:
        return 0.0
    characters = sum(map(len, read))
    index = 4.71 * characters / len(read) + 0.5 * len(read) / len(texts) - 21.43
    return min(1.0, max(0.0, (_HARD - index) / (_HARD - _EASY)))


def _own_voice(text: str) -> float:
    if SELF_TALK.search(text):
        return 0.0
    return next((left for pattern, left in LEANS_A_LITTLE if pattern.search(text)), 1.0)


def _dense(found: int, count: int) -> float:
    return min(1.0, found / count / _DENSE)
