"""What the archive holds on a topic: the sentences that a chapter could quote, weighed once.

A topic is searched for, then once more together with each of the terms that its best passages
share. Sentences that say the same count once, the one from the better passage.

In a small library few sentences name the topic. Where a passage is clearly about it all the same,
weaker passages are looked at too, and a sentence counts for what the text around it is about.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from salon.core.errors import NotFound
from salon.council.drafts import Sentence
from salon.council.offline.conflicts import conflicts_among
from salon.council.offline.features import Closeness, Matrix, features_of, topic_share
from salon.council.offline.sources import Quote, Sources
from salon.council.offline.strategies import Feature
from salon.council.offline.words import is_shared, overlap, terms, topic_words

if TYPE_CHECKING:
    from salon.core.embedding import Vectors
    from salon.corpus.search import FoundPassage

NAMES_NOTHING = "the topic names nothing to look for"
FIRST_SEARCH, MORE_SEARCHES, NEXT_SEARCH = 40, 6, 12
"""Passages of the first search, further searches, and passages of each."""
MOST_QUOTES = 240
IMPORTANT_TERMS = 12
SAME_WORDS = 0.6
"""Sentences that share so many of their words say the same."""
ON_TOPIC = 0.5
"""Relevance from which a sentence has to do with the topic."""
FEW_QUOTES = 16
"""Sentences on the topic with which there is a choice; with fewer, the text around counts too."""
_WEAK_PASSAGE, _WEAKEST_PASSAGE = 0.02, 0.005
"""Below this probability a passage is not looked at; the second is for small libraries."""
_CLEAR = 0.5
"""A passage is clearly relevant from this probability on."""
_ITSELF = 0.1
"""How close to a topic a sentence must be before the text around it counts."""
_MOST_LENT = 0.6
"""What the text around can make of a sentence at most: on the topic, but not the heart of it."""


WORDS = Closeness(unrelated=0.0, near=0.3, same=0.75)
"""For vectors of words."""
UNRELATED = (
    "The ferry to the island leaves at noon.",
    "Copper expands when it is heated.",
    "Her grandmother kept bees behind the church.",
    "The court ruled that the contract was void.",
    "Seven is a prime number.",
    "Snow closed the mountain pass in March.",
    "The violin was tuned a little too high.",
    "Wheat prices fell after a good harvest.",
)
"""Sentences that have nothing in common: how close a model puts them is its noise."""
_NEAR, _SAME = 0.46, 0.86
"""How far from noise to identity vectors of the same matter, and of the same statement, are."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word or two that the passages on a topic share: its stems and a spelling."""

    stems: tuple[str, ...]
    spelling: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The quotes on a topic, best first, with their vectors and features by row."""

    topic: str
    topic_stems: tuple[str, ...]
    quotes: tuple[Quote, ...]
    vectors: "Vectors"
    features: dict[Feature, Matrix]
    important: tuple[Term, ...]
    closeness: Closeness
    reads_around: bool = False
    """Whether a sentence counts for what the text around it is about, since there are so few."""
    language: str | None = None
    """What most of the texts on the topic are written in, where that is not English."""
    conflicts: frozenset[tuple[int, int]] = frozenset()
    """Places of quotes that contradict each other."""
    torn: frozenset[int] = field(init=False)
    """Places of quotes that some other source contradicts."""

    def __post_init__(self) -> None:
        torn = frozenset(at for pair in self.conflicts for at in pair)
        object.__setattr__(self, "torn", torn)

    def relevance(self, said: Sequence[Sentence], sources: Sources) -> Matrix:
        """Return how much each of some sentences has to do with the topic, from 0 to 1."""
        return relevance(
            said,
            sources,
            self.topic,
            self.topic_stems,
            self.closeness,
            reads_around=self.reads_around,
        )


def gather(sources: Sources, topic: str, *, width: int = 0) -> Pool:
    """Return what the archive holds on a topic; a greater `width` looks further."""
    if not topic_words(topic):
        raise NotFound(NAMES_NOTHING, hint="name the thing that the chapter is to be about")
    first = sources.find(topic, FIRST_SEARCH * (1 + width))
    language = _language_of(sources, first)
    topic_stems = topic_words(topic, language)
    pool = _weigh(sources, topic, topic_stems, _found(sources, topic, topic_stems, width))
    pool = replace(pool, language=language)
    on_topic = int((pool.features[Feature.RELEVANCE] >= ON_TOPIC).sum())
    if on_topic >= FEW_QUOTES or not any(one.score >= _CLEAR for one in first):
        return pool
    more = _found(sources, topic, topic_stems, width, least=_WEAKEST_PASSAGE)
    wider = _weigh(sources, topic, topic_stems, more, reads_around=True)
    return replace(wider, language=language)


def _language_of(sources: Sources, passages: "Sequence[FoundPassage]") -> str | None:
    """Return what more than half of some passages are written in, if that is not English."""
    told = Counter(sources.language_of(one.hash) for one in passages)
    language, count = max(told.items(), key=lambda one: one[1], default=(None, 0))
    return language if 2 * count > len(passages) else None


def says_of_what(quote: Quote, topic_stems: Sequence[str]) -> bool:
    """Tell whether a sentence says what it speaks of, as far as that can be seen.

    What leans on the sentence before is known in English alone. Elsewhere `it` may mean anything,
    so only a sentence counts that names a word of the topic itself.
    """
    return quote.language is None or topic_share(quote.text, topic_stems) > 0


def _found(
    sources: Sources,
    topic: str,
    topic_stems: tuple[str, ...],
    width: int,
    least: float = _WEAK_PASSAGE,
) -> list[Quote]:
    """Return the quotes of all searches, each once."""
    first = _quotes_for(sources, topic, FIRST_SEARCH * (1 + width), least)
    found = {one.place: one for one in first}
    for term in _shared_terms(first, topic_stems)[: MORE_SEARCHES + 2 * width]:
        for one in _quotes_for(sources, f"{topic} {term.spelling}", NEXT_SEARCH, least):
            found.setdefault(one.place, one)
    return [one for one in found.values() if says_of_what(one, topic_stems)]


def closeness_of(sources: Sources) -> Closeness:
    """Return the scale of the vectors in use, since every embedder has its own."""
    vectors = sources.vectors(UNRELATED)
    if not sources.has_meaning:
        return WORDS
    cosines = (vectors @ vectors.T)[~np.eye(len(UNRELATED), dtype=bool)]
    noise = min(0.9, float(cosines.mean() + cosines.std()))
    return Closeness(
        unrelated=noise, near=noise + _NEAR * (1 - noise), same=noise + _SAME * (1 - noise)
    )


def relevance(
    said: Sequence[Sentence | Quote],
    sources: Sources,
    topic: str,
    topic_stems: Sequence[str],
    closeness: Closeness,
    *,
    reads_around: bool,
) -> Matrix:
    """Return how much sentences have to do with a topic, by themselves or by where they stand.

    In a text about a thing few sentences name it again. One that has something to do with the topic
    itself may therefore count by the text around it too; one that has nothing to do with it not.
    """
    texts = [one.text for one in said]
    around = [sources.context_of(one) for one in said] if reads_around else []
    vectors = sources.vectors([topic, *texts, *around])
    close = closeness_to_topic([*texts, *around], vectors[1:] @ vectors[0], topic_stems, closeness)
    own = close[: len(texts)]
    if not reads_around:
        return own
    lent = np.minimum((own + close[len(texts) :]) / 2, _MOST_LENT)
    both: Matrix = np.where(own >= _ITSELF, np.maximum(own, lent), own)
    return both


def closeness_to_topic(
    texts: Sequence[str], cosines: "Vectors", topic_stems: Sequence[str], closeness: Closeness
) -> Matrix:
    """Return how close texts are to a topic: half by meaning, half by its words."""
    meant = (cosines - closeness.unrelated) / (closeness.near - closeness.unrelated)
    said = np.array([topic_share(text, topic_stems) for text in texts])
    both: Matrix = np.clip(0.5 * np.clip(meant, 0, 1) + 0.5 * said, 0, 1).astype(float)
    return both


def _quotes_for(sources: Sources, query: str, limit: int, least: float) -> list[Quote]:
    passages = [one for one in sources.find(query, limit) if one.score >= least]
    return [quote for passage in passages for quote in sources.quotes_of(passage)]


def _shared_terms(quotes: Sequence[Quote], topic_stems: Sequence[str]) -> list[Term]:
    """Return the terms that most documents share, apart from the topic's own words."""
    documents: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    spellings: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    weight: Counter[tuple[str, ...]] = Counter()
    for quote in quotes:
        for roots, spelling in dict(terms(quote.text)).items():
            if not all(is_shared(root, topic_stems) for root in roots):
                documents[roots].add(quote.document)
                spellings[roots][spelling] += 1
    for roots, named in documents.items():
        if len(named) > 1:
            weight[roots] = len(named) * (3 if len(roots) > 1 else 2)
    chosen: list[Term] = []
    for roots in sorted(weight, key=lambda one: (-weight[one], one)):
        if all(set(roots).isdisjoint(known.stems) for known in chosen):
            used = sorted((-count, text) for text, count in spellings[roots].items())
            chosen.append(Term(roots, used[0][1]))
    return chosen


