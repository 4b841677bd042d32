"""The survivors that are programs or models: they vote by the matrix and write a soul together.

One call does whatever can be done now and returns; seats held from outside act through the skill
in the time that they have. Called again, it goes on where it stands.
"""

from collections.abc import Mapping

from salon.core.errors import LimitReached, NotAllowed, SalonError
from salon.council.holders import SeatHolder
from salon.council.performance import verdict_on
from salon.council.seats import Seat
from salon.council.soul_keeping import SoulKeeper
from salon.council.souls import Evolution, Stage


def evolve(keeper: SoulKeeper, holders: Mapping[Seat, SeatHolder]) -> Evolution:
    """Review the council if it is due, let these holders vote, and write the soul of a vacant seat.

    The first survivor whose text is accepted proposes it; the others consent to it as it stands.
    """
    keeper.open_retirement()
    _vote(keeper, holders)
    _write(keeper, holders)
    return keeper.state()


def _vote(keeper: SoulKeeper, holders: Mapping[Seat, SeatHolder]) -> None:
    rows = keeper.matrix()
    for seat in Seat:
        state = keeper.state()
        if state.stage is not Stage.VOTING or state.subject is None:
            return
        if seat in holders and seat in state.waiting_for():
            try:
                verdict = verdict_on(state.subject, rows)
                keeper.vote_retirement(seat, verdict, review=state.review)
            except NotAllowed:
                return  # the vote has ended meanwhile, by somebody else or by the clock


def _write(keeper: SoulKeeper, holders: Mapping[Seat, SeatHolder]) -> None:
    for seat in Seat:
        state = keeper.state()
        if state.stage is not Stage.VACANT or seat not in holders:
            continue
        if not state.proposals:
            _propose(keeper, holders[seat], seat)
    for seat in Seat:
        state = keeper.state()
        if state.proposals and seat in holders and seat in state.waiting_for():
            text = keeper.text(state.proposals[0].text)
            try:
                keeper.synthesize(seat, system_prompt_content=text)
            except (NotAllowed, LimitReached):
                continue  # the seat has its soul already, or this one has written too often


def _propose(keeper: SoulKeeper, holder: SeatHolder, seat: Seat) -> None:
    state = keeper.state()
    if seat is state.subject or state.subject is None:
        return
    old = keeper.history(state.subject)[-1].text
    try:
        text = holder.write_soul(state.goal, state.blind_spots, old)
        keeper.synthesize(seat, system_prompt_content=text, goal=state.goal)
    except SalonError:
        return  # the next survivor writes: a model that failed or a text that was refused
