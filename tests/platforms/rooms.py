"""A valley whose people can be asked in chat rooms, and the floor on which they are."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from salon.app import Salon
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


def floor_of(salon: Salon, room: Room = WIDE, avatars: tuple[str, ...] = (ADA, OLE)) -> Floor:
    """Return a floor with these avatars."""
    profiles = [salon.profile(one) for one in avatars]
    roster = Roster(profiles, channels=room.channels, default=room.default_avatar)
    return Floor(salon, roster, room)
