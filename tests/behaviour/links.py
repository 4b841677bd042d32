"""Links between requirements and tests, read from the test files without running them.

A link is a mark `pytest.mark.requirement("id", ...)` on a test function, on a test class, in a
`pytestmark`, or inside another decorator such as the `marks` of a parametrised case. Nothing is
imported or executed, so what cannot be read off the source is refused instead of guessed.

Invariant: every requirement mark in a test file is either counted for a test that pytest collects
or raises `MarkError`; none is dropped silently.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.behaviour.issues import ISSUES
from tests.behaviour.requirement import Requirement

PREFIXES: Mapping[str, str] = {
    "000": "cap",
    "001": "sdk",
    "002": "gate",
    "003": "companion",
    "004": "council",
}
"""Id prefix of each source document."""

LAST_DECISION = 24
"""Number of the last row of DESIGN section 5."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)+")


class MarkError(ValueError):
    """A requirement mark that cannot be read statically or sits on nothing pytest collects."""


def find_marks(root: Path) -> dict[str, list[str]]:
    """Map each marked requirement id to its tests, as "path::test_name" relative to `root`."""
    found: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        where = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=where)
        _refuse_stray_marks(tree, where)
        for test, marks in _tests_in(tree.body, inherited=(), trail=f"{where}::"):
            for requirement_id in dict.fromkeys(_ids(marks, where)):
                found.setdefault(requirement_id, []).append(test)
    return found


def problems(requirements: Iterable[Requirement], marks: Mapping[str, Sequence[str]]) -> list[str]:
    """Return one sentence for each way in which manifest and tests disagree."""
    listed = tuple(requirements)
    return [
        *_duplicates(listed),
        *(complaint for requirement in listed for complaint in _malformed(requirement)),
        *_unknown_ids(listed, marks),
        *_wrong_standing(listed, marks),
    ]


def _duplicates(requirements: Sequence[Requirement]) -> Iterator[str]:
    counts = Counter(requirement.id for requirement in requirements)
    for requirement_id, count in counts.items():
        if count > 1:
            yield f"{requirement_id}: listed {count} times"


def _malformed(requirement: Requirement) -> Iterator[str]:
    sentence = requirement.sentence.strip()
    if not sentence:
        yield f"{requirement.id}: the sentence is empty"
    elif not sentence.endswith("."):
        yield f"{requirement.id}: the sentence does not end with a full stop"
    if requirement.decision is not None and not 1 <= requirement.decision <= LAST_DECISION:
        yield f"{requirement.id}: decision {requirement.decision} is not in 1 to {LAST_DECISION}"
    if requirement.open_until is not None and requirement.open_until not in ISSUES:
        yield f"{requirement.id}: open until an unknown issue, {requirement.open_until!r}"
    prefix = PREFIXES.get(requirement.source)
    if prefix is None:
        yield f"{requirement.id}: source {requirement.source!r} is not one of the five"
    elif not requirement.id.startswith(f"{prefix}/") or not _ID.fullmatch(requirement.id):
        yield f"{requirement.id}: not a lower-case slug that starts with {prefix}/"


def _unknown_ids(
    requirements: Sequence[Requirement], marks: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    known = {requirement.id for requirement in requirements}
    for requirement_id, tests in marks.items():
        if requirement_id not in known:
            yield f"{requirement_id}: unknown requirement, named by {', '.join(tests)}"


def _wrong_standing(
    requirements: Sequence[Requirement], marks: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    for requirement in requirements:
        tests = marks.get(requirement.id, ())
        if not tests and requirement.open_until is None:
            yield f"{requirement.id}: listed as proven but no test names it"
        if tests and requirement.open_until is not None:
            yield f"{requirement.id}: still listed as open but tested by {', '.join(tests)}"


def _tests_in(
    body: Sequence[ast.stmt], *, inherited: tuple[ast.Call, ...], trail: str
) -> Iterator[tuple[str, tuple[ast.Call, ...]]]:
    """Yield every test that pytest collects from `body` with the marks that apply to it."""
    shared = (*inherited, *_marks_of_pytestmark(body))
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith(
                "test"
            ):
                yield f"{trail}{name}", (*shared, *_marks_within(statement.decorator_list))
            case ast.ClassDef(name=name) if name.startswith("Test"):
                marks = (*shared, *_marks_within(statement.decorator_list))
                yield from _tests_in(statement.body, inherited=marks, trail=f"{trail}{name}::")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr="TestCase")) if (
                name.startswith("Test")
            ):
                # The way hypothesis turns a state machine into something pytest collects.
                yield f"{trail}{name}", shared
            case _:
                pass


def _marks_of_pytestmark(body: Sequence[ast.stmt]) -> tuple[ast.Call, ...]:
    marks: list[ast.Call] = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                marks.extend(_marks_within([value]))
            case ast.AnnAssign(target=ast.Name(id="pytestmark"), value=ast.expr() as value):
                marks.extend(_marks_within([value]))
            case _:
                pass
    return tuple(marks)


def _marks_within(expressions: Iterable[ast.AST]) -> tuple[ast.Call, ...]:
    return tuple(
        node
        for expression in expressions
        for node in ast.walk(expression)
        if isinstance(node, ast.Call) and _is_requirement_mark(node.func)
    )


def _is_requirement_mark(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(attr="requirement", value=ast.Attribute(attr="mark")):
            return True
        case ast.Attribute(attr="requirement", value=ast.Name(id="mark")):
            return True
        case _:
            return False


def _ids(marks: Iterable[ast.Call], where: str) -> Iterator[str]:
    for mark in marks:
        if mark.keywords or not mark.args:
            message = f"{where}:{mark.lineno}: a requirement mark takes one or more ids"
            raise MarkError(message)
        for argument in mark.args:
            match argument:
                case ast.Constant(value=str() as requirement_id):
                    yield requirement_id
                case _:
                    message = f"{where}:{argument.lineno}: a requirement id must be a plain string"
                    raise MarkError(message)


def _refuse_stray_marks(tree: ast.Module, where: str) -> None:
    counted = {
        id(mark) for _, marks in _tests_in(tree.body, inherited=(), trail="") for mark in marks
    }
    for mark in _marks_within([tree]):
        if id(mark) not in counted:
            message = f"{where}:{mark.lineno}: this requirement mark is on no test"
            raise MarkError(message)
