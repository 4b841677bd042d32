"""What a person says about themselves, found by rules, each with its span in their own message.

Only the user's messages come in here, never a reply. A rule needs the first person right where the
fact is said, so that what is said of somebody else, asked, imagined or quoted from others is not
taken for a fact about the user. It finds less than a model would, and invents nothing: the value
and the sentence are copied from the message.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from salon.conversation.memory.kinds import Said
from salon.conversation.memory.search import stems_of
from salon.conversation.memory.sentences import sentence_spans

RULES = Path(__file__).with_name("extraction_rules.json")
FEWEST_STEMS = 3
"""A message with fewer telling words is no moment worth keeping."""
LONGEST_MOMENT = 500
_QUOTED = re.compile(r"[\"\u201c][^\"\u201d]*[\"\u201d]")
_CURLY = str.maketrans("\u2019\u2018", "''")


class _FactRule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    attribute: str
    patterns: list[str]
    single: bool = False
    negates: bool = False
    opposite: str | None = None


class _RuleFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    about: str
    soft: str
    i_am: str
    stop: str
    not_a_value: list[str]
    skip_before: list[str]
    skip_after: list[str]
    facts: list[_FactRule]
    events: list[str]
    jobs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One fact as it was said, and the characters of the message that say it.

    A statement that `negates` says what is no longer so; without a value, whatever it was.
    """

    attribute: str
    value: str
    start: int
    end: int
    is_single: bool = False
    negates: bool = False
    opposite: str | None = None


@dataclass(frozen=True, slots=True)
class _Compiled:
    rule: _FactRule
    patterns: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class _Rules:
    facts: tuple[_Compiled, ...]
    events: tuple[re.Pattern[str], ...]
    skip_before: tuple[re.Pattern[str], ...]
    skip_after: tuple[re.Pattern[str], ...]
    not_a_value: frozenset[str]


def find_statements(said: Said) -> list[Statement]:
    """Return the facts that a message states about the user, in the order they are said."""
    found: list[Statement] = []
    text = said.text.translate(_CURLY)
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if not sentence.endswith("?"):
            found += _in_sentence(sentence, start)
    return sorted(found, key=lambda one: (one.start, one.negates))


def find_events(said: Said) -> list[tuple[int, int]]:
    """Return the sentences of a message in which something happened in the user's life."""
    text = said.text.translate(_CURLY)
    rules = _rules()
    return [
        (start, end)
        for start, end in sentence_spans(text)
        if not text[start:end].endswith("?")
        and any(
            not _is_skipped(text[start:end], found)
            for pattern in rules.events
            for found in pattern.finditer(text[start:end])
        )
    ]


def find_moments(said: Said, private: Sequence[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Return the stretches of a message worth keeping: whole sentences, none with private data."""
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(said.text):
        if any(one < end and start < other for one, other in private):
            continue
        beside = bool(spans) and not said.text[spans[-1][1] : start].strip()
        if beside and end - spans[-1][0] <= LONGEST_MOMENT:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, min(end, start + LONGEST_MOMENT)))
    return [(start, end) for start, end in spans if _is_telling(said.text[start:end])]


def same_value(one: str, other: str) -> bool:
    """Tell whether two values say the same, whatever their case, articles and endings."""
    return one.casefold() == other.casefold() or (
        bool(stems_of(one)) and stems_of(one) == stems_of(other)
    )


def _is_telling(text: str) -> bool:
    if len(set(stems_of(text))) < FEWEST_STEMS or text.startswith("/"):
        return False
    return any(not text[start:end].endswith("?") for start, end in sentence_spans(text))


def _in_sentence(sentence: str, offset: int) -> Iterator[Statement]:
    taken: set[tuple[str, int]] = set()
    quoted = [found.span() for found in _QUOTED.finditer(sentence)]
    for compiled in _rules().facts:
        rule = compiled.rule
        for pattern in compiled.patterns:
            for found in pattern.finditer(sentence):
                statement = _statement(rule, found, offset)
                key = (statement.attribute if statement else "", found.start())
                if statement is None or key in taken or _is_skipped(sentence, found):
                    continue
                if not any(start < found.start() < end for start, end in quoted):
                    taken.add(key)
                    yield statement


def _statement(rule: _FactRule, found: re.Match[str], offset: int) -> Statement | None:
    groups = found.groupdict()
    value = (groups.get("value") or "").strip(" ,'-")
    first = value.casefold().split(" ")[0]
    if not value and not rule.negates:
        return None
    if first in _rules().not_a_value and value.casefold() not in _ARTICLED:
        return None
    thing = groups.get("thing")
    return Statement(
        attribute=f"{rule.attribute} {thing.casefold()}" if thing else rule.attribute,
        value=value,
        start=offset + found.start(),
        end=offset + found.end(),
        is_single=rule.single,
        negates=rule.negates,
        opposite=rule.opposite,
    )


_ARTICLED = frozenset(
    {"the netherlands", "the us", "the usa", "the uk", "the united states", "the united kingdom"}
)


def _is_skipped(sentence: str, found: re.Match[str]) -> bool:
    rules = _rules()
    before, after = sentence[: found.start()], sentence[found.end() :]
    return any(one.search(before) for one in rules.skip_before) or any(
        one.search(after) for one in rules.skip_after
    )


@cache
def _rules() -> _Rules:
    read = _RuleFile.model_validate(json.loads(RULES.read_text(encoding="utf-8")))
    ends = rf"(?=\s*(?:[.,;:!?()\"]|$|-\s|\b(?:{read.stop})\b))"
    word = r"[^\W_][\w'&-]*"
    parts = {
        "{SOFT}": read.soft,
        "{I_AM}": read.i_am,
        "{JOB}": f"(?:{read.jobs})",
        "{VALUE}": rf"(?:an? |the )?(?P<value>{word}(?: {word}){{0,4}}?){ends}",
        "{GOAL}": rf"(?P<value>{word}(?: {word}){{0,7}}?)(?=\s*(?:[.,;:!?()\"]|$|\b(?:and|but|"
        rf"because|so|when|if|before|though)\b))",
        "{NAME}": r"(?P<value>(?-i:[A-Z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*){0,2})",
        "{PLACE}": rf"(?P<value>(?:the )?{word}(?: {word}){{0,3}}?)(?:(?=\s+(?:in|on)\b)|{ends})",
        "{EMPLOYER}": rf"(?:an? |the |my )?(?P<value>{word}(?: {word}){{0,3}}?){ends}",
    }

    def compiled(pattern: str) -> re.Pattern[str]:
        for name, source in parts.items():
            pattern = pattern.replace(name, source)
        return re.compile(pattern, re.IGNORECASE)

    return _Rules(
        facts=tuple(
            _Compiled(rule, tuple(compiled(one) for one in rule.patterns)) for rule in read.facts
        ),
        events=tuple(compiled(one) for one in read.events),
        skip_before=tuple(compiled(one) for one in read.skip_before),
        skip_after=tuple(compiled(one) for one in read.skip_after),
        not_a_value=frozenset(read.not_a_value),
    )
