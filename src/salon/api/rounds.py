"""Rounds of the council over HTTP: open one, follow it, read what came of it.

What a person sees here names authors; a seat sees them nowhere. A round that is opened here is
driven beside the server, and goes on after a restart.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Protocol, TypeAlias

import anyio
import anyio.to_thread
from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import StreamingResponse

from salon.api import examples
from salon.api.round_shapes import (
    BallotBody,
    CandidateTextBody,
    ChapterBody,
    NewRound,
    ReportBody,
    RoundBody,
    RoundSummary,
    SoulBody,
    ballot_body,
    candidate_body,
    chapter_body,
    report_body,
    round_of,
    soul_body,
    summary_of,
)
from salon.api.shapes import responses
from salon.api.streaming import MEDIA_TYPE
from salon.council.rounds import Round
from salon.council.seats import Seat
from salon.parts.council_shapes import Ballot, CandidateText, Chapter, RoundReport, SoulShown

MOST_ROUNDS = 500
RoundId: TypeAlias = Annotated[str, Path(examples=[examples.ROUND])]
CandidateId: TypeAlias = Annotated[str, Path(examples=[examples.CANDIDATE])]
POLL_S = 1.0
"""Seconds between two looks at a round that somebody follows."""
SILENCE_S = 15.0
_MOST_DIGITS = 19
"""Seconds after which a stream says that it still lives."""


class RoundService(Protocol):
    """The part of the app that holds rounds."""

    def open_round(
        self, topic: str, *, topic_id: str | None = None, holders: Mapping[Seat, str] | None = None
    ) -> Round:
        """Open a round."""
        ...

    def start_round(self, round_id: str) -> bool:
        """Drive a round beside other work."""
        ...

    def rounds(self) -> list[Round]:
        """Return all rounds, newest first."""
        ...

    def round(self, round_id: str) -> Round:
        """Return a round."""
        ...

    def round_version(self, round_id: str) -> int:
        """Return how often a round has changed."""
        ...

    def round_due(self, round_id: str) -> dict[Seat, tuple[str, ...]]:
        """Return what each seat has yet to do."""
        ...

    def critiques(self, round_id: str) -> dict[str, str]:
        """Return the texts of critiques by their ids."""
        ...

    def ballot(self, round_id: str, *, attempt: int | None = None) -> Ballot:
        """Return how a round was voted on."""
        ...

    def candidate(self, round_id: str, candidate_id: str) -> CandidateText:
        """Return a candidate with its text."""
        ...

    def chapter(self, round_id: str) -> Chapter:
        """Return what a round published."""
        ...

    def verify_round(self, round_id: str) -> RoundReport:
        """Check a round again."""
        ...

    def souls(self) -> list[SoulShown]:
        """Return the seats and their souls."""
        ...


def round_routes(service: RoundService) -> APIRouter:
    """Return the routes under `/api/rounds`, and `/api/souls`."""
    routes = APIRouter(prefix="/api", tags=["council"])
    _rounds(routes, service)
    _results(routes, service)
    return routes


def _rounds(routes: APIRouter, service: RoundService) -> None:
    @routes.post("/rounds", status_code=201, responses=responses(409, 422))
    def open_round(wanted: NewRound) -> RoundBody:
        """Open a round and drive it beside the server."""
        opened = service.open_round(wanted.topic, topic_id=wanted.topic_id, holders=wanted.seats)
        service.start_round(opened.id)
        return _whole(service, opened.id)

    @routes.get("/rounds", responses=responses())
    def list_rounds(
        limit: Annotated[int, Query(ge=1, le=MOST_ROUNDS)] = 50,
    ) -> dict[str, list[RoundSummary]]:
        """Return the latest rounds, newest first."""
        return {"rounds": [summary_of(one) for one in service.rounds()[:limit]]}

    @routes.get("/rounds/{round_id}", responses=responses(404))
    def get_round(round_id: RoundId) -> RoundBody:
        """Return a round whole."""
        return _whole(service, round_id)

    @routes.post("/rounds/{round_id}/advance", responses=responses(404))
    def advance(round_id: RoundId) -> RoundBody:
        """Have a round driven on that nobody drives."""
        service.start_round(round_id)
        return _whole(service, round_id)


def _results(routes: APIRouter, service: RoundService) -> None:
    @routes.get("/rounds/{round_id}/ballot", responses=responses(404, 422))
    def get_ballot(
        round_id: RoundId,
        attempt: Annotated[int | None, Query(ge=0, description="The latest by default.")] = None,
    ) -> BallotBody:
        """Return how a round was voted on."""
        return ballot_body(service.ballot(round_id, attempt=attempt))

    @routes.get("/rounds/{round_id}/candidates/{candidate_id}", responses=responses(404))
    def get_candidate(round_id: RoundId, candidate_id: CandidateId) -> CandidateTextBody:
        """Return a candidate with its text and the critiques of it."""
        return candidate_body(service.candidate(round_id, candidate_id))

    @routes.get("/rounds/{round_id}/chapter", responses=responses(404))
    def get_chapter(round_id: RoundId) -> ChapterBody:
        """Return what a round published."""
        return chapter_body(service.chapter(round_id))

    @routes.get("/rounds/{round_id}/verify", responses=responses(404))
    def verify_round(round_id: RoundId) -> ReportBody:
        """Check a round and what it published again."""
        return report_body(service.verify_round(round_id))

    @routes.get(
        "/rounds/{round_id}/events",
        response_class=StreamingResponse,
        responses=responses(404) | {200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
    )
    async def follow(
        round_id: RoundId,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> StreamingResponse:
        """Send the round whole on each change, as server-sent events, until it is over."""
        await anyio.to_thread.run_sync(service.round, round_id)  # or there is nothing to follow
        seen = _event_number(last_event_id or "")
        return StreamingResponse(
            _changes(service, round_id, seen),
            media_type=MEDIA_TYPE,
            headers={"cache-control": "no-store"},
        )

    @routes.get("/souls", responses=responses())
    def list_souls() -> dict[str, list[SoulBody]]:
        """Return the seats, who holds them, and their souls."""
        return {"souls": [soul_body(one) for one in service.souls()]}


def _whole(service: RoundService, round_id: str) -> RoundBody:
    return round_of(
        service.round(round_id), service.round_due(round_id), service.critiques(round_id)
    )


def _event_number(said: str) -> int:
    """Return the number of the event that a client saw last, 0 where that is none."""
    is_number = said.isascii() and said.isdigit() and len(said) < _MOST_DIGITS
    return int(said) if is_number else 0


def _is_seen_to_the_end(service: RoundService, round_id: str, seen: int) -> bool:
    """Tell whether a client that comes back has seen how the round ended."""
    return service.round_version(round_id) <= seen and service.round(round_id).is_over


async def _changes(service: RoundService, round_id: str, seen: int) -> AsyncIterator[str]:
    """Walk the states of a round that come after `seen`; a comment now and then keeps it alive."""
    silent = 0.0
    if await anyio.to_thread.run_sync(lambda: _is_seen_to_the_end(service, round_id, seen)):
        return
    while True:
        version = await anyio.to_thread.run_sync(service.round_version, round_id)
        if version > seen:
            seen, silent = version, 0.0
            whole = await anyio.to_thread.run_sync(_whole, service, round_id)
            yield f"id: {version}\nevent: round\ndata: {whole.model_dump_json()}\n\n"
            if whole.is_over:
                return
        elif silent >= SILENCE_S:
            silent = 0.0
            yield ": still here\n\n"
        await anyio.sleep(POLL_S)
        silent += POLL_S
