"""Group commit: writers that come at the same time share one transaction and one fsync.

One thread per archive owns the only writing connection. It takes whatever is waiting, runs it in
one transaction (each job in a savepoint, so that one that fails takes nothing with it), commits,
and only then lets the callers go: when `run` returns, the work is on disk. Additions of cards by
the same actor that wait side by side are inserted together and share an audit event.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import TypeVar, cast

import apsw

from salon.archive import database
from salon.archive.audit.log import AuditWriter, ChainSigner
from salon.archive.card_writes import CardRow
from salon.archive.transaction import SqliteTransaction
from salon.core.cards import AddedCard
from salon.core.clock import Clock
from salon.core.ids import IdMaker

T = TypeVar("T")
MAX_GROUP = 512
GATHER_S = 0.0005
"""How long a group waits for the callers of the last one to come back."""


class Job:
    """One piece of work that waits for its commit. Slots and a bare lock: it is on the hot path."""

    __slots__ = ("_done", "by", "cards", "error", "result", "work")

    def __init__(
        self,
        by: str,
        work: Callable[[SqliteTransaction], object] | None,
        cards: Sequence[CardRow] | None = None,
    ) -> None:
        self.by = by
        self.work = work
        self.cards = cards
        self.result: object = None
        self.error: BaseException | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def finish(self) -> None:
        """Let the caller go."""
        self._done.release()

    def wait(self) -> object:
        """Wait for the commit, then return what the work returned or raise what it raised."""
        self._done.acquire()
        if self.error is not None:
            raise self.error
        return self.result

    def apply(self, transaction: SqliteTransaction) -> None:
        """Do the work inside `transaction`."""
        if self.work is not None:
            self.result = self.work(transaction)
        elif self.cards is not None:
            self.result = transaction.add_rows(self.cards)


class GroupCommit:
    """The one writer of an archive."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        *,
        clock: Clock,
        ids: IdMaker,
        signer: Callable[[], ChainSigner | None],
        translate: Callable[[apsw.Error], BaseException],
    ) -> None:
        self._connect = connect
        self._clock = clock
        self._ids = ids
        self._signer = signer
        self._translate = translate
        self._waiting: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._gate = threading.Lock()
        self._closed = False
        self._last_size = 0
        self._wipe_due = False

    def run(self, work: Callable[[SqliteTransaction], T], *, by: str) -> T:
        """Run `work` in a transaction and return its result once that is durable."""
        return cast("T", self._submit(Job(by, work)))

    def add_cards(self, cards: Sequence[CardRow], *, by: str) -> list[AddedCard]:
        """Insert prepared cards and return once they are durable."""
        return cast("list[AddedCard]", self._submit(Job(by, None, cards)))

    def close(self) -> None:
        """Finish what is waiting and stop."""
        with self._gate:
            if self._thread is not None and not self._closed:
                self._waiting.put(None)
            self._closed = True
        if self._thread is not None:
            self._thread.join()

    def _submit(self, job: Job) -> object:
        # Under the gate, so that no job can slip in behind the word to stop and wait forever.
        with self._gate:
            if self._closed:
                raise RuntimeError("the archive is closed")
            if self._thread is None:
                self._thread = self._start()
            if threading.get_ident() == self._thread.ident:
                raise RuntimeError("a write inside a write would wait for itself")
            self._waiting.put(job)
        return job.wait()

    def _start(self) -> threading.Thread:
        thread = threading.Thread(target=self._serve, name="salon-archive-writer", daemon=True)
        thread.start()
        return thread

    def _serve(self) -> None:
        connection: apsw.Connection | None = None
        signer: ChainSigner | None = None
        while True:
            jobs, stop = self._next_group()
            try:
                if connection is None:
                    connection, signer = self._connect(), self._signer()
                self._commit(connection, signer, jobs)
            except BaseException as error:  # noqa: BLE001 - the callers raise it, in their threads
                _fail(jobs, error)
            for job in jobs:
                job.error = self._in_salons_words(job.error)
                job.finish()
            if stop:
                if connection is not None:
                    connection.close()
                return

    def _next_group(self) -> tuple[list[Job], bool]:
        jobs: list[Job] = []
        job = self._waiting.get()
        deadline = time.perf_counter() + GATHER_S
        try:
            while job is not None:
                jobs.append(job)
                if len(jobs) == MAX_GROUP:
                    return jobs, False
                # The callers of the last group are on their way back: wait for about as many,
                # a moment only. A lone writer never waits.
                patience = deadline - time.perf_counter() if len(jobs) < self._last_size else 0.0
                job = self._waiting.get(timeout=max(patience, 0.0))
        except Empty:
            return jobs, False
        finally:
            self._last_size = len(jobs)
        return jobs, True

    def _commit(
        self, connection: apsw.Connection, signer: ChainSigner | None, jobs: list[Job]
    ) -> None:
        if not jobs:
            return
        try:
            wipe = self._transact(connection, signer, jobs)
        except (apsw.Error, _Undone) as error:
            if len(jobs) == 1 or isinstance(error, apsw.BusyError):
                raise  # a busy archive has kept all waiting once; not each of them again
            # One job may have filled the disk or broken the transaction for all: each alone.
            for job in jobs:
                job.error = None  # what went wrong inside the group was undone with it
                try:
                    self._commit(connection, signer, [job])
                except BaseException as alone:  # noqa: BLE001 - belongs to this caller only
                    job.error = alone
            return
        if wipe or self._wipe_due:
            self._wipe_log(connection)

    def _wipe_log(self, connection: apsw.Connection) -> None:
        """Move the log into the file and empty it: deleted text must not linger there.

        The deletion is durable by now, so nobody hears of a full disk and nobody waits for a
        reader that holds the log; the next commit tries again.
        """
        self._wipe_due = True
        connection.set_busy_timeout(0)
        try:
            held = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
            self._wipe_due = bool(held)
        except apsw.Error:
            pass
        finally:
            connection.set_busy_timeout(database.BUSY_TIMEOUT_MS)

    def _transact(
        self, connection: apsw.Connection, signer: ChainSigner | None, jobs: list[Job]
    ) -> bool:
        wipe = False
        connection.execute("BEGIN IMMEDIATE")
        try:
            audit = AuditWriter(connection, signer)
            for job in _merged(jobs):
                transaction = SqliteTransaction(
                    connection, audit, clock=self._clock, ids=self._ids, by=job.by
                )
                try:
                    if len(jobs) == 1:
                        job.apply(transaction)
                    else:
                        _apply_in_savepoint(connection, audit, transaction, job)
                finally:
                    transaction.end()
                wipe |= transaction.deleted_content
            audit.seal()
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return wipe

    def _in_salons_words(self, error: BaseException | None) -> BaseException | None:
        if not isinstance(error, apsw.Error):
            return error
        said = self._translate(error)
        said.__cause__ = error
        return said


