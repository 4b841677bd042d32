"""A box between two tasks of one event loop: what waits is bounded, and nobody waits to put in.

It does what a memory stream does, at the cost of a list: it stands in the way of every message.
"""

import asyncio
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Holds items for one reader, at most so many."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._items: deque[T] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._items)

    @property
    def is_awaited(self) -> bool:
        """Tell whether the reader has dealt with everything and waits for more."""
        waiting = self._waiting
        return waiting is not None and not waiting.done() and not self._items

    def put(self, item: T) -> bool:
        """Put something in, and tell whether there was room; a closed box takes it and drops it."""
        if self._is_closed:
            return True
        if len(self._items) >= self.most:
            return False
        self._items.append(item)
        self._wake()
        return True

    async def get(self) -> T | None:
        """Wait for something and take it out; `None` where the box is closed and empty."""
        while not self._items:
            if self._is_closed:
                return None
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        return self._items.popleft()

    def close(self) -> None:
        """Take nothing more; what is inside can still be taken out."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
