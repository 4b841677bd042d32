"""Shipped weights: from named numbers to a calibrated probability, with numpy or less.

A weighing is a logistic curve over standardised features. The files are made by
`tools/train_support.py` and never edited.

Invariant: weights that are read fit together and are finite, or reading them fails.
"""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from salon.core.embedding import TokenEmbedder
from salon.core.errors import FileMissing, InvalidSettings

_WEIGHTS = Path(__file__).with_name("weights")
JUDGE = _WEIGHTS / "judge.json"
SELECTOR = _WEIGHTS / "selector.json"
_FURTHEST = 30.0


class Feature(BaseModel):
    """One feature: where its middle is, how wide it scatters, and what it is worth."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    centre: float
    scale: float
    slope: float


class Weighing(BaseModel):
    """How features make a probability.

    `kind` says what it is for. `fingerprint` is that of the model whose vectors some features come
    from, or `None` where all come from words.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kind: str
    fingerprint: str | None
    features: dict[str, Feature]
    start: float
    threshold: float

    @model_validator(mode="after")
    def _fits(self) -> "Weighing":
        if any(one.scale <= 0 for one in self.features.values()):
            raise ValueError("scales are above zero")
        if not 0 < self.threshold < 1:
            raise ValueError("the threshold lies between 0 and 1")
        return self

    def probability(self, values: Mapping[str, float]) -> float:
        """Return how probable it is."""
        odds = self.start + sum(
            one.slope * (values[name] - one.centre) / one.scale
            for name, one in self.features.items()
        )
        return 1 / (1 + math.exp(-max(-_FURTHEST, min(_FURTHEST, odds))))


class WeighingFile(BaseModel):
    """What a file of weights holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attribution: tuple[str, ...]
    weighings: tuple[Weighing, ...]

    def find(self, kind: str, fingerprint: str | None) -> Weighing | None:
        """Return the weights of a kind for a model, or for words alone."""
        fitting = (
            one for one in self.weighings if (one.kind, one.fingerprint) == (kind, fingerprint)
        )
        return next(fitting, None)

    def by_words(self, kind: str) -> Weighing:
        """Return the weights of a kind for words alone, which every file has."""
        found = self.find(kind, None)
        if found is None:
            raise InvalidSettings(
                f"there are no weights of the kind {kind!r}",
                hint="make them anew with tools/train_support.py",
            )
        return found

    def by_meaning(self, kind: str, encoder: TokenEmbedder | None) -> Weighing | None:
        """Return the weights of a kind for an encoder, if there are any."""
        return self.find(kind, encoder.model.fingerprint) if encoder else None


def read_weighings(path: Path) -> WeighingFile:
    """Read a file of weights."""
    try:
        return WeighingFile.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}", hint="install Salon again") from error
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]
        place = ".".join(map(str, reason["loc"]))
        raise InvalidSettings(
            f"{path} holds no weights: {place}: {reason['msg'].lower()}",
            hint="make it anew with tools/train_support.py",
        ) from error


@cache
def shipped(path: Path) -> WeighingFile:
    """Return weights that come with Salon."""
    return read_weighings(path)
