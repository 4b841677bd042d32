"""A value that may be missing, for the `…_m` methods: `Just(value)` or `Nothing()`.

Chains stop at the first `Nothing`: `resolve(h).bind(get).map(text).or_else("")`. It stands for
absence only; errors are raised, never wrapped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Maybe(Generic[T]):
    """Either `Just` a value or `Nothing`."""

    __slots__ = ()

    @staticmethod
    def just(value: U) -> "Maybe[U]":
        """Return a value that is there."""
        return Just(value)

    @staticmethod
    def nothing() -> "Maybe[T]":
        """Return no value."""
        return Nothing()

    @staticmethod
    def of(value: U | None) -> "Maybe[U]":
        """Return `Just(value)`, or `Nothing` for `None`."""
        return Nothing() if value is None else Just(value)

    def map(self, function: Callable[[T], U]) -> "Maybe[U]":
        """Apply a function to the value, if there is one."""
        return Just(function(self.value)) if isinstance(self, Just) else Nothing()

    def bind(self, function: "Callable[[T], Maybe[U]]") -> "Maybe[U]":
        """Go on with a function that may itself give nothing."""
        return function(self.value) if isinstance(self, Just) else Nothing()

    def or_else(self, default: T) -> T:
        """Return the value, or `default` if there is none."""
        return self.value if isinstance(self, Just) else default

    def or_none(self) -> T | None:
        """Return the value, or `None` if there is none."""
        return self.value if isinstance(self, Just) else None

    def __bool__(self) -> bool:
        return isinstance(self, Just)


@dataclass(frozen=True, slots=True)
class Just(Maybe[T]):
    """A value that is there."""

    value: T


@dataclass(frozen=True, slots=True)
class Nothing(Maybe[T]):
    """No value."""
