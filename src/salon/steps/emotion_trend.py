"""How feelings move over a conversation: trend, momentum and sudden shifts, from readings alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from salon.core.absent import Absent
from salon.steps.emotion import EmotionReading

Trend = Literal["improving", "declining", "stable"]
_TREND_WINDOW = 3
_TREND_CHANGE = 0.2
_SHIFT = 0.5
_HIGH_SHIFT = 1.0
_MOMENTUM_WINDOW = 3
POSITIVE = frozenset({"joy", "love", "surprise"})
NEGATIVE = frozenset({"sadness", "anger", "fear", "disgust"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SuddenShift:
    """A jump of valence between two messages."""

    change: float
    severity: Literal["moderate", "high"]


def emotion_trend(readings: Sequence[EmotionReading]) -> Trend:
    """Return where valence went over the last three readings; too few are stable."""
    if len(readings) < _TREND_WINDOW:
        return "stable"
    change = readings[-1].valence - readings[-_TREND_WINDOW].valence
    if abs(change) <= _TREND_CHANGE:
        return "stable"
    return "improving" if change > 0 else "declining"


def find_sudden_shift(readings: Sequence[EmotionReading]) -> SuddenShift | None:
    """Return the jump between the last two readings, `None` where there is none."""
    if len(readings) < 2:
        return None
    change = readings[-1].valence - readings[-2].valence
    if abs(change) <= _SHIFT:
        return None
    severity: Literal["moderate", "high"] = "high" if abs(change) > _HIGH_SHIFT else "moderate"
    return SuddenShift(change=round(change, 6), severity=severity)


def emotion_momentum(readings: Sequence[EmotionReading]) -> int | Absent:
    """Return by how much the last three readings are more positive than the three before them.

    A reading counts 1 where its emotion is positive, -1 where it is negative and 0 otherwise.
    """
    if len(readings) < 2 * _MOMENTUM_WINDOW:
        return Absent("momentum needs six readings")
    signs = [(one.emotion in POSITIVE) - (one.emotion in NEGATIVE) for one in readings]
    return sum(signs[-_MOMENTUM_WINDOW:]) - sum(signs[-2 * _MOMENTUM_WINDOW : -_MOMENTUM_WINDOW])