def _weigh(
    sources: Sources,
    topic: str,
    topic_stems: tuple[str, ...],
    quotes: Sequence[Quote],
    *,
    reads_around: bool = False,
) -> Pool:
    """Return the pool of the best quotes, those that say the same left out."""
    everything = assemble(sources, topic, topic_stems, quotes, reads_around=reads_around)
    value = everything.features[Feature.RELEVANCE]
    order = sorted(range(len(quotes)), key=lambda at: (-value[at], quotes[at].place))
    kept = _without_repeats(order, everything)
    best = [quotes[at] for at in kept[:MOST_QUOTES]]
    return assemble(sources, topic, topic_stems, best, reads_around=reads_around)


def assemble(
    sources: Sources,
    topic: str,
    topic_stems: tuple[str, ...],
    quotes: Sequence[Quote],
    *,
    reads_around: bool = False,
) -> Pool:
    """Return a pool of exactly these quotes, in this order."""
    around = [sources.context_of(one) for one in quotes] if reads_around else []
    texts = [one.text for one in quotes]
    sources.vectors([topic, *texts, *around])  # from here on all vectors are of one kind
    vectors = sources.vectors([topic, *texts])[1:]
    closeness = closeness_of(sources)
    relevant = relevance(quotes, sources, topic, topic_stems, closeness, reads_around=reads_around)
    passage = np.clip(np.array([one.score for one in quotes]) / _CLEAR, 0, 1)
    value = 0.7 * relevant + 0.3 * passage
    if reads_around:
        value = np.maximum(value, np.minimum(relevant, _MOST_LENT))
    return Pool(
        topic=topic,
        topic_stems=topic_stems,
        quotes=tuple(quotes),
        vectors=vectors,
        features=features_of(quotes, vectors, value, topic_stems, closeness),
        important=tuple(_shared_terms(quotes[: MOST_QUOTES // 3], topic_stems)[:IMPORTANT_TERMS]),
        closeness=closeness,
        reads_around=reads_around,
        conflicts=conflicts_among(quotes, [int(at) for at in (value >= ON_TOPIC).nonzero()[0]]),
    )


def extended(pool: Pool, sources: Sources, quotes: Sequence[Quote]) -> Pool:
    """Return a pool that has these quotes too, after its own."""
    known = {one.place for one in pool.quotes}
    new = [one for one in dict.fromkeys(quotes) if one.place not in known]
    if not new:
        return pool
    both = [*pool.quotes, *new]
    larger = assemble(sources, pool.topic, pool.topic_stems, both, reads_around=pool.reads_around)
    return replace(larger, important=pool.important, language=pool.language)


def _without_repeats(order: Sequence[int], pool: Pool) -> list[int]:
    """Return the places of quotes in order, without those that say what a better one says.

    What contradicts the better one is no repeat of it, however alike the words are.
    """
    quotes = pool.quotes
    kept: list[int] = []
    for at in order:
        cosines = pool.vectors[kept] @ pool.vectors[at] if kept else ()
        is_new = all(
            (
                cosine < pool.closeness.same
                and overlap(quotes[at].traits.stems, quotes[known].traits.stems) < SAME_WORDS
            )
            or (min(at, known), max(at, known)) in pool.conflicts
            for known, cosine in zip(kept, cosines, strict=True)
        )
        if is_new:
            kept.append(at)
    return kept
