"""Train the emotion heads that Salon ships, and say how good they are.

This is the recipe, not part of the package. It needs Salon's environment with the `eval` extra.

    python -m tools.train_emotion --data FOLDER --reader FOLDER

`--reader` is what `tools.train_readers emotion` wrote: `emotion_adapter.npz`, which ships as the
embedder `embedded:emotion`, and `emotion_heads.npz`, both trained on everything; and
`emotion_dev.npz`, the scores on dev of a model that never saw dev. Words are fitted on the train
parts. Words and vectors are stacked on dev by models trained without dev; the figures are
cross-validated over dev.
"""

import argparse
import csv
import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from salon.evaluation.emotion_peers import vader_valence
from salon.steps.conformal import quantile
from salon.steps.emotion_heads import WEIGHTS
from salon.steps.emotion_tables import EMOTIONS, fine_emotions, meetings
from salon.steps.hashed_words import KnownWords, hashed_words
from tools.data_folder import add_data_option
from tools.train_emotion_vectors import (
    LABELS,
    Data,
    Linear,
    Rows,
    adapted_scores,
)

Floats = npt.NDArray[np.float64]
FEWEST_TEXTS = 3
"""In how many texts a word must be met to be known."""
WORD_C = 4.0
WORD_ALPHA = 1.5


def read_comments(path: Path) -> Rows:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    values = np.zeros((len(rows), LABELS))
    for at, row in enumerate(rows):
        values[at, [int(one) for one in row[1].split(",")]] = 1
    return Rows(texts=[row[0] for row in rows], values=values)


def read_rated(path: Path) -> tuple[Rows, Rows]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    parts = []
    for is_train in (True, False):
        some = [row for row in rows if (row["split"] == "train") is is_train]
        values = np.array([[float(row["V"]), float(row["A"])] for row in some])
        parts.append(Rows(texts=[row["text"] for row in some], values=values))
    return parts[0], parts[1]


# Words


def known_words(texts: list[str]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
    met = Counter(number for text in texts for number in hashed_words(text))
    kept = sorted(number for number, count in met.items() if count >= FEWEST_TEXTS)
    rarity = [np.log((1 + len(texts)) / (1 + met[number])) + 1 for number in kept]
    return np.array(kept, dtype=np.uint32), np.array(rarity, dtype=np.float16).astype(np.float32)


def word_matrix(known: KnownWords, texts: list[str]) -> Any:
    from scipy import sparse  # type: ignore[import-untyped, unused-ignore]

    rows, columns, values = [], [], []
    for at, text in enumerate(texts):
        for column, value in known.weigh(text).items():
            rows.append(at)
            columns.append(column)
            values.append(value)
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(texts), len(known)))


def fit_heads(labelled: Any, labels: Floats, rated: Any, ratings: Floats) -> Linear:
    from sklearn.linear_model import LogisticRegression, Ridge  # type: ignore[import-untyped, unused-ignore]

    weights, biases = [], []
    for at in range(labels.shape[1]):
        fitted = LogisticRegression(C=WORD_C, solver="liblinear", random_state=0).fit(
            labelled, labels[:, at]
        )
        weights.append(fitted.coef_[0])
        biases.append(fitted.intercept_[0])
    for at in range(ratings.shape[1]):
        ridge = Ridge(alpha=WORD_ALPHA).fit(rated, ratings[:, at])
        weights.append(ridge.coef_)
        biases.append(ridge.intercept_)
    return Linear(weight=np.array(weights).T, bias=np.array(biases))


# Stacking, thresholds, the eight


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacked:
    """How vectors and words are put together, and what follows from it."""

    stack: Floats
    thresholds: Floats
    eight_weight: Floats
    eight_bias: Floats


def stack_scores(vector: Floats, words: Floats, stack: Floats) -> Floats:
    return np.asarray(vector * stack[0] + words * stack[1] + stack[2])


