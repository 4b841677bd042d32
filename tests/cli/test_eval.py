"""`salon eval`: the tables, the JSON shape, and what is said about bad input."""

from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.evaluation.collections_in_files import Files, write_collection, write_hops


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write_collection(tmp_path)


def test_json_has_the_documented_shape(salon: CommandLine, files: Files, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ran = salon("eval", "retrieval", *files.options(), "--keep", str(kept), "--k", "1,3", "--json")
    assert (ran.code, ran.errors) == (0, "")
    assert list(ran.json) == ["collection", "setup", "indexing", "systems", "comparisons"]
    hybrid = ran.json["systems"][0]
    assert list(hybrid["recall"]) == ["1", "3"]
    assert set(hybrid["latency"]) == {
        "p50_ms",
        "p99_ms",
        "p50_without_embedding_ms",
        "p99_without_embedding_ms",
    }
    for binning in ("equal_mass", "equal_width"):
        table = hybrid["calibration"][binning]
        assert 0 <= table["error"] <= 1
        assert sum(row["count"] for row in table["bins"]) == hybrid["calibration"]["predictions"]
        assert set(table["bins"][0]) == {"lower", "upper", "count", "predicted", "observed"}
    assert ran.json["systems"][3]["calibration"] is None
    assert {row["verdict"] for row in ran.json["comparisons"]} <= {
        "better",
        "worse",
        "within noise",
    }
    assert (kept / "salon.db").exists()
    assert not salon.home.exists(), "the own home is left alone"


def _names(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_names, value.values()))
    if isinstance(value, list):
        return set().union(*map(_names, value))
    return set()


def test_every_field_of_the_json_is_in_the_guide(
    salon: CommandLine, files: Files, tmp_path: Path
) -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs/guides/evaluation.md").read_text("utf-8")
    found = salon("eval", "retrieval", *files.options(), "--k", "1,5", "--json").json
    assert {name for name in _names(found) if name not in guide} == set()
    hops = salon("eval", "multihop", *write_hops(tmp_path), "--json").json
    by_kind = {"compositional", "comparison"}
    assert {name for name in _names(hops) - by_kind if name not in guide} == set()


def test_people_get_tables_and_sentences(salon: CommandLine, files: Files, tmp_path: Path) -> None:
    options = [*files.options(), "--keep", str(tmp_path / "kept"), "--limit-queries", "3"]
    first = salon("eval", "retrieval", *options)
    assert first.code == 0
    for said in (
        "9 documents (7 distinct, 1 empty), 3 of 5 queries",
        "note: 1 queries left out: nothing was judged relevant",
        "note: 1 queries left out: beyond --limit-queries",
        "note: 1 relevant documents are not in the corpus",
        "nDCG@10",
        "R@100",
        "p99, without",
        "salon hybrid is ",
        "beyond noise: nDCG@10 ",
        "stored   7 documents in ",
    ):
        assert said in first.text
    again = salon("eval", "retrieval", *options)
    assert "stored   0 documents in " in again.text
    assert "; 7 were there" in again.text
    assert "; 0 computed, 7 passages in all" in again.text


def test_a_bad_file_is_one_error_with_file_and_line(salon: CommandLine, files: Files) -> None:
    files.queries.write_text('{"_id": "q1", "text": "fine"}\n{"_id": "q2"}\n')
    ran = salon("eval", "retrieval", *files.options(), "--json")
    assert (ran.code, ran.output) == (2, b"")
    assert ran.error["code"] == "invalid_input"
    assert ran.error["details"] == {"file": str(files.queries), "line": 2}
    shown = salon("eval", "retrieval", *files.options())
    assert f"{files.queries}, line 2: text: field required" in shown.errors
    files.corpus.unlink()
    assert salon("eval", "retrieval", *files.options()).code == 3


@pytest.mark.parametrize("depths", ["ten", "1,,5", "0", "5000", ""])
def test_a_bad_list_of_depths_is_explained(salon: CommandLine, files: Files, depths: str) -> None:
    ran = salon("eval", "retrieval", *files.options(), "--k", depths, "--json")
    assert ran.code == 2
    assert ran.error["hint"]


def test_an_unknown_embedder_is_named(salon: CommandLine, files: Files) -> None:
    ran = salon("eval", "retrieval", *files.options(), "--embedder", "nobody:nothing", "--json")
    assert (ran.code, ran.error["code"]) == (2, "unknown_provider")


def test_the_folder_to_keep_is_never_the_own_home(salon: CommandLine, files: Files) -> None:
    ran = salon("eval", "retrieval", *files.options(), "--keep", str(salon.home), "--json")
    assert ran.code == 2
    assert "your own archive" in ran.error["message"]


def test_a_temporary_home_goes_away(
    salon: CommandLine, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    assert salon("eval", "retrieval", *files.options()).code == 0
    assert list(scratch.iterdir()) == []


def test_multihop_shows_how_much_support_was_found(salon: CommandLine, tmp_path: Path) -> None:
    options = [*write_hops(tmp_path), "--keep", str(tmp_path / "kept")]
    shown = salon("eval", "multihop", *options)
    assert (shown.code, shown.errors) == (0, "")
    for said in (
        "5 documents (5 distinct), titles hidden; 2 of 3 questions",
        "note: 1 questions left out: their support is not all in the corpus",
        "all support@5",
        "R@5 by kind",
        "salon graph is no different from bm25s beyond noise: R@5 ",
        "5 passages indexed in ",
    ):
        assert said in shown.text
    limited = salon("eval", "multihop", *options, "--limit-questions", "1", "--json").json
    assert (limited["questions"], limited["questions_evaluated"]) == (3, 1)
    assert [one["system"] for one in limited["systems"]][:2] == ["salon graph", "salon hybrid"]
    assert set(limited["systems"][0]["overall"]["recall"]) == {"2", "5", "10"}
    assert limited["systems"][0]["overall"]["recall"]["5"] == 1.0
    assert list(limited["systems"][0]["by_kind"]) == ["compositional"]


def test_multihop_without_questions_to_leave_out_says_nothing_of_them(
    salon: CommandLine, tmp_path: Path
) -> None:
    options = write_hops(tmp_path)
    questions = Path(options[-1])
    first = questions.read_text().splitlines()[0]
    questions.write_text(first + "\n")
    shown = salon("eval", "multihop", *options)
    assert "1 of 1 questions" in shown.text
    assert "note:" not in shown.text
