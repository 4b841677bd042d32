"""The examples of the gate's guide run, and print what it shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "gate.md"
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("number", [0, 1])
def test_an_example_prints_what_the_guide_shows(number: int) -> None:
    code, expected = EXAMPLE.findall(GUIDE.read_text("utf-8"))[number]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(GUIDE), "exec"), {})
    assert printed.getvalue() == expected
