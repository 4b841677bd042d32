"""The log of who used which avatar for what, written behind the answers.

A description of an avatar takes microseconds and a durable write milliseconds, so uses that change
nothing else are written by a thread of their own, many in one transaction, soon after. Closing
writes what is left. A reply does not wait here: it is recorded with its turn, before it is given.
"""

import threading
from functools import partial

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.closing import Closable
from salon.core.events import AvatarUsed
from salon.core.hashing import content_hash

SOON_S = 1.0


class UseLog(Closable):
    """Uses of avatars on their way to the audit log. May be used by many threads at once."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._waiting: list[AvatarUsed] = []
        self._change = threading.Condition()
        self._writing = threading.Lock()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def note(self, use: AvatarUsed) -> None:
        """Take a use; it is in the audit log soon."""
        with self._change:
            self._waiting.append(use)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._write_soon, name="salon-use-log", daemon=True
                )
                self._thread.start()
            self._change.notify()

    def flush(self) -> None:
        """Write what is waiting, now."""
        with self._writing:
            with self._change:
                uses, self._waiting = self._waiting, []
            if uses:
                self._archive.write(partial(_record, uses=uses))

    def close(self) -> None:
        """Write what is left, and end the thread."""
        with self._change:
            self._is_closed = True
            self._change.notify()
        if self._thread is not None:
            self._thread.join()
        self.flush()

    def _write_soon(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting or self._is_closed)
                # More come while one waits; they are written together.
                self._change.wait_for(lambda: self._is_closed, timeout=SOON_S)
                if self._is_closed:
                    return
            self.flush()


def make_use(avatar: str, act: str, question: str, outcome: str) -> AvatarUsed:
    """Return a use that names what was asked by its digest."""
    digest = content_hash(question.encode(errors="replace")) if question else ""
    return AvatarUsed(avatar=avatar, act=act, question_sha256=digest, outcome=outcome)


def _record(tx: ArchiveTransaction, uses: list[AvatarUsed]) -> None:
    for use in uses:
        tx.note(use)
