"""Holders of seats that can only write souls."""

from collections.abc import Sequence

from salon.core.errors import ProviderFailed
from salon.council.holders import Brief, Graded, Shown
from salon.council.seats import Seat


class Writer:
    """A holder that writes one text whenever it is asked; without one it fails."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.asked: list[tuple[str, tuple[str, ...], str]] = []

    def write_soul(self, goal: str, blind_spots: tuple[str, ...], old_soul: str) -> str:
        self.asked.append((goal, blind_spots, old_soul))
        if self.text is None:
            raise ProviderFailed("no answer")
        return self.text

    def draft(self, brief: Brief) -> str:
        raise NotImplementedError

    refine = fuse = draft

    def review(self, brief: Brief, candidate: Shown) -> str:
        raise NotImplementedError

    def grade(self, brief: Brief, candidate: Shown) -> Graded:
        raise NotImplementedError


def writers(texts: Sequence[str | None]) -> dict[Seat, Writer]:
    """Return a holder for each seat, by what it writes."""
    return {seat: Writer(text) for seat, text in zip(Seat, texts, strict=True)}
