"""`python -m bench.sockets`: WebSocket sessions with the model stubbed, beside two echoes.

Three servers run in processes of their own and are talked to by the same client with the same
frames, by turns, in another order in each round: Salon, a bare echo, and an echo that hands every
message to a thread and back. 200 sessions at once have 20 turns each; a client speaks again when
the reply to its last message has come and a pause has passed, of 0 to 1 s by default. Every reply
must come, in order, and hold the secret of its own session and of no other.

The goal is a ratio to the bare echo. A turn of Salon may take long, so it is never taken in the
event loop; the echo with a thread shows what that alone costs. All servers are alike in the rest:
uvicorn, the same WebSocket protocol underneath, one process each.
"""

import asyncio
import base64
import json
import os
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.figures import Row
from bench.program import make_parser, report, say
from bench.socket_servers import secret_of

SESSIONS = 200
TURNS = 20
ROUNDS = 5
THINKING_S = 1.0
"""How long a client waits before it speaks again, at most; the mean is half of it."""
PATIENCE_S = 120.0
_ROOT = Path(__file__).parent.parent


class Wrong(Exception):
    """A reply did not come, or was not the one that is due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """How long each reply took, in seconds, and what all of them cost the server."""

    seconds: list[float]
    processor_s: float = 0.0
    """Processor time of the server's process, between the last handshake and the last reply."""

    @property
    def processor_s_each(self) -> float:
        """Return the server's processor time for one message."""
        return self.processor_s / len(self.seconds)

    def at(self, share: float) -> float:
        """Return the time within which this share of the replies came."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that runs in a process of its own."""

    port: int
    process: int

    def processor_s(self) -> float:
        """Return the processor time that its threads have had."""
        tasks = Path(f"/proc/{self.process}/task").glob("*/schedstat")
        return sum(int(one.read_text().split()[0]) for one in tasks) / 1e9


class Client:
    """One session, as bytes on a socket: the client must cost less than what it measures."""

    def __init__(self, port: int, session: str) -> None:
        self._port = port
        self.session = session

    async def connect(self) -> None:
        """Shake hands."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        key = base64.b64encode(os.urandom(16)).decode()
        self._writer.write(
            f"GET /ws/{self.session} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        head = await self._reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n", 1)[0]:
            raise Wrong(head.decode())

    async def ask(self, text: str) -> str:
        """Send a frame and return the next one."""
        body = text.encode()
        length = bytes([0x80 | len(body)])
        if len(body) > 125:
            length = struct.pack("!BH", 0x80 | 126, len(body))
        # A mask of zeros leaves the text as it is.
        self._writer.write(b"\x81" + length + bytes(4) + body)
        first, size = await self._reader.readexactly(2)
        if first != 0x81:
            raise Wrong(f"a frame of kind {first:#x} came")
        if size == 126:
            (size,) = struct.unpack("!H", await self._reader.readexactly(2))
        return (await self._reader.readexactly(size)).decode()

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


async def talk(peer: Served, side: str, *, sessions: int, turns: int, thinking_s: float) -> Heard:
    """Hold all sessions at once, check every reply, and return how long each took."""
    clients = [Client(peer.port, f"s{os.urandom(6).hex()}") for _ in range(sessions)]
    for client in clients:
        await client.connect()
    chance = random.Random(sessions)  # noqa: S311 - pauses
    seconds: list[float] = []
    secrets = {secret_of(one.session) for one in clients}
    before = peer.processor_s()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        for client in clients:
            pauses = [chance.uniform(0, thinking_s) for _ in range(turns)]
            tasks.create_task(_hold(client, side, pauses, secrets, seconds))
    spent = peer.processor_s() - before
    for client in clients:
        client.close()
    if len(seconds) != sessions * turns:
        raise Wrong(f"{len(seconds)} of {sessions * turns} replies came")
    return Heard(seconds=seconds, processor_s=spent)


async def _hold(
    client: Client, side: str, pauses: list[float], secrets: set[str], seconds: list[float]
) -> None:
    for number, pause in enumerate(pauses, 1):
        await asyncio.sleep(pause)
        content = f"remark {number}"
        message = json.dumps(
            {
                "type": "user_message",
                "content": content,
                "user_id": f"user-{client.session}",
                "session_id": client.session,
            }
        )
        began = time.perf_counter()
        reply = await client.ask(message)
        seconds.append(time.perf_counter() - began)
        CHECKS[side](client.session, number, content, message, reply, secrets)


def _check_salon(
    session: str, number: int, content: str, _: str, reply: str, secrets: set[str]
) -> None:
    event = json.loads(reply)
    own = secret_of(session)
    if event["type"] != "bot_response" or event["turn"] != number:
        raise Wrong(f"turn {number} of {session} got {reply}")
    if event["content"] != f"{own} {content}":
        leaked = [one for one in secrets if one != own and one in reply]
        raise Wrong(f"{session} got {reply}, with {len(leaked)} secrets of others")


def _check_echo(_: str, __: int, ___: str, message: str, reply: str, ____: set[str]) -> None:
    if message != reply:
        raise Wrong(f"the echo of {message} was {reply}")


PEERS = {"echo": "bare echo", "threaded": "echo with a thread"}
FIGURES: dict[str, tuple[str, Callable[[Heard], float]]] = {
    "p50": ("ms", lambda heard: heard.at(0.5) * 1e3),
    "p99": ("ms", lambda heard: heard.at(0.99) * 1e3),
    "processor": ("µs", lambda heard: heard.processor_s_each * 1e6),
}
"""What is compared: two times of a reply, and the server's processor time for a message."""
MOST_RATIO = {("p99", "echo"): 2.0}

