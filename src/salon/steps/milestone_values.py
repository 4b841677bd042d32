"""What a milestone report and a relationship snapshot hold; types only."""

from dataclasses import dataclass

from salon.core.absent import Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """How a relationship stood at one turn."""

    turn: int
    rel_status: str
    trust_score: float
    sentiment: str
    timestamp: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """Whether one feature has settled, and what that rests on."""

    settled: bool
    updates: int
    """How many updates had a value for it."""
    confidence_gain: float
    """Confidence now, less what it was at the first update."""
    recent_change: float | Absent
    """How far the value moved over the last updates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustTrajectory:
    """The course of trust over the conversation."""

    start: float
    end: float
    mean: float
    lowest: float
    highest: float
    slope: float
    """Change for each message, by least squares."""
    direction: str
    """`rising`, `falling` or `level`."""
    turning_points: tuple[int, ...]
    """Messages, counted from 1, at which trust changed its direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MilestoneReport:
    """The report of turn 10 or of turn 30; a field of the other one is `Absent`."""

    turn: int
    current_status: str | Absent
    predicted_status_at_30: str | Absent
    predicted_status_probs: dict[str, float] | Absent
    sentiment_trend: str
    trust_level: float | Absent
    confidence: float
    final_status: str | Absent
    prediction_accuracy: float | Absent
    conformal_efficiency: float | Absent
    label_space_share: float | Absent
    memory_contribution: float | Absent
    feature_convergence: dict[str, Convergence] | Absent
    trust_trajectory_analysis: TrustTrajectory | Absent