class _Undone(Exception):
    """SQLite rolled the whole transaction back under a job."""


class _MergedAdditions(Job):
    """Neighbouring additions by one actor, done as one."""

    __slots__ = ("parts",)

    def __init__(self, by: str, parts: list[Job]) -> None:
        super().__init__(by, None)
        self.parts = parts

    def apply(self, transaction: SqliteTransaction) -> None:
        added = transaction.add_rows([row for part in self.parts for row in part.cards or ()])
        place = 0
        for part in self.parts:
            count = len(part.cards or ())
            part.result = added[place : place + count]
            place += count


def _merged(jobs: list[Job]) -> Iterator[Job]:
    for (by, is_addition), neighbours in groupby(
        jobs, key=lambda job: (job.by, job.cards is not None)
    ):
        if is_addition:
            parts = list(neighbours)
            yield _MergedAdditions(by, parts) if len(parts) > 1 else parts[0]
        else:
            yield from neighbours


def _apply_in_savepoint(
    connection: apsw.Connection, audit: AuditWriter, transaction: SqliteTransaction, job: Job
) -> None:
    before = audit.position
    connection.execute("SAVEPOINT job")
    try:
        job.apply(transaction)
    except BaseException as error:  # handed to the caller of this job alone
        if not connection.in_transaction:
            raise _Undone from error
        connection.execute("ROLLBACK TO job")
        audit.position = before
        if isinstance(job, _MergedAdditions):
            for part in job.parts:
                _apply_in_savepoint(connection, audit, transaction, part)
        else:
            job.error = error
    connection.execute("RELEASE job")


def _fail(jobs: list[Job], error: BaseException) -> None:
    for job in jobs:
        job.error = job.error or error
