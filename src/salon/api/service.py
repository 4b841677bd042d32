"""What the front door needs of the app: one function for each route."""

from typing import Protocol

from salon.conversation.turns import Turn
from salon.conversation.user_export import UserExport
from salon.parts.companion import CommandAnswer
from salon.steps.wire_shapes import WireEvent


class TakenTurn(Protocol):
    """A turn that was taken and recorded."""

    @property
    def turn(self) -> Turn:
        """Return its record."""

    @property
    def reply(self) -> str:
        """Return what the avatar says."""

    @property
    def ai_label(self) -> str:
        """Return what says that an AI wrote it."""

    @property
    def events(self) -> tuple[WireEvent, ...]:
        """Return what is told to whoever listens."""


class ConversationService(Protocol):
    """The part of the app that holds conversations."""

    def take_turn(
        self, session: str, message: str, *, user: str, avatar: str | None = None
    ) -> TakenTurn:
        """Take one turn of a session, with whichever avatar it is held."""
        ...

    def run_command(self, name: str, *, session: str, user: str) -> CommandAnswer:
        """Answer a command; it is no turn."""
        ...

    def events_after(self, session: str, event_id: int) -> tuple[WireEvent, ...]:
        """Return the events of a session that come after one, from the turns' records."""
        ...

    def latest_event_id(self, session: str) -> int:
        """Return the id of the latest event of a session, 0 where there is none."""
        ...

    def session_turns(self, session: str) -> tuple[Turn, ...]:
        """Return the turns of a session, the first one first, or raise `NotFound`."""
        ...

    def forget_session(self, session: str) -> int:
        """Delete a session and all that only exists because of it."""
        ...

    def export_user(self, user: str) -> UserExport:
        """Return everything about a user, in one file."""
        ...

    def new_session(self) -> str:
        """Return the id of a session that nobody has used."""
        ...

    def readiness(self) -> dict[str, str]:
        """Return what turns stand on, each with `ok` or what is wrong with it."""
        ...
