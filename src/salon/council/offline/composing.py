"""Composing a draft from chosen quotes, and taking one apart into quotes again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from salon.core.hashing import CardHash
from salon.council.cited import read_with_citations
from salon.council.drafts import LINKING, Section, Sentence, write_draft
from salon.council.offline.arranging import Chosen
from salon.council.offline.choosing import choose, paragraphs_of, scores_for, share_of, usable
from salon.council.offline.differing import DIFFER_HEADING, differing, in_turn, is_sent_back
from salon.council.offline.outline import plan_sections
from salon.council.offline.pool import Pool, extended
from salon.council.offline.sources import Quote, Sources
from salon.council.offline.strategies import Strategy
from salon.council.offline.words import title_of
from salon.council.rounds import Failing

MOST_USED = 60
"""Quotes among which a seat chooses."""
_LONGEST_TITLE = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A draft taken apart: its sections as places in a pool that holds all its sentences."""

    pool: Pool
    chosen: tuple[Chosen, ...]


def compose(pool: Pool, strategy: Strategy, *, without: Sequence[Failing] = ()) -> list[Chosen]:
    """Plan sections over the quotes that suit a strategy, and choose what goes into each."""
    scores = scores_for(pool, strategy.weights)
    places = [
        at
        for at in share_of(usable(pool, scores, len(pool.quotes)), strategy.share)[:MOST_USED]
        if not is_sent_back(pool.quotes[at].text, without)
    ]
    planned = plan_sections(pool, places, strategy.plan, strategy.sections)
    chosen = choose(pool, planned, scores, strategy)
    return [*chosen, *differing(pool, scores, strategy, without)]


def written(title: str, pool: Pool, chosen: Sequence[Chosen]) -> str:
    """Return the Markdown of a draft."""
    sections = []
    for one in chosen:
        said = {
            at: Sentence(text=pool.quotes[at].text, citations=pool.quotes[at].citations)
            for at in one.places
        }
        if one.heading == DIFFER_HEADING:
            paragraphs = in_turn(pool, one, said)
        else:
            paragraphs = [tuple(said[at] for at in own) for own in paragraphs_of(one.places)]
            if one.question is not None:
                paragraphs[0] = (Sentence(text=one.question), *paragraphs[0])
        sections.append(Section(heading=one.heading, paragraphs=tuple(paragraphs)))
    named = title_of(title, _LONGEST_TITLE)
    return write_draft(named[:1].upper() + named[1:], sections)


def take_apart(markdown: str, pool: Pool, sources: Sources) -> Taken:
    """Return a draft's sections as places; what nothing proves any more is left out."""
    sections, _ = read_with_citations(markdown, sources.archive)
    quotes = {
        (number, sentence.text): quote
        for number, section in enumerate(sections)
        for paragraph in section.paragraphs
        for sentence in paragraph
        if (quote := sources.find_quote(sentence)) is not None
    }
    known = {(one.citations[0].hash, one.citations[0].start): one for one in pool.quotes}
    same = {key: _known(quote, known) for key, quote in quotes.items()}
    larger = extended(pool, sources, list(same.values()))
    place_of = {quote.place: at for at, quote in enumerate(larger.quotes)}
    chosen = []
    for number, section in enumerate(sections):
        places = [place_of[quote.place] for (at, _), quote in same.items() if at == number]
        if places:
            chosen.append(
                Chosen(
                    heading=section.heading,
                    places=tuple(dict.fromkeys(places)),
                    question=_question(section),
                )
            )
    return Taken(pool=larger, chosen=tuple(chosen))


def _known(quote: Quote, known: Mapping[tuple[CardHash, int], Quote]) -> Quote:
    """Return the pool's own quote where it is the same text, so that its score is known."""
    there = known.get((quote.citations[0].hash, quote.citations[0].start))
    same = there is not None and " ".join(there.text.split()) == " ".join(quote.text.split())
    return there if there is not None and same else quote


def _question(section: Section) -> str | None:
    for paragraph in section.paragraphs[:1]:
        for sentence in paragraph[:1]:
            text = sentence.text.strip()
            return text if text in LINKING and text.endswith("?") else None
    return None
