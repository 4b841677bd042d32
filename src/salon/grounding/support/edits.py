"""A claim that is a sentence with a few words changed: which changes turn what it says.

Where claim and sentence are the same but for some words, these words are all there is to judge: a
negation put in or taken out, a word exchanged for its opposite, another number or name in the same
place. It counts even if the text holds the new word elsewhere.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from salon.grounding.support.opposites import are_opposites, is_negation
from salon.grounding.support.quantities import read_quantities
from salon.grounding.support.words import Word

Kind: TypeAlias = Literal["number", "date", "name", "negation", "comparison"]
"""What a claim and a text can disagree in."""

_SAME = 0.8
"""The share of the claim's words that must stand in the sentence in the same order."""
_ONLY = frozenset({"only", "just", "merely"})
_OPENING = frozenset({"that", "whether", "if"})
_REACH = 6
_LONGEST = 120
"""Words; two sentences longer than this are not laid beside each other."""


def edits(claim: Sequence[Word], sentence: Sequence[Word]) -> Iterator[tuple[Kind, str]]:
    """Walk the changes that turn what a sentence says: the kind and a reason."""
    if not claim or max(len(claim), len(sentence)) > _LONGEST:
        return
    theirs, mine = [_spelled(word) for word in sentence], [_spelled(word) for word in claim]
    matcher = SequenceMatcher(a=theirs, b=mine, autojunk=False)
    codes = matcher.get_opcodes()
    if sum(last - first for tag, _, _, first, last in codes if tag == "equal") < _SAME * len(mine):
        return
    for tag, begin, end, first, last in codes:
        start = begin
        # What the claim leaves out at its beginning or end it does not speak of, unless it was
        # `nobody says that`.
        is_outside = tag == "delete" and (first == 0 or last == len(mine))
        if is_outside and start == 0 < end and theirs[end - 1] in _OPENING:
            start = max(0, end - _REACH)
        elif tag == "equal" or is_outside:
            continue
        denied, denies = _denies(sentence, start, end), _denies(claim, first, last)
        if denied != denies:
            yield (
                "negation",
                f"negation differs: only the {'claim' if denies else 'text'} denies it",
            )
        yield from _turned(sentence[start:end], claim[first:last])


def _spelled(word: Word) -> str:
    return word.text.lower().replace("\u2019", "'")


def _denies(words: Sequence[Word], start: int, end: int) -> bool:
    """Tell whether a negation stands there, other than `not only`."""
    return any(
        is_negation(words[place])
        and not (place + 1 < len(words) and _spelled(words[place + 1]) in _ONLY)
        for place in range(start, end)
    )


def _turned(old: Sequence[Word], new: Sequence[Word]) -> Iterator[tuple[Kind, str]]:
    for one in new:
        for other in old:
            if are_opposites(_spelled(other), _spelled(one)):
                sides = f"{_spelled(one)!r} in the claim, {_spelled(other)!r} in the text"
                yield "comparison", f"comparison reversed: {sides}"
    yield from _another_number(old, new)


def _another_number(old: Sequence[Word], new: Sequence[Word]) -> Iterator[tuple[Kind, str]]:
    was, said = (
        [one for one in read_quantities(" ".join(word.text for word in words)) if one.is_strict]
        for words in (old, new)
    )
    values = {one.value for one in was}
    for one in said:
        if was and one.value not in values:
            yield "number", f"number differs: {one.text} in the claim, {was[0].text} in the text"
