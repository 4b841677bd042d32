"""Taking turns for many clients: in threads, one after another within a session, told to all.

A turn is never given up half-way: whoever asked may vanish, the record and the other listeners stay
whole.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread

from salon.api.limits import Buckets, Limits
from salon.api.lines import Lines, Place
from salon.api.live import Letter, Live
from salon.api.metrics import Metrics
from salon.api.service import ConversationService, TakenTurn
from salon.api.workers import Then, Workers, settle
from salon.core.errors import LimitReached
from salon.gate.forms import FormAnswer
from salon.parts.companion import CommandAnswer
from salon.steps.wire_shapes import ReplyDelta, WireEvent, as_text

T = TypeVar("T")


class _Told(NamedTuple):
    """A turn, and what is told of it."""

    taken: TakenTurn
    letters: tuple[Letter, ...]


class Talking:
    """The app behind the routes: each call runs in a thread of its own, of which there are few."""

    def __init__(
        self,
        service: ConversationService,
        limits: Limits,
        metrics: Metrics | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.service = service
        self.limits = limits
        self.live = Live(limits)
        self.metrics = metrics or Metrics()
        self.metrics.sockets.set_function(lambda: self.live.count)
        self._buckets = Buckets(rate=limits.rate, burst=limits.burst, now=now)
        self._workers = Workers(limits.threads)
        self._lines = Lines(self._workers)
        self._readers = anyio.CapacityLimiter(limits.readers)
        self._askers = anyio.CapacityLimiter(limits.askers)
        self._long_lookers = anyio.CapacityLimiter(1)

    async def look(self, work: Callable[[], T]) -> T:
        """Look something up in the app without holding up anybody."""
        return await anyio.to_thread.run_sync(work, limiter=self._readers)

    async def ask(self, work: Callable[[], T]) -> T:
        """Have the app search, answer or check something that belongs to no session."""
        return await anyio.to_thread.run_sync(work, limiter=self._askers)

    async def look_long(self, work: Callable[[], T]) -> T:
        """Have something done that reads everything again; one at a time, apart from the rest."""
        return await anyio.to_thread.run_sync(work, limiter=self._long_lookers)

    async def say(
        self,
        session: str,
        message: str,
        *,
        user: str,
        avatar: str | None,
        hear: Callable[[ReplyDelta], None] | None = None,
    ) -> TakenTurn:
        """Take a turn and tell it to everybody who listens; `hear` gets parts of the reply too."""
        taken: TakenTurn = await _settled(
            lambda then: self.begin(
                session, message, user=user, avatar=avatar, then=then, hear=hear
            )
        )
        return taken

    def begin(
        self,
        session: str,
        message: str,
        *,
        user: str,
        avatar: str | None,
        then: Then,
        hear: Callable[[ReplyDelta], None] | None = None,
    ) -> Place:
        """Have a turn taken and told; `then` is called once everybody who listens was told."""
        self.require_patience(session)
        loop = asyncio.get_running_loop()

        def pass_on(part: ReplyDelta) -> None:
            self.live.mention(session, part)
            if hear is not None:
                hear(part)

        def on_event(event: WireEvent) -> None:
            if isinstance(event, ReplyDelta):
                self._workers.report(loop, partial(pass_on, event))

        work = partial(
            self.service.take_turn, session, message, user=user, avatar=avatar, on_event=on_event
        )
        return self._take(session, work, then)

    async def answer_flow(self, session: str, answer: FormAnswer, *, user: str | None) -> TakenTurn:
        """Answer a session's flow, which is a turn, and tell it to everybody who listens."""
        self.require_patience(session)
        work = partial(self.service.answer_flow_of, session, answer, user=user)
        taken: TakenTurn = await _settled(lambda then: self._take(session, work, then))
        return taken

    def _take(self, session: str, work: Callable[[], TakenTurn], then: Then) -> Place:
        def tell(told: _Told | None, error: BaseException | None) -> None:
            if told is None:
                then(None, error)
                return
            self.live.tell(session, told.letters)
            then(told.taken, None)

        return self._lines.join(session, partial(self._timed, work), tell)

    def _timed(self, work: Callable[[], TakenTurn]) -> _Told:
        began = time.perf_counter()
        count = self.metrics.turns_refused
        try:
            taken = work()
            count = self.metrics.turns_taken
        finally:
            count.inc()
            self.metrics.turn_latency.observe(time.perf_counter() - began)
        # The texts are made here, once for all who listen, and not in the loop.
        return _Told(taken, tuple(Letter(one, as_text(one)) for one in taken.events))

    async def command(self, name: str, *, session: str, user: str) -> CommandAnswer:
        """Answer a command."""
        self.require_patience(session)
        return await self.look(partial(self.service.run_command, name, session=session, user=user))

    async def missed(self, session: str, event_id: int) -> tuple[int, tuple[WireEvent, ...]]:
        """Return up to which event a client knows a session, and the events after that one."""

        def find() -> tuple[int, tuple[WireEvent, ...]]:
            # A session that was deleted and begun anew counts from the beginning.
            known = min(event_id, self.service.latest_event_id(session))
            return known, self.service.events_after(session, known)

        return await self.look(find)

    async def forget(self, session: str) -> None:
        """Delete a session after the turn that is being taken, and send its listeners away."""

        def join(then: Then) -> Place:
            def send_away(nothing: None, error: BaseException | None) -> None:
                if error is None:
                    self.live.end_session(session)
                then(nothing, error)

            work = partial(self.service.forget_session, session)
            return self._lines.join(session, work, send_away)

        await _settled(join)

    def require_patience(self, session: str) -> None:
        """Count a message, or raise `LimitReached` where they come too fast."""
        missing = self._buckets.take(session)
        if missing:
            raise LimitReached(
                "messages come too fast",
                hint=f"wait {missing:.1f} s",
                retry_after_s=round(missing, 3),
            )


async def _settled(join: Callable[[Then], Place]) -> Any:
    """Stand in a line and wait; who is cancelled leaves it, or waits for what has begun."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    place = join(partial(settle, done))
    try:
        await asyncio.wait((done,))
    except asyncio.CancelledError:
        if not place.leave():
            with anyio.CancelScope(shield=True):
                await asyncio.wait((done,))
            done.exception()  # nobody is left to hear of it
        raise
    return done.result()
