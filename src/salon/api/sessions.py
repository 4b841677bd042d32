"""Sessions over HTTP: take a turn, look back, export, delete."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from salon.api import examples
from salon.api.service import TakenTurn
from salon.api.shapes import Responses, Shape, responses
from salon.api.streaming import EventStream, Hear, streams, wants_events
from salon.api.talking import Talking
from salon.conversation.turns import Turn, as_session_id
from salon.core.ids import SessionId as Session
from salon.parts.companion import is_command
from salon.steps.wire_shapes import LONGEST_CONTENT, LONGEST_ID, ReplyDelta, as_json

MOST_TURNS = 500


class NewSession(Shape):
    """A session that nobody has used."""

    session_id: str


class Message(Shape):
    """What a person says; a content that starts with `/` is a command and no turn."""

    content: str = Field(min_length=1, max_length=LONGEST_CONTENT, examples=["Hello!"])
    user_id: str = Field(min_length=1, max_length=LONGEST_ID, examples=["user_123"])
    avatar: str | None = Field(
        default=None,
        description="Who replies; by default whoever replied before, else the companion.",
    )


class Answer(Shape):
    """The reply, and every event that a WebSocket would have sent for it."""

    session_id: str
    turn: int
    bot_id: str
    content: str
    ai_label: str
    command: str | None = None
    events: list[dict[str, Any]]


class TurnShown(Shape):
    """One message and the reply to it."""

    turn: int
    user_id: str
    message: str
    bot_id: str
    content: str
    ai_label: str
    at: str
    reply: dict[str, Any] = Field(
        description="What else a reply says, where it does: citations, claims, outcome, confidence"
    )


class SessionShown(Shape):
    """The latest turns of a session, the first one first."""

    session_id: str
    turn_count: int
    turns: list[TurnShown]


class Deleted(Shape):
    """What was deleted."""

    session_id: str
    deleted: bool


SessionId = Annotated[str, Path(description="The id of a session.", examples=[examples.SESSION])]


def session_routes(talking: Talking) -> APIRouter:
    """Return the routes under `/api/sessions` that take turns, and those that end a session."""
    routes = APIRouter(prefix="/api/sessions", tags=["sessions"])
    _talking(routes, talking)
    _ending(routes, talking)
    return routes


def _talking(routes: APIRouter, talking: Talking) -> None:
    service = talking.service

    @routes.post("", status_code=201, responses=responses())
    async def make_session() -> NewSession:
        """Return the id of a session that nobody has used; it exists with its first turn."""
        return NewSession(session_id=service.new_session())

    said: Responses = responses(404, 409, 413, 503, 504) | streams("The turn, in parts if asked.")

    @routes.post("/{session_id}/messages", response_model=Answer, responses=said)
    async def say(request: Request, session_id: SessionId, message: Message) -> Response | Answer:
        """Take one turn, or run a command.

        With `Accept: text/event-stream` verified parts of the reply come as `reply_delta` while it
        is written, then `reply` with the whole, or `error`.
        """
        name = as_session_id(session_id)

        async def answer(hear: Hear | None) -> Answer:
            if is_command(message.content):
                return await _command(talking, name, message)
            taken = await talking.say(
                name,
                message.content,
                user=message.user_id,
                avatar=message.avatar,
                hear=None if hear is None else _parts(hear),
            )
            return answer_of(name, taken)

        return EventStream(answer) if wants_events(request) else await answer(None)


def _parts(hear: Hear) -> Any:
    def heard(part: ReplyDelta) -> None:
        hear("reply_delta", {"text": part.content})

    return heard


def answer_of(session: Session, taken: TakenTurn) -> Answer:
    """Shape a turn that was taken."""
    return Answer(
        session_id=session,
        turn=taken.turn.number,
        bot_id=taken.turn.replier,
        content=taken.reply,
        ai_label=taken.ai_label,
        events=[as_json(event) for event in taken.events],
    )


def _ending(routes: APIRouter, talking: Talking) -> None:
    service = talking.service

    @routes.get("/{session_id}", responses=responses(404))
    async def look_back(
        session_id: SessionId,
        limit: Annotated[int, Query(ge=1, le=MOST_TURNS)] = 100,
        before: Annotated[
            int | None, Query(ge=1, le=2**62, description="Only turns before this.")
        ] = None,
    ) -> SessionShown:
        """Return the turns of a session."""
        name = as_session_id(session_id)
        turns = await talking.look(lambda: service.session_turns(name))
        wanted = [one for one in turns if before is None or one.number < before]
        return SessionShown(
            session_id=name,
            turn_count=len(turns),
            turns=[_turn(one) for one in wanted[-limit:]],
        )

    @routes.delete("/{session_id}", responses=responses(404, 503))
    async def delete(session_id: SessionId) -> Deleted:
        """Delete a session: its turns, and the memories that only they support."""
        name = as_session_id(session_id)
        await talking.look(lambda: service.session_turns(name))  # or there is nothing to delete
        await talking.forget(name)
        return Deleted(session_id=name, deleted=True)

    file: Responses = {
        200: {
            "content": {"application/json": {"schema": {"type": "object"}}},
            "description": "A file that `salon companion import` takes in again.",
        }
    }

    @routes.get("/{session_id}/export", responses=responses(404) | file, response_class=Response)
    async def export(session_id: SessionId) -> Response:
        """Return everything about the session's user in one file, which can be imported again."""
        name = as_session_id(session_id)
        turns = await talking.look(lambda: service.session_turns(name))
        user = turns[-1].user or turns[-1].speaker
        made = await talking.look(lambda: service.export_user(user))
        return Response(
            made.content,
            media_type="application/json",
            headers={"content-disposition": f'attachment; filename="{made.filename}"'},
        )


async def _command(talking: Talking, session: Session, message: Message) -> Answer:
    answer = await talking.command(message.content, session=session, user=message.user_id)
    return Answer(
        session_id=session,
        turn=answer.turn,
        bot_id=answer.bot_id,
        content=answer.text,
        ai_label=answer.ai_label,
        command=answer.command,
        events=[],
    )


_OF_A_REPLY = (
    "citations",
    "claims",
    "outcome",
    "confidence",
    "suggestion",
    "redirect",
    "is_crisis",
)


def _turn(turn: Turn) -> TurnShown:
    more = {name: turn.reply[name] for name in _OF_A_REPLY if turn.reply.get(name) is not None}
    return TurnShown(
        turn=turn.number,
        user_id=turn.user or turn.speaker,
        message=turn.message,
        bot_id=turn.replier,
        # An assistant's text is the reply with the offer that follows it.
        content=str(turn.reply.get("text") or turn.reply.get("response", "")),
        ai_label=str(turn.reply.get("ai_label", "AI")),
        at=turn.at,
        reply=more,
    )
