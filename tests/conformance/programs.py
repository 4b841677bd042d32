"""Other people's programs: where they are, and running them."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".conformance"
PACKAGES = (
    "node@22",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2",
    "@modelcontextprotocol/sdk@1",
    "@modelcontextprotocol/client@2",
    "@anthropic-ai/mcpb@2",
)
NODE = FOLDER / "node_modules/node/bin/node"
_FAILED_CHECKS = re.compile(r"^✗ (?P<scenario>\S+): .*$", re.MULTILINE)
_TOTAL = re.compile(r"^Total: (\d+) passed, (\d+) failed$", re.MULTILINE)


class MissingPrograms(Exception):
    """Node's package manager is not here, so nothing can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a program left."""

    code: int
    output: str
    errors: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the conformance suite says at its end."""

    passed: int
    failed: int
    failing: frozenset[str]


def read_summary(output: str) -> Summary:
    """Read the end of the suite's output; raise `ValueError` where it has none."""
    _, found, end = output.partition("=== SUMMARY ===")
    total = _TOTAL.search(end)
    if not found or total is None:
        raise ValueError(f"the suite gave no summary: {output[-500:]}")
    before_notes = end[: total.start()]
    failing = frozenset(match["scenario"] for match in _FAILED_CHECKS.finditer(before_notes))
    return Summary(passed=int(total[1]), failed=int(total[2]), failing=failing)


def ensure_programs() -> None:
    """Install the packages into a folder that git ignores, or raise `MissingPrograms`."""
    if NODE.exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise MissingPrograms("npm is not installed")
    FOLDER.mkdir(exist_ok=True)
    flags = ("--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--prefix", ".")
    done = subprocess.run([npm, "install", *flags, *PACKAGES], cwd=FOLDER, check=False)
    if done.returncode or not NODE.exists():
        raise MissingPrograms("npm could not install the packages")


def node(script: str, *words: str, seconds: float = 300) -> Ran:
    """Run a program of the packages with the right Node."""
    command = [str(NODE), str(FOLDER / "node_modules/.bin" / script), *words]
    return _run(command, seconds)


def node_script(path: Path, *words: str, seconds: float = 120) -> Ran:
    """Run a script of ours where the packages are, so that it can import them."""
    place = FOLDER / path.name
    shutil.copyfile(path, place)
    return _run([str(NODE), str(place), *words], seconds)


def _run(command: Sequence[str], seconds: float) -> Ran:
    environment = os.environ | {"PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command,
        cwd=FOLDER,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Ran(code=done.returncode, output=done.stdout, errors=done.stderr)


@contextmanager
def server_process(*words: str, port: int) -> Iterator[None]:
    """Run a server of ours until the block ends."""
    with subprocess.Popen([sys.executable, *words], cwd=ROOT) as process:
        try:
            _wait_for(port, process)
            yield
        finally:
            process.terminate()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        with socket.socket() as knocking:
            if knocking.connect_ex(("127.0.0.1", port)) == 0:
                return
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    raise RuntimeError("the server did not start")
