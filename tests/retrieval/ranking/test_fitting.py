from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from salon.core.embedding import EmbeddingModel, Vectors
from salon.core.indexes import PassageId, Ranking
from salon.evaluation.metrics import reliability
from salon.retrieval.ranking.fitting import LabelledQuery, fit_weights
from salon.retrieval.ranking.fusion import fuse
from salon.retrieval.ranking.weights import Weights

MODEL = EmbeddingModel(address="test:model", fingerprint="a" * 64, dimensions=16)
PASSAGES = 300


def collection(
    name: str, *, seed: int, queries: int = 60, has_answers: bool = True, words: float = 1.0
) -> list[LabelledQuery]:
    """Make up queries; the relevant passages are nearer and, as far as `words`, share words."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(PASSAGES, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    documents = {number: f"{name}-{number // 2}" for number in range(PASSAGES)}
    return [
        _query(name, random, vectors, documents, words if has_answers else None)
        for _ in range(queries)
    ]


def _query(
    name: str,
    random: np.random.Generator,
    vectors: Vectors,
    documents: dict[int, str],
    words: float | None,
) -> LabelledQuery:
    answer = int(random.integers(PASSAGES))
    aim = (
        random.normal(size=16)
        if words is None
        else 2.2 * vectors[answer] + random.normal(size=16) * 0.5
    )
    vector = (aim / np.linalg.norm(aim)).astype(np.float32)
    cosines = vectors @ vector
    closest = np.argsort(-cosines, kind="stable")[:100]
    scores = random.gamma(2.0, 1.5, PASSAGES).astype(np.float32)
    if words is not None:
        scores[answer] += words * float(random.gamma(3.0, 3.0))
    best = np.argsort(-scores, kind="stable")[:100]

    def vectors_of(ids: Sequence[PassageId]) -> tuple[list[PassageId], Vectors]:
        return list(ids), vectors[list(ids)]

    return LabelledQuery(
        collection=name,
        lexical=Ranking(best, scores[best]),
        dense=Ranking(closest, cosines[closest]),
        ideal=12.0,
        vector=vector,
        vectors_of=vectors_of,
        documents=documents,
        relevant=frozenset() if words is None else frozenset({documents[answer]}),
    )


def _outcomes(
    queries: list[LabelledQuery], weights: Weights, alpha: float = 0.5
) -> tuple[list[float], list[bool]]:
    """Return the probabilities of the ten best passages, and whether they are relevant."""
    shown: list[float] = []
    truth: list[bool] = []
    for query in queries:
        fused = fuse(
            query.lexical, query.dense, alpha=alpha, weights=weights, ideal=query.ideal,
            query_vector=query.vector, vectors_of=query.vectors_of,
        )  # fmt: skip
        best: dict[str, float] = {}
        for id_, score in zip(fused.ids.tolist(), fused.scores.tolist(), strict=True):
            best.setdefault(query.documents[id_], score)
        shown += list(best.values())[:10]
        truth += [document in query.relevant for document in list(best)[:10]]
    return shown, truth


@cache
def fitted(model: EmbeddingModel | None) -> Weights:
    return fit_weights(collection("one", seed=1), model=model)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 0.6, 1.0])
@pytest.mark.parametrize("model", [MODEL, None])
def test_probabilities_hold_on_queries_that_were_not_fitted_to(
    model: EmbeddingModel | None, alpha: float
) -> None:
    shown, truth = _outcomes(collection("one", seed=2, queries=200), fitted(model), alpha)
    found = reliability(shown, truth, binning="equal_mass")

    assert found is not None
    assert found.error < 0.06
    assert max(shown) > 0.5


def test_the_same_queries_give_the_same_weights() -> None:
    assert fit_weights(collection("one", seed=1), model=MODEL) == fitted(MODEL)


def test_weights_bear_the_name_of_their_model() -> None:
    own, generic = fitted(MODEL), fitted(None)

    assert (own.model, own.fingerprint) == (MODEL.address, MODEL.fingerprint)
    assert own.closeness == "cosine"
    assert (generic.fingerprint, generic.closeness, generic.feedback) == (None, "stretched", 0.0)


def test_words_that_tell_more_get_more_weight() -> None:
    telling, silent = (
        fit_weights(collection("one", seed=1, words=words), model=MODEL) for words in (2.0, 0.1)
    )

    assert telling.words > silent.words


def test_queries_without_answers_teach_that_little_found_is_little_worth() -> None:
    strangers = collection("strangers", seed=3, has_answers=False)

    taught = fit_weights([*collection("one", seed=1), *strangers], model=MODEL)

    others = collection("strangers", seed=4, has_answers=False)
    assert np.mean(_outcomes(others, taught)[0]) < np.mean(_outcomes(others, fitted(MODEL))[0])


def test_a_collection_counts_as_much_as_it_is_told_to() -> None:
    queries = [
        *collection("one", seed=1, queries=30),
        *collection("strangers", seed=3, queries=30, has_answers=False),
    ]

    lightly, heavily = (
        fit_weights(queries, model=MODEL, importance={"strangers": importance})
        for importance in (0.1, 10.0)
    )

    held_out = collection("one", seed=2, queries=30)
    assert np.mean(_outcomes(held_out, heavily)[0]) < np.mean(_outcomes(held_out, lightly)[0])


def test_a_passage_without_vector_is_expected_where_such_passages_are() -> None:
    start, slope = fitted(MODEL).expected

    assert -0.2 < start < 0.1  # made-up passages with few of the words lie anywhere
    assert slope > 0.1  # those with many of them lie nearer


def test_beside_cosines_that_are_understood_the_ideal_counts_for_nothing() -> None:
    own, generic = fitted(MODEL), fitted(None)

    assert [curve.slopes[1] > 0 for curve in own.ideal_curves] == [True] + [False] * 4
    assert generic.ideal_curves[2].slopes[1] > 0


def test_an_index_that_knows_no_ideal_gives_words_no_second_measure() -> None:
    queries = [replace(query, ideal=None) for query in collection("one", seed=1, queries=30)]

    assert fit_weights(queries, model=MODEL).ideal_curves[0].slopes[1] == 0
