#!/usr/bin/env python3
"""Print how many requirements of the source protocols are proven by tests.

Run from anywhere as `python tools/requirements_report.py [--json] [--open]`. Exits with 1 and
the list of problems when the manifest and the tests disagree.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.behaviour.links import MarkError, find_marks, problems
from tests.behaviour.requirements import REQUIREMENTS, Requirement

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The state of the manifest at one moment."""

    requirements: tuple[Requirement, ...]
    proven: frozenset[str]
    problems: tuple[str, ...]

    def groups(self) -> dict[str, tuple[int, int]]:
        """Return proven and total per id prefix, in the order of the manifest."""
        totals = Counter(_prefix(requirement.id) for requirement in self.requirements)
        proven = Counter(_prefix(requirement_id) for requirement_id in self.proven)
        return {prefix: (proven[prefix], total) for prefix, total in totals.items()}

    def open_by_issue(self) -> dict[str, list[Requirement]]:
        """Return the open requirements under the title of the issue that will close them."""
        grouped: dict[str, list[Requirement]] = {}
        for requirement in self.requirements:
            if requirement.open_until is not None:
                grouped.setdefault(requirement.open_until, []).append(requirement)
        return grouped


def make_report(requirements: Iterable[Requirement], root: Path) -> Report:
    """Compare the manifest with the test files under `root`."""
    listed = tuple(requirements)
    try:
        marks = find_marks(root)
    except MarkError as error:
        return Report(requirements=listed, proven=frozenset(), problems=(str(error),))
    proven = frozenset(
        requirement.id
        for requirement in listed
        if requirement.open_until is None and requirement.id in marks
    )
    return Report(requirements=listed, proven=proven, problems=tuple(problems(listed, marks)))


def as_text(report: Report, *, with_open: bool) -> str:
    """Return the summary line and, on request, the open requirements by issue."""
    groups = ", ".join(
        f"{prefix} {proven}/{total}" for prefix, (proven, total) in report.groups().items()
    )
    lines = [f"requirements: {len(report.proven)} of {len(report.requirements)} proven ({groups})"]
    if with_open:
        for title, requirements in report.open_by_issue().items():
            lines += ["", f"{title} ({len(requirements)} open)"]
            lines += [f"  {requirement.id}: {requirement.sentence}" for requirement in requirements]
    return "\n".join(lines)


def as_json(report: Report) -> str:
    """Return counts, open requirements by issue and problems as one JSON object."""
    return json.dumps(
        {
            "total": len(report.requirements),
            "proven": len(report.proven),
            "groups": {
                prefix: {"proven": proven, "total": total}
                for prefix, (proven, total) in report.groups().items()
            },
            "open": {
                title: [
                    {"id": requirement.id, "sentence": requirement.sentence}
                    for requirement in requirements
                ]
                for title, requirements in report.open_by_issue().items()
            },
            "problems": report.problems,
        },
        indent=2,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--open", action="store_true", help="list what is open, by issue")
    options = parser.parse_args(arguments)
    report = make_report(REQUIREMENTS, ROOT)
    text = as_json(report) if options.json else as_text(report, with_open=options.open)
    sys.stdout.write(f"{text}\n")
    sys.stderr.writelines(f"problem: {problem}\n" for problem in report.problems)
    return 1 if report.problems else 0


def _prefix(requirement_id: str) -> str:
    return requirement_id.partition("/")[0]


if __name__ == "__main__":
    sys.exit(main())
