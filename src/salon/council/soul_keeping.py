"""The souls of one archive: kept as cards behind handles, moved by compare-and-set.

`council/evolution` holds how things stand, `souls/active/SEAT` each soul, `souls/graveyard/SEAT-vN`
what was retired. Every move is one transaction with one audit note; two processes that act at once
act one after the other. The five souls that come with the package are laid down on first use.

What the clock has decided comes before what anybody does: before every move, and whenever `settle`
is called, a vote or a vacancy whose time is over is ended as `soul_waiting` says.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.clock import Clock, instant
from salon.core.errors import Conflict, HandleMoved, NotFound
from salon.core.events import CouncilMoved
from salon.core.hashing import CardHash, content_hash
from salon.core.ids import IdMaker
from salon.council.keeping import RoundCards
from salon.council.outcomes import Outcomes
from salon.council.performance import Performance, blind_spots, goal_of, matrix, weakest
from salon.council.phases import ROUNDS, SYSTEM
from salon.council.rounds import Round, Verdict
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.council.soul_cards import (
    ACTIVE,
    EVOLUTION,
    EVOLUTION_CARD,
    GRAVEYARD,
    Synthesized,
    adding,
    base_soul,
    note_of,
)
from salon.council.soul_waiting import end_vote, is_overdue, lapse, later
from salon.council.souls import (
    Evolution,
    Proposal,
    Soul,
    Stage,
    as_goal,
    as_soul_text,
    consents_needed,
    find_agreed,
    give_birth,
    propose,
    take_text,
    take_vote,
    without_vote,
)
from salon.council.weighing import Reliability, graded, reliabilities
from salon.council.writing import TRIES, actor_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    state: Evolution
    card: CardHash


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What a move leaves: the state after it, its note, and what else it writes."""

    state: Evolution
    note: CouncilMoved
    also: Callable[[ArchiveTransaction], None] = lambda _: None


