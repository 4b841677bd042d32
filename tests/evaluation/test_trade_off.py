"""The trade-off of answers: what answering from a threshold on comes to."""

import json
from pathlib import Path
from typing import cast

import pytest

from salon.evaluation.answers import STEPS, AskedOnce, trade_off
from salon.experts.evidence import Signs
from tests.cli.conftest import CommandLine
from tests.experts.valley import BRIDGE, OTTERS

SIGNS = cast("Signs", None)
"""The trade-off is of scores; what they were made from does not matter."""


def _asked(score: float, *, is_right: bool, is_first: bool = False) -> AskedOnce:
    return AskedOnce(
        id="1", group="1", is_answerable=True, signs=SIGNS, score=score, is_right=is_right,
        is_first=is_first, is_hidden=False, took_s=0.0,
    )  # fmt: skip


def test_each_threshold_says_how_many_are_answered_and_how_well() -> None:
    asked = [
        _asked(0.9, is_right=True, is_first=True),
        _asked(0.6, is_right=True),
        _asked(0.3, is_right=False),
        _asked(0.0, is_right=False),
    ]
    points = {one.threshold: one for one in trade_off(asked)}
    assert max(points) == 0.9
    assert list(points) == [step for step in STEPS if step <= 0.9]
    strict, middle, none = points[0.9], points[0.5], points[0.0]
    assert (strict.coverage, strict.risk, strict.quote_hit_1) == (0.25, 0.0, 1.0)
    assert (middle.answered, middle.risk, middle.quote_hit_1) == (2, 0.0, 0.5)
    assert (none.coverage, none.risk, none.quote_hit_1) == (1.0, 0.5, 0.25)


def test_nobody_asked_gives_no_point() -> None:
    assert trade_off([]) == ()


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    paragraphs = [
        {
            "context": BRIDGE,
            "qas": [
                {
                    "id": "1",
                    "question": "When was the bridge over the Alder built?",
                    "answers": [{"text": "1874", "answer_start": BRIDGE.index("1874")}],
                },
                {
                    "id": "2",
                    "question": "Who painted the ceiling?",
                    "answers": [],
                    "is_impossible": True,
                },
            ],
        },
        {"context": OTTERS, "qas": []},
    ]
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": [{"title": "Valley", "paragraphs": paragraphs}]}), "utf-8")
    return path


def test_the_command_prints_the_curve(
    squad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    salon = CommandLine(tmp_path / "home", monkeypatch)
    command = ("eval", "answers", "--questions", str(squad), "--keep", str(tmp_path / "kept"))
    shown = salon(*command)
    assert shown.code == 0, shown.errors
    head = "threshold  answered  unsupported  first quote answers"
    assert head in shown.text
    rows = [line.split() for line in shown.text.split(head)[1].splitlines()]
    assert ["0.00", "1.000", "0.500", "0.500"] in rows
    points = salon(*command, "--json").json["curve"]
    assert set(points[-1]) == {"threshold", "answered", "coverage", "risk", "quote_hit_1"}
    assert points[-1]["threshold"] == 0.0
