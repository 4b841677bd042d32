"""Word patterns of fraud: what a text says, word by word, and where it says it.

Phrases are tables in `language/`: strong ones mean something by themselves, weak ones only beside
others. Where a script has word boundaries a phrase is matched on whole words ("online" is not
"line"). A sentence that talks about fraud, tells of having been defrauded, refuses, or reports
what somebody else asked for is framed: its words show nothing. Invariant: `text[start:end]` of
the text that was given is the quote.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

LANGUAGES = ("en", "zh")
_STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"})
_END = r".!?\u3002\uff01\uff1f\n"
# A full stop inside a word, as in an address or a number, ends no sentence.
_SENTENCE = re.compile(rf"[^{_END}]+(?:\.(?=\w)[^{_END}]+)*[{_END}]*\s*")
_STRENGTHS = ("strong", "weak")
_MONEY_LINKS_SECRECY = ("money_request", "external_links", "secrecy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """One phrase of a pattern, where it stands."""

    pattern: str
    start: int
    end: int
    quote: str
    is_strong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """Patterns that mean more together than apart, if they come within some turns."""

    name: str
    of: tuple[str, ...]
    within: int
    multiplier: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How much each pattern and each composite weighs, and where the levels begin."""

    weights: Mapping[str, float]
    one_strong: float
    """What share of a pattern's weight its first strong phrase earns."""
    more_strong: float
    """What a second strong phrase adds."""
    one_weak: float
    """What each weak phrase adds, up to `most_weak` of them."""
    most_weak: int
    model: float
    """How much the trained model adds where it is sure."""
    levels: Mapping[str, float]
    """The least score of each level, lowest first."""
    composites: tuple[Composite, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text after framing: its cues, and the sentences that say something of their own."""

    cues: tuple[Cue, ...]
    unframed: str
    frames: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """What makes a sentence say nothing of its own, and how far that reaches."""

    name: str
    covers_message: bool
    most_words: int
    """A longer message is covered sentence by sentence."""
    all_of: tuple[re.Pattern[str], ...]
    none_of: tuple[re.Pattern[str], ...]
    but_not: tuple[re.Pattern[str], ...]
    """Sentences that speak for themselves, whatever stands beside them."""

    def holds(self, text: str) -> bool:
        return all(one.search(text) for one in self.all_of) and not any(
            one.search(text) for one in self.none_of
        )

    def reaches(self, sentence: str, message: str) -> bool:
        """Tell whether the frame of a message, held somewhere in it, covers a sentence."""
        return len(message.split()) <= self.most_words and not any(
            one.search(sentence) for one in self.but_not
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    pattern: str
    is_strong: bool
    text: str
    first_word: str
    expression: re.Pattern[str]


@cache
def shipped_rules() -> Rules:
    """Return the weights and composites that come with Salon."""
    found = _read("scam_rules.json")
    composites = found.pop("composites")
    return Rules(
        **found,
        composites=tuple(
            Composite(
                name=name,
                of=tuple(one["of"]),
                within=one["within"],
                multiplier=one["multiplier"],
            )
            for name, one in composites.items()
        ),
    )


def pattern_names() -> tuple[str, ...]:
    """Return the names of the patterns, in the order of the table."""
    return tuple(shipped_rules().weights)


def read_patterns(text: str) -> Reading:
    """Return the cues of a text outside framed sentences, and what those leave of the text."""
    kept, frames = _unframed(text.translate(_STRAIGHT))
    return Reading(
        cues=tuple(one for one in find_cues(text) if _inside(one, kept)),
        unframed=_joined(text, kept),
        frames=frames,
    )


def unframed_text(text: str) -> str:
    """Return what is left of a text without framed sentences."""
    return _joined(text, _unframed(text.translate(_STRAIGHT))[0])


def find_cues(text: str) -> tuple[Cue, ...]:
    """Return every phrase of every pattern in a text, framed or not, by place."""
    plain = text.translate(_STRAIGHT)
    lowered = plain.lower()
    found: dict[str, list[Cue]] = {}
    for phrase in _phrases():
        # Most phrases are not there, and looking for a word is far cheaper than for a phrase.
        if phrase.first_word not in lowered:
            continue
        for match in phrase.expression.finditer(plain):
            start, end = match.span()
            others = found.setdefault(phrase.pattern, [])
            if not any(other.start < end and start < other.end for other in others):
                others.append(
                    Cue(
                        pattern=phrase.pattern,
                        start=start,
                        end=end,
                        quote=text[start:end],
                        is_strong=phrase.is_strong,
                    )
                )
    cues = (one for group in found.values() for one in group)
    return tuple(sorted(cues, key=lambda one: (one.start, one.end, one.pattern)))


def wants_a_look(text: str) -> bool:
    """Tell whether a message speaks of money, links or secrecy, so that it is looked at at once."""
    return any(one.pattern in _MONEY_LINKS_SECRECY for one in find_cues(text))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for match in _SENTENCE.finditer(text):
        yield match.span()


def _unframed(plain: str) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    """Return where the sentences stand that no frame covers, and which frames were met."""
    sentences = list(_sentences(plain))
    held = [[one for one in _frames() if one.holds(plain[start:end])] for start, end in sentences]
    whole = [one for frames in held for one in frames if one.covers_message]
    kept = [
        (start, end)
        for (start, end), frames in zip(sentences, held, strict=True)
        if not frames and not any(one.reaches(plain[start:end], plain) for one in whole)
    ]
    return kept, tuple(dict.fromkeys(one.name for frames in held for one in frames))


def _joined(text: str, kept: Sequence[tuple[int, int]]) -> str:
    return "".join(text[start:end] for start, end in kept).strip()


def _inside(cue: Cue, kept: Sequence[tuple[int, int]]) -> bool:
    return any(start <= cue.start < end for start, end in kept)


@cache
def _phrases() -> tuple[_Phrase, ...]:
    """Return all phrases, strong before weak and long before short, so that the best one counts."""
    rows = []
    for language in LANGUAGES:
        table = _read(f"scam_{language}.json")
        for pattern, by_strength in table["patterns"].items():
            for strength in _STRENGTHS:
                rows += [
                    _Phrase(
                        pattern=pattern,
                        is_strong=strength == "strong",
                        text=one,
                        first_word=one.split(" ")[0],
                        expression=re.compile(
                            _bounded(one) if table["bounded"] else re.escape(one), re.IGNORECASE
                        ),
                    )
                    for one in by_strength[strength]
                ]
            rows += [
                _Phrase(
                    pattern=pattern,
                    is_strong=True,
                    text=one,
                    first_word="",
                    expression=re.compile(one, re.IGNORECASE),
                )
                for one in by_strength["expressions"]
            ]
    return tuple(sorted(rows, key=lambda one: (not one.is_strong, -len(one.text), one.text)))


def _bounded(phrase: str) -> str:
    body = r"\s+".join(re.escape(word) for word in phrase.split(" "))
    before = r"(?<!\w)" if phrase[0].isalnum() else ""
    after = r"(?!\w)" if phrase[-1].isalnum() else ""
    return f"{before}{body}{after}"


@cache
def _frames() -> tuple[_Frame, ...]:
    return tuple(
        _Frame(
            name=name,
            covers_message=one["covers"] == "message",
            most_words=one.get("most_words", 0),
            all_of=_compiled(one["all_of"]),
            none_of=_compiled(one["none_of"]),
            but_not=_compiled(one.get("but_not", [])),
        )
        for name, one in _read("scam_frames.json").items()
    )


def _compiled(expressions: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one, re.IGNORECASE) for one in expressions)


def _read(name: str) -> Any:
    return json.loads(resources.files("salon.steps").joinpath("language", name).read_text("utf-8"))
