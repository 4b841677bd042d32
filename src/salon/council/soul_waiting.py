"""How long survivors are waited for, and what stands once their time is over. Values only.

A vote or a vacancy keeps the instant until which it waits. Whether that has passed is told by the
clock alone, so it makes no difference who looks, how often, or what was restarted in between.
"""

from dataclasses import replace
from datetime import timedelta

from salon.core.clock import instant, parse_instant
from salon.council.rounds import Verdict
from salon.council.seats import Seat
from salon.council.souls import Evolution, Stage, SurvivorAbsence, named, settled


def later(at: str, seconds: float) -> str:
    """Return the instant that lies so many seconds after `at`."""
    return instant(parse_instant(at) + timedelta(seconds=seconds))


def is_overdue(state: Evolution, at: str) -> bool:
    """Tell whether the time of the survivors is over and nobody has noted that yet."""
    if state.stage is Stage.SETTLED or state.lapsed_at or not state.due_at:
        return False
    return parse_instant(at) >= parse_instant(state.due_at)


def silent(state: Evolution) -> tuple[Seat, ...]:
    """Return the survivors of whom there is nothing: no vote, or no text."""
    if state.stage is Stage.VOTING:
        heard = {one.seat for one in state.votes}
    else:
        heard = {seat for one in state.proposals for seat in one.endorsed_by}
    return tuple(seat for seat in state.survivors if seat not in heard)


def end_vote(state: Evolution, *, needed: int, at: str) -> Evolution:
    """End a vote whose time is over: who is absent was not in favour, so the seat stays."""
    ups = sum(one.verdict is Verdict.UP for one in state.votes)
    ended = (
        f"seat {state.subject} stays: {ups} of the {needed} Up that it takes were there, and "
        f"{named(silent(state))} had not voted by {state.due_at}"
    )
    return settled(replace(state, absences=_absences(state, at)), ended)


def lapse(state: Evolution, *, at: str) -> Evolution:
    """Note that a vacant seat had no soul in time; from now on enough survivors do for all."""
    return replace(state, lapsed_at=at, absences=_absences(state, at))


def _absences(state: Evolution, at: str) -> tuple[SurvivorAbsence, ...]:
    reason = f"nothing came by {state.due_at}"
    return tuple(
        SurvivorAbsence(seat=seat, stage=state.stage, reason=reason, at=at)
        for seat in silent(state)
    )
