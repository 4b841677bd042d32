"""Harmful content: a request for it, and a text that would do harm. Neither gets through.

`find_harmful_request` reads what somebody asks for, `harm_of` what is about to be said. What is
quoted word for word from the archive is left out of the second: a harsh source may be cited, and
the citation says whose words they are. To ask how something came about, or how to prevent it, is no
request for harm.

What this is not: a judgement of people, or a promise. It reads English; patterns are in
`harm_rules.json`, the trained second look in `harm_meaning`.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from salon.core.embedding import Embedder
from salon.guard.harm_meaning import SURE, HeadName, most_harmful

RULES = Path(__file__).with_name("harm_rules.json")
BY_PATTERN, BY_MEANING = "pattern", "meaning"
_STRAIGHT = str.maketrans("\u2019\u2018\u201c\u201d\u00a0\n\t", "''\"\"   ")
_LEET = str.maketrans("013457@$", "oieastas")
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_SPELLED = re.compile(r"\b(?![ai] )\w([ .\-_*])(?:\w\1)+\w\b")
_LONGEST = 400
"""A sentence is read in stretches of so many characters: what a pattern costs grows faster."""
_MOST_ASKED, _MOST_SAID = 20_000, 100_000
"""Of a longer text the beginning and the end are read."""
_OVERLAP = 160
_SHORTEST_QUOTE = 20


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Rule(_File):
    kind: str
    patterns: list[str]


class _RuleFile(_File):
    about: str
    parts: dict[str, str]
    fine: list[str]
    requests: list[_Rule]
    texts: list[_Rule]
    replies: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """What kind of harm was found, where, by what, and how probable it is."""

    kind: str
    excerpt: str
    found_by: str
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class _Compiled:
    fine: tuple[re.Pattern[str], ...]
    requests: tuple[tuple[str, re.Pattern[str]], ...]
    texts: tuple[tuple[str, re.Pattern[str]], ...]


def find_harmful_request(text: str, embedder: Embedder | None = None) -> Harm | None:
    """Return what harm a message asks for, `None` where it asks for none.

    With an embedder, what no pattern catches gets a second look.
    """
    rules = _rules()
    for spelling in _spellings(_cut(text, _MOST_ASKED)):
        found = _match(spelling, rules.requests)
        if found is not None and not any(one.search(spelling) for one in rules.fine):
            return found
    return _second_look(_cut(text, _MOST_ASKED), "request", embedder)


def harm_of(
    text: str, *, quotes: Sequence[str] = (), embedder: Embedder | None = None
) -> Harm | None:
    """Return what harm a text would do if it were said; `quotes` are left out of it."""
    own = _cut(_without(text, quotes), _MOST_SAID)
    for spelling in _spellings(own):
        found = _match(spelling, _rules().texts)
        if found is not None:
            return found
    return _second_look(own, "abuse", embedder)


def decline(harm: Harm) -> str:
    """Return what is said instead."""
    return _file().replies.get(harm.kind, _file().replies["abuse"])


def decline_sentences() -> frozenset[str]:
    """Return every sentence that `decline` may say; none of them claims anything."""
    said = " ".join(_file().replies.values())
    return frozenset(match[0].strip() for match in _SENTENCE.finditer(said))


def _second_look(text: str, head: HeadName, embedder: Embedder | None) -> Harm | None:
    if embedder is None:
        return None
    sentences = [one for one in map(str.strip, _stretches(text)) if _is_prose(one)]
    if head == "request":  # whoever only wants to understand or prevent is not asking for it
        fine = _rules().fine
        sentences = [one for one in sentences if not any(rule.search(one.lower()) for rule in fine)]
    found = most_harmful(sentences, head, embedder)
    if found is None or found[1] < SURE[head]:
        return None
    place, probability = found
    kind = "abuse" if head == "abuse" else "request"
    return Harm(
        kind=kind,
        excerpt=_shortened(sentences[place]),
        found_by=BY_MEANING,
        probability=probability,
    )


def _match(text: str, rules: Sequence[tuple[str, re.Pattern[str]]]) -> Harm | None:
    for kind, pattern in rules:
        found = pattern.search(text)
        if found is not None:
            return Harm(kind=kind, excerpt=_shortened(found[0]), found_by=BY_PATTERN)
    return None


def _without(text: str, quotes: Sequence[str]) -> str:
    """Take word-for-word quotes out of a text; short ones would take out single words."""
    for quote in sorted((one.strip() for one in quotes), key=len, reverse=True):
        if len(quote) >= _SHORTEST_QUOTE:
            text = text.replace(quote, " ")
    return text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} . {text[-most // 2 :]}"


def _stretches(text: str) -> Iterator[str]:
    """Walk the sentences of a text, very long ones in pieces that overlap."""
    for match in _SENTENCE.finditer(text):
        sentence = match[0]
        for start in range(0, max(1, len(sentence) - _OVERLAP), _LONGEST - _OVERLAP):
            yield sentence[start : start + _LONGEST]


def _spellings(text: str) -> Iterator[str]:
    """Walk the sentences in lower case, and again with letters that were disguised put back."""
    folded = unicodedata.normalize("NFKD", text).casefold().translate(_STRAIGHT)
    plain = "".join(one for one in folded if unicodedata.category(one) not in {"Mn", "Cf"})
    joined = _SPELLED.sub(lambda found: re.sub(r"[ .\-_*]", "", found[0]), plain)
    for spelling in dict.fromkeys((plain, joined.translate(_LEET))):
        for stretch in _stretches(spelling):
            yield " ".join(stretch.split())


def _is_prose(text: str) -> bool:
    return sum(one.isalpha() for one in text) >= 8


def _shortened(text: str) -> str:
    return text.strip()[:120]


@cache
def _file() -> _RuleFile:
    return _RuleFile.model_validate(json.loads(RULES.read_text(encoding="utf-8")))


@cache
def _rules() -> _Compiled:
    file = _file()
    return _Compiled(
        fine=tuple(re.compile(one) for one in file.fine),
        requests=_compiled(file.requests, file.parts),
        texts=_compiled(file.texts, file.parts),
    )


def _compiled(rules: list[_Rule], parts: dict[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    found = []
    for rule in rules:
        for pattern in rule.patterns:
            for name, part in parts.items():
                pattern = pattern.replace("{" + name + "}", part)  # noqa: PLW2901
            found.append((rule.kind, re.compile(pattern)))
    return tuple(found)
