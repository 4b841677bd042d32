"""Agent 2, scam: how much a conversation looks like fraud, and which words show it.

Patterns found in what one person said are added up by the weights of `language/scam_rules.json`;
patterns that belong together count more when they come within a few turns; a trained model of words
adds the rest. Without a strong pattern nothing rises above `low`, so every warning can be explained
by words that stand in the conversation. What the companion itself said is not read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salon.blackboard.slots import Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import AnyOf, Every, Holds
from salon.conversation.discussion import NOTHING_SAID, Discussion
from salon.core.absent import Absent
from salon.steps.given import HISTORY, MESSAGE, USER
from salon.steps.scam_patterns import (
    Composite,
    Cue,
    Reading,
    Rules,
    read_patterns,
    shipped_rules,
    wants_a_look,
)

if TYPE_CHECKING:
    from salon.steps.scam_model import ScamWords

TURNS_READ = 10
LEVELS = ("none", "low", "medium", "high")
_PERSON = "user"
_ENOUGH_WEAK = 2
"""So many different weak phrases show a pattern as one strong phrase does."""
_JUST_BELOW = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSpan:
    """The words that showed a pattern: characters `start` to `end` of one message."""

    pattern: str
    start: int
    end: int
    quote: str
    turn_offset: int
    """0 is the message of this turn, -1 the one before it, and so on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScamReading:
    """How much the conversation so far looks like fraud."""

    scam_risk_score: float
    scam_warning_level: str
    """One of `none`, `low`, `medium`, `high`."""
    scam_patterns: tuple[str, ...]
    """The patterns found, then the composites."""
    spans: tuple[PatternSpan, ...]


SCAM = Slot("scam", ScamReading)


def read_scam(view: View) -> ScamReading | Absent:
    """Read how much this conversation looks like fraud by the person who speaks."""
    message = view[MESSAGE]
    if isinstance(message, Absent):
        return message
    history, user = view[HISTORY], view[USER]
    earlier = said_before(
        NOTHING_SAID if isinstance(history, Absent) else history,
        _PERSON if isinstance(user, Absent) else user,
    )
    return scam_risk((*earlier, message))


def said_before(history: Discussion, user: str) -> tuple[str, ...]:
    """Return what the person said in the last turns, oldest first."""
    own = {user.casefold(), _PERSON}
    said = [one.content for one in history.utterances if one.role.casefold() in own]
    return tuple(said[-TURNS_READ:])


def scam_risk(messages: Sequence[str], *, words: "ScamWords | None" = None) -> ScamReading:
    """Return how much one person's messages, oldest first, look like fraud; the last is now.

    `words` takes the place of the weights that ship.
    """
    from salon.steps.scam_model import shipped_words  # noqa: PLC0415 - numpy and the weights

    window = tuple(messages[-TURNS_READ - 1 :])
    rules = shipped_rules()
    readings = [read_patterns(one) for one in window]
    composites = [one for one in rules.composites if _comes_together(one, readings)]
    unframed = [one.unframed for one in readings if one.unframed]
    score = pattern_score(rules, readings, composites)
    if unframed:
        score += rules.model * (words or shipped_words()).probability(unframed)
    if not any(cue.is_strong for reading in readings for cue in reading.cues):
        score = min(score, rules.levels["medium"] - _JUST_BELOW)
    score = round(min(score, 1.0), 6)
    found = [name for name in rules.weights if _shows(name, readings)]
    return ScamReading(
        scam_risk_score=score,
        scam_warning_level=level_of(score, rules),
        scam_patterns=(*found, *(one.name for one in composites)),
        spans=tuple(
            _span(cue, place - len(window) + 1)
            for place, reading in enumerate(readings)
            for cue in reading.cues
            if cue.pattern in found
        ),
    )


def pattern_score(
    rules: Rules, readings: Sequence[Reading], composites: Sequence[Composite]
) -> float:
    """Return the weight of all patterns and composites together, at least 0."""
    total = 0.0
    for pattern, weight in rules.weights.items():
        strong, weak = _phrases(pattern, readings)
        share = rules.one_strong * (strong > 0) + rules.more_strong * (strong > 1)
        share += rules.one_weak * min(weak, rules.most_weak)
        total += weight * share
    for one in composites:
        total += sum(rules.weights[pattern] for pattern in one.of) * (one.multiplier - 1)
    return total


def level_of(score: float, rules: Rules) -> str:
    """Return the level of a score."""
    reached = [name for name, least in rules.levels.items() if score >= least]
    return reached[-1] if reached else LEVELS[0]


def _phrases(pattern: str, readings: Sequence[Reading]) -> tuple[int, int]:
    """Return how many different strong and weak phrases of a pattern were found."""
    found = {
        (cue.quote.casefold(), cue.is_strong)
        for reading in readings
        for cue in reading.cues
        if cue.pattern == pattern
    }
    strong = sum(is_strong for _, is_strong in found)
    return strong, len(found) - strong


def _comes_together(composite: Composite, readings: Sequence[Reading]) -> bool:
    """Tell whether all patterns of a composite are shown within its number of turns."""
    starts = range(max(1, len(readings) - composite.within + 1))
    return any(
        all(_shows(one, readings[start : start + composite.within]) for one in composite.of)
        for start in starts
    )


def _shows(pattern: str, readings: Sequence[Reading]) -> bool:
    strong, weak = _phrases(pattern, readings)
    return strong > 0 or weak >= _ENOUGH_WEAK


def _span(cue: Cue, turn_offset: int) -> PatternSpan:
    return PatternSpan(
        pattern=cue.pattern,
        start=cue.start,
        end=cue.end,
        quote=cue.quote,
        turn_offset=turn_offset,
    )


STEP = Step(
    name="scam",
    about="how much the conversation looks like fraud, and which words show it",
    reads=(MESSAGE, HISTORY, USER),
    writes=SCAM,
    when=AnyOf((Every(2), Holds(MESSAGE, "money, links or secrecy", wants_a_look))),
    run=read_scam,
)
