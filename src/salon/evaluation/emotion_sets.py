"""Labelled feelings in the layouts of GoEmotions and EmoBank."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from salon.core.errors import InvalidInput
from salon.evaluation.files import bad_line, read_table
from salon.steps.emotion_tables import EMOTIONS, fine_emotions

Floats = npt.NDArray[np.float64]
_TRAIN = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comments:
    """Texts with their fine emotions: a row of 0 and 1 for each."""

    texts: tuple[str, ...]
    labels: Floats

    @property
    def eight(self) -> npt.NDArray[np.bool_]:
        """Return which of the eight emotions each text has."""
        groups = list(fine_emotions().values())
        return np.stack(
            [
                self.labels[:, [at for at, one in enumerate(groups) if one == name]].any(axis=1)
                for name in EMOTIONS
            ],
            axis=1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """Sentences with valence and arousal, 1 to 5."""

    texts: tuple[str, ...]
    ratings: Floats


def read_comments(path: Path) -> Comments:
    """Read comments: a table without a head, text, label numbers with commas between, and an id."""
    count = len(fine_emotions())
    texts, labels = [], []
    for number, row in enumerate(read_table(path, columns=("text", "labels", "id")), start=1):
        said = row["labels"].split(",")
        places = [int(one) for one in said if one.isdecimal() and int(one) < count]
        if len(places) < len(said):
            reason = f"{row['labels'][:20]!r} is not a list of labels from 0 to {count - 1}"
            raise bad_line(path, number, reason)
        values = np.zeros(count)
        values[places] = 1
        texts.append(row["text"])
        labels.append(values)
    if not texts:
        raise InvalidInput(f"{path} holds no comments", file=str(path))
    return Comments(texts=tuple(texts), labels=np.array(labels))


def read_rated(path: Path, test: Path | None = None) -> tuple[Rated, Rated]:
    """Read rated sentences: a table of split, V, A and text; return those to fit on and to test on.

    Without a file of its own the test is what the table does not call train.
    """
    train = _rows(path)
    others = [row for row in train if row[0] != _TRAIN] if test is None else _rows(test)
    fitted = [row for row in train if row[0] == _TRAIN]
    if not fitted or not others:
        raise InvalidInput(f"{path} needs sentences of split train and of another", file=str(path))
    return _rated(fitted), _rated(others)


def _rows(path: Path) -> list[tuple[str, str, float, float]]:
    found = []
    for number, row in enumerate(read_table(path, delimiter=","), start=2):
        try:
            found.append((row["split"], row["text"], float(row["V"]), float(row["A"])))
        except (KeyError, ValueError) as error:
            raise bad_line(path, number, f"split, V, A and text are needed: {error}") from error
    return found


def _rated(rows: list[tuple[str, str, float, float]]) -> Rated:
    return Rated(
        texts=tuple(text for _, text, _, _ in rows),
        ratings=np.array([[valence, arousal] for _, _, valence, arousal in rows]),
    )
