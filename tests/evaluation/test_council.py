"""Measuring how votes are joined: figures that can be checked by hand, and the recorded judges."""

import csv
import gzip
import io
import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from salon.cli.eval_council import council
from salon.core.absent import Absent
from salon.core.errors import FileMissing, InvalidInput
from salon.evaluation import council as measuring
from salon.evaluation.council import OURS, Trial, evaluate_votes
from salon.evaluation.council_data import (
    Annotated,
    Paper,
    read_annotations,
    read_reviews,
    read_votes,
)
from salon.evaluation.council_reviews import (
    BY_CONFIDENCE,
    GEOMETRIC,
    LEARNED,
    MEAN,
    evaluate_annotators,
    evaluate_reviews,
)
from salon.evaluation.progress import silent

DATA = Path(__file__).parents[3] / "shared" / "data"
COLUMNS = ["subset", "idx", "model", "prompting", "label", "vote_orig_order", "vote_swapped_order"]
needs_votes = pytest.mark.skipif(
    not (DATA / "llmbar" / "votes.csv.gz").exists(), reason="no llmbar beside the checkout"
)
needs_reviews = pytest.mark.skipif(
    not (DATA / "peerread").exists(), reason="no peerread beside the checkout"
)


def _row(kind: str, item: int, judge: str, label: Any, *votes: Any) -> dict[str, Any]:
    values = (kind, item, judge, "plain", label, *votes)
    return dict(zip(COLUMNS, values, strict=True))


def _votes(path: Path, rows: Iterable[Mapping[str, Any]], columns: list[str] | None = None) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or COLUMNS, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode()))
    return path


def _panel(
    rights: Mapping[str, Mapping[str, float]], items: int = 60, seed: int = 1
) -> list[dict[str, Any]]:
    """Return rows of judges that are right so often in each kind, and follow the order at times."""
    random = Random(seed)
    rows = []
    for kind, judges in rights.items():
        for item in range(items):
            label = random.choice([1, 2])
            for judge, share in judges.items():
                says = label if random.random() < share else 3 - label
                steady = random.random() < 0.9
                rows.append(_row(kind, item, judge, label, says, says if steady else 3 - says))
    return rows


STRONG = {"s1": 0.92, "s2": 0.92}
MISLED = {"plain": STRONG | {f"w{n}": 0.8 for n in range(7)}} | {
    "tricky": STRONG | {f"w{n}": 0.2 for n in range(7)}
}


def _accuracy(trial: Trial) -> dict[str, float]:
    return {row.system: row.accuracy for row in trial.rows}


