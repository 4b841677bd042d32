"""Looking back at sessions: which there are, what was said, and what was read of every turn.

Each capability is one function; nothing here takes a turn or changes anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from salon.conversation.turns import Turn, as_session_id, read_turn, session_handle, walk_turns
from salon.core.errors import NotFound
from salon.core.ids import SessionId
from salon.parts.measuring import MeasuringPart

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive

EXPERT = "expert"
"""The preset of turns that an expert answered on its own; their records leave it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A session as a list shows it: with whom it is held, how far it is, when it went on last."""

    session: SessionId
    avatar: str
    preset: str
    user: str
    turns: int
    began_at: str
    last_at: str
    last_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReadings:
    """What the board held after one turn; what nobody could tell says why, `{"absent": …}`."""

    turn: int
    at: str
    slots: Mapping[str, object]


class SessionsPart(MeasuringPart):
    """What the application can tell about the sessions of its home."""

    if TYPE_CHECKING:

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

    def session_list(self, *, limit: int = 100, preset: str | None = None) -> list[SessionInfo]:
        """Return the sessions that went on last, the latest one first; all, or of one preset."""
        prefix = session_handle(SessionId(""))
        handles = sorted(
            self.archive.handles(prefix=prefix), key=lambda one: one.updated_at, reverse=True
        )
        found: list[SessionInfo] = []
        for handle in handles:
            if len(found) == limit:
                break
            last = read_turn(self.archive, handle.current)
            held = last.preset or EXPERT
            if preset in {None, held}:
                found.append(
                    SessionInfo(
                        session=last.session,
                        avatar=last.replier,
                        preset=held,
                        user=last.user or last.speaker,
                        turns=last.number,
                        began_at=handle.created_at,
                        last_at=last.at,
                        last_message=last.message,
                    )
                )
        return found

    def session_turns(self, session: str) -> tuple[Turn, ...]:
        """Return the turns of a session, the first one first, or raise `NotFound`."""
        turns = tuple(walk_turns(self.archive, as_session_id(session)))[::-1]
        if not turns:
            raise NotFound(f"there is no session {session}", hint="it exists with its first turn")
        return turns

    def session_readings(self, session: str, *, after: int = 0) -> list[TurnReadings]:
        """Return what the board held in each turn after one, in order, or raise `NotFound`."""
        return [
            TurnReadings(
                turn=turn.number,
                at=turn.at,
                slots={name: _held(one) for name, one in (turn.board or {}).items()},
            )
            for turn in self.session_turns(session)
            if turn.number > after
        ]

    def feature_labels(self) -> dict[str, tuple[str, ...]]:
        """Return all labels that each feature of a person may have, by feature."""
        from salon.steps.feature_list import FEATURE_LIST

        return {one.name: one.labels for one in FEATURE_LIST if one.labels}


def _held(recorded: Mapping[str, object]) -> object:
    return recorded["value"] if "value" in recorded else dict(recorded)
