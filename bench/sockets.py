"""`python -m bench.sockets`: WebSocket sessions with the model stubbed, beside a bare echo.

Both servers run in processes of their own and are talked to by the same client, by turns: 200
sessions at once, each with 20 turns, each message sent when the reply to the one before has come
and a little time has passed. Every reply must come, in order, and hold the secret of its own
session and of no other.
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
from collections.abc import Iterator
from contextlib import contextmanager
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
    """How long each reply took, in seconds."""

    seconds: list[float]

    def at(self, share: float) -> float:
        """Return the time within which this share of the replies came."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


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


async def talk(port: int, side: str, *, sessions: int, turns: int, thinking_s: float) -> Heard:
    """Hold all sessions at once, check every reply, and return how long each took."""
    clients = [Client(port, f"s{os.urandom(6).hex()}") for _ in range(sessions)]
    for client in clients:
        await client.connect()
    chance = random.Random(sessions)  # noqa: S311 - pauses
    seconds: list[float] = []
    secrets = {secret_of(one.session) for one in clients}
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        for client in clients:
            pauses = [chance.uniform(0, thinking_s) for _ in range(turns)]
            tasks.create_task(_hold(client, side, pauses, secrets, seconds))
    for client in clients:
        client.close()
    if len(seconds) != sessions * turns:
        raise Wrong(f"{len(seconds)} of {sessions * turns} replies came")
    return Heard(seconds=seconds)


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


CHECKS = {"salon": _check_salon, "echo": _check_echo}


@contextmanager
def server(side: str) -> Iterator[int]:
    """Run one of the servers and hand out its port."""
    words = [sys.executable, "-m", "bench.socket_servers", side]
    process = subprocess.Popen(  # noqa: S603 - our own module
        words, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
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
    """Talk to both servers by turns, and return how long replies took."""
    heard: dict[str, list[Heard]] = {"salon": [], "echo": []}
    with server("salon") as ours, server("echo") as theirs:
        ports = {"salon": ours, "echo": theirs}
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            for side, port in ports.items():
                work = talk(port, side, sessions=sessions, turns=turns, thinking_s=thinking_s)
                heard[side].append(asyncio.run(work))
    about = f"{sessions} sessions, {turns} turns each"
    return [
        Row(
            name=name,
            what=f"{about}, {name} of a reply",
            unit="ms",
            salon=median(one.at(share) for one in heard["salon"]) * 1000,
            peer=median(one.at(share) for one in heard["echo"]) * 1000,
            peer_is="bare Starlette echo",
            most_ratio=2.0 if name == "p99" else None,
            repetitions=rounds,
        )
        for name, share in (("p50", 0.5), ("p99", 0.99))
    ]


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
