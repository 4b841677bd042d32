"""What a seat that is held outside can do: the skills, as functions, for one seat.

The desk decides whether an act is allowed; here is only seen to it that the seat is one that an
outsider holds in that round, and that nothing is written for a caller who has gone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from salon.core.errors import NotAllowed, RoundNotFound, TimedOut
from salon.council.naming import round_of
from salon.council.rounds import Phase
from salon.council.seats import Seat

if TYPE_CHECKING:
    from salon.core.archive import Archive, ArchiveTransaction
    from salon.corpus.search import SearchAnswer
    from salon.council.desk import CouncilDesk, Counted, Fused, Reviewed, Submitted
    from salon.council.holders import Brief
    from salon.council.rounds import Round, Scorecard, Verdict
    from salon.council.soul_cards import Synthesized
    from salon.council.soul_keeping import SoulKeeper
    from salon.council.souls import Evolution

OUTSIDE = "outside"
Mode = Literal["hybrid", "dense", "sparse"]
T = TypeVar("T")


class Searching(Protocol):
    """Searches the whole archive."""

    def __call__(self, query: str, *, limit: int, mode: Mode, alpha: float) -> "SearchAnswer":
        """Return what was found."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacancy:
    """A seat whose soul was retired, and the texts that were proposed, each with its consents.

    `needed` consents make a text its soul: all four until `due_at`, and three afterwards.
    `has_written` is whether a text of the seat that looks is among them.
    """

    seat: Seat
    due_at: str
    needed: int
    has_written: bool
    goal: str
    blind_spots: tuple[str, ...]
    proposals: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retirement:
    """A seat that is proposed for retirement, and the votes so far; later ones do not count."""

    review: str
    seat: Seat
    due_at: str
    ups: int
    downs: int