class SoulKeeper:
    """The souls of one archive. May be used by several processes at once."""

    def __init__(
        self,
        archive: Archive,
        *,
        clock: Clock,
        ids: IdMaker,
        rules: CouncilRules,
        on_lapse: Callable[[Evolution], None] = lambda _: None,
    ) -> None:
        """`on_lapse` is told when a vote or a vacancy ran out of time."""
        self._archive = archive
        self._clock = clock
        self._ids = ids
        self._rules = rules
        self._cards = RoundCards(archive)
        self._outcomes = Outcomes(archive, clock=clock)
        self._on_lapse = on_lapse
        self._over: dict[CardHash, Round] = {}

    # Reading

    def state(self) -> Evolution:
        """Return how the souls stand; the first look lays down those of the package."""
        return self._kept().state

    def soul(self, seat: Seat) -> Soul:
        """Return the soul of a seat, or raise `NotFound` while the seat is vacant."""
        state = self.state()
        card = state.souls.get(seat)
        if card is None:
            raise NotFound(f"seat {seat} is vacant", hint="the four others write its soul together")
        return self._soul(seat, card, state.versions[seat], ACTIVE + seat)

    def souls(self) -> tuple[Soul, ...]:
        """Return the souls of all seats that have one."""
        state = self.state()
        return tuple(
            self._soul(seat, state.souls[seat], state.versions[seat], ACTIVE + seat)
            for seat in Seat
            if seat in state.souls
        )

    def graveyard(self) -> tuple[Soul, ...]:
        """Return the souls that were retired, by seat and version."""
        found = []
        for handle in self._archive.handles(prefix=GRAVEYARD):
            name, _, version = handle.name.removeprefix(GRAVEYARD).partition("-v")
            found.append(self._soul(Seat(name), handle.current, int(version), handle.name))
        places = {seat: place for place, seat in enumerate(Seat)}
        return tuple(sorted(found, key=lambda one: (places[one.seat], one.version)))

    def history(self, seat: Seat) -> tuple[Soul, ...]:
        """Return every soul that a seat has had, oldest first, the present one last."""
        state = self.state()
        past = [one for one in self.graveyard() if one.seat is seat]
        return (*past, self.soul(seat)) if seat in state.souls else tuple(past)

    def text(self, card: CardHash) -> str:
        """Return the text of a proposed soul."""
        return self._archive.get(card).content.decode()

    def matrix(self) -> tuple[Performance, ...]:
        """Return how the seats did since the last review, or in the rounds of an open one."""
        return self._matrix(self.state(), self.finished())

    def finished(self) -> list[Round]:
        """Return the rounds that are over, in the order in which they ended."""
        found = []
        for handle in self._archive.handles(prefix=ROUNDS):
            round_ = self._over.get(handle.current) or self._cards.read(handle.current)
            if round_.is_over:  # then its card stays as it is
                self._over[handle.current] = round_
                found.append(round_)
        return sorted(found, key=lambda one: (one.touched_at, one.id))

    def is_due(self) -> bool:
        """Tell whether enough rounds have ended since the last review and none is open."""
        state = self.state()
        if state.stage is not Stage.SETTLED:
            return False
        return len(self.finished()) - state.reviewed >= self._rules.evolve_every

    def on_probation(self) -> tuple[Seat, ...]:
        """Return the seats without a vote in rounds: with a new soul, or with none."""
        state = self.state()
        finished = len(self.finished()) if state.probation else 0
        return without_vote(state, finished)

    def weights(self, *, until: str | None = None) -> dict[Seat, float]:
        """Return how heavy each seat's vote is by its record under its present soul.

        With `until` only outcomes known by then count: nothing is weighed by what came of itself.
        """
        found = self._reliabilities(self.state(), until=until)
        return {seat: one.weight for seat, one in found.items()}

    def consents_needed(self, state: Evolution) -> int:
        """Return how many survivors must hand in one text for the vacant seat of `state`."""
        return consents_needed(state, least=self._rules.least_survivors)

    # Acting

    def settle(self) -> Evolution:
        """End what is open and out of time, if anything is, and return how the souls stand."""
        self._move(lambda _, __: None)
        return self.state()

    def open_retirement(self) -> Evolution | None:
        """Put the weakest seat to the vote of the others, if a review is due; system only."""

        def step(kept: _Kept, at: str) -> _Step | None:
            finished = self.finished()
            state = kept.state
            if state.stage is not Stage.SETTLED:
                return None
            if len(finished) - state.reviewed < self._rules.evolve_every:
                return None
            rows = self._matrix(state, finished)
            chosen = weakest(rows, spared=without_vote(state, len(finished)))
            if chosen is None:
                return None
            spots = blind_spots(chosen, [row for row in rows if row is not chosen])
            after = propose(
                state,
                chosen.seat,
                review=self._ids.new("evolution"),
                finished=len(finished),
                blind_spots=spots,
                goal=goal_of(chosen.seat),
                due_at=self._due(at),
            )
            return _Step(
                state=after, note=note_of(after, "propose_retirement", SYSTEM, rule=chosen.seat)
            )

        return self._move(step)

    def vote_retirement(
        self, seat: Seat, verdict: Verdict, *, review: str | None = None
    ) -> Evolution:
        """Take a survivor's vote; the fourth Up sends the soul to the graveyard.

        A vote that comes when the time is over is refused, as is one that names another `review`.
        """

        def step(kept: _Kept, at: str) -> _Step:
            after = take_vote(
                kept.state,
                seat,
                verdict,
                needed=self._votes_needed,
                at=at,
                vacant_until=self._due(at),
                review=review,
            )
            note = note_of(after, "vote_retirement", seat, rule=verdict.value)
            if after.stage is not Stage.VACANT:
                return _Step(state=after, note=note)
            gone = kept.state.subject
            assert gone is not None
            soul = kept.state.souls[gone]
            grave = f"{GRAVEYARD}{gone}-v{kept.state.versions[gone]}"

            def bury(tx: ArchiveTransaction) -> None:
                tx.set_handle(grave, soul, expected_current=None)
                tx.remove_handle(ACTIVE + gone)

            return _Step(state=after, note=replace(note, artefact=soul), also=bury)

        found = self._move(step)
        assert found is not None, "a vote is taken or refused"
        return found

    def synthesize(
        self, seat: Seat, *, system_prompt_content: str, goal: str | None = None
    ) -> Synthesized:
        """Propose a soul for the vacant seat, or consent to one by submitting the same text.

        While the seat is vacant no text comes too late; it only takes fewer of them then.
        """
        text, aim = as_soul_text(system_prompt_content), as_goal(goal)
        path = ""

        def step(kept: _Kept, at: str) -> _Step | None:
            nonlocal path
            vacant = kept.state.vacant
            past = {} if vacant is None else self._past(vacant)
            after = take_text(kept.state, seat, text, goal=aim, past=past, at=at)
            assert vacant is not None, "without a vacancy the text was refused"
            path = ACTIVE + vacant
            if after is kept.state:
                return None
            card = content_hash(text.encode())
            agreed = find_agreed(after, least=self._rules.least_survivors)
            if agreed is None:
                note = note_of(after, "synthesize_soul", seat, rule="awaiting_survivors")
                return _Step(state=after, note=replace(note, artefact=card), also=adding(text))
            note = note_of(after, "synthesize_soul", seat, rule="born")
            return self._birth(after, agreed, text, note)

        after = self._move(step)
        is_born = after is not None and after.stage is Stage.SETTLED
        return Synthesized(new_soul_path=path, status="born" if is_born else "awaiting_survivors")

    # Waiting

    @property
    def _votes_needed(self) -> int:
        return min(self._rules.retire_votes, len(Seat) - 1)

    def _due(self, at: str) -> str:
        return later(at, self._rules.evolve_patience_s)

    def _overdue(self, state: Evolution, at: str) -> _Step | None:
        """Return what the clock has decided: how a vote or a vacancy out of time goes on."""
        if state.stage is not Stage.SETTLED and not state.due_at:
            # A card from before there were due times: the survivors get all of theirs.
            waiting = replace(state, due_at=self._due(at))
            return _Step(state=waiting, note=note_of(waiting, "set_due", SYSTEM, rule=""))
        if not is_overdue(state, at):
            return None
        if state.stage is Stage.VOTING:
            kept = end_vote(state, needed=self._votes_needed, at=at)
            note = note_of(kept, "end_retirement", SYSTEM, rule=_absent("stays", kept))
            return _Step(state=kept, note=note)
        late = lapse(state, at=at)
        agreed = find_agreed(late, least=self._rules.least_survivors)
        try:
            text = None if agreed is None else self.text(agreed.text)
        except NotFound:
            text = None  # somebody deleted the card; whoever hands the text in again brings it back
        if agreed is None or text is None:
            note = note_of(late, "end_vacancy", SYSTEM, rule=_absent("still vacant", late))
            return _Step(state=late, note=note)
        note = note_of(late, "end_vacancy", SYSTEM, rule=_absent("born", late))
        return self._birth(late, agreed, text, note)

    def _birth(self, state: Evolution, agreed: Proposal, text: str, note: CouncilMoved) -> _Step:
        """Return the step by which the vacant seat has a soul."""
        path = ACTIVE + str(state.vacant)
        born = give_birth(state, agreed, vote_after=len(self.finished()) + self._rules.probation)

        def bear(tx: ArchiveTransaction) -> None:
            tx.set_handle(path, tx.add(text.encode()).hash, expected_current=None)

        noted = replace(note, phase=born.stage.value, artefact=agreed.text)
        return _Step(state=born, note=noted, also=bear)

    # Keeping

    def _move(self, step: Callable[[_Kept, str], _Step | None]) -> Evolution | None:
        """Do one step on what stands; if somebody was faster, do it again on what stands then.

        What is out of time is ended first, in a step of its own.
        """
        for _ in range(TRIES):
            kept = self._kept()
            at = instant(self._clock.now())
            ended = self._overdue(kept.state, at)
            done = ended or step(kept, at)
            if done is None:
                return None
            state = replace(done.state, touched_at=at)
            try:
                self._write(state, kept.card, done)
            except HandleMoved:
                continue
            if ended is None:
                return state
            if state.stage is Stage.SETTLED or state.lapsed_at:
                self._on_lapse(state)
        raise Conflict(
            "the souls of the council move faster than this act can be taken in",
            hint="try again; nothing was changed",
        )

    def _write(self, state: Evolution, expected: CardHash, done: _Step) -> None:
        def work(tx: ArchiveTransaction) -> None:
            card = tx.add(EVOLUTION_CARD.write(asdict(state))).hash
            tx.set_handle(EVOLUTION, card, expected_current=expected)
            done.also(tx)
            tx.note(done.note if done.note.artefact else replace(done.note, artefact=card))

        seat = done.note.seat
        self._archive.write(work, by=actor_of(None if seat == SYSTEM else Seat(seat)))

    def _kept(self) -> _Kept:
        while True:
            handle = self._archive.find_handle(EVOLUTION)
            if handle is not None:
                content = self._archive.get(handle.current).content
                return _Kept(state=EVOLUTION_CARD.read(content), card=handle.current)
            try:
                self._lay_down()
            except HandleMoved:
                continue

    def _lay_down(self) -> None:
        texts = {seat: base_soul(seat) for seat in Seat}
        state = Evolution(
            souls={seat.value: content_hash(text.encode()) for seat, text in texts.items()},
            versions={seat.value: 1 for seat in Seat},
            touched_at=instant(self._clock.now()),
        )

        def work(tx: ArchiveTransaction) -> None:
            card = tx.add(EVOLUTION_CARD.write(asdict(state))).hash
            tx.set_handle(EVOLUTION, card, expected_current=None)
            for seat, text in texts.items():
                tx.set_handle(ACTIVE + seat, tx.add(text.encode()).hash)
            tx.note(
                replace(note_of(state, "lay_down_souls", SYSTEM, rule="first use"), artefact=card)
            )

        self._archive.write(work)

    def _matrix(self, state: Evolution, finished: list[Round]) -> tuple[Performance, ...]:
        rounds = finished[state.under_review(len(finished))]
        return matrix(rounds, self._reliabilities(state))

    def _reliabilities(
        self, state: Evolution, *, until: str | None = None
    ) -> Mapping[Seat, Reliability]:
        held = self._outcomes.held(until=until)
        souls = {Seat(name): card for name, card in state.souls.items()}
        return reliabilities(graded(self.finished() if held else (), held, souls=souls))

    def _past(self, seat: Seat) -> dict[CardHash, str]:
        return {
            one.card: f"v{one.version} of seat {seat}"
            for one in self.graveyard()
            if one.seat is seat
        }

    def _soul(self, seat: Seat, card: CardHash, version: int, handle: str) -> Soul:
        return Soul(seat=seat, text=self.text(card), version=version, card=card, handle=handle)


def _absent(what: str, state: Evolution) -> str:
    """Return what the log says of an end: what came of it, and who was absent."""
    return what + "".join(f", absent {one.seat}" for one in state.absences)
