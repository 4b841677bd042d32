"""A second look at a message that no pattern caught: what it means, by a small trained head.

The head sits on `embedded:minilm` and was trained on sentences of our own and on ordinary comments
(weights/ATTRIBUTION.md). It notices what patterns cannot list and is wrong more often, so what it
finds counts as possible, and the reply asks instead of telling.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from salon.core.embedding import Embedder, EmbeddingModel

WEIGHTS = Path(__file__).with_name("weights") / "crisis.json"
NONE = "none"
POSSIBLE = 0.6
"""How probable a cry for help must be. Ordinary comments reach it about once in a hundred."""
MOST_SENTENCES = 4


class HeadFile(BaseModel):
    """The head as it is stored: for each kind the weights of the dimensions, then the bias."""

    model_config = ConfigDict(extra="forbid")

    embedder: str
    kinds: list[str]
    weights: list[list[float]]


@dataclass(frozen=True, slots=True)
class _Head:
    embedder: str
    kinds: tuple[str, ...]
    weights: npt.NDArray[np.float64]


def most_likely(sentences: Sequence[str], embedder: Embedder) -> tuple[int, str, float] | None:
    """Return which sentence is most probably a cry for help, of which kind and how probably.

    Of many sentences the longest are looked at. `None` where the embedder is not the one that the
    head was trained on.
    """
    head = _head()
    if not sentences or not _is_for(head, embedder.model):
        return None
    places = sorted(range(len(sentences)), key=lambda n: (-len(sentences[n]), n))[:MOST_SENTENCES]
    vectors = embedder.embed_passages([sentences[n] for n in places]).astype(np.float64)
    raised = vectors @ head.weights[:, :-1].T + head.weights[:, -1]
    chances = np.exp(raised - raised.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    none = head.kinds.index(NONE)
    best = int(np.argmin(chances[:, none]))
    kinds = np.where(np.arange(len(head.kinds)) == none, -1.0, chances[best])
    return places[best], head.kinds[int(np.argmax(kinds))], float(1 - chances[best, none])


def _is_for(head: _Head, model: EmbeddingModel) -> bool:
    return model.address == head.embedder and model.dimensions == head.weights.shape[1] - 1


@cache
def _head() -> _Head:
    read = HeadFile.model_validate(json.loads(WEIGHTS.read_text(encoding="utf-8")))
    return _Head(read.embedder, tuple(read.kinds), np.array(read.weights))
