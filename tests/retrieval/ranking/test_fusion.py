import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.indexes import PassageId, Ranking
from salon.retrieval.ranking.candidates import HEAD
from salon.retrieval.ranking.fusion import Fused, Fusion, fuse, ideal_score
from tests.retrieval.ranking.samples import NOTHING, Vectors, ranking, unit, weights

LEXICAL = ranking((1, 10.0), (2, 8.0), (3, 4.0))
DENSE = ranking((2, 0.9), (4, 0.6), (1, 0.3))


@st.composite
def rankings(draw: st.DrawFn, low: float = 0.125, high: float = 50.0) -> Ranking:
    ids = draw(st.lists(st.integers(1, 40), max_size=15, unique=True))
    scores = draw(st.lists(st.floats(low, high, width=32), min_size=len(ids), max_size=len(ids)))
    found = sorted(zip(ids, scores, strict=True), key=lambda one: (-one[1], one[0]))
    return ranking(*found)


def _log_odds(fused: Fused) -> npt.NDArray[np.float64]:
    scores = fused.scores.astype(np.float64)
    found: npt.NDArray[np.float64] = np.log(scores / (1 - scores))
    return found


# What every fusion keeps


@given(
    rankings(),
    rankings(-0.5, 1.0),
    st.floats(0, 1),
    st.sampled_from(["calibrated", "rrf"]),
    st.sampled_from(["cosine", "stretched"]),
)
def test_every_passage_is_there_once_with_scores_that_never_rise(
    lexical: Ranking, dense: Ranking, alpha: float, fusion: Fusion, closeness: str
) -> None:
    fused = fuse(lexical, dense, alpha=alpha, fusion=fusion, weights=weights(closeness=closeness))

    expected = set(lexical.ids.tolist()) if alpha < 1 else set()
    expected |= set(dense.ids.tolist()) if alpha > 0 else set()
    assert sorted(fused.ids.tolist()) == sorted(expected)
    assert ((fused.scores >= 0) & (fused.scores <= 1)).all()
    assert (np.diff(fused.scores) <= 0).all()
    assert (np.diff(fused.fused) <= 0).all()
    assert all(len(array) == len(fused.ids) for array in fused.parts.values())
    assert not np.isnan(fused.fused).any()


@given(rankings(), rankings(-0.5, 1.0))
def test_alpha_0_gives_the_order_of_words_and_1_that_of_vectors(
    lexical: Ranking, dense: Ranking
) -> None:
    by_words = fuse(lexical, dense, alpha=0.0, weights=weights())
    by_vectors = fuse(lexical, dense, alpha=1.0, weights=weights())

    assert by_words.ids.tolist() == lexical.ids.tolist()
    assert by_vectors.ids.tolist() == dense.ids.tolist()


@given(rankings(), rankings(-0.5, 1.0))
def test_parts_add_up_to_the_log_odds_of_the_score(lexical: Ranking, dense: Ranking) -> None:
    fused = fuse(lexical, dense, weights=weights())

    total = np.sum(list(fused.parts.values()), axis=0) if len(fused.ids) else np.empty(0)
    assert _log_odds(fused) == pytest.approx(total, abs=1e-3)


def test_two_empty_rankings_give_an_empty_list() -> None:
    fused = fuse(NOTHING, None, weights=weights())

    assert len(fused.ids) == len(fused.scores) == 0


# The mixture


def test_words_count_by_their_share_of_the_best_and_vectors_by_their_cosine() -> None:
    fused = fuse(LEXICAL, DENSE, weights=weights())

    # passage 3 has no cosine: it is expected at 0.2 + 0.3 * 0.4, but was not among those found
    assert dict(zip(fused.ids.tolist(), fused.fused.tolist(), strict=True)) == pytest.approx(
        {2: 0.5 * 0.8 + 0.9, 1: 0.5 + 0.3, 4: 0.6, 3: 0.5 * 0.4 + 0.3}
    )
    assert fused.ids.tolist() == [2, 1, 4, 3]
    assert _log_odds(fused) == pytest.approx(5 * fused.fused - 4, abs=1e-4)


def test_the_list_says_where_each_passage_stood() -> None:
    fused = fuse(LEXICAL, DENSE, weights=weights())

    assert fused.lexical_ranks.tolist() == [2, 1, 0, 3]
    assert fused.dense_ranks.tolist() == [1, 3, 2, 0]
    assert fused.lexical_scores.tolist() == pytest.approx([8, 10, np.nan, 4], nan_ok=True)
    assert fused.dense_scores.tolist() == pytest.approx([0.9, 0.3, 0.6, np.nan], nan_ok=True)


