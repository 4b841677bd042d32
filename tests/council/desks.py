"""A council over a small real archive, and seats that do as they are told."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from salon.archive.audit.signing import Signer
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.citations import Citation
from salon.core.clock import SteppingClock
from salon.core.documents import Document, Provenance
from salon.core.hashing import CardHash
from salon.core.ids import IdMaker, RandomIds
from salon.council.desk import CouncilDesk, Lineup
from salon.council.drafts import Section, Sentence, write_draft
from salon.council.rounds import Phase, Round, Scorecard
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.grounding.citing import Citations
from salon.grounding.support import load_judge
from salon.grounding.verifying import Verification

SENTENCES = (
    "The garden has thirty members who share one well.",
    "Each of them waters one bed every evening.",
    "Those who do not water lose their bed after two warnings.",
    "No member may hold more than two beds at once.",
    "The warden of the garden is chosen by lot in spring.",
    "What is left of the harvest is sold on the last market day.",
    "The well was dug in 1874 by the people of the valley.",
    "It was paid for with 12,000 crowns that they had saved together.",
)
GARDEN = " ".join(SENTENCES)
MADE = "The council thinks that thirty members are enough for one garden."
SIGNER = Signer(Ed25519PrivateKey.from_private_bytes(b"\x07" * 32))
GOOD = Scorecard(accuracy=9, depth=9, pedagogy=9)
FAIR = Scorecard(accuracy=7, depth=7, pedagogy=7)
TOPIC = "A garden and its well"
TOPIC_ID = "a-garden-and-its-well"
START = datetime(2026, 11, 15, 12, tzinfo=UTC)


def as_written(text: str) -> str:
    """Return a text as its seat wrote it: the checks add to each note whose words it quotes."""
    return re.sub(r"(?m)^(\[\^\d+\]: .*#\d+-\d+) \u2014 .*$", r"\1", text)


@dataclass(slots=True)
class Council:
    """A desk on an archive with one real document and one that Salon made."""

    archive: SqliteArchive
    rules: CouncilRules = field(default_factory=CouncilRules)
    ids: IdMaker = field(default_factory=RandomIds)
    lineup: Lineup = field(default_factory=Lineup)
    told: list[Round] = field(default_factory=list)
    garden: Document = field(init=False)
    made: Document = field(init=False)
    desk: CouncilDesk = field(init=False)

    def __post_init__(self) -> None:
        self.garden = self._document("Rules of the Garden", GARDEN)
        self.made = self._document("A Chapter", MADE, derived=True)
        self.desk = self.new_desk()

    def new_desk(self) -> CouncilDesk:
        """Return a desk as another process would have it."""
        verification = Verification(Citations(self.archive), lambda: load_judge(None))
        return CouncilDesk(
            self.archive,
            clock=SteppingClock(START),
            ids=self.ids,
            rules=self.rules,
            verification=lambda: verification,
            signer=lambda: SIGNER,
            lineup=lambda: self.lineup,
            on_no_quorum=self.told.append,
        )

    def cite(self, quote: str, document: Document | None = None) -> Citation:
        """Cite a quote of a document, the garden's rules unless told otherwise."""
        found = document or self.garden
        content = self.archive.get(found.text).content
        start = content.index(quote.encode())
        return Citations(self.archive).make(found, start, start + len(quote.encode()))

    def draft(self, seat: Seat = Seat.CHAIR, *, salt: int = 0) -> str:
        """Return a draft of a seat, which differs from those of the others."""
        first = (tuple(Seat).index(seat) + salt) % len(SENTENCES)
        chosen = [SENTENCES[(first + step) % len(SENTENCES)] for step in range(3)]
        cited = tuple(Sentence(text=one, citations=(self.cite(one),)) for one in chosen)
        heading = f"What the rules say, for {seat} and {salt}"
        section = Section(heading=heading, paragraphs=(cited,))
        return write_draft("A garden and its well", [section])

    # Whole phases

    def open(self, topic_id: str | None = None) -> Round:
        return self.desk.open(TOPIC, topic_id=topic_id, holders=dict.fromkeys(Seat, "offline"))

    def sprint(self, round_: Round, seats: tuple[Seat, ...] = tuple(Seat)) -> Round:
        """Have these seats draft, and the others be absent."""
        for seat in Seat:
            if seat in seats:
                self.desk.submit_candidate(
                    seat, self.draft(seat), topic_id=round_.topic_id, round_id=round_.id
                )
            else:
                self.desk.mark_absent(round_.id, seat, "asleep")
        return self.desk.advance(round_.id)

    def critique(self, round_: Round, absent: tuple[Seat, ...] = ()) -> Round:
        for seat in Seat:
            if seat in absent:
                self.desk.mark_absent(round_.id, seat, "asleep")
            for one in self.desk.brief(seat, round_.id).due:
                self.desk.peer_review(seat, one, f"seat {seat} would add a source")
        return self.desk.advance(round_.id)

    def refine(self, round_: Round, absent: tuple[Seat, ...] = ()) -> Round:
        for seat in Seat:
            if seat in absent:
                self.desk.mark_absent(round_.id, seat, "asleep")
            elif self.desk.brief(seat, round_.id).due:
                text = self.draft(seat, salt=1 + self.desk.get(round_.id).attempt)
                self.desk.submit_candidate(seat, text, topic_id=round_.topic_id, round_id=round_.id)
        return self.desk.advance(round_.id)

    def vote(
        self,
        round_: Round,
        scores: Mapping[str, Scorecard] | None = None,
        *,
        default: Scorecard = FAIR,
        absent: tuple[Seat, ...] = (),
    ) -> Round:
        """Have everybody grade; `scores` by candidate."""
        for seat in Seat:
            if seat in absent:
                self.desk.mark_absent(round_.id, seat, "asleep")
            for one in self.desk.brief(seat, round_.id).due:
                given = (scores or {}).get(one, default)
                self.desk.cast_vote(seat, one, given, "because of its sources")
        return self.desk.advance(round_.id)

    def to(self, phase: Phase, topic_id: str | None = None) -> Round:
        """Return a round that has come to a phase, undisturbed; up to a runoff of I and II."""
        round_ = self.open(topic_id)
        steps: tuple[Callable[[Round], Round], ...] = (
            self.sprint,
            self.critique,
            self.refine,
            self._tie,
            self.fuse,
        )
        for step in steps:
            if round_.phase is phase:
                return round_
            round_ = step(round_)
        assert round_.phase is phase
        return round_

    def fuse(self, round_: Round) -> Round:
        first, second = self.desk.brief(Seat.CHAIR, round_.id).collaborators
        text = self.draft(Seat.CHAIR, salt=5)
        self.desk.submit_fusion(first, (first, second), text, round_id=round_.id)
        return self.desk.advance(round_.id)

    def publish(self, topic_id: str | None = None, winner: Seat = Seat.CHAIR) -> Round:
        """Return a round that was published, with a clear winner."""
        round_ = self.to(Phase.VOTE, topic_id)
        return self.vote(round_, {self.candidate_of(round_, winner): GOOD})

    def candidate_of(self, round_: Round, seat: Seat) -> str:
        own = self.desk.get(round_.id).find_own(seat)
        assert own is not None
        return own.id

    def _tie(self, round_: Round) -> Round:
        best = {self.candidate_of(round_, one): GOOD for one in (Seat.CHAIR, Seat.MINER)}
        return self.vote(round_, best)

    def _document(self, title: str, text: str, *, derived: bool = False) -> Document:
        card = self.archive.add(text.encode()).hash
        known = self.archive.find_document_by_source(card)
        if known is not None:
            return known
        provenance = Provenance(title=title, year=1901, derived=derived)
        return self.archive.write(lambda tx: tx.add_document(provenance, source=card))


def moves(archive: SqliteArchive, round_id: str) -> list[Mapping[str, object]]:
    """Return what the audit log says of a round, with who did it."""
    found = (one for one in archive.audit_entries() if one.body["kind"] == "council_moved")
    return [{**one.body, "by": one.by} for one in found if one.body["round"] == round_id]


def handles(archive: SqliteArchive, prefix: str = "") -> dict[str, CardHash]:
    """Return where every handle points."""
    return {one.name: one.current for one in archive.handles(prefix=prefix)}


def without_times(round_: Round) -> Round:
    """Return a round with nothing in it that a clock said."""
    return replace(round_, touched_at="")
