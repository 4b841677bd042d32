"""What vectors say of feelings: the trained reader's heads, and its scores on what it never saw."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from salon.providers.embedders.adapter import load_adapter
from salon.providers.embedders.minilm import MiniLmEmbedder
from salon.providers.embedders.minilm_files import find_minilm_files
from salon.steps.emotion_tables import fine_emotions

Floats = npt.NDArray[np.float64]
LABELS = len(fine_emotions())


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Texts with the labels or ratings they have."""

    texts: list[str]
    values: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """Linear heads: labels first, then valence and arousal."""

    weight: Floats
    bias: Floats

    def __call__(self, features: Any) -> Floats:
        """Return the scores of features, row by row."""
        return np.asarray(features @ self.weight + self.bias)


@dataclass(slots=True, kw_only=True)
class Data:
    """The sets, and the words fitted with and without dev."""

    train: Rows
    dev: Rows
    rated_train: Rows
    rated_dev: Rows


Scores = tuple[tuple[Floats, Floats], Linear, str]


def adapted_scores(data: Data, folder: Path) -> Scores:
    """Take the heads of the trained reader, and its scores on dev."""
    adapter = load_adapter(folder / "emotion_adapter.npz")
    with np.load(folder / "emotion_heads.npz") as heads:
        weight = np.hstack([_inwards(heads["emotions.weight"]), _inwards(heads["rated.weight"])])
        bias = np.concatenate([np.ravel(heads["emotions.bias"]), np.ravel(heads["rated.bias"])])
    final = Linear(weight=weight.astype(np.float64), bias=bias.astype(np.float64))
    embedder = MiniLmEmbedder("embedded:emotion", find_minilm_files(), adapter=adapter)
    # Comments have no ratings; what the heads that ship make of them sets the scale of valence.
    comments = final(embedder.embed_passages(data.dev.texts).astype(np.float64))
    sentences = np.zeros((len(data.rated_dev.texts), LABELS + 2))
    with np.load(folder / "emotion_dev.npz") as dev:
        comments[:, :LABELS] = dev["emotions"]
        sentences[:, LABELS:] = dev["rated"]
    return (comments, sentences), final, embedder.model.fingerprint


def _inwards(weight: Floats) -> Floats:
    """Return weights as dimensions by outputs, whichever way they were stored."""
    return weight if weight.shape[0] > weight.shape[1] else weight.T
