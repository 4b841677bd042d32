"""How much private data is noticed in texts whose private data is known.

The layout is presidio-research's: a JSON list of `{full_text, spans: [{entity_type,
start_position, end_position}]}`. A span is noticed if any finding overlaps it, and named if one
of the right kind does; a finding is right if it overlaps a span of a kind that is looked for.
Kinds that are not looked for (places, organisations, names on their own) are counted apart.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from salon.core.errors import InvalidInput
from salon.evaluation.files import read_json
from salon.evaluation.progress import Progress
from salon.guard.pii import find_private_data

LOOKED_FOR: dict[str, str] = {
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "CREDIT_CARD": "credit_card",
    "IBAN_CODE": "bank_account",
    "US_SSN": "national_id",
    "US_DRIVER_LICENSE": "driver_licence",
    "IP_ADDRESS": "ip_address",
    "STREET_ADDRESS": "street_address",
    "ZIP_CODE": "postal_code",
}
"""Our name for each label that is private wherever it stands."""
_ALSO_RIGHT = frozenset({"PERSON", "DATE_TIME", "GPE"})
"""A name, a day or a town beside private data is rightly found, though not looked for elsewhere."""
PEER = "presidio"


class Found(NamedTuple):
    """One finding: its kind, whether it is certain, and the characters it covers."""

    kind: str
    certain: bool
    start: int
    end: int


Finder: TypeAlias = Callable[[str], list[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A text and the places in it that hold something private, by label."""

    text: str
    spans: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRow:
    """How one finder did on one label."""

    label: str
    spans: int
    noticed: float
    named: float
    certain: float
    is_looked_for: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FinderReport:
    """How one finder did: by label, and how many of its findings were right."""

    finder: str
    rows: tuple[KindRow, ...]
    noticed: float | None
    findings: int
    precision: float | None
    certain_findings: int
    certain_precision: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PiiReport:
    """All finders on the same texts; one that is not installed is named with the reason."""

    texts: int
    finders: tuple[FinderReport, ...]
    missing: dict[str, str]


def read_labelled(path: Path) -> list[LabelledText]:
    """Read labelled texts, compressed or not, or raise `InvalidInput`."""
    found = read_json(path)
    try:
        return [_labelled(row) for row in _as_list(found)]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"{path} does not hold labelled texts: {error}",
            hint="a JSON list of {full_text, spans: [{entity_type, start_position, end_position}]}",
        ) from error


def _labelled(row: dict[str, object]) -> LabelledText:
    return LabelledText(
        text=str(row["full_text"]),
        spans=tuple(
            (str(one["entity_type"]), int(one["start_position"]), int(one["end_position"]))
            for one in _as_list(row["spans"])
        ),
    )


def _as_list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("there is no list where one belongs")
    return value


def evaluate_pii(texts: Sequence[LabelledText], *, progress: Progress) -> PiiReport:
    """Run every finder that is installed over the texts."""
    finders: dict[str, Finder] = {"salon": find_ours}
    missing: dict[str, str] = {}
    peer = _open_peer()
    if isinstance(peer, str):
        missing[PEER] = peer
    else:
        finders[PEER] = peer
    reports = tuple(
        _measure(name, finder, texts, progress=progress) for name, finder in finders.items()
    )
    return PiiReport(texts=len(texts), finders=reports, missing=missing)


def find_ours(text: str) -> list[Found]:
    """Run Salon's own finder."""
    return [
        Found(one.kind, one.certainty == "certain", one.start, one.end)
        for one in find_private_data(text)
    ]


def _measure(
    name: str, finder: Finder, texts: Sequence[LabelledText], *, progress: Progress
) -> FinderReport:
    marks: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    right: list[tuple[bool, bool]] = []
    with progress(name) as show:
        for number, labelled in enumerate(texts, 1):
            found = finder(labelled.text)
            for label, start, end in labelled.spans:
                marks[label].append(_mark(label, _overlapping(found, start, end)))
            right += [(_is_right(one, labelled), one.certain) for one in found]
            show(number, len(texts))
    rows = tuple(
        _row(label, marks[label])
        for label in (*LOOKED_FOR, *sorted(set(marks) - set(LOOKED_FOR)))
        if marks[label]
    )
    wanted = [mark for label in LOOKED_FOR for mark in marks[label]]
    certain = [is_right for is_right, is_certain in right if is_certain]
    return FinderReport(
        finder=name,
        rows=rows,
        noticed=_share([noticed for noticed, _, _ in wanted]),
        findings=len(right),
        precision=_share([is_right for is_right, _ in right]),
        certain_findings=len(certain),
        certain_precision=_share(certain),
    )


def _overlapping(found: Iterable[Found], start: int, end: int) -> list[Found]:
    return [one for one in found if one.start < end and start < one.end]


def _mark(label: str, over: list[Found]) -> tuple[bool, bool, bool]:
    named = [one for one in over if one.kind in {LOOKED_FOR.get(label), label}]
    return bool(over), bool(named), any(one.certain for one in over)


def _is_right(found: Found, labelled: LabelledText) -> bool:
    accepted = {*LOOKED_FOR, *_ALSO_RIGHT}
    return any(
        label in accepted and found.start < end and start < found.end
        for label, start, end in labelled.spans
    )


def _row(label: str, marks: list[tuple[bool, bool, bool]]) -> KindRow:
    noticed, named, certain = (_share(column) or 0.0 for column in zip(*marks, strict=True))
    return KindRow(
        label=label,
        spans=len(marks),
        noticed=noticed,
        named=named,
        certain=certain,
        is_looked_for=label in LOOKED_FOR,
    )


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _open_peer() -> Finder | str:
    """Return presidio's patterns without a language model, or why they cannot be had."""
    try:
        spacy, presidio = import_module("spacy"), import_module("presidio_analyzer")
        engines = import_module("presidio_analyzer.nlp_engine")
        suffixes = import_module("tldextract")
    except ImportError as error:
        return f"not installed ({error.name})"
    # Otherwise it asks the network for the list of public suffixes.
    suffixes.tldextract.TLD_EXTRACTOR = suffixes.TLDExtract(suffix_list_urls=())
    words = engines.SpacyNlpEngine()
    words.nlp = {"en": spacy.blank("en")}  # it splits words and knows nothing else
    analyzer = presidio.AnalyzerEngine(nlp_engine=words, supported_languages=["en"])

    def find(text: str) -> list[Found]:
        return [
            Found(one.entity_type, one.score >= 0.5, one.start, one.end)
            for one in analyzer.analyze(text, language="en")
        ]

    return find
