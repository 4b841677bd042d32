"""Questionnaires and sentences with known answers: read, keyed, and scored.

The layouts are those of the Open-Source Psychometrics Project: attachment items `Q1`..`Q36` with
-1 for none, Big Five items `E1`..`O10` with 0 for none, sentence completions with trait scores.
A person who left out an item is left out. Scores are on 0 to 1.
"""

import csv
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from salon.core.errors import FileMissing, InvalidInput
from salon.steps.feature_list import ATTACHMENT_STYLES, LEVELS, THIRDS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[np.float64]"
Labels: TypeAlias = "npt.NDArray[np.int64]"

ATTACHMENT = "attachment"
_ECR = tuple(f"Q{number}" for number in range(1, 37))
_ECR_REVERSED = frozenset(f"Q{number}" for number in (3, 15, 19, 22, 25, 27, 29, 31, 33, 35))
TRAITS: dict[str, str] = {
    "E": "big_five_extraversion",
    "N": "big_five_neuroticism",
    "A": "big_five_agreeableness",
    "C": "big_five_conscientiousness",
    "O": "big_five_openness",
}
_REVERSED: dict[str, tuple[int, ...]] = {
    "E": (2, 4, 6, 8, 10),
    "N": (2, 4),
    "A": (1, 3, 5, 7),
    "C": (2, 4, 6, 8),
    "O": (2, 4, 6),
}
SENTENCE_TRAITS: dict[str, str] = {
    "EX": "big_five_extraversion",
    "NR": "big_five_neuroticism",
    "OP": "big_five_openness",
    "AG": "big_five_agreeableness",
    "CN": "big_five_conscientiousness",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """People who answered a questionnaire: their raw answers, and what the whole of it says."""

    columns: tuple[str, ...]
    answers: Numbers
    """One row for each person, 1 to 5."""
    scales: dict[str, Numbers]
    """The score of each feature that the questionnaire measures, 0 to 1."""
    labels: dict[str, tuple[str, ...]]
    classes: dict[str, Labels]
    """The label of each person for each feature that is predicted, as a position in `labels`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """People who completed sentences: their words, and the scores of their questionnaires."""

    parts: tuple[tuple[str, ...], ...]
    """For each person, what they wrote, sentence by sentence."""
    scales: dict[str, Numbers]
    classes: dict[str, Labels]

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what each person wrote, as one text."""
        return tuple(". ".join(one) for one in self.parts)


def read_attachment(path: Path) -> Answered:
    """Read attachment items; the style is where the two scales lie to either side of neutral."""
    import numpy as np

    answers = _complete(path, _ECR, ",", "attachment items Q1..Q36")
    keyed = answers.copy()
    for index, name in enumerate(_ECR):
        if name in _ECR_REVERSED:
            keyed[:, index] = 6 - keyed[:, index]
    scaled = (keyed - 1) / 4
    avoidance, anxiety = scaled[:, 0::2].mean(axis=1), scaled[:, 1::2].mean(axis=1)
    style = (anxiety > 0.5) + 2 * (avoidance > 0.5)
    scales = {"attachment_anxiety": anxiety, "attachment_avoidance": avoidance}
    return Answered(
        columns=_ECR,
        answers=answers,
        scales=scales,
        labels={"attachment_style": ATTACHMENT_STYLES, **dict.fromkeys(scales, LEVELS)},
        classes={
            "attachment_style": style.astype(np.int64),
            **{name: np.digitize(scale, THIRDS) for name, scale in scales.items()},
        },
    )


def read_big_five(path: Path) -> dict[str, Answered]:
    """Read Big Five items: the people, once for each trait with its own ten items."""
    import numpy as np

    columns = [f"{letter}{number}" for letter in TRAITS for number in range(1, 11)]
    answers = _complete(path, columns, "\t", "Big Five items E1..O10")
    found = {}
    for position, (letter, feature) in enumerate(TRAITS.items()):
        own = answers[:, position * 10 : position * 10 + 10]
        keyed = own.copy()
        for number in _REVERSED[letter]:
            keyed[:, number - 1] = 6 - keyed[:, number - 1]
        scale = ((keyed - 1) / 4).mean(axis=1)
        found[feature] = Answered(
            columns=tuple(columns[position * 10 : position * 10 + 10]),
            answers=own,
            scales={feature: scale},
            labels={feature: LEVELS},
            classes={feature: np.digitize(scale, THIRDS)},
        )
    return found


def read_sentences(path: Path) -> Completed:
    """Read sentence completions as one text for each person."""
    import numpy as np

    rows = list(_rows(path, ",", "sentence completions S1..S6 with EX, NR, OP, AG, CN"))
    try:
        parts = tuple(
            tuple(part for number in range(1, 7) if (part := row[f"S{number}"].strip()))
            for row in rows
        )
        scales = {
            feature: (np.array([float(row[column]) for row in rows]) - 1) / 4
            for column, feature in SENTENCE_TRAITS.items()
        }
    except (KeyError, ValueError) as error:
        raise InvalidInput(f"{path} holds no sentence completions: {error!r}") from error
    classes = {name: np.digitize(scale, THIRDS) for name, scale in scales.items()}
    return Completed(parts=parts, scales=scales, classes=classes)


def _complete(path: Path, columns: tuple[str, ...] | list[str], mark: str, what: str) -> Numbers:
    import numpy as np

    try:
        table = [[int(row[name]) for name in columns] for row in _rows(path, mark, what)]
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidInput(f"{path} does not hold {what}: {error!r}") from error
    answers = np.array(table, dtype=np.float64).reshape(len(table), len(columns))
    whole = answers[((answers >= 1) & (answers <= 5)).all(axis=1)]
    if not len(whole):
        raise InvalidInput(f"{path} holds nobody who answered every item of {what}")
    return whole


def _rows(path: Path, mark: str, what: str) -> Iterator[dict[str, str]]:
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    except FileNotFoundError as error:
        raise FileMissing(f"there is no {path}", hint=f"it should hold {what}") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}", hint=f"{what}, gzip or not"
        ) from error
    yield from csv.DictReader(io.StringIO(text), delimiter=mark)
