"""Many judges, each right so often: verdicts weighted by what their record says.

A judge says which of two answers is better, once with the answers in one order and once swapped.
One that changes its mind with the order has shown where it looks and says nothing about the item.
What is learned is one weight per judge, in log-odds, all judges together: ten that copy each other
share what one would carry, and one that is wrong more often than right counts against what it says.

Applied to items of a kind that was not learned from, the weights are corrected once more without
labels: the first verdicts show how each judge does there. Half of the verdict stays with what was
learned. `seats.Seat`s are weighed in `weighing`; this is for recorded votes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RIDGE = 5.0
"""How strongly weights are drawn to zero: as much as a hundred items can barely outvote."""
_LOOKS = 2
"""How often the unlabelled correction looks again. More trusts itself too much on mixed items."""
_SPREAD = 10.0
"""How often judges say the same thing over; their summed log-odds are divided by it."""
_PRIOR_ITEMS = 4.0
"""How many items, half of them right, a judge starts with in a new kind of items."""
_NEWTON_STEPS = 50
_CLOSE = 1e-9
_FAR = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Votes of judges on items; -1 for the first answer, +1 for the second, 0 for no vote."""

    judges: tuple[str, ...]
    items: tuple[str, ...]
    kinds: tuple[str, ...]
    """For each item the kind that it belongs to."""
    orders: tuple[Floats, ...]
    """One array of items x judges for each order in which the answers were shown."""

    @property
    def says(self) -> Floats:
        """Return what each judge says of each item: between -1 and 1, and 0 if it changes."""
        asked = np.sum([np.abs(votes) for votes in self.orders], axis=0)
        total = np.sum(self.orders, axis=0)
        return np.asarray(np.divide(total, asked, out=np.zeros_like(total), where=asked > 0))

    def among(self, rows: Sequence[int]) -> "Panel":
        """Return these items alone."""
        chosen = list(rows)
        return Panel(
            judges=self.judges,
            items=tuple(self.items[row] for row in chosen),
            kinds=tuple(self.kinds[row] for row in chosen),
            orders=tuple(votes[chosen] for votes in self.orders),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeWeights:
    """What each judge's word is worth in log-odds; one that is not named is worth nothing yet."""

    weights: Mapping[str, float]

    def of(self, judges: Sequence[str]) -> Floats:
        """Return the weights of these judges, in this order."""
        return np.array([self.weights.get(judge, 0.0) for judge in judges])


def learn_weights(panel: Panel, truth: Floats, *, ridge: float = RIDGE) -> JudgeWeights:
    """Learn from items whose right answer is known (-1 or +1), all judges at once.

    A logistic regression without intercept, so that calling the answers the other way round turns
    the verdict round and nothing else.
    """
    weights = fit_logistic(panel.says * truth[:, None], ridge=np.full(len(panel.judges), ridge))
    return JudgeWeights(weights=dict(zip(panel.judges, weights.tolist(), strict=True)))


def plain_log_odds(panel: Panel, truth: Floats, *, prior: float = 2.0) -> JudgeWeights:
    """Return each judge's own log-odds of being right, as if no two judges were alike."""
    right, wrong = _counts(panel.says * truth[:, None])
    odds = np.log((right + prior) / (wrong + prior))
    return JudgeWeights(weights=dict(zip(panel.judges, odds.tolist(), strict=True)))


def fit_logistic(signed: Floats, *, ridge: Floats) -> Floats:
    """Return the weights under which rows of `signed`, each turned to the right side, come out +.

    `ridge` says for each column how strongly its weight is drawn to zero.
    """
    weights = np.zeros(signed.shape[1])
    for _ in range(_NEWTON_STEPS):
        doubt = probability(-(signed @ weights))
        slope = signed.T @ doubt - ridge * weights
        curve = (signed * (doubt * (1 - doubt))[:, None]).T @ signed + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        weights = weights + step
        if np.abs(step).max(initial=0.0) < _CLOSE:
            break
    return weights


def verdicts(
    weights: JudgeWeights, panel: Panel, *, known: Mapping[str, float] | None = None
) -> Floats:
    """Return for each item a number: its sign is the verdict, its size how sure the panel is.

    Each kind of items is corrected on its own. `known` holds items of the same kinds whose right
    answer is known; they must be in the panel, and get their verdict like the others.
    """
    found = np.zeros(len(panel.items))
    kinds = np.array(panel.kinds)
    truth = np.array([(known or {}).get(item, 0.0) for item in panel.items])
    learned, all_says = weights.of(panel.judges), panel.says
    for kind in sorted(set(panel.kinds)):
        rows = np.flatnonzero(kinds == kind)
        says = all_says[rows]
        found[rows] = (
            _in_step(says @ learned) + _in_step(says @ _seen(says, learned, truth[rows]))
        ) / 2
    return found


def plain_verdicts(weights: JudgeWeights, panel: Panel) -> Floats:
    """Return the weighted sums as they are, with no correction for new kinds of items."""
    return np.asarray(panel.says @ weights.of(panel.judges))


def majority(panel: Panel) -> Floats:
    """Return for each item all votes in all orders added up."""
    return np.asarray(np.sum(panel.orders, axis=(0, 2)))


def probability(log_odds: Floats) -> Floats:
    """Return log-odds as probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -_FAR, _FAR))))


def _seen(says: Floats, learned: Floats, truth: Floats) -> Floats:
    """Return log-odds as these items themselves show them, starting from what was learned."""
    log_odds = says @ learned
    odds = learned
    for _ in range(_LOOKS):
        up = np.where(truth == 0, probability(log_odds), (truth + 1) / 2)[:, None]
        right_up, wrong_up = _counts(says, up)
        right_down, wrong_down = _counts(-says, 1 - up)
        half = _PRIOR_ITEMS / 2
        odds = np.log((right_up + right_down + half) / (wrong_up + wrong_down + half))
        log_odds = says @ odds / _SPREAD
    return np.asarray(odds)


def _counts(signed: Floats, share: Floats | float = 1.0) -> tuple[Floats, Floats]:
    """Count the whole words in agreement and against; one that changed with the order is none."""
    return (((signed == 1) * share).sum(axis=0), ((signed == -1) * share).sum(axis=0))


def _in_step(log_odds: Floats) -> Floats:
    size = float(np.sqrt(np.mean(log_odds**2)))
    return log_odds / size if size > 0 else log_odds
