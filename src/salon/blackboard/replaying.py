"""Comparing a recorded turn with the same turn run again: equal to the byte, or where not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from salon.blackboard.board import Board
from salon.blackboard.running import was_the_machine
from salon.conversation.turns import Turn, turn_to_json
from salon.core.absent import Absent
from salon.core.canonical import canonical_json

Way: TypeAlias = Literal["run", "checked", "not_compared"]
"""Run again and compared byte for byte; checked against the archive again; or neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """How one turn came out: `differs` names the first place that is not the same, if any."""

    session: str
    number: int
    is_same: bool | None
    """`None` where nothing was compared; `differs` then says why."""
    way: Way = "run"
    differs: str | None = None
    recorded: str | None = None
    """What the record has there, as JSON, shortened."""
    replayed: str | None = None

    @property
    def outcome(self) -> str:
        """Return how it came out, in a word or two."""
        match self.way:
            case "run":
                return "same" if self.is_same else f"differs in {self.differs}"
            case "checked":
                return "its proof holds" if self.is_same else f"does not hold ({self.differs})"
        return f"not compared: {self.differs}"


_LONGEST = 200


def settled_by_the_machine(turn: Turn) -> dict[str, Absent]:
    """Return the slots that are empty because a step hung: that cannot be done again."""
    found: dict[str, Absent] = {}
    for slot, held in (turn.board or {}).items():
        reason = held.get("absent")
        if isinstance(reason, str) and was_the_machine(reason):
            found[slot] = Absent(reason)
    return found


def compare(
    turn: Turn, board: Board, *, reply: dict[str, object], order: Sequence[str]
) -> Replayed:
    """Hold a turn that ran again against its record; `order` is that of the slots."""
    again = replace(turn, board=board.record(), reply=reply)
    if turn_to_json(again) == turn_to_json(turn):
        return Replayed(session=turn.session, number=turn.number, is_same=True)
    recorded, replayed = turn.board or {}, again.board or {}
    pairs: dict[str, tuple[object, object]] = {
        f"slot {slot}": (recorded.get(slot), replayed.get(slot))
        for slot in (*order, *sorted(set(recorded) - set(order)))
    }
    pairs["reply"] = turn.reply, reply
    name = next(name for name, (before, now) in pairs.items() if not _is_same(before, now))
    return Replayed(
        session=turn.session,
        number=turn.number,
        is_same=False,
        differs=name,
        recorded=_shown(pairs[name][0]),
        replayed=_shown(pairs[name][1]),
    )


def _is_same(before: object, now: object) -> bool:
    return canonical_json(before) == canonical_json(now)


def _shown(value: object) -> str:
    text = canonical_json(value).decode()
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
