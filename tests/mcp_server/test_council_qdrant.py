"""The council's search on Qdrant, where the settings name one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from salon.app import Salon
from salon.council.seats import Seat
from salon.mcp_server.council_server import build_seat_server
from salon.providers.vectors.qdrant_index import QdrantIndex
from tests.mcp_server.talking import call
from tests.parts.council_homes import make_council_home
from tests.providers.vectors.qdrant_rest import RestServer, start_server

QUERY = "what was cheaper to burn"


@pytest.fixture
def qdrant() -> Iterator[RestServer]:
    started = start_server()
    yield started
    started.shutdown()
    started.server_close()


def found_by(salon: Salon, mode: str) -> list[tuple[str, int, int]]:
    server = build_seat_server(salon, Seat.MINER)
    result: Any = call(server, "skill_qdrant_search", query=QUERY, mode=mode).structured_content
    assert result["notes"] == []
    return [(one["hash"], one["start"], one["end"]) for one in result["results"]]


@pytest.mark.requirement("council/search/qdrant")
def test_the_skill_searches_the_qdrant_of_the_settings(tmp_path: Path, qdrant: RestServer) -> None:
    asked: list[str] = []
    answer = qdrant.answer

    def noting(method: str, path: str, body: bytes) -> tuple[int, object]:
        asked.append(path)
        return answer(method, path, body)

    embedded = make_council_home(tmp_path / "embedded")
    there = make_council_home(tmp_path / "qdrant", index={"vectors": f"qdrant:{qdrant.address}"})
    qdrant.answer = noting  # type: ignore[method-assign]
    with Salon(there) as salon, Salon(embedded) as other:
        assert isinstance(salon.passages.vectors, QdrantIndex)
        assert not isinstance(other.passages.vectors, QdrantIndex)
        before = salon.archive.checkpoint().seq
        dense = found_by(salon, "dense")
        assert [one for one in asked if one.endswith("/points/query")]
        assert dense == found_by(other, "dense")
        assert found_by(salon, "hybrid") == found_by(other, "hybrid")
        asked.clear()
        assert found_by(salon, "sparse") == found_by(other, "sparse")
        assert not [one for one in asked if one.endswith("/points/query")]
        assert salon.archive.checkpoint().seq == before
