"""A typing pace: how long an edge may wait before it shows a reply, if a person wants that.

Off by default, since a reply of an AI need not look like a person's. It is drawn, reported and
never waited for here: no turn holds a lock while nobody types.
"""

from random import Random

MEAN_S = 2.0
DEVIATION_S = 1.0
SHORTEST_S, LONGEST_S = 0.0, 5.0


def typing_delay(random: Random, *, is_on: bool) -> float:
    """Return the seconds to wait: Gaussian(2, 1) cut to 0 to 5; 0 where the pace is off."""
    if not is_on:
        return 0.0
    return round(min(LONGEST_S, max(SHORTEST_S, random.gauss(MEAN_S, DEVIATION_S))), 6)
