"""Writing a round: one act is one compare-and-set, with its artefacts and one audit note.

Whoever is overtaken reads again and decides again, a bounded number of times. So several processes
may act on one round at once, and a crash leaves the round as it was before the act or after it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.clock import Clock, instant
from salon.core.documents import Span
from salon.core.errors import Conflict, HandleMoved
from salon.core.events import CouncilMoved
from salon.core.hashing import CardHash
from salon.council.keeping import Kept, RoundCards, round_to_json
from salon.council.naming import round_handle
from salon.council.phases import SYSTEM
from salon.council.rounds import Round
from salon.council.seats import Seat

TRIES = 64
"""How often somebody who is overtaken tries again; five seats cannot overtake one so often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one act does: the round after it, what it leaves behind, and what the log says of it."""

    round: Round
    act: str
    artefact: CardHash | None = None
    """The card that the act is about; among `cards`, or there already."""
    cards: tuple[bytes, ...] = ()
    """What is stored; the round cites all of it, so that nothing of it can be deleted unnoticed."""
    handles: tuple[tuple[str, CardHash], ...] = ()
    rule: str = ""
    also: Callable[[ArchiveTransaction, Round], Round] = lambda _, round_: round_
    """What else happens in the same transaction, such as a publication."""


class RoundWriter:
    """Carries acts out on the rounds of one archive."""

    def __init__(self, archive: Archive, cards: RoundCards, clock: Clock) -> None:
        self._archive = archive
        self._cards = cards
        self._clock = clock

    def act(
        self, round_id: str, seat: Seat | None, decide: Callable[[Round], Change | None]
    ) -> Round:
        """Carry out what `decide` makes of the round as it stands; `None` leaves it alone.

        No seat: the system acts.
        """
        for _ in range(TRIES):
            kept = self._cards.get(round_id)
            change = decide(kept.round)
            if change is None:
                return kept.round
            try:
                return self.write(change, kept, seat)
            except HandleMoved:
                continue  # somebody acted meanwhile: what may be done now is decided anew
        raise Conflict(
            f"the round {round_id} moves faster than this act can be taken in",
            hint="try again; nothing was changed",
        )

    def write(self, change: Change, kept: Kept | None, seat: Seat | None) -> Round:
        """Write a change, if the round is still what it was; `None`: if there was none."""
        touched = replace(change.round, touched_at=instant(self._clock.now()))

        def work(tx: ArchiveTransaction) -> Round:
            added = tx.add_many(change.cards) if change.cards else []
            for handle, card in change.handles:
                tx.set_handle(handle, card)
            after = change.also(tx, touched)
            state = tx.add(round_to_json(after)).hash
            tx.set_handle(
                round_handle(after.id), state, expected_current=None if kept is None else kept.card
            )
            sizes = zip(added, change.cards, strict=True)
            tx.cite(state, [Span(hash=one.hash, start=0, end=len(all_)) for one, all_ in sizes])
            tx.note(
                CouncilMoved(
                    turn=state,
                    round=after.id,
                    act=change.act,
                    seat=SYSTEM if seat is None else seat.value,
                    phase=after.phase.value,
                    artefact=change.artefact,
                    rule=change.rule,
                )
            )
            return after

        return self._archive.write(work, by=actor_of(seat))


def actor_of(seat: Seat | None) -> str:
    """Return under which name an act stands in the audit log."""
    return SYSTEM if seat is None else f"seat {seat.value}"
