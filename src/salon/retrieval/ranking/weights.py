"""The numbers behind fusion: what words and vectors are worth, and how sure they make us.

`weights.json` beside this module holds those that Salon ships, each with the fingerprint of the
model it was fitted for, and names the data they come from. It is made by
`tools/train_ranking.py` and never edited. A model that is not in it gets the `generic` weights,
which use nothing that only holds for one model: their order is a little worse, and their
probabilities stay further from 0 and 1.

Invariant: weights that are read are whole and finite, or reading them fails.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from salon.core.embedding import EmbeddingModel
from salon.core.errors import FileMissing, InvalidSettings
from salon.retrieval.ranking.calibration import Curve, curve_between

Closeness: TypeAlias = Literal["cosine", "stretched"]

SHIPPED = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How to fuse the rankings of words and of one model's vectors.

    `closeness` is the cosine itself, or for models whose cosines we know nothing about, its place
    between the last and the first of the ranking (`stretched`). `words` is what the best BM25
    score of a query is worth, in units of closeness; `feedback` is what likeness to the best
    passages is worth. `expected` is the closeness of a passage without a vector: a start, and a
    slope by its words. For each of `alphas` there is one of `curves`, from evidence to log-odds,
    and one of `ideal_curves`, which also take the share of the ideal score that was reached.
    """

    model: str
    fingerprint: str | None
    closeness: Closeness
    words: float
    feedback: float
    expected: tuple[float, float]
    alphas: tuple[float, ...]
    curves: tuple[Curve, ...]
    ideal_curves: tuple[Curve, ...]

    def __post_init__(self) -> None:
        for curves, slopes in ((self.curves, 1), (self.ideal_curves, 2)):
            if len(curves) != len(self.alphas) or any(len(one.slopes) != slopes for one in curves):
                raise ValueError("each alpha has a curve, with a slope for each piece of evidence")
            if any(slope < 0 for one in curves for slope in one.slopes):
                raise ValueError("more evidence makes nothing less probable")
        if list(self.alphas) != sorted({0.0, *self.alphas, 1.0}):
            raise ValueError("alphas rise from 0 to 1")

    def curve_at(self, alpha: float, *, with_ideal: bool) -> Curve:
        """Return the curve for a mixture of words and vectors."""
        return curve_between(self.alphas, self.ideal_curves if with_ideal else self.curves, alpha)


class WeightsFile(BaseModel):
    """What a file of weights holds."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    attribution: tuple[str, ...]
    weights: tuple[Weights, ...]

    def find(self, model: EmbeddingModel | None) -> Weights | None:
        """Return the weights that were fitted for this model."""
        if model is None:
            return None
        fitting = (one for one in self.weights if one.fingerprint == model.fingerprint)
        return next(fitting, None)

    def generic(self) -> Weights | None:
        """Return the weights for models that nothing was fitted for."""
        return next((one for one in self.weights if one.fingerprint is None), None)


def read_weights(path: Path) -> WeightsFile:
    """Read a file of weights, shipped or fitted by `tools/train_ranking.py`."""
    try:
        return WeightsFile.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise FileMissing(f"there is no file {path}") from error
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]
        place = ".".join(map(str, reason["loc"]))
        raise InvalidSettings(
            f"{path} holds no weights: {place}: {reason['msg'].lower()}",
            hint="make it anew with tools/train_ranking.py",
        ) from error


@cache
def shipped_weights() -> WeightsFile:
    """Return the weights that come with Salon."""
    return read_weights(SHIPPED)


def weights_for(model: EmbeddingModel | None, own: WeightsFile | None = None) -> Weights:
    """Return the best weights there are for a model: a person's own, Salon's, or the generic ones.

    Without a model, only words are searched, and any weights would do.
    """
    files = [own, shipped_weights()] if own else [shipped_weights()]
    fitting = (one for file in files for one in (file.find(model),) if one)
    generic = (one for file in files for one in (file.generic(),) if one)
    return next(fitting, None) or next(generic)
