"""What checking an archive can find, and how much of it is listed."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

WORST_OF_A_KIND = 20
"""How many problems of one kind are listed; a broken file would otherwise flood the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that does not agree."""

    kind: str
    subject: str
    message: str


def limited(problems: Iterator[Problem]) -> Iterator[Problem]:
    """Yield the first problems of a kind, then how many more there are."""
    yield from islice(problems, WORST_OF_A_KIND)
    rest = sum(1 for _ in problems)
    if rest:
        yield Problem(kind="more", subject="", message=f"and {rest:,} more like the last one")
