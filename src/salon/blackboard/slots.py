"""Slots: the typed places of a blackboard, and where their values come from."""

import builtins
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Slot(Generic[T_co]):
    """A place that one step writes; the value is recorded with the turn."""

    name: str
    type: builtins.type[T_co] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Given(Slot[T_co]):
    """A place that is filled before any step runs, and recorded: the message, the clock."""


@dataclass(frozen=True, slots=True)
class Resource(Slot[T_co]):
    """A place that holds something to work with, never recorded: an embedder, a chat model."""


@dataclass(frozen=True, slots=True)
class Past(Generic[T_co]):
    """Reading what earlier turns wrote into a slot; it makes no step wait."""

    slot: Slot[T_co]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated(Generic[T_co]):
    """A value of an earlier turn."""

    turn: int
    value: T_co


Read = Slot[Any] | Past[Any]
