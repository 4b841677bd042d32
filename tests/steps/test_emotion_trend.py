"""How feelings move over a conversation."""

import pytest

from salon.core.absent import Absent
from salon.steps.emotion import EmotionReading
from salon.steps.emotion_tables import meetings
from salon.steps.emotion_trend import emotion_momentum, emotion_trend, find_sudden_shift


def reading(emotion: str = "neutral", valence: float = 0.0) -> EmotionReading:
    meeting = meetings()[emotion]
    return EmotionReading(
        emotion=emotion,
        confidence=0.8,
        intensity=0.5,
        valence=valence,
        arousal=0.5,
        reply_strategy=meeting.strategy,
        tone=meeting.tone,
        probabilities={emotion: 1.0},
    )


def valences(*values: float) -> list[EmotionReading]:
    return [reading(valence=value) for value in values]


@pytest.mark.requirement("companion/transitions/emotion-trend")
@pytest.mark.parametrize(
    ("values", "trend"),
    [
        ((), "stable"),
        ((-0.9, 0.9), "stable"),
        ((0.0, 0.5, 0.21), "improving"),
        ((0.0, 0.9, 0.2), "stable"),
        ((0.5, 0.0, 0.29), "declining"),
        ((-1.0, 0.5, 0.5, 0.5), "stable"),
    ],
    ids=["none", "too few", "up", "barely", "down", "only the last three"],
)
def test_the_trend_compares_the_last_reading_with_the_third_last(
    values: tuple[float, ...], trend: str
) -> None:
    assert emotion_trend(valences(*values)) == trend


def test_a_jump_of_valence_is_a_sudden_shift() -> None:
    moderate = find_sudden_shift(valences(0.2, -0.4))
    high = find_sudden_shift(valences(-0.6, 0.6))
    assert moderate is not None
    assert (moderate.severity, moderate.change) == ("moderate", -0.6)
    assert high is not None
    assert high.severity == "high"


@pytest.mark.parametrize("values", [(), (0.9,), (0.1, 0.6)], ids=["none", "one", "half"])
def test_without_a_jump_there_is_no_shift(values: tuple[float, ...]) -> None:
    assert find_sudden_shift(valences(*values)) is None


def test_momentum_counts_the_last_three_against_the_three_before() -> None:
    low = [reading("sadness"), reading("anger"), reading("neutral")]
    high = [reading("joy"), reading("love"), reading("surprise")]
    assert emotion_momentum([*low, *high]) == 5
    assert emotion_momentum([*high, *low]) == -5
    assert emotion_momentum([*high, *high]) == 0


def test_momentum_needs_six_readings() -> None:
    assert emotion_momentum([reading()] * 5) == Absent("momentum needs six readings")
