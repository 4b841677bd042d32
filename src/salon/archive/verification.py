"""Checking a whole archive: every hash derived again, every reference followed, every entry read.

Nothing is repaired and nothing is trusted: what vouches for the content is the hash in its name,
what vouches for the log is its chain, and what vouches for the chain's end is its signed head and
any checkpoint kept elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, TypeAlias

import apsw

from salon.archive.audit_log import find_chain_fault, read_checkpoint
from salon.archive.replay import replay
from salon.core.errors import InvalidHandle, InvalidHash
from salon.core.events import Checkpoint
from salon.core.handles import as_handle_name
from salon.core.hashing import CardHash, algorithm_of, as_card_hash, names, new_digest

PIECE = 1024 * 1024
WORST_OF_A_KIND = 20
"""How many problems of one kind are listed; a broken file would otherwise flood the report."""

Seal: TypeAlias = Literal["valid", "invalid", "unsigned", "not checked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that does not agree."""

    kind: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationReport:
    """What was looked at, and what was wrong."""

    cards: int
    bytes: int
    handles: int
    documents: int
    audit_entries: int
    seal: Seal
    problems: tuple[Problem, ...]

    @property
    def is_sound(self) -> bool:
        """Tell whether everything agrees."""
        return not self.problems


class SealCheck(Protocol):
    """Whatever can tell a good signature on the head from a bad one."""

    def __call__(self, checkpoint: Checkpoint) -> bool:
        """Tell whether `checkpoint` is signed by the key that we trust."""


Progress: TypeAlias = Callable[[int], None]


def verify_archive(
    connection: apsw.Connection,
    *,
    witnesses: Iterable[Checkpoint] = (),
    is_signed: SealCheck | None = None,
    on_bytes: Progress = lambda _: None,
) -> VerificationReport:
    """Check everything that `connection` sees; give it a snapshot, so that writers may go on."""
    counts = _Counts()
    seal, seal_problems = _check_seal(connection, is_signed)
    problems = [
        *_limited(_check_file(connection)),
        *_limited(_check_cards(connection, counts, on_bytes)),
        *_limited(_check_references(connection)),
        *_limited(_check_handles(connection, counts)),
        *_check_chain(connection, tuple(witnesses)),
        *seal_problems,
        *_check_log_against_tables(connection, counts),
    ]
    return VerificationReport(
        cards=counts.cards,
        bytes=counts.bytes,
        handles=counts.handles,
        documents=counts.documents,
        audit_entries=counts.entries,
        seal=seal,
        problems=tuple(problems),
    )


@dataclass(slots=True)
class _Counts:
    cards: int = 0
    bytes: int = 0
    handles: int = 0
    documents: int = 0
    entries: int = 0


def _limited(problems: Iterator[Problem]) -> Iterator[Problem]:
    yield from islice(problems, WORST_OF_A_KIND)
    rest = sum(1 for _ in problems)
    if rest:
        yield Problem(kind="more", subject="", message=f"and {rest:,} more like the last one")


def _check_file(connection: apsw.Connection) -> Iterator[Problem]:
    for (message,) in connection.execute("PRAGMA integrity_check(100)"):
        if message != "ok":
            yield Problem(kind="damaged_file", subject="", message=str(message))
    for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield Problem(
            kind="dangling_reference",
            subject=f"{table} row {rowid}",
            message=f"row {rowid} of {table} refers to a {parent} that is not there",
        )


def _check_cards(
    connection: apsw.Connection, counts: _Counts, on_bytes: Progress
) -> Iterator[Problem]:
    rows = connection.execute(
        "SELECT rowid, hash, length(content), iif(length(content) <= ?1, content, NULL)"
        " FROM card ORDER BY rowid",
        (PIECE,),
    )
    for rowid, card, size, content in rows:
        counts.cards += 1
        counts.bytes += size
        problem = _card_problem(connection, rowid, card, content)
        if problem:
            yield Problem(kind="bad_card", subject=str(card), message=problem)
        on_bytes(size)


def _card_problem(
    connection: apsw.Connection, rowid: int, card: str, content: bytes | None
) -> str | None:
    try:
        name = as_card_hash(card)
    except InvalidHash as error:
        return error.message
    if not isinstance(content, bytes | None):
        return f"card {card} holds text instead of bytes"
    intact = (
        names(name, content)
        if content is not None
        else _is_intact_in_pieces(connection, rowid, name)
    )
    return None if intact else f"card {card} holds other bytes than its hash says"


