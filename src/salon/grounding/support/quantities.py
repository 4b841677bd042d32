"""The numbers in a text, whatever their spelling: `1,200`, `1.2 thousand`, `twelve hundred`.

A quantity is a value with the words around it left out: units are compared as words. A claim's
number is met where the evidence holds the same value; where the claim says it is only about that
much, where the evidence holds a value nearby.
"""

import math
import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

# fmt: off
_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}
_SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 1000, "m": 10**6, "bn": 10**9,
}
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13,
    "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18,
    "nineteenth": 19, "twentieth": 20,
}
_LOOSE = {"half": 0.5, "dozen": 12, "twice": 2, "double": 2, "doubled": 2, "pair": 2, "both": 2,
          "once": 1, "single": 1, "triple": 3, "tripled": 3, "twofold": 2, "threefold": 3,
          "decade": 10, "century": 100, "quarter": 25, "couple": 2}
_ABOUT = frozenset({
    "about", "around", "approximately", "roughly", "nearly", "almost", "some", "circa", "ca",
    "over", "under", "than", "least", "most", "up", "close", "estimated", "~",
})
# fmt: on
_NUMBER_WORDS = "|".join(sorted([*_UNITS, *_SCALES, *_ORDINALS], key=len, reverse=True))
_QUANTITY = re.compile(
    # Not the digits of a name such as `B12` or `M2`.
    r"(?<![^\W_])(?<![^\W\d_][-/])(?P<digits>\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<suffix>(?:st|nd|rd|th|s)\b|%)?"
    r"(?:[\s-]?(?P<scale>hundred|thousand|million|billion|trillion|bn|k|m)\b)?"
    rf"|\b(?P<words>(?:{_NUMBER_WORDS})(?:[\s-]+(?:and[\s-]+)?(?:{_NUMBER_WORDS}))*)\b",
    re.IGNORECASE,
)
_LOOSE_WORD = re.compile(rf"\b(?:{'|'.join(_LOOSE)})s?\b", re.IGNORECASE)
_MONTH_NAME = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_MONTH = re.compile(rf"\b{_MONTH_NAME}", re.IGNORECASE)
_DATED_MONTH = re.compile(rf"\b{_MONTH_NAME}(?=,?\s+\d)|(?<=\d\s)\b{_MONTH_NAME}", re.IGNORECASE)
_WRITTEN_IN_DIGITS = re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b")
_BEFORE = re.compile(r"[\w~]+")
_MARK = re.compile(r"\[\d+(?:\s*[,;\u2013-]\s*\d+)*\]|\A\s*\d{1,2}[.)](?=\s)")
_LOOK_BACK = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number as it is spelled and what it is worth."""

    text: str
    value: float
    is_year: bool = False
    is_about: bool = False
    is_strict: bool = True
    """Whether it is spelled so that it can only be a number, unlike `one` or `second`."""


def without_marks(text: str) -> str:
    """Return a text without marks such as `[3]` or `2.` that point to sources or count."""
    return _MARK.sub(lambda found: " " * len(found[0]), text)


def read_quantities(text: str) -> list[Quantity]:
    """Return the numbers of a text, in order."""
    return [_read(found, text) for found in _QUANTITY.finditer(text)]


def missing_quantities(claim: str, there: AbstractSet[float]) -> list[Quantity]:
    """Return the numbers of a claim that evidence with these values does not hold."""
    wanted = [one for one in read_quantities(claim) if one.is_strict]
    return [one for one in wanted if not _is_met(one, there)]


def missing_months(claim: str, evidence: str) -> list[str]:
    """Return the months that a claim dates something by and that the evidence does not name."""
    wanted = {
        (found[1] or found[2]).lower()[:3]: found[0] for found in _DATED_MONTH.finditer(claim)
    }
    if not wanted or _WRITTEN_IN_DIGITS.search(evidence):
        return []
    there = {found[1].lower()[:3] for found in _MONTH.finditer(evidence)}
    return [text for month, text in wanted.items() if month not in there]


def values_of(text: str) -> set[float]:
    """Return every value that a text can be said to name."""
    values = set()
    for found in _QUANTITY.finditer(text):
        one = _read(found, text)
        values.add(one.value)
        if found["digits"]:
            # The bare digits too: `5 million` also says 5, and in `1,200` the comma may separate.
            values.update(float(part) for part in found["digits"].split(","))
            values.add(_number(found["digits"]))
    values.update(
        float(_LOOSE[word])
        for one in _LOOSE_WORD.finditer(text)
        if (word := one[0].lower()) in _LOOSE or (word := word.rstrip("s")) in _LOOSE
    )
    return values


def _is_met(one: Quantity, there: AbstractSet[float]) -> bool:
    if one.value in there:
        return True
    if any(math.isclose(one.value, value, rel_tol=1e-6) for value in there):
        return True
    if one.is_year or not one.is_about:
        return _is_rounded(one, there)
    # What is only about right is rounder than what is exact: 1,000 for 1,042, not 501 for 500.
    digits = _digits(one.value)
    return any(
        abs(one.value - value) <= 0.1 * abs(value) and digits < _digits(value) for value in there
    )


def _digits(value: float) -> int:
    """Return how many digits of a number say something."""
    return len(f"{value:.6g}".replace(".", "").replace("-", "").split("e")[0].strip("0")) or 1


def _is_rounded(one: Quantity, there: AbstractSet[float]) -> bool:
    """Tell whether the evidence is more exact: 12.4 says 12 as well, 1998 does not say 2000."""
    return (not one.is_year) and any(
        value != int(value) and round(value) == one.value for value in there if abs(value) < 1e9
    )


def _number(digits: str) -> float:
    return float(digits.replace(",", ""))


def _read(found: "re.Match[str]", text: str) -> Quantity:
    before = {
        word.lower()
        for word in _BEFORE.findall(text[max(0, found.start() - _LOOK_BACK) : found.start()])[-2:]
    }
    is_about = bool(before & _ABOUT)
    if found["words"] is not None:
        words = re.findall(r"[a-z]+", found["words"].lower())
        words = [word for word in words if word != "and"]
        is_strict = len(words) > 1 or (words[0] in _UNITS and _UNITS[words[0]] > 2)
        return Quantity(text=found[0], value=_worth(words), is_about=is_about, is_strict=is_strict)
    value = _number(found["digits"])
    if found["scale"]:
        value *= _SCALES[found["scale"].lower()]
    is_year = (
        found["scale"] is None
        and len(found["digits"]) == 4
        and 1000 <= value <= 2100
        and found["suffix"] != "%"
    )
    return Quantity(text=found[0], value=value, is_year=is_year, is_about=is_about)


def _worth(words: list[str]) -> float:
    total, current = 0, 0
    for word in words:
        if word in _SCALES:
            if word == "hundred":
                current = max(current, 1) * 100
            else:
                total += max(current, 1) * _SCALES[word]
                current = 0
        else:
            current += _UNITS.get(word, _ORDINALS.get(word, 0))
    return float(total + current)
