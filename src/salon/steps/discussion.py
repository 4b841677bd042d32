"""Agent 9, discussion: what the steps found, in plain sentences, every three turns.

The text says only what stands in a slot; a slot without a value is left out of it and named in
`unknown`. Where the discussion room is open, three perspectives agree on how to meet the person.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from salon.blackboard.slots import Past, Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import Every
from salon.core.absent import Absent
from salon.steps.discussion_room import (
    DISCUSSION_ROOM,
    Consensus,
    Proposal,
    RoomExpert,
    discuss,
    with_model,
)
from salon.steps.emotion import EMOTION, EmotionReading
from salon.steps.emotion_trend import NEGATIVE
from salon.steps.feature_changes import TRANSITIONS, FeatureChanges
from salon.steps.feature_values import FEATURES, Features
from salon.steps.given import CHAT
from salon.steps.matching import MATCHES, Matches
from salon.steps.memory_recall import MEMORIES, Memories
from salon.steps.milestones import MILESTONE, MilestoneReport
from salon.steps.probes import PROBES, Probes
from salon.steps.relationship import RELATIONSHIP, RelationshipResult
from salon.steps.scam import SCAM, ScamReading

TOPIC = "How should the companion meet the person now?"
MOST_FEATURES = 4
SURE_FEATURE = 0.6
_ABSENT_ROOM = Absent("the discussion room is off")
_RISKY = frozenset({"medium", "high"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """One text that sums up the findings; `consensus` only where the discussion room is open."""

    text: str
    unknown: tuple[str, ...] = ()
    """The slots that hold nothing, by name."""
    consensus: Consensus | Absent = _ABSENT_ROOM


SYNTHESIS = Slot("discussion_synthesis", Synthesis)


def synthesise(view: View) -> Synthesis | Absent:
    """Return what the steps found, in plain sentences."""
    found = {slot: view[slot] if slot in _OF_TODAY else view.latest(slot) for slot in _SAYERS}
    present = {slot: value for slot, value in found.items() if not isinstance(value, Absent)}
    sentences = [_SAYERS[slot](value) for slot, value in present.items()]
    text = " ".join(one for one in sentences if one)
    if not text:
        return Absent("no step has found anything yet")
    unknown = tuple(slot.name for slot, value in found.items() if isinstance(value, Absent))
    return Synthesis(text=text, unknown=unknown, consensus=_consensus(view, found))


def _say_emotion(reading: EmotionReading) -> str:
    return (
        f"The last message reads as {reading.emotion} "
        f"(confidence {reading.confidence:.2f}, intensity {reading.intensity:.2f}), "
        f"to be met with: {reading.reply_strategy}."
    )


def _say_scam(reading: ScamReading) -> str:
    if reading.scam_warning_level == "none":
        return ""
    patterns = ", ".join(reading.scam_patterns) or "no single pattern"
    return f"Scam risk is {reading.scam_warning_level}: {patterns}."


def _say_memories(memories: Memories) -> str:
    if not memories.items:
        return ""
    best = memories.items[0]
    return f'Earlier the person said: "{best.content}" ({best.timestamp[:10]}).'


def _say_features(features: Features) -> str:
    sure = [
        (confidence, name)
        for name, confidence in features.feature_confidences.items()
        if confidence >= SURE_FEATURE and isinstance(features.predicted_features.get(name), str)
    ]
    told = [
        f"{name.replace('_', ' ')} {features.predicted_features[name]}"
        for _, name in sorted(sure, key=lambda one: (-one[0], one[1]))[:MOST_FEATURES]
    ]
    return f"Likely about the person: {', '.join(told)}." if told else ""


def _say_changes(changes: FeatureChanges) -> str:
    if not changes.likely_to_change:
        return ""
    listed = ", ".join(one.replace("_", " ") for one in changes.likely_to_change[:MOST_FEATURES])
    return f"Likely to change soon: {listed}."


def _say_relationship(result: RelationshipResult) -> str:
    return (
        f"The relationship reads as {result.rel_status} ({result.rel_type}), with "
        f"{result.sentiment} sentiment and trust {result.trust_score:.2f}; one step on: "
        f"{' or '.join(result.advance_prediction_set)}."
    )


def _say_milestone(report: MilestoneReport) -> str:
    return f"At turn {report.turn} the mood over time was {report.sentiment_trend}."


def _say_probes(probes: Probes) -> str:
    if not probes.items:
        return ""
    names = dict.fromkeys(one.feature.replace("_", " ") for one in probes.items)
    return f"Little is known yet about: {', '.join(names)}."


def _say_matches(matches: Matches) -> str:
    if not matches.ranked_candidates:
        return ""
    best = matches.ranked_candidates[0]
    return f"Of the candidates, {best.name} is nearest ({best.score:.2f})."


_SAYERS: Mapping[Slot[Any], Callable[[Any], str]] = {
    EMOTION: _say_emotion,
    SCAM: _say_scam,
    MEMORIES: _say_memories,
    FEATURES: _say_features,
    TRANSITIONS: _say_changes,
    RELATIONSHIP: _say_relationship,
    MILESTONE: _say_milestone,
    PROBES: _say_probes,
    MATCHES: _say_matches,
}
_OF_TODAY = frozenset({EMOTION, MEMORIES, MILESTONE})
"""What says something about this very turn; an earlier value would be about another one."""


# The room


@dataclass(frozen=True, slots=True, kw_only=True)
class Perspective:
    """One perspective on how to meet the person; `agrees` says how far, by what is proposed."""

    name: str
    weight: float
    proposal: Proposal
    agrees: Mapping[str, float]
    otherwise: float

    def propose(self, topic: str) -> Proposal:  # noqa: ARG002 - made for one topic
        """Return what it proposes."""
        return self.proposal

    def critique(self, topic: str, proposals: Sequence[Proposal]) -> Mapping[str, float]:  # noqa: ARG002
        """Return how far it agrees with the others; with the same proposal, wholly."""
        return {
            one.expert: 1.0
            if one.proposal == self.proposal.proposal
            else self.agrees.get(one.proposal, self.otherwise)
            for one in proposals
            if one.expert != self.name
        }


def _consensus(view: View, found: Mapping[Slot[Any], Any]) -> Consensus | Absent:
    if not view[DISCUSSION_ROOM]:
        return _ABSENT_ROOM
    chat = view[CHAT]
    experts = (_advisor(found[EMOTION]), _strategist(found), _monitor(found[SCAM]))
    return discuss(TOPIC, with_model(experts, None if isinstance(chat, Absent) else chat))


def _advisor(reading: EmotionReading | Absent) -> RoomExpert:
    if isinstance(reading, Absent):
        proposal, sure, why = "engage", 0.3, "no emotion was read"
    else:
        proposal, sure = reading.reply_strategy.casefold(), reading.confidence
        why = f"the message reads as {reading.emotion}"
    is_hurt = not isinstance(reading, Absent) and reading.emotion in NEGATIVE
    return Perspective(
        name="emotional intelligence",
        weight=0.4,
        proposal=Proposal(
            expert="emotional intelligence", proposal=proposal, confidence=sure, reason=why
        ),
        agrees={"ask": 0.2 if is_hurt else 0.7, "recall": 0.6, "caution": 0.8},
        otherwise=0.5,
    )


def _strategist(found: Mapping[Slot[Any], Any]) -> RoomExpert:
    reading, memories, probes = found[EMOTION], found[MEMORIES], found[PROBES]
    is_hurt = not isinstance(reading, Absent) and reading.emotion in NEGATIVE
    has_memory = not isinstance(memories, Absent) and bool(memories.items)
    has_probe = not isinstance(probes, Absent) and bool(probes.items)
    if is_hurt:
        proposal, sure, why = "engage", 0.5, "this is no time for questions of our own"
    elif has_probe:
        proposal, sure, why = "ask", 0.6, "there is something worth asking"
    elif has_memory:
        proposal, sure, why = "recall", 0.6, "the person spoke of this before"
    else:
        proposal, sure, why = "engage", 0.5, "the conversation is open"
    return Perspective(
        name="conversation strategy",
        weight=0.3,
        proposal=Proposal(
            expert="conversation strategy", proposal=proposal, confidence=sure, reason=why
        ),
        agrees={"caution": 0.8, "comfort": 0.8, "soothe": 0.8, "reassure": 0.8},
        otherwise=0.6,
    )


def _monitor(reading: ScamReading | Absent) -> RoomExpert:
    is_risky = not isinstance(reading, Absent) and reading.scam_warning_level in _RISKY
    proposal = Proposal(
        expert="safety",
        proposal="caution" if is_risky else "engage",
        confidence=0.95 if is_risky else 0.3,
        reason="the conversation looks like fraud" if is_risky else "nothing looks dangerous",
    )
    return Perspective(
        name="safety", weight=0.3, proposal=proposal, agrees={}, otherwise=0.1 if is_risky else 0.7
    )


STEP = Step(
    name="discussion",
    about="what the steps found, summed up in plain sentences",
    reads=(
        *_SAYERS,
        *(Past(slot) for slot in _SAYERS if slot not in _OF_TODAY),
        *(DISCUSSION_ROOM, CHAT),
    ),
    writes=SYNTHESIS,
    run=synthesise,
    when=Every(3),
)
