"""Fitting the words of scam detection: used by the evaluation for each source, and to ship.

A source that holds only frauds cannot be fitted on. Harmless cases of other sets may be added, so
that everyday words are known to be harmless.
"""

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from salon.core.errors import InvalidInput, UnknownProvider
from salon.evaluation.scam_sets import Case
from salon.steps.hashed_words import KnownWords, hashed_words
from salon.steps.scam_model import words_only
from salon.steps.scam_patterns import unframed_text

_FEWEST_CASES = 3
"""In how many cases a word must be met to be known."""
_C = 1.0


def sklearn_module(name: str) -> Any:
    """Return a module of scikit-learn, or raise `UnknownProvider` where it is not installed."""
    try:
        return import_module(f"sklearn.{name}")
    except ImportError as error:
        raise UnknownProvider(
            "fitting needs scikit-learn, which is not installed",
            hint="pip install 'salon[eval]'",
        ) from error


def fit_words(cases: Sequence[Case]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of `ScamWords` fitted on cases of both kinds."""
    labels = np.array([one.is_scam for one in cases])
    if labels.all() or not labels.any():
        raise InvalidInput("words can be fitted only on frauds and harmless cases together")
    linear = sklearn_module("linear_model")
    texts = [case_words(one) for one in cases]
    met = Counter(number for text in texts for number in hashed_words(text))
    kept = sorted(number for number, count in met.items() if count >= _FEWEST_CASES)
    rarity = [np.log((1 + len(texts)) / (1 + met[number])) + 1 for number in kept]
    numbers, rare = np.array(kept, dtype=np.uint32), np.array(rarity, dtype=np.float16)
    known = KnownWords(numbers, rare.astype(np.float32))
    places = [known.weigh(text) for text in texts]
    rows = np.repeat(np.arange(len(places)), [len(one) for one in places])
    columns = [column for one in places for column in one]
    values = [value for one in places for value in one.values()]
    matrix = import_module("scipy.sparse").csr_matrix(
        (values, (rows, columns)), shape=(len(places), len(known))
    )
    fitted = linear.LogisticRegression(
        C=_C, class_weight="balanced", solver="liblinear", random_state=0
    ).fit(matrix, labels)
    step = np.float32(np.abs(fitted.coef_).max() / 127)
    return {
        "numbers": numbers,
        "rarity": rare,
        "weight": np.round(fitted.coef_[0] / step).astype(np.int8),
        "step": np.array(step),
        "bias": np.array(fitted.intercept_[0], dtype=np.float32),
    }


def case_words(case: Case) -> str:
    """Return the words of a case that the model sees: those outside framed sentences."""
    return words_only([unframed_text(one) for one in case.messages])
