"""Homes with a companion in them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from salon.app import Salon
from salon.settings import load_settings


@contextmanager
def companion_home(home: Path) -> Iterator[Salon]:
    """Open Salon in a home of its own."""
    with Salon(load_settings(home=home, environment={})) as salon:
        yield salon