def test_votes_are_read_with_blanks_and_both_orders(tmp_path: Path) -> None:
    rows = [_row("k", 0, "a", 2, "2.0", "1"), _row("k", 0, "b", 2, "", "nan")]
    found = read_votes(_votes(tmp_path / "v.csv.gz", rows))
    assert found.panel.judges == ("a/plain", "b/plain")
    assert found.panel.items == ("k/0",)
    assert [order.tolist() for order in found.panel.orders] == [[[1.0, 0.0]], [[-1.0, 0.0]]]
    assert found.truth.tolist() == [1.0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "holds no votes"),
        ([_row("k", 0, "a", 2, "3", "1")], "neither answer 1 nor answer 2"),
        ([_row("k", 0, "a", 2, 1, 1), _row("k", 0, "b", 1, 1, 1)], "has two labels"),
        ([_row("k", 0, "a", 2, 1, 1), _row("k", 0, "a", 2, 1, 1)], "votes twice"),
    ],
    ids=["nothing", "a-third-answer", "two-labels", "twice"],
)
def test_what_is_wrong_with_votes_is_said(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_votes(_votes(tmp_path / "v.csv.gz", rows))


def test_a_missing_column_or_file_is_named(tmp_path: Path) -> None:
    rows = [_row("k", 0, "a", 2, 1, 1)]
    with pytest.raises(InvalidInput, match="no column label"):
        read_votes(_votes(tmp_path / "v.csv.gz", rows, [c for c in COLUMNS if c != "label"]))
    with pytest.raises(FileMissing):
        read_votes(tmp_path / "nowhere.csv")


def test_learned_weights_beat_a_misled_majority(tmp_path: Path) -> None:
    path = _votes(tmp_path / "v.csv.gz", _panel(MISLED))
    report = evaluate_votes(read_votes(path), progress=silent)
    by_item, by_kind = report.trials
    assert report.items == {"plain": 60, "tricky": 60}
    assert (by_item.learned_from, by_kind.learned_from) == ("other items", "other kinds")
    found = _accuracy(by_item)
    assert found[OURS] > found["majority"] + 0.2
    assert found[OURS] >= found["dawid-skene"]
    against = {one.peer: one for one in by_item.comparisons}
    assert against["majority"].verdict == "better"
    assert against["majority"].difference == pytest.approx(found[OURS] - found["majority"])
    assert all(row.by_kind.keys() == {"plain", "tricky"} for row in by_kind.rows)
    assert report.missing == {}
    effective = report.likeness.effective
    assert not isinstance(effective, Absent)
    assert 1 < effective < 9


def test_the_label_of_an_item_does_not_reach_its_verdict(tmp_path: Path) -> None:
    """Labels by lot cannot be foreseen, so nothing that learns may look better than chance."""
    random = Random(4)
    rows = [
        _row("k", item, f"j{judge}", random.choice([1, 2]) if judge == 0 else None, first, first)
        for item in range(100)
        for judge in range(9)
        for first in [random.choice([1, 2])]
    ]
    labels = {row["idx"]: row["label"] for row in rows if row["label"]}
    path = _votes(tmp_path / "v.csv.gz", [row | {"label": labels[row["idx"]]} for row in rows])
    trial = evaluate_votes(read_votes(path), progress=silent).trials[0]
    assert 0.35 < _accuracy(trial)[OURS] < 0.65


def test_weights_from_a_train_file_are_applied_to_other_items(tmp_path: Path) -> None:
    train = read_votes(_votes(tmp_path / "t.csv.gz", _panel({"old": MISLED["tricky"]})))
    votes = read_votes(_votes(tmp_path / "v.csv.gz", _panel({"new": MISLED["tricky"]}, seed=2)))
    (trial,) = evaluate_votes(votes, train=train, progress=silent).trials
    assert (trial.learned_from, trial.note) == ("the train file", "60 items")
    assert _accuracy(trial)[OURS] > 0.9
    with pytest.raises(InvalidInput, match="60 items are in both files"):
        evaluate_votes(votes, train=votes, progress=silent)


def test_few_items_are_only_judged_with_weights_from_elsewhere(tmp_path: Path) -> None:
    rows = _panel({"k": {"j": 0.9}}, items=5)
    report = evaluate_votes(read_votes(_votes(tmp_path / "v.csv.gz", rows)), progress=silent)
    assert report.trials == ()
    assert isinstance(report.likeness.correlation, Absent)


def test_judges_are_described_with_their_lean_to_a_place(tmp_path: Path) -> None:
    rows = []
    for item in range(40):
        label = item % 2 + 1
        rows.append(_row("k", item, "steady", label, label, label))
        rows.append(_row("k", item, "first", label, 1, 2))
        rows.append(_row("k", item, "silent", label, "", ""))
    report = evaluate_votes(read_votes(_votes(tmp_path / "v.csv.gz", rows)), progress=silent)
    judges = {row.judge: row for row in report.judges}
    assert report.judges[0].judge == "steady/plain"
    assert (judges["steady/plain"].changes, judges["steady/plain"].first_shown) == (0.0, 0.5)
    assert not judges["steady/plain"].is_biased
    assert (judges["first/plain"].changes, judges["first/plain"].first_shown) == (1.0, 1.0)
    assert judges["first/plain"].is_biased
    assert judges["first/plain"].accuracy == 0.5
    assert judges["silent/plain"].votes == 0
    assert not judges["silent/plain"].is_biased


def test_where_only_one_order_was_asked_nothing_is_said_about_places(tmp_path: Path) -> None:
    rows = [row | {"vote_swapped_order": ""} for row in _panel(MISLED, items=15)]
    report = evaluate_votes(read_votes(_votes(tmp_path / "v.csv.gz", rows)), progress=silent)
    assert isinstance(report.judges[0].first_shown, Absent)
    assert not report.judges[0].is_biased
    assert len(report.trials) == 2


def test_items_without_a_label_are_left_out_and_none_at_all_is_refused(tmp_path: Path) -> None:
    rows = [_row("k", 0, "a", "", 1, 1), _row("k", 1, "a", 2, 2, 2)]
    report = evaluate_votes(read_votes(_votes(tmp_path / "v.csv.gz", rows)), progress=silent)
    assert report.items == {"k": 1}
    with pytest.raises(InvalidInput, match="no item has a label"):
        evaluate_votes(read_votes(_votes(tmp_path / "w.csv.gz", rows[:1])), progress=silent)


def test_without_crowd_kit_the_rest_is_still_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(name: str) -> ModuleType:
        if name.startswith("crowdkit"):
            raise ImportError(name=name)
        return import_module(name)

    monkeypatch.setattr(measuring, "import_module", none)
    path = _votes(tmp_path / "v.csv.gz", _panel(MISLED, items=15))
    report = evaluate_votes(read_votes(path), progress=silent)
    assert report.missing == {"crowd-kit": "not installed (crowdkit.aggregation)"}
    assert "dawid-skene" not in _accuracy(report.trials[0])


# Reviews and annotators


def _paper(number: int, accepted: bool | None, *grades: tuple[float, float]) -> dict[str, Any]:
    reviews = [
        {"RECOMMENDATION": score, "REVIEWER_CONFIDENCE": sure, "comments": f"{number} {place}"}
        for place, (score, sure) in enumerate(grades)
    ]
    return {"id": number, "accepted": accepted, "reviews": [*reviews, {"comments": "none"}]}


def _papers(*rows: dict[str, Any]) -> list[Paper]:
    return [Paper.model_validate(row) for row in rows]


def test_reviews_are_joined_in_four_ways(tmp_path: Path) -> None:
    rows = [_paper(n, True, (8, 5), (7, 4), (3, 1)) for n in range(12)]
    rows += [_paper(n, False, (4, 5), (5, 4), (9, 1)) for n in range(12, 24)]
    rows += [_paper(99, None, (9, 5)), {"id": "x", "accepted": True, "reviews": []}]
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    report = evaluate_reviews(read_reviews(path))
    assert (report.papers, report.accepted, report.reviews) == (24, 12, 72)
    found = {row.system: row for row in report.rows}
    assert found[MEAN].auroc == 0.5, "6 and 6"
    assert found[BY_CONFIDENCE].auroc == 1.0
    assert found[LEARNED].auroc == 1.0
    assert set(found) == {MEAN, GEOMETRIC, BY_CONFIDENCE, LEARNED}
    assert isinstance(found[MEAN].brier, Absent)
    assert found[LEARNED].low <= found[LEARNED].auroc <= found[LEARNED].high


def test_a_review_that_stands_there_twice_counts_once() -> None:
    row = _paper(1, True, (8, 4), (6, 3))
    (paper,) = _papers({**row, "reviews": row["reviews"] * 2})
    assert [one.recommendation for one in paper.graded()] == [8, 6]


def test_decisions_that_are_all_the_same_cannot_be_foreseen() -> None:
    with pytest.raises(InvalidInput, match="accepted and rejected"):
        evaluate_reviews(_papers(_paper(1, True, (8, 4))))


def _annotated(*rows: tuple[int, int, int]) -> list[Annotated]:
    names = ("annotator1", "annotator2", "annotator3")
    return [Annotated.model_validate(dict(zip(names, row, strict=True))) for row in rows]


def test_annotators_are_compared_with_each_other() -> None:
    report = evaluate_annotators(_annotated((1, 1, 1), (2, 2, 2), (1, 1, 2), (0, 0, 0)))
    assert report.unanimous == 0.75
    assert report.agreement == {"annotator1": 1.0, "annotator2": 1.0, "annotator3": 0.75}
    assert not isinstance(report.effective, Absent)
    assert 1 < report.effective < 3
    flat = evaluate_annotators(_annotated((1, 1, 1), (1, 2, 1)))
    assert isinstance(flat.effective, Absent)
    with pytest.raises(InvalidInput):
        evaluate_annotators([])


def test_annotations_of_another_layout_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"annotator1": 1}]')
    with pytest.raises(InvalidInput, match="does not hold annotations"):
        read_annotations(path)


