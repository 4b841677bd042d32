"""The desk: where seats act on rounds, and where the system moves them on and publishes.

A seat writes to staging and to the ledgers of its round, by the five methods named after skills,
and nowhere else. `open`, `mark_absent` and `advance` belong to the system: no skill leads to them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from salon.archive.audit.signing import Signer
from salon.core.absent import Absent
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.clock import Clock, instant
from salon.core.errors import HandleMoved, NotAllowed
from salon.core.hashing import CardHash
from salon.core.ids import IdMaker
from salon.council import acting, naming
from salon.council.briefing import brief
from salon.council.checks import Checks
from salon.council.closing import Closing
from salon.council.deciding import find_tally, why_not
from salon.council.entering import (
    as_feedback,
    as_rationale,
    as_scorecard,
    as_topic,
    require_collaborators,
)
from salon.council.finding import round_on, round_with, runoff_with
from salon.council.holders import Brief
from salon.council.keeping import LATEST, RoundCards
from salon.council.ledgers import enter_critique, enter_vote
from salon.council.phases import Skill
from salon.council.results import (
    AWAITING,
    PENDING,
    SENT_BACK,
    Counted,
    Fused,
    Reviewed,
    Submitted,
)
from salon.council.rounds import (
    Absence,
    Failing,
    Phase,
    Round,
    Scorecard,
    Verdict,
)
from salon.council.rules import CouncilRules
from salon.council.seats import Seat, require_seat
from salon.council.staging import Staging
from salon.council.writing import Change, RoundWriter
from salon.grounding.verifying import Verification

__all__ = ["CouncilDesk", "Counted", "Fused", "Lineup", "Reviewed", "Submitted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineup:
    """How the seats stand when a round opens: the cards of their souls, and who is on probation."""

    souls: dict[str, CardHash] = field(default_factory=dict)
    on_probation: tuple[Seat, ...] = ()


class CouncilDesk:
    """The rounds of one archive; may be used by several processes at once."""

    def __init__(
        self,
        archive: Archive,
        *,
        clock: Clock,
        ids: IdMaker,
        rules: CouncilRules,
        verification: Callable[[], Verification],
        signer: Callable[[], Signer],
        lineup: Callable[[], Lineup] = Lineup,
        weights: Callable[[], Mapping[Seat, float] | None] = lambda: None,
        on_no_quorum: Callable[[Round], None] = lambda _: None,
    ) -> None:
        self.rules = rules
        self._archive = archive
        self._clock = clock
        self._ids = ids
        self._lineup = lineup
        self._cards = RoundCards(archive)
        self._writer = RoundWriter(archive, self._cards, clock)
        checks = Checks(archive, verification, rules.limits)
        self._staging = Staging(checks, rules=rules, clock=clock, ids=ids)
        self._closing = Closing(
            archive=archive,
            writer=self._writer,
            checks=checks,
            rules=rules,
            clock=clock,
            signer=signer,
            weights=weights,
            on_no_quorum=on_no_quorum,
        )

    # Reading

    def get(self, round_id: str) -> Round:
        """Return a round as it stands, or raise `RoundNotFound`."""
        return self._cards.get(round_id).round

    def rounds(self) -> list[Round]:
        """Return every round, newest first."""
        return self._cards.all()

    def text(self, card: CardHash) -> str:
        """Return the text of a card."""
        return self._archive.get(card).content.decode()

    def brief(self, seat: Seat, round_id: str) -> Brief:
        """Return what a seat is shown of a round, and what is due from it."""
        return brief(self.get(round_id), require_seat(seat), self.text)

    # The system

    def open(
        self, topic: str, *, topic_id: str | None = None, holders: Mapping[Seat, str]
    ) -> Round:
        """Open a round on a topic; while another one on it goes on, that is refused.

        An id that was made from the words of another topic is refused too, unless it is given.
        """
        topic = as_topic(topic, self.rules)
        named = naming.topic_id_of(topic) if topic_id is None else naming.as_topic_id(topic_id)
        while True:
            latest = self._cards.find_latest(named)
            if latest is not None and topic_id is None:
                self._require_same_topic(named, topic, self.get(latest[0]).topic)
            if latest is not None and not self.get(latest[0]).is_over:
                raise NotAllowed(
                    f"round {latest[0]} on {named} is not over",
                    hint="resume it, or open a round under another topic id",
                )
            try:
                return self._open(topic, named, holders, None if latest is None else latest[1])
            except HandleMoved:
                continue  # somebody else opened one on this topic

    def mark_absent(self, round_id: str, seat: Seat, reason: str) -> Round:
        """Give up on a seat in this phase; nothing changes where nothing is due from it."""
        seat = require_seat(seat)
        # Reasons come from models and networks, and may hold half a character.
        why = reason.encode(errors="replace").decode()[: self.rules.limits.topic]

        def decide(round_: Round) -> Change | None:
            absence = Absence(
                seat=seat,
                phase=round_.phase,
                attempt=round_.attempt,
                reason=why,
                at=self._now(),
            )
            after = acting.absent(round_, absence)
            if after is round_:
                return None
            return Change(round=after, act="mark_absent", rule=f"absent {seat.value}")

        return self._writer.act(round_id, None, decide)

    def advance(self, round_id: str) -> Round:
        """Close the phase if nobody is due any more, and publish where the council agreed."""
        return self._closing.advance(round_id)

    # The skills

    def submit_candidate(
        self, seat: Seat, markdown: str, *, topic_id: str, round_id: str | None = None
    ) -> Submitted:
        """Submit a draft in the sprint, or the refined text of it in refinement."""
        seat = require_seat(seat)
        round_ = round_on(self._cards, topic_id, round_id)
        name, failings = self._submit(round_, seat, Skill.SUBMIT_CANDIDATE, markdown)
        status = SENT_BACK if failings else AWAITING
        return Submitted(candidate_id=name, status=status, failings=failings)

    def peer_review(self, seat: Seat, candidate_id: str, feedback: str) -> Reviewed:
        """Criticise a peer's candidate."""
        seat = require_seat(seat)
        round_ = round_with(self._cards, candidate_id)
        said = as_feedback(feedback, self.rules)
        review_id = self._ids.new("review")
        self._writer.act(
            round_.id,
            seat,
            lambda now: enter_critique(
                now, seat, candidate_id, said, id_=review_id, at=self._now()
            ),
        )
        return Reviewed(review_id=review_id)

    def submit_fusion(
        self,
        seat: Seat,
        collaborator_ids: Sequence[str],
        markdown: str,
        *,
        round_id: str | None = None,
    ) -> Fused:
        """Submit the joint text of a runoff's two authors, as one of them."""
        seat = require_seat(seat)
        round_ = runoff_with(self._cards, seat, round_id)
        name, failings = self._submit(
            round_,
            seat,
            Skill.SUBMIT_FUSION,
            markdown,
            guard=lambda now: require_collaborators(now, seat, collaborator_ids),
        )
        status = SENT_BACK if failings else PENDING
        return Fused(fusion_id=name, status=status, failings=failings)

    def cast_vote(
        self,
        seat: Seat,
        draft_id: str,
        scores: Scorecard,
        rationale: str,
        *,
        verdict: Verdict | None = None,
    ) -> Counted:
        """Grade a peer's final candidate, or a fusion that is to be ratified."""
        seat = require_seat(seat)
        round_ = round_with(self._cards, draft_id)
        card, why = as_scorecard(scores), as_rationale(rationale, self.rules)
        vote_id = self._ids.new("vote")
        after = self._writer.act(
            round_.id,
            seat,
            lambda now: enter_vote(
                now,
                seat,
                draft_id,
                card,
                why,
                verdict=verdict,
                rules=self.rules,
                id_=vote_id,
                at=self._now(),
            ),
        )
        counted = find_tally(after, draft_id)
        return Counted(
            vote_id=vote_id,
            current_average=Absent("nobody has voted on it") if counted is None else counted.mean,
            consensus_met=why_not(after, draft_id, self.rules) is None,
        )

    # Texts

    def _submit(
        self,
        round_: Round,
        seat: Seat,
        skill: Skill,
        markdown: str,
        *,
        guard: Callable[[Round], None] = lambda _: None,
    ) -> tuple[str, tuple[Failing, ...]]:
        self._staging.require_room(round_, seat, skill)
        guard(round_)
        checked = self._staging.check(markdown, topic=round_.topic)
        name = ""

        def decide(now: Round) -> Change | None:
            nonlocal name
            guard(now)
            name, change = self._staging.enter(now, seat, skill, checked)
            return change

        self._writer.act(round_.id, seat, decide)
        return name, checked.failings

    # Opening

    def _require_same_topic(self, named: str, topic: str, known: str) -> None:
        if naming.topic_key(known) != naming.topic_key(topic):
            raise NotAllowed(
                f"the id {named} belongs to another topic: {known}",
                hint="give this topic an id of its own, or that id to go on with the other one",
            )

    def _open(
        self, topic: str, topic_id: str, holders: Mapping[Seat, str], expected: CardHash | None
    ) -> Round:
        now = self._now()
        lineup = self._lineup()
        round_ = Round(
            id=naming.as_round_id(naming.new_round_id(self._ids)),
            topic_id=topic_id,
            topic=topic,
            phase=Phase.SPRINT,
            opened_at=now,
            touched_at=now,
            holders={require_seat(seat).value: held for seat, held in holders.items()},
            on_probation=lineup.on_probation,
            souls=dict(lineup.souls),
        )
        latest = LATEST.write({"topic_id": topic_id, "round": round_.id})

        def point(tx: ArchiveTransaction, opened: Round) -> Round:
            card = tx.add(latest).hash
            tx.set_handle(naming.topic_handle(topic_id), card, expected_current=expected)
            return opened

        return self._writer.write(Change(round=round_, act="open", also=point), None, None)

    def _now(self) -> str:
        return instant(self._clock.now())
