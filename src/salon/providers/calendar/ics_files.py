"""A calendar that is a folder of `.ics` files: what is in it is taken, a new event is a file."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from salon.core.errors import ProviderFailed
from salon.gate.ends import Done, Ended, Looked, NotDone, NotNow, Receipt
from salon.gate.means import Busy, CalendarEvent
from salon.providers.calendar.busy import busy_in
from salon.providers.calendar.event_text import event_text
from salon.providers.calendar.receipts import receipt_of
from salon.providers.writing_once import write_once


class IcsFolder:
    """A folder of events, one per file, that any calendar program can open."""

    def __init__(self, folder: Path, *, zone: ZoneInfo) -> None:
        self._folder = folder
        self._zone = zone

    def busy(self, start: datetime, end: datetime) -> Sequence[Busy]:
        """Return what the files say is taken."""
        if not self._folder.is_dir():
            return ()
        paths = sorted(self._folder.glob("*.ics"))
        if not paths:
            return ()
        try:
            texts = [path.read_bytes() for path in paths]
        except OSError as error:
            raise ProviderFailed(f"a calendar file cannot be read: {error}") from error
        return busy_in(texts, start, end, self._zone)

    def add(self, event: CalendarEvent) -> Ended:
        """Write the event as a file; one that is there already is the one meant."""
        path = self._path(event.uid)
        try:
            write_once(path, event_text(event))
        except OSError as error:
            return NotNow(reason=f"the file cannot be written: {error.strerror}")
        return Done(receipt=receipt_of(event, self._zone, reference=str(path)))

    def look(self, uid: str) -> Looked:
        """Tell whether the file is there."""
        path = self._path(uid)
        if not path.exists():
            return NotDone()
        return Done(receipt=Receipt(text=f"the event is in {path.name}", reference=str(path)))

    def _path(self, uid: str) -> Path:
        return self._folder / f"{uid}.ics"
