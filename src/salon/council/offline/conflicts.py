"""Sentences of different sources that contradict each other, as far as plain signs show it.

Two sentences are compared only if they have one frame: most of their telling words in common, and
no name that makes it another subject. Then another number, another name after the same verb, an
opposite or a negation is a conflict. What speaks of its own time contradicts nothing said at
another time, and two years do only where the thing happens once.

The signs are those of English; in another language only numbers in digits are seen.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np

from salon.council.offline.cues import OF_ITS_TIME, ONCE_ONLY
from salon.council.offline.sources import Quote
from salon.grounding.support.names import NameBook, read_names, unknown_names
from salon.grounding.support.opposites import are_opposites, is_negation, opposed
from salon.grounding.support.quantities import read_quantities
from salon.grounding.support.words import Word, read_words, shipped_tellingness

FEWEST_SHARED = 3
"""Telling words without which two sentences have no frame in common."""
_FRAME = 0.7
"""The share of the shorter sentence's telling words that the other must have."""
_FRAME_OF_A_DENIAL = 0.8
_FEWEST_OF_A_DENIAL = 4
_MOST_BESIDE_A_NUMBER = 1
"""Telling words that may change together with a number: `granite, ninety` for `oak, fifty`."""
_NO_COUNT = 2
"""Up to here a word may be something else than a number, as `one` or `second`."""
_LONGEST = 90
"""Words; longer sentences are not laid beside each other."""
_VERBS = frozenset({"is", "are", "was", "were", "has", "have", "had"})
_BEFORE_A_NAME = frozenset({"by", "is", "was", "are", "were"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A sentence as it is compared; `frame` has its telling stems without numbers and denials."""

    text: str
    words: tuple[Word, ...]
    spelled: tuple[str, ...]
    frame: frozenset[str]
    years: frozenset[float]
    is_of_its_time: bool
    is_once_only: bool


def conflicts_among(quotes: Sequence[Quote], places: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Return the pairs of these places whose quotes contradict each other, the smaller first."""
    found = set()
    for one, other in _alike([quotes[at] for at in places]):
        first, second = sorted((places[one], places[other]))
        if quotes[first].document != quotes[second].document and contradict(
            quotes[first].text, quotes[second].text
        ):
            found.add((first, second))
    return frozenset(found)


def contradict(first: str, second: str) -> bool:
    """Tell whether two sentences contradict each other; it does not matter which comes first."""
    return _contradict(*sorted((first, second)))


def groups_of(pairs: frozenset[tuple[int, int]]) -> list[list[int]]:
    """Return the places that contradict each other, directly or by way of others, together."""
    groups: list[set[int]] = []
    for pair in sorted(pairs):
        touched = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in touched]
        groups.append(set(pair).union(*touched))
    return sorted(sorted(group) for group in groups)


def _alike(quotes: Sequence[Quote]) -> Iterator[tuple[int, int]]:
    """Walk the pairs of quotes that have a frame in common, all compared at once."""
    if not quotes:
        return
    frames = [_read(one.text).frame for one in quotes]
    uses = Counter(stem for frame in frames for stem in frame)
    # What one sentence alone has, no two share.
    column = {stem: at for at, stem in enumerate(stem for stem in uses if uses[stem] > 1)}
    there = np.zeros((len(quotes), len(column)), dtype=np.float32)
    for row, frame in enumerate(frames):
        there[row, [column[stem] for stem in frame if stem in column]] = 1
    shared = there @ there.T
    sizes = np.array([len(frame) for frame in frames])
    least = np.maximum(_FRAME * np.minimum(sizes[:, None], sizes[None, :]), FEWEST_SHARED)
    for one, other in zip(*np.nonzero(np.triu(shared >= least, k=1)), strict=True):
        yield int(one), int(other)


@lru_cache(maxsize=20_000)
def _contradict(first: str, second: str) -> bool:
    one, other = _read(first), _read(second)
    shared = len(one.frame & other.frame)
    smaller = min(len(one.frame), len(other.frame))
    if max(len(one.words), len(other.words)) > _LONGEST:
        return False
    if shared < max(FEWEST_SHARED, _FRAME * smaller):
        return False
    if one.is_of_its_time or other.is_of_its_time:
        return False
    is_denied = (
        smaller >= _FEWEST_OF_A_DENIAL
        and shared >= _FRAME_OF_A_DENIAL * smaller
        and any(reason.startswith("negation") for reason in opposed(first, second))
    )
    regions = list(_regions(one, other))
    if _is_another_name(one, other, regions):
        return True
    if _are_other_subjects(one, other):
        return False
    return is_denied or _is_another_number(one, other, regions) or _is_turned(regions)


@lru_cache(maxsize=20_000)
def _read(text: str) -> _Read:
    words = tuple(read_words(text))
    return _Read(
        text=text,
        words=words,
        spelled=tuple(word.text.lower() for word in words),
        frame=frozenset(
            word.stem
            for at, word in enumerate(words)
            if word.is_content
            and not is_negation(word)
            and not read_quantities(word.text)
            and not _is_who_did_it(words, at)
        ),
        years=frozenset(one.value for one in read_quantities(text) if one.is_year),
        is_of_its_time=OF_ITS_TIME.search(text) is not None,
        is_once_only=ONCE_ONLY.search(text) is not None,
    )


def _is_who_did_it(words: Sequence[Word], at: int) -> bool:
    """Tell whether a word is of a name after `by`, which may be what differs."""
    while at >= 0 and words[at].text[:1].isupper():
        at -= 1
    return at >= 0 and words[at].text == "by"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Region:
    """What one sentence has where the other has something else, and what both have before it."""

    old: tuple[Word, ...]
    new: tuple[Word, ...]
    before: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing differs but small words."""
        return not any(word.is_content for word in (*self.old, *self.new))


def _regions(one: _Read, other: _Read) -> Iterator[_Region]:
    matcher = SequenceMatcher(a=one.spelled, b=other.spelled, autojunk=False)
    for tag, begin, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            yield _Region(
                old=one.words[begin:end], new=other.words[first:last], before=one.spelled[:begin]
            )


def _is_another_number(one: _Read, other: _Read, regions: Sequence[_Region]) -> bool:
    """Tell whether the sentences are the same but for numbers, and what belongs to them."""
    if one.years and other.years and one.years.isdisjoint(other.years):
        # Another year has other numbers; only what happens once has one year.
        if not (one.is_once_only and other.is_once_only):
            return False
    elif one.years != other.years:
        return False
    told = [region for region in regions if not region.is_empty]
    return bool(told) and all(_are_other_numbers(region) for region in told)


def _are_other_numbers(region: _Region) -> bool:
    was, said = (
        {
            one.value
            for one in read_quantities(" ".join(word.text for word in words))
            if one.is_strict or one.value > _NO_COUNT
        }
        for words in (region.old, region.new)
    )
    beside = max(
        sum(word.is_content and not read_quantities(word.text) for word in words)
        for words in (region.old, region.new)
    )
    is_said_of_it = not beside or not _VERBS.isdisjoint(region.before)
    return (
        bool(was and said)
        and was.isdisjoint(said)
        and beside <= _MOST_BESIDE_A_NUMBER
        and is_said_of_it
    )


def _is_turned(regions: Sequence[_Region]) -> bool:
    """Tell whether a word is exchanged for its opposite, and nothing else."""
    turned = [region for region in regions if _are_turned(region)]
    told = [region for region in regions if not region.is_empty and region not in turned]
    return len(turned) == 1 and not told


def _are_turned(region: _Region) -> bool:
    if len(region.old) != 1 or len(region.new) != 1:
        return False
    return are_opposites(region.old[0].text.lower(), region.new[0].text.lower())


def _is_another_name(one: _Read, other: _Read, regions: Sequence[_Region]) -> bool:
    """Tell whether a thing that happens once was done by somebody else, all else being the same."""
    told = [region for region in regions if not region.is_empty]
    return (
        len(told) == 1
        and one.is_once_only
        and other.is_once_only
        and told[0].before[-1:] != ()
        and told[0].before[-1] in _BEFORE_A_NAME
        and all(
            word.text[:1].isupper() or not word.is_content for word in (*told[0].old, *told[0].new)
        )
        and _are_other_subjects(one, other)
    )


def _are_other_subjects(one: _Read, other: _Read) -> bool:
    """Tell whether each names something that the other does not know."""
    telling = shipped_tellingness()
    return bool(
        unknown_names(read_names(one.text, telling), NameBook.of(other.text))
        and unknown_names(read_names(other.text, telling), NameBook.of(one.text))
    )
