"""Souls: the system prompts of the seats, and how one is retired and another written. Values only.

    settled --a review is due--> voting --enough Up--> vacant --agreed on a text--> settled
                                 voting --too many Down, or too few votes in time--> settled

The seat in question takes no part. A vote is given once. A text is agreed on when every survivor
has submitted exactly that text, once the due time has passed when enough of them have; whoever
submits another one moves its consent there. What happens to those who stay silent is in
`soul_waiting`, what is kept and how in `soul_keeping`.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from salon.core.errors import InvalidInput, LimitReached, NotAllowed
from salon.core.hashing import CardHash, content_hash
from salon.council.rounds import Verdict
from salon.council.seats import Seat

LONGEST_SOUL = 8_000
LONGEST_GOAL = 300
MOST_SUBMISSIONS = 20
"""So often may one survivor submit a text while a seat is vacant."""
_LONGEST_NAME = 60


class Stage(StrEnum):
    """Where the evolution of the council stands."""

    SETTLED = "settled"
    VOTING = "voting"
    VACANT = "vacant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Soul:
    """A seat's system prompt, its version from 1, and its card."""

    seat: Seat
    text: str
    version: int
    card: CardHash
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetirementVote:
    """What a survivor says: Up retires the seat."""

    seat: Seat
    verdict: Verdict
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A text for the vacant seat, and the survivors that have submitted exactly it."""

    text: CardHash
    by: Seat
    endorsed_by: tuple[Seat, ...]
    goal: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivorAbsence:
    """A survivor that was due and did not vote or write, and why it is given up on."""

    seat: Seat
    stage: Stage
    reason: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolution:
    """How the council's souls stand."""

    stage: Stage = Stage.SETTLED
    review: str = "evolution"
    """The id of the latest review, by which the audit log calls it."""
    cycle: int = 0
    """How many retirements were proposed so far."""
    reviewed: int = 0
    """How many finished rounds there were when the last proposal was made."""
    since: int = 0
    """How many there were when the proposal before that was made."""
    subject: Seat | None = None
    """The seat that is voted on, or is vacant."""
    votes: tuple[RetirementVote, ...] = ()
    goal: str = ""
    blind_spots: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    submissions: dict[str, int] = field(default_factory=dict)
    """By seat: how often it submitted a text for this vacancy."""
    versions: dict[str, int] = field(default_factory=dict)
    """By seat: the version of its latest soul."""
    souls: dict[str, CardHash] = field(default_factory=dict)
    """By seat: its soul; a vacant seat has none."""
    probation: dict[str, int] = field(default_factory=dict)
    """By seat: after how many finished rounds its new soul may vote."""
    due_at: str = ""
    """Until when the survivors have time to vote, or to write; empty where nothing is open."""
    lapsed_at: str = ""
    """When it was noted that a vacant seat had no soul in time; fewer consents do from then on."""
    absences: tuple[SurvivorAbsence, ...] = ()
    """Survivors that were silent when their time was over; whoever writes later is back."""
    ended: str = ""
    """How the latest vote or vacancy ended and why, in words."""
    touched_at: str = ""

    @property
    def survivors(self) -> tuple[Seat, ...]:
        """Return the four others while a seat is voted on or vacant."""
        if self.subject is None:
            return ()
        return tuple(seat for seat in Seat if seat is not self.subject)

    @property
    def vacant(self) -> Seat | None:
        """Return the seat without a soul."""
        return self.subject if self.stage is Stage.VACANT else None

    def under_review(self, finished: int) -> slice:
        """Return which finished rounds count: those since the last review, or of the open one."""
        if self.stage is Stage.SETTLED:
            return slice(self.reviewed, finished)
        return slice(self.since, self.reviewed)

    def waiting_for(self) -> tuple[Seat, ...]:
        """Return the survivors that have not voted, or have not consented to the first text."""
        if self.stage is Stage.VOTING:
            done = {one.seat for one in self.votes}
        else:
            done = set(self.proposals[0].endorsed_by) if self.proposals else set()
        return tuple(seat for seat in self.survivors if seat not in done)


