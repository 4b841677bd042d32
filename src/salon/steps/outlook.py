"""Where a relationship may stand later: steps of the relationship's own chain, and their doubt.

The chain is an assumption of the source protocol, not something measured on people, and so is
everything here: the set is never called calibrated, and it is told what other chances would give.
A status that the reading rules out (romance with somebody under 18) stays ruled out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from salon.core.errors import InvalidInput
from salon.steps.feature_list import STATUSES
from salon.steps.relationship_status import ADVANCE_CHANCE, likeliest, transition_row

EVERY = 5
"""Turns between two readings of the relationship, so between two steps of the chain."""
WANTED = 0.9
"""How much of the probability the set of statuses must hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What the chain says about one later turn."""

    from_turn: int
    to_turn: int
    steps: int
    chance: float
    """Of one step on until the next reading, as things stand."""
    probabilities: dict[str, float]
    likeliest: str
    prediction_set: tuple[str, ...]
    """The likeliest statuses that together have nine tenths of the probability."""
    share: float
    """How much of it they have."""
    otherwise: dict[str, str]
    """The likeliest status if the chances were favourable, usual or unfavourable throughout."""


def look_ahead(
    start: Mapping[str, float], chance: float, *, from_turn: int, to_turn: int
) -> Outlook:
    """Follow the chain from the probabilities of all statuses to a later turn."""
    if to_turn <= from_turn:
        raise InvalidInput(f"turn {to_turn} is not ahead of turn {from_turn}")
    steps = -(-(to_turn - from_turn) // EVERY)
    spread = _follow(start, chance, steps)
    order = sorted(STATUSES, key=lambda one: -spread[one])
    size = next(n for n in range(1, len(order) + 1) if _share(spread, order[:n]) >= WANTED)
    return Outlook(
        from_turn=from_turn,
        to_turn=to_turn,
        steps=steps,
        chance=chance,
        probabilities=spread,
        likeliest=likeliest(spread),
        prediction_set=tuple(one for one in STATUSES if one in order[:size]),
        share=round(_share(spread, order[:size]), 6),
        otherwise={
            name: likeliest(_follow(start, other, steps)) for name, other in ADVANCE_CHANCE.items()
        },
    )


def _share(spread: Mapping[str, float], statuses: list[str]) -> float:
    return round(sum(spread[one] for one in statuses), 5)


def _follow(start: Mapping[str, float], chance: float, steps: int) -> dict[str, float]:
    total = sum(start.values())
    spread = {status: start.get(status, 0.0) / total for status in STATUSES}
    ruled_out = frozenset(status for status, share in start.items() if share == 0.0)
    for _ in range(steps):
        after = dict.fromkeys(STATUSES, 0.0)
        for status, share in spread.items():
            for following, probability in transition_row(status, chance).items():
                after[status if following in ruled_out else following] += share * probability
        spread = after
    return {status: round(share, 6) for status, share in spread.items()}
