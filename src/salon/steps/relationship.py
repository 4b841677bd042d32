"""Agent 6, relationship: where two people stand, every fifth turn, in five steps.

Compress the conversation, read its sentiment, ask three experts, make the set for advancing, look
one step ahead. The point predictions are judgements on words and feelings; no data calibrates them,
so the set for advancing is all there is to say, except where the last status leaves only "no".
A status that is lost is named in the trace, never dropped in silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from salon.blackboard.slots import Dated, Past, Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import AnyOf, AtTurns, Every
from salon.conversation.discussion import NOTHING_SAID, Utterance
from salon.core.absent import Absent
from salon.steps.discussion_room import DISCUSSION_ROOM, discuss_advance
from salon.steps.emotion import EMOTION, READINGS_CHAT, EmotionReading
from salon.steps.feature_changes import TRANSITIONS
from salon.steps.feature_list import STATUSES
from salon.steps.feature_values import FEATURES, Features
from salon.steps.given import CHAT, HISTORY, MESSAGE, NOW, USER
from salon.steps.memory_recall import MEMORIES, Memories
from salon.steps.milestone_reports import FIRST, LAST, Material, report_at
from salon.steps.milestone_values import MilestoneReport, Snapshot
from salon.steps.relationship_advance import Advance, predict_advance
from salon.steps.relationship_context import compress, is_own, last_turns, sentiment_of
from salon.steps.relationship_cues import read_cues
from salon.steps.relationship_experts import ExpertView, Situation, assess, pooled
from salon.steps.relationship_status import (
    ADVANCE_CHANCE,
    Evidence,
    likeliest,
    outlook,
    status_probabilities,
    transition_row,
    type_probabilities,
)
from salon.steps.trust import trust_reading, update_trust, velocity_of

__all__ = ["RELATIONSHIP", "STEP", "ExpertView", "RelationshipResult", "Snapshot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationshipResult:
    """Where the relationship stands, where it may go, and what that rests on."""

    sentiment: str
    sentiment_confidence: float
    rel_type: str
    rel_type_probs: dict[str, float]
    rel_status: str
    rel_status_probs: dict[str, float]
    can_advance: bool
    advance: str
    """The point prediction in words: `yes`, `no` or `uncertain`."""
    advance_confidence: float
    advance_prediction_set: tuple[str, ...]
    advance_coverage_guarantee: float
    advance_calibrated: bool
    next_status_prediction: str
    next_status_probs: dict[str, float]
    milestone_report: MilestoneReport | None
    snapshot: Snapshot
    reasoning_trace: str
    trust_score: float
    experts: tuple[ExpertView, ...]
    compressed_context: str
    regressed_from: str | Absent
    """The further status that the evidence no longer bears, where there was one."""


RELATIONSHIP = Slot("relationship_result", RelationshipResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What the five steps found, before it is put together."""

    said: list[Utterance]
    emotions: tuple[EmotionReading, ...]
    sureness: float
    situation: Situation
    experts: tuple[ExpertView, ...]
    status_probs: dict[str, float]

    @property
    def evidence(self) -> Evidence:
        return self.situation.evidence

    @property
    def status(self) -> str:
        return likeliest(self.status_probs)


def _in_the_room(view: View, experts: Sequence[ExpertView], ahead: Advance) -> Advance:
    """Let the experts decide in the discussion room, where it is on and anything is open."""
    if not view[DISCUSSION_ROOM] or ahead.labels == ("no",):
        return ahead
    room = discuss_advance(experts, view[CHAT] or None)
    return replace(
        ahead, label=room.decision, reason=f"{ahead.reason}; the room decided {room.decision}"
    )


def predict_relationship(view: View) -> RelationshipResult:
    """Return where the relationship stands after this turn."""
    past = view.past(RELATIONSHIP)
    before = past[-1].value if past else None
    read = _read(view, before)
    evidence, status = read.evidence, read.status
    ahead = _in_the_room(
        view, read.experts, predict_advance(evidence, status, pooled(read.experts))
    )
    chances = outlook(evidence.trust, read.situation.velocity, evidence.sentiment)
    next_probs = transition_row(status, ADVANCE_CHANCE[chances])
    types = type_probabilities(evidence)
    regressed = _regressed(before, status)
    return RelationshipResult(
        sentiment=evidence.sentiment,
        sentiment_confidence=read.sureness,
        rel_type=likeliest(types),
        rel_type_probs=types,
        rel_status=status,
        rel_status_probs=read.status_probs,
        can_advance=ahead.label == "yes",
        advance=ahead.label,
        advance_confidence=ahead.confidence,
        advance_prediction_set=ahead.labels,
        advance_coverage_guarantee=1.0,
        advance_calibrated=False,
        next_status_prediction=likeliest(next_probs),
        next_status_probs=next_probs,
        milestone_report=report_at(view.turn, _material(view, read)),
        snapshot=Snapshot(
            turn=view.turn,
            rel_status=status,
            trust_score=evidence.trust,
            sentiment=evidence.sentiment,
            timestamp=str(view[NOW] or ""),
        ),
        reasoning_trace=_trace(read, ahead, chances, regressed),
        trust_score=evidence.trust,
        experts=read.experts,
        compressed_context=read.situation.compressed,
        regressed_from=regressed,
    )


