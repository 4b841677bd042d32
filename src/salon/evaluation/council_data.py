"""Votes, reviews and annotations of real people and models, as files hold them.

Votes are a table `subset, idx, model, prompting, label, vote_orig_order, vote_swapped_order` (an
empty vote is none; the label may be empty). Reviews are PeerRead's JSON lines, annotations the JSON
list of PandaLM. Nothing is measured here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from salon.core.errors import InvalidInput
from salon.evaluation.files import read_json, read_rows, read_table

if TYPE_CHECKING:
    from salon.council.judges import Floats, Panel

VOTE_COLUMNS = ("vote_orig_order", "vote_swapped_order")
_COLUMNS = ("subset", "idx", "model", "prompting", "label", *VOTE_COLUMNS)
_SIDES = {"1": -1.0, "1.0": -1.0, "2": 1.0, "2.0": 1.0}
_BLANK = frozenset({"", "nan", "NaN", "None"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVotes:
    """A panel with the right answers: -1 for the first, +1 for the second, 0 where unknown."""

    panel: "Panel"
    truth: "Floats"


class Review(BaseModel):
    """A review with its recommendation, if it makes one; other fields are of no interest."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    recommendation: float | None = Field(default=None, alias="RECOMMENDATION")
    confidence: float | None = Field(default=None, alias="REVIEWER_CONFIDENCE")
    comments: str | None = None


class Paper(BaseModel):
    """A paper with its reviews and whether it was accepted, where that is known."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str | int
    accepted: bool | None = None
    reviews: tuple[Review, ...] = ()

    def graded(self) -> tuple[Review, ...]:
        """Return the reviews that recommend something, each once."""
        once = {
            (one.recommendation, one.confidence, one.comments): one
            for one in self.reviews
            if one.recommendation is not None
        }
        return tuple(once.values())


class Annotated(BaseModel):
    """What three people said of one pair of answers."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    annotator1: int
    annotator2: int
    annotator3: int


def read_votes(path: Path) -> RecordedVotes:
    """Read recorded votes, or raise `InvalidInput`."""
    import numpy as np

    from salon.council.judges import Panel

    items: dict[tuple[str, str], float] = {}
    judges: dict[str, None] = {}
    votes: dict[tuple[int, tuple[str, str], str], float] = {}
    for row in _vote_rows(path):
        item = (row["subset"], row["idx"])
        judge = f"{row['model']}/{row['prompting']}"
        label = _side(path, row["label"])
        if items.setdefault(item, label) != label:
            raise InvalidInput(f"{path}: {'/'.join(item)} has two labels")
        judges[judge] = None
        for order, column in enumerate(VOTE_COLUMNS):
            if (order, item, judge) in votes:
                raise InvalidInput(f"{path}: {judge} votes twice on {'/'.join(item)}")
            votes[order, item, judge] = _side(path, row[column])
    if not items:
        raise InvalidInput(f"{path} holds no votes", hint=f"columns {', '.join(_COLUMNS)}")
    names = tuple(sorted(judges))
    orders = tuple(
        np.array([[votes.get((order, item, judge), 0.0) for judge in names] for item in items])
        for order in range(len(VOTE_COLUMNS))
    )
    return RecordedVotes(
        panel=Panel(
            judges=names,
            items=tuple("/".join(item) for item in items),
            kinds=tuple(subset for subset, _ in items),
            orders=tuple(one for one in orders if one.any()) or orders[:1],
        ),
        truth=np.array(list(items.values())),
    )


def _vote_rows(path: Path) -> Iterator[dict[str, str]]:
    for row in read_table(path, delimiter=","):
        missing = [column for column in _COLUMNS if column not in row]
        if missing:
            raise InvalidInput(
                f"{path} has no column {missing[0]}", hint=f"columns {', '.join(_COLUMNS)}"
            )
        yield row


def _side(path: Path, text: str) -> float:
    if text.strip() in _BLANK:
        return 0.0
    try:
        return _SIDES[text.strip()]
    except KeyError:
        raise InvalidInput(f"{path}: {text!r} is neither answer 1 nor answer 2") from None


def read_reviews(path: Path) -> list[Paper]:
    """Read papers with their reviews, or raise `InvalidInput`."""
    return [paper for _, paper in read_rows(path, Paper, hint="PeerRead's JSON lines")]


def read_annotations(path: Path) -> list[Annotated]:
    """Read what three people said of pairs of answers, or raise `InvalidInput`."""
    try:
        return TypeAdapter(list[Annotated]).validate_python(read_json(path))
    except ValidationError as error:
        raise InvalidInput(
            f"{path} does not hold annotations: {error.error_count()} errors",
            hint="a JSON list of {annotator1, annotator2, annotator3}",
        ) from error
