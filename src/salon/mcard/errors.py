"""Salon's errors under the one name that MCard's callers catch: each is a `ValueError` too.

These are the same errors as in `salon.core.errors`, with the same codes; no new kind of failure is
made here.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from salon.core.errors import (
    EmptyContent,
    HandleExists,
    HandleNotFound,
    InvalidHandle,
    InvalidInput,
    InvalidSettings,
    SalonError,
    UnknownAlgorithm,
)


class InvalidArgument(InvalidInput, ValueError):
    """An argument that makes no sense here."""


class EmptyCard(EmptyContent, ValueError):
    """A card without a single byte."""


class InvalidCardHandle(InvalidHandle, ValueError):
    """A name that breaks the rules for handles."""


class UnknownCardAlgorithm(UnknownAlgorithm, ValueError):
    """A hash algorithm that the archive does not speak."""


class InvalidConfig(InvalidSettings, ValueError):
    """A configuration that makes no sense."""


class CardHandleExists(HandleExists, ValueError):
    """The name is already taken."""


class CardHandleNotFound(HandleNotFound, ValueError):
    """No handle has this name."""


_VALUE_ERRORS: dict[type[SalonError], type[SalonError]] = {
    InvalidInput: InvalidArgument,
    EmptyContent: EmptyCard,
    InvalidHandle: InvalidCardHandle,
    UnknownAlgorithm: UnknownCardAlgorithm,
    InvalidSettings: InvalidConfig,
    HandleExists: CardHandleExists,
    HandleNotFound: CardHandleNotFound,
}


@contextmanager
def value_errors() -> Iterator[None]:
    """Raise what MCard's callers expect as a `ValueError` as one."""
    try:
        yield
    except SalonError as error:
        twin = _VALUE_ERRORS.get(type(error))
        if twin is None:
            raise
        raise twin(error.message, hint=error.hint, **error.details) from error
