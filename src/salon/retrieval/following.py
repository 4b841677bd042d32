"""Keeping a derived index in step with an archive, by reading the archive's audit log.

It knows what changed and how far an index has come; what an index makes of a card's text is the
index's own affair. It never writes to the archive.

Invariants: the rows of an index and the place it has reached are committed together, so a process
killed at any moment leaves an index that is merely behind; an index whose place is not in this
archive's chain (another archive, an older copy) or whose settings differ starts over; catching up
twice changes nothing.
"""

from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, TypeAlias, cast

import apsw

from salon.archive.content_types import HEAD_BYTES, is_text
from salon.core.archive import Archive
from salon.core.errors import HashMismatch, NotFound
from salon.core.events import (
    GENESIS,
    AuditEntry,
    CardsAdded,
    CardsAdopted,
    CardsDeleted,
)
from salon.core.hashing import CardHash
from salon.retrieval.index_file import IndexFile

CARDS_PER_COMMIT = 200
LARGE_BYTES = 1024 * 1024

Outcome: TypeAlias = Literal["indexed", "already", "not_text", "damaged", "removed", "nothing"]
Change: TypeAlias = tuple[Literal["add", "remove", "pass"], CardHash]

_STATE = """
CREATE TABLE IF NOT EXISTS salon_follower (
    name TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    seq INTEGER NOT NULL,
    chain_hash TEXT NOT NULL,
    within INTEGER NOT NULL,
    uncompacted INTEGER NOT NULL
)
"""


class TextIndex(Protocol):
    """What an index must offer to be kept in step. All of it runs inside a transaction."""

    def create_tables(self) -> None:
        """Make the tables that are not there."""

    def drop_tables(self) -> None:
        """Forget everything."""

    def has(self, card: CardHash) -> bool:
        """Tell whether this card was taken in."""

    def insert(self, card: CardHash, text: str) -> None:
        """Take in the text of a card."""

    def remove(self, card: CardHash) -> bool:
        """Forget a card, tell whether it was there."""

    def compact(self) -> None:
        """Make sure that nothing of removed cards is left in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """What catching up did, counted in cards."""

    indexed: int = 0
    already: int = 0
    not_text: int = 0
    damaged: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far an index has come: after entry `seq`, and `within` changes into the next one."""

    seq: int = 0
    chain_hash: str = GENESIS
    within: int = 0
    uncompacted: bool = False


