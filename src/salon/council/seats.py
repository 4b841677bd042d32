"""The five seats of the council, and what each looks after."""

from dataclasses import dataclass
from enum import StrEnum

from salon.core.errors import NotAllowed


class Seat(StrEnum):
    """A seat by its numeral, which is also its name on every surface."""

    CHAIR = "I"
    MINER = "II"
    AUDITOR = "III"
    PROFESSOR = "IV"
    VIZIER = "V"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a seat is called and what it looks after."""

    title: str
    virtue: str
    about: str


CHARGES: dict[Seat, Charge] = {
    Seat.CHAIR: Charge(
        title="Chair",
        virtue="structure",
        about="The plan of the whole: what comes first, what belongs together, what is missing.",
    ),
    Seat.MINER: Charge(
        title="Miner",
        virtue="precision",
        about="The exact fact: numbers, names and dates, each from the passage that has it.",
    ),
    Seat.AUDITOR: Charge(
        title="Auditor",
        virtue="compliance",
        about="What is proven: nothing without a source, nothing from a doubtful one.",
    ),
    Seat.PROFESSOR: Charge(
        title="Professor",
        virtue="nuance",
        about="The reader: plain words, conditions and objections, one idea after the other.",
    ),
    Seat.VIZIER: Charge(
        title="Vizier",
        virtue="synthesis",
        about="What nobody put side by side yet: links between distant sources.",
    ),
}


def require_seat(value: str) -> Seat:
    """Return the seat of this name, or raise `NotAllowed`: whoever has no seat may do nothing."""
    try:
        return Seat(value)
    except ValueError as error:
        raise NotAllowed(
            f"{str(value)[:40]!r} is not a seat of the council",
            hint=f"the seats are {', '.join(Seat)}",
        ) from error
