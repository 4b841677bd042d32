"""What an assistant asks before it advises: the facts of a case, and how one knows them.

The facts and their questions are data. A fact is known when something the person said shows it; the
first that is unknown is asked for, one question a turn and once for each case. Where the person
does not answer, the question is put again, with the reason for it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from salon.gate.lexicon import Evasion, Lexicon
from salon.gate.messages import read_message
from salon.gate.signals import normal
from salon.gate.verdicts import SignalSpan

_CAPITAL_BEFORE = re.compile(r"\b([A-Z][a-z]+) $")
_NUMBER = r"(?:\d+|an?|one|two|three|four|five|six|seven|several|a few|a couple of|some|many)"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = r"(?:january|february|march|april|june|july|august|september|october|november|december)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something worth knowing: what shows it, how it is asked for, and what it is needed for."""

    name: str
    shown_by: re.Pattern[str]
    question: str
    reason: str
    is_shown_by_a_name: bool = False


def _fact(name: str, question: str, reason: str, *patterns: str, by_name: bool = False) -> Fact:
    shown = re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE)
    return Fact(
        name=name, shown_by=shown, question=question, reason=reason, is_shown_by_a_name=by_name
    )


FACTS: tuple[Fact, ...] = (
    _fact(
        "since_when", "Since when is this so, and what happened?",
        "What is right depends on how long it goes on, and on what exactly happened.",
        rf"{_NUMBER} (?:\w+ )?(?:days?|weeks?|months?|years?|shifts?|times?|hours?|nights?)",
        r"yesterday|today|tonight|this (?:morning|week|month|year|afternoon)|since|until",
        r"last (?:night|week|month|year|\w+day)|ago|once|twice|daily|every \w+|each \w+",
        rf"{_DAY}|{_MONTH}|\d{{1,2}}[/.]\d{{1,2}}|\d{{4}}-\d\d-\d\d|first time|again|always",
    ),
    _fact(
        "tried", "What have you done about it so far?",
        "What comes next depends on what was tried already.",
        r"called|phoned|rang|texted|messaged|emailed|e-mailed|wrote|spoke|spoken|talked|asked",
        r"told|warned|met|reached out|contacted|left (?:a |her |him |them )?(?:message|voicemail)",
        r"tried|nothing|no one|nobody|not yet|haven'?t|hasn'?t been|have not|didn'?t|did not",
    ),
    _fact(
        "who", "Who is it about?",
        "What is right depends on whose case it is.",
        r"my|our|employee|worker|colleague|staff|team member|report|he|she|they|porter|manager",
        by_name=True,
    ),
)  # fmt: skip
"""In the order in which they are asked for."""


NOT_YET = "Not yet: first I need to know more."
STILL = "I still need to know this."


def find_fact(name: str | None) -> Fact | None:
    """Return the fact of a name."""
    return next((one for one in FACTS if one.name == name), None)


def ask_again(fact: Fact, evasions: frozenset[Evasion]) -> str | None:
    """Return how an open question is put again after a message that does not answer it.

    `None` where something else is due: what the person asks on about is answered, and who does not
    know gets advice without an offer.
    """
    if "request" in evasions:
        return f"{NOT_YET} {fact.reason} {fact.question}"
    if "asks_back" in evasions:
        return f"{fact.reason} {fact.question}"
    if evasions & {"asks_on", "unknowing"}:
        return None
    return f"{STILL} {fact.reason} {fact.question}"


def find_unknown(texts: Sequence[str], lexicon: Lexicon) -> Fact | None:
    """Return the first fact that nothing of what the person said shows."""
    for fact in FACTS:
        is_known = any(
            fact.shown_by.search(text)
            or (fact.is_shown_by_a_name and read_message(text, lexicon).names)
            for text in texts
        )
        if not is_known:
            return fact
    return None


def latest_case(texts: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Return what was said since the person last spoke of a case that is not their own."""
    for place in range(len(texts) - 2, -1, -1):
        if read_message(texts[place], lexicon).stance == "hypothetical":
            return tuple(texts[place + 1 :])
    return tuple(texts)


def is_active(texts: Sequence[str], lexicon: Lexicon) -> bool:
    """Tell whether the person speaks of a case of their own, by their latest words about it."""
    for text in reversed(texts):
        stance = read_message(text, lexicon).stance
        if stance in {"active", "hypothetical"}:
            return stance == "active"
    return False


def people_in(texts: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Return who is named in what the person said, in full where the full name was said once."""
    found: list[str] = []
    for text in texts:
        end = None
        for one in sorted(read_message(text, lexicon).spans, key=lambda span: span.start):
            if one.kind != "name":
                continue
            name = one.quote.removesuffix("'s").removesuffix("\u2019s")
            if end is not None and text[end : one.start] == " ":
                found[-1] = f"{found[-1]} {name}"
            else:
                found.append(_first_name(text, one, found, lexicon) + name)
            end = one.end
    names = list(dict.fromkeys(found))
    return tuple(
        one for one in names if not any(one != other and one in other.split() for other in names)
    )


def _first_name(text: str, name: SignalSpan, known: list[str], lexicon: Lexicon) -> str:
    """Return the first name before a name; at the start of a sentence a capital proves little."""
    before = _CAPITAL_BEFORE.search(text, 0, name.start)
    if before is None or before[1].lower() in lexicon.not_names:
        return ""
    is_name = before[1] in known or lexicon.name_follower.match(normal(text), name.end)
    return before[0] if is_name else ""