class Follower:
    """Brings one index up to date with one archive."""

    def __init__(
        self,
        file: IndexFile,
        index: TextIndex,
        *,
        name: str,
        fingerprint: str,
        cards_per_commit: int = CARDS_PER_COMMIT,
    ) -> None:
        self._file = file
        self._index = index
        self._name = name
        self._fingerprint = fingerprint
        self._cards_per_commit = cards_per_commit
        with file.write() as connection:
            connection.execute(_STATE)
            if self._read_place(connection) is None:
                self._start_over(connection)

    def catch_up(self, archive: Archive) -> CaughtUp:
        """Take in everything that happened in the archive since the last time."""
        counts: Counter[Outcome] = Counter()
        while self._advance(archive, counts):
            pass
        self._compact()
        return CaughtUp(
            indexed=counts["indexed"],
            already=counts["already"],
            not_text=counts["not_text"],
            damaged=counts["damaged"],
            removed=counts["removed"],
        )

    def rebuild(self, archive: Archive) -> CaughtUp:
        """Forget everything and build it again."""
        with self._file.write() as connection:
            self._start_over(connection)
        return self.catch_up(archive)

    def place(self) -> Place:
        """Return how far the index has come."""
        with self._file.read() as connection:
            return self._read_place(connection) or Place()

    def behind(self, archive: Archive) -> int:
        """Return how many audit entries the index has not seen."""
        place = self.place()
        seen = place.seq if _is_in_chain(archive, place) else 0
        return archive.checkpoint().seq - seen

    def _advance(self, archive: Archive, counts: Counter[Outcome]) -> bool:
        """Take one commit's worth of changes; tell whether there may be more."""
        with self._file.write() as connection:
            place = self._read_place(connection)
            if place is None or not _is_in_chain(archive, place):
                self._start_over(connection)
                place = Place()
            with closing(_changes(archive, place)) as walk:
                changes = list(islice(walk, self._cards_per_commit))
            outcomes = [self._apply(archive, what, card) for (what, card), _ in changes]
            if changes:
                removed = "removed" in outcomes
                self._write_place(
                    connection, changes[-1][1], uncompacted=place.uncompacted or removed
                )
        counts.update(outcomes)
        return len(changes) == self._cards_per_commit

    def _apply(self, archive: Archive, what: str, card: CardHash) -> Outcome:
        if what == "pass":
            return "nothing"
        if what == "remove":
            return "removed" if self._index.remove(card) else "nothing"
        if self._index.has(card):
            return "already"
        try:
            text = read_text(archive, card)
        except NotFound:
            return "nothing"  # added and deleted since; its deletion comes later in the log
        except HashMismatch:
            return "damaged"
        if text is None:
            return "not_text"
        self._index.insert(card, text)
        return "indexed"

    def _compact(self) -> None:
        with self._file.write() as connection:
            place = self._read_place(connection)
            if place is None or not place.uncompacted:
                return
            self._index.compact()
            connection.execute(
                "UPDATE salon_follower SET uncompacted = 0 WHERE name = ?", (self._name,)
            )
        self._file.empty_log()

    def _start_over(self, connection: apsw.Connection) -> None:
        self._index.drop_tables()
        self._index.create_tables()
        self._write_place(connection, Place(), uncompacted=False)

    def _read_place(self, connection: apsw.Connection) -> Place | None:
        """Return the place of an index with these settings, or `None`."""
        row = connection.execute(
            "SELECT seq, chain_hash, within, uncompacted FROM salon_follower"
            " WHERE name = ? AND fingerprint = ?",
            (self._name, self._fingerprint),
        ).fetchone()
        if row is None:
            return None
        seq, chain_hash, within, uncompacted = row
        return Place(seq=seq, chain_hash=chain_hash, within=within, uncompacted=bool(uncompacted))

    def _write_place(self, connection: apsw.Connection, place: Place, *, uncompacted: bool) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO salon_follower VALUES (?, ?, ?, ?, ?, ?)",
            (
                self._name,
                self._fingerprint,
                place.seq,
                place.chain_hash,
                place.within,
                int(uncompacted),
            ),
        )


def read_text(archive: Archive, card: CardHash) -> str | None:
    """Return a card's text, checked against its hash; `None` if it is not UTF-8 text."""
    if archive.info(card).size > LARGE_BYTES:
        with archive.open(card) as stream:
            if not is_text(stream.read(HEAD_BYTES)):
                return None
    return as_text(archive.get(card).content)


def as_text(content: bytes) -> str | None:
    """Return content as text, or `None` if it is none."""
    if b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _is_in_chain(archive: Archive, place: Place) -> bool:
    if place.seq == 0:
        return True
    with closing(_entries(archive, after=place.seq - 1)) as entries:
        entry = next(entries, None)
    return entry is not None and (entry.seq, entry.hash) == (place.seq, place.chain_hash)


def _changes(archive: Archive, place: Place) -> Generator[tuple[Change, Place], None, None]:
    """Walk single changes after `place`, each with the place that is reached by it."""
    seq, chain_hash, done = place.seq, place.chain_hash, place.within
    with closing(_entries(archive, after=place.seq)) as entries:
        for entry in entries:
            changes = list(_changes_of(entry))
            for number, change in enumerate(changes[done:], start=done + 1):
                if number < len(changes):
                    yield change, Place(seq=seq, chain_hash=chain_hash, within=number)
                else:
                    yield change, Place(seq=entry.seq, chain_hash=entry.hash)
            seq, chain_hash, done = entry.seq, entry.hash, 0


def _changes_of(entry: AuditEntry) -> Iterator[Change]:
    body = entry.body
    match body["kind"]:
        case CardsAdded.kind | CardsAdopted.kind:
            yield from (("add", CardHash(card)) for card in cast("list[str]", body["hashes"]))
        case CardsDeleted.kind:
            for card in (cast("str", body["hash"]), *cast("list[str]", body["also_deleted"])):
                yield "remove", CardHash(card)
        case _:
            yield "pass", CardHash("")


def _entries(archive: Archive, *, after: int) -> Generator[AuditEntry, None, None]:
    # A generator, so that closing it also ends the reading of a log that is not read to its end.
    yield from archive.audit_entries(after=after)
