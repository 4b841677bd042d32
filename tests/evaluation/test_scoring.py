"""From what systems returned to the figures of a report."""

import pytest

from salon.evaluation.beir import Query
from salon.evaluation.scoring import QueryRun, Ranked, compare, score

QUERIES = [Query(id="q1", text="one"), Query(id="q2", text="two")]
JUDGEMENTS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1, "d": 0}}


def _run(ranked: Ranked, *, seconds: float = 0.010, embedding_s: float = 0.004) -> QueryRun:
    return QueryRun(ranked=ranked, seconds=seconds, embedding_s=embedding_s)


def test_figures_are_means_over_the_queries() -> None:
    runs = [
        _run((("a", 0.9), ("x", 0.5), ("b", 0.1))),
        _run((), seconds=0.020, embedding_s=0.004),
    ]
    found = score("ours", QUERIES, runs, JUDGEMENTS, (1, 3))
    assert found.recall == {1: 0.25, 3: 0.5}
    assert found.mrr_at_10 == 0.5
    assert found.map == pytest.approx((1 + 2 / 3) / 2 / 2)
    assert found.judged_at_10 == pytest.approx(2 / 3 / 2)
    assert found.queries_without_result == 1
    assert found.latency.p50_ms == pytest.approx(15)
    assert found.latency.p50_without_embedding_ms == pytest.approx(11)
    assert found.latency.p99_ms == pytest.approx(19.9)
    assert found.latency.p99_without_embedding_ms == pytest.approx(15.9)


def test_calibration_takes_the_first_ten_and_their_judgements() -> None:
    ranked: Ranked = (*((f"x{number}", 0.2) for number in range(9)), ("c", 0.8), ("d", 1.0))
    found = score("ours", QUERIES[1:], [_run(ranked)], JUDGEMENTS, (1,)).calibration
    assert found is not None
    assert found.predictions == 10
    assert found.equal_width.error == pytest.approx((9 * 0.2 + 1 * 0.2) / 10)
    assert found.equal_mass.error == pytest.approx((9 * 0.2 + 1 * 0.2) / 10)
    assert [one.observed for one in found.equal_width.bins] == [0, 1]


def test_a_system_without_probabilities_has_no_calibration() -> None:
    found = score("bm25s", QUERIES[:1], [_run((("a", None),))], JUDGEMENTS, (1,))
    assert found.calibration is None
    assert found.ndcg_at_10 > 0


def test_the_first_system_is_held_against_each_other() -> None:
    good = [_run((("a", 0.5), ("b", 0.5))), _run((("c", 0.5),))]
    bad = [_run((("x", 0.5),)), _run((("d", 0.5),))]
    found = compare({"ours": good, "bad": bad, "same": good}, QUERIES, JUDGEMENTS)
    assert [(one.system, one.peer, one.verdict) for one in found] == [
        ("ours", "bad", "better"),
        ("ours", "same", "within noise"),
    ]
    assert found[0].difference == pytest.approx(1.0)
    assert found[1].difference == 0.0
