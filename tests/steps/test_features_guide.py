"""The examples of the guide are run, and say what the guide says."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "features.md"
EXAMPLES = re.findall(
    r"```python\n(.*?)```\n\n```text\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL
)


@pytest.mark.parametrize("number", range(3))
def test_an_example_prints_what_the_guide_shows(number: int) -> None:
    code, shown = EXAMPLES[number]
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(code, str(GUIDE), "exec"), {})
    assert printed.getvalue() == shown


def test_every_example_is_run() -> None:
    assert len(EXAMPLES) == 3 == GUIDE.read_text("utf-8").count("```python")
