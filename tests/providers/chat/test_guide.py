"""The guide's examples run as they stand, and it names every kind of model."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from salon.providers.chat import KINDS
from salon.settings import load_settings

GUIDE = (Path(__file__).parents[3] / "docs/guides/models.md").read_text("utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
TOML = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("example", PYTHON)
def test_python_examples_run(example: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", example]
    subprocess.run(command, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, check=True, timeout=60)


@pytest.mark.parametrize("example", TOML)
def test_settings_in_examples_are_valid(example: str, tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, environment={}, flags=tomllib.loads(example))
    assert settings.chat.model


def test_every_kind_is_in_the_guide() -> None:
    assert len(PYTHON) == len(TOML) == 2
    assert [kind for kind in KINDS if f"`{kind}:" not in GUIDE] == []
    for kind in KINDS.values():
        assert kind.install is None or kind.install.split(",")[0] in GUIDE
