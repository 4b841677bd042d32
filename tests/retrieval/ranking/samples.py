"""Rankings, vectors and weights made up for these tests."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from salon.core.indexes import PassageId, Ranking
from salon.retrieval.ranking.calibration import Curve
from salon.retrieval.ranking.weights import Weights

NOTHING = Ranking(np.empty(0, np.int64), np.empty(0, np.float32))


def ranking(*found: tuple[int, float]) -> Ranking:
    """Return a ranking of (id, score) as given: best first."""
    return Ranking(
        np.array([id_ for id_, _ in found], np.int64),
        np.array([score for _, score in found], np.float32),
    )


def weights(**changes: object) -> Weights:
    """Return weights that are easy to reckon with."""
    made: dict[str, object] = {
        "model": "test:model",
        "fingerprint": "f" * 64,
        "closeness": "cosine",
        "words": 0.5,
        "feedback": 0.0,
        "expected": (0.2, 0.3),
        "alphas": (0.0, 0.5, 1.0),
        "curves": (
            Curve(start=-2.0, slopes=(2.0,)),
            Curve(start=-4.0, slopes=(5.0,)),
            Curve(start=-3.0, slopes=(6.0,)),
        ),
        "ideal_curves": (
            Curve(start=-4.0, slopes=(2.0, 3.0)),
            Curve(start=-4.0, slopes=(5.0, 0.0)),
            Curve(start=-3.0, slopes=(6.0, 0.0)),
        ),
    }
    return Weights(**(made | changes))  # type: ignore[arg-type]


class Vectors:
    """Two-dimensional unit vectors by id; `asked` notes what was asked for."""

    def __init__(self, **degrees: float) -> None:
        self._degrees = {int(name[1:]): angle for name, angle in degrees.items()}
        self.asked: list[int] = []

    def __call__(self, ids: Sequence[PassageId]) -> tuple[list[PassageId], npt.NDArray[np.float32]]:
        self.asked += ids
        found = [id_ for id_ in ids if id_ in self._degrees]
        vectors = [unit(self._degrees[id_]) for id_ in found]
        return found, np.array(vectors, np.float32).reshape(-1, 2)


def unit(degrees: float) -> npt.NDArray[np.float32]:
    """Return the unit vector in a direction."""
    angle = np.deg2rad(degrees)
    return np.array([np.cos(angle), np.sin(angle)], np.float32)
