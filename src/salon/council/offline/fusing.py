"""Joining two drafts: the sections of both, each sentence once, the best of both for a section."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from salon.council.offline.choosing import choose, scores_for, voiced
from salon.council.offline.composing import Taken, take_apart
from salon.council.offline.cues import ROLE_HEADINGS
from salon.council.offline.differing import DIFFER_HEADING, differing, is_sent_back
from salon.council.offline.headings import share_a_name
from salon.council.offline.measuring import ENOUGH_SECTIONS
from salon.council.offline.outline import FEWEST, Planned, plan_sections, progress
from salon.council.offline.pool import ON_TOPIC, SAME_WORDS, Pool
from salon.council.offline.sources import Sources
from salon.council.offline.strategies import STRATEGIES, Feature, Plan, Strategy
from salon.council.offline.words import overlap
from salon.council.rounds import Failing
from salon.council.seats import Seat

MOST_SECTIONS, PER_SECTION, PER_DOCUMENT = 5, 5, 3
_BY_ROLE = tuple(ROLE_HEADINGS.values())
_SAME_SECTION = 1.4
"""How alike sections are that must become one."""


def fuse(
    drafts: Sequence[str],
    pool: Pool,
    sources: Sources,
    seats: Sequence[Seat],
    *,
    without: Sequence[Failing] = (),
) -> list[Taken]:
    """Join drafts by what their authors weigh, in a few ways; which is best the caller measures.

    In whichever order they come, it is the same. The first way plans anew over the sections of
    all; the others keep one draft as it is and put what the others add into its sections.
    """
    strategy = shared_strategy(seats)
    apart: list[tuple[Planned, ...]] = []
    for markdown in sorted(drafts):
        taken = take_apart(markdown, pool, sources)
        pool = taken.pool  # it only grows at the end, so places stay what they are
        apart.append(
            tuple(
                Planned(heading=one.heading, places=one.places, question=one.question)
                for one in taken.chosen
                if one.heading != DIFFER_HEADING
            )
        )
    scores = scores_for(pool, strategy.weights)
    last = differing(pool, scores, strategy, without)
    ways = [_planned_anew([one for each in apart for one in each], pool, without)]
    if len(apart) > 1:
        ways += [_grown(own, apart, pool, without) for own in apart]
    return [
        Taken(pool=pool, chosen=(*choose(pool, planned, scores, strategy), *last))
        for planned in ways
    ]


def _planned_anew(
    sections: Sequence[Planned], pool: Pool, without: Sequence[Failing]
) -> list[Planned]:
    own = set(voiced(pool, sorted({at for one in sections for at in one.places})))
    kept = [
        replace(one, places=tuple(at for at in one.places if at in own))
        for one in _each_once(_joined(sections, pool), pool, without)
    ]
    planned = [one for one in kept if len(one.places) >= FEWEST]
    everything = [at for one in kept for at in one.places]
    if len(planned) < ENOUGH_SECTIONS <= len(everything) // FEWEST:
        planned = plan_sections(pool, everything, Plan.THEMES, MOST_SECTIONS - 1)
    planned.sort(key=lambda one: _late(pool, one))
    return planned


def _grown(
    own: Sequence[Planned],
    drafts: Sequence[Sequence[Planned]],
    pool: Pool,
    without: Sequence[Failing],
) -> list[Planned]:
    """Return one draft's sections with what the others add, each where it is nearest."""
    rest = [at for each in drafts if each is not own for one in each for at in one.places]
    everything = (*own, Planned(heading="", places=tuple(dict.fromkeys(rest))))
    *kept, more = _each_once(everything, pool, without)
    kept = [one for one in kept if one.places]
    if not kept:
        return _planned_anew(everything, pool, without)
    centres = [pool.vectors[list(one.places)].mean(axis=0) for one in kept]
    for at in more.places:
        near = [float(pool.vectors[at] @ centre) for centre in centres]
        nearest = near.index(max(near))
        kept[nearest] = replace(kept[nearest], places=(*kept[nearest].places, at))
    return kept


def shared_strategy(seats: Sequence[Seat]) -> Strategy:
    """Return what some seats look for together, each as much as the others."""
    own = [STRATEGIES[seat] for seat in sorted(set(seats))] or list(STRATEGIES.values())
    return Strategy(
        plan=Plan.THEMES,
        weights={
            feature: fmean(one.weights.get(feature, 0.0) for one in own) for feature in Feature
        },
        variety=fmean(one.variety for one in own),
        sections=MOST_SECTIONS,
        per_section=PER_SECTION,
        per_document=PER_DOCUMENT,
        says_conflicts=any(one.says_conflicts for one in own),
    )


def _joined(sections: Sequence[Planned], pool: Pool) -> list[Planned]:
    """Join the two sections that are most alike until few enough are left, and all differ."""
    left = list(sections)
    while len(left) > 1:
        alike, one, other = max(
            (_likeness(pool, left[one], left[other]), -one, -other)
            for one in range(len(left))
            for other in range(one + 1, len(left))
        )
        if alike < _SAME_SECTION and len(left) <= MOST_SECTIONS:
            break
        first, second = left[-one], left[-other]
        left[-one] = replace(
            first,
            places=tuple(dict.fromkeys((*first.places, *second.places))),
            question=first.question or second.question,
        )
        del left[-other]
    return left


def _likeness(pool: Pool, one: Planned, other: Planned) -> float:
    """Return how alike two sections are: 1 and more where they share name or most sentences."""
    if _are_called_alike(one.heading, other.heading, pool):
        return 2.0
    first, second = set(one.places), set(other.places)
    shared = len(first & second) / min(len(first), len(second))
    near = pool.vectors[list(first)].mean(axis=0) @ pool.vectors[list(second)].mean(axis=0)
    return 2 * shared + 0.5 * float(near)


def _are_called_alike(one: str, other: str, pool: Pool) -> bool:
    if one.startswith(_BY_ROLE) or other.startswith(_BY_ROLE):
        return one.casefold() == other.casefold()
    return share_a_name(one, other, pool)


def _each_once(
    sections: Sequence[Planned], pool: Pool, without: Sequence[Failing]
) -> list[Planned]:
    """Leave out what repeats, what was sent back, and what has nothing to do with the topic."""
    kept: list[int] = []
    cleaned = []
    for section in sections:
        own = []
        for at in section.places:
            if _is_wanted(pool, at, kept, without):
                kept.append(at)
                own.append(at)
        cleaned.append(replace(section, places=tuple(own)))
    return cleaned


def _is_wanted(pool: Pool, at: int, kept: Sequence[int], without: Sequence[Failing]) -> bool:
    quote = pool.quotes[at]
    is_new = all(
        overlap(quote.traits.stems, pool.quotes[known].traits.stems) < SAME_WORDS
        and float(pool.vectors[at] @ pool.vectors[known]) < pool.closeness.same
        for known in kept
    )
    is_on_topic = pool.features[Feature.RELEVANCE][at] >= ON_TOPIC
    return (
        is_new
        and bool(is_on_topic)
        and at not in pool.torn
        and not is_sent_back(quote.text, without)
    )


def _late(pool: Pool, section: Planned) -> tuple[bool, float, tuple[int, ...]]:
    """Return where a section belongs: by its heading if that says so, else by what it does.

    One that asks what is not settled comes last.
    """
    named = [
        float(rank)
        for rank, heading in enumerate(ROLE_HEADINGS.values())
        if section.heading.startswith(heading)
    ]
    return (
        section.question is not None,
        named[0] if named else progress(pool, section.places),
        section.places,
    )
