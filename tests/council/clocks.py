"""A clock that stands still until it is moved."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 15, 12, tzinfo=UTC)


@dataclass(slots=True)
class MovableClock:
    """Time as a test wants it."""

    moment: datetime = START

    def now(self) -> datetime:
        return self.moment

    def forward(self, **by: float) -> None:
        self.moment += timedelta(**by)
