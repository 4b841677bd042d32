"""The council: opening rounds, driving them, looking at them, and seats that are held outside.

Each capability is one function; what it does stands in `salon.council`.
"""

import logging
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from salon.core.errors import NotFound
from salon.council.seats import Seat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from salon.archive.audit.signing import Signer
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.core.archive import Archive
    from salon.core.embedding import Embedder
    from salon.corpus.filters import Where
    from salon.corpus.search import FoundPassage, SearchAnswer
    from salon.council.desk import CouncilDesk, Lineup
    from salon.council.driving import OnEvent
    from salon.council.rounds import Round
    from salon.council.rules import CouncilRules
    from salon.council.soul_keeping import SoulKeeper
    from salon.council.souls import Evolution
    from salon.grounding.verifying import Verification
    from salon.parts.council_driving import Drivers
    from salon.parts.council_holders import Holders
    from salon.parts.council_shapes import (
        Ballot,
        CandidateText,
        Chapter,
        EvolutionShown,
        RoundReport,
        SoulShown,
    )
    from salon.parts.council_skills import SeatSkills
    from salon.parts.council_tokens import SeatToken, SeatTokens
    from salon.settings import Settings

log = logging.getLogger(__name__)


class CouncilPart:
    """What the application can do about the council."""

    settings: "Settings"

    if TYPE_CHECKING:

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

        @property
        def embedder(self) -> Embedder:
            """The application's embedder."""

        @property
        def _verification(self) -> Verification: ...

        def search(
            self,
            query: str,
            *,
            limit: int = 5,
            mode: Literal["hybrid", "dense", "sparse"] = "hybrid",
            alpha: float = 0.5,
            where: Where | None = None,
        ) -> SearchAnswer:
            """Search the archive."""

    # Rounds

    @cached_property
    def council_desk(self) -> "CouncilDesk":
        """The rounds of this home, as the system sees them."""
        return self._desk_over(self.archive)

    def open_round(
        self,
        topic: str,
        *,
        topic_id: str | None = None,
        holders: Mapping[Seat, str] | None = None,
    ) -> "Round":
        """Open a round; who holds which seat comes from the settings where it is not said."""
        from salon.parts.council_holders import require_holder

        chosen = {seat: self.settings.council.seat(seat).holder for seat in Seat} | dict(
            holders or {}
        )
        for address in chosen.values():
            require_holder(address)
        return self.council_desk.open(topic, topic_id=topic_id, holders=chosen)

    def run_round(
        self, round_id: str, *, on_event: "OnEvent" = lambda _: None, patience: float | None = None
    ) -> "Round":
        """Drive a round to its end, from wherever it stands; a crash is mended by calling again."""
        return self._drive(self._drivers, round_id, on_event, patience)

    def start_round(self, round_id: str) -> bool:
        """Drive a round beside other work; tell whether it was not driven here already."""
        if self.council_desk.get(round_id).is_over:
            return False
        # Bound here: whoever closes the application takes the drivers away first.
        drivers = self._drivers
        return drivers.start(round_id, lambda: self._drive(drivers, round_id))

    def _drive(
        self,
        drivers: "Drivers",
        round_id: str,
        on_event: "OnEvent" = lambda _: None,
        patience: float | None = None,
    ) -> "Round":
        from salon.council.driving import drive
        from salon.council.evolving import evolve

        round_ = self.council_desk.get(round_id)
        waits = self.settings.council.patience_s if patience is None else patience
        with drivers.driving(round_id), self._holders.seated(round_.holders) as seated:
            over = drive(
                self.council_desk,
                round_id,
                seated,
                patience=waits,
                on_event=drivers.unless_closing(on_event),
                wait=drivers.wait,
            )
            evolve(self._soul_keeper, seated)
        return over

    def resume_rounds(self) -> int:
        """Drive every open round that nobody drives, as after a crash; return how many."""
        return sum(self.start_round(one.id) for one in self.open_rounds())

    def open_rounds(self) -> "list[Round]":
        """Return the rounds that are not over, newest first; a topic has at most one."""
        from salon.council.keeping import RoundCards

        found = [one for one in RoundCards(self.archive).latest_of_all_topics() if not one.is_over]
        return sorted(found, key=lambda one: (one.opened_at, one.id), reverse=True)

    def rounds(self) -> "list[Round]":
        """Return all rounds, newest first."""
        return self.council_desk.rounds()

    def round(self, round_id: str) -> "Round":
        """Return a round, or raise `RoundNotFound`."""
        return self.council_desk.get(round_id)

    def round_due(self, round_id: str) -> dict[Seat, tuple[str, ...]]:
        """Return what each seat has yet to do in a round."""
        round_ = self.council_desk.get(round_id)
        if round_.is_over:
            return {}
        due = {seat: self.council_desk.brief(seat, round_id).due for seat in Seat}
        return {seat: works for seat, works in due.items() if works}

    def round_version(self, round_id: str) -> int:
        """Return how often a round has changed since it was opened."""
        from salon.council.naming import round_handle

        self.council_desk.get(round_id)
        return len(self.archive.history(round_handle(round_id)))

    def critiques(self, round_id: str) -> dict[str, str]:
        """Return the texts of a round's critiques by their ids."""
        desk = self.council_desk
        return {one.id: desk.text(one.feedback) for one in desk.get(round_id).critiques}

    def ballot(self, round_id: str, *, attempt: int | None = None) -> "Ballot":
        """Return how a round was voted on, in its latest attempt or in another one."""
        from salon.parts.council_shapes import ballot_of

        desk = self.council_desk
        round_ = desk.get(round_id)
        if attempt is not None and attempt > round_.attempt:
            raise NotFound(f"{round_id} has no attempt {attempt}")
        before = [one for one in desk.rounds() if one.opened_at < round_.opened_at]
        published = round_.published
        return ballot_of(
            round_,
            {vote.id: desk.text(vote.rationale) for vote in round_.votes},
            before=before[::-1],
            weights=self._soul_keeper.weights(until=published.at if published else None),
            attempt=attempt,
        )

    def candidate(self, round_id: str, candidate_id: str) -> "CandidateText":
        """Return a candidate with its text and critiques; its id may leave the round out."""
        from salon.parts.council_shapes import CandidateText

        desk = self.council_desk
        round_ = desk.get(round_id)
        names = {candidate_id, f"{round_id}.{candidate_id}"}
        found = [one for one in round_.candidates if one.id in names]
        if not found:
            raise NotFound(
                f"{round_id} has no candidate {candidate_id[:100]!r}",
                hint=f"`salon council show {round_id}` lists them",
            )
        return CandidateText(
            candidate=found[-1],
            markdown=desk.text(found[-1].text),
            critiques=tuple(
                (one, desk.text(one.feedback))
                for one in round_.critiques
                if one.candidate == found[-1].id
            ),
        )

    def chapter(self, round_id: str) -> "Chapter":
        """Return what a round published, or raise `NotFound`."""
        from salon.council.drafts import read_draft
        from salon.council.records import read_record
        from salon.parts.council_shapes import Chapter

        desk = self.council_desk
        round_ = desk.get(round_id)
        if round_.published is None:
            raise NotFound(
                f"{round_id} has published nothing",
                hint=f"`salon council show {round_id}` says why",
            )
        published = round_.published
        markdown = desk.text(published.text)
        chosen = next(one for one in round_.candidates if one.id == published.candidate)
        return Chapter(
            round_id=round_id,
            title=read_draft(markdown).title,
            markdown=markdown,
            citations=chosen.citations,
            record=read_record(self.archive.get(published.record).content),
            text=published.text,
            record_card=published.record,
            handle=published.handle,
            document=published.document,
            at=published.at,
        )

    def verify_round(self, round_id: str) -> "RoundReport":
        """Check a round again: its cards, its votes, and every citation of what it published."""
        from salon.parts.council_checks import check_round

        return check_round(
            self.archive,
            self.council_desk.get(round_id),
            key=self._chapter_signer().key,
            verification=lambda: self._verification,
            rules=self._council_rules,
        )

    def record_outcome(self, round_id: str, *, held: bool, note: str = "") -> dict[Seat, float]:
        """Say what became of a chapter; return how heavy each seat's vote is from now on."""
        from salon.core.clock import SystemClock
        from salon.council.outcomes import Outcomes

        outcomes = Outcomes(self.archive, clock=SystemClock())
        outcomes.record(round_id, held=held, by=self.settings.actor, note=note)
        return self._soul_keeper.weights()

    def souls(self) -> "list[SoulShown]":
        """Return the seats, who holds them, their souls and how they have done."""
        from salon.parts.council_shapes import souls_of

        keeper = self._soul_keeper
        keeper.settle()
        holders = {seat: self.settings.council.seat(seat).holder for seat in Seat}
        return souls_of(keeper, holders=holders, tokens=self._seat_tokens.issued())

    def evolution(self) -> "EvolutionShown":
        """Return which seat is voted on or vacant, who is waited for until when, and what to do."""
        from salon.parts.council_shapes import evolution_of

        return evolution_of(self._soul_keeper)

    # Seats that are held outside

    def seat_skills(
        self, seat: Seat, *, still_wanted: Callable[[], bool] = lambda: True
    ) -> "SeatSkills":
        """Return what an outside seat can do; nothing is written once `still_wanted` says no."""
        from salon.corpus.filters import Where
        from salon.parts.council_skills import SeatSkills, while_wanted

        archive = while_wanted(self.archive, still_wanted)
        return SeatSkills(
            seat,
            desk=self._desk_over(archive),
            souls=self._keeper_over(archive),
            open_rounds=self.open_rounds,
            # A draft may not rest on derived text alone, so a seat is not offered any.
            search=partial(self.search, where=Where(derived=False)),
        )

    def issue_seat_token(self, seat: Seat) -> "SeatToken":
        """Make the token with which an outside client sits in a seat; it is shown this once."""
        return self._seat_tokens.issue(seat)

    def revoke_seat_token(self, seat: Seat) -> bool:
        """Let a seat's token no longer count; tell whether there was one."""
        return self._seat_tokens.revoke(seat)

    def seat_of_token(self, token: str) -> Seat | None:
        """Return the seat that a token stands for."""
        return self._seat_tokens.find_seat(token)

    @cached_property
    def _seat_tokens(self) -> "SeatTokens":
        from salon.core.clock import SystemClock
        from salon.parts.council_tokens import SeatTokens

        return SeatTokens(self.settings.seat_tokens_path, SystemClock())

    # Building

    def _desk_over(self, archive: "Archive") -> "CouncilDesk":
        from salon.core.clock import SystemClock
        from salon.core.ids import RandomIds
        from salon.council.desk import CouncilDesk

        return CouncilDesk(
            archive,
            clock=SystemClock(),
            ids=RandomIds(),
            rules=self._council_rules,
            verification=lambda: self._verification,
            signer=self._chapter_signer,
            lineup=self._lineup,
            weights=self._soul_keeper.weights,
            on_no_quorum=_tell,
        )

    @cached_property
    def _soul_keeper(self) -> "SoulKeeper":
        return self._keeper_over(self.archive)

    def _keeper_over(self, archive: "Archive") -> "SoulKeeper":
        from salon.core.clock import SystemClock
        from salon.core.ids import RandomIds
        from salon.council.soul_keeping import SoulKeeper

        return SoulKeeper(
            archive,
            clock=SystemClock(),
            ids=RandomIds(),
            rules=self._council_rules,
            on_lapse=_tell_lapse,
        )

    def _lineup(self) -> "Lineup":
        from salon.council.desk import Lineup

        keeper = self._soul_keeper
        return Lineup(souls=dict(keeper.settle().souls), on_probation=keeper.on_probation())

    @cached_property
    def _council_rules(self) -> "CouncilRules":
        from salon.council.rules import CouncilRules

        chosen = self.settings.council
        return CouncilRules(
            retries=chosen.retries,
            evolve_every=chosen.evolve_every,
            evolve_patience_s=chosen.evolve_patience_s,
            probation=chosen.probation,
        )

    def _chapter_signer(self) -> "Signer":
        from salon.archive.audit.signing import load_or_make_signer

        return load_or_make_signer(self.settings.key_path)

    @cached_property
    def _drivers(self) -> "Drivers":
        from salon.parts.council_driving import Drivers

        return Drivers(self.settings.home / "rounds")

    @cached_property
    def _holders(self) -> "Holders":
        from salon.parts.council_holders import Holders

        return Holders(
            settings=self.settings,
            archive=self.archive,
            search=self._passages_for_seats,
            embedder=lambda: self.embedder,
        )

    def _passages_for_seats(self, query: str, limit: int) -> "Sequence[FoundPassage]":
        from salon.corpus.filters import Where

        # Chapters of earlier rounds would take the places of what they were made from.
        return self.search(query, limit=limit, where=Where(derived=False)).passages


def _tell(round_: "Round") -> None:
    """Tell a person that a round ended without a quorum; whoever runs Salon reads its log."""
    log.warning("round %s ended without a quorum: %s", round_.id, "; ".join(round_.reasons))


def _tell_lapse(state: "Evolution") -> None:
    """Tell a person that survivors of a retirement ran out of time."""
    from salon.council.souls import Stage

    if state.stage is Stage.SETTLED:
        log.warning("%s: %s", state.review, state.ended)
    else:
        log.warning(
            "%s: seat %s is still vacant; `salon council status` says what to do",
            state.review,
            state.subject,
        )
