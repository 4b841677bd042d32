"""Agent 8, probes: questions worth asking next, for features that are not sure enough.

It suggests and never asks; the persona decides. No question comes twice in a session, no feature
comes twice within a few turns, and nobody is asked about sensitive features: there is a follow-up
only where the person raised one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from salon.blackboard.slots import Past, Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import Holds
from salon.conversation.discussion import NOTHING_SAID, Discussion
from salon.core.absent import Absent
from salon.steps.feature_list import SENSITIVE
from salon.steps.feature_values import FEATURES, Features
from salon.steps.given import HISTORY, MESSAGE
from salon.steps.probe_questions import FOLLOW_UPS, QUESTIONS
from salon.steps.questionnaire_items import ITEMS

SURE = 0.6
MOST = 2
"""Suggestions in one turn."""
_REST = 3
"""Turns for which a feature that was probed is left in peace."""
_MOST_USEFUL, _LEAST_USEFUL = 1, 5
_PERSONAL = frozenset(
    {"attachment_anxiety", "attachment_avoidance", "attachment_style", "primary_love_language",
     "secondary_love_language", "big_five_neuroticism"}
)  # fmt: skip
_FAMILIAR = 9
"""Messages before anybody is asked how they love and what they fear."""
_CALIBRATED = frozenset(item.feature for item in ITEMS)
_ITEM_QUESTIONS = frozenset(item.question for item in ITEMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question that would tell more about one feature; `priority` 1 is the most useful."""

    feature: str
    current_confidence: float
    probe_question: str
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """Questions worth asking, the most useful first."""

    items: tuple[Probe, ...]


PROBES = Slot("suggested_probes", Probes)


def is_unsure(features: Features) -> bool:
    """Tell whether any confidence is below 0.6."""
    return any(one < SURE for one in features.feature_confidences.values())


def suggest_probes(view: View) -> Probes | Absent:
    """Return the questions that would tell most."""
    features = view.latest(FEATURES)
    if isinstance(features, Absent):
        return Absent(f"there are no features yet: {features.reason}")
    history = view[HISTORY]
    past = view.past(PROBES)
    used = {probe.probe_question for dated in past for probe in dated.value.items}
    used |= _asked(NOTHING_SAID if isinstance(history, Absent) else history)
    resting = {
        probe.feature
        for dated in past
        if dated.turn > view.turn - _REST
        for probe in dated.value.items
    }
    items = choose(features, used=frozenset(used), resting=frozenset(resting))
    if not items:
        return Absent("every question that fits was suggested in this session")
    return Probes(items=items)


def choose(
    features: Features, *, used: frozenset[str], resting: frozenset[str]
) -> tuple[Probe, ...]:
    """Return the most useful questions that were not suggested yet."""
    found = []
    for feature, questions in _open_questions(features).items():
        left = [one for one in questions if one not in used]
        confidence = features.feature_confidences[feature]
        if left and feature not in resting:
            found.append(
                Probe(
                    feature=feature,
                    current_confidence=confidence,
                    probe_question=left[0],
                    priority=priority(feature, confidence),
                )
            )
    order = sorted(found, key=lambda probe: (probe.priority, probe.current_confidence))
    # Only the first is likely to be asked, and no question comes back: items are not spent on
    # later places.
    spare = [probe for probe in order[1:] if probe.probe_question not in _ITEM_QUESTIONS]
    return tuple([*order[:1], *spare][:MOST])


def priority(feature: str, confidence: float) -> int:
    """Return how useful a question is, 1 to 5: the less is known, the more useful.

    A feature whose answers give a calibrated set goes one place up; a sensitive one comes last.
    """
    if feature in SENSITIVE:
        return _LEAST_USEFUL
    place = _MOST_USEFUL + 1 + round(3 * max(0.0, confidence - 0.3) / (SURE - 0.3))
    place -= feature in _CALIBRATED
    return min(_LEAST_USEFUL, max(_MOST_USEFUL, place))


def _open_questions(features: Features) -> Mapping[str, tuple[str, ...]]:
    """Return the questions for what is not sure enough, follow-ups for what the person raised."""
    is_early = len(features.state.trust_history) < _FAMILIAR
    unsure = {
        name
        for name, one in features.feature_confidences.items()
        if one < SURE and not (is_early and name in _PERSONAL)
    }
    raised = {name: FOLLOW_UPS[name] for name in FOLLOW_UPS if name in features.observed}
    return {name: one for name, one in {**QUESTIONS, **raised}.items() if name in unsure}


def _asked(history: Discussion) -> set[str]:
    """Return the questions that were asked word for word, whoever asked them."""
    said = "\n".join(one.content for one in history.utterances)
    every = [question for some in (*QUESTIONS.values(), *FOLLOW_UPS.values()) for question in some]
    return {question for question in every if question in said}


STEP = Step(
    name="probes",
    about="questions that would tell more about features that are not sure enough",
    reads=(MESSAGE, HISTORY, FEATURES, Past(FEATURES), Past(PROBES)),
    writes=PROBES,
    when=Holds(FEATURES, f"any confidence is below {SURE}", is_unsure, latest=True),
    run=suggest_probes,
    timeout_s=1.0,
)
