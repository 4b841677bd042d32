"""Deliveries: events of chat platforms on their way to an answer, each with one process at a time.

A platform may send an event again, and several processes of one home may hear it. Whoever takes a
delivery says so before working on it, and again before anything is sent. So after a crash one
knows: before the second word nothing was sent, after it the platform has to be asked. Whether the
process that had it still lives is told by a lock that dies with it, not by a clock.

A row holds a digest of the event's name, who has it and how far it is: nothing that was said, no
person and no session. It matters only as long as a platform repeats itself, so it is dropped after
`KEPT`, no audit event speaks of it and no export carries it.
"""

import fcntl
import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from io import FileIO
from pathlib import Path
from typing import TypeVar

from salon.archive.database import storage_errors
from salon.archive.sqlite_archive import SqliteArchive
from salon.archive.transaction import SqliteTransaction
from salon.core.clock import Clock, SystemClock, instant
from salon.core.closing import Closable
from salon.core.errors import Conflict
from salon.core.hashing import content_hash
from salon.core.ids import IdMaker, RandomIds

T = TypeVar("T")
KEPT = timedelta(days=2)
"""How long a delivery is remembered; Slack, the most patient, repeats itself for a day."""
NOBODY = ""
_TAKEN, _SENDING, _ANSWERED = "taken", "sending", "answered"

_TABLE = """
CREATE TABLE IF NOT EXISTS salon_delivery (
    event TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('taken', 'sending', 'answered')),
    at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_salon_delivery_at ON salon_delivery(at);
"""


class Standing(StrEnum):
    """How a delivery stands for whoever asks for it."""

    MINE = "mine"
    """Nothing was sent in answer, and it is the asker's to answer."""
    IN_DOUBT = "in_doubt"
    """The asker's too, but whoever had it before ended while sending."""
    ELSEWHERE = "elsewhere"
    """Another process works on it."""
    KNOWN = "known"
    """It was answered, or this process works on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An event that was delivered, by the digest of its name, and how it stands."""

    event: str
    standing: Standing

    @property
    def is_mine(self) -> bool:
        """Tell whether it is the asker's to answer, perhaps after a look."""
        return self.standing in {Standing.MINE, Standing.IN_DOUBT}


class Deliveries(Closable):
    """The deliveries of one archive. May be used by many threads and processes at once."""

    def __init__(
        self,
        archive: SqliteArchive,
        *,
        clock: Clock | None = None,
        ids: IdMaker | None = None,
    ) -> None:
        self._archive = archive
        self._clock = clock or SystemClock()
        self._ids = ids or RandomIds()
        self._folder = archive.path.parent / "workers"
        self._starting = threading.Lock()
        self._worker: _Worker | None = None

    def close(self) -> None:
        """Leave what this process has to whoever gets it delivered next."""
        with self._starting:
            if self._worker is not None:
                self._worker.close()
                self._worker = None

    def take(self, platform: str, event: str) -> Delivery:
        """Take a delivery, if nobody else has it or had it to the end."""
        name = content_hash(f"{platform}/{event}".encode("utf-8", "surrogatepass"))
        me = self._me()
        while True:  # each time around somebody else was faster, so somebody gets on
            found = self._find(name)
            standing = Standing.MINE
            if found is None:
                if self._write(lambda tx: self._insert(tx, name, me)):
                    return Delivery(event=name, standing=standing)
                continue
            worker, state = found
            if state == _ANSWERED or worker == me:
                return Delivery(event=name, standing=Standing.KNOWN)
            if _is_alive(self._folder, worker):
                return Delivery(event=name, standing=Standing.ELSEWHERE)
            if state == _SENDING:
                standing = Standing.IN_DOUBT
            if self._move(name, (worker, state), (me, state)):
                return Delivery(event=name, standing=standing)

    def sending(self, delivery: Delivery) -> None:
        """Note that an answer is about to be sent, or raise `Conflict` if it is another's now."""
        me = self._me()
        before = _SENDING if delivery.standing is Standing.IN_DOUBT else _TAKEN
        is_noted = self._move(delivery.event, (me, before), (me, _SENDING))
        if not is_noted and self._find(delivery.event) != (me, _SENDING):
            raise Conflict("another process answers this", hint="nothing is to be done")

    def answered(self, delivery: Delivery) -> None:
        """Note that there is nothing left to do, whether or not there was something to say."""
        self._write(
            lambda tx: tx.connection.execute(
                "UPDATE salon_delivery SET state = ? WHERE event = ? AND worker = ?",
                (_ANSWERED, delivery.event, self._me()),
            )
        )

    def give_back(self, delivery: Delivery) -> None:
        """Leave a delivery, as it stands, to whoever gets it next."""
        self._write(
            lambda tx: tx.connection.execute(
                "UPDATE salon_delivery SET worker = ? WHERE event = ? AND worker = ?",
                (NOBODY, delivery.event, self._me()),
            )
        )

    def count(self) -> int:
        """Return how many deliveries are remembered."""
        self._me()
        with storage_errors(self._archive.path):
            found: int = (
                self._archive.read_sqlite().execute("SELECT count(*) FROM salon_delivery").get
            )
        return found

    def _me(self) -> str:
        """Return the name of this process among those that take deliveries."""
        with self._starting:
            if self._worker is None:
                self._archive.write_sqlite(lambda tx: tx.connection.execute(_TABLE))
                self._worker = _Worker(self._folder, self._ids.new("worker"))
            return self._worker.name

    def _find(self, event: str) -> tuple[str, str] | None:
        with storage_errors(self._archive.path):
            return next(
                self._archive.read_sqlite().execute(
                    "SELECT worker, state FROM salon_delivery WHERE event = ?", (event,)
                ),
                None,
            )

    def _insert(self, tx: SqliteTransaction, event: str, worker: str) -> bool:
        now = self._clock.now()
        tx.connection.execute("DELETE FROM salon_delivery WHERE at < ?", (instant(now - KEPT),))
        tx.connection.execute(
            "INSERT OR IGNORE INTO salon_delivery VALUES (?, ?, ?, ?)",
            (event, worker, _TAKEN, instant(now)),
        )
        return tx.connection.changes() == 1

    def _move(self, event: str, old: tuple[str, str], new: tuple[str, str]) -> bool:
        """Change who has a delivery and how far it is, unless somebody else did."""

        def work(tx: SqliteTransaction) -> bool:
            tx.connection.execute(
                "UPDATE salon_delivery SET worker = ?, state = ?, at = ?"
                " WHERE event = ? AND worker = ? AND state = ?",
                (*new, instant(self._clock.now()), event, *old),
            )
            return tx.connection.changes() == 1

        return self._write(work)

    def _write(self, work: Callable[[SqliteTransaction], T]) -> T:
        return self._archive.write_sqlite(work)


class _Worker:
    """A process by a name of its own and a locked file, which the system unlocks when it ends."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in folder.glob("*.lock"):
            _is_alive(folder, path.stem)  # removes the file of one that has ended
        fresh, path = folder / f"{name}.new", folder / f"{name}.lock"
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        # Nobody may find the file before it is locked, or it looks like one that was left behind.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        fresh.rename(path)
        self.close = weakref.finalize(self, _end, descriptor, path)


def _end(descriptor: int, path: Path) -> None:
    path.unlink(missing_ok=True)
    os.close(descriptor)


def _is_alive(folder: Path, worker: str) -> bool:
    """Tell whether the process of this name still runs; if not, its file goes."""
    path = folder / f"{worker}.lock"
    try:
        with FileIO(path, "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
