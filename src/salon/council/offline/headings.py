"""Headings: what the quotes of a section have in common, in words that they use themselves."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from salon.council.offline.cues import BEFORE_A_NOUN, NOT_A_HEADING
from salon.council.offline.pool import Pool
from salon.council.offline.words import is_shared, stem, terms, words

_MOST_TERMS = 2
_PAIR = 1.6
"""How much more a heading says with two words than with one."""
_MOST_HEADING = 60


def headings(pool: Pool, groups: Sequence[Sequence[int]], *, is_whole: bool = True) -> list[str]:
    """Name each group by what several of its quotes have and the other groups do not.

    A heading that is not whole goes on from other words, so it begins with a small letter.
    """
    uses = [_term_uses(pool, group) for group in groups]
    spread = Counter(roots for used in uses for roots in used)
    taken: set[str] = set()
    named = []
    for group, used in zip(groups, uses, strict=True):
        worth = {
            roots: len(where)
            / len(group)
            * math.log(1 + len(groups) / spread[roots])
            * (_PAIR if len(roots) > 1 else 1.0)
            for roots, where in used.items()
            if len(where) > 1
        }
        heading = _heading(pool, group, worth, taken)
        taken.add(heading.casefold())
        named.append(_capitalised(heading) if is_whole else heading)
    return named


def _term_uses(
    pool: Pool, group: Sequence[int], *, of_topic: bool = False
) -> dict[tuple[str, ...], set[int]]:
    """Return the terms of a group that name something and do not only describe the next word.

    They are either the topic's own or all others.
    """
    nouns: set[str] = set()
    uses: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for at in group:
        text = pool.quotes[at].text
        found = [roots for roots, _ in terms(text)]
        describing = {roots[:1] for roots in found if len(roots) > 1}
        nouns |= {
            stem(word)
            for before, word in pairwise(words(text))
            if before.casefold() in BEFORE_A_NOUN or word[0].isupper()
        }
        for roots in found:
            is_topic = all(is_shared(root, pool.topic_stems) for root in roots)
            is_named = roots not in describing and not NOT_A_HEADING.search(roots[-1])
            if is_named and is_topic is of_topic:
                uses[roots].add(at)
    return {roots: where for roots, where in uses.items() if roots[0] in nouns}


def _heading(
    pool: Pool, group: Sequence[int], worth: dict[tuple[str, ...], float], taken: set[str]
) -> str:
    chosen: list[tuple[str, ...]] = []
    for roots in sorted(worth, key=lambda one: (-worth[one], one)):
        if len(chosen) < _MOST_TERMS and not any(set(roots) & set(known) for known in chosen):
            chosen.append(roots)
    pair = tuple(root for roots in chosen for root in roots)
    for whole in (pair, pair[::-1]):
        if len(pair) == _MOST_TERMS == len(chosen) and whole in worth:
            chosen = [whole]
    parts = [_spelling(pool, group, roots) for roots in chosen or _least_heading(pool, group)]
    parts = parts or [pool.topic.rstrip(".! ")]
    full = " and ".join(parts)
    heading = full if len(full) <= _MOST_HEADING else parts[0][:_MOST_HEADING].strip()
    return heading if heading.casefold() not in taken else f"more on {heading}"[:_MOST_HEADING]


def _least_heading(pool: Pool, group: Sequence[int]) -> list[tuple[str, ...]]:
    """Return the part of the topic that a group names most, where it has nothing else in common.

    Where it names none either, a thing of two words that one of its quotes names.
    """
    uses = _term_uses(pool, group, of_topic=True)
    if uses:
        return [min(uses, key=lambda roots: (-len(uses[roots]) * len(roots), roots))]
    return sorted(roots for roots in _term_uses(pool, group) if len(roots) > 1)[:1]


def _spelling(pool: Pool, group: Sequence[int], roots: tuple[str, ...]) -> str:
    """Return how the quotes write a term most often, not counting the capital of a sentence."""
    uses: Counter[str] = Counter()
    for at in group:
        text = pool.quotes[at].text
        for found, written in terms(text):
            if found == roots:
                is_opening = text.startswith(written) and written[1:2].islower()
                uses[written[:1].lower() + written[1:] if is_opening else written] += 1
    return min(uses, key=lambda written: (-uses[written], written))


def spelled(key: str, pool: Pool, places: Sequence[int]) -> str:
    """Return a name as one of its quotes writes it."""
    for at in places:
        text = pool.quotes[at].text
        start = text.casefold().find(key)
        if start >= 0:
            return _capitalised(text[start : start + len(key)])[:_MOST_HEADING]
    return _capitalised(key)[:_MOST_HEADING]


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].isascii() else text