# The command


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    votes = _votes(tmp_path / "v.csv.gz", _panel(MISLED, items=15))
    papers = [_paper(n, n % 2 == 0, (4 + n % 2 * -2 + 2, 4)) for n in range(24)]
    reviews = tmp_path / "r.jsonl"
    reviews.write_text("\n".join(json.dumps(row) for row in papers))
    pairs = tmp_path / "a.json"
    pairs.write_text(
        json.dumps([{"annotator1": n % 3, "annotator2": n % 3, "annotator3": 1} for n in range(9)])
    )
    arguments = [
        "--votes",
        str(votes),
        "--reviews",
        str(reviews),
        "--annotators",
        str(pairs),
    ]
    shown = CliRunner().invoke(council, arguments)
    assert shown.exit_code == 0, shown.output
    for part in ("30 items (plain 15, tricky 15)", "learned from other kinds", OURS, "AUROC"):
        assert part in shown.output
    assert "against majority: +0." in shown.output
    as_json = json.loads(CliRunner().invoke(council, [*arguments, "--json"]).output)
    assert as_json["votes"]["items"] == {"plain": 15, "tricky": 15}
    assert as_json["annotators"]["pairs"] == 9
    only = json.loads(CliRunner().invoke(council, ["--reviews", str(reviews), "--json"]).output)
    assert only["votes"] is None