@pytest.mark.parametrize(("alpha", "first"), [(0.1, 1), (0.9, 2)])
@pytest.mark.requirement("council/search/weighting")
def test_alpha_moves_the_balance(alpha: float, first: int) -> None:
    lexical, dense = ranking((1, 9.0), (2, 5.0)), ranking((2, 0.7), (1, 0.5))

    fused = fuse(lexical, dense, alpha=alpha, weights=weights())

    assert fused.ids[0] == first


def test_a_ranking_that_found_nothing_says_nothing_against_the_other() -> None:
    without_words = fuse(NOTHING, DENSE, weights=weights())
    without_vectors = fuse(LEXICAL, NOTHING, weights=weights())

    assert (
        without_words.scores.tolist()
        == fuse(None, DENSE, alpha=1, weights=weights()).scores.tolist()
    )
    assert (
        without_vectors.scores.tolist()
        == fuse(LEXICAL, None, alpha=0, weights=weights()).scores.tolist()
    )


def test_unknown_models_are_judged_by_the_place_of_a_cosine_and_not_by_its_size() -> None:
    generic = weights(closeness="stretched")
    narrow = ranking((2, 0.820), (4, 0.815), (1, 0.800))
    wide = ranking((2, 0.9), (4, 0.7), (1, 0.1))

    one, other = (fuse(LEXICAL, dense, weights=generic) for dense in (narrow, wide))

    assert one.ids.tolist() == other.ids.tolist()
    assert one.scores.tolist() == pytest.approx(other.scores.tolist(), abs=1e-4)


def test_equal_cosines_of_an_unknown_model_are_all_the_closest() -> None:
    fused = fuse(None, ranking((1, 0.5), (2, 0.5)), weights=weights(closeness="stretched"))

    assert fused.parts["vectors"].tolist() == pytest.approx([12.0, 12.0])


def test_words_without_any_worth_leave_the_order_to_vectors() -> None:
    fused = fuse(ranking((1, 0.0), (2, 0.0)), ranking((2, 0.9), (1, 0.2)), weights=weights())

    assert fused.ids.tolist() == [2, 1]


# Words alone


def test_without_vectors_the_share_of_the_ideal_tells_how_much_was_found() -> None:
    much, little = (fuse(LEXICAL, None, weights=weights(), ideal=ideal) for ideal in (8.0, 100.0))

    assert much.ids.tolist() == little.ids.tolist() == [1, 2, 3]
    assert much.scores[0] > 0.7
    assert little.scores[0] < 0.3
    assert much.parts["share of ideal"].tolist() == pytest.approx([3.75, 3.0, 1.5])


@pytest.mark.parametrize("ideal", [None, 0.0])
def test_without_an_ideal_words_alone_have_a_curve_of_their_own(ideal: float | None) -> None:
    fused = fuse(LEXICAL, None, weights=weights(), ideal=ideal)

    assert _log_odds(fused) == pytest.approx(2 * np.array([1.0, 0.8, 0.4]) - 2, abs=1e-4)


def test_the_ideal_counts_rare_words_more_and_words_that_nobody_has_most() -> None:
    common, rare, absent = (ideal_score(1000, [one]) for one in (900, 10, 0))

    assert 0 < common < rare < absent
    assert ideal_score(1000, [900, 10, 0]) == pytest.approx(common + rare + absent)
    assert ideal_score(1000, []) == 0


# Vectors of candidates


def test_cosines_of_what_only_words_found_are_looked_up() -> None:
    vectors = Vectors(p1=60, p2=0, p3=30, p4=45)

    fused = fuse(
        LEXICAL, ranking((2, 1.0), (4, 0.7071)), weights=weights(),
        query_vector=unit(0), vectors_of=vectors,
    )  # fmt: skip

    assert sorted(vectors.asked) == [1, 2, 3, 4]
    cosines = dict(zip(fused.ids.tolist(), fused.dense_scores.tolist(), strict=True))
    assert cosines == pytest.approx({1: 0.5, 2: 1.0, 3: 0.8660, 4: 0.7071}, abs=1e-3)


