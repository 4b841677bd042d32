"""From passage to passage over names: what a question needs beside what it names."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.core.hashing import CardHash, content_hash
from salon.core.indexes import PassageId, passage_id
from salon.retrieval.graph.entity_graph import EntityGraph
from salon.retrieval.graph.multihop import (
    DEFAULT_HOPS,
    HopPassage,
    HopSettings,
    Scored,
    rank_over_hops,
)

FILM = "Silent Harbour is a film of 1971. It was directed by Mara Velden and shown in Oslo."
DIRECTOR = "Mara Velden was a director and painter. She was born in the town of Brenna."
RIVER = "The Alder is a river. It is known for its otters."
QUESTION = "Where was the director of Silent Harbour born?"


class Corpus:
    """Texts in a graph, each one passage."""

    def __init__(self, graph: EntityGraph, *texts: str) -> None:
        self.graph = graph
        self.texts: dict[PassageId, str] = {}
        self.cards: dict[PassageId, CardHash] = {}
        self.of: dict[str, PassageId] = {}
        for text in texts:
            card = content_hash(text.encode())
            graph.add(card, text)
            id_ = passage_id(card, 0, len(text.encode()))
            self.texts[id_], self.cards[id_], self.of[text] = text, card, id_

    def ranked(
        self,
        found: list[str],
        *,
        question: str = QUESTION,
        allowed: list[str] | None = None,
        settings: HopSettings = DEFAULT_HOPS,
    ) -> list[HopPassage]:
        cards = None if allowed is None else frozenset(self.cards[self.of[one]] for one in allowed)
        scored = [(self.of[text], 1.0 / place) for place, text in enumerate(found, start=1)]
        return rank_over_hops(
            question, scored, graph=self.graph, read=self.texts.get, cards=cards, settings=settings
        )

    def order(self, hops: list[HopPassage]) -> list[str]:
        return [self.texts[one.id] for one in hops]


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[EntityGraph]:
    with EntityGraph(tmp_path / "graph.db") as opened:
        yield opened


def test_a_question_reaches_the_passage_about_whom_the_first_one_names(graph: EntityGraph) -> None:
    corpus = Corpus(graph, FILM, DIRECTOR, RIVER)
    hops = corpus.ranked([FILM, RIVER])
    assert set(corpus.order(hops)[:2]) == {FILM, DIRECTOR}
    (hop,) = [one.hop for one in hops if one.id == corpus.of[DIRECTOR]]
    assert hop is not None
    assert hop.source == corpus.of[FILM]
    assert hop.name == "Mara Velden"
    assert 0 < hop.strength <= 1


def test_passages_that_the_graph_does_not_know_stay_in_their_order(graph: EntityGraph) -> None:
    found: Scored = [(PassageId(7), 0.9), (PassageId(3), 0.8), (PassageId(5), 0.1)]
    hops = rank_over_hops(QUESTION, found, graph=graph, read=lambda _: None)
    assert [one.id for one in hops] == [7, 3, 5]
    assert all(one.hop is None for one in hops)
    assert hops[0].score > hops[1].score > hops[2].score


def test_nothing_leads_out_of_the_allowed_cards(graph: EntityGraph) -> None:
    corpus = Corpus(graph, FILM, DIRECTOR, RIVER)
    hops = corpus.ranked([FILM, RIVER], allowed=[FILM, RIVER])
    assert sorted(corpus.order(hops)) == sorted([FILM, RIVER])
    assert all(one.hop is None for one in hops)


def test_what_is_gone_leads_nowhere(graph: EntityGraph) -> None:
    corpus = Corpus(graph, FILM, DIRECTOR)
    corpus.texts.pop(corpus.of[FILM])
    hops = rank_over_hops(
        QUESTION,
        [(corpus.of[FILM], 1.0)],
        graph=graph,
        read=corpus.texts.get,
        settings=HopSettings(ranked=0),
    )
    assert [one.id for one in hops] == [corpus.of[FILM]]


def test_both_things_that_a_question_names_come_first(graph: EntityGraph) -> None:
    other = "The Glass Ferry is a film of 1980. It was directed by Tomas Ek."
    corpus = Corpus(graph, FILM, other, RIVER, DIRECTOR)
    question = "Which film is older, Silent Harbour or The Glass Ferry?"
    order = corpus.order(corpus.ranked([FILM, RIVER, DIRECTOR], question=question))
    assert set(order[:2]) == {FILM, other}


def test_where_no_passage_says_its_subject_a_shared_name_leads_on(graph: EntityGraph) -> None:
    first = "In that year we were told that Mara Velden had made it in Oslo."
    second = "Later on some wrote that Mara Velden came from far away."
    corpus = Corpus(graph, first, second)
    hops = corpus.ranked([first], settings=HopSettings(ranked=0))
    assert corpus.order(hops) == [first, second]
    assert hops[1].hop is not None
    assert hops[1].hop.name == "Mara Velden"


def test_a_name_without_a_passage_about_it_is_searched_for(graph: EntityGraph) -> None:
    first = "In that year we were told that Mara Velden had made it."
    hidden = "she, velden, mara, of brenna: a note in small letters"
    corpus = Corpus(graph, first, hidden, RIVER)
    asked: list[str] = []

    def search(name: str, limit: int) -> Scored:
        asked.append(name)
        return [(corpus.of[hidden], 1.0), (corpus.of[first], 0.5), (PassageId(1), 0.2)][:limit]

    hops = rank_over_hops(
        QUESTION, [(corpus.of[first], 1.0)], graph=graph, read=corpus.texts.get, search=search
    )
    assert asked == ["Mara Velden"]
    (hop,) = [one.hop for one in hops if one.id == corpus.of[hidden]]
    assert hop is not None
    assert hop.source == corpus.of[first]
    assert PassageId(1) not in {one.id for one in hops}


def test_pagerank_alone_also_leads_on(graph: EntityGraph) -> None:
    corpus = Corpus(graph, FILM, DIRECTOR, RIVER)
    alone = HopSettings(linked=0, ranked=1)
    assert DIRECTOR in corpus.order(corpus.ranked([FILM], settings=alone))
    without = HopSettings(linked=0, ranked=0)
    scores = {one.id: one.score for one in corpus.ranked([FILM], settings=without)}
    assert scores.get(corpus.of[DIRECTOR], 0.0) == 0.0
