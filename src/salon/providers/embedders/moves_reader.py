"""The moves reader: MiniLM that was taught what an assistant does next.

It reads what was said before (the person's last message and the assistant's reply) together with
what the person says now, and gives the chances to act, answer, ask or refuse. It decides nothing:
the gate's rules do, and what this says can only withhold or suggest within them.
"""

import math
from pathlib import Path

from salon.core.closing import Closable
from salon.gate.features import Moment
from salon.gate.verdicts import Side
from salon.providers.embedders.minilm_files import MiniLmFiles, find_minilm_files
from salon.providers.embedders.pair_model import BETWEEN, FIRST, WEIGHTS, PairModel

ADAPTER = WEIGHTS / "moves.npz"
HEADS = WEIGHTS / "moves_heads.npz"
LABELS = ("ACT", "ANSWER", "ASK", "REFUSE")
_LONGEST_BEFORE, _LONGEST_NOW, _LONGEST_EARLIER = 64, 64, 24


class MovesReader(Closable):
    """Reads a moment of a conversation. May be used by many threads at once."""

    def __init__(self, files: MiniLmFiles, *, adapter: Path = ADAPTER, heads: Path = HEADS) -> None:
        self._model = PairModel(files, adapter=adapter, heads=heads, shapes={"moves": len(LABELS)})

    def chances(self, moment: Moment) -> dict[str, float]:
        """Return how probable each move of the assistant is."""
        model = self._model
        earlier, reply, now = _parts(moment)
        before: list[int] = []
        if reply:
            before = [*model.tokens(earlier)[:_LONGEST_EARLIER], BETWEEN, *model.tokens(reply)]
        first = [FIRST, *before[-_LONGEST_BEFORE:], BETWEEN]
        ids = [*first, *model.tokens(now)[:_LONGEST_NOW], BETWEEN]
        state = model.states(ids, second=len(first)).sum(axis=0)
        length = math.sqrt(float((state * state).sum())) or 1.0
        odds = model.head("moves", state / length)
        top = max(odds)
        weights = [math.exp(one - top) for one in odds]
        return {
            label: round(weight / sum(weights), 6)
            for label, weight in zip(LABELS, weights, strict=True)
        }

    def close(self) -> None:
        """There is nothing to let go of but memory."""


def open_moves_reader() -> MovesReader:
    """Return the reader that comes with Salon."""
    return MovesReader(find_minilm_files())


def _parts(moment: Moment) -> tuple[str, str, str]:
    """Return the person's message before, the assistant's reply to it, and the message now."""
    person = [one.text for one in moment.history if one.side is Side.PERSON]
    earlier = person[-2] if len(person) > 1 else ""
    return earlier, moment.before, person[-1] if person else ""
