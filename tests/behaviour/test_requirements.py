"""The manifest agrees with the tests, and every check behind that sentence can fail."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.behaviour.issues import GATE
from tests.behaviour.links import LAST_DECISION, MarkError, find_marks, problems
from tests.behaviour.requirements import BY_ID, REQUIREMENTS, Requirement

ROOT = Path(__file__).resolve().parents[2]

OPEN = Requirement(
    id="gate/rule/open",
    source="002",
    section="Rules",
    sentence="It waits.",
    open_until=GATE,
)
PROVEN = replace(OPEN, id="gate/rule/proven", open_until=None)
PROOF = {PROVEN.id: ["tests/test_gate.py::test_it_waits"]}


def marks_in(tmp_path: Path, source: str, name: str = "test_sample.py") -> dict[str, list[str]]:
    """Write one test file under a fresh root and read its marks."""
    folder = tmp_path / "tests" / "deep"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("import pytest\n" + source, encoding="utf-8")
    return find_marks(tmp_path)


def test_the_real_manifest_agrees_with_the_real_tests() -> None:
    """Every requirement is proven or open, and every mark names a requirement."""
    assert problems(REQUIREMENTS, find_marks(ROOT)) == []


def test_every_source_document_has_clauses() -> None:
    """All five documents are in the manifest, and ids lead back to their requirement."""
    assert {requirement.source for requirement in REQUIREMENTS} == {
        "000",
        "001",
        "002",
        "003",
        "004",
    }
    assert all(BY_ID[requirement.id] is requirement for requirement in REQUIREMENTS)


def test_an_open_and_a_proven_requirement_are_no_problem() -> None:
    """A manifest in which each requirement is open or tested passes."""
    assert problems([OPEN, PROVEN], PROOF) == []


def test_an_id_listed_twice_is_a_problem() -> None:
    """Duplicate ids are reported once, with their number."""
    assert problems([OPEN, OPEN, PROVEN], PROOF) == ["gate/rule/open: listed 2 times"]


def test_a_mark_with_an_unknown_id_is_a_problem_that_names_the_test() -> None:
    """A test that names a requirement nobody wrote is reported by name."""
    marks = {"gate/rule/nowhere": ["tests/test_gate.py::test_lost"]}
    assert problems([OPEN], marks) == [
        "gate/rule/nowhere: unknown requirement, named by tests/test_gate.py::test_lost"
    ]


def test_a_proven_requirement_without_a_test_is_a_problem() -> None:
    """Nothing counts as proven unless a test names it."""
    assert problems([PROVEN], {}) == [
        "gate/rule/proven: listed as proven but no test names it",
    ]


def test_an_open_requirement_with_a_test_is_a_problem() -> None:
    """A requirement that has its test must not stay on the open list."""
    marks = {OPEN.id: ["tests/test_gate.py::test_it_waits"]}
    assert problems([OPEN], marks) == [
        "gate/rule/open: still listed as open but tested by tests/test_gate.py::test_it_waits"
    ]


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (replace(OPEN, open_until="Some day"), "open until an unknown issue, 'Some day'"),
        (replace(OPEN, sentence="  "), "the sentence is empty"),
        (replace(OPEN, sentence="It waits"), "the sentence does not end with a full stop"),
        (replace(OPEN, decision=0), "decision 0 is not in 1 to 24"),
        (replace(OPEN, decision=LAST_DECISION + 1), "decision 25 is not in 1 to 24"),
        (replace(OPEN, source="005"), "source '005' is not one of the five"),
        (replace(OPEN, source="000"), "not a lower-case slug that starts with cap/"),
    ],
)
def test_a_malformed_requirement_is_a_problem(broken: Requirement, complaint: str) -> None:
    """Each field with a closed set of values is checked, and the complaint says which is wrong."""
    assert problems([broken], {}) == [f"{broken.id}: {complaint}"]


@pytest.mark.parametrize("bad_id", ["gate/Rule", "gate/rule_1", "gate/", "gate//x", "gate/a-"])
def test_an_id_that_is_no_slug_is_a_problem(bad_id: str) -> None:
    """Ids stay readable: lower-case words joined by hyphens and slashes."""
    assert problems([replace(OPEN, id=bad_id)], {}) == [
        f"{bad_id}: not a lower-case slug that starts with gate/"
    ]


def test_marks_on_functions_are_found(tmp_path: Path) -> None:
    """Several ids in a mark, several marks and async tests all link to their test."""
    found = marks_in(
        tmp_path,
        "@pytest.mark.requirement('a/1', 'a/2')\n"
        "@pytest.mark.requirement('a/3')\n"
        "def test_one(): ...\n"
        "@pytest.mark.requirement('a/1')\n"
        "async def test_two(): ...\n"
        "def test_unmarked(): ...\n",
    )
    assert found == {
        "a/1": ["tests/deep/test_sample.py::test_one", "tests/deep/test_sample.py::test_two"],
        "a/2": ["tests/deep/test_sample.py::test_one"],
        "a/3": ["tests/deep/test_sample.py::test_one"],
    }


def test_marks_on_a_class_reach_each_of_its_tests(tmp_path: Path) -> None:
    """A class mark, also of an outer class or in the class body, counts for the tests within."""
    found = marks_in(
        tmp_path,
        "@pytest.mark.requirement('a/1')\n"
        "class TestOuter:\n"
        "    pytestmark = [pytest.mark.slow, pytest.mark.requirement('a/2')]\n"
        "    def test_one(self): ...\n"
        "    def helper(self): ...\n"
        "    class TestInner:\n"
        "        def test_two(self): ...\n",
    )
    tests = [
        "tests/deep/test_sample.py::TestOuter::test_one",
        "tests/deep/test_sample.py::TestOuter::TestInner::test_two",
    ]
    assert found == {"a/1": tests, "a/2": tests}


@pytest.mark.parametrize(
    "assignment",
    [
        "pytestmark = pytest.mark.requirement('a/1')",
        "pytestmark = [pytest.mark.slow, pytest.mark.requirement('a/1')]",
        "pytestmark: list[pytest.MarkDecorator] = [pytest.mark.requirement('a/1')]",
    ],
)
def test_a_module_mark_reaches_every_test_of_the_module(tmp_path: Path, assignment: str) -> None:
    """`pytestmark` counts for functions and for state machines, as one mark or as a list."""
    found = marks_in(
        tmp_path,
        f"{assignment}\ndef test_one(): ...\nTestMachine = Machine.TestCase\n",
    )
    assert found == {
        "a/1": ["tests/deep/test_sample.py::test_one", "tests/deep/test_sample.py::TestMachine"]
    }


def test_a_mark_on_a_parametrised_case_counts_for_the_test(tmp_path: Path) -> None:
    """A table of cases can name one requirement per row, and a shorter `mark` works too."""
    found = marks_in(
        tmp_path,
        "from pytest import mark\n"
        "@mark.parametrize('n', [pytest.param(1, marks=mark.requirement('a/1'))])\n"
        "def test_one(n): ...\n",
    )
    assert found == {"a/1": ["tests/deep/test_sample.py::test_one"]}


def test_an_id_named_twice_for_a_test_is_one_link(tmp_path: Path) -> None:
    """A module mark repeated on a function does not count twice."""
    found = marks_in(
        tmp_path,
        "pytestmark = pytest.mark.requirement('a/1')\n"
        "@pytest.mark.requirement('a/1')\n"
        "def test_one(): ...\n",
    )
    assert found == {"a/1": ["tests/deep/test_sample.py::test_one"]}


def test_files_that_pytest_does_not_collect_are_not_read(tmp_path: Path) -> None:
    """Only files named `test_*.py` can prove anything."""
    source = "@pytest.mark.requirement('a/1')\ndef test_one(): ...\n"
    assert marks_in(tmp_path, source, name="helpers.py") == {}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("@pytest.mark.requirement(NAME)\ndef test_one(): ...\n", "must be a plain string"),
        ("@pytest.mark.requirement()\ndef test_one(): ...\n", "takes one or more ids"),
        ("@pytest.mark.requirement(id='a/1')\ndef test_one(): ...\n", "takes one or more ids"),
        ("@pytest.mark.requirement('a/1')\ndef helper(): ...\n", "is on no test"),
        ("@pytest.mark.requirement('a/1')\nclass Machine: ...\n", "is on no test"),
    ],
)
def test_a_mark_that_proves_nothing_is_refused(tmp_path: Path, source: str, reason: str) -> None:
    """A mark without a readable id or without a test is refused with its place, not dropped."""
    with pytest.raises(MarkError, match=rf"^tests/deep/test_sample\.py:2: .*{reason}$"):
        marks_in(tmp_path, source)


def test_the_report_counts_the_whole_manifest() -> None:
    """The command run by `make check` prints every requirement as proven or open."""
    command = [sys.executable, "tools/requirements_report.py", "--json"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    report = json.loads(result.stdout)
    assert report["total"] == len(REQUIREMENTS)
    assert report["proven"] + sum(map(len, report["open"].values())) == len(REQUIREMENTS)
