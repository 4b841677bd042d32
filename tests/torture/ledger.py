"""What a load tried and what the archive acknowledged, written down outside the archive.

A load notes an `Attempt` before it calls the archive and an `Acknowledged` after the call has
returned, so the notes never claim more than the archive said. They go to memory, or to a file that
survives the death of the process: one line per note, appended in one system call, where a torn
last line is ignored.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from salon.core.events import Checkpoint
from salon.core.hashing import CardHash


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One job that is about to be handed to the archive, all of it or nothing."""

    number: int
    kind: str
    cards: tuple[CardHash, ...] = ()
    handle: str | None = None
    expected: CardHash | None = None
    deletes: CardHash | None = None
    document: str | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """The archive has said that this attempt is done; `document` is the one it made."""

    number: int
    document: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The archive has said that this attempt changed nothing."""

    number: int
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """A head of the audit chain that the archive has shown."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """Something that should not have happened while the load ran."""

    text: str


Note: TypeAlias = Attempt | Acknowledged | Refused | Witnessed | Complaint
_KINDS: dict[str, type[Note]] = {
    kind.__name__: kind for kind in (Attempt, Acknowledged, Refused, Witnessed, Complaint)
}


class Notebook(Protocol):
    """Whatever keeps notes, from several threads at once."""

    def append(self, note: Note) -> None:
        """Keep one note; when this returns, it survives the end of the process."""


class MemoryNotebook:
    """Notes of a load that runs in this process."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def append(self, note: Note) -> None:
        self.notes.append(note)


class FileNotebook:
    """Notes of a load that will be killed."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(self, note: Note) -> None:
        line = json.dumps({"note": type(note).__name__} | asdict(note)) + "\n"
        os.write(self._descriptor, line.encode())


def read_notes(path: Path) -> Iterator[Note]:
    """Read a `FileNotebook` back, without the line that its writer did not finish."""
    if not path.exists():
        return
    for line in path.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            fields = json.loads(line)
            kind = _KINDS[fields.pop("note")]
            if "cards" in fields:
                fields["cards"] = tuple(fields["cards"])
            yield kind(**fields)


@dataclass(slots=True)
class Tried:
    """An attempt with what became of it. `begun` and `ended` are places in the notes."""

    attempt: Attempt
    begun: int
    ended: int | None = None
    acknowledged: bool = False
    refused: bool = False
    made_document: str | None = None


@dataclass(slots=True)
class Ledger:
    """The notes of one load, put in order."""

    tried: dict[int, Tried] = field(default_factory=dict)
    witnesses: list[Checkpoint] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def acknowledged(self) -> int:
        """Return how many attempts the archive has acknowledged."""
        return sum(tried.acknowledged for tried in self.tried.values())


def read_ledger(notes: Iterable[Note]) -> Ledger:
    """Put notes in order."""
    ledger = Ledger()
    for place, note in enumerate(notes):
        match note:
            case Attempt():
                ledger.tried[note.number] = Tried(note, begun=place)
            case Acknowledged():
                tried = ledger.tried[note.number]
                tried.acknowledged, tried.ended = True, place
                tried.made_document = note.document
            case Refused():
                ledger.tried[note.number].refused = True
            case Witnessed():
                ledger.witnesses.append(Checkpoint(seq=note.seq, hash=note.hash))
            case Complaint():
                ledger.complaints.append(note.text)
    return ledger
