"""Moving a round on: the system actor closes phases, opens new attempts, and publishes.

Right before a chapter is published the votes are counted again and every citation is verified
again. If documents were added, removed or judged between that and the transaction, it is all done
once more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from salon.archive.audit.signing import Signer
from salon.core.archive import Archive, ArchiveTransaction
from salon.core.clock import Clock, instant
from salon.core.errors import HandleMoved
from salon.core.hashing import content_hash
from salon.council.ballots import tally
from salon.council.checks import Checks
from salon.council.deciding import Decision, decide, disagreed, moved, why_not
from salon.council.naming import staging_handle
from salon.council.phases import Event
from salon.council.publication import Chapter, publish
from salon.council.records import counting_of, make_record, sign_record
from salon.council.rounds import Phase, Round
from salon.council.rules import CouncilRules
from salon.council.seats import Seat
from salon.council.writing import Change, RoundWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """What the system actor does to the rounds of one archive."""

    archive: Archive
    writer: RoundWriter
    checks: Checks
    rules: CouncilRules
    clock: Clock
    signer: Callable[[], Signer]
    weights: Callable[[], Mapping[Seat, float] | None]
    on_no_quorum: Callable[[Round], None]

    def advance(self, round_id: str) -> Round:
        """Close the phase if nobody is due any more; otherwise return the round as it is."""
        is_moved = False

        def step(round_: Round) -> Change | None:
            nonlocal is_moved
            decision = decide(round_, self.rules)
            is_moved = decision is not None
            return None if decision is None else self._change(round_, decision)

        after = self.writer.act(round_id, None, step)
        if is_moved and after.phase is Phase.NO_QUORUM:
            self.on_no_quorum(after)
        return after

    def _change(self, round_: Round, decision: Decision) -> Change:
        if decision.event is not Event.AGREED:
            return self._moving(round_, decision)
        stamp = self.archive.documents_stamp()
        made = self._chapter(round_, decision)
        if isinstance(made, Decision):
            return self._moving(round_, made)

        def publishing(tx: ArchiveTransaction, after: Round) -> Round:
            if self.archive.documents_stamp() != stamp:
                raise HandleMoved("documents changed while a chapter was checked")
            document = publish(tx, made)
            return replace(after, published=replace(made.published, document=document))

        return Change(
            round=moved(round_, decision),
            act="publish",
            artefact=content_hash(made.record),
            cards=(made.record,),
            rule=decision.event.value,
            also=publishing,
        )

    def _moving(self, round_: Round, decision: Decision) -> Change:
        after = moved(round_, decision)
        copies = after.standing if after.attempt > round_.attempt else ()
        return Change(
            round=after,
            act="move",
            handles=tuple((staging_handle(one.id), one.text) for one in copies),
            rule=decision.event.value,
        )

    def _chapter(self, round_: Round, decision: Decision) -> Chapter | Decision:
        """Return the chapter to publish, or another decision if it does not stand the last look."""
        candidate = round_.find_candidate(decision.candidate)
        assert candidate is not None, "the decision named a candidate of this attempt"
        why = why_not(round_, candidate.id, self.rules)
        assert why is None, why
        markdown = self.archive.get(candidate.text).content.decode()
        checked = self.checks.check(markdown, topic=round_.topic)
        if not checked.holds or checked.markdown != markdown:
            first = checked.failings[0].message if checked.failings else "its notes changed"
            return disagreed(
                round_, self.rules, f"{candidate.id} does not pass the checks any more: {first}"
            )
        counted = next(
            one for one in tally(round_, weights=self.weights()) if one.candidate == candidate.id
        )
        at = instant(self.clock.now())
        verified = replace(candidate, citations=checked.citations)
        record = make_record(round_, verified, markdown, counting_of(round_, counted), at=at)
        return Chapter(
            round=round_,
            candidate=verified,
            markdown=markdown,
            record=sign_record(record, self.signer()),
            at=at,
        )
