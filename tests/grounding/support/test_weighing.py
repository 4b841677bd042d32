"""Weights are whole, or refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from salon.core.errors import FileMissing, InvalidSettings
from salon.grounding.support.weighing import (
    JUDGE,
    SELECTOR,
    Weighing,
    WeighingFile,
    read_weighings,
)


def weighing(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "claim",
        "fingerprint": None,
        "features": {"a": {"centre": 1.0, "scale": 2.0, "slope": 3.0}},
        "start": 0.5,
        "threshold": 0.5,
        **changes,
    }


def write(folder: Path, *weighings: dict[str, Any]) -> Path:
    path = folder / "weights.json"
    path.write_text(json.dumps({"attribution": ["made up"], "weighings": weighings}))
    return path


def test_a_weighing_is_a_logistic_curve() -> None:
    one = Weighing.model_validate(weighing())
    assert one.probability({"a": 1.0, "unused": 9.0}) == pytest.approx(0.6225, abs=1e-4)
    assert 0 < one.probability({"a": -1e9}) < 1e-9
    assert 1 - 1e-9 < one.probability({"a": 1e9}) < 1


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": 1.0},
        {"start": float("nan")},
        {"features": {"a": {"centre": 0, "scale": 0, "slope": 1}}},
        {"surplus": 1},
    ],
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettings, match="holds no weights"):
        read_weighings(write(tmp_path, weighing(**changes)))


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        read_weighings(tmp_path / "none.json")


def test_a_kind_without_weights_is_refused(tmp_path: Path) -> None:
    found = read_weighings(write(tmp_path, weighing(fingerprint="model")))
    with pytest.raises(InvalidSettings, match="no weights of the kind"):
        found.by_words("claim")
    assert found.by_meaning("claim", None) is None


@pytest.mark.parametrize(
    ("path", "kinds"), [(JUDGE, {"claim"}), (SELECTOR, {"question", "statement"})]
)
def test_the_shipped_weights_work_with_and_without_a_model(path: Path, kinds: set[str]) -> None:
    found: WeighingFile = read_weighings(path)
    assert found.attribution
    for kind in kinds:
        assert found.by_words(kind).features
        assert sum(one.kind == kind for one in found.weighings) == 2
