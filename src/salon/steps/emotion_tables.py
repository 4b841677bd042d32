"""What the emotions are, how a reply meets each, and which fine emotion belongs to which.

The 28 fine emotions are GoEmotions'. `love` takes in `love` and `caring`, because a reply meets
affection and care alike; `desire` stays with `joy`, where the data set's own grouping has it,
because its comments wish for things far more often than for a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

EMOTIONS = ("joy", "sadness", "anger", "fear", "surprise", "disgust", "neutral", "love")
"""The closed set of names in `EmotionReading.emotion`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """How a reply meets an emotion."""

    strategy: str
    tone: str
    valence: float
    """How pleasant the emotion is where only its name is known, -1 to 1."""


class _Meeting(BaseModel):
    model_config = ConfigDict(extra="forbid")

    strategy: str
    tone: str
    valence: float


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    emotions: dict[str, _Meeting]
    fine: dict[str, str]


@cache
def meetings() -> Mapping[str, Meeting]:
    """Return how a reply meets each of the eight emotions."""
    return {
        name: Meeting(strategy=one.strategy, tone=one.tone, valence=one.valence)
        for name, one in _table().emotions.items()
    }


@cache
def fine_emotions() -> Mapping[str, str]:
    """Return the 28 fine emotions in the data set's order, each with the one it belongs to."""
    return _table().fine


@cache
def _table() -> _Table:
    text = resources.files("salon.steps").joinpath("language/emotion.json").read_text("utf-8")
    return _Table.model_validate_json(text)
