"""Sentences of real texts hold as they stand, and no longer once one thing in them is changed.

Run as a program it says how often, over all texts.
"""

import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.grounding.support import load_judge, sentences
from salon.grounding.support.names import read_names
from salon.grounding.support.quantities import values_of
from salon.grounding.support.words import shipped_tellingness

SQUAD = Path(__file__).parents[4] / "shared/data/squad2_half_dev/dev-v2.0.json.gz"
OPPOSITES = {
    "more": "less", "less": "more", "fewer": "more", "higher": "lower", "lower": "higher",
    "larger": "smaller", "smaller": "larger", "increased": "decreased", "decreased": "increased",
    "reduced": "increased", "increase": "decrease", "rose": "fell", "before": "after",
    "after": "before",
}  # fmt: skip
UNHEARD_OF = ("Gunther Zorblatt", "Ludmila Praskova", "Quillfeather")
_NUMBER = re.compile(r"(?<![\w,.-])\d{2,4}(?![\w,.-])")
_VERB = re.compile(r"\b(?:was|were|is|are|has|had|can|will)\b(?! (?:not|only)\b)")
_DENIES = re.compile(r"\b(?:not|no|never|nor|neither)\b|n't")
_WORD = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b")


def mutants(said: str, text: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Walk the sentence with one thing changed: what was changed, and the result."""
    if found := list(_NUMBER.finditer(said)):
        one = chance.choice(found)
        number = int(one[0]) + 1
        while float(number) in values_of(text):
            number += 1
        yield "number", said[: one.start()] + str(number) + said[one.end() :]
    if names := [one.text for one in read_names(said, shipped_tellingness()) if one.text in said]:
        yield "name", said.replace(chance.choice(names), chance.choice(UNHEARD_OF), 1)
    verb = _VERB.search(said)
    if verb and not _DENIES.search(said):
        yield "negation", f"{said[: verb.end()]} not{said[verb.end() :]}"
    words = list(_WORD.finditer(said))
    if len(words) == 1:
        one = words[0]
        yield "opposite", said[: one.start()] + OPPOSITES[one[0]] + said[one.end() :]


def count(articles: int | None) -> dict[str, list[bool]]:
    """Return for each kind of change whether the judge was right."""
    chance, judge = random.Random(4), load_judge(None)
    right: dict[str, list[bool]] = {}
    with gzip.open(SQUAD, "rt", encoding="utf-8") as file:
        read = json.load(file)["data"][:articles]
    for text in (part["context"] for article in read for part in article["paragraphs"]):
        for start, end in sentences(text):
            said = text[start:end]
            if len(said.split()) < 5:
                continue
            (support,) = judge.judge([(said, text)])
            right.setdefault("verbatim", []).append(support.probability > 0.99)
            for kind, changed in mutants(said, text, chance):
                (support,) = judge.judge([(changed, text)])
                right.setdefault(kind, []).append(support.probability < judge.threshold)
    return right


@pytest.mark.skipif(not SQUAD.exists(), reason="../shared/data is not here")
def test_one_change_is_enough_to_refuse_a_sentence() -> None:
    right = count(articles=3)
    assert all(right["verbatim"])
    assert all(right["number"])
    assert all(right["opposite"])
    assert sum(right["negation"]) >= 0.98 * len(right["negation"]) > 100
    assert sum(right["name"]) >= 0.98 * len(right["name"]) > 100


if __name__ == "__main__":
    for name, found in count(articles=None).items():
        print(f"{name}: {sum(found):,} of {len(found):,}")
