"""Labelled conversations for scam detection, in the layouts of the public sets.

A case is what one side said, message by message. Generated calls keep the caller's side; a text
message or a letter is one message; a television dialogue gives one case for each speaker. What
occurs twice among the calls is kept once.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from salon.core.errors import InvalidInput
from salon.evaluation.files import bad_line, read_rows, read_table

_CALLER = re.compile(r"Person A:(.*?)(?=Person [AB]:|\Z)", re.DOTALL)
_LONG_ENOUGH = 3
"""Speakers who say less in a dialogue are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What one side said, and whether it is a fraud."""

    messages: tuple[str, ...]
    is_scam: bool
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The cases of one file."""

    name: str
    cases: tuple[Case, ...]

    @property
    def scams(self) -> int:
        """Return how many cases are frauds."""
        return sum(one.is_scam for one in self.cases)


class _Letter(BaseModel):
    model_config = ConfigDict(extra="ignore")

    category: str
    subcategory: str = ""
    text: str = Field(alias="generated text")


def read_calls(path: Path) -> Source:
    """Read generated calls: a table with `conversation` and `label`, 1 for a fraud."""
    cases: dict[tuple[str, ...], Case] = {}
    for number, row in enumerate(read_table(path, delimiter=","), start=2):
        try:
            is_scam = {"0": False, "1": True}[row["label"].strip()]
            said = tuple(one.strip() for one in _CALLER.findall(row["conversation"]))
        except KeyError as error:
            raise bad_line(path, number, f"no usable {error}") from error
        cases[said] = Case(messages=said, is_scam=is_scam)
    return _source("calls", path, cases.values())


def read_text_messages(path: Path) -> Source:
    """Read text messages: a table without a head, `spam` or `ham` and the message."""
    cases = []
    for number, row in enumerate(read_table(path, columns=("label", "text")), start=1):
        if row["label"] not in {"spam", "ham"}:
            raise bad_line(path, number, f"the label {row['label'][:20]!r} is not spam or ham")
        cases.append(Case(messages=(row["text"],), is_scam=row["label"] == "spam"))
    return _source("text messages", path, cases)


def read_letters(path: Path) -> Source:
    """Read fraudulent letters: JSON lines with `category`, `subcategory` and `generated text`."""
    cases = [
        Case(messages=(row.text.strip(),), is_scam=True, kind=row.subcategory or row.category)
        for _, row in read_rows(path, _Letter)
    ]
    return _source("letters", path, cases)


def read_dialogues(path: Path) -> Source:
    """Read harmless dialogues: a table with `Dialogue_ID`, `Speaker` and `Utterance`."""
    said: dict[tuple[str, str], list[str]] = {}
    for number, row in enumerate(read_table(path, delimiter=","), start=2):
        try:
            key = row["Dialogue_ID"], row["Speaker"]
            said.setdefault(key, []).append(row["Utterance"])
        except KeyError as error:
            raise bad_line(path, number, f"there is no column {error}") from error
    cases = (
        Case(messages=tuple(one), is_scam=False)
        for one in said.values()
        if len(one) >= _LONG_ENOUGH
    )
    return _source("dialogues", path, cases)


def _source(name: str, path: Path, cases: Iterable[Case]) -> Source:
    kept = tuple(one for one in cases if any(message.strip() for message in one.messages))
    if not kept:
        raise InvalidInput(f"{path} holds no {name}", file=str(path))
    return Source(name=name, cases=kept)
