"""Judges weighed by their record, with both orders and without labels in a new kind."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import InvalidDocument
from salon.council.judge_weights import read_judges_file
from salon.council.judges import (
    Floats,
    JudgeWeights,
    Panel,
    learn_weights,
    majority,
    plain_log_odds,
    plain_verdicts,
    probability,
    verdicts,
)


def _panel(
    accuracies: list[float], items: int, *, kind: str = "k", seed: int = 3, copies: int = 1
) -> tuple[Panel, Floats]:
    """Return votes of judges that are right so often; the last is repeated by its copies."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([-1.0, 1.0], items)
    columns = [np.where(rng.random(items) < one, truth, -truth) for one in accuracies]
    columns += [columns[-1]] * (copies - 1)
    says = np.array(columns).T
    panel = Panel(
        judges=tuple(f"j{number}" for number in range(says.shape[1])),
        items=tuple(f"{kind}{number}" for number in range(items)),
        kinds=(kind,) * items,
        orders=(says, says),
    )
    return panel, truth


def _right(said: Floats, truth: Floats) -> float:
    return float((np.sign(said) == truth).mean())


def test_a_judge_that_changes_with_the_order_says_nothing() -> None:
    first = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 1.0]])
    swapped = np.array([[1.0, -1.0, 0.0], [-1.0, -1.0, 0.0]])
    panel = Panel(
        judges=("a", "b", "c"), items=("x", "y"), kinds=("k", "k"), orders=(first, swapped)
    )
    assert panel.says.tolist() == [[1.0, 0.0, 0.0], [-1.0, 0.0, 1.0]]
    weights = learn_weights(panel, np.array([1.0, -1.0]))
    assert weights.weights["b"] == 0.0
    assert weights.weights["a"] > 0 > weights.weights["c"]
    assert majority(panel).tolist() == [2.0, -1.0]


def test_one_good_judge_outweighs_many_copies_of_a_bad_one() -> None:
    panel, truth = _panel([0.95, 0.4], 200, copies=12)
    fresh, answers = _panel([0.95, 0.4], 200, copies=12, seed=4)
    learned = learn_weights(panel, truth)
    assert _right(majority(fresh), answers) < 0.5
    assert _right(plain_verdicts(learned, fresh), answers) > 0.9
    assert _right(verdicts(learned, fresh), answers) > 0.9


def test_copies_share_what_one_of_them_would_carry() -> None:
    alone, truth = _panel([0.8, 0.7], 300)
    copied, _ = _panel([0.8, 0.7], 300, copies=5)
    one = learn_weights(alone, truth).weights["j1"]
    five = [learn_weights(copied, truth).weights[f"j{number}"] for number in range(1, 6)]
    assert sum(five) == pytest.approx(one, rel=0.35)
    plain = plain_log_odds(copied, truth).weights
    assert sum(plain[f"j{number}"] for number in range(1, 6)) > 3 * one


def test_a_new_kind_of_items_is_learned_from_its_votes_alone() -> None:
    """Judges that were fair become misleading in the new kind; two good ones show it."""
    known, truth = _panel([0.9, 0.9, *[0.6] * 8], 150)
    fresh, answers = _panel([0.9, 0.9, *[0.3] * 8], 150, kind="new", seed=5)
    learned = learn_weights(known, truth)
    corrected = _right(verdicts(learned, fresh), answers)
    assert corrected > _right(plain_verdicts(learned, fresh), answers) + 0.05
    told = dict(zip(fresh.items[:75], answers[:75].tolist(), strict=True))
    assert _right(verdicts(learned, fresh, known=told), answers) >= corrected


def test_kinds_do_not_touch_each_other() -> None:
    first, truth = _panel([0.9, 0.8, 0.7], 60)
    second, _ = _panel([0.9, 0.2, 0.3], 60, kind="other", seed=9)
    both = Panel(
        judges=first.judges,
        items=(*first.items, *second.items),
        kinds=(*first.kinds, *second.kinds),
        orders=tuple(np.vstack(pair) for pair in zip(first.orders, second.orders, strict=True)),
    )
    learned = learn_weights(first, truth)
    assert verdicts(learned, both)[:60].tolist() == verdicts(learned, first).tolist()
    assert both.among(range(60, 120)).items == second.items


@given(st.integers(0, 50), st.integers(1, 12), st.integers(1, 6))
def test_calling_the_answers_the_other_way_round_turns_the_verdicts(
    seed: int, items: int, judges: int
) -> None:
    panel, truth = _panel([0.7] * judges, items, seed=seed)
    turned = Panel(
        judges=panel.judges,
        items=panel.items,
        kinds=panel.kinds,
        orders=tuple(-votes for votes in panel.orders),
    )
    learned = learn_weights(panel, truth)
    assert learn_weights(turned, -truth).weights == pytest.approx(learned.weights, abs=1e-9)
    assert verdicts(learned, turned) == pytest.approx(-verdicts(learned, panel), abs=1e-9)


def test_nobody_known_and_nobody_voting_leaves_everything_open() -> None:
    panel, _ = _panel([0.9], 4)
    silent = Panel(
        judges=panel.judges, items=panel.items, kinds=panel.kinds, orders=(np.zeros((4, 1)),)
    )
    assert not verdicts(JudgeWeights(weights={"j0": 1.0}), silent).any()
    assert not verdicts(JudgeWeights(weights={}), silent).any()


def test_probabilities_stay_inside_zero_and_one() -> None:
    found = probability(np.array([-1e9, 0.0, 1e9]))
    assert found[1] == 0.5
    assert ((found > 0) & (found <= 1)).all()


def test_shipped_weights_are_read_and_say_what_they_were_learned_from() -> None:
    file = read_judges_file()
    assert file.kinds == ["Adversarial/GPTInst", "Natural"]
    assert set(file.learned.weights) == set(file.plain.weights)
    assert len(file.weights) == 65
    best = max(file.log_odds, key=lambda judge: file.log_odds[judge])
    assert best.startswith("GPT-4/")


def test_a_file_without_weights_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "weights.json"
    bad.write_text('{"kinds": []}')
    with pytest.raises(InvalidDocument, match=r"weights\.json holds no weights"):
        read_judges_file(bad)