class SeatSkills:
    """The skills of one seat."""

    def __init__(
        self,
        seat: Seat,
        *,
        desk: "CouncilDesk",
        souls: "SoulKeeper",
        open_rounds: "Callable[[], list[Round]]",
        search: Searching,
    ) -> None:
        self.seat = seat
        self._desk = desk
        self._souls = souls
        self._open_rounds = open_rounds
        self._search = search

    def search(
        self, query: str, *, limit: int = 5, mode: Mode = "hybrid", alpha: float = 0.5
    ) -> "SearchAnswer":
        """Search the archive; nothing is written."""
        return self._search(query, limit=limit, mode=mode, alpha=alpha)

    def brief(self, *, round_id: str | None = None) -> "tuple[Sequence[Round], Brief | None]":
        """Return the open rounds in which this seat is held outside, and what one of them shows it.

        Without an id that is the newest in which something is due from the seat, else the newest.
        """
        rounds = [one for one in self._open_rounds() if self._is_mine(one)]
        if round_id is not None:
            self._require_mine(self._desk.get(round_id))
            return rounds, self._desk.brief(self.seat, round_id)
        briefs = [self._desk.brief(self.seat, one.id) for one in rounds]
        due = next((one for one in briefs if one.due), None)
        return rounds, due or next(iter(briefs), None)

    def submit_candidate(
        self, markdown: str, *, topic_id: str, round_id: str | None = None
    ) -> "Submitted":
        """Put a draft, or the refined one, into staging."""
        if round_id is None:
            on_topic = [one for one in self._open_rounds() if one.topic_id == topic_id]
            round_id = on_topic[0].id if on_topic else None
        if round_id is not None:
            self._require_mine(self._desk.get(round_id))
        return self._desk.submit_candidate(
            self.seat, markdown, topic_id=topic_id, round_id=round_id
        )

    def peer_review(self, candidate: str, feedback: str) -> "Reviewed":
        """Criticise a peer's candidate."""
        self._require_mine_by_candidate(candidate)
        return self._desk.peer_review(self.seat, candidate, feedback)

    def submit_fusion(
        self, collaborators: Sequence[str], markdown: str, *, round_id: str | None = None
    ) -> "Fused":
        """Join the two candidates of a runoff."""
        if round_id is None:
            mine = [one for one in self._open_rounds() if self._is_mine(one)]
            runoffs = [one.id for one in mine if one.phase is Phase.RUNOFF]
            round_id = runoffs[0] if len(runoffs) == 1 else None
        if round_id is not None:
            self._require_mine(self._desk.get(round_id))
        return self._desk.submit_fusion(self.seat, collaborators, markdown, round_id=round_id)

    def cast_vote(
        self,
        draft: str,
        scores: "Scorecard",
        rationale: str,
        *,
        verdict: "Verdict | None" = None,
    ) -> "Counted":
        """Grade a peer's final candidate, or a fusion."""
        self._require_mine_by_candidate(draft)
        return self._desk.cast_vote(self.seat, draft, scores, rationale, verdict=verdict)

    def synthesize_soul(self, prompt: str, *, goal: str = "") -> "Synthesized":
        """Propose a soul for the seat that is vacant, or consent to one by handing in the same."""
        return self._souls.synthesize(self.seat, system_prompt_content=prompt, goal=goal or None)

    def vacancy(self) -> "Vacancy | None":
        """Return the seat that has no soul, where this one has a say in it."""
        state = self._souls.settle()
        if state.vacant is None or self.seat not in state.survivors:
            return None
        return Vacancy(
            seat=state.vacant,
            due_at=state.due_at,
            needed=self._souls.consents_needed(state),
            has_written=any(self.seat in one.endorsed_by for one in state.proposals),
            goal=state.goal,
            blind_spots=state.blind_spots,
            proposals=tuple(
                (self._desk.text(one.text), len(one.endorsed_by)) for one in state.proposals
            ),
        )

    def vote_retirement(self, verdict: "Verdict", *, review: str) -> "Evolution":
        """Say whether the seat that this review proposes for retirement goes."""
        return self._souls.vote_retirement(self.seat, verdict, review=review)

    def retirement(self) -> "Retirement | None":
        """Return the seat that is voted on, where this one has yet to vote."""
        from salon.council.rounds import Verdict
        from salon.council.souls import Stage

        state = self._souls.settle()
        has_voted = any(vote.seat is self.seat for vote in state.votes)
        if state.stage is not Stage.VOTING or self.seat not in state.survivors or has_voted:
            return None
        assert state.subject is not None
        ups = sum(vote.verdict is Verdict.UP for vote in state.votes)
        downs = len(state.votes) - ups
        return Retirement(
            review=state.review, seat=state.subject, due_at=state.due_at, ups=ups, downs=downs
        )

    # Rounds of this seat

    def _is_mine(self, round_: "Round") -> bool:
        return round_.holders.get(self.seat) == OUTSIDE

    def _require_mine(self, round_: "Round") -> None:
        if not self._is_mine(round_):
            raise NotAllowed(
                f"seat {self.seat} is not held outside in {round_.id}",
                hint=f"open a round with --seat {self.seat}=outside",
            )

    def _require_mine_by_candidate(self, candidate: str) -> None:
        try:
            round_ = self._desk.get(round_of(candidate))
        except RoundNotFound:
            return  # the desk words best what is wrong with a candidate that is none
        self._require_mine(round_)


class _Wanted:
    """An archive that writes only while somebody waits for what is written."""

    def __init__(self, archive: "Archive", still_wanted: Callable[[], bool]) -> None:
        self._archive = archive
        self._still_wanted = still_wanted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archive, name)

    def write(self, work: "Callable[[ArchiveTransaction], T]", *, by: str | None = None) -> T:
        """Run `work` in one transaction, unless its caller was told that it took too long."""

        def checked(transaction: "ArchiveTransaction") -> T:
            if not self._still_wanted():
                raise TimedOut("the caller has gone; nothing was written")
            return work(transaction)

        return self._archive.write(checked, by=by)


def while_wanted(archive: "Archive", still_wanted: Callable[[], bool]) -> "Archive":
    """Return the archive, but writing only while `still_wanted` says so."""
    return cast("Archive", _Wanted(archive, still_wanted))
