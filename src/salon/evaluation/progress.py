"""How an evaluation says how far it has come, without knowing who listens."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeAlias

Show: TypeAlias = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


class Progress(Protocol):
    """Shows one stretch of work while its context is open."""

    def __call__(self, label: str, /) -> AbstractContextManager[Show]:
        """Begin to show work of this name."""


@contextmanager
def silent(_label: str) -> Iterator[Show]:
    """Show nothing."""
    yield lambda _done, _total: None
