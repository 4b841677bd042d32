"""What a seat is shown: drafts without their authors, in an order of its own.

The order is that of digests over round, seat, phase, attempt and candidate: it differs from seat to
seat and is the same whenever it is asked for. Drafts are hidden while the sprint lasts.
"""

from collections.abc import Callable

from salon.core.hashing import CardHash, content_hash
from salon.council.acting import returns_now
from salon.council.holders import Brief, Shown
from salon.council.naming import stem_of
from salon.council.roles import due, finalist_authors, graded_now, is_own
from salon.council.rounds import Candidate, Failing, Phase, Round
from salon.council.seats import Seat

TextOf = Callable[[CardHash], str]
SHOWING = frozenset({Phase.CRITIQUE, Phase.VOTE, Phase.RATIFICATION})
"""The phases in which a seat sees what its peers wrote."""


def brief(round_: Round, seat: Seat, text_of: TextOf) -> Brief:
    """Return what a seat is shown of a round, and what is due from it."""
    own = round_.find_own(seat)
    authors = finalist_authors(round_) if round_.phase is Phase.RUNOFF else ()
    is_author = seat in authors
    soul = round_.souls.get(seat)
    return Brief(
        round_id=round_.id,
        topic_id=round_.topic_id,
        topic=round_.topic,
        phase=round_.phase,
        attempt=round_.attempt,
        seat=seat,
        soul="" if soul is None else text_of(soul),
        due=_due_in_order(round_, seat),
        peers=tuple(
            Shown(id=one.id, position=position, markdown=text_of(one.text))
            for position, one in enumerate(order_for(round_, seat), start=1)
        ),
        own=None if own is None else _with_critiques(round_, own, 0, text_of),
        failings=_failings(round_, seat),
        fusing=_fusing(round_, text_of) if is_author else (),
        collaborators=authors if is_author else (),
        reasons=round_.reasons,
    )


def order_for(round_: Round, seat: Seat) -> tuple[Candidate, ...]:
    """Return the candidates that a seat sees in this phase, in its own order."""
    if round_.phase not in SHOWING:
        return ()
    seed = (round_.id, seat, round_.phase, str(round_.attempt))
    peers = (one for one in graded_now(round_) if not is_own(round_, seat, one))
    return tuple(sorted(peers, key=lambda one: content_hash("\n".join((*seed, one.id)).encode())))


def _due_in_order(round_: Round, seat: Seat) -> tuple[str, ...]:
    """Return what is due in the seat's own order: the one in which drafts came tells authors."""
    places = {one.id: place for place, one in enumerate(order_for(round_, seat))}
    return tuple(sorted(due(round_, seat), key=lambda one: places.get(one, 0)))


def position_of(round_: Round, seat: Seat, candidate: Candidate) -> int:
    """Return where a candidate stands in a seat's own order, from 1."""
    return 1 + order_for(round_, seat).index(candidate)


def _failings(round_: Round, seat: Seat) -> tuple[Failing, ...]:
    returned = returns_now(round_, seat)
    return returned[-1].failings if returned and due(round_, seat) else ()


def _fusing(round_: Round, text_of: TextOf) -> tuple[Shown, ...]:
    found = (round_.find_candidate(one) for one in round_.finalists)
    return tuple(
        _with_critiques(round_, one, place, text_of)
        for place, one in enumerate((one for one in found if one is not None), start=1)
    )


def _with_critiques(round_: Round, candidate: Candidate, position: int, text_of: TextOf) -> Shown:
    stem = stem_of(candidate.id)
    said = (one for one in round_.critiques if stem_of(one.candidate) == stem)
    return Shown(
        id=candidate.id,
        position=position,
        markdown=text_of(candidate.text),
        critiques=tuple(text_of(one.feedback) for one in said),
    )
