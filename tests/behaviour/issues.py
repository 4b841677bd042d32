"""Titles of the issues that close requirements, the only values `open_until` may take."""

from typing import Final

HOUSE: Final = (
    "The house and the archive: a project a newcomer can start, on a store that loses nothing"
)
RETRIEVAL: Final = (
    "Retrieval that wins: hybrid search with calibrated scores, exact spans and a graph"
)
EXPERTS: Final = "Expert avatars: answers that can be checked, served over MCP"
COMPANION: Final = "The blackboard and the companion"
GATE: Final = "The gate: ask, then act, exactly once"
COUNCIL: Final = "The council: skills, rounds, ballots and publication"
FRONT_DOOR: Final = "The front door: HTTP API, live events, and a page people enjoy"

ISSUES: Final = (HOUSE, RETRIEVAL, EXPERTS, COMPANION, GATE, COUNCIL, FRONT_DOOR)
