"""Driving a round to its end: whoever is due is asked, whoever stays silent becomes absent.

It decides nothing about the round itself: the desk does, in one transaction for each act. So a
crash at any point is mended by calling `drive` again, and two drivers of one round do no harm.

Holders work in at most `workers` threads, one piece of work at a time each; what they wrote is
handed in by this thread alone, in the order of seats. Whoever is due and has no holder here is
outside, and is waited for.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from salon.core.errors import Conflict, InvalidInput, NotFound, SalonError
from salon.council.holders import Brief, Graded, SeatHolder, Shown
from salon.council.rounds import Failing, Phase, Round
from salon.council.seats import Seat

if TYPE_CHECKING:
    from salon.council.desk import CouncilDesk

TRIES = 3
"""How often a seat may fail at one piece of work before it counts as absent."""
POLL_S = 1.0
"""Seconds between two looks whether somebody outside has acted."""
_LONGEST_REASON = 300


class Step(StrEnum):
    """What a driver reports while it works."""

    PHASE = "phase"
    ASKED = "asked"
    ACTED = "acted"
    SENT_BACK = "sent_back"
    FAILED = "failed"
    ABSENT = "absent"
    WAITING = "waiting"
    PUBLISHED = "published"
    NO_QUORUM = "no_quorum"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEvent:
    """One thing that happened in a round. `work` is what is due: a word, or a candidate's id."""

    step: Step
    round_id: str
    phase: Phase
    attempt: int
    seat: Seat | None = None
    work: str = ""
    detail: str = ""


OnEvent: TypeAlias = Callable[[RoundEvent], None]
_Wrote: TypeAlias = str | Graded
_Outcome: TypeAlias = _Wrote | SalonError

_ENDS = {Phase.PUBLISHED: Step.PUBLISHED, Phase.NO_QUORUM: Step.NO_QUORUM}


def drive(
    desk: "CouncilDesk",
    round_id: str,
    holders: Mapping[Seat, SeatHolder],
    *,
    patience: float,
    on_event: OnEvent = lambda _: None,
    wait: Callable[[float], None] = time.sleep,
    workers: int = 2,
) -> Round:
    """Run a round until it is published or ends without a quorum, and return it.

    `patience` is how many seconds seats outside have for each phase.
    """
    driver = _Driver(
        desk=desk,
        round_id=round_id,
        holders={seat: holders[seat] for seat in Seat if seat in holders},
        patience=patience,
        on_event=on_event,
        wait=wait,
        workers=workers,
        round=desk.get(round_id),
    )
    return driver.run()


