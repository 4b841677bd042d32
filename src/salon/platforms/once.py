"""One answer to one event, however often and to how many processes a platform delivers it.

What was taken and how far it is stands in the archive. What stays open after a crash is asked of
the platform; where that cannot tell, silence is chosen over saying the same thing twice.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from salon.archive.deliveries import Delivery, Standing

if TYPE_CHECKING:
    from salon.archive.deliveries import Deliveries

log = logging.getLogger(__name__)
ENDING_S = 8.0
"""How long what is under way may take once Salon is told to end; most supervisors wait 10 s."""
Look = Callable[[], Awaitable[bool | None]]
"""Tells whether an answer is there; `None` where that cannot be told."""


class Once:
    """The deliveries of one platform, for a loop that must not wait for the disk."""

    def __init__(self, deliveries: "Deliveries", platform: str) -> None:
        self._deliveries = deliveries
        self._platform = platform
        self._under_way = 0
        self._change: anyio.Event | None = None

    async def take(self, event: str) -> Delivery:
        """Take a delivery, or learn who else has it."""
        return await anyio.to_thread.run_sync(self._deliveries.take, self._platform, event)

    async def sending(self, delivery: Delivery) -> None:
        """Note that an answer is about to be sent."""
        await anyio.to_thread.run_sync(self._deliveries.sending, delivery)

    async def is_open(self, delivery: Delivery, look: Look) -> bool:
        """Tell whether a delivery still wants an answer; `look` is asked where there is doubt."""
        if delivery.standing is not Standing.IN_DOUBT:
            return True
        is_there = await look()
        if is_there is None:
            log.warning("whether an event was answered before a restart is unknown; it is left")
        return is_there is False

    @asynccontextmanager
    async def working(self, delivery: Delivery) -> AsyncIterator[None]:
        """Work on a delivery: it is over afterwards, or free again if the work failed.

        Work that is cancelled is left as it stands: the process ends, and the next one sees that.
        """
        self._under_way += 1
        try:
            yield
            await anyio.to_thread.run_sync(self._deliveries.answered, delivery)
        except Exception:
            await anyio.to_thread.run_sync(self._deliveries.give_back, delivery)
            raise
        finally:
            self._under_way -= 1
            if self._change is not None:
                self._change.set()

    async def settle(self, seconds: float = ENDING_S) -> None:
        """Wait until nothing is under way, but no longer than this."""
        with anyio.move_on_after(seconds):
            while self._under_way:
                self._change = anyio.Event()
                await self._change.wait()
        if self._under_way:
            log.warning("%s questions are left without an answer", self._under_way)
