"""What became of a published chapter: it held, or it failed. Said by a person or a later check.

Kept behind `council/outcomes/ROUND`, where the latest word counts and earlier ones stay readable;
every word is one audit note. Outcomes are what seats' votes are weighed by (`weighing`).
"""

from dataclasses import asdict, dataclass, replace

from pydantic import TypeAdapter

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.clock import Clock, instant
from salon.core.errors import InvalidInput, NotAllowed
from salon.core.events import CouncilMoved
from salon.core.hashing import CardHash
from salon.core.records import RecordKind
from salon.council.keeping import RoundCards
from salon.council.naming import as_round_id
from salon.council.phases import SYSTEM

OUTCOMES = "council/outcomes/"
_LONGEST_NOTE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What somebody says became of a chapter."""

    round: str
    text: CardHash
    held: bool
    by: str
    at: str
    note: str = ""


_CARD = RecordKind(
    kind="salon.outcome",
    version=1,
    called="the outcome of a chapter",
    check=TypeAdapter(Outcome).validate_python,
)


class Outcomes:
    """The outcomes of one archive's chapters."""

    def __init__(self, archive: Archive, *, clock: Clock) -> None:
        self._archive = archive
        self._clock = clock
        self._rounds = RoundCards(archive)

    def record(self, round_id: str, *, held: bool, by: str, note: str = "") -> Outcome:
        """Keep what became of a round's chapter; a round without one is refused."""
        if not by.strip():
            raise InvalidInput("nobody says so", hint="name who found out, a person or a check")
        if len(note) > _LONGEST_NOTE:
            raise InvalidInput(f"a note has at most {_LONGEST_NOTE} characters")
        round_ = self._rounds.get(round_id).round
        if round_.published is None:
            raise NotAllowed(f"round {round_id} has published nothing that could hold or fail")
        outcome = Outcome(
            round=round_id,
            text=round_.published.text,
            held=held,
            by=by.strip(),
            at=instant(self._clock.now()),
            note=note,
        )
        noted = CouncilMoved(
            round=round_id,
            act="outcome",
            seat=SYSTEM,
            phase=round_.phase.value,
            rule="held" if held else "failed",
        )

        def work(tx: ArchiveTransaction) -> None:
            card = tx.add(_CARD.write(asdict(outcome))).hash
            tx.set_handle(OUTCOMES + round_id, card)
            tx.note(replace(noted, artefact=card))

        self._archive.write(work, by=outcome.by)
        return outcome

    def find(self, round_id: str) -> Outcome | None:
        """Return the latest word on a round's chapter."""
        handle = self._archive.find_handle(OUTCOMES + as_round_id(round_id))
        return None if handle is None else self._read(handle.current)

    def held(self, *, until: str | None = None) -> dict[str, bool]:
        """Return by round whether its chapter held, where somebody said so, by some time."""
        found = [self._read(one.current) for one in self._archive.handles(prefix=OUTCOMES)]
        return {one.round: one.held for one in found if until is None or one.at <= until}

    def _read(self, card: CardHash) -> Outcome:
        return _CARD.read(self._archive.get(card).content, name=f"card {card}")