def test_a_passage_without_vector_is_not_taken_for_dissimilar() -> None:
    vectors = Vectors(p2=0, p3=89)
    fused = fuse(
        LEXICAL, ranking((2, 1.0), (3, 0.0175)), weights=weights(),
        query_vector=unit(0), vectors_of=vectors,
    )  # fmt: skip

    by_vectors = dict(zip(fused.ids.tolist(), fused.parts["vectors"].tolist(), strict=True))
    # as close as a passage with the best words usually is; 5 is the slope of the curve
    assert by_vectors[1] == pytest.approx(5 * (0.2 + 0.3))
    assert by_vectors[3] == pytest.approx(5 * 0.0175, abs=1e-3)
    assert np.isnan(fused.dense_scores[fused.ids.tolist().index(1)])


def test_only_the_head_of_the_rankings_is_looked_up() -> None:
    many = HEAD + 50
    lexical = ranking(*((id_, 100.0 - id_ / 10) for id_ in range(many)))
    dense = ranking((5000, 0.9))
    vectors = Vectors(p5000=0)

    fused = fuse(lexical, dense, weights=weights(), query_vector=unit(0), vectors_of=vectors)

    assert sorted(vectors.asked) == [*range(HEAD), 5000]
    assert len(fused.ids) == many + 1


def test_likeness_to_the_best_reorders_and_leaves_the_probabilities() -> None:
    lexical = ranking((1, 10.0), (2, 5.0), (3, 5.0))
    dense = ranking((1, 0.9), (2, 0.80), (3, 0.79))
    vectors = Vectors(p1=25.8, p2=-36.9, p3=37.8)
    plain, with_feedback = (
        fuse(
            lexical, dense, weights=weights(feedback=worth), query_vector=unit(0),
            vectors_of=vectors,
        )
        for worth in (0.0, 0.2)
    )  # fmt: skip

    assert plain.ids.tolist() == [1, 2, 3]
    assert with_feedback.ids.tolist() == [1, 3, 2]  # 3 lies beside 1, and 2 on the other side
    assert with_feedback.scores.tolist() == plain.scores.tolist()
    assert with_feedback.parts["order"][1] > 0 > with_feedback.parts["order"][2]
    total = np.sum(list(with_feedback.parts.values()), axis=0)
    assert _log_odds(with_feedback) == pytest.approx(total, abs=1e-3)


def test_without_any_vector_at_hand_there_is_no_feedback() -> None:
    fused = fuse(
        LEXICAL, DENSE, weights=weights(feedback=0.2), query_vector=unit(0), vectors_of=Vectors()
    )

    assert fused.parts["order"].tolist() == [0.0] * 4


# Reciprocal rank fusion


@pytest.mark.requirement("council/search/hybrid")
def test_rrf_adds_up_reciprocal_ranks() -> None:
    fused = fuse(LEXICAL, DENSE, fusion="rrf", weights=weights())

    expected = {1: 1 / 61 + 1 / 63, 2: 1 / 62 + 1 / 61, 3: 1 / 63, 4: 1 / 62}
    assert dict(zip(fused.ids.tolist(), fused.fused.tolist(), strict=True)) == pytest.approx(
        expected, rel=1e-5
    )
    assert fused.ids.tolist() == [2, 1, 4, 3]
    assert np.sum(list(fused.parts.values()), axis=0) == pytest.approx(fused.fused, rel=1e-5)


def test_rrf_hands_out_the_same_probabilities_in_its_own_order() -> None:
    lexical, dense = ranking((1, 9.0), (2, 1.0)), ranking((3, 0.9), (2, 0.1))

    by_rank = fuse(lexical, dense, fusion="rrf", weights=weights())
    by_score = fuse(lexical, dense, weights=weights())

    assert by_rank.ids[0] == 2
    assert by_score.ids[0] != 2
    assert by_rank.scores.tolist() == by_score.scores.tolist()


def test_equal_passages_stand_in_the_order_of_their_ids() -> None:
    fused = fuse(ranking((9, 4.0)), ranking((3, 0.5)), fusion="rrf", weights=weights())

    assert fused.ids.tolist() == [3, 9]


def test_ids_may_be_as_large_as_they_come() -> None:
    large = 2**63 - 1
    fused = fuse(ranking((large, 2.0)), ranking((large, 0.5), (large - 1, 0.4)), weights=weights())

    assert fused.ids.tolist() == [PassageId(large), PassageId(large - 1)]
