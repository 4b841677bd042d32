"""Reading what people say about themselves: observations with the words they rest on.

It reads statements in the first person and nothing else. Quoted words, what others are said to
think, wishes, suppositions and questions are passed over: it would rather miss than mistake.
"""

import re
from collections.abc import Iterator

from salon.steps.feature_cues import CUES, MBTI_STATED, MBTI_TRAITS, STYLE_MARKERS
from salon.steps.feature_values import Observation

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'"})
_QUOTED = re.compile(r'"[^"\n]{1,300}"|\u201c[^\u201d\n]{1,300}\u201d')
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_SAID_BY_OTHERS = re.compile(
    r"\b(?:he|she|they|people|everyone|everybody|someone|somebody|my \w+|\w+'s)"
    r"(?: \w+)? (?:say|says|said|think|thinks|thought|tells?|told|claims?|claimed|believes?|"
    r"jokes?|joked|swears?|calls?)\b"
)
_NOT_SO = re.compile(
    r"\b(?:if|wish|imagine|pretend|pretending|suppose|supposing|whether|as though|unless|kidding|"
    r"joking|dreamt|dreamed|when i was|back when|years ago)\b"
)
_ASKING = re.compile(r"\b(?:do|does|would|did|can|could|are|is|am|you)\b")
_NUMBERS = {
    word: tens + ones
    for tens, name in ((20, "twenty"), (30, "thirty"), (40, "forty"), (50, "fifty"), (60, "sixty"))
    for ones, word in enumerate(
        (name, *(f"{name}-{one}" for one in
                 ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")))
    )
} | {"eighteen": 18, "nineteen": 19}  # fmt: skip
_NUMBER = r"(\d{2}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")"
_AGE = (
    re.compile(
        rf"\bi(?:'m| am)(?: (?:only|just|already|now|still|almost|nearly))? {_NUMBER}"
        r"(?: years? old| years? young| yo| yrs?)?"
        r"(?=\s*$|\s*[.,;!)]| and\b| but\b| so\b| now\b| this\b|, )"
    ),
    re.compile(rf"\bi (?:just |recently )?turned {_NUMBER}\b(?!%| (?:percent|pages|minutes))"),
    re.compile(rf"\bi(?:'m| am) an? {_NUMBER}[- ]year[- ]old\b"),
    re.compile(rf"\bas an? {_NUMBER}[- ]year[- ]old\b"),
    re.compile(rf"\bmy age is {_NUMBER}\b"),
)
_YOUNGEST, _OLDEST = 10, 99
_AGE_CONFIDENCE = 0.98
_STYLE_CONFIDENCE, _STYLE_WEIGHT = 0.4, 0.35
_TYPE_CONFIDENCE, _TYPE_WEIGHT = 0.5, 0.6


def observe_message(text: str, *, turn: int, source: str = "message") -> tuple[Observation, ...]:
    """Return what a message says about its writer, in the order of the words."""
    plain = _blank_quotes(text.translate(_APOSTROPHES).lower())
    if len(plain) != len(text):  # some letters change length in lower case; spans would be wrong
        text = plain
    found: dict[tuple[str, float | str], Observation] = {}
    for one in _observations(plain):
        seen = Observation(
            feature=one.feature,
            value=one.value,
            confidence=one.confidence,
            source=source,
            quote=text[one.start : one.end],
            start=one.start,
            end=one.end,
            turn=turn,
            weight=one.weight,
        )
        key = (seen.feature, seen.value)
        if key not in found or found[key].confidence < seen.confidence:
            found[key] = seen
    return _without_contradicted(sorted(found.values(), key=lambda one: (one.start, one.feature)))


def _blank_quotes(text: str) -> str:
    return _QUOTED.sub(lambda quoted: " " * len(quoted.group()), text)


def _observations(plain: str) -> Iterator[Observation]:
    for sentence in _SENTENCE.finditer(plain):
        words, offset = sentence.group(), sentence.start()
        for cue in CUES:
            if (said := cue.pattern.search(words)) and _is_plain(words, said):
                yield _at(said, offset, cue.feature, cue.value, cue.confidence)
        yield from _ages(words, offset)
        yield from _named_type(words, offset)
    for style, marker in STYLE_MARKERS.items():
        if said := marker.search(plain):
            yield _at(
                said, 0, "communication_style", style, _STYLE_CONFIDENCE, weight=_STYLE_WEIGHT
            )


def _is_plain(sentence: str, said: re.Match[str]) -> bool:
    """Tell whether the words state something of the writer, now and in earnest."""
    before = sentence[: said.start()]
    if _SAID_BY_OTHERS.search(before) or _NOT_SO.search(before):
        return False
    return not (sentence.endswith("?") and _ASKING.search(before))


def _ages(sentence: str, offset: int) -> Iterator[Observation]:
    for pattern in _AGE:
        said = pattern.search(sentence)
        if said is None or not _is_plain(sentence, said):
            continue
        words = said.group(1)
        age = _NUMBERS[words] if words in _NUMBERS else int(words)
        if _YOUNGEST <= age <= _OLDEST:
            yield _at(said, offset, "age", float(age), _AGE_CONFIDENCE)
            return


def _named_type(sentence: str, offset: int) -> Iterator[Observation]:
    said = MBTI_STATED.search(sentence)
    if said is None or not _is_plain(sentence, said):
        return
    for letter in said.group(1):
        feature, value = MBTI_TRAITS[letter]
        yield _at(said, offset, feature, value, _TYPE_CONFIDENCE, weight=_TYPE_WEIGHT)


def _at(
    said: re.Match[str],
    offset: int,
    feature: str,
    value: float | str,
    confidence: float,
    *,
    weight: float = 1.0,
) -> Observation:
    return Observation(
        feature=feature,
        value=value,
        confidence=confidence,
        source="message",
        start=offset + said.start(),
        end=offset + said.end(),
        weight=weight,
    )


def _without_contradicted(found: list[Observation]) -> tuple[Observation, ...]:
    """Leave out what a longer match at the same place says differently: love in don't love."""
    return tuple(
        one
        for one in found
        if not any(
            other.feature == one.feature
            and other.value != one.value
            and other.confidence >= one.confidence
            and other.start <= one.start
            and one.end <= other.end
            and (other.end - other.start) > (one.end - one.start)
            for other in found
        )
    )