@dataclass(slots=True)
class _Due:
    """One piece of work of one seat, and how often it went wrong."""

    seat: Seat
    work: str
    failures: int = 0
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class _Driver:
    desk: "CouncilDesk"
    round_id: str
    holders: Mapping[Seat, SeatHolder]
    patience: float
    on_event: OnEvent
    wait: Callable[[float], None]
    workers: int
    round: Round
    waited: float = 0.0

    def run(self) -> Round:
        """Go from phase to phase until the round is over."""
        opened: tuple[Phase, int] | None = None
        while not self.round.is_over:
            if opened != (here := (self.round.phase, self.round.attempt)):
                opened, self.waited = here, 0.0
                self._say(Step.PHASE)
            self._ask_holders()
            self.round = self.desk.advance(self.round_id)
            if here == (self.round.phase, self.round.attempt):
                self._wait_for_others()
                self.round = self.desk.advance(self.round_id)
        self._say(_ENDS[self.round.phase], detail="; ".join(self.round.reasons[-1:]))
        return self.round

    # Seats that are held here

    def _ask_holders(self) -> None:
        """Have everything done that is due, or mark as absent whoever cannot do it."""
        due = [
            _Due(seat, work)
            for seat in self.holders
            for work in self.desk.brief(seat, self.round_id).due
        ]
        with ThreadPoolExecutor(max_workers=self.workers) as pool:
            while due:
                due = [one for one in self._one_wave(due, pool) if self._may_try_again(one)]

    def _one_wave(self, due: Sequence[_Due], pool: ThreadPoolExecutor) -> Iterator[_Due]:
        """Have each seat do its work once; walk what went wrong."""
        by_seat: dict[Seat, list[_Due]] = {}
        for one in due:
            by_seat.setdefault(one.seat, []).append(one)
        for one in due:
            self._say(Step.ASKED, one)
        done = [(works, pool.submit(self._work, seat, works)) for seat, works in by_seat.items()]
        for works, future in done:
            for one, outcome in zip(works, future.result(), strict=True):
                reason = self._hand_in(one, outcome)
                if reason:
                    one.failures += 1
                    one.reason = reason
                    if isinstance(outcome, NotFound):
                        one.failures = TRIES  # what is not there now is not there a moment later
                    yield one

    def _work(self, seat: Seat, works: Sequence[_Due]) -> list[_Outcome]:
        """Have a holder write what is due; runs beside other seats and changes nothing."""
        holder = self.holders[seat]
        brief = self.desk.brief(seat, self.round_id)
        written: list[_Outcome] = []
        for one in works:
            try:
                written.append(_ask(holder, brief, one.work))
            except SalonError as error:
                written.append(error)
        return written

    def _hand_in(self, one: _Due, outcome: _Outcome) -> str:
        """Give the desk what a seat wrote, and return why it was not taken; else nothing."""
        if isinstance(outcome, SalonError):
            self._say(Step.FAILED, one, outcome.message)
            return outcome.message
        brief = self.desk.brief(one.seat, self.round_id)
        if one.work not in brief.due:
            return ""  # done by somebody else meanwhile
        try:
            failings = self._submit(brief, one.work, outcome)
        except (InvalidInput, Conflict) as error:
            self._say(Step.FAILED, one, error.message)
            return error.message
        if failings:
            reason = "; ".join(failing.message for failing in failings)[:_LONGEST_REASON]
            self._say(Step.SENT_BACK, one, reason)
            return f"the checks sent it back: {reason}"
        self._say(Step.ACTED, one)
        return ""

    def _submit(self, brief: Brief, work: str, wrote: _Wrote) -> tuple[Failing, ...]:
        seat = brief.seat
        if isinstance(wrote, Graded):
            self.desk.cast_vote(seat, work, wrote.scores, wrote.rationale, verdict=wrote.verdict)
            return ()
        if work == "fusion":
            fused = self.desk.submit_fusion(
                seat, brief.collaborators, wrote, round_id=brief.round_id
            )
            return fused.failings
        if work in _TEXTS:
            return self.desk.submit_candidate(
                seat, wrote, topic_id=brief.topic_id, round_id=brief.round_id
            ).failings
        self.desk.peer_review(seat, work, wrote)
        return ()

    def _may_try_again(self, one: _Due) -> bool:
        if one.failures < TRIES:
            return True
        if one.work in self.desk.brief(one.seat, self.round_id).due:
            self._mark_absent(one.seat, one.reason)
        return False

    # Seats outside

    def _wait_for_others(self) -> None:
        """Wait a little for whoever is due elsewhere; once patience has ended, go on without."""
        due = {seat: works for seat in Seat if (works := self._due_outside(seat))}
        if not due:
            self._require_movement()
            return
        if self.waited >= self.patience:
            for seat in due:
                self._mark_absent(seat, f"nothing came within {self.patience:g} seconds")
            return
        if not self.waited:
            for seat, works in due.items():
                self._say(Step.WAITING, _Due(seat, ", ".join(works)))
        pause = min(POLL_S, self.patience - self.waited)
        self.wait(pause)
        self.waited += pause

    def _due_outside(self, seat: Seat) -> tuple[str, ...]:
        return () if seat in self.holders else self.desk.brief(seat, self.round_id).due

    def _require_movement(self) -> None:
        """Refuse to go round in circles where nobody is due and nothing moves."""
        now = self.desk.get(self.round_id)
        is_due = any(self.desk.brief(seat, self.round_id).due for seat in Seat)
        if now == self.round and not is_due:
            raise Conflict(
                f"the round {self.round_id} waits for nobody and does not go on",
                hint="`salon council status` shows where it stands",
            )

    # Reports

    def _mark_absent(self, seat: Seat, reason: str) -> None:
        self.desk.mark_absent(self.round_id, seat, reason[:_LONGEST_REASON])
        self._say(Step.ABSENT, _Due(seat, ""), reason)

    def _say(self, step: Step, due: _Due | None = None, detail: str = "") -> None:
        self.on_event(
            RoundEvent(
                step=step,
                round_id=self.round_id,
                phase=self.round.phase,
                attempt=self.round.attempt,
                seat=due.seat if due else None,
                work=due.work if due else "",
                detail=detail,
            )
        )


_TEXTS: dict[str, Callable[[SeatHolder, Brief], str]] = {
    "draft": lambda holder, brief: holder.draft(brief),
    "refinement": lambda holder, brief: holder.refine(brief),
    "fusion": lambda holder, brief: holder.fuse(brief),
}


def _ask(holder: SeatHolder, brief: Brief, work: str) -> _Wrote:
    """Have a holder do one piece of work."""
    if work in _TEXTS:
        return _TEXTS[work](holder, brief)
    shown = _get_shown(brief, work)
    if brief.phase is Phase.CRITIQUE:
        return holder.review(brief, shown)
    return holder.grade(brief, shown)


def _get_shown(brief: Brief, candidate: str) -> Shown:
    for shown in (*brief.peers, *brief.fusing):
        if shown.id == candidate:
            return shown
    raise NotFound(f"{candidate} is due and is not shown")