CHECKS = {"salon": _check_salon, "echo": _check_echo, "threaded": _check_echo}


@contextmanager
def server(side: str) -> Iterator[Served]:
    """Run one of the servers, and hand out where it is."""
    words = [sys.executable, "-m", "bench.socket_servers", side]
    process = subprocess.Popen(  # noqa: S603 - our own module
        words, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Served(port=int(process.stdout.readline()), process=process.pid)
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def socket_rows(
    *,
    sessions: int = SESSIONS,
    turns: int = TURNS,
    rounds: int = ROUNDS,
    thinking_s: float = THINKING_S,
) -> list[Row]:
    """Talk to all servers by turns, and return how long replies took and what they cost."""
    heard: dict[str, list[Heard]] = {side: [] for side in CHECKS}
    with ExitStack() as running:
        served = {side: running.enter_context(server(side)) for side in CHECKS}
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            for side in _order(number):
                work = talk(
                    served[side], side, sessions=sessions, turns=turns, thinking_s=thinking_s
                )
                heard[side].append(asyncio.run(work))
    about = f"{sessions} sessions of {turns} turns, pauses to {thinking_s:g} s"
    return [row for peer in PEERS for row in _rows_beside(peer, heard, about)]


def _order(number: int) -> list[str]:
    """Return the servers in the order of one round, so that none always comes after another."""
    sides = list(CHECKS)
    start = number % len(sides)
    return sides[start:] + sides[:start]


def _rows_beside(peer: str, heard: dict[str, list[Heard]], about: str) -> Iterator[Row]:
    ours, theirs = heard["salon"], heard[peer]
    for name, (unit, figure) in FIGURES.items():
        yield Row(
            name=f"{name} beside {peer}",
            what=f"{about}: {name}",
            unit=unit,
            salon=median(map(figure, ours)),
            peer=median(map(figure, theirs)),
            peer_is=PEERS[peer],
            most_ratio=MOST_RATIO.get((name, peer)),
            repetitions=len(ours),
        )
    pairs = zip(ours, theirs, strict=True)
    yield Row(
        name=f"p99 ratio beside {peer}",
        what=f"{about}: ratio of p99, median of rounds",
        unit="",
        salon=median(one.at(0.99) / other.at(0.99) for one, other in pairs),
        peer_is=PEERS[peer],
        repetitions=len(ours),
    )


def main() -> None:
    """Measure, and print the table."""
    parser = make_parser("sockets", __doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--thinking", type=float, default=THINKING_S, metavar="SECONDS")
    given = parser.parse_args()
    rows = socket_rows(
        sessions=given.sessions,
        turns=given.turns,
        rounds=given.rounds,
        thinking_s=given.thinking,
    )
    report(rows, as_json=given.json)


if __name__ == "__main__":
    main()
