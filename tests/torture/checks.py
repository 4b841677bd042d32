"""Holding an archive against the notes of the loads that wrote to it.

`verify_archive` says whether the archive agrees with itself; what is checked here is that it also
agrees with what it has told its callers. An acknowledged attempt is there as a whole, a refused
one left nothing, and one whose end nobody saw is either. The rules, for every attempt:

- its cards, its handle move, its document and its judgement came together or not at all;
- an acknowledged deletion left a tombstone and nothing else did;
- a handle's moves stand in the history in an order that the callers can have seen, each one
  beginning where the last one ended;
- everything that is there is in the audit log.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from salon.archive.audit.signing import is_signed_by
from salon.archive.checks.verification import verify_archive
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import SalonError
from salon.core.events import AuditEntry, Checkpoint
from salon.core.handles import HandleMove
from salon.core.hashing import CardHash, content_hash
from tests.torture.ledger import Ledger, Tried


def find_faults(
    archive: SqliteArchive, ledgers: list[Ledger], *, key: str | None = None
) -> list[str]:
    """Return what is wrong, one sentence each; nothing, if the archive kept its word."""
    faults = [text for ledger in ledgers for text in ledger.complaints]
    faults += _disagreements_within(archive, ledgers, key)
    try:
        seen = _look(archive)
    except SalonError as error:
        return [*faults, f"cannot be read: {error}"]
    for ledger in ledgers:
        for tried in ledger.tried.values():
            faults += _faults_of(tried, seen)
        faults += _misplaced_moves(ledger, seen)
    faults += _broken_histories(seen)
    faults += _unexplained_tombstones(ledgers, seen)
    return faults


@dataclass(slots=True)
class _Logged:
    added: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    moves: set[tuple[str, str]] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    judgements: set[tuple[str, str]] = field(default_factory=set)

    def take(self, entry: AuditEntry) -> None:
        body = entry.body
        match body["kind"]:
            case "cards_added":
                hashes = body["hashes"]
                assert isinstance(hashes, list)
                self.added.update(str(card) for card in hashes)
            case "cards_deleted":
                self.deleted.add(str(body["hash"]))
            case "handle_set":
                self.moves.add((str(body["handle"]), str(body["current"])))
            case "document_added":
                self.documents.add(str(body["document"]))
            case "document_verified":
                self.judgements.add((str(body["document"]), str(body["notes_sha256"])))


@dataclass(slots=True)
class _Seen:
    """What there is, read once."""

    live: set[CardHash]
    tombstones: set[CardHash]
    histories: dict[str, list[HandleMove]]
    current: dict[str, CardHash]
    document_of: dict[CardHash, str]
    judgements: set[tuple[str, str]]
    logged: _Logged


def _look(archive: SqliteArchive) -> _Seen:
    live = {info.hash for info in archive.cards()}
    for card in live:
        archive.get(card)  # raises if the content is not what the name says
    logged = _Logged()
    for entry in archive.audit_entries():
        logged.take(entry)
    documents = list(archive.documents())
    current = {str(handle.name): handle.current for handle in archive.handles()}
    return _Seen(
        live=live,
        tombstones={
            CardHash(card)
            for card in logged.deleted
            if archive.find_tombstone(CardHash(card)) is not None
        },
        histories={name: archive.history(name)[::-1] for name in current},
        current=current,
        document_of={document.source: document.id for document in documents},
        judgements={
            (document.id, judged.notes)
            for document in documents
            for judged in archive.verifications(document.id)
        },
        logged=logged,
    )


def _disagreements_within(
    archive: SqliteArchive, ledgers: list[Ledger], key: str | None
) -> Iterator[str]:
    def is_signed(checkpoint: Checkpoint) -> bool:
        return key is None or is_signed_by(checkpoint, key)

    witnesses = [witness for ledger in ledgers for witness in ledger.witnesses]
    report = verify_archive(archive.read_sqlite(), witnesses=witnesses, is_signed=is_signed)
    for problem in report.problems:
        yield f"verify: {problem.kind} {problem.subject}: {problem.message}"


def _faults_of(tried: Tried, seen: _Seen) -> Iterator[str]:
    attempt = tried.attempt
    name = f"{attempt.kind} {attempt.number}"
    if attempt.deletes:
        yield from _faults_of_deletion(tried, seen)
        return
    effects = dict(_effects(tried, seen))
    there = [what for what, is_there in effects.items() if is_there]
    missing = [what for what, is_there in effects.items() if not is_there]
    if tried.acknowledged and missing:
        yield f"{name} was acknowledged, and lost {', '.join(missing)}"
    elif tried.refused and there:
        yield f"{name} was refused, and left {', '.join(there)}"
    elif there and missing:
        yield f"{name} is half done: {', '.join(there)} without {', '.join(missing)}"


def _effects(tried: Tried, seen: _Seen) -> Iterator[tuple[str, bool]]:
    """Name everything that the attempt does, and tell for each whether it is there."""
    attempt = tried.attempt
    for card in attempt.cards:
        yield f"card {card[:12]}", card in seen.live or card in seen.tombstones
        yield f"the audit entry of card {card[:12]}", card in seen.logged.added
    if attempt.handle:
        target = attempt.cards[-1]
        moves = seen.histories.get(attempt.handle, [])
        matching = [move for move in moves if move.current == target]
        if attempt.kind == "move":
            matching = [move for move in matching if move.previous == attempt.expected]
        yield f"the move of {attempt.handle}", len(matching) == 1
        logged = (attempt.handle, str(target)) in seen.logged.moves
        yield f"the audit entry of {attempt.handle}", logged
    if attempt.kind == "document":
        document = seen.document_of.get(attempt.cards[0])
        expected = tried.made_document or document
        yield "the document", document is not None and document == expected
        yield "the audit entry of the document", document in seen.logged.documents
    if attempt.document and attempt.notes:
        yield "the judgement", (attempt.document, attempt.notes) in seen.judgements
        digest = content_hash(attempt.notes.encode())
        logged = (attempt.document, digest) in seen.logged.judgements
        yield "the audit entry of the judgement", logged


def _faults_of_deletion(tried: Tried, seen: _Seen) -> Iterator[str]:
    card = tried.attempt.deletes
    assert card is not None
    states = {
        "no card": card not in seen.live,
        "a tombstone": card in seen.tombstones,
        "an audit entry": card in seen.logged.deleted,
    }
    if len(set(states.values())) > 1:
        found = ", ".join(what for what, is_so in states.items() if is_so)
        yield f"the deletion of card {card[:12]} is half done: {found}"
    elif tried.acknowledged and card in seen.live:
        yield f"the deletion of card {card[:12]} was acknowledged, and lost"


def _misplaced_moves(ledger: Ledger, seen: _Seen) -> Iterator[str]:
    """Find moves that stand after one which began only when they had long ended."""
    by_target = {
        (tried.attempt.handle, tried.attempt.cards[-1]): tried
        for tried in ledger.tried.values()
        if tried.attempt.handle
    }
    for handle, moves in seen.histories.items():
        latest_begun = -1
        for move in moves:
            tried = by_target.get((handle, move.current or CardHash("")))
            if tried is None:
                continue
            if tried.ended is not None and tried.ended < latest_begun:
                yield f"a later move of {handle} than attempt {tried.attempt.number} was undone"
            latest_begun = max(latest_begun, tried.begun)


def _broken_histories(seen: _Seen) -> Iterator[str]:
    for handle, moves in seen.histories.items():
        at: CardHash | None = None
        for move in moves:
            if move.previous != at:
                yield f"the history of {handle} jumps from {at} to {move.previous}"
            at = move.current
        if at != seen.current[handle]:
            yield f"{handle} points at {seen.current[handle]}, its history ends at {at}"


def _unexplained_tombstones(ledgers: list[Ledger], seen: _Seen) -> Iterator[str]:
    tried = {tried.attempt.deletes for ledger in ledgers for tried in ledger.tried.values()}
    for card in seen.tombstones - tried:
        yield f"nobody asked to delete card {card[:12]}"
