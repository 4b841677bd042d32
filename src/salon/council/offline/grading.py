"""Scorecards by rubric: three scores from measurements, with the measurements as the reason.

The anchors are the council's: accuracy 10 where every sentence is proven, 8 with slips, 5 where one
is wrongly attributed, 1 where it is made up; depth by sources and what they cover; pedagogy by
order, wording and what a reader is not told. What seats weigh is in `strategies`.
"""

import math
from collections.abc import Mapping

from salon.council.holders import Graded
from salon.council.offline.measuring import Measured
from salon.council.offline.strategies import DEPTH, DOUBT, PEDAGOGY, Measure
from salon.council.rounds import Scorecard, Verdict
from salon.council.seats import Seat

LEAST_MEAN, LEAST_SCORE = 8.0, 5
"""What a fusion needs to get an Up: the thresholds of publication."""
FEW_SOURCES, FEW_SENTENCES = 4, 8
"""Below these a topic is hardly covered, whatever else is good."""
_MOST_OF_A_BARE_ONE = 6
_MOST_WITHOUT_A_WORD = 4.5
"""What depth is left, above 1 and by share, where words of the topic itself appear nowhere.

So a topic of up to four words needs all of them: with one missing, depth is 4 and rejects.
"""
_MOST_DERIVED = 4
_MOST_BROKEN = 3
_MOST_WITHOUT_A_QUESTION = 9
_MOSTLY = 0.5
_MOST_CLASHING = 5
"""What accuracy is left where sentences contradict each other as if nothing were."""
_MOST_ONE_SIDED, _LEAST_ONE_SIDED = 8, 6
"""The same where one side of a difference is told: a slip, and a point less for each more of it."""


def grade(seat: Seat, measured: Measured, *, is_fusion: bool) -> Graded:
    """Return a seat's scorecard of a draft, and for a fusion Up or Down."""
    scores = Scorecard(
        accuracy=_accuracy(seat, measured),
        depth=_depth(seat, measured),
        pedagogy=_pedagogy(seat, measured),
    )
    verdict = None
    if is_fusion:
        is_up = scores.mean >= LEAST_MEAN and scores.lowest >= LEAST_SCORE
        verdict = Verdict.UP if is_up else Verdict.DOWN
    return Graded(scores=scores, rationale=_rationale(measured, scores), verdict=verdict)


def _accuracy(seat: Seat, measured: Measured) -> int:
    if not measured.lines:
        return 1
    # A quote counts whole; a paraphrase that its quotes bear out counts as a slip.
    proven = 0.8 * measured.borne_out + 0.2 * measured.exact
    score = _point(1 + 9 * proven**2)
    if measured.values[Measure.VERIFIED] < _MOSTLY:
        score -= DOUBT.get(seat, 0)
    if measured.broken:
        score = min(score, _MOST_BROKEN)
    if measured.one_sided:
        score = min(score, max(_LEAST_ONE_SIDED, _MOST_ONE_SIDED + 1 - measured.one_sided))
    if measured.clashing:
        score = min(score, _MOST_CLASHING)
    if measured.derived and not measured.sources:
        score = min(score, _MOST_DERIVED)
    return max(1, score)


def _depth(seat: Seat, measured: Measured) -> int:
    values = measured.values
    score = 1 + 9 * _mean(DEPTH[seat], values) * values[Measure.ON_TOPIC]
    if values[Measure.TERMS] < 1:
        score = min(score, 1 + _MOST_WITHOUT_A_WORD * values[Measure.TERMS])
    there = min(measured.sources / FEW_SOURCES, measured.on_topic / FEW_SENTENCES)
    if there < 1:
        score = min(score, 1 + (_MOST_OF_A_BARE_ONE - 1) * there)
    return _point(score)


def _pedagogy(seat: Seat, measured: Measured) -> int:
    if not measured.lines:
        return 1
    values = measured.values
    clean = values[Measure.RESOLVED] * values[Measure.DISTINCT]
    score = _point(1 + 9 * _mean(PEDAGOGY[seat], values) * clean)
    return score if measured.questions else min(score, _MOST_WITHOUT_A_QUESTION)


def _mean(weights: Mapping[Measure, float], values: Mapping[Measure, float]) -> float:
    return sum(weight * values[one] for one, weight in weights.items()) / sum(weights.values())


def _point(score: float) -> int:
    return max(1, min(10, math.floor(score + 0.5)))


def _rationale(measured: Measured, scores: Scorecard) -> str:
    values = measured.values
    missing = ", ".join(term.spelling for term in measured.missing[:5]) or "none"
    return (
        f"Accuracy {scores.accuracy}: {len(measured.lines)} sentences, {measured.exact:.0%} exact "
        f"quotes, {measured.borne_out:.0%} borne out by their own notes, {measured.broken} notes "
        f"that lead nowhere, {measured.clashing + measured.one_sided} sentences that another "
        f"source contradicts without a word of it. "
        f"Depth {scores.depth}: {measured.sources} independent sources, "
        f"{values[Measure.ON_TOPIC]:.0%} of the sentences on the topic, "
        f"{values[Measure.ROLES]:.0%} of definition, history, mechanism and consequence there; "
        f"important terms missing: {missing}. "
        f"Pedagogy {scores.pedagogy}: {len(measured.sections)} sections, order "
        f"{values[Measure.ORDER]:.2f}, readability {values[Measure.EASE]:.2f}, "
        f"{sum(one.leans_on is not None for one in measured.lines)} sentences that lean on "
        f"something unsaid, {sum(one.repeats is not None for one in measured.lines)} repeated."
    )
