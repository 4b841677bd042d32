"""Findings of other steps, for tests of those that read them."""

from salon.core.absent import Absent
from salon.steps.feature_values import ConformalResult, Features
from salon.steps.milestone_values import Snapshot
from salon.steps.relationship import RelationshipResult
from salon.steps.relationship_experts import ExpertView


def relationship(status: str = "acquaintance", /, **chances: float) -> RelationshipResult:
    """Return where a relationship stands; `chances` are what the experts think of one step on."""
    given = {"emotion": 0.7, "values": 0.6, "behaviour": 0.55, **chances}
    weights = {"emotion": 0.4, "values": 0.3, "behaviour": 0.3}
    return RelationshipResult(
        sentiment="positive",
        sentiment_confidence=0.8,
        rel_type="friendship",
        rel_type_probs={"friendship": 1.0},
        rel_status=status,
        rel_status_probs={status: 1.0},
        can_advance=True,
        advance="yes",
        advance_confidence=0.6,
        advance_prediction_set=("yes", "uncertain"),
        advance_coverage_guarantee=1.0,
        advance_calibrated=False,
        next_status_prediction=status,
        next_status_probs={status: 1.0},
        milestone_report=None,
        snapshot=Snapshot(
            turn=5,
            rel_status=status,
            trust_score=0.62,
            sentiment="positive",
            timestamp="2026-03-01T10:00:00.000000Z",
        ),
        reasoning_trace="by hand",
        trust_score=0.62,
        experts=tuple(
            ExpertView(name=name, weight=weights[name], advance=chance, finding=f"{name} says so")
            for name, chance in given.items()
        ),
        compressed_context="",
        regressed_from=Absent("nothing was lost"),
    )


def features(**values: str) -> Features:
    """Return features of which these are known well."""
    return Features(
        predicted_features=dict(values),
        feature_confidences=dict.fromkeys(values, 0.8),
        conformal_result=ConformalResult(prediction_sets={}, coverage_guarantee=1.0, calibrated={}),
        observed=tuple(values),
    )
