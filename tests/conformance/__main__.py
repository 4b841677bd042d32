"""`python -m tests.conformance`: everything that other people's programs say about our servers.

The public suite at 100 % on the fixture server in both revisions, and on a real avatar with no
failure but the expected; the Inspector and both generations of the TypeScript client over stdio and
HTTP; a round of the council with a seat of each SDK; the bundle's manifest. Without npm it says so
and does nothing.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.conformance.council_seats import play_together
from tests.conformance.programs import (
    ROOT,
    MissingPrograms,
    Ran,
    ensure_programs,
    free_port,
    node,
    node_script,
    read_summary,
    server_process,
)
from tests.mcp_server.homes import AVATAR, make_home

HERE = Path(__file__).parent
TOOLS = ["query_corpus", "generate_response", "get_avatar_info", "should_speak", "verify_response"]
QUESTION = "What happens to a canal that everyone uses and nobody mends?"
EXTENSION = "tasks-"
"""Scenarios of an extension that no revision requires and Salon does not have."""
SALON = str(Path(sys.executable).with_name("salon"))


class Failed(Exception):
    """A program found fault."""


def main() -> None:
    """Run everything, one line each, and end with 1 if anything fails."""
    try:
        ensure_programs()
    except MissingPrograms as missing:
        print(f"SKIPPED: {missing}; install Node 20 or later with npm and run again")
        return
    with tempfile.TemporaryDirectory(prefix="salon-conformance-") as folder:
        home = Path(folder) / "home"
        make_home(home)
        failures = sum(not _passes(name, check) for name, check in _checks(home))
    if failures:
        sys.exit(1)


def _passes(name: str, check: Callable[[], str]) -> bool:
    try:
        said = check()
    except Failed as failed:
        print(f"FAILED  {name}: {failed}")
        return False
    print(f"passed  {name}: {said}")
    return True


def _checks(home: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp/fixture"
    with server_process("-m", "tests.conformance.fixture_server", str(port), port=port):
        yield "suite 2025-11-25, fixture", lambda: _suite(url, "2025-11-25")
        yield "suite 2026-07-28, fixture", lambda: _suite(url, "2026-07-28")
        yield "requirements 2026-07-28, fixture", lambda: _requirements(url)
    words = ("-m", "salon.cli.main", "--home", str(home), "mcp", "--http")
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp/{AVATAR}"
    with server_process(*words, "--port", str(port), port=port):
        yield "suite 2025-11-25, avatar", lambda: _avatar_suite(url, "2025-11-25")
        yield "suite 2026-07-28, avatar", lambda: _avatar_suite(url, "2026-07-28")
        yield "inspector, http", lambda: _inspector(url, "--transport", "http")
        yield "typescript clients, http", lambda: _typescript("http", url)
    stdio = (SALON, "--home", str(home), "mcp", "--avatar", AVATAR)
    yield "inspector, stdio", lambda: _inspector(*stdio)
    yield "typescript clients, stdio", lambda: _typescript("stdio", *stdio)
    yield "a round with a python and a typescript seat", lambda: _council(home.parent / "council")
    manifest = ROOT / "packaging/mcpb/manifest.json"
    yield "manifest of the bundle", lambda: _expect(node("mcpb", "validate", str(manifest)))


# The public suite


def _suite(url: str, version: str) -> str:
    ran = node("conformance", "server", "--url", url, "--suite", "all", "--spec-version", version)
    summary = read_summary(ran.output)
    if summary.failed:
        raise Failed(f"{summary.failed} failed in {', '.join(sorted(summary.failing))}")
    return f"{summary.passed} of {summary.passed}"


def _requirements(url: str) -> str:
    ran = node("conformance", "server", "--url", url, "--requirements", "2026-07-28")
    summary = read_summary(ran.output)
    wrong = {name for name in summary.failing if not name.startswith(EXTENSION)}
    if wrong or ran.code:
        raise Failed(f"failing: {', '.join(sorted(wrong)) or ran.output[-300:]}")
    return f"{summary.passed} checks; the tasks extension is not scored"


def _avatar_suite(url: str, version: str) -> str:
    expected = str(HERE / f"expected-failures-{version}.yml")
    ran = node(
        *("conformance", "server", "--url", url, "--suite", "all"),
        *("--spec-version", version, "--expected-failures", expected),
    )
    if ran.code:
        raise Failed(ran.output[-1500:])
    summary = read_summary(ran.output)
    return f"{summary.passed} passed, {summary.failed} failed as expected for lack of fixtures"


# Clients


def _inspector(*target: str) -> str:
    listed = _json_of(node("mcp-inspector", "--cli", *target, "--method", "tools/list"))
    names = [tool["name"] for tool in listed["tools"]]
    if names != TOOLS:
        raise Failed(f"it sees {names}")
    call = ("--method", "tools/call", "--tool-name")
    info = _json_of(node("mcp-inspector", "--cli", *target, *call, "get_avatar_info"))
    if info["structuredContent"]["id"] != AVATAR:
        raise Failed(f"it got {info}")
    asking = (*call, "generate_response", "--tool-arg", f"question={QUESTION}")
    answer = _json_of(node("mcp-inspector", "--cli", *target, *asking))["structuredContent"]
    if answer["outcome"] != "answered" or not answer["citations"]:
        raise Failed(f"it got {answer}")
    strict = node("mcp-inspector", "--cli", *target, "--method", "tools/list", "--strict")
    _expect(strict)
    return f"{len(names)} tools, schemas portable"


def _typescript(way: str, *target: str) -> str:
    found = _json_of(node_script(HERE / "client.mjs", way, *target))
    for client, got in found.items():
        good = (
            got["tools"] == TOOLS
            and got["info"]["id"] == AVATAR
            and got["answer"]["outcome"] == "answered"
            and got["answer"]["citations"]
            and "did you mean `query`" in json.dumps(got["wrong"])
            and f"avatar://{AVATAR}/sources" in got["resources"]
            and got["prompt"] == 1
        )
        if not good:
            raise Failed(f"{client} got {got}")
    return ", ".join(found)


def _council(home: Path) -> str:
    played = play_together(home)
    used = (*played.python, *played.typescript["used"])
    if not played.round.is_over or not played.report.holds or "skill_cast_vote" not in used:
        raise Failed(f"the round stands in {played.round.phase}: {played.report.checks}")
    if not all(played.typescript["verified"].values()):
        raise Failed(f"skills that do not verify: {played.typescript['verified']}")
    skills = len(played.typescript["verified"])
    return f"{played.round.phase}, {len(used)} acts from outside, {skills} skills verified"


def _json_of(ran: Ran) -> Any:
    _expect(ran)
    return json.loads(ran.output)


def _expect(ran: Ran) -> str:
    if ran.code:
        raise Failed(f"exit {ran.code}: {(ran.errors or ran.output)[-800:]}")
    return ran.output.strip().splitlines()[-1][:80] if ran.output.strip() else "done"


if __name__ == "__main__":
    main()
