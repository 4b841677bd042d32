"""Messages that answer nothing: a question back, a \"never mind\", an \"I don't know\", small talk.

A question of the assistant stays open after them. A message evades only if every sentence of it
does; whatever tells anything is taken as an answer. The words are data, in the language's file.
"""

import re

from salon.gate.lexicon import Evasion, Lexicon
from salon.gate.phrases import Words
from salon.gate.sentences import Sentence

_NO_WORDS = re.compile(r"[\s!-/:-@\[-`{-~\u2026]*")
_BLANKS = re.compile(r"\s+")
_LONGEST = 160
"""Longer sentences tell something, whatever they begin with; it also bounds the matching."""
_MOST_ASIDE = 80
"""So many characters may be left of a request without what it asks for."""


def find_evasion(
    words: Words, sentence: Sentence, told: list[tuple[int, int]] | None, lexicon: Lexicon
) -> Evasion | None:
    """Return what a sentence is that answers nothing, or `None` where it tells something.

    `told` are the places in it that ask for an action or name somebody, `None` where it does not
    ask for one: a request counts as telling something if more than that is said.
    """
    low = words.low
    if told is not None:
        return "request" if _is_bare(low, told, lexicon) else None
    if len(low) > _LONGEST:
        return None
    if _NO_WORDS.fullmatch(low):
        return "asks_back" if sentence.is_question else "empty"
    for kind, pattern in lexicon.evasions:
        if pattern.match(low):
            return "asks_back" if kind == "empty" and sentence.is_question else kind
    if sentence.is_question and lexicon.interrogative.match(low):
        return "asks_on"
    return "asks_on" if lexicon.demand.match(low) else None


def _is_bare(low: str, told: list[tuple[int, int]], lexicon: Lexicon) -> bool:
    """Tell whether a request says nothing beyond what is wanted and for whom."""
    letters = list(low)
    for start, end in told:
        letters[start:end] = " " * (end - start)
    rest = _BLANKS.sub(" ", "".join(letters))
    return len(rest) <= _MOST_ASIDE and lexicon.request_filler.fullmatch(rest) is not None
