"""Time, injected so that a turn can be replayed, and its two spellings.

Salon writes UTC instants as `2026-11-15T00:23:23.229924Z`. MCard's own columns spell the same
instant with `+00:00`, and `g_time` puts the hash algorithm before it and the place after it.
"""

from datetime import UTC, datetime, timedelta
from typing import NewType, Protocol

GTime = NewType("GTime", str)
Instant = NewType("Instant", str)


class Clock(Protocol):
    """Whatever knows the time."""

    def now(self) -> datetime:
        """Return the current instant, aware, in UTC."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the current instant, aware, in UTC."""
        return datetime.now(UTC)


class SteppingClock:
    """A clock for tests and replays: starts where told, moves by one step per look."""

    def __init__(self, start: datetime, step: timedelta = timedelta(seconds=1)) -> None:
        self._next = start
        self._step = step

    def now(self) -> datetime:
        """Return the current instant, aware, in UTC."""
        current = self._next
        self._next = current + self._step
        return current


def instant(moment: datetime) -> Instant:
    """Spell `moment` as Salon does: UTC, microseconds always, `Z` at the end."""
    return Instant(_naive_iso(moment) + "Z")


def mcard_instant(moment: datetime) -> str:
    """Spell `moment` as MCard's handle tables do: `+00:00` at the end."""
    return _naive_iso(moment) + "+00:00"


def g_time(algorithm: str, moment: datetime, place: str = "UTC") -> GTime:
    """Stamp a card: `sha256|2026-11-15T00:23:23.229924Z|UTC`."""
    return GTime(f"{algorithm}|{_naive_iso(moment)}Z|{place}")


def parse_instant(text: str) -> datetime:
    """Read either spelling back, or raise `ValueError`; without a zone it is taken as UTC."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text!r} lies outside the years that can be written") from error


def _naive_iso(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
