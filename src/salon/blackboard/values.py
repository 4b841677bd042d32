"""Values as they are recorded: JSON by the type of their slot, and back.

What cannot be recorded and read back as the same value is refused, with the reason: another type,
a number that is none, something that JSON does not know, too many bytes.
"""

import json
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from salon.blackboard.slots import Slot
from salon.core.absent import Absent
from salon.core.errors import InvalidDocument

T = TypeVar("T")
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
LARGEST_VALUE = 1_000_000
"""Bytes of one recorded value."""


class Unrecordable(Exception):
    """A value that its slot cannot hold; the message says what it is instead."""


def encode(slot: Slot[T], value: T) -> bytes:
    """Return a value as JSON, or raise `Unrecordable`."""
    try:
        adapter = _adapter(slot)
        # Values are mostly small; to read one back is cheaper than to look for what is wrong.
        raw = adapter.dump_json(value, warnings="error")
        is_same = adapter.validate_json(raw) == value
    except (PydanticSerializationError, ValidationError, AttributeError) as error:
        raise Unrecordable(_unlike(slot, value)) from error
    except (RecursionError, ValueError, TypeError) as error:
        raise Unrecordable(f"something that cannot be recorded: {type(error).__name__}") from error
    if not is_same:
        raise Unrecordable(f"a {slot.type.__name__} that does not read back as it was")
    if len(raw) > LARGEST_VALUE:
        raise Unrecordable(f"{len(raw):,} bytes, more than {LARGEST_VALUE:,}")
    return raw


def decode(slot: Slot[T], recorded: object) -> T | Absent:
    """Read back what `as_record` wrote, or raise `InvalidDocument`."""
    try:
        match recorded:
            case {"absent": str(reason)}:
                return Absent(reason)
            case {"value": value}:
                found: T = _adapter(slot).validate_python(value)
                return found
    except (ValidationError, RecursionError) as error:
        raise InvalidDocument(
            f"what was recorded in slot {slot.name!r} is no {slot.type.__name__}",
            hint="it was written by another Salon, or the file is damaged",
        ) from error
    raise InvalidDocument(f"slot {slot.name!r} was recorded as something unknown")


def as_record(raw: bytes | Absent) -> dict[str, object]:
    """Return what a slot holds as a turn record has it: a value, or why there is none."""
    if isinstance(raw, Absent):
        return {"absent": raw.reason}
    return {"value": json.loads(raw)}


def _adapter(slot: Slot[Any]) -> TypeAdapter[Any]:
    found = _ADAPTERS.get(slot.type)
    if found is None:
        found = _ADAPTERS[slot.type] = TypeAdapter(slot.type)
    return found


def _unlike(slot: Slot[Any], value: object) -> str:
    wanted = slot.type.__name__
    if isinstance(value, slot.type):
        return f"a {wanted} with a field that cannot be recorded"
    return f"{type(value).__name__} instead of {wanted}"
