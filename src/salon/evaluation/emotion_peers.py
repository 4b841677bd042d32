"""The peers of emotion reading: TF-IDF with linear models, and VADER."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from salon.core.errors import UnknownProvider
from salon.evaluation.emotion_sets import Comments, Floats, Rated
from salon.evaluation.progress import Progress

_TUNED_ON = 5
"""One in so many training texts tunes the thresholds."""


class TfidfEmotions:
    """TF-IDF with one logistic regression per label, and a tuned threshold for each."""

    def __init__(self, train: Comments, *, progress: Progress) -> None:
        self._vectors = _vectors()
        linear = _wanted("sklearn.linear_model")
        matrix = self._vectors.fit_transform(train.texts)
        tuned = np.arange(len(train.texts)) % _TUNED_ON == 0
        self._models: list[tuple[Any, float]] = []
        with progress("TF-IDF + LR") as show:
            for at in range(train.labels.shape[1]):
                labels = train.labels[:, at]
                if not labels[~tuned].any():
                    self._models.append((None, np.inf))
                    continue
                model = linear.LogisticRegression(C=4.0, solver="liblinear", random_state=0)
                model.fit(matrix[~tuned], labels[~tuned])
                scores = model.decision_function(matrix[tuned])
                self._models.append((model, best_threshold(scores, labels[tuned])))
                show(at + 1, train.labels.shape[1])

    def say(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which labels each text is said to have."""
        matrix = self._vectors.transform(texts)
        columns = [
            np.zeros(len(texts), dtype=bool)
            if model is None
            else model.decision_function(matrix) >= threshold
            for model, threshold in self._models
        ]
        return np.stack(columns, axis=1)


class TfidfRatings:
    """TF-IDF with ridge regression for each rating."""

    def __init__(self, train: Rated) -> None:
        self._vectors = _vectors()
        matrix = self._vectors.fit_transform(train.texts)
        self._model = _wanted("sklearn.linear_model").Ridge(alpha=1.0).fit(matrix, train.ratings)

    def rate(self, texts: Sequence[str]) -> Floats:
        """Return valence and arousal of each text."""
        return np.asarray(self._model.predict(self._vectors.transform(texts)), dtype=np.float64)


def vader_valence(texts: Sequence[str]) -> Floats:
    """Return VADER's compound score of each text, one column."""
    analyser = _wanted("vaderSentiment.vaderSentiment").SentimentIntensityAnalyzer()
    return np.array([[analyser.polarity_scores(text)["compound"]] for text in texts])


def best_threshold(scores: Floats, labels: Floats) -> float:
    """Return the score from which on saying yes has the highest F1."""
    order = np.argsort(-scores, kind="stable")
    right = np.cumsum(labels[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + labels.sum())
    return float(scores[order[int(f1.argmax())]])


def _vectors() -> Any:
    text = _wanted("sklearn.feature_extraction.text")
    return text.TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)


def _wanted(module: str) -> Any:
    """Return a peer's module, or raise `UnknownProvider` where it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UnknownProvider(
            f"the peer needs {package}, which is not installed", hint="pip install 'salon[eval]'"
        ) from error
