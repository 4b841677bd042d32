"""Verifying a chapter afterwards: signature, votes, citations, handles and audit trail.

It trusts neither the round's own card nor the record: votes are read from the ballots in the
ledger, counts and blocks are derived again, and the log must show that seats voted, that the system
alone moved the round, and that it did so by the table. It changes nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from salon.core.archive import Archive
from salon.core.documents import DocumentId
from salon.core.errors import InvalidInput, NotFound, SalonError
from salon.core.events import AuditEntry
from salon.core.hashing import CardHash
from salon.council.ballots import counted_votes
from salon.council.checks import Checks
from salon.council.deciding import find_tally, why_not
from salon.council.draft_reading import read_draft
from salon.council.handle_checks import handle_faults, is_move_of
from salon.council.keeping import BALLOT, RoundCards
from salon.council.naming import ballot_handle, chapter_handle, record_handle, staging_handle
from salon.council.phases import MOVES, SYSTEM, Event, Skill
from salon.council.records import counting_of, is_signed_by, make_record, read_record
from salon.council.rounds import Candidate, Phase, Published, Round, Vote
from salon.council.rules import CouncilRules
from salon.council.writing import actor_of
from salon.grounding.verifying import Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterReport:
    """What a check of a published chapter found."""

    round_id: str
    topic_id: str
    faults: tuple[str, ...]
    citations: int = 0
    ballots: int = 0
    moves: int = 0

    @property
    def holds(self) -> bool:
        """Tell whether nothing is wrong."""
        return not self.faults


def verify_chapter(
    archive: Archive,
    round_id: str,
    *,
    key: str,
    verification: Callable[[], Verification],
    rules: CouncilRules | None = None,
) -> ChapterReport:
    """Check what a round published against cards, votes and log; `key` is the public half in hex.

    Raises `RoundNotFound`, and `InvalidInput` where the round published nothing.
    """
    chosen = rules or CouncilRules()
    round_ = RoundCards(archive).get(round_id).round
    published = round_.published
    if published is None:
        raise InvalidInput(f"round {round_id} has published nothing; it stands in {round_.phase}")
    checking = _Checking(archive, round_, published, chosen, verification)
    return checking.run(key)


class _Checking:
    """One check of one chapter."""

    def __init__(
        self,
        archive: Archive,
        round_: Round,
        published: Published,
        rules: CouncilRules,
        verification: Callable[[], Verification],
    ) -> None:
        self._archive = archive
        self._round = round_
        self._published = published
        self._rules = rules
        self._checks = Checks(archive, verification, rules.limits)
        topic = round_.topic_id
        staged = staging_handle(published.candidate)
        handles = frozenset({chapter_handle(topic), record_handle(topic), staged})
        self._log = [
            one
            for one in archive.audit_entries()
            if one.body.get("round") == round_.id or is_move_of(one, handles)
        ]

    def run(self, key: str) -> ChapterReport:
        candidate = self._round.find_candidate(self._published.candidate)
        faults: list[str] = []
        citations = 0
        if candidate is None or candidate.text != self._published.text:
            faults.append("the round names another text than the one that was voted on")
        else:
            citations = len(candidate.citations)
            faults += self._text_faults(candidate)
            faults += self._record_faults(candidate, key)
            faults += self._vote_faults(candidate)
        faults += self._handle_faults()
        faults += self._document_faults()
        faults += self._log_faults()
        return ChapterReport(
            round_id=self._round.id,
            topic_id=self._round.topic_id,
            faults=tuple(faults),
            citations=citations,
            ballots=len(self._votes()),
            moves=sum(one.body.get("kind") == "council_moved" for one in self._log),
        )

    # Text and record

    def _text_faults(self, candidate: Candidate) -> Iterator[str]:
        try:
            markdown = self._archive.get(candidate.text).content.decode()
        except SalonError as error:
            yield f"the chapter cannot be read: {error.message}"
            return
        checked = self._checks.check(markdown, topic=self._round.topic)
        for one in checked.failings:
            yield f"{one.message}: {one.excerpt}" if one.excerpt else one.message
        if not checked.holds:
            return
        if checked.citations != candidate.citations:
            yield "the text rests on other places than the round says"
        for note in read_draft(markdown).notes:
            # Chapters from before notes named their sources have none, and still hold.
            if note.source and note.source not in self._checks.sources_of(note):
                yield f"note [^{note.label}] names a source that is not the card's: {note.source}"

    def _record_faults(self, candidate: Candidate, key: str) -> Iterator[str]:
        try:
            record = read_record(self._archive.get(self._published.record).content)
        except SalonError as error:
            yield f"the record cannot be read: {error.message}"
            return
        if not is_signed_by(record, key):
            yield "the record does not carry a signature of this key"
        try:
            again = self._record_again(candidate, record)
        except (SalonError, KeyError, TypeError) as error:
            yield f"the record cannot be derived again: {error}"
            return
        for name, value in again.items():
            if record.get(name) != value:
                yield f"the record says something else about {name} than cards and votes do"

    def _record_again(self, candidate: Candidate, record: Mapping[str, Any]) -> dict[str, Any]:
        counted = find_tally(self._round, candidate.id)
        if counted is None:
            raise NotFound("nobody voted on it")
        markdown = self._archive.get(candidate.text).content.decode()
        counting = counting_of(self._round, counted)
        again = make_record(
            self._round, candidate, markdown, counting, at=str(record["created_at"])
        )
        # These are estimates, which rest on more than this round; the signature vouches for them.
        for name in ("weighted_score", "effective_votes"):
            again["consensus_metadata"][name] = record["consensus_metadata"][name]
        return again

    # Votes

    def _votes(self) -> tuple[Vote, ...]:
        votes = counted_votes(self._round)
        return tuple(one for one in votes if one.candidate == self._published.candidate)

    def _vote_faults(self, candidate: Candidate) -> Iterator[str]:
        why = why_not(self._round, candidate.id, self._rules)
        if why is not None:
            yield f"the votes do not allow publication: {why}"
        for vote in self._round.votes:
            if vote.candidate == candidate.id and vote.attempt == self._round.attempt:
                yield from self._ballot_faults(vote, candidate)

    def _ballot_faults(self, vote: Vote, candidate: Candidate) -> Iterator[str]:
        label = f"the ballot {vote.id} of seat {vote.seat}"
        handle = self._archive.find_handle(ballot_handle(self._round.id, vote.id))
        if vote.ballot is None or handle is None or handle.current != vote.ballot:
            yield f"{label} is not in the ledger"
            return
        try:
            ballot = BALLOT.read(self._archive.get(vote.ballot).content)
        except SalonError as error:
            yield f"{label} cannot be read: {error.message}"
            return
        if (ballot.round, ballot.vote) != (self._round.id, replace(vote, ballot=None)):
            yield f"{label} says something else than the round"
        if ballot.vote.text != candidate.text:
            yield f"{label} is about another text"
        if not self._archive.has(vote.rationale):
            yield f"{label} has lost its rationale"
        if not any(
            _is_act(one, Skill.CAST_VOTE, vote.ballot, actor_of(vote.seat)) for one in self._log
        ):
            yield f"{label} is not in the audit log as an act of that seat"

    # Handles, corpus, log

    def _handle_faults(self) -> Iterator[str]:
        yield from handle_faults(self._archive, self._round, self._published, self._log)
        staged = staging_handle(self._published.candidate)
        if not any(
            (one.body.get("handle"), one.body.get("current")) == (staged, self._published.text)
            for one in self._log
        ):
            yield "the chapter was never staged"

    def _document_faults(self) -> Iterator[str]:
        try:
            found = self._archive.get_document(DocumentId(self._published.document))
        except NotFound:
            yield "the chapter is not in the corpus"
            return
        if found.source != self._published.text or not found.provenance.derived:
            yield "the corpus does not hold this chapter as a derived document"

    def _log_faults(self) -> Iterator[str]:
        entries = [
            one
            for one in self._log
            if one.body.get("kind") == "council_moved" and one.body.get("act") != "outcome"
        ]  # what became of a chapter is said after it was published
        phase: str = Phase.SPRINT
        for number, entry in enumerate(entries):
            rule, after = str(entry.body["rule"]), str(entry.body["phase"])
            if number == 0:
                if (entry.body["act"], entry.by, after) != ("open", SYSTEM, phase):
                    yield "the log does not begin with the opening of the round"
            elif not _is_in_order(entry, phase, rule, after):
                yield f"entry {entry.seq} takes the round from {phase} to {after} by {entry.by}"
            phase = after
        last = entries[-1].body if entries else {}
        if (last.get("act"), last.get("artefact")) != ("publish", self._published.record):
            yield "the log does not end with the publication of this record"


def _is_in_order(entry: AuditEntry, before: str, rule: str, after: str) -> bool:
    """Tell whether an entry leaves the phase alone, or is a move of the system by the table."""
    if entry.body["act"] not in {"move", "publish"}:
        return after == before
    known = {event.value for event in Event}
    is_move = rule in known and MOVES.get((Phase(before), Event(rule))) == after
    return is_move and entry.by == SYSTEM


def _is_act(entry: AuditEntry, skill: Skill, artefact: CardHash, by: str) -> bool:
    body = entry.body
    return (body.get("act"), body.get("artefact"), entry.by) == (skill.value, artefact, by)
