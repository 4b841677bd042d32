"""Headings: what the quotes of a section have in common, in words that they use themselves."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from salon.council.offline.cues import BEFORE_A_NOUN, NOT_A_HEADING
from salon.council.offline.pool import Pool
from salon.council.offline.words import is_shared, stem, telling_words, terms, title_of, words

_MOST_TRIED = 6
"""Terms that are tried beside the best one, whether a source joins them."""
_JOINED = r"(?:and|or|of|of the|in|in the|for|for the|to the|between)"
_PAIR = 1.6
"""How much more a heading says with two words than with one."""
_MOST_HEADING = 60


def heading_of(title: str) -> str:
    """Return a title or a topic as a heading."""
    return title_of(title, _MOST_HEADING)


def headings(
    pool: Pool,
    groups: Sequence[Sequence[int]],
    *,
    is_whole: bool = True,
    taken: Sequence[str] = (),
) -> list[str]:
    """Name each group by what several of its quotes have and the other groups do not.

    A heading that is not whole goes on from other words, so it begins with a small letter. No two
    share a word, nor does one with those that are taken.
    """
    uses = [_term_uses(pool, group) for group in groups]
    spread = Counter(roots for used in uses for roots in used)
    known = {root for heading in taken for root in telling_words(heading)}
    named: list[str] = []
    for group, used in zip(groups, uses, strict=True):
        worth = {
            roots: len(where)
            / len(group)
            * math.log(1 + len(groups) / spread[roots])
            * (_PAIR if len(roots) > 1 else 1.0)
            for roots, where in used.items()
            if len(where) > 1 and _is_free(roots, known, pool)
        }
        heading = _heading(pool, group, worth, known)
        if heading.casefold() in {one.casefold() for one in (*taken, *named)}:
            heading = f"more on {heading}"[:_MOST_HEADING]
        known |= set(telling_words(heading))
        named.append(_capitalised(heading) if is_whole else heading)
    return named


def share_a_name(one: str, other: str, pool: Pool) -> bool:
    """Tell whether two headings name the same, apart from endings and words of the topic."""
    first, second = (
        {root for root in telling_words(text) if not is_shared(root, pool.topic_stems)}
        for text in (one, other)
    )
    if not first or not second:
        return first == second
    return all(is_shared(root, second) for root in first) or all(
        is_shared(root, first) for root in second
    )


def _is_free(roots: Sequence[str], known: Collection[str], pool: Pool) -> bool:
    """Tell whether no other heading has one of these words; the topic's own may come again."""
    return not any(
        is_shared(root, known) for root in roots if not is_shared(root, pool.topic_stems)
    )


def _term_uses(pool: Pool, group: Sequence[int]) -> dict[tuple[str, ...], set[int]]:
    """Return the terms of a group that name something and do not only describe the next word.

    The topic's own are not among them, nor is what is not English: how it names things is unknown.
    """
    nouns: set[str] = set()
    uses: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for at in group:
        if pool.quotes[at].language is not None:
            continue
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
            if is_named and not is_topic:
                uses[roots].add(at)
    return {roots: where for roots, where in uses.items() if roots[0] in nouns}


def _heading(
    pool: Pool,
    group: Sequence[int],
    worth: Mapping[tuple[str, ...], float],
    known: Collection[str],
) -> str:
    """Return a phrase that a source has, of one term or of the two that are worth most."""
    ranked = sorted(worth, key=lambda one: (-worth[one], one))
    if not ranked:
        return _least_heading(pool, group, known)
    first = ranked[0]
    for second in ranked[1:_MOST_TRIED]:
        phrase = _phrase(pool, group, first, second)
        if phrase is not None and len(phrase) <= _MOST_HEADING:
            return phrase
    return heading_of(_spelling(pool, group, first))


def _phrase(
    pool: Pool, group: Sequence[int], first: tuple[str, ...], second: tuple[str, ...]
) -> str | None:
    """Return how one of the quotes joins two terms, if one does."""
    if set(first) & set(second):
        return None
    for at in group:
        text = pool.quotes[at].text
        spelled = list(terms(text))
        for one, other in ((first, second), (second, first)):
            for before in (written for roots, written in spelled if roots == one):
                for after in (written for roots, written in spelled if roots == other):
                    found = re.search(
                        rf"\b{re.escape(before)} {_JOINED} {re.escape(after)}\b", text
                    )
                    if found is not None:
                        return _as_inside(found[0], text)
    return None


def _least_heading(pool: Pool, group: Sequence[int], known: Collection[str]) -> str:
    """Return a thing of two words that one of its quotes names, else what the topic is called.

    The topic's own word alone says nothing that the title does not say.
    """
    uses = _term_uses(pool, group)
    free = [roots for roots in uses if len(roots) > 1 and _is_free(roots, known, pool)]
    if free:
        # What others name too is a thing; what one sentence alone puts so is mostly a manner.
        best = min(free, key=lambda roots: (-_spread(pool, roots), roots))
        return heading_of(_spelling(pool, group, best))
    return heading_of(pool.topic)


def _spread(pool: Pool, roots: Sequence[str]) -> int:
    return sum(one.traits.stems.issuperset(roots) for one in pool.quotes)


def _spelling(pool: Pool, group: Sequence[int], roots: tuple[str, ...]) -> str:
    """Return how the quotes write a term most often, not counting the capital of a sentence."""
    uses: Counter[str] = Counter()
    for at in group:
        text = pool.quotes[at].text
        for found, written in terms(text):
            if found == roots:
                uses[_as_inside(written, text)] += 1
    return min(uses, key=lambda written: (-uses[written], written))


def _as_inside(written: str, text: str) -> str:
    """Return words as they would stand inside a sentence."""
    is_opening = text.startswith(written) and written[1:2].islower()
    return written[:1].lower() + written[1:] if is_opening else written


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
