"""Fitting the learned gate, and its peer TF-IDF with logistic regression, by grouped folds.

What is shipped is fitted by the same functions as what is evaluated. Thresholds are chosen on
predictions out of fold, so they never saw the moment they are applied to.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from salon.core.embedding import Embedder
from salon.core.errors import InvalidInput
from salon.evaluation.gate_data import LabelledMoment
from salon.gate.features import BUCKETS, FIELD_SIGNALS, SIGNALS, Features, read_moment
from salon.gate.learned import LinearModel, choose, moment_vectors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

FOLDS = 5
_STEPS = 120
_MARGIN = 0.9
"""The share of a limit that a threshold uses up on data out of fold."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """Moments with their features, read once."""

    moments: Sequence[LabelledMoment]
    features: list[Features]
    vectors: "Matrix"
    rows: Any

    @property
    def labels(self) -> list[str]:
        """Return what was done at each moment."""
        return [one.label for one in self.moments]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a model is fitted: its labels, which one is acting, and how strongly each weighs."""

    labels: tuple[str, ...]
    acting: str
    weights: dict[str, float]
    strength: float
    most_premature: float
    uses_fields: bool = True


def prepare(
    moments: Sequence[LabelledMoment],
    embedder: Embedder,
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Prepared:
    """Read the features of moments."""
    import numpy as np

    features, vectors = [], []
    for start in range(0, len(moments), 512):
        part = [one.moment for one in moments[start : start + 512]]
        features += [read_moment(one) for one in part]
        vectors.append(moment_vectors(part, embedder))
        on_progress(min(start + 512, len(moments)), len(moments))
    starts = np.cumsum([0, *(len(one.buckets) for one in features)])
    rows = _needed("scipy.sparse").csr_matrix(
        (
            np.array([value for one in features for value in one.values], np.float32),
            np.array([bucket for one in features for bucket in one.buckets], np.int32),
            starts,
        ),
        shape=(len(features), BUCKETS),
    )
    return Prepared(moments=moments, features=features, vectors=np.vstack(vectors), rows=rows)


def fit(data: Prepared, recipe: Recipe, take: "Sequence[int] | None" = None) -> LinearModel:
    """Fit a model on some of the moments, without a threshold."""
    import numpy as np

    sparse = _needed("scipy.sparse")
    chosen = np.arange(len(data.moments)) if take is None else np.asarray(take)
    signals = _signals(data, uses_fields=recipe.uses_fields)
    width = data.vectors.shape[1]
    dense = np.hstack([data.vectors[chosen], signals[chosen]])
    rows = sparse.hstack([data.rows[chosen], sparse.csr_matrix(dense)]).tocsr()
    labels = np.array(data.labels)[chosen]
    fitted = _needed("sklearn.linear_model").LogisticRegression(
        C=recipe.strength, max_iter=_STEPS, class_weight=recipe.weights
    )
    with _as_far_as_it_goes():
        fitted.fit(rows, labels)
    coefficients = fitted.coef_.T.astype(np.float32)
    return LinearModel(
        labels=tuple(str(one) for one in fitted.classes_),
        acting=recipe.acting,
        threshold=0.0,
        buckets=coefficients[:BUCKETS],
        vectors=coefficients[BUCKETS : BUCKETS + width],
        signals=coefficients[BUCKETS + width :],
        bias=fitted.intercept_.astype(np.float32),
    )


def _signals(data: Prepared, *, uses_fields: bool) -> "Matrix":
    import numpy as np

    hidden = frozenset() if uses_fields else frozenset(FIELD_SIGNALS)
    return np.array(
        [[0.0 if name in hidden else one.signals[name] for name in SIGNALS]
         for one in data.features],
        np.float32,
    )  # fmt: skip


def apply(
    model: LinearModel, data: Prepared, recipe: Recipe, take: "Sequence[int] | None" = None
) -> "Matrix":
    """Return a model's chances for some of the moments, in the recipe's order of labels."""
    import numpy as np

    chosen = np.arange(len(data.moments)) if take is None else np.asarray(take)
    signals = _signals(data, uses_fields=recipe.uses_fields)[chosen]
    scores = (
        data.rows[chosen] @ model.buckets
        + data.vectors[chosen] @ model.vectors
        + signals @ model.signals
        + model.bias
    )
    if scores.shape[1] == 1:
        chance = 1 / (1 + np.exp(-scores))
        found = np.hstack([1 - chance, chance])
    else:
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        found = odds / odds.sum(axis=1, keepdims=True)
    order = [model.labels.index(one) for one in recipe.labels]
    chances: Matrix = found[:, order].astype(np.float32)
    return chances


def out_of_fold(
    data: Prepared,
    groups: Sequence[str],
    recipe: Recipe,
    *,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> "tuple[Matrix, list[int]]":
    """Return chances for every moment by a model that never saw its group, and the folds."""
    import numpy as np

    folds = folds_of(groups)
    chances = np.zeros((len(groups), len(recipe.labels)), np.float32)
    for fold in range(FOLDS):
        inside = [row for row, one in enumerate(folds) if one != fold]
        outside = [row for row, one in enumerate(folds) if one == fold]
        if outside:
            chances[outside] = apply(fit(data, recipe, inside), data, recipe, outside)
        on_progress(fold + 1, FOLDS)
    return chances, folds


def folds_of(groups: Sequence[str]) -> list[int]:
    """Return a fold for each moment: whole groups, the largest first, into the emptiest fold."""
    sizes: dict[str, int] = {}
    for one in groups:
        sizes[one] = sizes.get(one, 0) + 1
    filled = [0] * FOLDS
    place: dict[str, int] = {}
    for name in sorted(sizes, key=lambda one: (-sizes[one], one)):
        place[name] = filled.index(min(filled))
        filled[place[name]] += sizes[name]
    return [place[one] for one in groups]


def choose_by_folds(
    chances: "Matrix", labels: Sequence[str], folds: Sequence[int], recipe: Recipe
) -> list[str]:
    """Return labels with each fold's threshold chosen on the other folds."""
    import numpy as np

    known, where = np.array(labels), np.array(folds)
    chosen = [""] * len(labels)
    for fold in sorted(set(folds)):
        others = where != fold
        if not others.any():
            others = where == fold
        threshold = find_act_threshold(chances[others], known[others].tolist(), recipe)
        for row in np.flatnonzero(where == fold):
            chosen[row] = choose(
                chances[row : row + 1], recipe.labels, acting=recipe.acting, threshold=threshold
            )[0]
    return chosen


def find_act_threshold(chances: "Matrix", labels: Sequence[str], recipe: Recipe) -> float:
    """Return the lowest threshold at which acting is premature rarely enough."""
    import numpy as np

    act = recipe.labels.index(recipe.acting)
    is_else = np.array([one != recipe.acting for one in labels])
    most = int(recipe.most_premature * _MARGIN * max(1, is_else.sum()))
    wins = chances[:, act] >= chances.max(axis=1)
    rivals = np.sort(chances[is_else & wins, act])[::-1]
    return 0.0 if len(rivals) <= most else float(np.nextafter(rivals[most], np.float32(2)))


def fit_tfidf(texts: Sequence[str], labels: Sequence[str]) -> Callable[[Sequence[str]], list[str]]:
    """Fit the peer, TF-IDF of one and two words with logistic regression; return its labels."""
    texts_of = _needed("sklearn.feature_extraction.text")
    words = texts_of.TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    logistic = _needed("sklearn.linear_model").LogisticRegression
    fitted = logistic(max_iter=_STEPS, class_weight="balanced")
    with _as_far_as_it_goes():
        fitted.fit(words.fit_transform(texts), labels)
    return lambda asked: [str(one) for one in fitted.predict(words.transform(asked))]


@contextmanager
def _as_far_as_it_goes() -> Iterator[None]:
    """Fit a fixed number of steps; that it could go on is known, and no news to anybody."""
    warning = _needed("sklearn.exceptions").ConvergenceWarning
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", warning)
        yield


def _needed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidInput(
            f"fitting needs a package that is not installed ({error.name})",
            hint="pip install 'salon[eval]'",
        ) from error
