"""A second look at what no pattern caught: does a text insult, does a message ask for harm?

Two small heads on `embedded:minilm` (weights/ATTRIBUTION.md). `abuse` reads what is about to be
said, `request` what was asked. Both were also shown old speeches and ordinary talk, so that harsh
words alone do not count.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from salon.core.embedding import Embedder

WEIGHTS = Path(__file__).with_name("weights") / "harm.json"
HeadName = Literal["abuse", "request"]
SURE: dict[HeadName, float] = {"abuse": 0.8, "request": 0.6}
"""How probable harm must be to count."""
MOST_SENTENCES = 40


class HarmHeads(BaseModel):
    """The heads as they are stored: the weights of the dimensions, then the bias."""

    model_config = ConfigDict(extra="forbid")

    embedder: str
    heads: dict[HeadName, list[float]]


def most_harmful(
    sentences: Sequence[str], head: HeadName, embedder: Embedder
) -> tuple[int, float] | None:
    """Return which sentence is most probably harmful and how probably.

    Of many sentences the longest are looked at. `None` where the embedder is not the one that the
    heads were trained on.
    """
    name, weights = _head(head)
    model = embedder.model
    if not sentences or model.address != name or model.dimensions != len(weights) - 1:
        return None
    places = sorted(range(len(sentences)), key=lambda n: (-len(sentences[n]), n))[:MOST_SENTENCES]
    vectors = embedder.embed_passages([sentences[n] for n in places]).astype(np.float64)
    raised = vectors @ weights[:-1] + weights[-1]
    best = int(np.argmax(raised))
    return places[best], float(1 / (1 + np.exp(-raised[best])))


@cache
def _head(head: HeadName) -> tuple[str, npt.NDArray[np.float64]]:
    read = HarmHeads.model_validate(json.loads(WEIGHTS.read_text(encoding="utf-8")))
    return read.embedder, np.array(read.heads[head])
