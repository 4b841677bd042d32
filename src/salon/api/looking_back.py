"""Looking at sessions over HTTP: which there are, what was read in each turn, and the replay."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from salon.api.service import ConversationService
from salon.api.sessions import SessionId
from salon.api.shapes import Shape, responses
from salon.api.talking import Talking
from salon.blackboard.replaying import Replayed
from salon.conversation.turns import as_session_id

MOST_SESSIONS = 1_000


class SessionListed(Shape):
    """A session: with whom it is held, how far it is, when it went on last."""

    session_id: str
    avatar: str
    preset: str = Field(description="expert, companion or assistant")
    user_id: str
    turn_count: int
    began_at: str
    last_at: str
    last_message: str


class Sessions(Shape):
    """The sessions that went on last, the latest one first."""

    sessions: list[SessionListed]


class TurnRead(Shape):
    """What the board held after one turn, by slot; what is not known is `{"absent": why}`."""

    turn: int
    at: str
    slots: dict[str, Any]


class Readings(Shape):
    """What was read of every turn, the first one first."""

    session_id: str
    turns: list[TurnRead]
    labels: dict[str, list[str]] = Field(description="All labels that each feature may have")


class ReplayedTurn(Shape):
    """Whether a turn that ran again is byte for byte what was recorded, or where it is not."""

    turn: int
    identical: bool
    why: str | None = Field(description="The first place that is not the same, if any")
    recorded: str | None
    replayed: str | None


class CheckedTurn(Shape):
    """Whether the proof of a turn that cannot be run again still holds against the archive."""

    turn: int
    holds: bool
    why: str | None = Field(description="The first claim or citation that does not hold, if any")


class TurnNotCompared(Shape):
    """A turn whose record has nothing that could be compared."""

    turn: int
    why: str


class Replay(Shape):
    """The turns of a session: a companion's run again, those of others checked again."""

    session_id: str
    turns: list[ReplayedTurn] = Field(description="Run again and compared byte for byte")
    checked: list[CheckedTurn] = Field(
        description="Not run again: citations and claims checked against the archive once more"
    )
    not_compared: list[TurnNotCompared]
    identical: bool | None = Field(
        description="Whether every turn that was run again is the same; null where none was run"
    )
    holds: bool | None = Field(
        description="Whether every turn that was checked holds; null where none was checked"
    )


def looking_back_routes(talking: Talking, service: ConversationService) -> APIRouter:
    """Return the routes that look at sessions and change none."""
    routes = APIRouter(prefix="/api/sessions", tags=["sessions"])

    @routes.get("", responses=responses())
    async def list_sessions(
        limit: Annotated[int, Query(ge=1, le=MOST_SESSIONS)] = 100,
        preset: Annotated[Literal["expert", "companion", "assistant"] | None, Query()] = None,
    ) -> Sessions:
        """List the sessions of this home, all or those of one kind."""
        found = await talking.look(partial(service.session_list, limit=limit, preset=preset))
        return Sessions(
            sessions=[
                SessionListed(
                    session_id=one.session,
                    avatar=one.avatar,
                    preset=one.preset,
                    user_id=one.user,
                    turn_count=one.turns,
                    began_at=one.began_at,
                    last_at=one.last_at,
                    last_message=one.last_message,
                )
                for one in found
            ]
        )

    @routes.get("/{session_id}/readings", responses=responses(404))
    async def readings(
        session_id: SessionId,
        after: Annotated[int, Query(ge=0, le=2**62, description="Only turns after this.")] = 0,
    ) -> Readings:
        """Return what was read of every turn: emotion, features, relationship and the rest."""
        name = as_session_id(session_id)
        found = await talking.look(partial(service.session_readings, name, after=after))
        turns = [TurnRead(turn=one.turn, at=one.at, slots=dict(one.slots)) for one in found]
        labels = {feature: list(those) for feature, those in service.feature_labels().items()}
        return Readings(session_id=name, turns=turns, labels=labels)

    @routes.post("/{session_id}/replay", responses=responses(404, 503))
    async def replay(session_id: SessionId) -> Replay:
        """Run every companion's turn of a session again and check those of others again."""
        name = as_session_id(session_id)

        def run() -> Replay:
            service.session_turns(name)  # or there is nothing to replay
            return _shown(name, list(service.replay_session(name)))

        return await talking.look_long(run)

    return routes


def _shown(session: str, found: list[Replayed]) -> Replay:
    turns = [
        ReplayedTurn(
            turn=one.number,
            identical=bool(one.is_same),
            why=None if one.is_same else one.outcome,
            recorded=one.recorded,
            replayed=one.replayed,
        )
        for one in found
        if one.way == "run"
    ]
    checked = [
        CheckedTurn(turn=one.number, holds=bool(one.is_same), why=one.differs)
        for one in found
        if one.way == "checked"
    ]
    return Replay(
        session_id=session,
        turns=turns,
        checked=checked,
        not_compared=[
            TurnNotCompared(turn=one.number, why=one.differs or "")
            for one in found
            if one.way == "not_compared"
        ],
        # Nothing is not the same as anything: all() of none would be true.
        identical=all(one.identical for one in turns) if turns else None,
        holds=all(one.holds for one in checked) if checked else None,
    )
