"""How well feelings are read from text, beside peers fitted in the same run.

Fine emotions: macro-F1 over the 28 labels, several per comment. Ratings: Pearson's correlation
with EmoBank's valence and arousal. The eight: how often the named emotion is one of the comment's,
and how far its confidence is from that (ECE). Peers: TF-IDF with logistic regression, whose
thresholds are tuned on a part of the training set that it did not see; TF-IDF with ridge; VADER for
valence.

The weights that ship were trained on GoEmotions' and EmoBank's train and dev parts: on those files
Salon's figures flatter. The figures to quote are those of the training report, or those on a test
part.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from salon.core.errors import InvalidInput
from salon.evaluation.emotion_peers import TfidfEmotions, TfidfRatings, vader_valence
from salon.evaluation.emotion_sets import Comments, Floats, Rated
from salon.evaluation.metrics import reliability
from salon.evaluation.progress import Progress
from salon.steps.emotion_tables import EMOTIONS, fine_emotions

if TYPE_CHECKING:
    from salon.core.embedding import Embedder
    from salon.steps.emotion_heads import HeadScores

_RESAMPLES = 200
_SEED = 20_261_115
_LOW, _HIGH = 0.025, 0.975
RATINGS = ("valence", "arousal")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmotionFigure:
    """One measure of one method with its bootstrap interval."""

    measure: str
    method: str
    count: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EmotionReport:
    """All measures of all methods, the F1 of each label, and how long one message takes."""

    figures: tuple[EmotionFigure, ...]
    labels: dict[str, float]
    median_ms: float


def open_emotion_embedder() -> "Embedder":
    """Return the embedder whose vectors the emotion heads read."""
    from salon.providers.embedders.adapter import load_adapter
    from salon.providers.embedders.minilm import MiniLmEmbedder
    from salon.providers.embedders.minilm_files import find_minilm_files
    from salon.steps.emotion_heads import ADAPTER

    adapter = load_adapter(ADAPTER)
    return MiniLmEmbedder("embedded:emotion", find_minilm_files(), adapter=adapter)


def evaluate_emotion(
    train: Comments,
    test: Comments,
    rated: tuple[Rated, Rated] | None,
    *,
    embedder: "Embedder",
    progress: Progress,
) -> EmotionReport:
    """Read the test comments and sentences with what ships, and with peers fitted on train."""
    read, times = read_all(test.texts, embedder, progress)
    said = np.array([[name in one.named for name in fine_emotions()] for one in read])
    peer = TfidfEmotions(train, progress=progress)
    theirs = peer.say(test.texts)
    figures = [
        _figure("macro-F1", "salon", partial(macro_f1, said, test.labels), len(said)),
        _figure("macro-F1", "TF-IDF + LR", partial(macro_f1, theirs, test.labels), len(said)),
        *_eight_figures(read, test),
    ]
    if rated is not None:
        figures += _rated_figures(rated, embedder, progress)
    return EmotionReport(
        figures=tuple(figures),
        labels=dict(zip(fine_emotions(), f1_scores(said, test.labels).tolist(), strict=True)),
        median_ms=round(statistics.median(times) * 1000, 3),
    )


def read_all(
    texts: Sequence[str], embedder: "Embedder", progress: Progress
) -> tuple[list["HeadScores"], list[float]]:
    """Return what the heads make of each text, one by one, and how many seconds each took."""
    from salon.steps.emotion_heads import shipped_heads

    heads, model = shipped_heads(), embedder.model
    if not heads.knows(model):
        raise InvalidInput(f"no emotion heads were trained for {model.address}")
    found, times = [], []
    with progress("salon") as show:
        for number, text in enumerate(texts, start=1):
            start = time.perf_counter()
            found.append(heads.read(text, embedder.embed_query(text or "."), model))
            times.append(time.perf_counter() - start)
            show(number, len(texts))
    return found, times


def f1_scores(said: npt.NDArray[np.bool_], labels: Floats) -> Floats:
    """Return the F1 of each label; one that nobody has and nobody says is 0."""
    right = (said * labels).sum(axis=0)
    found: Floats = 2 * right / np.maximum(1, said.sum(axis=0) + labels.sum(axis=0))
    return found


def macro_f1(said: npt.NDArray[np.bool_], labels: Floats, chosen: npt.NDArray[np.int64]) -> float:
    """Return the mean F1 over the labels, on chosen rows."""
    return float(f1_scores(said[chosen], labels[chosen]).mean())


def _eight_figures(read: Sequence["HeadScores"], test: Comments) -> list[EmotionFigure]:
    shares = np.array([[one.eight[name] for name in EMOTIONS] for one in read])
    right = test.eight[np.arange(len(shares)), shares.argmax(axis=1)]
    most = float(test.eight.mean(axis=0).max())
    inside = np.array([[name in one.likely for name in EMOTIONS] for one in read])
    covered = np.asarray((inside & (test.eight > 0)).any(axis=1), dtype=float)
    confidence = np.minimum(shares.max(axis=1), 1.0)
    held = reliability(confidence.tolist(), right.tolist(), binning="equal_width")
    count = len(right)
    return [
        _figure("right of 8", "salon", lambda chosen: float(right[chosen].mean()), count),
        _alone("right of 8", "most frequent", count, most),
        _alone("ECE of 8", "salon", count, held.error if held else 0.0),
        _figure("coverage of 8", "salon", lambda chosen: float(covered[chosen].mean()), count),
        _alone("set size of 8", "salon", count, float(inside.sum(axis=1).mean())),
    ]


def _rated_figures(
    rated: tuple[Rated, Rated], embedder: "Embedder", progress: Progress
) -> list[EmotionFigure]:
    train, test = rated
    read, _ = read_all(test.texts, embedder, progress)
    ours = np.array([[one.valence, one.arousal] for one in read])
    methods = {
        "salon": ours,
        "TF-IDF + ridge": TfidfRatings(train).rate(test.texts),
        "VADER": vader_valence(test.texts),
    }
    return [
        _figure(name, method, partial(pearson, scores[:, at], test.ratings[:, at]), len(scores))
        for at, name in enumerate(RATINGS)
        for method, scores in methods.items()
        if at < scores.shape[1]
    ]


def pearson(scores: Floats, ratings: Floats, chosen: npt.NDArray[np.int64]) -> float:
    """Return the correlation of scores and ratings, on chosen rows; 0 where one does not vary."""
    ours, theirs = scores[chosen], ratings[chosen]
    if not ours.std() or not theirs.std():
        return 0.0
    return float(np.corrcoef(ours, theirs)[0, 1])


def _figure(
    measure: str, method: str, value: Callable[[npt.NDArray[np.int64]], float], count: int
) -> EmotionFigure:
    rng = np.random.default_rng(_SEED)
    resampled = [value(rng.integers(0, count, count)) for _ in range(_RESAMPLES)]
    low, high = np.quantile(resampled, [_LOW, _HIGH])
    return EmotionFigure(
        measure=measure,
        method=method,
        count=count,
        value=value(np.arange(count)),
        low=float(low),
        high=float(high),
    )


def _alone(measure: str, method: str, count: int, value: float) -> EmotionFigure:
    """Return a figure without an interval."""
    return EmotionFigure(
        measure=measure, method=method, count=count, value=value, low=value, high=value
    )
