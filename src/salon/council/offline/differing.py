"""The section of a draft that says where sources contradict each other: both sides, one by one."""

from collections.abc import Mapping, Sequence

from salon.council.drafts import Sentence
from salon.council.offline.arranging import Chosen
from salon.council.offline.conflicts import groups_of
from salon.council.offline.features import Matrix
from salon.council.offline.pool import ON_TOPIC, Pool
from salon.council.offline.strategies import Feature, Order, Strategy
from salon.council.rounds import Failing

DIFFER_HEADING = "Differing accounts"
QUESTION = "What is not settled?"
FIRST_SIDE, OTHER_SIDE = "One source puts it this way:", "Another source adds:"
MOST_GROUPS, MOST_SIDES = 3, 4
"""Points of difference, and the sides of one, that a draft tells."""


def differing(
    pool: Pool, scores: Matrix, strategy: Strategy, without: Sequence[Failing] = ()
) -> list[Chosen]:
    """Return the section on what sources contradict each other in, if a seat says it at all.

    Its words around the quotes are English, so a text in another language has none.
    """
    if not strategy.says_conflicts or pool.language is not None:
        return []
    groups = sorted(_groups(pool, scores, without), key=lambda group: (-max(scores[group]), group))[
        :MOST_GROUPS
    ]
    if not groups:
        return []
    # Seats with the same sides tell them in another order, or their texts would be one text.
    turn = list(Order).index(strategy.order) if strategy.order is not None else 0
    first = (turn // 2) % len(groups)
    places: list[int] = []
    for group in (*groups[first:], *groups[:first]):
        begin = turn % len(group)
        places += (*group[begin:], *group[:begin])
    return [Chosen(heading=DIFFER_HEADING, places=tuple(places), question=QUESTION)]


def in_turn(
    pool: Pool, section: Chosen, said: Mapping[int, Sentence]
) -> list[tuple[Sentence, ...]]:
    """Return the paragraphs of such a section: who says this, who says that."""
    paragraphs: list[tuple[Sentence, ...]] = [(Sentence(text=section.question or QUESTION),)]
    group_of = {at: n for n, group in enumerate(groups_of(pool.conflicts)) for at in group}
    before: int | None = None
    for at in section.places:
        group = group_of.get(at)
        is_other = group is not None and group == before
        paragraphs += [(Sentence(text=OTHER_SIDE if is_other else FIRST_SIDE),), (said[at],)]
        before = group
    return paragraphs


def _groups(pool: Pool, scores: Matrix, without: Sequence[Failing]) -> list[list[int]]:
    """Return what may be told of each difference: the best sentence of each source, best first."""
    relevant = pool.features[Feature.RELEVANCE]
    found = []
    for group in groups_of(pool.conflicts):
        by_source: dict[str, int] = {}
        for at in sorted(group, key=lambda at: (-scores[at], pool.quotes[at].place)):
            if relevant[at] >= ON_TOPIC and not is_sent_back(pool.quotes[at].text, without):
                by_source.setdefault(pool.quotes[at].document, at)
        first = next(iter(by_source.values()), None)
        sides = [
            at
            for at in by_source.values()
            if at == first or (min(at, first or 0), max(at, first or 0)) in pool.conflicts
        ]
        if len(sides) > 1:
            found.append(sides[:MOST_SIDES])
    return found


def is_sent_back(text: str, failings: Sequence[Failing]) -> bool:
    """Tell whether the checks sent this sentence back."""
    folded = " ".join(text.split())
    return any(
        failing.excerpt and (folded.startswith(failing.excerpt) or failing.excerpt in folded)
        for failing in failings
    )
