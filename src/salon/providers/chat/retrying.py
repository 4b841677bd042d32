"""When to ask a server again: after waits that double, or as long as it says, or not at all."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from salon.providers.chat.failures import Failure

LONGEST_WAIT_S = 60.0
_FIRST_WAIT_S = 0.5
_LONGEST_OWN_WAIT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a server is asked again, and how long that takes.

    Waits are random within limits, so that many clients do not come back at the same moment. They
    are never shorter than the server asks for; where it asks for too long, it is not asked again.
    """

    retries: int
    draw: Callable[[], float] = random.random

    def wait_s(self, failure: Failure, attempt: int) -> float | None:
        """Return how long to wait after attempt number `attempt` (from 0); `None` is give up."""
        if not failure.may_pass or failure.has_begun or attempt >= self.retries:
            return None
        own = min(_FIRST_WAIT_S * 2.0**attempt, _LONGEST_OWN_WAIT_S)
        asked = failure.retry_after_s
        if asked is None:
            return own * (0.5 + 0.5 * self.draw())
        return None if asked > LONGEST_WAIT_S else asked + 0.25 * own * self.draw()
