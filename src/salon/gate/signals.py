"""What the gate reads in a reply of the assistant, sentence by sentence.

A phrase of an action's table counts as an offer or a recommendation only if nothing takes it back:
a quotation, an address given for contact, a negation, somebody else as the one who acts, the past,
a condition, a mere mention. What takes it back is its kind, so that a verdict can say why it did
not count. Reading is pure and its result is kept, so a history is not read again each turn.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from salon.gate.lexicon import Lexicon
from salon.gate.phrases import Phrases, Words
from salon.gate.sentences import Sentence, quotations, split_sentences
from salon.gate.verdicts import SignalSpan

OFFER = "offer"
RECOMMENDATION = "recommendation"
ASKING = "asking"
LIVE = frozenset({OFFER, RECOMMENDATION})
_SHORT = 50
"""A question below this that begins with the act ("Schedule that call?") offers it."""
_CACHED = 8_192
_CURLY = str.maketrans("\u2019\u2018\u00b4`", "''''")
_LIST_OF_NOS = re.compile(r"\bn?or\b")
_CLAUSE_BEFORE = re.compile(
    r"(?:[,;:.—\u2013(]\s*|\s-\s+|\b(?:and|so|but|or|also|first|now|then|okay|ok)\s+)$"
)
_CLAUSE_END = re.compile(r"[,;—\u2013]|\s-\s|\band\b|\bbut\b")
_IMPERATIVE = re.compile(
    r"[\s\"'*(•\d.)-]*(?:(?:so|then|and|or|ok|okay|great|first|next|now),?\s+)*$"
)


class Found(NamedTuple):
    """A phrase of an action in a text: what it is, and where it stands."""

    action: str
    kind: str
    span: SignalSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReading:
    """What a reply does: whether it asks, and what it offers or recommends, with the places."""

    has_question_mark: bool
    asking: tuple[SignalSpan, ...]
    best: tuple[Found, ...]
    """For each action that occurs, in the order of the actions, what counts most."""
    found: tuple[Found, ...]
    is_guiding: bool


class _Place(NamedTuple):
    """A phrase in its sentence, in lower case; positions count from the sentence's start."""

    lexicon: Lexicon
    words: Words
    clause: int
    start: int
    end: int
    group: str
    is_question: bool
    is_quoted: bool
    is_before_name: bool


def normal(text: str) -> str:
    """Return a text in lower case with straight apostrophes, as long as it was."""
    if text.isascii():
        return text.lower()
    low = text.lower()
    if len(low) != len(text):
        low = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    return low.translate(_CURLY)


@lru_cache(maxsize=_CACHED)
def read_reply(text: str, lexicon: Lexicon) -> ReplyReading:
    """Read a reply of the assistant."""
    low = normal(text)
    sentences = split_sentences(text)
    quoted = quotations(text)
    found: list[Found] = []
    asking: list[SignalSpan] = []
    was_offering = False
    for one in sentences:
        words = Words(low[one.start : one.end])
        here = _find(text, words, one, quoted, lexicon)
        is_live = any(each.kind in LIVE for each in here)
        if _asks(words, one, lexicon, is_live=is_live, after=was_offering):
            asking.append(_span(ASKING, one.start, one.end, text))
        was_offering = is_live
        found += here
    best = [_best(one.action, found) for one in lexicon.actions] if found else []
    return ReplyReading(
        has_question_mark="?" in text,
        asking=tuple(asking),
        best=tuple(one for one in best if one is not None),
        found=tuple(found),
        is_guiding=any(one.kind in LIVE for one in found),
    )


def _span(kind: str, start: int, end: int, text: str) -> SignalSpan:
    return SignalSpan(kind=kind, start=start, end=end, quote=text[start:end])


def _best(action: str, found: list[Found]) -> Found | None:
    mine = [one for one in found if one.action == action]
    for kind in (OFFER, RECOMMENDATION):
        for one in mine:
            if one.kind == kind:
                return one
    return mine[0] if mine else None


def _asks(
    words: Words, sentence: Sentence, lexicon: Lexicon, *, is_live: bool, after: bool
) -> bool:
    """Tell whether a sentence asks for context; `after` says that the one before it offers."""
    low = words.low
    for phrase in lexicon.clarifying.finditer(words):
        if phrase.lastgroup == "clause" and not _begins_clause(low, phrase.start()):
            continue
        if not (is_live and lexicon.offer_start.match(low, phrase.end())):
            return True
    if sentence.is_question:
        return not is_live and not (after and lexicon.consent.match(low))
    is_open = low[-1:].isalnum() and not is_live
    return is_open and lexicon.clarifying_start.match(low) is not None


def _begins_clause(low: str, at: int) -> bool:
    return not low[:at].strip(" \"'*(-") or _CLAUSE_BEFORE.search(low, 0, at) is not None


