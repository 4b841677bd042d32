"""What is known about a person: the values of the 42 features, as they are written and recorded.

Types only. A feature that was never observed is `None`; its confidence is then the prior, and no
value stands in for it. Everything that the next update needs is in `state`, so nothing that was
learned is lost when a turn observes something else.
"""

from dataclasses import dataclass, field

from salon.blackboard.slots import Slot

FeatureValue = float | str | tuple[float, ...] | None
"""A number, one of a feature's options, the history of trust, or nothing observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One piece of evidence for one feature, and the words it rests on.

    `confidence` is how sure the evidence is; a `weight` below 1 marks evidence that many pieces of
    do not make sure. `start` and `end` count characters of the message of that turn.
    """

    feature: str
    value: float | str
    confidence: float
    source: str
    """`message`, `memory` or `text` (the model that reads traits from wording)."""
    quote: str = ""
    start: int = 0
    end: int = 0
    turn: int = 0
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """A Gaussian belief about a number: its mean, and 1 less its variance as confidence."""

    mean: float
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureState:
    """All that was learned so far, in the form in which the next evidence is added to it."""

    beliefs: dict[str, Belief] = field(default_factory=dict)
    """For each observed feature that is a number, without questionnaire items."""
    counts: dict[str, dict[str, float]] = field(default_factory=dict)
    """For each observed feature with options: how much evidence each option has."""
    stated: dict[str, float] = field(default_factory=dict)
    """Plain numbers that the person said, the newest: age."""
    answers: dict[str, int] = field(default_factory=dict)
    """Questionnaire items that the person answered, 1 to 5, in the order of answering."""
    trust: Belief | None = None
    trust_history: tuple[float, ...] = ()
    text_updates: int = 0
    """How often wording was read for traits; later readings count less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalResult:
    """A set of labels for each feature that has labels, and what is promised about them.

    `coverage_guarantee` is 0.9 when at least one set is calibrated, else 1.0: a set that is not
    calibrated holds all labels, so it cannot miss.
    """

    prediction_sets: dict[str, tuple[str, ...]]
    coverage_guarantee: float
    calibrated: dict[str, bool]
    withdrawn: dict[str, str] = field(default_factory=dict)
    """Features whose guarantee was taken back, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """All 42 features after this turn; `observations` are those of this turn alone."""

    predicted_features: dict[str, FeatureValue]
    feature_confidences: dict[str, float]
    conformal_result: ConformalResult
    observed: tuple[str, ...]
    """Names of the features that any evidence was seen for, so far."""
    observations: tuple[Observation, ...] = ()
    state: FeatureState = field(default_factory=FeatureState)


FEATURES = Slot("features", Features)
