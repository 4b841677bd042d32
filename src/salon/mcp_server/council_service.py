"""What the council's server needs of the app: who holds a token, and what a seat can do."""

from collections.abc import Callable
from typing import Protocol

from salon.core.archive import Archive
from salon.council.seats import Seat
from salon.parts.council_skills import SeatSkills


class CouncilService(Protocol):
    """The part of the app that seats outside clients."""

    @property
    def archive(self) -> Archive:
        """Return the archive."""
        ...

    def seat_of_token(self, token: str) -> Seat | None:
        """Return the seat that a token stands for."""
        ...

    def seat_skills(self, seat: Seat, *, still_wanted: Callable[[], bool] = ...) -> SeatSkills:
        """Return what a seat can do; nothing is written once `still_wanted` says no."""
        ...
