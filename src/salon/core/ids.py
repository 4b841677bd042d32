"""Ids of what has no hash. How they are made is injected, so that a replay makes the same ones."""

import secrets
from typing import NewType, Protocol

AvatarId = NewType("AvatarId", str)
SessionId = NewType("SessionId", str)


class IdMaker(Protocol):
    """Whatever makes ids that nobody has made before."""

    def new(self, kind: str) -> str:
        """Return an id that starts with `kind`."""


class RandomIds:
    """Ids from the system's randomness: 80 bits, so no two archives make the same one."""

    def new(self, kind: str) -> str:
        """Return an id that starts with `kind`."""
        return f"{kind}_{secrets.token_hex(10)}"


class CountedIds:
    """Ids for tests and replays: `doc_1`, `doc_2` and so on."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, kind: str) -> str:
        """Return an id that starts with `kind`."""
        self._count += 1
        return f"{kind}_{self._count}"
