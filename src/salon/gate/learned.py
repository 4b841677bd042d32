"""The learned gate: a small linear model of what an assistant does next, and what it may change.

It can withhold what the rules allow, or suggest where they found nothing offered; it never opens
what they block. The weights that ship are trained by `tools/train_gate.py`; `salon gate train`
adds a layer learned from a reviewer's file (`feedback.py`). Running it needs numpy alone.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Protocol

from salon.core.embedding import Embedder
from salon.gate.features import SIGNALS, Features, Moment, read_moment, vectors_of
from salon.gate.verdicts import Said, Verdict

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

ACT, ASK, REFUSE = "ACT", "ASK", "REFUSE"
MOVES = "moves"
CALLS = "calls"
CALLS_FROM_TEXT = "calls_from_text"
MOVES_READ = "moves_read"
"""The threshold of acting for a model that reads the conversation; its weights are a reader's."""
_SUGGESTED_AT = frozenset({"no_action_words", "mention"})
"""The rules at which a suggestion makes sense: nothing blocks, and nothing was offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedDecision:
    """What a learned model says about a moment, in the words of the source protocol."""

    context_sufficient: bool
    should_trigger: bool
    probability: float


class MovesReader(Protocol):
    """Reads a moment of a conversation and says what an assistant does next."""

    def chances(self, moment: Moment) -> dict[str, float]:
        """Return how probable each move is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovesGate:
    """A reader of moves as a decision: while it would rather ask or refuse, nothing triggers."""

    reader: MovesReader

    def consider(self, history: tuple[Said, ...], reply: str) -> LearnedDecision:  # noqa: ARG002
        """Return what it says about the moment before a reply."""
        chances = self.reader.chances(Moment(history=history))
        likeliest = max(chances, key=lambda one: chances[one])
        return LearnedDecision(
            context_sufficient=likeliest != ASK,
            should_trigger=likeliest not in {ASK, REFUSE},
            probability=1 - chances[ASK] - chances[REFUSE],
        )


class DecisionModel(Protocol):
    """Anything that learned when to trigger."""

    def consider(self, history: tuple[Said, ...], reply: str) -> LearnedDecision:
        """Return what it says about a reply after a history."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearModel:
    """Weights over hashed n-grams, vectors and signals; `threshold` is that of acting."""

    labels: tuple[str, ...]
    acting: str
    threshold: float
    buckets: "Matrix"
    vectors: "Matrix"
    signals: "Matrix"
    bias: "Matrix"

    def chances(self, features: Sequence[Features], vectors: "Matrix") -> "Matrix":
        """Return one row of probabilities for each moment."""
        import numpy as np  # noqa: PLC0415 - heavy: only where a model runs

        signals = np.array([[one.signals[name] for name in SIGNALS] for one in features], "f4")
        scores = vectors @ self.vectors + signals @ self.signals + self.bias
        for row, one in enumerate(features):
            if one.buckets:
                values = np.array(one.values, np.float32)
                scores[row] += values @ self.buckets[list(one.buckets)]
        if len(self.labels) == 2 and scores.shape[1] == 1:
            chance = 1 / (1 + np.exp(-scores))
            found = np.hstack([1 - chance, chance])
        else:
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            found = odds / odds.sum(axis=1, keepdims=True)
        return np.asarray(found, np.float32)


def choose(chances: "Matrix", labels: Sequence[str], *, acting: str, threshold: float) -> list[str]:
    """Return the likeliest label of each row; `acting` only at or above the threshold."""
    act = list(labels).index(acting)
    allowed = chances.copy()
    allowed[chances[:, act] < threshold, act] = -1.0
    return [labels[int(one)] for one in allowed.argmax(axis=1)]


def moment_vectors(moments: Sequence[Moment], embedder: Embedder) -> "Matrix":
    """Return the vectors of the person's message and of what the assistant said before it."""
    import numpy as np  # noqa: PLC0415 - heavy: only where a model runs

    count = len(moments)
    texts = [one.message for one in moments] + [one.before for one in moments]
    found = vectors_of(texts, embedder)
    return np.hstack([found[:count], found[count:]])


@cache
def threshold_of(name: str) -> float:
    """Return the chance from which on a shipped model acts."""
    found = json.loads(resources.files("salon.gate").joinpath("weights/gate.json").read_text())
    return float(found["models"][name]["threshold"])


@cache
def shipped(name: str) -> LinearModel:
    """Return a model that comes with Salon: `moves`, `calls` or `calls_from_text`."""
    import numpy as np  # noqa: PLC0415 - heavy: only where a model runs

    place = resources.files("salon.gate").joinpath("weights")
    about = json.loads(place.joinpath("gate.json").read_text("utf-8"))["models"][name]
    with place.joinpath("gate.npz").open("rb") as file, np.load(file) as kept:
        parts = {
            part: kept[f"{name}.{part}"].astype(np.float32)
            for part in ("buckets", "vectors", "signals", "bias")
        }
    return LinearModel(
        labels=tuple(about["labels"]),
        acting=about["acting"],
        threshold=float(about["threshold"]),
        **parts,
    )


def next_move(moment: Moment, embedder: Embedder) -> dict[str, float]:
    """Return the probability of each move of the assistant: to ask, act, refuse or answer."""
    model = shipped(MOVES)
    chances = model.chances([read_moment(moment)], moment_vectors([moment], embedder))[0]
    return {label: round(float(one), 6) for label, one in zip(model.labels, chances, strict=True)}


def within_rules(verdict: Verdict, learned: LearnedDecision) -> Verdict:
    """Return a verdict after a learned decision was heard: withheld, suggested, or as it was."""
    if verdict.action is not None and not learned.should_trigger:
        return replace(
            verdict,
            action=None,
            rule="learned",
            reason="the rules allow it, but what was learned from feedback withholds it "
            f"(probability {learned.probability:.2f})",
        )
    if verdict.rule in _SUGGESTED_AT and learned.should_trigger:
        return replace(verdict, is_suggested=True)
    return verdict
