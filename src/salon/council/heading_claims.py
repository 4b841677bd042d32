"""What a title or heading says: nothing but a name, or something that could be false.

English alone is read. A name may hold verbs in any other form, and so what only looks like a verb
is let through: that no honest name is taken for a claim goes before finding every claim, because
five seats still read each of them.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

_WORD = re.compile("[^\\W_]+(?:['\u2019-][^\\W_]+)*|[,;:()\u2013\u2014]")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PRESENT = _set(
    "is are was were has had does did am isn't aren't wasn't weren't hasn't hadn't doesn't didn't "
    "don't won't can't cannot couldn't wouldn't shouldn't"
)
"""Words that are a verb wherever they stand, and finite."""
_MODAL = _set("will would can could must shall should may might have")
"""Words that are one before another verb: not in "the will of the people" or "in May"."""
_PAST = _set(
    "became began blew broke came chose drank flew forbade forgot froze gave grew knew overcame "
    "overthrew ran sang sank shrank slew spoke sprang stole swore threw took tore undertook went "
    "withdrew wore wrote"
)
"""Pasts that are no participles; those that are nouns too (saw, rose, fell) are left out."""
_PAST_OR_PARTICIPLE = _set(
    "bought brought built caught cut dug fed fought found got held hit hurt kept laid led left "
    "lost made met paid put read said sent set shot sold spent struck taught told won"
)
_NAMING = _set("named called entitled titled")
_OBJECT = _set(
    "a an the his her their its our my your him them us me himself herself itself themselves"
)
"""What follows a verb that has an object, and hardly ever a plural or a participle."""
_LINKS = _set(
    "of and or in on at by for from to with without as than under over between against about after "
    "before since until during the a an its his her their this that these those not be , ; : ( ) "
    "\u2013 \u2014"
)
_SUBORDINATE = _set(
    "what how why when where who whom whose which that if because although though while whether as"
)
_EMPTY = (
    _LINKS
    | _PRESENT
    | _MODAL
    | _SUBORDINATE
    | _set(
        "been being into onto upon also more most some such there here they them then very many "
        "much other another done"
    )
)
"""Words that say nothing about anything."""
_SHORTEST = 4
"""Shorter words say too little to be looked for."""
_MOST_OF_A_NAME = 2
"""A clause with so few words that say something asserts nothing: "What the rules say"."""
_ROOT = 5


class Saying(StrEnum):
    """What a title or heading does."""

    NAME = "name"
    ASK = "ask"
    CLAUSE = "clause"
    """It takes something for granted: "Why the well was closed", "Men who dug the well"."""
    STATE = "state"


def saying(text: str) -> Saying:
    """Return what a title or heading does."""
    words = _WORD.findall(text)
    if text.rstrip().endswith("?"):
        return Saying.ASK
    verb = next((at for at in range(1, len(words)) if _is_finite(words, at)), None)
    if verb is None:
        return Saying.NAME
    leading = {one.lower() for one in words[:verb]}
    is_clause = leading & _SUBORDINATE or _is_described(words, verb)
    return Saying.CLAUSE if is_clause else Saying.STATE


def is_said_by(text: str, quotes: Iterable[str]) -> bool:
    """Tell whether a title or heading stands word for word in one of the quotes."""
    wanted = f" {' '.join(_folded(text))} "
    return any(wanted in f" {' '.join(_folded(one))} " for one in quotes)


def is_same_name(one: str, other: str) -> bool:
    """Tell whether two titles have the same words."""
    return _folded(one) == _folded(other)


def is_made_of(text: str, sources: Iterable[str]) -> bool:
    """Tell whether each word that says something is in the sources, in whatever form."""
    telling = [
        one
        for one in _WORD.findall(text)
        if one.lower() not in _EMPTY and (len(one) >= _SHORTEST or one[0].isdigit())
    ]
    if len(telling) <= _MOST_OF_A_NAME:
        return True
    known = {_root(one) for source in sources for one in _folded(source)}
    return all(_root(one) in known for one in telling)


def _is_finite(words: Sequence[str], at: int) -> bool:
    word = words[at]
    low = word.lower().replace("\u2019", "'")
    after = words[at + 1] if at + 1 < len(words) else ""
    # A word in capitals among others is short for something.
    if word.isupper() and len(word) > 1 and not all(one.isupper() for one in words):
        return False
    if low in _PRESENT or (low in _PAST and word.islower()):
        return True
    if low in _MODAL:
        return word.islower() and after.islower() and after not in _LINKS - {"not", "be"}
    if not word.islower() or words[at - 1].lower() in _LINKS:
        return False
    is_past = low.endswith("ed") or low in _PAST_OR_PARTICIPLE
    is_present = low.endswith("s") and not low.endswith(("ss", "us", "is", "'s"))
    if low in _NAMING or not (is_past or is_present):
        return False
    is_name = after[:1].isupper() and not after.isupper() and words[at - 1][:1].isupper()
    return after in _OBJECT or is_name


def _is_described(words: Sequence[str], verb: int) -> bool:
    """Tell whether the verb only says which one is meant: "Views the Court took"."""
    return verb == len(words) - 1 and any(
        words[at] in _OBJECT and words[at - 1].lower() not in _LINKS for at in range(1, verb)
    )


def _folded(text: str) -> list[str]:
    return [one.casefold() for one in _WORD.findall(text) if one[0].isalnum()]


def _root(word: str) -> str:
    low = word.casefold().removesuffix("'s").removesuffix("\u2019s")
    low = low if len(low) <= _SHORTEST or low.endswith("ss") else low.removesuffix("s")
    return low[:_ROOT]
