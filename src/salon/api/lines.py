"""Lines before the threads: one thing after another within a session, sessions side by side.

Everything here happens in the event loop, by calls and without tasks: a line stands in the way of
every message. Invariant: whoever stands in a line is served once, in the order of coming, or leaves
before the work begins; work that has begun is finished and told, whoever is gone.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from salon.api.workers import Then, Workers


class Place:
    """A place in a line."""

    __slots__ = ("_is_begun", "_is_left", "then", "work")

    def __init__(self, work: Callable[[], Any], then: Then) -> None:
        self.work = work
        self.then = then
        self._is_begun = False
        self._is_left = False

    def begin(self) -> bool:
        """Have its turn; false where nobody stands here any more."""
        self._is_begun = not self._is_left
        return self._is_begun

    def leave(self) -> bool:
        """Leave the line; false where the work has begun, which is then finished and told."""
        self._is_left = not self._is_begun
        return self._is_left


class Lines:
    """The lines of all sessions; one that nobody stands in takes no room."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._waiting: dict[str, deque[Place]] = {}

    def join(self, session: str, work: Callable[[], Any], then: Then) -> Place:
        """Have something done in a thread after what was asked for before; `then` hears of it."""
        place = Place(work, then)
        line = self._waiting.get(session)
        if line is None:
            line = self._waiting[session] = deque()
            line.append(place)
            self._go_on(session)
        else:
            line.append(place)
        return place

    def _go_on(self, session: str) -> None:
        line = self._waiting[session]
        while line:
            place = line.popleft()
            if place.begin():
                self._workers.submit(place.work, partial(self._end, session, place))
                return
        del self._waiting[session]

    def _end(self, session: str, place: Place, value: Any, error: BaseException | None) -> None:
        try:
            place.then(value, error)
        finally:
            self._go_on(session)
