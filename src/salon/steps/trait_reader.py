"""Big Five from wording: a small model on sentence embeddings, and how little it is worth.

Fitted on sentence completions (`tools/train_traits.py`). Its cross-validated correlation with the
traits is at most about 0.3, so a reading weighs r squared, and the n-th one a n-th of that:
readings of one person are not independent. Traits below 0.1 are not read at all.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from salon.core.embedding import Embedder
from salon.steps.feature_values import Observation

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_LEAST_R = 0.1
_FEWEST_WORDS = 8
_CONFIDENCE = 0.3


class TextModel(NamedTuple):
    """Weights for each trait, with what each is worth."""

    features: tuple[str, ...]
    r: dict[str, float]
    weights: "npt.NDArray[np.float32]"
    intercept: "npt.NDArray[np.float32]"


@cache
def load_text_model() -> TextModel:
    """Return the model as it was fitted."""
    import numpy as np  # noqa: PLC0415 - heavy: only where wording is read

    folder = resources.files("salon.steps").joinpath("weights")
    about = json.loads(folder.joinpath("traits_text.json").read_text("utf-8"))
    with folder.joinpath("traits_text.npz").open("rb") as file:
        found = np.load(file)
        weights, intercept = found["weights"], found["intercept"]
    return TextModel(tuple(about["features"]), about["r"], weights, intercept)


def wording_vector(texts: Sequence[str], embedder: Embedder) -> "npt.NDArray[np.float32]":
    """Return where texts of one person point together: the direction of their vectors' mean.

    Each text by itself, because other steps have its vector already.
    """
    import numpy as np  # noqa: PLC0415 - heavy: only where wording is read

    total = embedder.embed_passages(list(texts)).astype(np.float64).sum(axis=0)
    length = float(np.sqrt((total * total).sum())) or 1.0
    found: npt.NDArray[np.float32] = (total / length).astype(np.float32)
    return found


def read_wording(
    texts: Sequence[str], embedder: Embedder, *, turn: int, earlier: int
) -> tuple[Observation, ...]:
    """Return weak observations of the Big Five; none where too little was written."""
    written = [text.strip() for text in texts if text.strip()]
    if sum(len(text.split()) for text in written) < _FEWEST_WORDS:
        return ()
    model = load_text_model()
    vector = wording_vector(written, embedder)
    if len(vector) != len(model.weights):
        return ()
    scores = vector @ model.weights + model.intercept
    return tuple(
        Observation(
            feature=feature,
            value=round(float(min(1.0, max(0.0, score))), 6),
            confidence=_CONFIDENCE,
            source="text",
            turn=turn,
            weight=round(model.r[feature] ** 2 / (earlier + 1), 6),
        )
        for feature, score in zip(model.features, scores, strict=True)
        if model.r[feature] >= _LEAST_R
    )
