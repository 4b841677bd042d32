"""The docs are a contract: links lead somewhere, examples run, every part is described."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from salon.cli.main import GROUPS
from salon.core import errors

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_EXAMPLES = [
    ROOT / "README.md",
    ROOT / "docs/guides/mcard.md",
    ROOT / "docs/reference/python.md",
]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    targets = [found for found in LINK.findall(page.read_text("utf-8")) if "://" not in found]
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=_name)
def test_every_python_example_runs(page: Path, tmp_path: Path) -> None:
    examples = PYTHON.findall(page.read_text("utf-8"))
    assert examples
    for example in examples:
        subprocess.run(
            [sys.executable, "-W", "error", "-c", example],
            cwd=tmp_path,
            env={"SALON_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
            check=True,
            timeout=60,
        )


def test_every_command_and_every_error_code_is_in_the_reference() -> None:
    commands = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    codes = (ROOT / "docs/reference/errors.md").read_text("utf-8")
    assert [name for name in GROUPS if f"`salon {name}`" not in commands] == []
    known = [
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type)
        and issubclass(kind, errors.SalonError)
        and kind is not errors.SalonError
    ]
    assert len(known) > 30
    assert [code for code in known if f"`{code}`" not in codes] == []


def test_every_page_is_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        waiting += [
            (page.parent / target).resolve()
            for target in LINK.findall(page.read_text("utf-8"))
            if "://" not in target
        ]
    unreached = [_name(page) for page in PAGES if page not in seen]
    assert unreached == []
