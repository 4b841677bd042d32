"""Private data in a text: found by shape, check digits and the words around it.

None may pass unnoticed, so doubt is reported too, as `possible`. What this is not: a reader of
meaning. A person's name is private only beside other private data, and only there it is looked
for; a story that tells everything about somebody in plain words is not recognised.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from salon.guard.pii_rules import CERTAIN, POSSIBLE, RULES, Certainty, Kind

_BEFORE = 60
_AFTER = 20
_REACH = 160  # no pattern reaches further before or behind its anchor
_NAME_BEFORE = 100
_NAME_AFTER = 60
_CODE_AFTER = 80
_PART = r"[^\W\d_a-zß-öø-ÿ][^\W\d_]{1,20}(?:[\u2019'-][^\W\d_]{1,20})?"
_NAME = re.compile(
    rf"(?<![^\W_]){_PART}(?:[ \t]{{1,3}}(?:[^\W\d_]\.?|{_PART})){{0,2}}"
    rf"[ \t]{{1,3}}{_PART}(?![^\W_])"
)
_LABELLED = re.compile(
    r"(?i)(?<!\w)(?:full |maiden |first |last |sur)?name(?: is)?[ \t]?[:=]?[ \t]?$"
)
_CODE = re.compile(r"(?<![\w.,-])(?:[A-Z]{1,2}-?)?\d{3,6}(?:-\d{3,4})?(?![\w-])")
# Beside these a name is somebody's; a machine's address says little about a person.
_PERSONAL: frozenset[Kind] = frozenset(
    {
        *("email", "phone", "credit_card", "bank_account", "national_id", "passport"),
        *("driver_licence", "street_address", "date_of_birth"),
    }
)
_STRENGTH: dict[Certainty, int] = {CERTAIN: 0, POSSIBLE: 1}
# Of two that match the same place equally surely, the more telling kind stands.
_RANK: dict[Kind, int] = {
    kind: place for place, kind in enumerate(dict.fromkeys(rule.kind for rule in RULES))
} | {"credentials": -1, "phone": 50, "bank_account": 51, "postal_code": 52, "name": 53}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateData:
    """One place in a text that holds private data; offsets count characters."""

    kind: Kind
    certainty: Certainty
    start: int
    end: int
    masked: str


def find_private_data(text: str) -> list[PrivateData]:
    """Return the private data in a text, in order; where two overlap, the surer one."""
    found = _without_overlaps(_matches(text))
    beside = [*_names_beside(text, found), *_codes_behind(text, found)]
    return sorted(_without_overlaps([*found, *beside]), key=lambda one: one.start)


def mask(value: str) -> str:
    """Return a value that a person recognises and nobody can use."""
    shown = " ".join(value.split())
    keep = 2 if len(shown) > 8 else 1
    middle = re.sub(r"[^\W_]", "•", shown[keep:-keep])
    return shown[:keep] + middle + shown[-keep:] if len(shown) > 2 else "•" * len(shown)


def count_kinds(found: Iterable[PrivateData]) -> dict[str, int]:
    """Return how often each kind was found, most frequent first."""
    return dict(Counter(one.kind for one in found).most_common())


def _matches(text: str) -> Iterator[PrivateData]:
    windows = {anchor: list(_windows(text, anchor)) for anchor in {rule.anchor for rule in RULES}}
    for rule in RULES:
        for first, last in windows[rule.anchor]:
            for match in rule.pattern.finditer(text, first, last):
                start, end = match.span()
                before = text[max(0, start - _BEFORE) : start]
                # Some words only count where they lead up to the value.
                certainty = rule.judge(match[0], before) or rule.judge(
                    match[0], f"{before}\n{text[end : end + _AFTER]}"
                )
                if certainty is not None:
                    yield _private(text, rule.kind, certainty, start, end)


def _windows(text: str, anchor: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Return the stretches of a text that lie near an anchor."""
    first = last = 0
    for found in anchor.finditer(text):
        if found.start() - _REACH > last:
            if last:
                yield first, last
            first = max(0, found.start() - _REACH)
        last = min(len(text), found.end() + _REACH)
    if last:
        yield first, last


def _private(text: str, kind: Kind, certainty: Certainty, start: int, end: int) -> PrivateData:
    return PrivateData(
        kind=kind, certainty=certainty, start=start, end=end, masked=mask(text[start:end])
    )


def _without_overlaps(found: Iterable[PrivateData]) -> list[PrivateData]:
    """Keep the surest, then the longest, of those that overlap."""
    ranked = sorted(
        found,
        key=lambda one: (_STRENGTH[one.certainty], _RANK[one.kind], one.start - one.end),
    )
    kept: list[PrivateData] = []
    taken = bytearray()
    for one in ranked:
        if len(taken) < one.end:
            taken.extend(bytes(one.end - len(taken)))
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            kept.append(one)
    return kept


def _names_beside(text: str, found: list[PrivateData]) -> Iterator[PrivateData]:
    """Find names close to other private data; a label makes them certain."""
    seen: set[int] = set()
    for one in found:
        if one.kind not in _PERSONAL:
            continue
        first = max(0, one.start - _NAME_BEFORE)
        for match in _NAME.finditer(text, first, min(len(text), one.end + _NAME_AFTER)):
            start, end = match.span()
            if start not in seen:
                seen.add(start)
                labelled = _LABELLED.search(text[max(0, start - 20) : start]) is not None
                yield _private(text, "name", CERTAIN if labelled else POSSIBLE, start, end)


def _codes_behind(text: str, found: list[PrivateData]) -> Iterator[PrivateData]:
    """Find the postal codes that follow an address."""
    for one in found:
        if one.kind == "street_address":
            for match in _CODE.finditer(text, one.end, min(len(text), one.end + _CODE_AFTER)):
                yield _private(text, "postal_code", POSSIBLE, *match.span())
