"""A round as it stands: candidates, critiques, votes, absences, and how it ended. Values only.

Every text is a card of its own and appears here by its hash; the round itself is a card behind
`council/rounds/ID`. What may happen next is in `phases`, what an act does in `acting`.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from salon.core.citations import Citation
from salon.core.hashing import CardHash
from salon.council.seats import Seat


class Phase(StrEnum):
    """Where a round stands."""

    SPRINT = "sprint"
    CRITIQUE = "critique"
    REFINEMENT = "refinement"
    VOTE = "vote"
    RUNOFF = "runoff"
    RATIFICATION = "ratification"
    PUBLISHED = "published"
    NO_QUORUM = "no_quorum"


class Verdict(StrEnum):
    """What a seat that did not write a fusion says of it."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """What a mechanical check found in a draft; `excerpt` is the place, cut short."""

    code: str
    message: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text that seats put into staging: a draft of one author, or the fusion of two."""

    id: str
    authors: tuple[Seat, ...]
    text: CardHash
    attempt: int
    is_fusion: bool = False
    is_refined: bool = False
    citations: tuple[Citation, ...] = ()
    failings: tuple[Failing, ...] = ()
    """What the checks found; a candidate with failings cannot be voted on, and none is ever let in:
    what fails is in `Round.returns`."""
    report: CardHash | None = None
    """The card that says what the checks found and which citations they resolved."""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A text that the checks sent back to its seat, with the report that says why."""

    id: str
    seat: Seat
    candidate: str
    """The candidate that it would have become, or the fusion."""
    text: CardHash
    report: CardHash
    phase: Phase
    attempt: int
    failings: tuple[Failing, ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Critique:
    """What one seat says of a peer's candidate: `text` is what it read, `entry` the ledger card."""

    id: str
    seat: Seat
    candidate: str
    feedback: CardHash
    attempt: int
    text: CardHash | None = None
    entry: CardHash | None = None
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """Three scores from 1 to 10."""

    accuracy: int
    depth: int
    pedagogy: int

    @property
    def mean(self) -> float:
        """Return the mean of the three."""
        return (self.accuracy + self.depth + self.pedagogy) / 3

    @property
    def lowest(self) -> int:
        """Return the lowest of the three."""
        return min(self.accuracy, self.depth, self.pedagogy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One seat's grade of a peer's candidate; once per seat, candidate and attempt."""

    id: str
    seat: Seat
    candidate: str
    scores: Scorecard
    rationale: CardHash
    attempt: int
    position: int
    """Where in this seat's own order the candidate stood, from 1."""
    verdict: Verdict | None = None
    """Only where a fusion is ratified."""
    text: CardHash | None = None
    """The very text that was graded."""
    ballot: CardHash | None = None
    """The ledger's card of this vote."""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A seat that was due and did not act, and why."""

    seat: Seat
    phase: Phase
    attempt: int
    reason: str
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The chapter: its Markdown, its signed record, and the handles that lead to both."""

    candidate: str
    text: CardHash
    record: CardHash
    handle: str
    document: str
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One tournament on a topic. `attempt` counts from 0; each retry adds one."""

    id: str
    topic_id: str
    topic: str
    phase: Phase
    opened_at: str
    touched_at: str
    attempt: int = 0
    holders: dict[str, str] = field(default_factory=dict)
    """By seat: `offline`, `outside`, or the address of a chat model."""
    on_probation: tuple[Seat, ...] = ()
    """Seats that draft and criticise but have no vote."""
    souls: dict[str, CardHash] = field(default_factory=dict)
    """By seat: the soul that it had when the round was opened."""
    candidates: tuple[Candidate, ...] = ()
    critiques: tuple[Critique, ...] = ()
    votes: tuple[Vote, ...] = ()
    absences: tuple[Absence, ...] = ()
    returns: tuple[Returned, ...] = ()
    """Texts that the checks sent back, oldest first."""
    finalists: tuple[str, ...] = ()
    """The two candidates of a runoff, the one with the higher score first."""
    published: Published | None = None
    reasons: tuple[str, ...] = ()
    """Why there was no consensus, one line for each attempt."""

    @property
    def is_over(self) -> bool:
        """Tell whether nothing can happen any more."""
        return self.phase in {Phase.PUBLISHED, Phase.NO_QUORUM}

    @property
    def standing(self) -> tuple[Candidate, ...]:
        """Return the candidates of this attempt, without a fusion."""
        return tuple(
            one for one in self.candidates if one.attempt == self.attempt and not one.is_fusion
        )

    @property
    def fusion(self) -> Candidate | None:
        """Return the fusion of this attempt."""
        found = (one for one in self.candidates if one.is_fusion and one.attempt == self.attempt)
        return next(found, None)

    def find_candidate(self, candidate_id: str) -> Candidate | None:
        """Return a candidate of this attempt, drafts and fusion alike."""
        known = (one for one in self.candidates if one.attempt == self.attempt)
        return next((one for one in known if one.id == candidate_id), None)

    def find_own(self, seat: Seat) -> Candidate | None:
        """Return the draft of a seat in this attempt."""
        return next((one for one in self.standing if seat in one.authors), None)

    def is_absent(self, seat: Seat) -> bool:
        """Tell whether a seat was given up on in this phase of this attempt."""
        now = (seat, self.phase, self.attempt)
        return any((one.seat, one.phase, one.attempt) == now for one in self.absences)
