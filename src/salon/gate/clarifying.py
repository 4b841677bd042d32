"""What an assistant asks before it advises: the facts of a case, and how one knows them.

The facts and their questions are data. A fact is known when something the person said shows it; the
first that is unknown is asked for, one question a turn and once for each case.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from salon.gate.lexicon import Lexicon
from salon.gate.messages import read_message

_NUMBER = r"(?:\d+|an?|one|two|three|four|five|six|seven|several|a few|a couple of|some|many)"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = r"(?:january|february|march|april|june|july|august|september|october|november|december)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something worth knowing: what shows it, and how it is asked for."""

    name: str
    shown_by: re.Pattern[str]
    question: str
    is_shown_by_a_name: bool = False


def _fact(name: str, question: str, *patterns: str, by_name: bool = False) -> Fact:
    shown = re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE)
    return Fact(name=name, shown_by=shown, question=question, is_shown_by_a_name=by_name)


FACTS: tuple[Fact, ...] = (
    _fact(
        "since_when", "Since when is this so, and what happened?",
        rf"{_NUMBER} (?:\w+ )?(?:days?|weeks?|months?|years?|shifts?|times?|hours?|nights?)",
        r"yesterday|today|tonight|this (?:morning|week|month|year|afternoon)|since|until",
        r"last (?:night|week|month|year|\w+day)|ago|once|twice|daily|every \w+|each \w+",
        rf"{_DAY}|{_MONTH}|\d{{1,2}}[/.]\d{{1,2}}|\d{{4}}-\d\d-\d\d|first time|again|always",
    ),
    _fact(
        "tried", "What have you done about it so far?",
        r"called|phoned|rang|texted|messaged|emailed|e-mailed|wrote|spoke|spoken|talked|asked",
        r"told|warned|met|reached out|contacted|left (?:a |her |him |them )?(?:message|voicemail)",
        r"tried|nothing|no one|nobody|not yet|haven'?t|hasn'?t been|have not|didn'?t|did not",
    ),
    _fact(
        "who", "Who is it about?",
        r"my|our|employee|worker|colleague|staff|team member|report|he|she|they|porter|manager",
        by_name=True,
    ),
)  # fmt: skip
"""In the order in which they are asked for."""


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
