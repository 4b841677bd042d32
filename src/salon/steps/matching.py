"""Agent 12, matching: which candidates are like the person, at the start and every tenth turn.

The compatibility score is the cosine of the two 42-dimensional vectors over what both have, as the
source has it; `learned_score` stands beside it. At the start nothing is known, so every score is 0
over 0 dimensions and the order is that of the ids. Somebody who says they are under 18 is matched
with nobody.
"""

from dataclasses import dataclass

from salon.blackboard.slots import Past, Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import AnyOf, AtTurns, Every
from salon.core.absent import Absent
from salon.steps.feature_values import FEATURES
from salon.steps.match_model import load_match_model, pair_values
from salon.steps.match_profiles import CandidateProfile, shipped_candidates
from salon.steps.match_vector import Values, compare

_ADULT = 18
OUTCOMES = ("match", "no_match")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """How well one candidate fits the person."""

    bot_id: str
    name: str
    score: float
    """Cosine similarity of the two feature vectors over the dimensions that both have."""
    shared_dimensions: int
    learned_score: float | Absent
    """Probability of a match by the model fitted on speed dates."""
    prediction_set: tuple[str, ...] = OUTCOMES
    calibrated: bool = False
    """Candidates are invented and were at none of the evenings, so nothing is promised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The candidates in falling order of score, and the score of each by its id."""

    ranked_candidates: tuple[Candidate, ...]
    compatibility_scores: dict[str, float]


MATCHES = Slot("matches", Matches)


def rank(person: Values, candidates: tuple[CandidateProfile, ...]) -> Matches:
    """Return the candidates, the most alike first; ties by id."""
    scored = sorted(
        (_score(person, one) for one in candidates), key=lambda one: (-one.score, one.bot_id)
    )
    return Matches(
        ranked_candidates=tuple(scored),
        compatibility_scores={one.bot_id: one.score for one in scored},
    )


def _score(person: Values, candidate: CandidateProfile) -> Candidate:
    values = candidate.values()
    similarity = compare(person, values)
    pair = pair_values(person, values)
    learned: float | Absent = Absent("neither age nor interests of the person are known")
    if any(one is not None for one in pair):
        learned = load_match_model().probability(pair)
    return Candidate(
        bot_id=candidate.bot_id,
        name=candidate.name,
        score=similarity.cosine,
        shared_dimensions=similarity.shared,
        learned_score=learned,
    )


def match(view: View) -> Matches | Absent:
    """Return how well each candidate fits what is known by now."""
    features = view.latest(FEATURES)
    known: Values = {} if isinstance(features, Absent) else features.predicted_features
    age = known.get("age")
    if isinstance(age, float) and age < _ADULT:
        return Absent("the person says that they are under 18, and is matched with nobody")
    return rank(known, shipped_candidates())


STEP = Step(
    name="matching",
    about="which candidates are like the person, by cosine and by a model of speed dates",
    reads=(FEATURES, Past(FEATURES)),
    writes=MATCHES,
    when=AnyOf((AtTurns((1,)), Every(10))),
    run=match,
    timeout_s=1.0,
)
