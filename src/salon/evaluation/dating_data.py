"""Speed dates with known outcomes: who met whom on which evening, and whether both said yes.

The layout is that of the speed dating experiment: one row for each date and side, with the evening
(`wave`), answers given beforehand, and ratings given afterwards. A date is in the file once from
each side; `match` is the same from both.
"""

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from salon.core.errors import FileMissing, InvalidInput
from salon.steps.feature_values import FeatureValue
from salon.steps.match_model import pair_values
from salon.steps.match_vector import compare

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[np.float64]"
Whole: TypeAlias = "npt.NDArray[np.int64]"
Row: TypeAlias = dict[str, str]

_ACTIVITIES = (
    "sports", "tvsports", "exercise", "dining", "museums", "art", "hiking", "gaming", "clubbing",
    "reading", "tv", "theater", "movies", "concerts", "music", "shopping", "yoga",
)  # fmt: skip
_SELF = (
    "age", "goal", "date", "go_out", "exphappy", "attr3_1", "sinc3_1", "intel3_1", "fun3_1",
    "amb3_1", "imprelig", "imprace",
)  # fmt: skip
RATINGS = ("attr", "sinc", "intel", "fun", "amb", "shar", "like", "prob")
_GROUPS: dict[str, tuple[str, ...]] = {
    "interest_music": ("music", "concerts"),
    "interest_sports": ("sports", "tvsports", "exercise"),
    "interest_food": ("dining",),
    "interest_arts": ("museums", "art", "theater"),
    "interest_tech": ("gaming",),
    "interest_outdoors": ("hiking",),
    "interest_books": ("reading",),
}
BEFORE_NAMES: tuple[str, ...] = (
    *(f"{name}_sum" for name in (*_SELF, *_ACTIVITIES)),
    *(f"{name}_gap" for name in _SELF),
    "interest_correlation",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """All dates of a file; unknown numbers are NaN."""

    wave: Whole
    match: Whole
    before: Numbers
    """What both said before they met, the same from both sides; `BEFORE_NAMES`."""
    profile: Numbers
    """What a profile has of both; `match_model.PAIR_FEATURES`."""
    ratings: Numbers
    """How one side rated the other, and the same less what that side gave on average."""
    attractiveness: Numbers
    similarity: Numbers
    """The cosine of the two feature vectors."""


def read_dates(path: Path) -> Dates:
    """Read speed dates, or raise `InvalidInput`."""
    import numpy as np

    rows = _rows(path)
    try:
        people: dict[str, Row] = {}
        for row in rows:
            people.setdefault(row["iid"], row)
        partners = [people.get(_id(row["pid"]), {}) for row in rows]
        pairs = list(zip(rows, partners, strict=True))
        profiles = {name: _profile(row) for name, row in people.items()}
        known = [(profiles[row["iid"]], profiles.get(_id(row["pid"]), {})) for row in rows]
        rated = np.array([[_number(row, name) for name in RATINGS] for row in rows])
        return Dates(
            wave=np.array([int(row["wave"]) for row in rows]),
            match=np.array([int(row["match"]) for row in rows]),
            before=np.array([_before(one, other) for one, other in pairs]),
            profile=np.array([_profile_pair(one, other) for one, other in known]),
            ratings=np.column_stack([rated, _centred(rated, [row["iid"] for row in rows])]),
            attractiveness=rated[:, 0],
            similarity=np.array([compare(one, other).cosine for one, other in known]),
        )
    except (KeyError, ValueError) as error:
        raise InvalidInput(
            f"{path} does not hold speed dates: {error!r}",
            hint="one row for each date: iid, pid, wave, match, answers and ratings",
        ) from error


def _rows(path: Path) -> list[Row]:
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("latin-1")
    except FileNotFoundError as error:
        raise FileMissing(f"there is no {path}", hint="a table of speed dates") from error
    except (OSError, EOFError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows:
        raise InvalidInput(f"{path} holds no speed dates")
    return rows


def _id(text: str) -> str:
    return text.removesuffix(".0")


def _number(row: Row, name: str) -> float:
    try:
        return float(row[name])
    except (KeyError, ValueError):
        return float("nan")


def _before(one: Row, other: Row) -> list[float]:
    sums = [_number(one, name) + _number(other, name) for name in (*_SELF, *_ACTIVITIES)]
    gaps = [abs(_number(one, name) - _number(other, name)) for name in _SELF]
    return [*sums, *gaps, _number(one, "int_corr")]


def _profile(row: Row) -> dict[str, FeatureValue]:
    """Return what somebody said before, as the features of a profile."""
    import math

    found: dict[str, FeatureValue] = {}
    if not math.isnan(age := _number(row, "age")):
        found["age"] = age
    for feature, names in _GROUPS.items():
        answers = [_number(row, name) for name in names]
        if not any(map(math.isnan, answers)):
            mean = sum(answers) / len(answers)
            found[feature] = min(1.0, max(0.0, (mean - 1) / 9))
    return found


def _profile_pair(one: dict[str, FeatureValue], other: dict[str, FeatureValue]) -> list[float]:
    values = pair_values(one, other)
    return [float("nan") if value is None else value for value in values]


def _centred(rated: Numbers, raters: list[str]) -> Numbers:
    """Return ratings less what the same person gave on average that evening."""
    import numpy as np

    found = rated.copy()
    who = np.array(raters)
    for rater in np.unique(who):
        own = found[who == rater]
        known = ~np.isnan(own)
        counts = known.sum(axis=0)
        means = np.where(known, own, 0.0).sum(axis=0) / np.maximum(counts, 1)
        found[who == rater] = own - means
    return found