def fit_stack(vector: Floats, words: Floats, labels: Floats) -> Floats:
    """Return three rows: the weight of the vector, of the words, and a constant, per label."""
    from sklearn.linear_model import LinearRegression, LogisticRegression  # type: ignore[import-untyped, unused-ignore]

    columns = []
    for at in range(labels.shape[1]):
        pair = np.column_stack([vector[:, at], words[:, at]])
        fitted = (
            LogisticRegression(C=1.0, max_iter=500).fit(pair, labels[:, at])
            if labels.shape[1] == LABELS
            else LinearRegression().fit(pair, labels[:, at])
        )
        first, second = np.ravel(fitted.coef_)
        columns.append([first, second, float(np.ravel(fitted.intercept_)[0])])
    return np.array(columns).T


def fit_thresholds(logits: Floats, labels: Floats) -> Floats:
    """Return for each label the threshold whose F1 is best, as counted and as expected.

    Counted F1 jumps where a label is rare; the F1 that calibrated probabilities promise does not.
    The threshold maximises their mean.
    """
    found = []
    for at in range(labels.shape[1]):
        order = np.argsort(-logits[:, at], kind="stable")
        said = np.arange(1, len(order) + 1)
        right, truth = np.cumsum(labels[order, at]), labels[:, at].sum()
        shares = 1 / (1 + np.exp(-logits[order, at]))
        counted = 2 * right / (said + truth)
        expected = 2 * np.cumsum(shares) / (said + shares.sum())
        best = int((counted + expected).argmax())
        found.append(logits[order[best], at])
    return np.array(found)


