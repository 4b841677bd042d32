"""Changes a flat index again and again, dying one step later each time.

Run with a folder that holds an index in `base`: for each step a copy is made, and a process that
changes it kills itself at that call which writes, syncs, renames or deletes. A write is cut in
half. Says how many steps there are until the change ends by itself.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from salon.core.indexes import PassageId
from salon.retrieval.dense.flat_index import FlatVectorIndex
from tests.retrieval.dense.backends import MODEL, card, unit_rows

CHANGES = ("commit", "compact", "clear")


def change(folder: Path, what: str) -> None:
    """Do what the test asks for."""
    index = FlatVectorIndex(folder, MODEL, exact_up_to=0)
    if what == "commit":
        numbers = [PassageId(n) for n in range(100, 110)]
        index.add(numbers, [card(100)] * 10, unit_rows(10, seed=5))
        index.remove([card(0)])
        index.commit()
    elif what == "compact":
        index.compact()
    else:
        index.clear()


def die_at(step: int) -> None:
    """Kill this process at its `step`-th call that changes something on the disk."""
    calls = count(1)

    def deadly(real: Callable[..., Any], *, cut: bool = False) -> Callable[..., Any]:
        def call(*words: Any, **more: Any) -> Any:
            if next(calls) == step:
                if cut:
                    descriptor, content, *rest = words
                    real(descriptor, content[: len(content) // 2], *rest)
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*words, **more)

        return call

    os.pwrite = deadly(os.pwrite, cut=True)
    os.write = deadly(os.write, cut=True)
    os.fsync = deadly(os.fsync)
    os.ftruncate = deadly(os.ftruncate)
    Path.replace = deadly(Path.replace)  # type: ignore[method-assign]
    Path.unlink = deadly(Path.unlink)  # type: ignore[method-assign]


def main(folder: Path, what: str) -> None:
    """Die at every step there is."""
    for step in count(1):
        copy = folder / str(step)
        shutil.copytree(folder / "base", copy)
        child = os.fork()
        if child == 0:
            die_at(step)
            change(copy, what)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status == 0:
            print(step)
            return
        assert os.WTERMSIG(status) == signal.SIGKILL


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
