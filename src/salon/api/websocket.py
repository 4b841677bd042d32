"""`/ws/{session_id}`: a conversation over a WebSocket, and what happens to clients that misbehave.

One task reads frames, another sends what could not be sent at once, and turns are taken in threads,
one after another. A client that is slow, vanished or hostile therefore keeps nobody waiting but
itself. A message that meets nobody waiting passes through few hands: it is given to a thread where
it is read, and its events are written where the thread reports them.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

import anyio
from anyio.abc import TaskGroup
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from salon.api.access import SUBPROTOCOL, refuse
from salon.api.errors import TOO_MANY_MALFORMED, TOO_SLOW, internal
from salon.api.lines import Place
from salon.api.live import AT_ONCE, AtOnce, Letter, Listener
from salon.api.talking import Talking
from salon.conversation.turns import as_session_id
from salon.core.errors import Conflict, InvalidInput, LimitReached, SalonError
from salon.parts.companion import CommandAnswer, is_command
from salon.steps.wire_shapes import (
    BotResponse,
    ClientMessage,
    CommandMessage,
    ErrorData,
    ErrorEvent,
    UserMessage,
    WireEvent,
    as_text,
    read_client_message,
)

log = logging.getLogger(__name__)

GONE = (WebSocketDisconnect, RuntimeError, OSError)
"""What sending raises where the other side has left, depending on how far it had got."""
_FRAMES_AT_ONCE = 4
_MOST_DIGITS = 18
_LAST_WORDS_S = 2.0
"""How long a close frame may take to leave; a client that does not read gets none."""


@dataclass(slots=True, kw_only=True)
class Connection:
    """One client at one session."""

    websocket: WebSocket
    session: str
    talking: Talking
    listener: Listener
    avatar: str | None
    last_sent: int
    """The id of the latest event that was sent; everything up to it is known to the client."""
    at_once: AtOnce | None
    """The short way, where the server has one."""
    user: str | None = None
    malformed: int = 0
    waiting: deque[ClientMessage] = field(default_factory=deque)
    """Messages that wait for their turn."""
    is_busy: bool = False
    """Whether a message of this connection is being answered."""
    place: Place | None = None
    answering: asyncio.Task[None] | None = None
    patience: anyio.CancelScope | None = None
    """What is cancelled when nobody waits for the answer to a command any more."""
    quiet: asyncio.Future[None] | None = None
    tasks: TaskGroup = field(init=False)

    async def serve(self, missed: tuple[WireEvent, ...]) -> None:
        """Serve until the client leaves or must."""
        try:
            with self.listener.scope:
                async with anyio.create_task_group() as self.tasks:
                    self.tasks.start_soon(self._send_events, missed)
                    if self.at_once is not None:
                        self.listener.send_at_once = partial(self._send_at_once, self.at_once.send)
                        self.at_once.take = self._take_at_once
                    if await self._read():
                        self.tasks.cancel_scope.cancel()
                    await self._become_quiet()
        finally:
            if self.at_once is not None:
                self.at_once.take = None
            # What waits is dropped with its connection; what has begun is waited for.
            self.waiting.clear()
            if self.place is not None and self.place.leave():
                self.is_busy = False
            if self.patience is not None:
                self.patience.cancel()
            with anyio.CancelScope(shield=True):
                await self._become_quiet()
        await self._close()

    @property
    def _is_leaving(self) -> bool:
        return self.listener.scope.cancel_called or self.tasks.cancel_scope.cancel_called

    async def _become_quiet(self) -> None:
        while self.is_busy:
            self.quiet = asyncio.get_running_loop().create_future()
            await self.quiet

    async def _read(self) -> bool:
        """Read frames until the client leaves; false where it must go once it has its errors."""
        for number in count(1):
            frame = await self.websocket.receive()
            if frame["type"] == "websocket.disconnect":
                return True
            try:
                self._take(self._understand(_text_of(frame)))
            except SalonError as error:
                self._complain(error)
                self.malformed += 1
                if self.malformed >= self.talking.limits.malformed:
                    self.listener.finish(TOO_MANY_MALFORMED)
                    return False
            if number % _FRAMES_AT_ONCE == 0:
                # Many frames may lie ready; between some of them everybody else has a go.
                await asyncio.sleep(0)
        raise AssertionError  # there is always another frame

    def _take_at_once(self, text: str) -> bool:
        """Begin with a message where its frame comes in; what must wait or is wrong is read."""
        if self.is_busy or self._is_leaving or self.listener.close_code is not None:
            return False
        try:
            message = self._understand(text)
        except SalonError:
            return False
        self._begin(message)
        return True

    def _understand(self, text: str) -> ClientMessage:
        message = read_client_message(text)
        if message.session_id != self.session:
            raise InvalidInput(
                "the message names another session than the address",
                hint="connect to /ws/SESSION for each session",
            )
        if self.user not in {None, message.user_id}:
            raise Conflict("this connection speaks for another user", hint="open one for each")
        self.user = message.user_id
        return message

    def _take(self, message: ClientMessage) -> None:
        if not self.is_busy:
            self._begin(message)
        elif len(self.waiting) < self.talking.limits.incoming:
            self.waiting.append(message)
        else:
            self._complain(_wait_for_your_turn())

    def _begin(self, message: ClientMessage) -> None:
        self.is_busy = True
        try:
            BEGINNINGS[type(message)](self, message)
        except SalonError as error:
            self.is_busy = False
            self._complain(error)
        except BaseException:
            self.is_busy = False  # else the end of the connection would wait for ever
            raise

    def _go_on(self) -> None:
        """Begin what waits, until something takes its time."""
        self.is_busy = False
        while self.waiting and not self.is_busy and not self._is_leaving:
            self._begin(self.waiting.popleft())
        if not self.is_busy and self.quiet is not None and not self.quiet.done():
            self.quiet.set_result(None)

    def say(self, message: ClientMessage) -> None:
        """Have a turn taken, or the command run that a message is."""
        assert isinstance(message, UserMessage)
        if is_command(message.content):
            self._start_answer(message.content, message.user_id)
            return
        self.place = self.talking.begin(
            self.session,
            message.content,
            user=message.user_id,
            avatar=self.avatar,
            then=self._end_turn,
        )

    def run(self, message: ClientMessage) -> None:
        """Have a command run."""
        assert isinstance(message, CommandMessage)
        self._start_answer(message.name, message.user_id)

    def _start_answer(self, name: str, user: str) -> None:
        # A task of the group can only be started from a task, and this is called from anywhere.
        self.answering = asyncio.get_running_loop().create_task(self._answer(name, user))
        self.answering.add_done_callback(lambda _: self._go_on())

    def _end_turn(self, _: object, error: BaseException | None) -> None:
        self.place = None
        if isinstance(error, SalonError):
            self._complain(error)
        elif error is not None:  # the top of this edge: logged, told, and the connection lives on
            log.error("defect in a turn", exc_info=error)
            self.listener.offer(self._error(internal()))
        self._go_on()

    async def _answer(self, name: str, user: str) -> None:
        if self._is_leaving:
            return
        with anyio.CancelScope() as self.patience:
            try:
                answer = await self.talking.command(name, session=self.session, user=user)
            except SalonError as error:
                self._complain(error)
            except Exception:  # the top of this edge: logged, told, and the connection lives on
                log.exception("defect in a command")
                self.listener.offer(self._error(internal()))
            else:
                self.listener.offer(self._as_event(answer))

    def _as_event(self, answer: CommandAnswer) -> BotResponse:
        return BotResponse(
            event_id=self.last_sent,
            content=answer.text,
            bot_id=answer.bot_id,
            turn=answer.turn,
            ai_label=answer.ai_label,
            command=answer.command,
            filename=answer.filename,
        )

    def _complain(self, error: SalonError) -> None:
        self.listener.offer(self._error(error.as_json()))

    def _error(self, body: dict[str, object]) -> ErrorEvent:
        return ErrorEvent(event_id=self.last_sent, error=ErrorData.model_validate(body["error"]))

    def _send_at_once(self, send: Callable[[str], bool], letter: Letter) -> bool:
        before = self.last_sent
        text = self._text_of(letter)
        if text is None or send(text):
            return True
        self.last_sent = before
        return False

    async def _send_events(self, missed: tuple[WireEvent, ...]) -> None:
        for one in missed:
            await self._send(Letter(one))
        while (letter := await self.listener.events.get()) is not None:
            await self._send(letter)

    def _text_of(self, letter: Letter) -> str | None:
        """Return what is sent now, and count it as sent; `None` where the client knows it."""
        event, text = letter
        if _is_kept(event):
            # Somebody may have taken a turn while the missed events were looked up.
            if event.event_id <= self.last_sent:
                return None
            self.last_sent = event.event_id
        elif event.event_id < self.last_sent:
            return as_text(event.model_copy(update={"event_id": self.last_sent}))
        return as_text(event) if text is None else text

    async def _send(self, letter: Letter) -> None:
        text = self._text_of(letter)
        if text is None:
            return
        patience = asyncio.get_running_loop().call_later(
            self.talking.limits.send_s, self.listener.end, TOO_SLOW
        )
        try:
            await self.websocket.send_text(text)
        except GONE:
            self.listener.scope.cancel()  # it is gone; there is nobody to tell
        finally:
            patience.cancel()

    async def _close(self) -> None:
        why = self.listener.close_code
        if why is None or self.websocket.client_state is WebSocketState.DISCONNECTED:
            return
        with anyio.move_on_after(_LAST_WORDS_S, shield=True):
            with suppress(*GONE):
                await self.websocket.close(why.code, why.reason)


Beginning = Callable[[Connection, ClientMessage], None]
BEGINNINGS: dict[type[ClientMessage], Beginning] = {
    UserMessage: Connection.say,
    CommandMessage: Connection.run,
}
"""How the answer to each kind of message begins."""


def _text_of(frame: MutableMapping[str, Any]) -> str:
    text = frame.get("text")
    if text is None:
        raise InvalidInput("this is a binary frame", hint="send JSON as text")
    return str(text)


def _event_number(said: str) -> int:
    if not (said.isascii() and said.isdigit() and len(said) <= _MOST_DIGITS):
        raise InvalidInput("last_event_id is no event's id", hint="send the last one that came")
    return int(said)


def _wait_for_your_turn() -> LimitReached:
    return LimitReached("earlier messages wait for their turn", hint="wait for a reply")


def _is_kept(event: WireEvent) -> bool:
    """Tell whether an event can be made again from a turn's record."""
    is_answer = isinstance(event, BotResponse) and event.command is not None
    return event.type not in {"error", "reply_delta"} and not is_answer


async def converse(
    websocket: WebSocket, talking: Talking, session: str, last_event_id: str | None
) -> None:
    """Hold one connection, from the handshake to its end."""
    try:
        name = as_session_id(session)
        seen = None if last_event_id is None else _event_number(last_event_id)
        with talking.live.listening(name) as listener:
            # Listening begins before the look at what was missed, so nothing falls between.
            known, missed = (0, ()) if seen is None else await talking.missed(name, seen)
            offered = websocket.scope.get("subprotocols", ())
            await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
            connection = Connection(
                websocket=websocket,
                session=name,
                talking=talking,
                listener=listener,
                avatar=websocket.query_params.get("avatar"),
                last_sent=known,
                at_once=websocket.scope.get("extensions", {}).get(AT_ONCE),
            )
            await connection.serve(missed)
    except SalonError as error:
        if websocket.application_state is WebSocketState.CONNECTING:
            await refuse(websocket.scope, websocket.send, error)
        else:
            raise
