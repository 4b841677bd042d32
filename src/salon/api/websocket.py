"""`/ws/{session_id}`: a conversation over a WebSocket, and what happens to clients that misbehave.

Three tasks serve a connection: one reads frames, one takes turns, one sends. A client that is slow,
vanished or hostile therefore keeps nobody waiting but itself.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from salon.api.access import SUBPROTOCOL, refuse
from salon.api.errors import TOO_MANY_MALFORMED, TOO_SLOW, internal
from salon.api.live import Listener
from salon.api.mailbox import Mailbox
from salon.api.talking import Talking
from salon.conversation.turns import as_session_id
from salon.core.errors import Conflict, InvalidInput, LimitReached, SalonError
from salon.parts.companion import is_command
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
    user: str | None = None
    malformed: int = 0

    async def serve(self, missed: tuple[WireEvent, ...]) -> None:
        """Serve until the client leaves or must."""
        messages: Mailbox[ClientMessage] = Mailbox(self.talking.limits.incoming)
        with self.listener.scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._send_events, missed)
                tasks.start_soon(self._take_turns, messages)
                if await self._read(messages):
                    tasks.cancel_scope.cancel()
        await self._close()

    async def _read(self, messages: Mailbox[ClientMessage]) -> bool:
        """Read frames until the client leaves; false where it must go once it has its errors."""
        for number in count(1):
            frame = await self.websocket.receive()
            if frame["type"] == "websocket.disconnect":
                return True
            try:
                if not messages.put(self._understand(frame)):
                    self._complain(_wait_for_your_turn())
            except SalonError as error:
                self._complain(error)
                self.malformed += 1
                if self.malformed >= self.talking.limits.malformed:
                    self.listener.finish(TOO_MANY_MALFORMED)
                    messages.close()
                    return False
            if number % _FRAMES_AT_ONCE == 0:
                # Many frames may lie ready; between some of them everybody else has a go.
                await asyncio.sleep(0)
        raise AssertionError  # there is always another frame

    def _understand(self, frame: MutableMapping[str, Any]) -> ClientMessage:
        text = frame.get("text")
        if text is None:
            raise InvalidInput("this is a binary frame", hint="send JSON as text")
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

    async def _take_turns(self, messages: Mailbox[ClientMessage]) -> None:
        while (message := await messages.get()) is not None:
            try:
                await ANSWERS[type(message)](self, message)
            except SalonError as error:
                self._complain(error)
            except Exception:  # the top of this edge: logged, told, and the connection lives on
                log.exception("defect in a turn")
                self.listener.offer(self._error(internal()))

    async def say(self, message: ClientMessage) -> None:
        """Take a turn, or run the command that a message is."""
        assert isinstance(message, UserMessage)
        if is_command(message.content):
            await self._answer(message.content, message.user_id)
            return
        await self.talking.say(
            self.session, message.content, user=message.user_id, avatar=self.avatar
        )

    async def run(self, message: ClientMessage) -> None:
        """Run a command."""
        assert isinstance(message, CommandMessage)
        await self._answer(message.name, message.user_id)

    async def _answer(self, name: str, user: str) -> None:
        answer = await self.talking.command(name, session=self.session, user=user)
        self.listener.offer(
            BotResponse(
                event_id=self.last_sent,
                content=answer.text,
                bot_id=answer.bot_id,
                turn=answer.turn,
                ai_label=answer.ai_label,
                command=answer.command,
                filename=answer.filename,
            )
        )

    def _complain(self, error: SalonError) -> None:
        self.listener.offer(self._error(error.as_json()))

    def _error(self, body: dict[str, object]) -> ErrorEvent:
        return ErrorEvent(event_id=self.last_sent, error=ErrorData.model_validate(body["error"]))

    async def _send_events(self, missed: tuple[WireEvent, ...]) -> None:
        for one in missed:
            await self._send(one)
        while (event := await self.listener.events.get()) is not None:
            await self._send(event)

    async def _send(self, event: WireEvent) -> None:
        if _is_kept(event):
            # Somebody may have taken a turn while the missed events were looked up.
            if event.event_id <= self.last_sent:
                return
            self.last_sent = event.event_id
        elif event.event_id < self.last_sent:
            event = event.model_copy(update={"event_id": self.last_sent})
        patience = asyncio.get_running_loop().call_later(
            self.talking.limits.send_s, self.listener.end, TOO_SLOW
        )
        try:
            await self.websocket.send_text(as_text(event))
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


Answer = Callable[[Connection, ClientMessage], Awaitable[None]]
ANSWERS: dict[type[ClientMessage], Answer] = {
    UserMessage: Connection.say,
    CommandMessage: Connection.run,
}
"""What is done with each kind of message."""


def _wait_for_your_turn() -> LimitReached:
    return LimitReached("earlier messages wait for their turn", hint="wait for a reply")


def _is_kept(event: WireEvent) -> bool:
    """Tell whether an event can be made again from a turn's record."""
    is_answer = isinstance(event, BotResponse) and event.command is not None
    return event.type not in {"error", "reply_delta"} and not is_answer


async def converse(
    websocket: WebSocket, talking: Talking, session: str, last_event_id: int | None
) -> None:
    """Hold one connection, from the handshake to its end."""
    try:
        name = as_session_id(session)
        with talking.live.listening(name) as listener:
            # Listening begins before the look at what was missed, so nothing falls between.
            known, missed = (
                (0, ()) if last_event_id is None else await talking.missed(name, last_event_id)
            )
            offered = websocket.scope.get("subprotocols", ())
            await websocket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
            connection = Connection(
                websocket=websocket,
                session=name,
                talking=talking,
                listener=listener,
                avatar=websocket.query_params.get("avatar"),
                last_sent=known,
            )
            await connection.serve(missed)
    except SalonError as error:
        if websocket.application_state is WebSocketState.CONNECTING:
            await refuse(websocket.scope, websocket.send, error)
        else:
            raise
