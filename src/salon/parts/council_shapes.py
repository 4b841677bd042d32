"""What the application says of rounds: the ballot as a table, a candidate, the chapter, a check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from salon.core.absent import Absent
from salon.council.ballots import Tally, counted_votes, effective_votes, runoff, tally
from salon.council.bias import Slope, position_bias, self_preference
from salon.council.rounds import Candidate, Critique, Round, Verdict, Vote
from salon.council.seats import CHARGES, Seat

if TYPE_CHECKING:
    from salon.core.citations import Citation
    from salon.core.hashing import CardHash
    from salon.council.performance import Performance
    from salon.council.soul_keeping import SoulKeeper
    from salon.council.souls import Evolution


@dataclass(frozen=True, slots=True, kw_only=True)
class CastVote:
    """One vote with its reasons."""

    seat: Seat
    accuracy: int
    depth: int
    pedagogy: int
    mean: float
    rationale: str
    position: int
    verdict: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BallotRow:
    """What the votes on one candidate come to, and the votes."""

    candidate: str
    authors: tuple[Seat, ...]
    is_fusion: bool
    voters: int
    score: float | Absent
    mean: float | Absent
    lowest: int | Absent
    weighted: float | Absent
    votes: tuple[CastVote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """How an attempt of a round was voted on, best first."""

    round_id: str
    attempt: int
    rows: tuple[BallotRow, ...]
    runoff: tuple[str, ...]
    """The two candidates that went, or would go, to a runoff."""
    effective_votes: float | Absent
    """How many independent votes those of the voters are worth."""
    position_bias: Slope | Absent
    """Points that a draft gained per place further back, over this round and those before it."""
    self_preference: Slope | Absent
    """Points that a draft gained by citing all that the voter's own draft cites."""
    weights: dict[str, float]
    """By seat: how heavy its vote is in `weighted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateText:
    """A candidate with its text and what was said of it."""

    candidate: Candidate
    markdown: str
    critiques: tuple[tuple[Critique, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """What a round published."""

    round_id: str
    title: str
    markdown: str
    citations: "tuple[Citation, ...]"
    record: dict[str, Any]
    text: "CardHash"
    record_card: "CardHash"
    handle: str
    document: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCheck:
    """One thing that was checked of a round, and what is wrong with it."""

    name: str
    holds: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundReport:
    """Whether a round and what it published stand up to a second look."""

    round_id: str
    phase: str
    checks: tuple[RoundCheck, ...]

    @property
    def holds(self) -> bool:
        """Tell whether everything stands."""
        return all(one.holds for one in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulShown:
    """A seat, who holds it, and its soul with what came before."""

    seat: Seat
    title: str
    virtue: str
    holder: str
    handle: str
    hash: "CardHash | None"
    text: str
    has_token: bool
    on_probation: bool
    history: tuple[dict[str, str], ...] = ()
    performance: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvolutionShown:
    """How the souls stand: which seat is voted on or vacant, and who is waited for."""

    stage: str
    review: str
    """The id of the latest review, by which the audit log calls it."""
    seat: Seat | None
    """The seat that is voted on, or is vacant."""
    due_at: str
    """Until when the four others are waited for; empty where nothing is open."""
    overdue: bool
    """Whether a vacant seat had no soul in time, so that three of the four are enough."""
    ups: tuple[Seat, ...]
    downs: tuple[Seat, ...]
    consents: tuple[tuple[Seat, ...], ...]
    """For each proposed text, who has handed in exactly it."""
    consents_needed: int
    waiting_for: tuple[Seat, ...]
    absent: dict[str, str]
    """By seat: why it was given up on, in what is open or ended last."""
    ended: str
    """How the latest vote or vacancy ended, in words."""
    to_do: str
    """What a person or a seat can do about it; empty where nothing is open."""


def ballot_of(
    round_: Round,
    rationale: Mapping[str, str],
    *,
    before: Sequence[Round] = (),
    weights: Mapping[Seat, float] | None = None,
    attempt: int | None = None,
) -> Ballot:
    """Count a round; `rationale` is by the id of a vote, `before` are earlier rounds."""
    wanted = round_.attempt if attempt is None else attempt
    votes = counted_votes(round_, attempt=wanted)
    counted = tally(round_, weights=weights, attempt=wanted)
    known = {one.id: one for one in round_.candidates if one.attempt == wanted}
    seen = (*before, round_)
    return Ballot(
        round_id=round_.id,
        attempt=wanted,
        rows=tuple(_row(one, known[one.candidate], votes, rationale) for one in counted),
        runoff=runoff(counted) or (),
        effective_votes=effective_votes([round_]),
        position_bias=position_bias(seen),
        self_preference=self_preference(seen),
        weights={str(seat): (weights or {}).get(seat, 1.0) for seat in Seat},
    )


def _row(
    one: Tally, candidate: Candidate, votes: Sequence[Vote], rationale: Mapping[str, str]
) -> BallotRow:
    return BallotRow(
        candidate=one.candidate,
        authors=candidate.authors,
        is_fusion=candidate.is_fusion,
        voters=one.voters,
        score=one.score,
        mean=one.mean,
        lowest=one.lowest,
        weighted=one.weighted,
        votes=tuple(
            CastVote(
                seat=vote.seat,
                accuracy=vote.scores.accuracy,
                depth=vote.scores.depth,
                pedagogy=vote.scores.pedagogy,
                mean=vote.scores.mean,
                rationale=rationale.get(vote.id, ""),
                position=vote.position,
                verdict=vote.verdict,
            )
            for vote in votes
            if vote.candidate == one.candidate
        ),
    )


def souls_of(
    keeper: "SoulKeeper", *, holders: Mapping[Seat, str], tokens: Mapping[Seat, str]
) -> list[SoulShown]:
    """Return every seat with its soul; a vacant one has no text."""
    active = {one.seat: one for one in keeper.souls()}
    learning = keeper.on_probation()
    rows = {row.seat: row for row in keeper.matrix()}
    found = []
    for seat, charge in CHARGES.items():
        soul = active.get(seat)
        found.append(
            SoulShown(
                seat=seat,
                title=charge.title,
                virtue=charge.virtue,
                holder=holders[seat],
                handle="" if soul is None else soul.handle,
                hash=None if soul is None else soul.card,
                text="" if soul is None else soul.text,
                has_token=seat in tokens,
                on_probation=seat in learning,
                history=tuple(
                    {"handle": one.handle, "hash": one.card, "version": str(one.version)}
                    for one in keeper.history(seat)
                ),
                performance=_performance(rows[seat]),
            )
        )
    return found


def evolution_of(keeper: "SoulKeeper") -> EvolutionShown:
    """Return how the souls stand now, once what is out of time has ended."""
    from salon.council.souls import Stage

    state = keeper.settle()
    said = {
        verdict: tuple(one.seat for one in state.votes if one.verdict is verdict)
        for verdict in Verdict
    }
    is_vacant = state.stage is Stage.VACANT
    return EvolutionShown(
        stage=state.stage,
        review=state.review,
        seat=state.subject,
        due_at=state.due_at,
        overdue=bool(state.lapsed_at),
        ups=said[Verdict.UP],
        downs=said[Verdict.DOWN],
        consents=tuple(one.endorsed_by for one in state.proposals) if is_vacant else (),
        consents_needed=keeper.consents_needed(state) if is_vacant else 0,
        waiting_for=state.waiting_for(),
        absent={one.seat.value: one.reason for one in state.absences},
        ended=state.ended,
        to_do=_to_do(state),
    )


def _to_do(state: "Evolution") -> str:
    from salon.council.souls import Stage, named

    waiting = state.waiting_for()
    if state.stage is Stage.SETTLED or not waiting:
        return ""
    who, them = named(waiting), "it" if len(waiting) == 1 else "them"
    if state.stage is Stage.VOTING:
        return f"{who} can say up or down with council_vote_retirement"
    if not state.lapsed_at:
        return f"{who} can hand in a text with skill_synthesize_soul"
    return (
        f"have {who} hand in a text with skill_synthesize_soul, or hold a round with {them} held "
        f"here, such as --seat {waiting[0]}=offline: the seats held here write when it ends"
    )


def _performance(row: "Performance") -> dict[str, Any]:
    return {
        "rounds": row.rounds,
        "drafts": row.drafts,
        "checks_failed": row.checks_failed,
        "mean_score": _plain(row.mean_score),
        "wins": row.wins,
        "publications": row.publications,
        "absences": row.absences,
        "agreement": _plain(row.agreement),
        "strength": _plain(row.strength),
        "weight": round(row.reliability.weight, 3),
    }


def _plain(value: float | Absent) -> float | dict[str, str]:
    return {"absent": value.reason} if isinstance(value, Absent) else round(value, 3)
