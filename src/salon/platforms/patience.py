"""How fast one person may ask: a bucket each, so that nobody is slowed by anybody else."""

from collections import OrderedDict
from collections.abc import Callable

from salon.core.errors import LimitReached

REMEMBERED = 10_000


class Patience:
    """Tokens by person: each question takes one, and they come back with time.

    Only those who asked last are remembered; whoever was forgotten starts full, which after so
    many others they would be anyway.
    """

    def __init__(self, *, per_minute: float, burst: int, now: Callable[[], float]) -> None:
        self._rate = per_minute / 60
        self._burst = float(burst)
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, person: str) -> None:
        """Count a question, or raise `LimitReached` with the time to wait."""
        now = self._now()
        level, since = self._levels.pop(person, (self._burst, now))
        level = min(self._burst, level + (now - since) * self._rate)
        missing = max(0.0, 1.0 - level)
        self._levels[person] = (level if missing else level - 1.0, now)
        if len(self._levels) > REMEMBERED:
            self._levels.popitem(last=False)
        if missing:
            wait = missing / self._rate
            raise LimitReached(
                "you are asking faster than I may answer",
                hint=f"ask again in {max(1, round(wait))} s",
                retry_after_s=round(wait, 3),
            )
