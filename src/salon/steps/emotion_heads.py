"""The trained heads that read feelings from a message: 28 fine emotions, eight, and two ratings.

A message is read twice: as a unit vector of an embedder, by linear heads, and as its words, by
weights of each known word. The two are stacked, label by label, into calibrated odds. Which
linear heads apply is decided by the embedder's fingerprint, so vectors of another model are never
read. Only numpy is needed here; `tools/train_emotion.py` makes the file. Invariant: the same text
and the same embedder give the same numbers, whatever else runs.
"""

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from salon.core.embedding import EmbeddingModel, Vector
from salon.core.errors import IntegrityFailed
from salon.steps.conformal import prediction_set
from salon.steps.emotion_tables import EMOTIONS, fine_emotions
from salon.steps.hashed_words import KnownWords

Floats = npt.NDArray[np.float64]
WEIGHTS = Path(__file__).with_name("weights") / "emotion_heads.npz"
ADAPTER = Path(__file__).with_name("weights") / "emotion_adapter.npz"
"""What changes MiniLM into the embedder that the heads were trained on."""
_MODEL = ".model"
_RATINGS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadScores:
    """What the heads make of one message."""

    fine: dict[str, float]
    """The probability of each of the 28 fine emotions; several may be high at once."""
    named: tuple[str, ...]
    """The fine emotions above their thresholds, the strongest first; at least one."""
    eight: dict[str, float]
    """The probability of each of the eight; they sum to 1."""
    likely: tuple[str, ...]
    """The prediction set: those of the eight that may well be it."""
    valence: float
    arousal: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The heads for the vectors of one embedder, and how they are stacked with the words."""

    fingerprint: str
    weight: Floats
    bias: Floats
    stack: Floats
    """For each fine emotion and rating: the weight of the vector, of the words, and a constant."""
    thresholds: Floats
    eight_weight: Floats
    eight_bias: Floats
    eight_quantile: Floats
    """How strange an emotion may be to be in the prediction set (split conformal)."""
    scale: Floats
    """Valence: slope around 3; arousal: the ratings that are 0 and 1."""


class EmotionHeads:
    """The heads of one file. May be used by many threads at once."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        outputs = len(fine_emotions()) + _RATINGS
        self._words = KnownWords(
            arrays["words.numbers"].astype(np.uint32), arrays["words.rarity"].astype(np.float32)
        )
        self._weight = arrays["words.weight"]
        self._step = arrays["words.step"].astype(np.float64)
        self._bias = arrays["words.bias"].astype(np.float64)
        if self._weight.shape != (len(self._words), outputs):
            raise ValueError("the weights of the words have another shape")
        self._sections = {
            found.fingerprint: found
            for found in (
                _section(key.removesuffix(_MODEL), arrays)
                for key in sorted(arrays)
                if key.endswith(_MODEL)
            )
        }

    def knows(self, model: EmbeddingModel) -> bool:
        """Tell whether there are heads for the vectors of a model."""
        return model.fingerprint in self._sections

    def word_scores(self, text: str) -> Floats:
        """Return what the words alone say of each fine emotion and rating."""
        weighed = self._words.weigh(text)
        if not weighed:
            return self._bias.copy()
        rows = self._weight[list(weighed)].astype(np.float64)
        values = np.fromiter(weighed.values(), dtype=np.float64)
        found: Floats = np.einsum("i,ij->j", values, rows) * self._step + self._bias
        return found

    def read(self, text: str, vector: Vector, model: EmbeddingModel) -> HeadScores:
        """Return what the heads make of a message and its unit vector."""
        section = self._sections[model.fingerprint]
        # Not `@`: numpy would start threads for it, and the last digits would depend on them.
        by_vector = np.einsum("i,ij->j", vector.astype(np.float64), section.weight) + section.bias
        by_words = self.word_scores(text)
        scores = section.stack[0] * by_vector + section.stack[1] * by_words + section.stack[2]
        logits, (valence, arousal) = scores[:-_RATINGS], scores[-_RATINGS:]
        eight = _eight(section, logits).tolist()
        slope, calm, excited = section.scale
        return HeadScores(
            fine=dict(zip(fine_emotions(), _sigmoid(logits).tolist(), strict=True)),
            named=_named(logits, section.thresholds),
            eight=dict(zip(EMOTIONS, eight, strict=True)),
            likely=prediction_set(EMOTIONS, eight, float(section.eight_quantile)),
            valence=float(np.clip((valence - 3) * slope, -1, 1)),
            arousal=float(np.clip((arousal - calm) / (excited - calm), 0, 1)),
        )


@cache
def shipped_heads() -> EmotionHeads:
    """Return the heads that come with Salon."""
    return load_heads(WEIGHTS)


def load_heads(path: Path) -> EmotionHeads:
    """Read heads from a file, or raise `IntegrityFailed` where it is not what it should be."""
    try:
        content = io.BytesIO(path.read_bytes())
        with np.load(content, allow_pickle=False) as arrays:
            return EmotionHeads({name: arrays[name] for name in arrays.files})
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise IntegrityFailed(
            f"the emotion weights {path.name} cannot be used: {error}", hint="install Salon again"
        ) from error


def _section(name: str, arrays: Mapping[str, npt.NDArray[np.generic]]) -> Section:
    numbers = {
        one.name: arrays[f"{name}.{one.name}"].astype(np.float64)
        for one in fields(Section)
        if one.name != "fingerprint"
    }
    outputs = len(fine_emotions()) + _RATINGS
    if numbers["weight"].ndim != 2 or numbers["weight"].shape[1] != outputs:
        raise ValueError(f"the heads {name} have another shape")
    if not all(np.isfinite(one).all() for one in numbers.values()):
        raise ValueError(f"the heads {name} hold something other than numbers")
    return Section(fingerprint=str(arrays[f"{name}{_MODEL}"]), **numbers)


def _named(logits: Floats, thresholds: Floats) -> tuple[str, ...]:
    order = np.argsort(-logits, kind="stable")
    names = list(fine_emotions())
    above = [names[at] for at in order if logits[at] >= thresholds[at]]
    return tuple(above) or (names[order[0]],)


def _eight(section: Section, logits: Floats) -> Floats:
    scores = np.einsum("i,ij->j", logits, section.eight_weight) + section.eight_bias
    raised = np.exp(scores - scores.max())
    shares: Floats = raised / raised.sum()
    return shares


def _sigmoid(logits: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return found
