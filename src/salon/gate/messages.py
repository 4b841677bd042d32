"""What the gate reads in a message of the person.

Whether they speak of something that is so (a possessive, a name, or a pronoun bound to one) or of
something they imagine; what they ask for, what they turn down; and whether they open a new matter.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from salon.gate.evading import find_evasion
from salon.gate.lexicon import ActionPatterns, Evasion, Lexicon
from salon.gate.phrases import Phrases, Words
from salon.gate.sentences import Sentence, quotations, split_sentences
from salon.gate.signals import clause_start, is_negated, normal
from salon.gate.verdicts import SignalSpan

Stance = Literal["active", "hypothetical", "bound", "neutral"]
"""`bound`: a pronoun, which is active if it can stand for somebody who was named before."""
_CACHED = 8_192
_CAPITAL = re.compile(r"(?<![\w'\u2019@.])[A-Z][a-z]+(?:['\u2019]s)?(?![\w@])")
_WORD = re.compile(r"[A-Za-z][\w'\u2019-]*")
_TITLED = 0.6
"""Above this share of capitalised words a sentence is a heading, and no word in it a name."""
_START = re.compile(
    r"[\s\"'*(-]*(?:(?:so|then|and|or|ok|okay|great|yes|sure|now|well|please|actually|just),?\s+)*$"
)


class _Place(NamedTuple):
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReading:
    """What a message of the person says."""

    stance: Stance
    names: frozenset[str]
    requests: frozenset[str]
    refusals: frozenset[str]
    is_affirming: bool
    """Whether it begins with a yes."""
    is_consenting: bool
    """Whether it says yes and nothing else."""
    is_declining: bool
    is_clear: bool
    """Whether it begins with a yes or a no that is one whatever follows."""
    is_other_matter: bool
    evasions: frozenset[Evasion]
    """What it is if it answers no question; empty where it tells anything."""
    spans: tuple[SignalSpan, ...]


@lru_cache(maxsize=_CACHED)
def read_message(text: str, lexicon: Lexicon) -> MessageReading:
    """Read a message of the person."""
    low = normal(text)
    quoted = quotations(text)
    names: set[str] = set()
    spans: list[_Place] = []
    stances: list[tuple[Stance, bool]] = []
    wanted: set[str] = set()
    unwanted: set[str] = set()
    evasions: list[Evasion | None] = []
    is_other = False
    for one in split_sentences(text):
        words = Words(low[one.start : one.end])
        stance, here = _stance(text, words, one, lexicon)
        is_other = is_other or lexicon.other_matter.search(words) is not None
        names |= {text[each.start : each.end].removesuffix("'s").removesuffix("\u2019s")
                  for each in here if each.kind == "name"}  # fmt: skip
        spans += here
        stances.append((stance, lexicon.indefinite.search(words) is not None))
        is_real = stance != "hypothetical"
        wishes: list[_Place] = []
        for action in lexicon.actions:
            for each in _wishes(words, one, action, lexicon, quoted, is_real=is_real):
                (wanted if each.kind == "request" else unwanted).add(action.action)
                wishes.append(each)
        spans += wishes
        evasions.append(_evasion(words, one, here, wishes, lexicon))
    return MessageReading(
        stance=_over_all(stances),
        names=frozenset(names),
        requests=frozenset(wanted - unwanted),
        refusals=frozenset(unwanted),
        is_affirming=lexicon.affirmation.match(low) is not None,
        is_consenting=lexicon.consenting.match(low) is not None,
        is_declining=lexicon.decline.match(low) is not None,
        is_clear=lexicon.clear_answer.match(low) is not None,
        is_other_matter=is_other,
        evasions=_all_of(evasions),
        spans=tuple(
            SignalSpan(kind=kind, start=start, end=end, quote=text[start:end])
            for kind, start, end in spans
        ),
    )


def _evasion(
    words: Words, sentence: Sentence, here: list[_Place], wishes: list[_Place], lexicon: Lexicon
) -> Evasion | None:
    if any(one.kind == "refusal" for one in wishes):
        return None  # to be told not to do it is an answer
    at = sentence.start
    said = (*wishes, *(one for one in here if one.kind == "name"))
    told = [(one.start - at, one.end - at) for one in said] if wishes else None
    return find_evasion(words, sentence, told, lexicon)


def _all_of(evasions: list[Evasion | None]) -> frozenset[Evasion]:
    """Return what a whole message is that answers nothing; one sentence that tells is enough."""
    if not evasions:
        return frozenset({"empty"})
    found = frozenset(one for one in evasions if one is not None)
    return frozenset() if None in evasions else found


def _over_all(stances: list[tuple[Stance, bool]]) -> Stance:
    """Return the stance of a whole message from those of its sentences.

    One sentence that reports something makes it active, unless a later one imagines a case with
    somebody unnamed in it: then that is what the message is about.
    """
    whole: Stance = "neutral"
    for stance, is_about_anybody in stances:
        if stance == "active" or (stance == "bound" and whole == "neutral"):
            whole = stance
        elif stance == "hypothetical" and (whole == "neutral" or is_about_anybody):
            whole = "hypothetical"
    return whole


def _stance(
    text: str, words: Words, sentence: Sentence, lexicon: Lexicon
) -> tuple[Stance, list[_Place]]:
    at = sentence.start
    spans = [
        _Place("name", at + a, at + b) for a, b in find_names(text[at : sentence.end], lexicon)
    ]
    frame = _first_outside(lexicon.hypothetical, lexicon.not_hypothetical, words)
    if frame is not None:
        spans.append(_Place("hypothetical", at + frame[0], at + frame[1]))
        return "hypothetical", spans
    owned = lexicon.active.search(words)
    if owned is not None:
        spans.append(_Place("active", at + owned.start(), at + owned.end()))
    if owned is not None or spans:
        return "active", spans
    pronoun = lexicon.pronoun.search(words)
    if pronoun is not None:
        spans.append(_Place("pronoun", at + pronoun.start(), at + pronoun.end()))
        return "bound", spans
    return "neutral", spans


def find_names(part: str, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Return the words of a sentence that name somebody.

    A capital inside a sentence is a name unless the table knows the word; at the beginning it is
    one only if a word follows that can follow a name.
    """
    found = []
    for one in _CAPITAL.finditer(part):
        word = one.group().lower().replace("\u2019", "'")
        if word in lexicon.not_names or word.removesuffix("'s") in lexicon.not_names:
            continue
        is_first = not part[: one.start()].strip(" \"'“*(-")
        is_owner = word.endswith("'s")
        if is_first and not is_owner and not lexicon.name_follower.match(normal(part), one.end()):
            continue
        found.append(one.span())
    if len(found) > 1:
        words = _WORD.findall(part)
        if sum(word[0].isupper() for word in words) > _TITLED * len(words) and len(words) > 3:
            return []
    return found


