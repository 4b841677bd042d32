"""The audit log: an append-only chain of typed events.

Each entry's hash covers its number, time, actor, body and the hash before it, so an edit, a gap
or a swap breaks the chain at that entry. What a chain alone cannot show, a cut tail, shows
against its head: the last transaction's number and hash, kept in a row of its own, signed, and
copied out as a checkpoint.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

import apsw

from salon.core.canonical import canonical_json
from salon.core.errors import AuditBroken
from salon.core.events import GENESIS, AuditEntry, Checkpoint, Event, EventField
from salon.core.hashing import content_hash

ENTRY_COLUMNS = "seq, at, by, body, previous, hash"
_HEAD = "SELECT seq, hash FROM audit_head"
_APPEND = "INSERT INTO audit (seq, at, by, body, previous, hash) VALUES (?, ?, ?, ?, ?, ?)"
_SEAL = "INSERT OR REPLACE INTO audit_head (id, seq, hash, key, signature) VALUES (1, ?, ?, ?, ?)"


class ChainSigner(Protocol):
    """Whatever can sign the head of the chain."""

    def signed(self, seq: int, head: str) -> Checkpoint:
        """Return the checkpoint for one head of the chain, signed."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where the chain stands."""

    seq: int
    hash: str


class AuditWriter:
    """Appends to the chain inside one transaction; `seal` writes the head before the commit."""

    def __init__(self, connection: apsw.Connection, signer: ChainSigner | None) -> None:
        self._connection = connection
        self._signer = signer
        head = connection.execute(_HEAD).fetchone()
        self._sealed = self.position = Position(*head) if head else Position(0, GENESIS)

    def append(self, event: Event, *, by: str, at: str) -> None:
        """Append one event on behalf of `by`."""
        seq, previous = self.position.seq + 1, self.position.hash
        body = canonical_json(event.body())
        digest = entry_hash(seq, at, by, body, previous)
        self._connection.execute(_APPEND, (seq, at, by, body.decode(), previous, digest))
        self.position = Position(seq, digest)

    def seal(self) -> None:
        """Record and sign the new head, if anything was appended."""
        if self.position == self._sealed:
            return
        head = self.position
        sealed = (
            self._signer.signed(head.seq, head.hash)
            if self._signer
            else Checkpoint(seq=head.seq, hash=head.hash)
        )
        self._connection.execute(_SEAL, (sealed.seq, sealed.hash, sealed.key, sealed.signature))
        self._sealed = head


def entry_hash(seq: int, at: str, by: str, body: bytes, previous: str) -> str:
    """Return the hash of one entry. The body is already canonical, so it is framed by length."""
    frame = canonical_json([str(seq), at, by, previous, str(len(body))])
    return content_hash(frame + body)


def read_entries(connection: apsw.Connection) -> Iterator[AuditEntry]:
    """Walk the whole log, without checking it."""
    rows = connection.execute(f"SELECT {ENTRY_COLUMNS} FROM audit ORDER BY seq")
    return map(as_entry, rows)


def as_entry(row: tuple[object, ...]) -> AuditEntry:
    """Return one row of the log, its `ENTRY_COLUMNS`, as an entry."""
    seq, at, by, body, previous, digest = cast("tuple[int, str, str, str, str, str]", row)
    return AuditEntry(seq=seq, at=at, by=by, body=_parse(seq, body), previous=previous, hash=digest)


def read_checkpoint(connection: apsw.Connection) -> Checkpoint:
    """Return the head as the last transaction sealed it."""
    row = connection.execute("SELECT seq, hash, key, signature FROM audit_head").fetchone()
    if row is None:
        return Checkpoint(seq=0, hash=GENESIS)
    seq, digest, key, signature = row
    if not isinstance(seq, int) or not isinstance(digest, str):
        raise AuditBroken("the sealed head of the audit log cannot be read", entry=None)
    return Checkpoint(seq=seq, hash=digest, key=key, signature=signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainFault:
    """The first place where the chain does not hold."""

    seq: int
    reason: str


def find_chain_fault(
    connection: apsw.Connection, witnesses: Iterable[Checkpoint] = ()
) -> ChainFault | None:
    """Re-derive the whole chain and hold it against the head and every other witness."""
    expected = {witness.seq: witness.hash for witness in witnesses if witness.seq > 0}
    head = read_checkpoint(connection)
    previous, last = GENESIS, 0
    rows = connection.execute("SELECT seq, at, by, body, previous, hash FROM audit ORDER BY seq")
    for seq, at, by, body, claimed_previous, digest in rows:
        reason = None
        if seq != last + 1:
            reason = f"entry {last + 1} is missing"
        elif claimed_previous != previous:
            reason = f"entry {seq} does not follow from entry {last}"
        elif not _is_intact(seq, at, by, body, previous, digest):
            reason = f"entry {seq} was changed after it was written"
        elif expected.get(seq, digest) != digest:
            reason = f"entry {seq} is not the one that a checkpoint vouches for"
        if reason:
            return ChainFault(seq=min(seq, last + 1), reason=reason)
        previous, last = digest, seq
    return _find_cut(last, previous, head, expected)


def _is_intact(*entry: object) -> bool:
    seq, at, by, body, previous, digest = entry
    # SQLite keeps bytes in a text column if somebody puts them there.
    if not isinstance(seq, int) or not all(isinstance(part, str) for part in entry[1:]):
        return False
    text = str(body).encode()
    return entry_hash(seq, str(at), str(by), text, str(previous)) == digest


def _find_cut(
    last: int, last_hash: str, head: Checkpoint, expected: dict[int, str]
) -> ChainFault | None:
    promised = max([head.seq, *expected])
    if last < promised:
        cut = (
            f"entry {promised} was"
            if promised == last + 1
            else f"entries {last + 1} to {promised} were"
        )
        return ChainFault(seq=last + 1, reason=f"{cut} cut off the end")
    if (head.seq, head.hash) != (last, last_hash):
        return ChainFault(seq=last, reason=f"entry {last} is not covered by the sealed head")
    return None


def _parse(seq: int, body: str) -> dict[str, EventField]:
    try:
        parsed = json.loads(body)
    except (ValueError, TypeError, RecursionError) as error:
        raise AuditBroken(f"entry {seq} cannot be read: {error}", entry=seq) from error
    if not isinstance(parsed, dict) or "kind" not in parsed:
        raise AuditBroken(f"entry {seq} is not an event", entry=seq)
    return parsed
