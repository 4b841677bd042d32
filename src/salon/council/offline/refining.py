"""Refining one's own draft by what peers said, as far as one's own measurements agree.

A critic proposes; nothing is added that the archive does not say, that is off the topic or there
already, and nothing is dropped in which no fault can be measured.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from salon.council.holders import Shown
from salon.council.offline.arranging import Chosen, arranged
from salon.council.offline.choosing import scores_for, usable
from salon.council.offline.composing import Taken, take_apart
from salon.council.offline.differing import DIFFER_HEADING, differing, is_sent_back
from salon.council.offline.features import topic_share
from salon.council.offline.headings import heading_of
from salon.council.offline.measuring import Line, Measured
from salon.council.offline.outline import FEWEST
from salon.council.offline.pool import ON_TOPIC, SAME_WORDS, Pool, extended, says_of_what
from salon.council.offline.reviewing import Wishes, read_wishes
from salon.council.offline.sources import Quote, Sources
from salon.council.offline.strategies import Feature, Strategy
from salon.council.offline.words import overlap
from salon.council.rounds import Failing

MOST_ADDED = 8
MOST_SENTENCES = 24
_ADOPTED = 0.5
"""The share of what peers ask for that a seat takes up: that which it would choose itself."""
_EACH_PEER = 0.1
"""What a sentence gains for each peer that asks for it."""
_SEARCHED = 4
"""Passages looked at for one line of a critique."""
_MEANT = 0.3
"""The share of a line's words that a sentence must have to be what it asks for."""


def refine(
    own: Shown,
    measured: Measured,
    pool: Pool,
    sources: Sources,
    *,
    strategy: Strategy,
    is_again: bool = False,
    without: Sequence[Failing] = (),
) -> Taken:
    """Return a draft with what peers asked for, where it holds.

    Where it is tried again, the best of what the seat itself finds now is proposed too.
    """
    wishes = [read_wishes(critique) for critique in own.critiques]
    asked = _asked_for(wishes, pool, sources)
    if is_again:
        best = usable(pool, scores_for(pool, strategy.weights), MOST_SENTENCES)
        asked.update(pool.quotes[at] for at in best)
    taken = take_apart(own.markdown, extended(pool, sources, list(asked)), sources)
    dropped = _dropped(measured, wishes)
    kept = [
        replace(
            section,
            places=tuple(
                at
                for at in section.places
                if at not in taken.pool.torn
                and taken.pool.quotes[at].text not in dropped
                and not is_sent_back(taken.pool.quotes[at].text, without)
            ),
        )
        for section in taken.chosen
        if section.heading != DIFFER_HEADING
    ]
    room = MOST_SENTENCES - sum(len(section.places) for section in kept)
    new = _best_new(taken.pool, kept, asked, strategy, without)
    # Whoever adopts all that is asked for ends with everybody else's text.
    most = min(room, MOST_ADDED, math.ceil(_ADOPTED * len(new)))
    placed = _placed(taken.pool, kept, new[: max(0, most)])
    scores = scores_for(taken.pool, strategy.weights)
    chosen = (
        *arranged(taken.pool, placed, strategy.order),
        *differing(taken.pool, scores, strategy, without),
    )
    return Taken(pool=taken.pool, chosen=chosen)


def _asked_for(wishes: Sequence[Wishes], pool: Pool, sources: Sources) -> Counter[Quote]:
    """Return the quotes that critics ask for, with how many do."""
    known = {(one.citations[0].hash, one.citations[0].start): one for one in pool.quotes}
    asked: Counter[Quote] = Counter()
    for wish in wishes:
        found: set[Quote] = set()
        for card, start, end in wish.spans:
            quote = sources.find_span(card, start, end)
            if quote is not None and says_of_what(quote, pool.topic_stems):
                found.add(known.get((quote.citations[0].hash, start), quote))
        for words in wish.searches:
            found |= set(_search(words, pool, sources))
        asked.update(found)
    return asked


def _search(words: str, pool: Pool, sources: Sources) -> list[Quote]:
    """Return the sentence that has most of the words a critic uses, if one has enough."""
    wanted = words.split()
    quotes = [
        quote
        for passage in sources.find(f"{pool.topic} {words}", _SEARCHED)
        for quote in sources.quotes_of(passage)
    ]
    fitting = [
        one
        for one in quotes
        if topic_share(one.text, wanted) >= _MEANT and says_of_what(one, pool.topic_stems)
    ]
    return sorted(fitting, key=lambda one: (-topic_share(one.text, wanted), one.place))[:1]


def _dropped(measured: Measured, wishes: Sequence[Wishes]) -> set[str]:
    """Return the sentences that go: critics doubt them, and a fault can be measured."""
    doubted = {number for wish in wishes for number in wish.doubted}
    return {
        line.sentence.text
        for number, line in enumerate(measured.lines, start=1)
        if not line.is_borne_out or (number in doubted and _is_faulty(line))
    }


def _is_faulty(line: Line) -> bool:
    return (
        line.repeats is not None
        or line.leans_on is not None
        or line.relevance < ON_TOPIC
        or line.is_contradicted
    )


def _best_new(
    pool: Pool,
    kept: Sequence[Chosen],
    asked: Counter[Quote],
    strategy: Strategy,
    without: Sequence[Failing],
) -> list[int]:
    """Return the places of what is worth adding, that first which is worth most to the seat."""
    place_of = {quote.place: at for at, quote in enumerate(pool.quotes)}
    scores = scores_for(pool, strategy.weights)
    there = [at for section in kept for at in section.places]
    wanted = {place_of[quote.place]: count for quote, count in asked.items()}
    worth = {at: float(scores[at]) + _EACH_PEER * count for at, count in wanted.items()}
    new: list[int] = []
    for at in sorted(wanted, key=lambda at: (-worth[at], pool.quotes[at].place)):
        is_on_topic = pool.features[Feature.RELEVANCE][at] >= ON_TOPIC
        is_refused = is_sent_back(pool.quotes[at].text, without)
        is_voiced = pool.features[Feature.OWN_VOICE][at] > 0
        is_wanted = is_on_topic and is_voiced and not is_refused and at not in pool.torn
        if is_wanted and not _is_there(pool, at, (*there, *new)):
            new.append(at)
    return new


def _is_there(pool: Pool, at: int, places: Sequence[int]) -> bool:
    stems = pool.quotes[at].traits.stems
    return any(
        at == known
        or float(pool.vectors[at] @ pool.vectors[known]) >= pool.closeness.same
        or overlap(stems, pool.quotes[known].traits.stems) >= SAME_WORDS
        for known in places
    )


def _placed(pool: Pool, sections: Sequence[Chosen], new: Sequence[int]) -> list[Chosen]:
    """Put each new quote into the section it is nearest to; sections that became bare join one."""
    kept = [section for section in sections if len(section.places) >= FEWEST]
    loose = [at for section in sections if len(section.places) < FEWEST for at in section.places]
    if not kept:
        everything = [*loose, *new]
        heading = sections[0].heading if sections else heading_of(pool.topic)
        return [Chosen(heading=heading, places=tuple(everything))] if everything else []
    centres = [pool.vectors[list(section.places)].mean(axis=0) for section in kept]
    places = [list(section.places) for section in kept]
    for at in (*loose, *new):
        nearest = int(np.argmax([float(pool.vectors[at] @ centre) for centre in centres]))
        places[nearest].append(at)
    return [replace(section, places=tuple(own)) for section, own in zip(kept, places, strict=True)]
