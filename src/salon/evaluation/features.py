"""How good the features are where data can tell: sets from answered items, traits from wording.

Sets are measured over random splits beside `crepes`, and as shipped, for every number of answered
items. Traits from wording are measured by cross-validation beside TF-IDF ridge regression.
"""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from salon.core.embedding import Embedder
from salon.core.errors import InvalidInput
from salon.evaluation.coverage import (
    SetFigures,
    TargetFigures,
    make_sets,
    mark,
    measure_splits,
    peer_module,
    summed,
)
from salon.evaluation.progress import Progress
from salon.evaluation.trait_data import (
    ATTACHMENT,
    Answered,
    Labels,
    Numbers,
    read_attachment,
    read_big_five,
    read_sentences,
)
from salon.evaluation.trait_text import correlation, cross_validated, out_of_fold
from salon.steps.feature_list import THIRDS
from salon.steps.questionnaire_items import ITEMS
from salon.steps.questionnaires import LabelModel, Questionnaire, load_questionnaires
from salon.steps.trait_reader import wording_vector

if TYPE_CHECKING:
    from salon.evaluation.trait_data import Completed


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedFigures:
    """The shipped sets of one feature on a file, by how many items were answered."""

    target: str
    answered: int
    coverage: float
    mean_size: float
    accuracy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingFigures:
    """One trait from wording: our correlation, the peer's, and the sets that follow."""

    trait: str
    people: int
    r: float
    peer_r: float
    sets: SetFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureReport:
    """What was measured; a file that was not given leaves its part empty."""

    targets: tuple[TargetFigures, ...]
    shipped: tuple[ShippedFigures, ...]
    wording: tuple[WordingFigures, ...]
    peer: str = "TF-IDF, ridge"


def evaluate_features(
    *,
    attachment: Path | None,
    big_five: Path | None,
    sentences: Path | None,
    embedder: Embedder | None,
    splits: int,
    progress: Progress,
) -> FeatureReport:
    """Measure what the given files allow."""
    if attachment is None and big_five is None and sentences is None:
        raise InvalidInput(
            "there is nothing to measure", hint="give --attachment, --big-five or --sentences"
        )
    people: dict[str, Answered] = {}
    if attachment is not None:
        people[ATTACHMENT] = read_attachment(attachment)
    if big_five is not None:
        people.update(read_big_five(big_five))
    return FeatureReport(
        targets=_targets(people, splits=splits, progress=progress),
        shipped=tuple(one for name, some in people.items() for one in _shipped(name, some)),
        wording=() if sentences is None else _wording(sentences, embedder, splits),
    )


def _targets(
    people: dict[str, Answered], *, splits: int, progress: Progress
) -> tuple[TargetFigures, ...]:
    todo = [(name, target) for name, some in people.items() for target in some.classes]
    found = []
    with progress("random splits") as show:
        for number, (name, target) in enumerate(todo, 1):
            some = people[name]
            found.append(
                measure_splits(
                    target,
                    _own_items(name, some) - 3,
                    some.classes[target],
                    count=len(some.labels[target]),
                    splits=splits,
                )
            )
            show(number, len(todo))
    return tuple(found)


def _own_items(name: str, people: Answered) -> Numbers:
    """Return the answers to those items that the companion may ask."""
    columns = [item.column for item in ITEMS if item.questionnaire == name]
    return people.answers[:, [people.columns.index(one) for one in columns]]


def _shipped(name: str, people: Answered) -> list[ShippedFigures]:
    one = load_questionnaires()[name]
    answers = _own_items(name, people) - 3
    return [
        _shipped_count(one, target, answers, classes, count)
        for target, classes in people.classes.items()
        for count in range(1, len(one.items) + 1)
    ]


def _shipped_count(
    one: Questionnaire, target: str, answers: Numbers, classes: Labels, count: int
) -> ShippedFigures:
    """Return the figures over all ways to have answered so many items."""
    import numpy as np

    marks = []
    for chosen in combinations(range(len(one.items)), count):
        model = one.label_models[target][sum(1 << index for index in chosen)]
        probabilities = model_probabilities(model, answers[:, chosen])
        inside = 1.0 - probabilities <= model.threshold
        right = probabilities.argmax(axis=1) == classes
        marks.append((*mark(inside, classes), float(right.mean())))
    coverage, size, accuracy = np.array(marks).mean(axis=0).tolist()
    return ShippedFigures(
        target=target, answered=count, coverage=coverage, mean_size=size, accuracy=accuracy
    )


def model_probabilities(model: LabelModel, answers: Numbers) -> Numbers:
    """Return `questionnaires.label_probabilities` for many people at once."""
    import numpy as np

    weights = np.array(model.weights)
    logits = weights[:, 0] + answers @ weights[:, 1:].T
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Numbers = powers / powers.sum(axis=1, keepdims=True)
    return shares


# Wording


def _wording(path: Path, embedder: Embedder | None, splits: int) -> tuple[WordingFigures, ...]:
    import numpy as np

    if embedder is None:
        raise InvalidInput("sentences need an embedder", hint="install the embedded model")
    people = read_sentences(path)
    vectors = np.stack([wording_vector(one, embedder) for one in people.parts]).astype(float)
    targets = np.column_stack(list(people.scales.values()))
    ours = cross_validated(vectors, targets)
    predicted = out_of_fold(vectors, targets)
    theirs = _peer(people, targets)
    return tuple(
        WordingFigures(
            trait=trait,
            people=len(people.texts),
            r=ours[column],
            peer_r=correlation(theirs[:, column], targets[:, column]),
            sets=_wording_sets(
                predicted[:, column], people.classes[trait], targets[:, column], splits
            ),
        )
        for column, trait in enumerate(people.scales)
    )


def _wording_sets(predicted: Numbers, classes: Labels, scale: Numbers, splits: int) -> SetFigures:
    """Measure sets of levels, made from how a score scatters around its prediction."""
    import numpy as np

    marks = []
    for seed in range(splits):
        fit, calibrate, test = np.array_split(
            np.random.default_rng(seed).permutation(len(classes)), 3
        )
        slope, base = np.polyfit(predicted[fit], scale[fit], 1)
        spread = float((scale[fit] - slope * predicted[fit] - base).std())
        middle = slope * predicted + base
        levels = level_probabilities(middle, spread)
        sets = make_sets(levels[calibrate], classes[calibrate], levels[test], "lac")
        marks.append(mark(sets, classes[test]))
    return summed("salon, lac", marks)


def level_probabilities(middle: Numbers, spread: float) -> Numbers:
    """Return how probable each level is for scores that scatter so far around a prediction."""
    import math

    import numpy as np

    def below(cut: float) -> Numbers:
        return np.array(
            [0.5 * (1 + math.erf((cut - one) / (spread * math.sqrt(2)))) for one in middle]
        )

    low, high = below(THIRDS[0]), 1 - below(THIRDS[1])
    return np.column_stack([low, 1 - low - high, high])


def _peer(people: "Completed", targets: Numbers) -> Numbers:
    """Return what TF-IDF with ridge regression predicts, out of fold."""
    import numpy as np

    words = peer_module("sklearn.feature_extraction.text").TfidfVectorizer(
        min_df=2, sublinear_tf=True, ngram_range=(1, 2)
    )
    vectors = np.asarray(words.fit_transform(people.texts).todense(), dtype=np.float64)
    return out_of_fold(vectors, targets)
