"""What the app does for those who ask from a chat platform."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from salon.conversation.discussion import Discussion
from salon.conversation.turns import Turn
from salon.experts.profile import Profile
from salon.experts.replies import Reply, SpeakDecision

if TYPE_CHECKING:
    from salon.archive.deliveries import Deliveries


class AvatarService(Protocol):
    """What every platform needs: who there is, what they answer, and what was answered."""

    @property
    def deliveries(self) -> "Deliveries":
        """The events that avatars answer, each of them once."""
        ...

    def profile(self, avatar: str) -> Profile:
        """Return the profile of an avatar, or raise `AvatarNotFound`."""
        ...

    def respond(
        self,
        avatar: str,
        question: str,
        *,
        discussion: Discussion = ...,
        session: str | None = ...,
        speaker: str = ...,
    ) -> Reply:
        """Return a grounded answer or an honest outcome."""
        ...


class RoomService(AvatarService, Protocol):
    """What a chat room needs, where an avatar may speak without being called on."""

    def should_speak(
        self, avatar: str, discussion: Discussion, *, others: Sequence[str] = ...
    ) -> SpeakDecision:
        """Decide whether an avatar speaks now."""
        ...


class ConsultedService(AvatarService, Protocol):
    """What a structured session needs, where avatars are consulted."""

    def session_turns(self, session: str) -> tuple[Turn, ...]:
        """Return the turns of a session, the first one first, or raise `NotFound`."""
        ...
