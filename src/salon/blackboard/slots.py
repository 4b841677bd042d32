"""Slots: the typed places of a blackboard, and where their values come from."""

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Slot(Generic[T]):
    """A place that one step writes; the value is recorded with the turn."""

    name: str
    type: type[T] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Given(Slot[T]):
    """A place that is filled before any step runs, and recorded: the message, the clock."""


@dataclass(frozen=True, slots=True)
class Resource(Slot[T]):
    """A place that holds something to work with, never recorded: an embedder, a chat model."""


@dataclass(frozen=True, slots=True)
class Past(Generic[T]):
    """Reading what earlier turns wrote into a slot; it makes no step wait."""

    slot: Slot[T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated(Generic[T]):
    """A value of an earlier turn."""

    turn: int
    value: T


Read = Slot[Any] | Past[Any]
