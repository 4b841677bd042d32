"""Measuring what is noticed of private data."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from salon.cli.eval_pii import pii
from salon.core.errors import InvalidInput
from salon.evaluation import pii as measuring
from salon.evaluation.pii import Found, LabelledText, evaluate_pii, read_labelled
from salon.evaluation.progress import silent

DATA = Path(__file__).parents[3] / "shared" / "data" / "presidio_synth" / "synth.json.gz"


def _row(text: str, *spans: tuple[str, str]) -> dict[str, object]:
    places = [(label, text.index(value), text.index(value) + len(value)) for label, value in spans]
    return {
        "full_text": text,
        "spans": [
            {"entity_type": label, "start_position": start, "end_position": end}
            for label, start, end in places
        ],
    }


ROWS = [
    _row("Write to jane@nowhere.io.", ("EMAIL_ADDRESS", "jane@nowhere.io")),
    _row("Call now, said Jane of Leeds.", ("PERSON", "Jane"), ("GPE", "Leeds")),
    _row("The moon is at 12 Old Mill Lane."),
    _row("Somewhere behind the old mill", ("STREET_ADDRESS", "the old mill")),
    _row("Nothing at all."),
]


def _write(path: Path, rows: object) -> Path:
    content = json.dumps(rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["texts.json", "texts.json.gz"])
def test_figures_are_those_that_can_be_counted_by_hand(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "_open_peer", lambda: "not installed (spacy)")
    report = evaluate_pii(read_labelled(_write(tmp_path / name, ROWS)), progress=silent)
    (ours,) = report.finders
    rows = {row.label: row for row in ours.rows}
    assert (rows["EMAIL_ADDRESS"].noticed, rows["EMAIL_ADDRESS"].named) == (1.0, 1.0)
    assert rows["STREET_ADDRESS"].noticed == 0.0
    assert (rows["PERSON"].is_looked_for, rows["PERSON"].noticed) == (False, 0.0)
    assert ours.noticed == 0.5
    assert (ours.findings, ours.precision) == (2, 0.5)
    assert (ours.certain_findings, ours.certain_precision) == (2, 0.5)
    assert report.missing == {"presidio": "not installed (spacy)"}


def test_a_peer_is_measured_on_the_same_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    def peer(text: str) -> list[Found]:
        return [Found("EMAIL_ADDRESS", False, 0, len(text))]

    monkeypatch.setattr(measuring, "_open_peer", lambda: peer)
    texts = [LabelledText(text="jane@nowhere.io", spans=(("EMAIL_ADDRESS", 0, 15),))]
    ours, other = evaluate_pii(texts, progress=silent).finders
    assert (ours.finder, other.finder) == ("salon", "presidio")
    assert (other.rows[0].named, other.rows[0].certain, other.certain_precision) == (1.0, 0.0, None)


def test_presidio_runs_without_a_language_model_and_without_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stand-ins with the names that presidio's packages have; they are no dependency of ours."""

    class Extractor:
        def __init__(self, *, suffix_list_urls: tuple[str, ...]) -> None:
            self.urls = suffix_list_urls

    suffixes = SimpleNamespace(tldextract=SimpleNamespace(), TLDExtract=Extractor)
    made: dict[str, Any] = {}

    class Analyzer:
        def __init__(self, **given: Any) -> None:
            made.update(given)

        def analyze(self, text: str, *, language: str) -> list[SimpleNamespace]:
            assert language == "en"
            return [SimpleNamespace(entity_type="URL", score=0.6, start=0, end=len(text))]

    stand_ins = {
        "spacy": SimpleNamespace(blank=lambda language: f"blank {language}"),
        "presidio_analyzer": SimpleNamespace(AnalyzerEngine=Analyzer),
        "presidio_analyzer.nlp_engine": SimpleNamespace(SpacyNlpEngine=SimpleNamespace),
        "tldextract": suffixes,
    }
    monkeypatch.setattr(measuring, "import_module", stand_ins.__getitem__)
    peer = measuring._open_peer()
    assert not isinstance(peer, str)
    assert peer("abc") == [Found("URL", True, 0, 3)]
    assert made["nlp_engine"].nlp == {"en": "blank en"}
    assert suffixes.tldextract.TLD_EXTRACTOR.urls == ()

    def missing(name: str) -> None:
        raise ImportError(name=name)

    monkeypatch.setattr(measuring, "import_module", missing)
    assert measuring._open_peer() == "not installed (spacy)"


def test_texts_without_any_span_have_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_open_peer", lambda: "not installed")
    (ours,) = evaluate_pii([LabelledText(text="x", spans=())], progress=silent).finders
    assert (ours.rows, ours.precision, ours.noticed) == ((), None, None)


@pytest.mark.parametrize("rows", [{}, [3], [{"full_text": "x"}], "x"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, rows: object) -> None:
    with pytest.raises(InvalidInput, match="labelled texts"):
        read_labelled(_write(tmp_path / "texts.json", rows))


def test_the_command_prints_a_table_and_json(tmp_path: Path) -> None:
    path = str(_write(tmp_path / "texts.json", ROWS))
    shown = CliRunner().invoke(pii, ["--texts", path])
    assert shown.exit_code == 0, shown.output
    assert "EMAIL_ADDRESS" in shown.output
    assert "(not looked for)" in shown.output
    data = json.loads(CliRunner().invoke(pii, ["--texts", path, "--json"]).stdout)
    assert data["texts"] == len(ROWS)


@pytest.mark.skipif(not DATA.exists(), reason="../shared/data is not there")
def test_on_synthetic_texts_nearly_everything_is_noticed() -> None:
    texts = read_labelled(DATA)
    report = evaluate_pii(texts, progress=silent)
    rows = {row.label: row for row in report.finders[0].rows}
    for label in ("EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "US_SSN"):
        assert rows[label].noticed == 1.0, label
    assert rows["STREET_ADDRESS"].noticed > 0.9
    ours = report.finders[0]
    assert ours.noticed is not None
    assert ours.noticed > 0.92
    assert ours.precision is not None
    assert ours.precision > 0.95
