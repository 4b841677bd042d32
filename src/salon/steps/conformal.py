"""Prediction sets with a promise: split conformal prediction, and the test that withdraws it.

A model's probabilities need not be right for its sets to be: on people who are exchangeable with
those of the calibration set, the set holds the true label with probability at least `1 - alpha`.
Nothing here knows what is predicted. Without calibration there is no quantile, and no set but the
whole label space. Pure functions of numbers; the models and quantiles are in `questionnaires.py`.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

ALPHA = 0.1
WITHDRAW_AT = 20.0
"""A martingale grows so far by chance in at most 1 of 20 conversations (Ville's inequality)."""
Score = Literal["lac", "aps"]
_GRID = 100


def scores_of(probabilities: Sequence[float], score: Score = "lac") -> list[float]:
    """Return how strange each label would be, given the probability of each.

    `lac` is 1 less the label's probability. `aps` is the probability of all labels that are at
    least as probable, itself included: sets grow where the model hesitates.
    """
    if score == "lac":
        return [1.0 - one for one in probabilities]
    return [sum(other for other in probabilities if other >= one) for one in probabilities]


def quantile(scores: Sequence[float], alpha: float = ALPHA) -> float:
    """Return the score at the rank `ceil((n + 1)(1 - alpha))`; infinite where n is too small."""
    rank = math.ceil((len(scores) + 1) * (1.0 - alpha))
    return sorted(scores)[rank - 1] if rank <= len(scores) else math.inf


def group_quantiles(
    scores: Sequence[float], groups: Sequence[str], *, alpha: float = ALPHA, fewest: int = 50
) -> dict[str, float]:
    """Return a quantile for each group that has enough scores, and `""` for all together.

    The promise then holds inside each group (Mondrian): a turn bucket, a set of answered items.
    """
    by_group: dict[str, list[float]] = defaultdict(list)
    for score, group in zip(scores, groups, strict=True):
        by_group[group].append(score)
    found = {name: quantile(some, alpha) for name, some in by_group.items() if len(some) >= fewest}
    return {"": quantile(scores, alpha), **found}


def prediction_set(
    labels: Sequence[str],
    probabilities: Sequence[float],
    threshold: float,
    score: Score = "lac",
) -> tuple[str, ...]:
    """Return the labels that are no stranger than the threshold; never an empty set."""
    strange = scores_of(probabilities, score)
    inside = tuple(label for label, one in zip(labels, strange, strict=True) if one <= threshold)
    if inside:
        return inside
    return (labels[min(range(len(labels)), key=lambda index: strange[index])],)


def p_value(score: float, calibration: Sequence[float]) -> float:
    """Return the share of scores at least as strange, the new one counted among them."""
    return (sum(one >= score for one in calibration) + 1.0) / (len(calibration) + 1.0)


def martingales(p_values: Sequence[float]) -> list[float]:
    """Return after each p-value how strongly all so far speak against exchangeability.

    A mixture of power bets: under exchangeability p-values are uniform and the value stays near 1;
    strange ones drive it up.
    """
    steps = [(index + 0.5) / _GRID for index in range(_GRID)]
    bets, found = [0.0] * _GRID, []
    for one in p_values:
        log = math.log(max(one, 1e-12))
        bets = [
            bet + math.log(step) + (step - 1.0) * log for bet, step in zip(bets, steps, strict=True)
        ]
        top = max(bets)
        mean = sum(math.exp(bet - top) for bet in bets) / _GRID
        found.append(math.exp(min(700.0, top + math.log(mean))))
    return found


def martingale(p_values: Sequence[float]) -> float:
    """Return how strongly p-values speak against exchangeability; 1 where there are none."""
    return martingales(p_values)[-1] if p_values else 1.0


def is_exchangeable(p_values: Sequence[float]) -> bool:
    """Tell whether nothing so far speaks against the promise, at any moment of the conversation."""
    return max(martingales(p_values), default=1.0) < WITHDRAW_AT


def softmax(values: Sequence[float]) -> list[float]:
    """Return probabilities in proportion to the exponentials of these values."""
    top = max(values)
    powers = [math.exp(one - top) for one in values]
    total = sum(powers)
    return [one / total for one in powers]


def mean_size(sets: Mapping[str, Sequence[str]]) -> float:
    """Return how many labels a set holds on average; 0 where there are no sets."""
    return sum(map(len, sets.values())) / len(sets) if sets else 0.0
