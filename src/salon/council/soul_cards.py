"""How souls and the state of their evolution are written down: handles, cards, notes.

The five souls of a new archive come with the package, in `base_souls`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from pydantic import TypeAdapter

from salon.core.archive import ArchiveTransaction
from salon.core.events import CouncilMoved
from salon.core.records import RecordKind
from salon.council.seats import Seat
from salon.council.souls import Evolution, as_soul_text

EVOLUTION = "council/evolution"
ACTIVE = "souls/active/"
GRAVEYARD = "souls/graveyard/"
_BASE = "base_souls"

EVOLUTION_CARD = RecordKind(
    kind="salon.evolution",
    version=1,
    called="the evolution of a council",
    check=TypeAdapter(Evolution).validate_python,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized:
    """What came of a submitted soul: where it is or will be, and whether it was born with it."""

    new_soul_path: str
    status: Literal["born", "awaiting_survivors"]


def base_soul(seat: Seat) -> str:
    """Return the soul that a seat has in a new archive."""
    found = files("salon.council").joinpath(_BASE, f"{seat}.md").read_text(encoding="utf-8")
    return as_soul_text(found)


def adding(text: str) -> Callable[[ArchiveTransaction], None]:
    """Return what stores a text within a transaction."""

    def add(tx: ArchiveTransaction) -> None:
        tx.add(text.encode())

    return add


def note_of(state: Evolution, act: str, seat: str, *, rule: str) -> CouncilMoved:
    """Return the audit note of a move; `rule` is why, or what was said."""
    return CouncilMoved(
        round=state.review,
        act=act,
        seat=seat,
        phase=state.stage.value,
        rule=rule,
    )