def _is_intact_in_pieces(connection: apsw.Connection, rowid: int, card: CardHash) -> bool:
    digest = new_digest(algorithm_of(card))
    with connection.blob_open("main", "card", "content", rowid, False) as blob:
        while piece := blob.read(PIECE):
            digest.update(piece)
    return digest.hexdigest() == card


def _check_references(connection: apsw.Connection) -> Iterator[Problem]:
    cited = connection.execute(
        "SELECT citing_hash, cited_hash, start, stop, length(card.content)"
        " FROM citation LEFT JOIN card ON card.hash = cited_hash"
        " WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = cited_hash)"
    )
    for citing, target, start, stop, size in cited:
        if size is None or not 0 <= start < stop <= size:
            yield Problem(
                kind="bad_citation",
                subject=str(citing),
                message=f"card {citing} cites bytes {start} to {stop} of {target}, "
                "which are not there",
            )
    unjudged = connection.execute(
        "SELECT id FROM document WHERE id NOT IN (SELECT document_id FROM document_verification)"
    )
    for (document,) in unjudged:
        yield Problem(
            kind="bad_document",
            subject=str(document),
            message=f"document {document} has no verification status",
        )


def _check_handles(connection: apsw.Connection, counts: _Counts) -> Iterator[Problem]:
    for (name,) in connection.execute("SELECT handle FROM handle_registry ORDER BY handle"):
        counts.handles += 1
        try:
            proper = as_handle_name(name) == name
        except InvalidHandle:
            proper = False
        if not proper:
            yield Problem(
                kind="bad_handle", subject=str(name), message=f"{name!r} is not a proper handle"
            )


def _check_chain(
    connection: apsw.Connection, witnesses: tuple[Checkpoint, ...]
) -> Iterator[Problem]:
    fault = find_chain_fault(connection, witnesses)
    if fault:
        yield Problem(kind="audit_broken", subject=f"entry {fault.seq}", message=fault.reason)


def _check_seal(
    connection: apsw.Connection, is_signed: SealCheck | None
) -> tuple[Seal, list[Problem]]:
    head = read_checkpoint(connection)
    if is_signed is None:
        return "not checked", []
    if head.seq == 0:
        return "unsigned", []
    if is_signed(head):
        return "valid", []
    return "invalid", [
        Problem(
            kind="bad_seal",
            subject=f"entry {head.seq}",
            message="the head of the audit log is not signed by this archive's key",
        )
    ]


def _check_log_against_tables(connection: apsw.Connection, counts: _Counts) -> Iterator[Problem]:
    def count_entry() -> None:
        counts.entries += 1

    logged = replay(connection, count_entry)
    yield from _limited(
        Problem(
            kind="unlogged_card",
            subject=card,
            message=f"card {card} is there, but no audit entry speaks of it "
            "(written by another program? `salon archive adopt` records it)",
        )
        for card in logged.cards_never_logged()
    )
    yield from _limited(
        Problem(
            kind="missing_card",
            subject=card,
            message=f"card {card} should be there by the audit log, and is not",
        )
        for card in logged.cards_missing()
    )
    handles = {
        str(name): str(card)
        for name, card in connection.execute("SELECT handle, current_hash FROM handle_registry")
    }
    documents = {str(row[0]) for row in connection.execute("SELECT id FROM document")}
    counts.documents = len(documents)
    yield from _limited(_disagreements(handles, logged.handles))
    for document in sorted(documents ^ logged.documents):
        yield Problem(
            kind="unlogged_document",
            subject=document,
            message=f"the audit log and the list of documents disagree about {document}",
        )


def _disagreements(there: dict[str, str], logged: dict[str, str]) -> Iterator[Problem]:
    for name in sorted(there.keys() | logged.keys()):
        if there.get(name) != logged.get(name):
            yield Problem(
                kind="unlogged_handle",
                subject=name,
                message=f"handle {name!r} points at {there.get(name, 'nothing')}, "
                f"and by the audit log at {logged.get(name, 'nothing')}",
            )
