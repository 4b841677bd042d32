"""Values as cards: canonical JSON that says of which kind it is and in which version.

For values that one module writes and reads back: a flow, an order. Reading gives the value or one
error that says what the card is instead.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from salon.core.canonical import canonical_json
from salon.core.errors import InvalidDocument

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind(Generic[T]):
    """A kind of card: its name, its version, what it is called, and what checks its fields."""

    kind: str
    version: int
    called: str
    check: Callable[[dict[str, Any]], T]
    """Makes the value, or raises `ValueError`, `TypeError` or `KeyError`."""

    def write(self, fields: dict[str, Any]) -> bytes:
        """Return the bytes of the card that holds these fields."""
        return canonical_json({"kind": self.kind, "version": self.version, **fields})

    def read(self, content: bytes, *, name: str = "this card") -> T:
        """Return the value that a card holds, or raise `InvalidDocument`, which names the card."""
        try:
            found = json.loads(content)
            kind = found.pop("kind"), found.pop("version")
            value = self.check(found)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InvalidDocument(f"{name} is not {self.called}: {error}") from error
        if kind != (self.kind, self.version):
            raise InvalidDocument(f"{name} is not {self.called} but {kind[0]} {kind[1]}")
        return value
