"""Ranking for questions that no single passage answers: from passage to passage over names.

"Where was the director of La Yuma born?" needs two: the passage that says who directed it, and the
one about her. Ordinary search finds the first. From the best passages of that search this module
goes to the passages about what they name, rather along names that stand where the question points,
and puts both kinds in one order. No model is asked: it is arithmetic on what ordinary search, the
graph and the texts say, and the same input gives the same order.

Invariants: with a graph that knows none of the passages, the order is that of ordinary search; no
passage outside the allowed cards is returned, followed, or named as the source of a hop.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

from salon.core.indexes import Cards, PassageId
from salon.retrieval.graph.adjacency import DAMPING, Adjacency
from salon.retrieval.graph.cues import relevance
from salon.retrieval.graph.entity_graph import EntityGraph
from salon.retrieval.graph.mentions import PassageMention
from salon.retrieval.graph.names import NameWords, name_words
from salon.retrieval.graph.questions import Question, read_question

Scored: TypeAlias = Sequence[tuple[PassageId, float]]
"""Passages with scores on any scale, best first; only their order counts here."""
Read: TypeAlias = Callable[[PassageId], str | None]
"""Returns the text of a passage, `None` if it is gone."""
Key = TypeVar("Key", PassageId, NameWords)
Search: TypeAlias = Callable[[str, int], Scored]
"""Searches once more, for a name; the words alone will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HopSettings:
    """What each sign counts for, beside a place in ordinary search that counts up to 1.

    Chosen on 2WikiMultihopQA, where recall hardly moves when any of them is halved or doubled.
    """

    half: float = 2.0
    """The place in ordinary search, from 0, that counts half of the first."""
    named: float = 1.0
    """That a passage is about what the question names."""
    even: float = 1.0
    """How far the best passages for each name of a question are made equals."""
    follow: int = 8
    """How many passages are followed to what they name."""
    linked: float = 1.0
    """That another passage leads here."""
    unasked: float = 0.4
    """What a link counts for when nothing around the name answers to the question."""
    focus: float = 3.0
    """How many cues a question may have before its links count for less."""
    crowd: float = 0.3
    """How much less each counts of several passages that a name may lead to."""
    beside: float = 0.8
    """What a link counts for to a passage that only names the same, where few say their subject."""
    searches: int = 3
    """How many names are searched for, where few passages say their subject."""
    ranked: float = 0.2
    """That PageRank leads here."""
    ranks: int = 100
    """How many passages PageRank may bring in."""


