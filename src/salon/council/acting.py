"""What an act does to a round. Pure: a round and an act give the next round, or a refusal.

A refusal is `NotAllowed` and leaves the round as it was. Nothing here changes the text of a
candidate that is voted on: texts come in by `submitted` and `fused`, and neither is permitted in a
phase in which votes are cast.
"""

from dataclasses import replace

from salon.core.errors import NotAllowed
from salon.council.phases import Skill
from salon.council.roles import due, finalist_authors, require_permission
from salon.council.rounds import Absence, Candidate, Critique, Returned, Round, Vote
from salon.council.seats import Seat


def submitted(round_: Round, seat: Seat, candidate: Candidate) -> Round:
    """Let a draft in, or put a refined text in the place of the draft."""
    require_permission(round_, seat, Skill.SUBMIT_CANDIDATE)
    others = tuple(one for one in round_.candidates if not _is_same(one, candidate))
    return _back(round_, seat, candidates=(*others, candidate))


def reviewed(round_: Round, critique: Critique) -> Round:
    """Enter a critique of a peer's candidate."""
    target = round_.find_candidate(critique.candidate)
    require_permission(round_, critique.seat, Skill.PEER_REVIEW, target)
    entered = ((one.seat, one.candidate, one.attempt) for one in round_.critiques)
    if (critique.seat, critique.candidate, round_.attempt) in entered:
        raise NotAllowed(f"seat {critique.seat} has reviewed {critique.candidate} already")
    return _back(round_, critique.seat, critiques=(*round_.critiques, critique))


def voted(round_: Round, vote: Vote) -> Round:
    """Count a vote: once per seat, candidate and attempt, and on the text that stands."""
    target = round_.find_candidate(vote.candidate)
    require_permission(round_, vote.seat, Skill.CAST_VOTE, target)
    if target is None or vote.text != target.text:
        raise NotAllowed(f"the text of {vote.candidate} is another one than was graded")
    cast = ((one.seat, one.candidate, one.attempt) for one in round_.votes)
    if (vote.seat, vote.candidate, round_.attempt) in cast:
        raise NotAllowed(f"seat {vote.seat} has voted on {vote.candidate} already")
    return _back(round_, vote.seat, votes=(*round_.votes, vote))


def fused(round_: Round, seat: Seat, fusion: Candidate) -> Round:
    """Let a fusion in.

    The first that passes the checks stands for both authors. Only the author whose draft scored
    higher may still put another text in its place, before ratification opens.
    """
    require_permission(round_, seat, Skill.SUBMIT_FUSION)
    before = round_.fusion
    if before is not None and before.text != fusion.text:
        first = finalist_authors(round_)[0]
        if seat is not first or seat is before.authors[0]:
            raise NotAllowed(
                "there is a fusion already",
                hint="only the author whose draft scored higher may replace the other's, once",
            )
    others = tuple(one for one in round_.candidates if not _is_same(one, fusion))
    return _back(round_, seat, candidates=(*others, fusion))


def sent_back(round_: Round, skill: Skill, returned: Returned, *, most: int) -> Round:
    """Note that the checks sent a text back; the last of `most` makes the seat absent.

    Nothing more of it is read in this phase, so nobody should wait for it either.
    """
    require_permission(round_, returned.seat, skill)
    before = len(returns_now(round_, returned.seat))
    if before >= most:
        raise NotAllowed(
            f"{most} texts of seat {returned.seat} were sent back in this phase",
            hint="the seat is absent from this phase unless the system opens another attempt",
        )
    after = replace(round_, returns=(*round_.returns, returned))
    return after if before + 1 < most else absent(after, _used_up(returned, most))


def _used_up(returned: Returned, most: int) -> Absence:
    return Absence(
        seat=returned.seat,
        phase=returned.phase,
        attempt=returned.attempt,
        reason=f"the checks sent back {most} of its texts",
        at=returned.at,
    )


def absent(round_: Round, absence: Absence) -> Round:
    """Give up on a seat in this phase; one that owes nothing cannot be absent."""
    if not due(round_, absence.seat):
        return round_
    return replace(round_, absences=(*round_.absences, absence))


def returns_now(round_: Round, seat: Seat) -> tuple[Returned, ...]:
    """Return the texts of a seat that were sent back in this phase of this attempt."""
    now = (seat, round_.phase, round_.attempt)
    return tuple(one for one in round_.returns if (one.seat, one.phase, one.attempt) == now)


def _is_same(one: Candidate, other: Candidate) -> bool:
    return (one.id, one.attempt) == (other.id, other.attempt)


def _back(round_: Round, seat: Seat, **changes: object) -> Round:
    """Return the changed round; whoever acts is not absent any more."""
    now = (seat, round_.phase, round_.attempt)
    present = tuple(one for one in round_.absences if (one.seat, one.phase, one.attempt) != now)
    return replace(round_, absences=present, **changes)  # type: ignore[arg-type]
