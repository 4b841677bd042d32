"""Sessions over HTTP: take a turn, look back, export, delete."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from salon.api.talking import Talking
from salon.conversation.turns import Turn, as_session_id
from salon.parts.companion import is_command
from salon.steps.wire_shapes import LONGEST_CONTENT, LONGEST_ID, as_json

MOST_TURNS = 500


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ErrorBody(_Shape):
    """What went wrong; the same on every surface."""

    code: str
    message: str
    hint: str | None
    details: dict[str, Any]


class ErrorAnswer(_Shape):
    """The one shape of an error."""

    error: ErrorBody


class NewSession(_Shape):
    """A session that nobody has used."""

    session_id: str


class Message(_Shape):
    """What a person says; a content that starts with `/` is a command and no turn."""

    content: str = Field(min_length=1, max_length=LONGEST_CONTENT, examples=["Hello!"])
    user_id: str = Field(min_length=1, max_length=LONGEST_ID, examples=["user_123"])
    avatar: str | None = Field(
        default=None,
        description="Who replies; by default whoever replied before, else the companion.",
    )


class Answer(_Shape):
    """The reply, and every event that a WebSocket would have sent for it."""

    session_id: str
    turn: int
    bot_id: str
    content: str
    ai_label: str
    command: str | None = None
    events: list[dict[str, Any]]


class TurnShown(_Shape):
    """One message and the reply to it."""

    turn: int
    user_id: str
    message: str
    bot_id: str
    content: str
    ai_label: str
    at: str


class SessionShown(_Shape):
    """The latest turns of a session, the first one first."""

    session_id: str
    turn_count: int
    turns: list[TurnShown]


class Deleted(_Shape):
    """What was deleted."""

    session_id: str
    deleted: bool


_SAID: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorAnswer, "description": "There is no such session or avatar."},
    409: {"model": ErrorAnswer, "description": "The state has moved on."},
    413: {"model": ErrorAnswer, "description": "Too large."},
    422: {"model": ErrorAnswer, "description": "The input is wrong."},
    429: {"model": ErrorAnswer, "description": "Too fast, or a limit is used up."},
    503: {"model": ErrorAnswer, "description": "Something outside Salon failed."},
}


def _responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: _SAID[status] for status in statuses}


def session_routes(talking: Talking) -> APIRouter:
    """Return the routes under `/api/sessions`."""
    routes = APIRouter(prefix="/api/sessions", tags=["sessions"])
    service = talking.service

    @routes.post("", status_code=201)
    async def make_session() -> NewSession:
        """Return the id of a session that nobody has used; it exists with its first turn."""
        return NewSession(session_id=service.new_session())

    @routes.post("/{session_id}/messages", responses=_responses(404, 409, 413, 422, 429, 503))
    async def say(session_id: str, message: Message) -> Answer:
        """Take one turn, or run a command."""
        name = as_session_id(session_id)
        if is_command(message.content):
            return await _command(talking, name, message)
        taken = await talking.say(
            name, message.content, user=message.user_id, avatar=message.avatar
        )
        return Answer(
            session_id=name,
            turn=taken.turn.number,
            bot_id=taken.turn.replier,
            content=taken.reply,
            ai_label=taken.ai_label,
            events=[as_json(event) for event in taken.events],
        )

    @routes.get("/{session_id}", responses=_responses(404, 422))
    async def look_back(
        session_id: str,
        limit: Annotated[int, Query(ge=1, le=MOST_TURNS)] = 100,
        before: Annotated[int | None, Query(ge=1, description="Only turns before this.")] = None,
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

    @routes.delete("/{session_id}", responses=_responses(404, 422, 503))
    async def delete(session_id: str) -> Deleted:
        """Delete a session: its turns, and the memories that only they support."""
        name = as_session_id(session_id)
        await talking.look(lambda: service.session_turns(name))  # or there is nothing to delete
        await talking.forget(name)
        return Deleted(session_id=name, deleted=True)

    @routes.get("/{session_id}/export", responses=_responses(404, 422))
    async def export(session_id: str) -> Response:
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

    return routes


async def _command(talking: Talking, session: str, message: Message) -> Answer:
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


def _turn(turn: Turn) -> TurnShown:
    return TurnShown(
        turn=turn.number,
        user_id=turn.user or turn.speaker,
        message=turn.message,
        bot_id=turn.replier,
        content=str(turn.reply.get("response", "")),
        ai_label=str(turn.reply.get("ai_label", "AI")),
        at=turn.at,
    )