def propose(
    state: Evolution,
    subject: Seat,
    *,
    review: str,
    finished: int,
    blind_spots: tuple[str, ...],
    goal: str,
    due_at: str,
) -> Evolution:
    """Put a seat to the vote of the others, who have time until `due_at`."""
    return replace(
        state,
        stage=Stage.VOTING,
        review=review,
        cycle=state.cycle + 1,
        reviewed=finished,
        since=state.reviewed,
        subject=subject,
        votes=(),
        proposals=(),
        submissions={},
        blind_spots=blind_spots,
        goal=goal,
        due_at=due_at,
        lapsed_at="",
        absences=(),
    )


def take_vote(
    state: Evolution,
    seat: Seat,
    verdict: Verdict,
    *,
    needed: int,
    at: str,
    vacant_until: str,
    review: str | None = None,
) -> Evolution:
    """Take a survivor's vote; enough Up make the seat vacant, too many Down keep it.

    A seat that falls vacant by it is to have a soul by `vacant_until`. A vote that names a `review`
    counts in no other one: another seat may be put to the vote by the time it comes.
    """
    if state.stage is not Stage.VOTING:
        raise NotAllowed(
            "no seat is put to the vote" + _last_time(state),
            hint="the next vote is after `council.evolve_every` more rounds",
        )
    if review not in {None, state.review}:
        raise NotAllowed(
            f"{str(review)[:_LONGEST_NAME]!r} is not what is voted on now" + _last_time(state),
            hint=f"seat {state.subject} is put to the vote now, in {state.review}",
        )
    _require_survivor(state, seat)
    if any(one.seat is seat for one in state.votes):
        raise NotAllowed(f"seat {seat} has voted already")
    votes = (*state.votes, RetirementVote(seat=seat, verdict=verdict, at=at))
    voted = replace(state, votes=votes)
    ups = [one.seat for one in votes if one.verdict is Verdict.UP]
    if len(ups) >= needed:
        left = {name: card for name, card in state.souls.items() if name != state.subject}
        ended = f"seat {state.subject} was retired by {named(ups)}"
        return replace(voted, stage=Stage.VACANT, souls=left, due_at=vacant_until, ended=ended)
    if len(ups) + len(state.survivors) - len(votes) < needed:
        downs = named(one.seat for one in votes if one.verdict is Verdict.DOWN)
        return settled(voted, f"seat {state.subject} stays: {downs} voted Down")
    return voted


def take_text(
    state: Evolution, seat: Seat, text: str, *, goal: str, past: Mapping[CardHash, str], at: str
) -> Evolution:
    """Take a survivor's text: a proposal if it is new, consent if it is there already.

    `past` names the souls that this seat has had, which may not return.
    """
    if state.stage is not Stage.VACANT:
        raise NotAllowed("no seat is vacant, so there is no soul to write" + _last_time(state))
    _require_survivor(state, seat)
    card = content_hash(text.encode())
    if card in past:
        raise NotAllowed(
            f"this is the soul {past[card]} again", hint="a retired soul does not return"
        )
    known = next((one for one in state.proposals if one.text == card), None)
    if known is not None and seat in known.endorsed_by:
        return state
    if state.submissions.get(seat, 0) >= MOST_SUBMISSIONS:
        raise LimitReached(f"seat {seat} has submitted {MOST_SUBMISSIONS} texts for this seat")
    others = [_without(one, seat) for one in state.proposals]
    if known is None:
        others.append(Proposal(text=card, by=seat, endorsed_by=(seat,), goal=goal, at=at))
    proposals = tuple(
        replace(one, endorsed_by=(*one.endorsed_by, seat)) if one.text == card and known else one
        for one in others
        if one.endorsed_by or one.text == card
    )
    submissions = {**state.submissions, seat.value: state.submissions.get(seat, 0) + 1}
    absences = tuple(one for one in state.absences if one.seat is not seat)
    return replace(state, proposals=proposals, submissions=submissions, absences=absences)


