"""An app whose every function raises: what an edge does with it must not depend on why."""

from typing import Any


class _Failing:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def fail(*_: object, **__: object) -> Any:
            raise self._error

        return fail


def failing(error: Exception) -> Any:
    """Return an app that raises this."""
    return _Failing(error)
