"""Measuring claim support on labelled claims, in both layouts."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from salon.core.errors import FileMissing, InvalidInput
from salon.evaluation.attribution import (
    auroc,
    best_threshold,
    evaluate_attribution,
    macro_f1,
    read_claims,
    word_share,
)
from salon.grounding.support import load_judge
from salon.providers.embedders.minilm import open_minilm
from salon.providers.embedders.options import EmbedderOptions

SHARED = Path(__file__).parents[3] / "shared" / "data"

TEXT = "The mill of Torres ground barley in 1874. It burned down in 1890 and nobody rebuilt it."
ROWS: list[dict[str, Any]] = [
    {"claim": "The mill of Torres ground barley in 1874.", "label": True, "subset": "old"},
    {"claim": "The mill burned down in 1890 [1].", "label": True, "subset": "old"},
    {"claim": "The mill burned down in 1891.", "label": False, "subset": "new"},
    {"claim": "A school opened beside the harbour.", "label": False, "subset": "new"},
    {"claim": "It burned down in 1890 and nobody rebuilt it.", "label": True, "subset": "new"},
]


def attributionbench(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    words = {True: "attributable", False: "not attributable"}
    lines = [
        {
            "claim": row["claim"],
            "references": TEXT.split(". "),
            "attribution_label": words[row["label"]],
            "src_dataset": row["subset"],
            "response": "unused",
        }
        for row in rows
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    return path


def wice(path: Path) -> Path:
    words = {True: "supported", False: "partially_supported"}
    lines = [
        {"claim": row["claim"], "evidence": [TEXT], "label": words[row["label"]], "meta": {}}
        for row in ROWS
    ]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    return path


def test_both_layouts_are_read_alike(tmp_path: Path) -> None:
    one, first = read_claims(attributionbench(tmp_path / "a.jsonl"))
    other, second = read_claims(wice(tmp_path / "w.jsonl.gz"))
    assert (one, other) == ("attributionbench", "wice")
    assert [claim.is_borne_out for claim in first] == [claim.is_borne_out for claim in second]
    assert {claim.subset for claim in first} == {"old", "new"}
    assert {claim.subset for claim in second} == {"supported", "partially_supported"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no claims"),
        (b"not json", "line 1"),
        (b'{"claim": "x", "evidence": ["y"], "label": "maybe"}', "label"),
        (b'{"claim": "x", "attribution_label": "attributable"}', "references"),
        (b"\x1f\x8bbroken", "the compressed file is damaged"),
        (b"\xff\xfe", "line 1: this is not UTF-8 text"),
    ],
)
def test_files_in_no_known_layout_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        read_claims(path)


def test_a_layout_that_was_named_is_the_one_that_is_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="evidence"):
        read_claims(attributionbench(tmp_path / "a.jsonl"), "wice")


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        read_claims(tmp_path / "none.jsonl")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_claims(tmp_path)


def test_a_report_says_how_each_way_of_judging_did(tmp_path: Path) -> None:
    report = evaluate_attribution(attributionbench(tmp_path / "a.jsonl"), load_judge(None))
    assert (report.claims, report.borne_out, report.encoder) == (5, 3, None)
    names = [(one.system, one.is_best_threshold) for one in report.systems]
    assert names == [
        ("salon", False),
        ("salon", True),
        ("word overlap", False),
        ("word overlap", True),
    ]
    ours = report.systems[0]
    assert ours.overall.macro_f1 == 1.0, "each of these claims is plain"
    assert ours.overall.auroc == 1.0
    assert set(ours.by_subset) == {"old", "new"}
    assert ours.by_subset["old"].auroc is None, "all of them are borne out"
    assert ours.by_subset["old"].macro_f1 is None
    assert ours.by_subset["old"].accuracy == 1.0
    assert report.systems[1].overall.macro_f1 == 1.0
    assert report.refused == {"claims": 1, "borne_out": 0}
    assert [one.peer for one in report.comparisons] == ["word overlap", "word overlap at its best"]
    assert json.loads(json.dumps(report.as_json()))["claims"] == 5


def test_only_the_first_so_many_are_judged(tmp_path: Path) -> None:
    path = attributionbench(tmp_path / "a.jsonl")
    assert evaluate_attribution(path, load_judge(None), limit=2).claims == 2


def test_macro_f1_counts_both_verdicts() -> None:
    truth = np.array([True, True, False, False])
    assert macro_f1(truth, truth) == 1
    assert macro_f1(truth, ~truth) == 0
    assert macro_f1(truth, np.array([True] * 4)) == pytest.approx((2 * 2 / 6 + 0) / 2)
    assert macro_f1(np.array([True]), np.array([True])) == 1


def test_auroc_counts_ties_as_half() -> None:
    truth = np.array([True, False, True, False])
    assert auroc(truth, np.array([2.0, 1.0, 1.0, 0.0])) == pytest.approx(0.875)
    assert auroc(np.array([True]), np.array([1.0])) is None


def test_the_best_threshold_separates_where_it_can() -> None:
    truth = np.array([True, False, True, False])
    assert best_threshold(truth, np.array([0.9, 0.1, 0.7, 0.3])) == 0.7


def test_word_share_is_the_share_of_content_words() -> None:
    assert word_share("The mill burned a school.", TEXT) == pytest.approx(2 / 3)
    assert word_share("!", TEXT) == 0


@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data is not here")
def test_claims_are_told_apart_better_than_by_word_overlap() -> None:
    path = SHARED / "attributionbench" / "dev_all_subset_balanced.jsonl.gz"
    with open_minilm("minilm", EmbedderOptions(threads=1)) as encoder:
        report = evaluate_attribution(path, load_judge(encoder), limit=200)
    ours, _, overlap, _ = report.systems
    assert ours.overall.macro_f1 is not None
    assert overlap.overall.macro_f1 is not None
    assert ours.overall.macro_f1 > overlap.overall.macro_f1
