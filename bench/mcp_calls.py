"""`python -m bench.mcp_calls`: how often per second an avatar says who it is, beside the bare SDK.

Both servers run in processes of their own and are asked by the same client, one call after the
other, by turns. The bare one has its answer ready; Salon checks each time whether its own still
holds. Also: how long it takes from starting `salon mcp` to the first answer.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.figures import Row, timed
from bench.mcp_servers import AVATAR, make_home
from bench.program import make_parser, report, say

CALLS = 100
ROUNDS = 15
"""Short turns and many: on a shared machine the ratio drifts with what others do."""
STARTS = 3
ERAS = {"2025-11-25": "legacy", "2026-07-28": "auto"}
_ROOT = Path(__file__).parent.parent
_PEER = "bare mcp SDK, the answer ready"


def call_rows(home: Path, *, calls: int = CALLS, rounds: int = ROUNDS) -> list[Row]:
    """Measure calls over both ways in both eras, and the start."""
    make_home(home)
    rows = []
    for era, mode in ERAS.items():
        say(f"calling by turns, {era}")
        stdio = anyio.run(_over_stdio, home, mode, calls, rounds)
        http = anyio.run(_over_http, home, mode, calls, rounds)
        for way, (salon, peer) in (("stdio", stdio), ("http", http)):
            rows.append(
                Row(name=f"{way}-{era}", what=f"get_avatar_info over {way}, {era}", unit="/s",
                    salon=salon, peer=peer, peer_is=_PEER, least_ratio=0.8, repetitions=rounds)
            )  # fmt: skip
    say("starting")
    return [*rows, *_start_rows(home)]


async def _over_stdio(home: Path, mode: str, calls: int, rounds: int) -> tuple[float, float]:
    async with _stdio("salon", home, mode) as salon, _stdio("bare", home, mode) as bare:
        return await _by_turns(salon, bare, calls, rounds)


async def _over_http(home: Path, mode: str, calls: int, rounds: int) -> tuple[float, float]:
    with _http("salon", home) as ours, _http("bare", home) as theirs:
        async with Client(ours, mode=mode) as salon, Client(theirs, mode=mode) as bare:
            return await _by_turns(salon, bare, calls, rounds)


async def _by_turns(salon: Client, bare: Client, calls: int, rounds: int) -> tuple[float, float]:
    for client in (salon, bare):
        answer = await client.call_tool("get_avatar_info", {})
        assert answer.structured_content
        assert answer.structured_content["id"] == AVATAR
    pairs = [(await _rate(salon, calls), await _rate(bare, calls)) for _ in range(rounds)]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


async def _rate(client: Client, calls: int) -> float:
    with timed() as watch:
        for _ in range(calls):
            await client.call_tool("get_avatar_info", {})
    return calls / watch.seconds


@asynccontextmanager
async def _stdio(side: str, home: Path, mode: str) -> AsyncIterator[Client]:
    words = ["-m", "bench.mcp_servers", side, "stdio", str(home)]
    parameters = StdioServerParameters(command=sys.executable, args=words, cwd=_ROOT)
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


@contextmanager
def _http(side: str, home: Path) -> Iterator[str]:
    port = _free_port()
    words = [sys.executable, "-m", "bench.mcp_servers", side, "http", str(home), str(port)]
    process = subprocess.Popen(words, cwd=_ROOT)  # noqa: S603 - our own module
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}/mcp/{AVATAR}"
    finally:
        process.terminate()
        process.wait(10)


def _start_rows(home: Path) -> list[Row]:
    times = [anyio.run(_time_to_answer, home) for _ in range(STARTS)]
    bare = [anyio.run(_bare_import_time) for _ in range(STARTS)]
    return [
        Row(name="start", what="from starting `salon mcp` to its first answer", unit="s",
            salon=median(times), peer=median(bare),
            peer_is="of which importing the SDK and its server", repetitions=STARTS)
    ]  # fmt: skip


async def _time_to_answer(home: Path) -> float:
    command = Path(sys.executable).with_name("salon")
    parameters = StdioServerParameters(
        command=str(command),
        args=["mcp", "--avatar", AVATAR],
        env={"SALON_HOME": str(home), "PATH": os.environ["PATH"]},
    )
    began = time.perf_counter()
    async with Client(stdio_client(parameters), mode="legacy") as client:
        await client.call_tool("get_avatar_info", {})
        return time.perf_counter() - began


async def _bare_import_time() -> float:
    with timed() as watch:
        await anyio.run_process([sys.executable, "-c", "import mcp.server"])
    return watch.seconds


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        with socket.socket() as knocking:
            if knocking.connect_ex(("127.0.0.1", port)) == 0:
                return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    raise RuntimeError("the server did not start")


def main() -> None:
    """Measure, and print one table."""
    parser = make_parser("mcp_calls", __doc__)
    parser.add_argument("--calls", type=int, default=CALLS, metavar="N")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="salon-bench-", dir=given.folder) as folder:
        rows = call_rows(Path(folder), calls=given.calls, rounds=given.rounds)
    report(rows, as_json=given.json)


if __name__ == "__main__":
    main()