def consents_needed(state: Evolution, *, least: int) -> int:
    """Return how many survivors must submit one text: all, or `least` once the time is over."""
    return least if state.lapsed_at else len(state.survivors)


def find_agreed(state: Evolution, *, least: int) -> Proposal | None:
    """Return the text that enough survivors have submitted."""
    needed = consents_needed(state, least=least)
    return next((one for one in state.proposals if len(one.endorsed_by) >= needed), None)


def give_birth(state: Evolution, proposal: Proposal, *, vote_after: int) -> Evolution:
    """Give the vacant seat its soul; it has no vote until so many rounds are finished."""
    seat = state.subject
    assert seat is not None, "a text is only agreed on for a vacant seat"
    ended = f"seat {seat} has a new soul by {named(proposal.endorsed_by)}"
    absent = [one.seat for one in state.absences]
    others = [one for one in state.survivors if one not in {*proposal.endorsed_by, *absent}]
    ended += f"; {named(absent)} stayed silent" if absent else ""
    ended += f"; {named(others)} wanted another text" if others else ""
    return replace(
        settled(state, ended),
        souls={**state.souls, seat.value: proposal.text},
        versions={**state.versions, seat.value: state.versions[seat.value] + 1},
        probation={**state.probation, seat.value: vote_after},
        submissions={},
    )


def settled(state: Evolution, ended: str) -> Evolution:
    """Return the state once a vote or a vacancy has ended in this way."""
    return replace(state, stage=Stage.SETTLED, subject=None, due_at="", lapsed_at="", ended=ended)


def without_vote(state: Evolution, finished: int) -> tuple[Seat, ...]:
    """Return the seats that have no vote in rounds: on probation, or without a soul."""
    return tuple(
        seat
        for seat in Seat
        if seat is state.vacant or finished < state.probation.get(seat.value, 0)
    )


def as_soul_text(text: str) -> str:
    """Return a soul as it is kept (NFC, plain line ends, one at the end) or raise `InvalidInput`.

    So one text is one card, whoever typed it.
    """
    plain = unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").strip()
    if not plain:
        raise InvalidInput("a soul cannot be empty", hint="write a system prompt")
    if len(plain) > LONGEST_SOUL:
        raise InvalidInput(f"a soul has at most {LONGEST_SOUL:,} characters, not {len(plain):,}")
    hidden = next((one for one in plain if _is_hidden(one)), None)
    if hidden is not None:
        raise InvalidInput(
            f"a soul holds no hidden character such as U+{ord(hidden):04X}",
            hint="everybody must be able to read all of it",
        )
    return plain + "\n"


def as_goal(text: str | None) -> str:
    """Return a goal in one line or raise `InvalidInput`."""
    plain = " ".join((text or "").split())
    if len(plain) > LONGEST_GOAL:
        raise InvalidInput(f"a goal has at most {LONGEST_GOAL} characters")
    return plain


def named(seats: Iterable[Seat]) -> str:
    """Return seats in words: `I, II and IV`."""
    *first, last = seats
    return f"{', '.join(first)} and {last}" if first else str(last)


def _last_time(state: Evolution) -> str:
    return f"; how it ended last time: {state.ended}" if state.ended else ""


def _require_survivor(state: Evolution, seat: Seat) -> None:
    if seat is state.subject:
        raise NotAllowed(f"seat {seat} has no say in its own succession")


def _without(proposal: Proposal, seat: Seat) -> Proposal:
    left = tuple(one for one in proposal.endorsed_by if one is not seat)
    return replace(proposal, endorsed_by=left)


def _is_hidden(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs"}