def _find(
    text: str,
    words: Words,
    sentence: Sentence,
    quoted: tuple[tuple[int, int], ...],
    lexicon: Lexicon,
) -> list[Found]:
    begins = sentence.start
    found = []
    for action in lexicon.actions:
        for match in action.triggers.finditer(words):
            start, end = match.span()
            place = _Place(
                lexicon=lexicon,
                words=words,
                clause=clause_start(words.low, start, lexicon),
                start=start,
                end=end,
                group=match.lastgroup or "act",
                is_question=sentence.is_question,
                is_quoted=any(a < begins + start < b for a, b in quoted),
                is_before_name=text[begins + end + 1 : begins + end + 2].isupper(),
            )
            kind = _kind(place)
            found.append(
                Found(action.action, kind, _span(kind, begins + start, begins + end, text))
            )
    return found


def clause_start(low: str, before: int, lexicon: Lexicon) -> int:
    """Return where the clause begins in which a place stands."""
    start = 0
    for one in lexicon.clause_break.finditer(low, 0, before):
        start = one.end()
    return start


def _kind(place: _Place) -> str:
    for kind, applies in _TAKEN_BACK:
        if applies(place):
            return kind
    low = place.words.low
    if place.lexicon.offer_before.search(place.words, 0, place.start):
        return OFFER
    if place.is_question and _IMPERATIVE.match(low, 0, place.start) and len(low) < _SHORT:
        return OFFER
    return RECOMMENDATION


def is_negated(words: Words, clause: int, start: int, negation: Phrases, excused: Phrases) -> bool:
    """Tell whether a clause takes back what follows; a list ("call, text or email") is one."""
    if clause and _LIST_OF_NOS.search(words.low, clause, start):
        clause = 0
    against = list(negation.finditer(words, clause, start))
    if not against:
        return False
    spans = [one.span() for one in excused.finditer(words, clause, start)]
    return any(not any(a <= one.start() < b for a, b in spans) for one in against)


def _is_negated(place: _Place) -> bool:
    lexicon = place.lexicon
    if is_negated(place.words, place.clause, place.start, lexicon.negation, lexicon.not_negation):
        return True
    return lexicon.negation_behind.match(place.words.low, place.end) is not None


def _is_address(place: _Place) -> bool:
    return place.lexicon.address.match(place.words.low, place.end) is not None


def _is_somebody_elses(place: _Place) -> bool:
    return (
        place.group != "mention"
        and place.lexicon.third_person.search(place.words, place.clause, place.start) is not None
    )


def _is_past(place: _Place) -> bool:
    lexicon, low = place.lexicon, place.words.low
    if place.group == "past":
        return True
    if lexicon.past_before.search(place.words, place.clause, place.start):
        return place.group == "mention" or low[: place.start].rstrip().endswith("did")
    return place.group == "mention" and lexicon.past_behind.match(low, place.end) is not None


def _is_conditional(place: _Place) -> bool:
    lexicon, low = place.lexicon, place.words.low
    ends = _CLAUSE_END.search(low, place.end)
    last = ends.start() if ends else len(low)
    found = [
        one.start()
        for one in lexicon.condition.finditer(place.words, 0, last)
        if not place.start <= one.start() < place.end
    ]
    if not found:
        return False
    spans = [one.span() for one in lexicon.not_condition.finditer(place.words)]
    return any(not any(a <= one < b for a, b in spans) for one in found)


def _is_mentioned(place: _Place) -> bool:
    """Tell whether a phrase is only mentioned: no frame, and no instruction."""
    lexicon, low = place.lexicon, place.words.low
    if lexicon.mention_before.search(place.words, place.clause, place.start):
        return True
    if place.group == "mention":
        return lexicon.frame_in.search(place.words, place.clause, place.start) is None
    if _is_framed(place):
        return False
    is_instruction = _IMPERATIVE.match(low[place.clause : place.start]) is not None
    if place.group == "verb":
        return not (is_instruction and place.is_before_name)
    # An act in a question that is neither offered nor advised is what the question is about.
    return place.is_question and not (is_instruction and len(low) < _SHORT)


def _is_framed(place: _Place) -> bool:
    lexicon, words = place.lexicon, place.words
    return (
        lexicon.offer_before.search(words, 0, place.start) is not None
        or lexicon.advice_before.search(words, 0, place.start) is not None
    )


_TAKEN_BACK: tuple[tuple[str, Callable[[_Place], bool]], ...] = (
    ("quotation", lambda place: place.is_quoted),
    ("address", _is_address),
    ("past", _is_past),
    ("reverse", _is_somebody_elses),
    ("negation", _is_negated),
    ("condition", _is_conditional),
    ("mention", _is_mentioned),
)
"""In order: what a phrase is when it does not count, and how that is seen."""
