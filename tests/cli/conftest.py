"""Running the command line as a person does, in this process, in a home of its own."""

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from salon.cli.main import main


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command left."""

    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        return self.output.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.output)

    @property
    def error(self) -> Any:
        return json.loads(self.errors)["error"]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`salon` in one home."""

    home: Path
    patch: pytest.MonkeyPatch

    def __call__(self, *args: str, stdin: bytes = b"") -> Ran:
        output, errors = io.BytesIO(), io.BytesIO()
        with self.patch.context() as patch:
            patch.setenv("SALON_HOME", str(self.home))
            patch.setattr(sys, "argv", ["salon", *args])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", io.TextIOWrapper(output, write_through=True))
            patch.setattr(sys, "stderr", io.TextIOWrapper(errors, write_through=True))
            try:
                main()
                code = 0
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else 1
            return Ran(code, output.getvalue(), errors.getvalue().decode())


@pytest.fixture
def salon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(tmp_path / "home", monkeypatch)
