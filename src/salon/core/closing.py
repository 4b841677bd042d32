"""Things that hold a file and let go of it: usable in a `with` statement."""

from types import TracebackType
from typing import Self


class Closable:
    """Gives `with` to a class that has a `close`."""

    def close(self) -> None:
        """Let go of what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
