"""Agent 4, features: what is known about the person, every third turn, with sets and confidences.

It reads the person's messages since it last ran (at most the last 10 turns), the emotions, and what
was recalled from earlier conversations. It adds evidence to the state of its last value and forgets
nothing. It never guesses: a feature without evidence stays `None`. Sensitive features are taken
from plain statements alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from salon.blackboard.slots import Dated, Past
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import Every
from salon.conversation.discussion import NOTHING_SAID, Discussion
from salon.core.absent import Absent
from salon.steps.bayes import DIGITS
from salon.steps.emotion import EMOTION, EmotionReading
from salon.steps.emotion_trend import emotion_trend
from salon.steps.feature_update import Known, advance, report
from salon.steps.feature_values import (
    FEATURES,
    Belief,
    ConformalResult,
    Features,
    FeatureState,
    FeatureValue,
    Observation,
)
from salon.steps.features_from_text import observe_message
from salon.steps.given import EMBEDDER, HISTORY, MESSAGE, USER
from salon.steps.memory_recall import MEMORIES, SESSION, Memories
from salon.steps.questionnaire_items import answer_on_scale, find_item_asked
from salon.steps.relationship import RELATIONSHIP, RelationshipResult
from salon.steps.trait_reader import read_wording
from salon.steps.trust import trust_reading, update_trust

__all__ = [
    "FEATURES",
    "STEP",
    "Belief",
    "ConformalResult",
    "FeatureState",
    "FeatureValue",
    "Features",
    "Observation",
    "predict_features",
]

WINDOW = 10
"""How many turns back it reads."""
_MEMORY_SHARE = 0.9
"""What was said in another conversation may have changed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of the person, what was said to them just before, and how it felt."""

    turn: int
    text: str
    before: str
    emotion: EmotionReading | None = None
    trend: str = "stable"


def predict_features(view: View) -> Features:
    """Return the 42 features after this turn."""
    past = view.past(FEATURES)
    before = past[-1].value.state if past else FeatureState()
    said = _new_messages(view, past[-1].turn if past else 0)
    observations = [
        *_from_messages(said),
        *_from_memories(view, past),
    ]
    embedder = view[EMBEDDER]
    wording: tuple[Observation, ...] = ()
    if not isinstance(embedder, Absent):
        wording = read_wording(
            [one.text for one in said], embedder, turn=view.turn, earlier=before.text_updates
        )
    state = advance(before, [*observations, *wording])
    state = replace(
        _with_trust(state, said),
        answers={**state.answers, **_answered_items(said)},
        text_updates=state.text_updates + bool(wording),
    )
    values, confidences, sets, observed = report(state, _from_relationship(view))
    return Features(
        predicted_features=values,
        feature_confidences=confidences,
        conformal_result=sets,
        observed=observed,
        observations=(*observations, *wording),
        state=state,
    )


def _new_messages(view: View, last_turn: int) -> list[Said]:
    message, history = view[MESSAGE], view[HISTORY]
    said = _pairs(
        NOTHING_SAID if isinstance(history, Absent) else history,
        "" if isinstance(message, Absent) else message,
        str(view[USER] or "user"),
    )
    wanted = min(WINDOW, view.turn - last_turn)
    recent = said[-wanted:]
    first = view.turn - len(recent) + 1
    readings = _emotions(view)
    return [
        Said(
            turn=first + index,
            text=text,
            before=before,
            emotion=readings.get(first + index),
            trend=emotion_trend(
                [one for turn, one in sorted(readings.items()) if turn <= first + index]
            ),
        )
        for index, (text, before) in enumerate(recent)
    ]


def _pairs(history: Discussion, message: str, user: str) -> list[tuple[str, str]]:
    """Return the person's messages with what was said to them just before, oldest first."""
    own = {user.casefold(), "user"}
    found, before = [], ""
    for one in history.utterances:
        if one.role.casefold() in own:
            found.append((one.content, before))
            before = ""
        else:
            before = one.content
    return [*found, (message, before)]


def _emotions(view: View) -> dict[int, EmotionReading]:
    found = {one.turn: one.value for one in view.past(EMOTION)}
    now = view[EMOTION]
    return found if isinstance(now, Absent) else {**found, view.turn: now}


def _from_messages(said: Sequence[Said]) -> list[Observation]:
    return [found for one in said for found in observe_message(one.text, turn=one.turn)]


def _from_memories(view: View, past: Sequence[Dated[Features]]) -> list[Observation]:
    """Read what was recalled from other conversations, each memory once."""
    memories, session = view[MEMORIES], view[SESSION]
    if not isinstance(memories, Memories):
        return []
    used = {
        one.quote for dated in past for one in dated.value.observations if one.source == "memory"
    }
    found = []
    for memory in memories.items:
        if memory.citation.session == session:
            continue  # said in this conversation, so it was read when it was said
        for one in observe_message(memory.citation.quote, turn=view.turn, source="memory"):
            if one.quote not in used:
                sure = round(one.confidence * _MEMORY_SHARE, DIGITS)
                found.append(replace(one, confidence=sure))
    return found


def _with_trust(state: FeatureState, said: Sequence[Said]) -> FeatureState:
    trust, history = state.trust, list(state.trust_history)
    for one in said:
        trust = update_trust(trust, trust_reading(one.text, one.emotion, one.trend))
        history.append(trust.mean)
    return replace(state, trust=trust, trust_history=tuple(history))


def _answered_items(said: Sequence[Said]) -> dict[str, int]:
    """Return the questionnaire items that were asked and plainly answered."""
    found = {}
    for one in said:
        item, answer = find_item_asked(one.before), answer_on_scale(one.text)
        if item is not None and answer is not None:
            found[item.id] = answer
    return found


def _from_relationship(view: View) -> Mapping[str, Known]:
    past = view.past(RELATIONSHIP)
    return relationship_features(past[-1].value) if past else {}


def relationship_features(result: RelationshipResult) -> dict[str, Known]:
    """Return the four features that the relationship step decides."""
    return {
        "relationship_status": Known(
            value=result.rel_status, confidence=result.rel_status_probs[result.rel_status]
        ),
        "relationship_type": Known(
            value=result.rel_type, confidence=result.rel_type_probs[result.rel_type]
        ),
        "sentiment_label": Known(value=result.sentiment, confidence=result.sentiment_confidence),
        "can_advance": Known(value=result.advance, confidence=result.advance_confidence),
    }


STEP = Step(
    name="features",
    about="what is known about the person: 42 features with confidences and prediction sets",
    reads=(
        MESSAGE,
        HISTORY,
        USER,
        SESSION,
        EMBEDDER,
        EMOTION,
        MEMORIES,
        Past(EMOTION),
        Past(FEATURES),
        Past(RELATIONSHIP),
    ),
    writes=FEATURES,
    when=Every(3),
    run=predict_features,
    timeout_s=3.0,
)
