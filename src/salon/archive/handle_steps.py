"""What a handle's steps must look like: each begins where the one before it ended."""

from collections.abc import Sequence
from itertools import pairwise


def follow_each_other(steps: Sequence[tuple[str | None, str | None]], current: str | None) -> bool:
    """Tell whether steps (previous, current), oldest first, lead without a gap to `current`.

    The first kept step may begin anywhere, since what lay before it may have been pruned; no
    steps at all lead anywhere. A handle that is gone (no `current`) may have been removed by
    MCard, which notes no step for that.
    """
    if not steps:
        return True
    joined = all(before[1] == after[0] for before, after in pairwise(steps))
    return joined and current in (None, steps[-1][1])
