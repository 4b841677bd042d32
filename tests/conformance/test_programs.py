"""What the conformance run reads, and other people's clients where they are installed."""

import json
from pathlib import Path

import pytest

from tests.conformance import programs
from tests.conformance.programs import NODE, ROOT, Summary, node, node_script, read_summary
from tests.mcp_server.homes import AVATAR, make_home

HERE = Path(__file__).parent
needs_node = pytest.mark.skipif(
    not NODE.exists(), reason="other clients are not installed: `make conformance` gets them"
)
OUTPUT = """
=== Running scenario: ping ===
=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tasks-lifecycle: 1 passed, 8 failed

Total: 3 passed, 8 failed

Not scored for 2026-07-28: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
"""


def test_the_summary_of_the_suite_is_read() -> None:
    assert read_summary(OUTPUT) == Summary(
        passed=3, failed=8, failing=frozenset({"tasks-lifecycle"})
    )


def test_no_summary_is_no_success() -> None:
    with pytest.raises(ValueError, match="no summary"):
        read_summary("the suite crashed")


def test_the_packages_leave_no_lock_file_behind() -> None:
    assert ".conformance/" in (ROOT / ".gitignore").read_text().splitlines()
    found = [path for path in ROOT.glob("*/package-lock.json") if path.parts[-2][0] != "."]
    assert found == []


def test_without_npm_the_run_says_that_it_is_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tests.conformance import __main__ as program

    monkeypatch.setattr(programs, "NODE", tmp_path / "node")
    monkeypatch.setattr("shutil.which", lambda _: None)
    program.main()
    assert capsys.readouterr().out.startswith("SKIPPED: npm is not installed")


@needs_node
@pytest.mark.requirement("sdk/overview/any-client", "sdk/overview/loose-coupling")
def test_typescript_clients_get_answers_over_stdio(tmp_path: Path) -> None:
    import sys

    make_home(tmp_path / "home")
    salon = str(Path(sys.executable).with_name("salon"))
    ran = node_script(
        HERE / "client.mjs",
        *("stdio", salon, "--home", str(tmp_path / "home"), "mcp", "--avatar", AVATAR),
    )
    assert ran.code == 0, ran.errors
    for client, got in json.loads(ran.output).items():
        assert got["info"]["id"] == AVATAR, client
        assert got["info"]["ai"] is True


@needs_node
def test_the_bundle_is_valid_for_its_own_tool() -> None:
    ran = node("mcpb", "validate", str(ROOT / "packaging/mcpb/manifest.json"))
    assert ran.code == 0, ran.output + ran.errors
