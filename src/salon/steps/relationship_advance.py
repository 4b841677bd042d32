"""Whether a relationship can move one step on: a word, how sure, and the set that holds the truth.

No data says when conversations like these advanced, so nothing here is calibrated and the set holds
every answer. Only two things are certain by definition: nothing lies beyond the last status, and
nothing advances with somebody under 18.
"""

from dataclasses import dataclass

from salon.steps.bayes import DIGITS
from salon.steps.feature_list import ADVANCE, STATUSES
from salon.steps.relationship_status import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """Whether one step on can be made: in a word, how sure, which words remain, and why."""

    label: str
    confidence: float
    labels: tuple[str, ...]
    reason: str


def predict_advance(evidence: Evidence, status: str, chance: float) -> Advance:
    """Return whether one step on can be made, from features, status and what the experts think."""
    trusting = evidence.trust > 0.7 and evidence.sentiment == "positive" and chance >= 0.5
    wary = evidence.trust < 0.4 or evidence.sentiment == "negative"
    rules = (
        (status == STATUSES[-1], "no", "there is no status beyond this one"),
        (evidence.is_minor, "no", "the person says that they are under 18"),
        (trusting, "yes", "trust is high, the sentiment is positive and the experts lean to it"),
        (wary, "no", "trust is low or the sentiment is negative"),
        (True, "uncertain", "nothing speaks clearly for it or against it"),
    )
    _, label, reason = next(rule for rule in rules if rule[0])
    is_certain = status == STATUSES[-1] or evidence.is_minor
    sure = {"yes": chance, "no": 1.0 - chance}.get(label, max(chance, 1.0 - chance))
    return Advance(
        label=label,
        confidence=1.0 if is_certain else round(sure, DIGITS),
        labels=("no",) if is_certain else ADVANCE,
        reason=reason,
    )