def fit_eight(logits: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """Return weights that turn the 28 logits into the eight; a comment of two counts for both."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped, unused-ignore]

    groups = group_shares(labels)
    at, group = np.nonzero(groups)
    fitted = LogisticRegression(C=0.05, max_iter=500, tol=1e-3).fit(
        logits[at], group, sample_weight=groups[at, group]
    )
    return fitted.coef_.T, fitted.intercept_


def group_shares(labels: Floats) -> Floats:
    """Return how much of each comment belongs to each of the eight; rows sum to 1."""
    groups = np.zeros((len(labels), len(EMOTIONS)))
    for at, group in enumerate(fine_emotions().values()):
        place = EMOTIONS.index(group)
        groups[:, place] = np.maximum(groups[:, place], labels[:, at])
    return np.asarray(groups / groups.sum(axis=1, keepdims=True))


def fit_all(vector: Floats, words: Floats, labels: Floats) -> Stacked:
    stack = fit_stack(vector, words, labels)
    logits = stack_scores(vector, words, stack)
    weight, bias = fit_eight(logits, labels)
    return Stacked(
        stack=stack,
        thresholds=fit_thresholds(logits, labels),
        eight_weight=weight,
        eight_bias=bias,
    )


# Figures


def macro_f1(said: npt.NDArray[np.bool_], labels: Floats) -> float:
    right = (said * labels).sum(0)
    return float((2 * right / np.maximum(1, said.sum(0) + labels.sum(0))).mean())


def eight_shares(logits: Floats, found: Stacked) -> Floats:
    scores = logits @ found.eight_weight + found.eight_bias
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def calibration_error(confidence: Floats, right: Floats, bins: int = 10) -> float:
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    return float(
        sum(abs(confidence[place == at].sum() - right[place == at].sum()) for at in range(bins))
        / len(confidence)
    )


def out_of_fold(
    vector: Floats, words: Floats, labels: Floats, folds: int = 5
) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Return the labels said of each comment and its eight, by what the other folds fitted."""
    fold = np.random.default_rng(0).permutation(len(labels)) % folds
    said = np.zeros(labels.shape, dtype=bool)
    eight = np.zeros((len(labels), len(EMOTIONS)))
    for at in range(folds):
        there, here = fold != at, fold == at
        found = fit_all(vector[there], words[there], labels[there])
        logits = stack_scores(vector[here], words[here], found.stack)
        said[here] = logits >= found.thresholds
        eight[here] = eight_shares(logits, found)
    return said, eight


def cross_validated(said: npt.NDArray[np.bool_], eight: Floats, labels: Floats) -> dict[str, float]:
    """Return the figures over dev, each comment judged by what was fitted on the other folds."""
    truth = group_shares(labels)
    chosen = eight.argmax(axis=1)
    right = (truth[np.arange(len(truth)), chosen] > 0).astype(float)
    return {
        "macro_f1": macro_f1(said, labels),
        "eight_accuracy": float(right.mean()),
        "eight_ece": calibration_error(eight.max(axis=1), right),
        **set_figures(eight, truth),
    }


def strangeness(eight: Floats, truth: Floats) -> list[float]:
    """Return how strange the most likely of each comment's emotions is."""
    found: list[float] = (1 - np.where(truth > 0, eight, 0.0).max(axis=1)).tolist()
    return found


def set_figures(eight: Floats, truth: Floats) -> dict[str, float]:
    """Return coverage and size of the sets on each half of dev, calibrated on the other."""
    even = np.arange(len(eight)) % 2 == 0
    covered, sizes = [], []
    for half in (even, ~even):
        limit = quantile(strangeness(eight[half], truth[half]))
        inside = 1 - eight[~half] <= limit
        covered.append(float((inside & (truth[~half] > 0)).any(axis=1).mean()))
        sizes.append(float(np.maximum(1, inside.sum(axis=1)).mean()))
    return {"eight_coverage": float(np.mean(covered)), "eight_set_size": float(np.mean(sizes))}


def plain_f1(scores: Floats, labels: Floats, folds: int = 5) -> float:
    """Return the macro-F1 of one kind of scores alone, thresholds from the other folds."""
    fold = np.random.default_rng(0).permutation(len(labels)) % folds
    said = np.zeros(labels.shape, dtype=bool)
    for at in range(folds):
        said[fold == at] = scores[fold == at] >= fit_thresholds(
            scores[fold != at], labels[fold != at]
        )
    return macro_f1(said, labels)


def correlations(scores: Floats, ratings: Floats) -> dict[str, float]:
    return {
        name: float(np.corrcoef(scores[:, at], ratings[:, at])[0, 1])
        for at, name in enumerate(("valence", "arousal"))
    }


def peers(rated: Rows, by_words: Floats) -> dict[str, float]:
    """Return what words alone and VADER reach on the same sentences."""
    words = correlations(by_words, rated.values)
    return {
        **{f"{name}_words_only": value for name, value in words.items()},
        "valence_vader": float(
            np.corrcoef(vader_valence(rated.texts)[:, 0], rated.values[:, 0])[0, 1]
        ),
    }


def rated_cross_validated(vector: Floats, words: Floats, ratings: Floats) -> dict[str, float]:
    fold = np.random.default_rng(0).permutation(len(ratings)) % 5
    scores = np.zeros_like(ratings)
    for at in range(5):
        stack = fit_stack(vector[fold != at], words[fold != at], ratings[fold != at])
        scores[fold == at] = stack_scores(vector[fold == at], words[fold == at], stack)
    return correlations(scores, ratings)


# The scale of the ratings


def rating_scale(ratings: Floats, groups: Floats, sentences: Floats) -> Floats:
    """Return the slope of valence around 3, and the ratings that are arousal 0 and 1.

    The slope makes the mean valence of each emotion's comments come closest to the value that the
    emotion has by name. Arousal runs over the middle 99 % of the ratings of sentences.
    """
    by_name = np.array([meetings()[one].valence for one in EMOTIONS])
    means = np.array(
        [np.average(ratings[:, 0] - 3, weights=groups[:, at]) for at in range(len(EMOTIONS))]
    )
    slope = float((by_name * means).sum() / (means * means).sum())
    calm, excited = np.quantile(sentences[:, 1], [0.005, 0.995])
    return np.array([slope, calm, excited])


# The file


def quantised(weight: Floats) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    step = np.abs(weight).max(axis=0) / 127
    return np.round(weight / step).astype(np.int8), step.astype(np.float32)


def fit_words(train: Rows, rated: Rows) -> tuple[KnownWords, Linear, dict[str, Any]]:
    numbers, rarity = known_words(train.texts + rated.texts)
    known = KnownWords(numbers, rarity)
    heads = fit_heads(
        word_matrix(known, train.texts),
        train.values,
        word_matrix(known, rated.texts),
        rated.values,
    )
    weight, step = quantised(heads.weight)
    arrays = {
        "words.numbers": numbers,
        "words.rarity": rarity.astype(np.float16),
        "words.weight": weight,
        "words.step": step,
        "words.bias": heads.bias.astype(np.float32),
    }
    return known, Linear(weight=weight.astype(np.float64) * step, bias=heads.bias), arrays


def section(
    name: str,
    data: Data,
    *,
    words: tuple[Floats, Floats],
    vector: tuple[Floats, Floats],
    final: Linear,
    fingerprint: str,
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the arrays of one section and its figures; words and vectors are scores on dev."""
    said, eight = out_of_fold(vector[0][:, :LABELS], words[0][:, :LABELS], data.dev.values)
    figures = {
        **cross_validated(said, eight, data.dev.values),
        **rated_cross_validated(vector[1][:, LABELS:], words[1][:, LABELS:], data.rated_dev.values),
        **peers(data.rated_dev, words[1][:, LABELS:]),
        "macro_f1_words_only": plain_f1(words[0][:, :LABELS], data.dev.values),
        "macro_f1_vector_only": plain_f1(vector[0][:, :LABELS], data.dev.values),
    }
    found = fit_all(vector[0][:, :LABELS], words[0][:, :LABELS], data.dev.values)
    rated = fit_stack(vector[1][:, LABELS:], words[1][:, LABELS:], data.rated_dev.values)
    on_comments = stack_scores(vector[0][:, LABELS:], words[0][:, LABELS:], rated)
    on_sentences = stack_scores(vector[1][:, LABELS:], words[1][:, LABELS:], rated)
    arrays = {
        f"{name}.model": np.array(fingerprint),
        f"{name}.weight": final.weight.astype(np.float32),
        f"{name}.bias": final.bias.astype(np.float32),
        f"{name}.stack": np.hstack([found.stack, rated]),
        f"{name}.thresholds": found.thresholds,
        f"{name}.eight_weight": found.eight_weight,
        f"{name}.eight_bias": found.eight_bias,
        f"{name}.eight_quantile": np.array(
            quantile(strangeness(eight, group_shares(data.dev.values)))
        ),
        f"{name}.scale": rating_scale(on_comments, group_shares(data.dev.values), on_sentences),
    }
    return arrays, figures


def main() -> None:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]

    # The matrices are small: threads would only wait for each other.
    with threadpool_limits(1):
        train()


def train() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--reader", type=Path, required=True, help="the trained reader")
    asked = parser.parse_args()
    rated_train, rated_dev = read_rated(asked.data / "emobank/emobank.csv.gz")
    data = Data(
        train=read_comments(asked.data / "goemotions/train.tsv.gz"),
        dev=read_comments(asked.data / "goemotions/dev.tsv.gz"),
        rated_train=rated_train,
        rated_dev=rated_dev,
    )
    known, heads, arrays = fit_words(data.train, data.rated_train)
    words = tuple(heads(word_matrix(known, one.texts)) for one in (data.dev, data.rated_dev))
    vector, final, fingerprint = adapted_scores(data, asked.reader)
    found, report = section(
        "adapted",
        data,
        words=(words[0], words[1]),
        vector=vector,
        final=final,
        fingerprint=fingerprint,
    )
    arrays |= found
    WEIGHTS.parent.mkdir(exist_ok=True)
    np.savez_compressed(WEIGHTS, **arrays)
    report |= {"words": len(arrays["words.numbers"]), "bytes": WEIGHTS.stat().st_size}
    text = json.dumps(report, indent=2)
    WEIGHTS.with_name("emotion_report.json").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
