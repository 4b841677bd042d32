"""The backends that the shared behaviour tests run against: a new one only has to be listed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.archive import Archive
from salon.core.clock import Clock, SteppingClock

START = datetime(2026, 11, 15, 0, 23, 23, 229924, tzinfo=UTC)


class OpenArchive(Protocol):
    """Opens the archive that lives at `place`, making it if need be."""

    def __call__(self, place: Path, *, actor: str, clock: Clock) -> Archive:
        """Return the archive."""


def open_sqlite(place: Path, *, actor: str, clock: Clock) -> Archive:
    """Open the archive in one SQLite file."""
    return SqliteArchive(place / "salon.db", actor=actor, clock=clock)


BACKENDS: dict[str, OpenArchive] = {"sqlite": open_sqlite}


@dataclass(slots=True)
class Place:
    """Where one archive lives: open it as often as you like, all is closed in the end."""

    folder: Path
    opener: OpenArchive
    opened: list[Archive] = field(default_factory=list)

    def open(self, *, actor: str = "tester", start: datetime = START) -> Archive:
        """Open the archive; its clock moves by one second per look."""
        clock = SteppingClock(start, timedelta(seconds=1))
        archive = self.opener(self.folder, actor=actor, clock=clock)
        self.opened.append(archive)
        return archive

    def close(self) -> None:
        """Close whatever was opened."""
        for archive in self.opened:
            archive.close()


Check = Callable[[Archive], None]