def _first_outside(wanted: Phrases, excused: Phrases, words: Words) -> tuple[int, int] | None:
    spans: list[tuple[int, int]] | None = None
    for one in wanted.finditer(words):
        if spans is None:
            spans = [each.span() for each in excused.finditer(words)]
        if not any(a <= one.start() < b or one.start() <= a < one.end() for a, b in spans):
            return one.span()
    return None


def _wishes(
    words: Words,
    sentence: Sentence,
    action: ActionPatterns,
    lexicon: Lexicon,
    quoted: tuple[tuple[int, int], ...],
    *,
    is_real: bool,
) -> list[_Place]:
    """Return where a sentence asks for an action, or turns it down."""
    at = sentence.start
    wishes = []
    asked = list(action.requests.finditer(words))
    told = [one for one in action.triggers.finditer(words) if one.lastgroup != "past"]
    for one in (*asked, *told):
        start, end = one.span()
        if any(a < at + start < b for a, b in quoted):
            continue
        clause = clause_start(words.low, start, lexicon)
        if is_negated(words, clause, start, lexicon.refusal, lexicon.not_refusal):
            wishes.append(_Place("refusal", at + start, at + end))
        elif is_real and (one in asked or _is_request(words, clause, one, sentence, lexicon)):
            wishes.append(_Place("request", at + start, at + end))
    return wishes


def _is_request(
    words: Words, clause: int, match: re.Match[str], sentence: Sentence, lexicon: Lexicon
) -> bool:
    if sentence.is_question or match.lastgroup == "mention":
        return False
    if lexicon.request_before.search(words, 0, match.start()):
        return True
    return match.lastgroup == "act" and _START.match(words.low[clause : match.start()]) is not None
