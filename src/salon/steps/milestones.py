"""Agent 7, milestones: the reports of turns 10 and 30. Statistics; it never asks a model.

It makes its report from the same material as the relationship step and by the same functions, so
the two agree; where that step failed, it stands on the last reading.
"""

from salon.blackboard.slots import Dated, Past, Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import AtTurns
from salon.core.absent import Absent
from salon.steps.emotion import EMOTION
from salon.steps.feature_values import FEATURES
from salon.steps.milestone_reports import FIRST, LAST, Material, by_turn, report_at
from salon.steps.milestone_values import Convergence, MilestoneReport, TrustTrajectory
from salon.steps.relationship import RELATIONSHIP

__all__ = ["MILESTONE", "STEP", "Convergence", "MilestoneReport", "TrustTrajectory", "by_turn"]

MILESTONE = Slot("milestone_report", MilestoneReport)


def evaluate_milestone(view: View) -> MilestoneReport | Absent:
    """Return the report of this turn."""
    relationship = view.latest(RELATIONSHIP)
    if isinstance(relationship, Absent):
        return Absent(f"the relationship was not read: {relationship.reason}")
    features, now = view.past(FEATURES), view[FEATURES]
    if not isinstance(now, Absent):
        features = (*features, Dated(turn=view.turn, value=now))
    felt = view[EMOTION]
    earlier = tuple(dated.value for dated in view.past(EMOTION))
    found = report_at(
        view.turn,
        Material(
            features=features,
            emotions=earlier if isinstance(felt, Absent) else (*earlier, felt),
            status=relationship.rel_status,
            status_probs=relationship.rel_status_probs,
            trust=relationship.trust_score,
            first=by_turn(view.past(MILESTONE)).get(FIRST),
        ),
    )
    return Absent("no milestone is due") if found is None else found


STEP = Step(
    name="milestones",
    about="the reports of turns 10 and 30: a prediction, and what it was worth",
    reads=(
        EMOTION,
        FEATURES,
        RELATIONSHIP,
        Past(EMOTION),
        Past(FEATURES),
        Past(RELATIONSHIP),
        Past(MILESTONE),
    ),
    writes=MILESTONE,
    when=AtTurns((FIRST, LAST)),
    run=evaluate_milestone,
    timeout_s=2.0,
)
