"""`python -m bench.cries`: how many cries for help are noticed, and how many alarms are false.

The cases are those of the tests: `SEEN` is what the patterns were written with, `UNSEEN` was
written afterwards. Recall is the share of the cries that is noticed, precision the share of what is
noticed that is one.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from salon.core.embedding import Embedder
from salon.guard.crisis import find_crisis
from salon.providers.embedders import open_embedder
from tests.guard.crisis_cases import SEEN, UNSEEN

EMBEDDER = "embedded:minilm"
"""What the second look was trained on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """What was noticed in one set."""

    what: str
    cries: int
    near_misses: int
    recall: float
    precision: float


def main() -> None:
    """Measure, and print one line each."""
    embedder = open_embedder(EMBEDDER)
    measured = [
        measure("patterns, set that they were written with", SEEN, None),
        measure("patterns, unseen set", UNSEEN, None),
        measure("both looks, unseen set", UNSEEN, embedder),
    ]
    if "--json" in sys.argv[1:]:
        print(json.dumps([asdict(one) for one in measured]))  # noqa: T201
        return
    for one in measured:
        print(  # noqa: T201
            f"{one.what:<42} {one.cries:>4} cries {one.near_misses:>4} near misses"
            f"  recall {one.recall:.2f}  precision {one.precision:.2f}"
        )


def measure(what: str, cases: Sequence[tuple[str, str]], embedder: Embedder | None) -> Noticed:
    """Look at every case of a set, with patterns alone where there is no embedder."""
    marks = [(bool(kind), find_crisis(text, embedder) is not None) for kind, text in cases]
    cries = sum(is_cry for is_cry, _ in marks)
    right = sum(is_cry and is_found for is_cry, is_found in marks)
    return Noticed(
        what=what,
        cries=cries,
        near_misses=len(marks) - cries,
        recall=right / cries,
        precision=right / sum(is_found for _, is_found in marks),
    )


if __name__ == "__main__":
    main()
