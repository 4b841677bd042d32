"""`salon eval attribution`: what people and programs get to read."""

import json
from pathlib import Path

from click.testing import CliRunner

from salon.cli.eval_attribution import attribution
from tests.evaluation.test_attribution import ROWS, attributionbench, wice


def test_people_get_figures_beside_the_baseline(tmp_path: Path) -> None:
    path = attributionbench(tmp_path / "a.jsonl")
    ran = CliRunner().invoke(attribution, ["--claims", str(path), "--words-only"])
    assert ran.exit_code == 0, ran.output
    assert "5 claims in the layout of attributionbench, 3 borne out" in ran.output
    assert "none: words only" in ran.output
    assert "word overlap, best threshold here" in ran.output
    assert "old: 2 claims" in ran.output


def test_programs_get_every_figure(tmp_path: Path) -> None:
    path = wice(tmp_path / "w.jsonl.gz")
    options = ["--claims", str(path), "--format", "wice", "--limit-claims", "4", "--json"]
    ran = CliRunner().invoke(attribution, options)
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.output)
    assert report["claims"] == 4 < len(ROWS)
    assert report["encoder"].startswith("embedded:minilm@")
    assert len(report["systems"]) == 4


def _names(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_names, value.values()))
    if isinstance(value, list):
        return set().union(*map(_names, value))
    return set()


def test_every_field_of_the_json_is_in_the_guide(tmp_path: Path) -> None:
    guide = Path(__file__).resolve().parents[2] / "docs" / "guides" / "claim-support.md"
    path = attributionbench(tmp_path / "a.jsonl")
    ran = CliRunner().invoke(attribution, ["--claims", str(path), "--words-only", "--json"])
    fields = _names(json.loads(ran.output)) - {"old", "new"}
    assert {name for name in fields if f"`{name}`" not in guide.read_text("utf-8")} == set()
