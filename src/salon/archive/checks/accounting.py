"""Holding the tables against the audit log: what does the log account for, and what not?"""

from collections.abc import Iterator

import apsw

from salon.archive.audit.digests import document_digest
from salon.archive.audit.replay import ReplayedState, is_same_tombstone, replay
from salon.archive.checks.problems import Problem, limited
from salon.archive.rows import get_document, read_verifications
from salon.core.documents import DocumentId
from salon.core.errors import AuditBroken, SalonError


def check_log_against_tables(connection: apsw.Connection) -> Iterator[Problem]:
    """Yield whatever is there and not in the log, missing, or other than the log says."""
    try:
        logged = replay(connection)
    except AuditBroken as error:
        entry = f"entry {error.details.get('entry')}"
        yield Problem(kind="audit_broken", subject=entry, message=error.message)
        return
    for check in (_unlogged_cards, _missing_cards, _handles, _documents, _tombstones):
        yield from limited(check(connection, logged))
    for table in ("citation", "derivation"):
        yield from limited(_rows(logged, table))


def _unlogged_cards(_: apsw.Connection, logged: ReplayedState) -> Iterator[Problem]:
    for card in logged.cards_never_logged():
        yield Problem(
            kind="unlogged_card",
            subject=card,
            message=f"card {card} is there, but no audit entry speaks of it "
            "(written by another program? `salon archive adopt` records it)",
        )


def _missing_cards(_: apsw.Connection, logged: ReplayedState) -> Iterator[Problem]:
    for card in logged.cards_missing():
        yield Problem(
            kind="missing_card",
            subject=card,
            message=f"card {card} should be there by the audit log, and is not",
        )


def _handles(connection: apsw.Connection, logged: ReplayedState) -> Iterator[Problem]:
    rows = connection.execute("SELECT handle, current_hash FROM handle_registry")
    there = {str(name): str(card) for name, card in rows}
    for name in sorted(there.keys() | logged.handles.keys()):
        if there.get(name) != logged.handles.get(name):
            yield Problem(
                kind="unlogged_handle",
                subject=name,
                message=f"handle {name!r} points at {there.get(name, 'nothing')}, "
                f"and by the audit log at {logged.handles.get(name, 'nothing')}",
            )


def _documents(connection: apsw.Connection, logged: ReplayedState) -> Iterator[Problem]:
    there: dict[str, str] = {}
    for row in connection.execute("SELECT id FROM document").fetchall():
        document = DocumentId(str(row[0]))
        try:
            found = get_document(connection, document)
        except SalonError:
            there[document] = logged.documents.get(document, "")  # has its own check
            continue
        judged = read_verifications(connection, document)[::-1]
        there[document] = document_digest(found, judged)
    for name in sorted(there.keys() | logged.documents.keys()):
        if there.get(name) != logged.documents.get(name):
            yield Problem(
                kind="unlogged_document",
                subject=name,
                message=f"document {name} is not as the audit log has it",
            )


def _tombstones(connection: apsw.Connection, logged: ReplayedState) -> Iterator[Problem]:
    left = dict(logged.tombstones)
    for card, at, by, reason in connection.execute(
        "SELECT hash, deleted_at, deleted_by, reason FROM tombstone ORDER BY hash"
    ):
        known = left.pop(str(card), None)
        if known is None or not is_same_tombstone(
            known, deleted_at=str(at), deleted_by=str(by), reason=str(reason)
        ):
            yield _bad_tombstone(str(card))
    for card in sorted(left):
        yield _bad_tombstone(card)


def _bad_tombstone(card: str) -> Problem:
    return Problem(
        kind="unlogged_tombstone",
        subject=card,
        message=f"the tombstone of card {card} is not as the audit log has it",
    )


def _rows(logged: ReplayedState, table: str) -> Iterator[Problem]:
    for row in logged.differences(table):
        yield Problem(
            kind=f"unlogged_{table}",
            subject=str(row[0]),
            message=f"the audit log and the archive disagree about a {table} of {row[0]}",
        )
