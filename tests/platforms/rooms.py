"""A valley whose people can be asked in chat rooms, and the floor on which they are."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from salon.app import Salon
from salon.conversation.discussion import Discussion
from salon.experts.replies import Reply, SpeakDecision
from salon.platforms.asking import Roster
from salon.platforms.floor import Floor
from salon.platforms.options import Room
from salon.settings import Settings
from tests.experts.valley import ADAS, OLES, profile_of, settle

ADA, OLE = "ada-berg", "ole-holm"
GARDEN_QUESTION = "How many members does the garden have?"
GARDEN_ANSWER = "thirty members"
UNKNOWN_QUESTION = "What does the garden say about the price of violins?"
WIDE = Room(per_minute=6_000.0, burst=1_000)


@contextmanager
def open_rooms(home: Path) -> Iterator[Salon]:
    """Open a Salon in which Ada speaks where she has something, and Ole only when asked."""
    with Salon(Settings.model_validate({"home": home, "actor": "test"})) as salon:
        settle(salon, profile_of(ADA, "Ada Berg"), *ADAS)
        settle(salon, profile_of(OLE, "Ole Holm", voice="student", speaking="mentioned"), *OLES)
        salon.index()
        yield salon


def floor_of(
    salon: Salon,
    room: Room = WIDE,
    avatars: tuple[str, ...] = (ADA, OLE),
    now: Callable[[], float] = time.monotonic,
) -> Floor:
    """Return a floor with these avatars."""
    profiles = [salon.profile(one) for one in avatars]
    roster = Roster(profiles, channels=room.channels, default=room.default_avatar)
    return Floor(salon, roster, room, now)


class SlowService:
    """The real app behind a door that the test opens, and a note of what it was given."""

    def __init__(self, salon: Salon) -> None:
        self._salon = salon
        self.profile = salon.profile
        self.deliveries = salon.deliveries
        self.discussions: list[Discussion] = []
        self.is_open = asyncio.Event()
        self.has_begun = asyncio.Event()
        self.loop = asyncio.get_running_loop()

    def respond(self, avatar: str, question: str, **given: Any) -> Reply:
        self.discussions.append(given["discussion"])
        self.loop.call_soon_threadsafe(self.has_begun.set)
        asyncio.run_coroutine_threadsafe(self.is_open.wait(), self.loop).result()
        return self._salon.respond(avatar, question, **given)

    def should_speak(self, avatar: str, discussion: Discussion, **more: Any) -> SpeakDecision:
        return self._salon.should_speak(avatar, discussion, **more)
