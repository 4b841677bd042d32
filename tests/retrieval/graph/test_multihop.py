"""Ranking over hops: from what a question names to what that leads to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from salon.core.hashing import CardHash, content_hash
from salon.core.indexes import PassageId, passage_id
from salon.retrieval.graph.entity_graph import EntityGraph
from salon.retrieval.graph.multihop import HopPassage, HopSettings, Scored, rank_over_hops

FILM = "La Garza is a drama film directed by Marta Solano and starring Alma Reyes."
DIRECTOR = "Marta Inés Solano (born 1959 in Lyon) is a director who lives in Panama."
ACTRESS = "Alma Reyes (born 1990) is an actress."
OTHER_FILM = "El Faro is a comedy film directed by Pedro Ruiz."
OTHER_DIRECTOR = "Pedro Ruiz (born 1970) is a director."
NOISE = "The birds of the lake were counted by students in spring."
QUESTION = "Where was the director of film La Garza born?"


@dataclass
class Corpus:
    """Texts in a graph, each of them one passage."""

    graph: EntityGraph
    texts: dict[PassageId, str]

    def add(self, text: str) -> PassageId:
        card = content_hash(text.encode())
        self.graph.add(card, text)
        id_ = passage_id(card, 0, len(text.encode()))
        self.texts[id_] = text
        return id_

    def id(self, text: str) -> PassageId:
        return passage_id(content_hash(text.encode()), 0, len(text.encode()))

    def found(self, *texts: str) -> Scored:
        return [(self.id(text), 1.0 / (place + 1)) for place, text in enumerate(texts)]

    def rank(
        self,
        question: str,
        *found: str,
        cards: Sequence[CardHash] | None = None,
        settings: HopSettings | None = None,
    ) -> list[HopPassage]:
        return rank_over_hops(
            question,
            self.found(*found),
            graph=self.graph,
            read=self.texts.get,
            cards=cards,
            settings=settings or HopSettings(),
        )

    def order(self, ranked: Sequence[HopPassage]) -> list[str]:
        return [self.texts[one.id] for one in ranked]


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with EntityGraph(tmp_path / "graph.db") as graph:
        opened = Corpus(graph, {})
        for text in (FILM, DIRECTOR, ACTRESS, OTHER_FILM, OTHER_DIRECTOR, NOISE):
            opened.add(text)
        yield opened


def test_the_passage_that_the_question_leads_to_comes_in(corpus: Corpus) -> None:
    ranked = corpus.rank(QUESTION, FILM, NOISE)
    order = corpus.order(ranked)
    assert set(order[:2]) == {FILM, DIRECTOR}
    assert order.index(DIRECTOR) < order.index(ACTRESS)
    hop = next(one.hop for one in ranked if one.id == corpus.id(DIRECTOR))
    assert hop is not None
    assert (hop.source, hop.name) == (corpus.id(FILM), "Marta Solano")
    assert 0 < hop.strength <= 1


def test_what_the_question_names_is_found_even_where_search_missed_it(corpus: Corpus) -> None:
    order = corpus.order(corpus.rank(QUESTION, NOISE))
    assert set(order[:2]) == {FILM, DIRECTOR}
    assert corpus.order(corpus.rank("where was the director of la garza born", NOISE))[:2] == [
        FILM,
        DIRECTOR,
    ] or set(corpus.order(corpus.rank("where was the director of la garza born", NOISE))[:2]) == {
        FILM,
        DIRECTOR,
    }


def test_each_name_of_a_question_gets_its_due(corpus: Corpus) -> None:
    question = "Which film has the director who was born first, La Garza or El Faro?"
    order = corpus.order(corpus.rank(question, FILM, ACTRESS, NOISE))
    assert set(order[:4]) == {FILM, DIRECTOR, OTHER_FILM, OTHER_DIRECTOR}


def test_a_graph_that_knows_nothing_leaves_the_order_alone(corpus: Corpus, tmp_path: Path) -> None:
    with EntityGraph(tmp_path / "empty.db") as empty:
        found = [(PassageId(9), 0.2), (PassageId(3), 0.2), (PassageId(5), 0.1)]
        ranked = rank_over_hops(QUESTION, found, graph=empty, read=lambda _: None)
        assert [one.id for one in ranked] == [9, 3, 5]
        assert all(one.hop is None for one in ranked)
        assert rank_over_hops(QUESTION, [], graph=empty, read=lambda _: None) == []


def test_a_passage_that_is_gone_is_not_followed(corpus: Corpus) -> None:
    del corpus.texts[corpus.id(FILM)]
    settings = HopSettings(ranked=0)
    ranked = corpus.rank(QUESTION, FILM, NOISE, settings=settings)
    assert all(one.hop is None for one in ranked)


def test_other_cards_are_neither_returned_nor_followed(corpus: Corpus) -> None:
    allowed = [content_hash(text.encode()) for text in (DIRECTOR, NOISE)]
    ranked = corpus.rank(QUESTION, NOISE, cards=allowed)
    assert corpus.order(ranked) == [NOISE]
    both = corpus.rank(
        QUESTION, FILM, cards=[content_hash(text.encode()) for text in (FILM, DIRECTOR)]
    )
    assert set(corpus.order(both)) == {FILM, DIRECTOR}


def test_pagerank_alone_brings_in_what_is_near(corpus: Corpus) -> None:
    settings = HopSettings(linked=0, ranked=1)
    ranked = corpus.rank(QUESTION, FILM, NOISE, settings=settings)
    near = {one.id: one.score for one in ranked}
    assert near[corpus.id(ACTRESS)] > 0
    without = corpus.rank(QUESTION, FILM, settings=HopSettings(linked=0, ranked=0))
    assert corpus.id(ACTRESS) in {one.id for one in without}
    assert {one.id: one.score for one in without}[corpus.id(ACTRESS)] == 0


# Where passages do not say what they are about

_PLAIN_FILM = "We saw the film La Garza, directed by Marta Solano, last year."
_PLAIN_DIRECTOR = "Nobody knew that Marta Solano was born in Lyon."


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Corpus]:
    with EntityGraph(tmp_path / "plain.db") as graph:
        opened = Corpus(graph, {})
        for text in (_PLAIN_FILM, _PLAIN_DIRECTOR, NOISE):
            opened.add(text)
        yield opened


def test_without_subjects_passages_that_name_the_same_are_followed(plain: Corpus) -> None:
    assert plain.graph.adjacency().told == 0
    settings = HopSettings(ranked=0)
    order = plain.order(plain.rank(QUESTION, _PLAIN_FILM, NOISE, settings=settings))
    assert order == [_PLAIN_FILM, _PLAIN_DIRECTOR, NOISE]
    alone = HopSettings(ranked=0, beside=0)
    assert plain.order(plain.rank(QUESTION, _PLAIN_FILM, NOISE, settings=alone)) == [
        _PLAIN_FILM,
        NOISE,
    ]


def test_a_name_that_too_many_share_leads_nowhere(plain: Corpus) -> None:
    for number in range(25):
        plain.add(f"Once more, number {number}, there was Marta Solano.")
    settings = HopSettings(ranked=0)
    ranked = plain.rank(QUESTION, _PLAIN_FILM, NOISE, settings=settings)
    assert plain.order(ranked) == [_PLAIN_FILM, NOISE]


def test_a_search_for_a_name_finds_what_the_graph_does_not_know(plain: Corpus) -> None:
    unseen = PassageId(77)
    gone = PassageId(78)
    plain.texts[unseen] = "marta solano grew up in lyon"
    searched: list[tuple[str, int]] = []

    def search(name: str, limit: int) -> Scored:
        searched.append((name, limit))
        return [(plain.id(_PLAIN_FILM), 3.0), (gone, 2.5), (unseen, 2.0)]

    ranked = rank_over_hops(
        QUESTION,
        plain.found(_PLAIN_FILM, NOISE),
        graph=plain.graph,
        read=plain.texts.get,
        search=search,
        settings=HopSettings(ranked=0, beside=0),
    )
    assert [one.id for one in ranked] == [plain.id(_PLAIN_FILM), plain.id(NOISE), unseen] or [
        one.id for one in ranked
    ] == [plain.id(_PLAIN_FILM), unseen, plain.id(NOISE)]
    hop = next(one.hop for one in ranked if one.id == unseen)
    assert hop is not None
    assert hop.name == "Marta Solano"
    assert searched == [("Marta Solano", 3)]


def test_where_every_passage_has_a_subject_no_search_is_needed(corpus: Corpus) -> None:
    corpus.graph.remove(content_hash(NOISE.encode()))

    def search(name: str, limit: int) -> Scored:
        raise AssertionError((name, limit))

    ranked = rank_over_hops(
        QUESTION, corpus.found(FILM), graph=corpus.graph, read=corpus.texts.get, search=search
    )
    assert ranked
