"""Checking a whole archive: every hash derived again, every reference followed, every entry read.

Nothing is repaired and nothing is trusted: what vouches for the content is the hash in its name,
what vouches for the log is its chain, and what vouches for the chain's end is its signed head and
any checkpoint kept elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Literal, Protocol, TypeAlias

import apsw

from salon.archive.audit.log import find_chain_fault, read_checkpoint
from salon.archive.checks.accounting import check_log_against_tables
from salon.archive.checks.problems import Problem, limited
from salon.archive.handle_steps import follow_each_other
from salon.archive.rows import get_document
from salon.core.errors import InvalidHandle, InvalidHash, SalonError
from salon.core.events import Checkpoint
from salon.core.handles import as_handle_name
from salon.core.hashing import CardHash, algorithm_of, as_card_hash, names, new_digest

PIECE = 1024 * 1024
Seal: TypeAlias = Literal["valid", "invalid", "unsigned", "not checked"]


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
    counts.entries = int(connection.execute("SELECT count(*) FROM audit").get or 0)
    seal, seal_problems = _check_seal(connection, is_signed)
    chain_problems = list(_check_chain(connection, tuple(witnesses)))
    problems = [
        *limited(_check_file(connection)),
        *limited(_check_cards(connection, counts, on_bytes)),
        *limited(_check_citations(connection)),
        *limited(_check_documents(connection, counts)),
        *limited(_check_handles(connection, counts)),
        *limited(_check_steps(connection)),
        *limited(_check_vectors(connection)),
        *chain_problems,
        *seal_problems,
    ]
    if not chain_problems:  # a log that does not hold vouches for nothing
        problems += check_log_against_tables(connection)
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
        "SELECT rowid, hash, coalesce(length(CAST(content AS BLOB)), 0),"
        " iif(length(content) <= ?1, content, NULL) FROM card ORDER BY rowid",
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
    connection: apsw.Connection, rowid: int, card: object, content: object
) -> str | None:
    if not isinstance(card, str):
        return f"a card is named {card!r}, which is not a hash"
    try:
        name = as_card_hash(card)
    except InvalidHash as error:
        return error.message
    if not isinstance(content, bytes | None):
        return f"card {card} holds text instead of bytes"
    intact = (
        _is_intact_in_pieces(connection, rowid, name) if content is None else names(name, content)
    )
    return None if intact else f"card {card} holds other bytes than its hash says"


def _is_intact_in_pieces(connection: apsw.Connection, rowid: int, card: CardHash) -> bool:
    digest = new_digest(algorithm_of(card))
    with connection.blob_open("main", "card", "content", rowid, False) as blob:
        while piece := blob.read(PIECE):
            digest.update(piece)
    return digest.hexdigest() == card


def _check_citations(connection: apsw.Connection) -> Iterator[Problem]:
    cited = connection.execute(
        "SELECT citing_hash, cited_hash, start, stop, length(card.content)"
        " FROM citation LEFT JOIN card ON card.hash = cited_hash"
        " WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.hash = cited_hash)"
    )
    for citing, target, start, stop, size in cited:
        whole = all(isinstance(number, int) for number in (start, stop, size))
        if not (whole and 0 <= start < stop <= size):
            yield Problem(
                kind="bad_citation",
                subject=str(citing),
                message=f"card {citing} cites bytes {start} to {stop} of {target}, "
                "which are not there",
            )


def _check_documents(connection: apsw.Connection, counts: _Counts) -> Iterator[Problem]:
    for (document,) in connection.execute("SELECT id FROM document ORDER BY rowid"):
        counts.documents += 1
        try:
            get_document(connection, document)
        except SalonError as error:
            yield Problem(kind="bad_document", subject=str(document), message=error.message)


def _check_handles(connection: apsw.Connection, counts: _Counts) -> Iterator[Problem]:
    for (name,) in connection.execute("SELECT handle FROM handle_registry ORDER BY handle"):
        counts.handles += 1
        try:
            proper = isinstance(name, str) and as_handle_name(name) == name
        except InvalidHandle:
            proper = False
        if not proper:
            yield Problem(
                kind="bad_handle", subject=str(name), message=f"{name!r} is not a proper handle"
            )


def _check_steps(connection: apsw.Connection) -> Iterator[Problem]:
    rows = connection.execute(
        "SELECT handle_move.handle, previous_hash, handle_move.current_hash,"
        " handle_registry.current_hash"
        " FROM handle_move LEFT JOIN handle_registry USING (handle) ORDER BY handle, id"
    )
    for name, group in groupby(rows, key=itemgetter(0)):
        steps = list(group)
        if not follow_each_other([(row[1], row[2]) for row in steps], steps[0][3]):
            yield Problem(
                kind="bad_history",
                subject=str(name),
                message=f"the steps of handle {name!r} do not lead to where it points",
            )


def _check_vectors(connection: apsw.Connection) -> Iterator[Problem]:
    rows = connection.execute(
        "SELECT passage_vector.id, card_hash FROM passage_vector"
        " LEFT JOIN embedding_model ON embedding_model.id = model"
        " LEFT JOIN card ON hash = card_hash"
        " WHERE typeof(vector) <> 'blob' OR length(vector) IS NOT 2 * dimensions"
        " OR card.hash IS NULL OR NOT (0 <= start AND start < stop AND stop <= length(content))"
    )
    for number, card in rows:
        yield Problem(
            kind="bad_vector",
            subject=str(card),
            message=f"vector {number} of card {card} is not as long as those of its model, "
            "or is of bytes that are not there",
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
