"""Mixed load on one archive: everything a program might do to it, noted down as it goes.

A `Worker` is one thread of that load. Every content it writes is unique (but for those that all
workers share), so that each card, handle move and document can be traced to the one attempt that
made it. As a program (`python -m tests.torture.load`) this is the process that gets killed.
"""

import argparse
import io
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import TypeVar

from salon.archive.audit.signing import load_or_make_signer
from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import ArchiveTransaction
from salon.core.documents import Document, DocumentId, Provenance, Span, VerificationStatus
from salon.core.errors import Conflict
from salon.core.handles import Handle
from salon.core.hashing import CardHash, content_hash
from tests.torture.ledger import (
    Acknowledged,
    Attempt,
    Complaint,
    FileNotebook,
    Notebook,
    Refused,
    Witnessed,
)

T = TypeVar("T")
SHARED_HANDLES = 3
SHARED_CONTENTS = 40
KEY_FILE = "signing.key"
ARCHIVE_FILE = "salon.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large things are at most; a simulated disk keeps copies, so there they are small."""

    batch: int
    card: int
    stream: int


KILL_SIZES = Sizes(batch=40, card=2_000, stream=3_000_000)
POWER_CUT_SIZES = Sizes(batch=12, card=600, stream=150_000)


class Worker:
    """One thread of the load."""

    def __init__(
        self,
        name: str,
        archive: SqliteArchive,
        notebook: Notebook,
        *,
        numbers: Iterator[int],
        random: Random,
        sizes: Sizes,
    ) -> None:
        self._name = name
        self._archive = archive
        self._notebook = notebook
        self._numbers = numbers
        self._random = random
        self._sizes = sizes
        self._made = 0
        self._deletable: list[CardHash] = []
        self._documents: list[DocumentId] = []

    def step(self) -> None:
        """Do one thing; raise what the archive raises beyond a plain refusal."""
        do = self._random.choices(list(_MIX), weights=list(_MIX.values()))[0]
        do(self)

    def add(self) -> None:
        content = self._content()
        card = content_hash(content)
        if self._try(self._attempt("add", card), lambda: self._archive.add(content)):
            self._deletable.append(card)

    def add_what_others_add_too(self) -> None:
        content = f"shared content {self._random.randrange(SHARED_CONTENTS)}".encode()
        attempt = self._attempt("shared", content_hash(content))
        self._try(attempt, lambda: self._archive.add(content))

    def add_batch(self) -> None:
        contents = [self._content() for _ in range(self._random.randint(2, self._sizes.batch))]
        cards = [content_hash(content) for content in contents]
        if self._try(self._attempt("batch", *cards), lambda: self._archive.add_many(contents)):
            self._deletable.extend(cards)

    def add_stream(self) -> None:
        content = self._content(self._random.randint(self._sizes.stream // 4, self._sizes.stream))
        card = content_hash(content)
        stream = io.BytesIO(content)
        if self._try(self._attempt("stream", card), lambda: self._archive.add_stream(stream)):
            self._deletable.append(card)

    def put(self) -> None:
        handle, content = f"own/{self._name}", self._content()
        attempt = self._attempt("put", content_hash(content), handle=handle)
        self._try(attempt, lambda: self._archive.put(handle, content))

    def move_shared(self) -> None:
        handle, content = f"shared/{self._random.randrange(SHARED_HANDLES)}", self._content()
        found = self._archive.find_handle(handle)
        current = found.current if found else None
        attempt = self._attempt("move", content_hash(content), handle=handle, expected=current)
        self._try(attempt, lambda: self._archive.put(handle, content, expected_current=current))

    def move_in_vain(self) -> None:
        handle, content, nowhere = f"vain/{self._name}", self._content(), content_hash(b"nowhere")
        attempt = self._attempt("vain", content_hash(content), handle=handle, expected=nowhere)
        self._try(attempt, lambda: self._archive.put(handle, content, expected_current=nowhere))

    def write_together(self) -> None:
        handle, cited, citing = f"job/{self._name}", self._content(), self._content()

        def job(tx: ArchiveTransaction) -> Handle:
            source, made = tx.add(cited).hash, tx.add(citing).hash
            tx.cite(made, [Span(hash=source, start=0, end=len(cited))])
            tx.mark_derived(made, from_card=source)
            return tx.set_handle(handle, made)

        attempt = self._attempt("job", content_hash(cited), content_hash(citing), handle=handle)
        self._try(attempt, lambda: self._archive.write(job))

    def add_document(self) -> None:
        source, text = self._content(), self._content()

        def job(tx: ArchiveTransaction) -> Document:
            cards = tx.add(source).hash, tx.add(text).hash
            about = Provenance(title=f"by {self._name}", authors=("Ada",), year=1843)
            return tx.add_document(about, source=cards[0], text=cards[1])

        attempt = self._attempt("document", content_hash(source), content_hash(text))
        document = self._try(attempt, lambda: self._archive.write(job))
        if document:
            self._documents.append(document.id)

    def judge_document(self) -> None:
        if not self._documents:
            return
        document = self._random.choice(self._documents)
        status = self._random.choice(list(VerificationStatus))
        self._made += 1
        notes = f"{self._name} judges, {self._made}"
        attempt = self._attempt("judge", document=document, notes=notes)
        self._try(
            attempt,
            lambda: self._archive.write(
                lambda tx: tx.set_verification(document, status, notes=notes)
            ),
        )

    def delete(self) -> None:
        if not self._deletable:
            return
        card = self._deletable.pop(self._random.randrange(len(self._deletable)))
        attempt = self._attempt("delete", deletes=card)
        self._try(
            attempt, lambda: self._archive.write(lambda tx: tx.delete(card, reason="torture"))
        )

    def look(self) -> None:
        if self._deletable:
            self._archive.get(self._random.choice(self._deletable))
        head = self._archive.checkpoint()
        self._notebook.append(Witnessed(seq=head.seq, hash=head.hash))

    def _content(self, size: int | None = None) -> bytes:
        self._made += 1
        size = size or self._random.randint(1, self._sizes.card)
        return f"{self._name}, {self._made}: ".encode() + self._random.randbytes(size)

    def _attempt(
        self,
        kind: str,
        *cards: CardHash,
        handle: str | None = None,
        expected: CardHash | None = None,
        deletes: CardHash | None = None,
        document: DocumentId | None = None,
        notes: str | None = None,
    ) -> Attempt:
        return Attempt(
            number=next(self._numbers),
            kind=kind,
            cards=cards,
            handle=handle,
            expected=expected,
            deletes=deletes,
            document=document,
            notes=notes,
        )

    def _try(self, attempt: Attempt, call: Callable[[], T]) -> T | None:
        self._notebook.append(attempt)
        try:
            result = call()
        except Conflict as error:
            self._notebook.append(Refused(number=attempt.number, code=error.code))
            return None
        document = result.id if isinstance(result, Document) else None
        self._notebook.append(Acknowledged(number=attempt.number, document=document))
        return result


_MIX: dict[Callable[[Worker], None], int] = {
    Worker.add: 24,
    Worker.add_what_others_add_too: 8,
    Worker.add_batch: 8,
    Worker.add_stream: 2,
    Worker.put: 16,
    Worker.move_shared: 14,
    Worker.move_in_vain: 4,
    Worker.write_together: 8,
    Worker.add_document: 6,
    Worker.judge_document: 5,
    Worker.delete: 8,
    Worker.look: 8,
}


def open_signed(folder: Path) -> SqliteArchive:
    """Open the archive in `folder` the way an application does, with a key beside it."""
    key = folder / KEY_FILE
    return SqliteArchive(folder / ARCHIVE_FILE, signer=lambda: load_or_make_signer(key))


def run_until_killed(folder: Path, notes: Path, *, name: str, seed: str, threads: int) -> None:
    """Put load on the archive in `folder` for ever; print a line once it is open."""
    notebook, numbers = FileNotebook(notes), count()
    archive = open_signed(folder)

    def work(number: int) -> None:
        worker = Worker(
            f"{name}-{number}",
            archive,
            notebook,
            numbers=numbers,
            random=Random(f"{seed}/{number}"),
            sizes=KILL_SIZES,
        )
        try:
            while True:
                worker.step()
        except BaseException:
            notebook.append(Complaint(text=traceback.format_exc()))
            raise

    running = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    print("ready", flush=True)
    for thread in running:
        thread.join()


def main() -> None:
    """Read the arguments that `kill.py` gives, and run."""
    parser = argparse.ArgumentParser(description="Load that runs until it is killed.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("notes", type=Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--threads", type=int, default=6)
    given = parser.parse_args()
    run_until_killed(
        given.folder, given.notes, name=given.name, seed=given.seed, threads=given.threads
    )


if __name__ == "__main__":
    main()
