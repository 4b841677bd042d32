"""PageRank over passages and entities."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.indexes import PassageId
from salon.retrieval.graph import adjacency as module
from salon.retrieval.graph.adjacency import DAMPING, STEPS, Adjacency, Edges

Named = Mapping[int, Mapping[str, bool]]
"""For each passage what it names, and whether it is about that."""

FILM, DIRECTOR, OTHER, FAR = 1, 2, 3, 4
CORPUS: Named = {
    FILM: {"la yuma": True, "florence jaugey": False, "nicaragua": False},
    DIRECTOR: {"florence jaugey": True, "nicaragua": False},
    OTHER: {"managua": True, "nicaragua": False},
    FAR: {"socrates": True},
}


def _graph(corpus: Named) -> Adjacency:
    keys = sorted({key for named in corpus.values() for key in named})
    edges = [
        (place, keys.index(key), about)
        for place, named in enumerate(corpus.values())
        for key, about in named.items()
    ]
    columns = list(zip(*edges, strict=True)) or [(), (), ()]
    return Adjacency(
        np.array(list(corpus), np.int64),
        keys,
        Edges(
            passages=np.array(columns[0], np.int64),
            entities=np.array(columns[1], np.int64),
            about=np.array(columns[2], np.bool_),
        ),
    )


def _ranks(
    corpus: Named, passages: Mapping[int, float], names: Mapping[str, float] | None = None
) -> dict[PassageId, float]:
    graph = _graph(corpus)
    entities = {
        entity: weight
        for name, weight in (names or {}).items()
        if (entity := graph.find_entity(name)) is not None
    }
    seeds = {PassageId(id_): weight for id_, weight in passages.items()}
    return graph.ranks(seeds, entities, limit=100)


def test_the_walk_leads_to_the_passage_about_what_is_named() -> None:
    ranks = _ranks(CORPUS, {FILM: 1.0})
    assert list(ranks) == [FILM, DIRECTOR, OTHER]
    assert FAR not in ranks


def test_an_entity_may_be_the_seed() -> None:
    assert next(iter(_ranks(CORPUS, {}, {"florence jaugey": 1.0}))) == DIRECTOR
    assert _ranks(CORPUS, {}, {"socrates": 2.0}).keys() == {FAR}


def test_without_a_seed_that_is_known_there_are_no_ranks() -> None:
    assert _ranks(CORPUS, {}) == {}
    assert _ranks(CORPUS, {99: 1.0}) == {}
    assert _ranks({}, {FILM: 1.0}) == {}


def test_what_everybody_names_draws_less_than_what_few_name() -> None:
    corpus: dict[int, dict[str, bool]] = {
        1: {"rare": False, "common": False},
        2: {"rare": False},
        **{number: {"common": False} for number in range(3, 20)},
    }
    ranks = _ranks(corpus, {1: 1.0})
    assert ranks[PassageId(2)] > 3 * ranks[PassageId(3)]


def test_a_hub_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(_ranks(CORPUS, {OTHER: 1.0})) == 3
    monkeypatch.setattr(module, "HUB", 2)
    assert _ranks(CORPUS, {OTHER: 1.0}).keys() == {OTHER}


def test_only_the_best_connected_of_many_neighbours_are_walked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "NEIGHBOURHOOD", 2)
    assert list(_ranks(CORPUS, {FILM: 1.0})) == [FILM, DIRECTOR]


def test_a_limit_keeps_the_best() -> None:
    assert list(_graph(CORPUS).ranks({PassageId(FILM): 1.0}, {}, limit=2)) == [FILM, DIRECTOR]


def test_passages_are_found_by_what_they_are_about_or_name() -> None:
    graph = _graph(CORPUS)
    director = graph.find_entity("florence jaugey")
    assert director is not None
    assert graph.passages_about(director) == [DIRECTOR]
    assert graph.passages_naming(director) == [FILM, DIRECTOR]
    assert graph.find_entity("nobody") is None
    assert graph.told == 1
    assert _graph({1: {"a": False}, 2: {"b": True}}).told == 0.5
    assert _graph({}).told == 0


_CORPORA = st.dictionaries(
    st.integers(1, 12),
    st.dictionaries(st.sampled_from("abcdefgh"), st.booleans(), min_size=1, max_size=5),
    min_size=1,
    max_size=8,
)


def test_the_walk_stays_near_the_seeds() -> None:
    chain: Named = {1: {"a": False}, 2: {"a": False, "b": False}, 3: {"b": False, "c": False},
                    4: {"c": False}}  # fmt: skip
    assert _ranks(chain, {1: 1.0}).keys() == {1, 2, 3}


@given(_CORPORA, st.data())
def test_ranks_are_those_of_the_plain_definition(corpus: Named, data: st.DataObject) -> None:
    seeds = data.draw(
        st.dictionaries(st.sampled_from(sorted(corpus)), st.floats(0.1, 5), min_size=1)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "REACH", len(corpus))  # the definition knows no neighbourhood
        ranks = _ranks(corpus, seeds)
    for id_, expected in _by_definition(corpus, seeds).items():
        assert ranks.get(PassageId(id_), 0.0) == pytest.approx(expected, abs=1e-9)
    assert list(ranks.values()) == sorted(ranks.values(), reverse=True)


def _by_definition(corpus: Named, seeds: Mapping[int, float]) -> dict[int, float]:
    """Walk the whole graph with dense matrices."""
    ids, keys = list(corpus), sorted({key for named in corpus.values() for key in named})
    names = np.array([[key in corpus[id_] for key in keys] for id_ in ids], float)
    about = np.array([[corpus[id_].get(key, False) for key in keys] for id_ in ids], bool)
    out = names * np.log1p(len(ids) / names.sum(0)) * np.where(about, module.FROM_SUBJECT, 1)
    back = names * np.where(about, module.TO_SUBJECT, 1)
    out /= out.sum(1, keepdims=True)
    back /= back.sum(0)
    start = np.array([seeds.get(id_, 0.0) for id_ in ids]) / sum(seeds.values())
    here, there = start, np.zeros(len(keys))
    for _ in range(STEPS):
        here, there = (1 - DAMPING) * start + DAMPING * back @ there, DAMPING * out.T @ here
    return dict(zip(ids, here.tolist(), strict=True))
