"""Two outside seats, of the Python and of the TypeScript SDK, against three offline ones."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from salon.app import Salon
from salon.council.rounds import Round
from salon.council.seats import Seat
from salon.mcp_server.council_server import seat_door
from salon.mcp_server.transports import allowed_hosts, http_app
from salon.parts.council_shapes import RoundReport
from tests.conformance.programs import Ran, node_script
from tests.mcp_server.council_playing import calling, outside, play
from tests.mcp_server.serving import served
from tests.parts.council_homes import TOPIC, make_council_home

SCRIPT = Path(__file__).parent / "seat.mjs"
PYTHON, TYPESCRIPT = Seat.MINER, Seat.PROFESSOR


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """How a round ended, and what each outside seat did."""

    round: Round
    report: RoundReport
    python: list[str]
    typescript: dict[str, Any]


def play_together(home: Path) -> Played:
    """Hold a round with both outside seats, each in its own program, over HTTP."""
    with Salon(make_council_home(home, council={"retries": 1})) as salon:
        opened = salon.open_round(TOPIC, holders={PYTHON: "outside", TYPESCRIPT: "outside"})
        tokens = {seat: salon.issue_seat_token(seat).token for seat in (PYTHON, TYPESCRIPT)}
        security = allowed_hosts("127.0.0.1")
        app = http_app({}, security, doors={"council": seat_door(salon, security)})
        with served(app) as address, ThreadPoolExecutor() as pool:
            url = f"{address}/mcp/council"
            other = pool.submit(node_script, SCRIPT, url, tokens[TYPESCRIPT])
            own = pool.submit(anyio.run, _hold, url, tokens[PYTHON])
            salon.run_round(opened.id)
            return Played(
                round=salon.round(opened.id),
                report=salon.verify_round(opened.id),
                python=own.result(),
                typescript=_json_of(other.result()),
            )


async def _hold(url: str, token: str) -> list[str]:
    async with outside(url, token) as client:
        return await play(calling(client))


def _json_of(ran: Ran) -> dict[str, Any]:
    if ran.code:
        raise RuntimeError(ran.errors[-2000:])
    found: dict[str, Any] = json.loads(ran.output)
    return found