def _read(view: View, before: RelationshipResult | None) -> _Read:
    """Work through compression, sentiment and assessment."""
    said = _said(view)
    user = str(view[USER] or "user")
    compressed = compress(said, user)
    emotions = _emotions(view)
    sentiment, sureness = sentiment_of(emotions)
    own = tuple(one.content for one in said if is_own(one, user))
    evidence, velocity = _evidence(view, own, sentiment)
    situation = Situation(
        evidence=evidence,
        velocity=velocity,
        emotions=emotions,
        messages=own,
        compressed=compressed,
    )
    chat = view[READINGS_CHAT]
    return _Read(
        said=said,
        emotions=emotions,
        sureness=sureness,
        situation=situation,
        experts=assess(situation, None if isinstance(chat, Absent) else chat),
        status_probs=status_probabilities(
            evidence, None if before is None else before.rel_status_probs
        ),
    )


def snapshots(past: tuple[Dated[RelationshipResult], ...]) -> tuple[Snapshot, ...]:
    """Return how the relationship stood each time it was read, the first time first."""
    return tuple(dated.value.snapshot for dated in past)


def _said(view: View) -> list[Utterance]:
    history, message = view[HISTORY], view[MESSAGE]
    return last_turns(
        NOTHING_SAID if isinstance(history, Absent) else history,
        "" if isinstance(message, Absent) else message,
        str(view[USER] or "user"),
    )


def _emotions(view: View) -> tuple[EmotionReading, ...]:
    now = view[EMOTION]
    earlier = tuple(dated.value for dated in view.past(EMOTION))
    return earlier if isinstance(now, Absent) else (*earlier, now)


def _evidence(view: View, own: tuple[str, ...], sentiment: str) -> tuple[Evidence, float | None]:
    features = view.latest(FEATURES)
    memories = view[MEMORIES]
    recalled = [
        one.citation.quote
        for one in (memories.items if isinstance(memories, Memories) else ())
        if not any(one.citation.quote in message for message in own)
    ]
    known = features.predicted_features if isinstance(features, Features) else {}
    trust, velocity = known.get("trust_score"), known.get("trust_velocity")
    if not isinstance(trust, float):
        trust, velocity = _trust_of(own)
    goals, age = known.get("relationship_goals"), known.get("age")
    evidence = Evidence(
        turn=view.turn,
        trust=trust,
        sentiment=sentiment,
        cues=read_cues([*own, *recalled]),
        goals=goals if isinstance(goals, str) else None,
        age=age if isinstance(age, float) else None,
    )
    return evidence, velocity if isinstance(velocity, float) else None


def _trust_of(messages: tuple[str, ...]) -> tuple[float, float | None]:
    """Read trust from the messages alone, where the feature step left none."""
    trust, history = None, []
    for message in messages:
        trust = update_trust(trust, trust_reading(message, None, "stable"))
        history.append(trust.mean)
    return history[-1], velocity_of(tuple(history))


def _regressed(before: RelationshipResult | None, status: str) -> str | Absent:
    if before is not None and STATUSES.index(status) < STATUSES.index(before.rel_status):
        return before.rel_status
    return Absent("the relationship did not go back")


def _material(view: View, read: _Read) -> Material:
    now = view[FEATURES]
    features = view.past(FEATURES)
    if not isinstance(now, Absent):
        features = (*features, Dated(turn=view.turn, value=now))
    first = next(
        (dated.value.milestone_report for dated in view.past(RELATIONSHIP) if dated.turn == FIRST),
        None,
    )
    return Material(
        features=features,
        emotions=read.emotions,
        status=read.status,
        status_probs=read.status_probs,
        trust=read.evidence.trust,
        first=first,
    )


def _trace(read: _Read, ahead: Advance, chances: str, regressed: str | Absent) -> str:
    """Say in plain words how each of the five steps came to what it found."""
    lines = len(read.situation.compressed.splitlines())
    return " ".join(
        [
            f"Compression: {len(read.said)} utterances became {lines} lines.",
            f"Sentiment: {read.evidence.sentiment}, confidence {read.sureness:.2f}.",
            _about_experts(read.experts),
            f"Cues: {_about_cues(read.evidence)}. Status: {read.status}.",
            f"Advancing: {ahead.label}, since {ahead.reason}.",
            f"Next: the chances are {chances}.",
            *_about_regress(regressed),
        ]
    )


def _about_experts(experts: tuple[ExpertView, ...]) -> str:
    views = "; ".join(
        f"the {one.name} expert (weight {one.weight}) says {one.advance:.2f}: {one.finding}"
        for one in experts
    )
    return f"Assessment: {views}; together {pooled(experts):.2f}."


def _about_cues(evidence: Evidence) -> str:
    found = sorted(evidence.cues.first_words.items())
    return ", ".join(f'{name} ("{words}")' for name, words in found) or "none"


def _about_regress(regressed: str | Absent) -> list[str]:
    if isinstance(regressed, Absent):
        return []
    return [f"It went back from {regressed}: the evidence no longer bears it."]


STEP = Step(
    name="relationship",
    about="where the relationship stands, whether it can advance, and where it may go next",
    reads=(
        MESSAGE,
        HISTORY,
        USER,
        NOW,
        READINGS_CHAT,
        EMOTION,
        MEMORIES,
        FEATURES,
        TRANSITIONS,  # what is likely to change comes first, as the source has it
        DISCUSSION_ROOM,
        CHAT,
        Past(EMOTION),
        Past(FEATURES),
        Past(RELATIONSHIP),
    ),
    writes=RELATIONSHIP,
    when=AnyOf((Every(5), AtTurns((FIRST, LAST)))),
    run=predict_relationship,
    timeout_s=5.0,
)
