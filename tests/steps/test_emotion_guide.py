"""The examples of the guide on readings print what the guide says they print."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from salon.steps.scam_patterns import shipped_rules

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "readings.md"
_EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
EXAMPLES = _EXAMPLE.findall(GUIDE.read_text("utf-8"))


@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=["emotion", "scam"])
def test_each_example_prints_what_the_guide_shows(code: str, printed: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, str(GUIDE), "exec"), {})
    assert out.getvalue() == printed


def test_the_guide_names_the_levels_in_force() -> None:
    text = GUIDE.read_text("utf-8")
    said = ", ".join(f"{name} from {least:g}" for name, least in shipped_rules().levels.items())
    assert said in text
