"""Words that say what two people are to each other, as data, and how often a person uses them.

There is no labelled data behind them: they are judgements, and what rests on them is never called
calibrated. A cue counts once in a message.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from salon.core.digest_cache import remembered

CUES: dict[str, re.Pattern[str]] = {
    "romantic": re.compile(
        r"\bi love you\b|\bi(?:'m| am) (?:falling|in love)(?: for| with)? you\b|"
        r"\bfeelings for you\b|\bcrush on you\b|\bkiss you\b|\bhold (?:you|your hand)\b|"
        r"\b(?:go on a|a romantic) date\b|\bdate you\b|\bbe my (?:girl|boy)friend\b|"
        r"\bdream(?:t|ed)? (?:of|about) you\b|\b(?:darling|sweetheart|my love)\b|"
        r"\byou(?:'re| are) (?:so |really )?(?:beautiful|handsome|gorgeous|attractive|cute)\b|"
        r"\bi (?:can't|cannot) stop thinking about you\b"
    ),
    "dating": re.compile(
        r"\bwe(?:'re| are) (?:dating|together|a couple|going out)\b|"
        r"\bour (?:first|second|third|last|next) date\b|\bsince we started dating\b|"
        r"\byou(?:'re| are) my (?:girl|boy)friend\b"
    ),
    "committed": re.compile(
        r"\bwe(?:'re| are) (?:engaged|married|moving in together)\b|"
        r"\bour (?:wedding|anniversary)\b|\bwe live together\b|\bmarry (?:me|you)\b|"
        r"\bmy life with you\b"
    ),
    "friendly": re.compile(
        r"\byou(?:'re| are) (?:a |such a |my )?(?:good |great |real |true |best )*friend\b|"
        r"\b(?:as|we(?:'re| are)|good|just) friends\b|\bour friendship\b|\bbuddy\b|\bpal\b"
    ),
    "family": re.compile(
        r"\blike a (?:brother|sister|mother|father|mum|mom|dad|son|daughter) to me\b|"
        r"\byou(?:'re| are) (?:like )?family\b|\byou(?:'re| are) my "
        r"(?:brother|sister|mother|father|mum|mom|dad|son|daughter|cousin|aunt|uncle)\b"
    ),
    "distancing": re.compile(
        r"\bjust friends\b|\bnot interested in (?:you|dating|romance)\b|"
        r"\bdon't (?:want to date|see you that way|like you)\b|\bneed (?:some )?space\b|"
        r"\bwe should stop\b|\bit's over\b"
    ),
}
_MOST = 3
"""More messages with the same cue say nothing more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cues:
    """For each kind of cue, 0 to 1: in how many messages, of three that would be plenty."""

    strength: dict[str, float]
    first_words: dict[str, str]
    """The first words that showed each, for the trace."""


def read_cues(messages: Sequence[str]) -> Cues:
    """Return how strongly a person's messages show each kind of cue."""
    strength, first = {}, {}
    each = [_cues_in(message) for message in messages]
    for name in CUES:
        found = [one[name] for one in each if name in one]
        strength[name] = round(min(len(found), _MOST) / _MOST, 6)
        if found:
            first[name] = found[0]
    return Cues(strength=strength, first_words=first)


@remembered()
def _cues_in(message: str) -> dict[str, str]:
    """Return the words of a message that show each kind of cue."""
    plain = message.replace("\u2019", "'").lower()
    found = ((name, pattern.search(plain)) for name, pattern in CUES.items())
    return {name: said.group() for name, said in found if said}
