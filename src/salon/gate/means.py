"""What actions are carried out with: a calendar, a mail server, a folder.

These are interfaces; `salon.providers` implements them and the application hands them in. An
implementation never raises for a server that fails: it returns how the attempt ended.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from salon.gate.ends import Ended, Looked


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """A stretch of time that is taken; both ends are aware instants."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvent:
    """An event to be written; `uid` is the same at every try, so that it exists once."""

    uid: str
    title: str
    start: datetime
    end: datetime
    description: str
    reminder_minutes: int
    stamped_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MailMessage:
    """A mail to be sent; `message_id` is the same at every try, so that receivers know it again."""

    message_id: str
    to_name: str
    to_address: str
    subject: str
    body: str
    dated: datetime


class Calendar(Protocol):
    """Where events are read and written."""

    def busy(self, start: datetime, end: datetime) -> Sequence[Busy]:
        """Return what is taken between two instants, or raise `OutsideFailed`."""

    def add(self, event: CalendarEvent) -> Ended:
        """Write an event once; one with this uid that is already there counts as done."""

    def look(self, uid: str) -> Looked:
        """Tell whether an event with this uid is there."""


class Mail(Protocol):
    """Where mail is handed over."""

    @property
    def is_idempotent(self) -> bool:
        """Tell whether sending twice under one id is harmless: in a folder it is, by SMTP not."""

    def send(self, message: MailMessage, commit: Callable[[], None], /) -> Ended:
        """Send a mail; `commit` is called right before the step that may take effect."""

    def look(self, message_id: str, /) -> Looked:
        """Tell whether a mail with this id was handed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What an executor may use. `folder` is where files of actions go."""

    folder: Path
    calendar: Calendar
    mail: Mail