DEFAULT_HOPS = HopSettings()
_RESULTS_PER_SEARCH = 3
_MOST_BESIDE = 20
"""A name that more passages share leads nowhere in particular."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """How a passage was reached: from which other one, over which name, how surely."""

    source: PassageId
    name: str
    strength: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HopPassage:
    """A passage with its score; `hop` says which other passage leads to it, if one does."""

    id: PassageId
    score: float
    hop: Hop | None


def rank_over_hops(
    question: str,
    found: Scored,
    *,
    graph: EntityGraph,
    read: Read,
    search: Search | None = None,
    cards: Cards = None,
    settings: HopSettings = DEFAULT_HOPS,
) -> list[HopPassage]:
    """Return the passages of ordinary search and those that they lead to, best first."""
    walk = _Walk(question, found, graph=graph, read=read, cards=cards, settings=settings)
    hops = walk.links()
    if search is not None:
        walk.search_on(search, hops)
    ranks = walk.ranks()
    first = walk.first
    score = {
        id_: first.get(id_, 0.0)
        + settings.linked * (hops[id_].strength if id_ in hops else 0.0)
        + settings.ranked * ranks.get(id_, 0.0)
        for id_ in walk.allowed([*first, *hops, *ranks])
    }
    place = {id_: number for number, (id_, _) in enumerate(found)}
    order = sorted(score, key=lambda id_: (-score[id_], place.get(id_, len(place)), id_))
    return [HopPassage(id=id_, score=score[id_], hop=hops.get(id_)) for id_ in order]


class _Walk:
    """One question on its way through the graph."""

    def __init__(
        self,
        question: str,
        found: Scored,
        *,
        graph: EntityGraph,
        read: Read,
        cards: Cards,
        settings: HopSettings,
    ) -> None:
        self._graph = graph
        self._adjacency: Adjacency = graph.adjacency()
        self._read = read
        self._cards = cards
        self._settings = settings
        self._plain = _by_place(found, settings.half)
        self._asked: Question = read_question(
            question, lambda name: bool(self._adjacency.subjects.exact(name))
        )
        self._untold = 1 - self._adjacency.told

    def allowed(self, passages: Iterable[PassageId]) -> list[PassageId]:
        """Return each of these passages once, without those of other cards."""
        distinct = list(dict.fromkeys(passages))
        if self._cards is None:
            return distinct
        cards = self._graph.cards_of(id_ for id_ in distinct if id_ not in self._plain)
        return [id_ for id_ in distinct if id_ in self._plain or cards.get(id_) in self._cards]

    # Where the walk begins

    @cached_property
    def first(self) -> dict[PassageId, float]:
        """What passages deserve without hops: at most 1, and 1 for the best one for each name."""
        plain = self._plain
        by_name = {
            name: {
                id_: plain.get(id_, 0.0) + self._settings.named * counts * likeness
                for id_, likeness in self._about(name).items()
            }
            for name, counts in self._asked.names.items()
        }
        best = max((max(some.values()) for some in (plain, *by_name.values()) if some), default=1.0)
        first = {id_: score / best for id_, score in plain.items()}
        for name, scores in by_name.items():
            most = max(scores.values(), default=1.0)
            # A question that names two things asks for both; neither may stand in the shadow of
            # the other because its name has fewer or more common words.
            even = self._settings.even
            lift = self._asked.names[name] * (even + (1 - even) * most / best)
            for id_, score in scores.items():
                first[id_] = max(first.get(id_, 0.0), score / most * lift)
        return first

    def _about(self, name: NameWords) -> dict[PassageId, float]:
        """Return the passages about what may have this name, with how far it may."""
        about: dict[PassageId, float] = {}
        for entity, likeness in self._adjacency.subjects.find(name).items():
            for id_ in self._adjacency.passages_about(entity):
                about[id_] = max(likeness, about.get(id_, 0.0))
        return {id_: about[id_] for id_ in self.allowed(about)}

    @cached_property
    def _sources(self) -> dict[PassageId, float]:
        """The passages that are followed."""
        best = sorted(self.first, key=lambda id_: (-self.first[id_], id_))
        return {id_: self.first[id_] for id_ in best[: self._settings.follow]}

    @cached_property
    def _leads(self) -> list[tuple[PassageId, PassageMention, NameWords, float]]:
        """What the sources name and the question does not, with how far it is asked for."""
        return list(self._walk_leads())

    def _walk_leads(self) -> Iterator[tuple[PassageId, PassageMention, NameWords, float]]:
        unasked = self._settings.unasked
        named = self._asked.named_words
        # The more a question says besides names, the more likely one search answers it, and the
        # less it means that one of its words stands near a name.
        focus = min(1.0, self._settings.focus / max(1, len(self._asked.cues)))
        for source, mentions in self._graph.mentions_in(self._sources).items():
            text = self._read(source)
            if text is None:
                continue
            for mention in mentions:
                words = name_words(mention.name)
                if not words or named.issuperset(words):
                    continue
                asked = relevance(text, mention, self._asked.cues)
                yield source, mention, words, focus * (unasked + (1 - unasked) * asked)

    # Where it leads

    def links(self) -> dict[PassageId, Hop]:
        """Return the strongest hop to each passage that the sources lead to."""
        hops: dict[PassageId, Hop] = {}
        for source, mention, words, asked in self._leads:
            about = self._about(words) or self._beside(mention)
            about.pop(source, None)
            crowd = 1 + self._settings.crowd * (len(about) - 1)
            for id_, likeness in about.items():
                strength = self._sources[source] * asked * likeness / crowd
                _keep(hops, id_, Hop(source=source, name=mention.name, strength=strength))
        return hops

    def _beside(self, mention: PassageMention) -> dict[PassageId, float]:
        """Return passages that name the same.

        Where passages say what they are about, a name that none is about leads nowhere; where they
        do not, this is all there is.
        """
        entity = self._adjacency.find_entity(mention.key)
        share = self._settings.beside * self._untold
        if entity is None or not share:
            return {}
        naming = self._adjacency.passages_naming(entity)
        return dict.fromkeys(self.allowed(naming), share) if len(naming) <= _MOST_BESIDE else {}

    def search_on(self, search: Search, hops: dict[PassageId, Hop]) -> None:
        """Add hops to what a search finds for names that the graph has no passage about."""
        wanted: dict[NameWords, Hop] = {}
        for source, mention, words, asked in self._leads:
            if len(words) > 1 and not self._about(words):
                strength = self._sources[source] * asked
                _keep(wanted, words, Hop(source=source, name=mention.name, strength=strength))
        most = round(self._settings.searches * self._untold)
        best = sorted(wanted.items(), key=lambda entry: (-entry[1].strength, entry[0]))[:most]
        for words, hop in best:
            for rank, (id_, _) in enumerate(search(hop.name, _RESULTS_PER_SEARCH), start=1):
                text = self._read(id_)
                if id_ in self._sources or text is None:
                    continue
                there = set(name_words(text))
                share = sum(word in there for word in words) / len(words) / rank
                strength = hop.strength * share * (0.5 + 0.4 * self._untold)
                _keep(hops, id_, Hop(source=hop.source, name=hop.name, strength=strength))

    def ranks(self) -> dict[PassageId, float]:
        """Return PageRank beyond what passages have as seeds, the best of them 1."""
        if not self._settings.ranked:
            return {}
        seeds = {id_: score**2 for id_, score in self._sources.items()}
        total = sum(seeds.values())
        ranks = self._graph.passage_ranks(seeds, limit=self._settings.ranks)
        for id_ in seeds.keys() & ranks.keys():
            ranks[id_] -= (1 - DAMPING) * seeds[id_] / total
        most = max(ranks.values(), default=0.0)
        return {id_: rank / most for id_, rank in ranks.items()} if most > 0 else {}


def _by_place(found: Scored, half: float) -> dict[PassageId, float]:
    """Return 1 for the first passage and less for each after it, half at place `half`."""
    return {id_: 1 / (1 + place / half) for place, (id_, _) in enumerate(found)}


def _keep(hops: dict[Key, Hop], key: Key, hop: Hop) -> None:
    """Put a hop down if it is stronger than the one there."""
    if key not in hops or hops[key].strength < hop.strength:
        hops[key] = hop