@pytest.mark.parametrize("arguments", [[], ["--train", "x.csv"]], ids=["nothing", "train-alone"])
def test_a_command_that_asks_for_nothing_is_told_so(arguments: list[str]) -> None:
    found = CliRunner().invoke(council, arguments)
    assert found.exit_code == 2
    assert "--votes" in found.output


# The recorded judges


@needs_votes
def test_the_weighted_council_is_twenty_points_above_the_majority_on_real_judges() -> None:
    votes = read_votes(DATA / "llmbar" / "votes.csv.gz")
    assert len(votes.panel.judges) == 65
    report = evaluate_votes(votes, progress=silent)
    by_item, by_kind, shipped = report.trials
    found = _accuracy(by_item)
    assert found[OURS] >= found["majority"] + 0.20
    assert found[OURS] >= max(found["dawid-skene"], found["best judge"], found["plain log-odds"])
    unseen = _accuracy(by_kind)
    assert unseen[OURS] > 0.85
    assert min(next(row for row in by_kind.rows if row.system == OURS).by_kind.values()) > 0.85
    assert "have seen" in shipped.note


@needs_reviews
def test_real_reviews_foresee_the_decision() -> None:
    (path,) = (DATA / "peerread").glob("*.gz")
    report = evaluate_reviews(read_reviews(path))
    assert report.papers == 427
    assert {row.system: row.auroc >= 0.97 for row in report.rows} == dict.fromkeys(
        (MEAN, GEOMETRIC, BY_CONFIDENCE, LEARNED), True
    )
