"""Who is what in a round: who may use a skill now, and what is due from whom.

Pure functions of a round. The tables are in `phases`; here stands what their words mean.
"""

from collections.abc import Callable, Mapping

from salon.core.errors import NotAllowed
from salon.council.phases import PERMISSIONS, Role, Skill
from salon.council.rounds import Candidate, Phase, Round
from salon.council.seats import Seat

DRAFT = "draft"
REFINEMENT = "refinement"
FUSION = "fusion"
"""What `due` calls texts that are still to be written; everything else is a candidate's id."""


def require_permission(
    round_: Round, seat: Seat, skill: Skill, candidate: Candidate | None = None
) -> None:
    """Raise `NotAllowed` unless this seat may use this skill now, on this candidate."""
    permission = PERMISSIONS[skill]
    if round_.phase not in permission.phases:
        allowed = " and ".join(one.value for one in Phase if one in permission.phases)
        raise NotAllowed(
            f"{skill} is for {allowed}; the round is in {round_.phase}",
            hint="ask for the brief of the round: it says what is due",
        )
    why = _ROLES[permission.role](round_, seat, candidate)
    if why is not None:
        raise NotAllowed(why, hint="ask for the brief of the round: it says what is due")


def due(round_: Round, seat: Seat) -> tuple[str, ...]:
    """Return what a round waits for from a seat: ids of candidates, or a text to be written."""
    if round_.is_absent(seat):
        return ()
    return () if round_.is_over else _DUE[round_.phase](round_, seat)


def graded_now(round_: Round) -> tuple[Candidate, ...]:
    """Return the candidates that are voted on in this phase."""
    if round_.phase is Phase.RATIFICATION:
        return () if round_.fusion is None else (round_.fusion,)
    return round_.standing


def is_own(round_: Round, seat: Seat, candidate: Candidate) -> bool:
    """Tell whether a candidate is a seat's own: written by it, or the same text as one of its own.

    Otherwise a seat could have a peer submit its text for it, and vote on that.
    """
    if seat in candidate.authors:
        return True
    mine = [one for one in round_.candidates if seat in one.authors]
    names = {one.id for one in mine}
    # A draft that was refined since is known from the critiques of it.
    texts = {one.text for one in mine}
    texts |= {one.text for one in round_.critiques if one.candidate in names and one.text}
    return candidate.text in texts


def finalist_authors(round_: Round) -> tuple[Seat, ...]:
    """Return the authors of the two candidates of a runoff, that of the higher score first."""
    found = (round_.find_candidate(one) for one in round_.finalists)
    return tuple(author for one in found if one is not None for author in one.authors)


def ratifiers(round_: Round, authors: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """Return the seats that could ratify a fusion: not its authors, with a vote, and here.

    Whoever was absent when this attempt was voted on is not counted on.
    """
    gone = {
        one.seat
        for one in round_.absences
        if (one.phase, one.attempt) == (Phase.VOTE, round_.attempt)
    }
    return tuple(
        seat
        for seat in Seat
        if seat not in authors and seat not in round_.on_probation and seat not in gone
    )


def _entrant(round_: Round, seat: Seat, _: Candidate | None) -> str | None:
    own = round_.find_own(seat)
    if round_.phase is Phase.SPRINT:
        return None if own is None else f"seat {seat} has a draft in this sprint already"
    if own is None:
        return f"seat {seat} entered no draft into this round"
    return f"seat {seat} has refined its draft already" if own.is_refined else None


def _peer(round_: Round, seat: Seat, candidate: Candidate | None) -> str | None:
    if candidate is None:
        return "there is no such candidate in this attempt of the round"
    return "nobody judges their own text" if is_own(round_, seat, candidate) else None


def _voter(round_: Round, seat: Seat, candidate: Candidate | None) -> str | None:
    if seat in round_.on_probation:
        return f"seat {seat} is on probation and has no vote"
    if candidate is not None and candidate not in graded_now(round_):
        return f"{candidate.id} is not voted on in {round_.phase}"
    return _peer(round_, seat, candidate)


def _finalist(round_: Round, seat: Seat, _: Candidate | None) -> str | None:
    authors = finalist_authors(round_)
    if seat not in authors:
        return f"seat {seat} is not one of the two authors of this runoff"
    if any(round_.is_absent(one) for one in authors):
        return "one of the two authors is absent, so there is nothing to fuse"
    return None


_ROLES: Mapping[Role, Callable[[Round, Seat, Candidate | None], str | None]] = {
    Role.ENTRANT: _entrant,
    Role.PEER: _peer,
    Role.VOTER: _voter,
    Role.FINALIST: _finalist,
}
"""What each role asks for; `None` where it is met, else why not."""


def _draft_due(round_: Round, seat: Seat) -> tuple[str, ...]:
    return (DRAFT,) if round_.find_own(seat) is None else ()


def _reviews_due(round_: Round, seat: Seat) -> tuple[str, ...]:
    done = {
        one.candidate
        for one in round_.critiques
        if one.seat is seat and one.attempt == round_.attempt
    }
    peers = (one for one in round_.standing if not is_own(round_, seat, one))
    return tuple(one.id for one in peers if one.id not in done)


def _refinement_due(round_: Round, seat: Seat) -> tuple[str, ...]:
    own = round_.find_own(seat)
    return () if own is None or own.is_refined else (REFINEMENT,)


def _votes_due(round_: Round, seat: Seat) -> tuple[str, ...]:
    if seat in round_.on_probation:
        return ()
    done = {
        one.candidate for one in round_.votes if one.seat is seat and one.attempt == round_.attempt
    }
    peers = (one for one in graded_now(round_) if not is_own(round_, seat, one))
    return tuple(one.id for one in peers if one.id not in done)


def _fusion_due(round_: Round, seat: Seat) -> tuple[str, ...]:
    authors = finalist_authors(round_)
    is_moot = round_.fusion is not None or any(round_.is_absent(one) for one in authors)
    return () if is_moot or seat not in authors else (FUSION,)


_DUE: Mapping[Phase, Callable[[Round, Seat], tuple[str, ...]]] = {
    Phase.SPRINT: _draft_due,
    Phase.CRITIQUE: _reviews_due,
    Phase.REFINEMENT: _refinement_due,
    Phase.VOTE: _votes_due,
    Phase.RUNOFF: _fusion_due,
    Phase.RATIFICATION: _votes_due,
}
