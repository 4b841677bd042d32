"""How memories and their changes are written to cards, and read back."""

import base64
from dataclasses import asdict
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from salon.conversation.memory.kinds import Memory, MemoryId
from salon.conversation.memory.store import Put
from salon.core.archive import Archive
from salon.core.canonical import canonical_json
from salon.core.embedding import Vector
from salon.core.errors import InvalidDocument
from salon.core.hashing import CardHash

VERSION = 1


class _VectorField(BaseModel):
    model_config = ConfigDict(extra="forbid")

    half: str


class _MemoryCard(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["salon.memory"]
    version: Literal[1]
    memory: Memory
    vector: _VectorField | None = None


class ChangeCard(BaseModel):
    """One change of a user's memories: what was put, by id and card, and what was forgotten."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["salon.memories"]
    version: Literal[1]
    user: str
    previous: CardHash | None
    put: list[tuple[MemoryId, CardHash]]
    forgotten: list[MemoryId]


def memory_bytes(put: Put) -> bytes:
    """Return the card of a memory; its vector is in it and goes when it goes."""
    return canonical_json(
        {
            "kind": "salon.memory",
            "version": VERSION,
            "memory": asdict(put.memory),
            "vector": None if put.vector is None else {"half": _packed(put.vector)},
        }
    )


def memory_from(content: bytes, card: CardHash) -> "tuple[Memory, Vector | None]":
    """Return the memory that a card holds and its vector, or raise `InvalidDocument`."""
    try:
        read = _MemoryCard.model_validate_json(content)
    except ValidationError as error:
        raise InvalidDocument(f"card {card} is not a memory: {error}") from error
    return read.memory, _unpacked(read.vector)


def change_bytes(
    user: str,
    previous: CardHash | None,
    put: list[tuple[MemoryId, CardHash]],
    forgotten: list[MemoryId],
) -> bytes:
    """Return the card of a change."""
    return canonical_json(
        {
            "kind": "salon.memories",
            "version": VERSION,
            "user": user,
            "previous": previous,
            "put": [list(one) for one in put],
            "forgotten": forgotten,
        }
    )


def read_change(archive: Archive, card: CardHash) -> ChangeCard:
    """Return the change that a card holds, or raise `InvalidDocument`."""
    try:
        return ChangeCard.model_validate_json(archive.get(card).content)
    except ValidationError as error:
        raise InvalidDocument(f"card {card} is not a change of memories: {error}") from error


def _packed(vector: Vector) -> str:
    return base64.b64encode(vector.astype("<f2").tobytes()).decode()


def _unpacked(kept: _VectorField | None) -> "Vector | None":
    if kept is None:
        return None
    return np.frombuffer(base64.b64decode(kept.half), dtype="<f2").astype(np.float32)
