"""What another process does to an index in the tests: it searches, writes, or waits to be killed.

Says one line when something is done, so that whoever started it knows when to look or to kill.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from salon.core.errors import StorageBusy
from salon.core.indexes import PassageId, VectorIndex
from tests.retrieval.dense.backends import BACKENDS, MODEL, card, fill, unit_rows

BATCH = 10


def say(word: object) -> None:
    """Tell the one who waits."""
    print(word, flush=True)


def wait() -> None:
    """Wait for a line, or for the end."""
    sys.stdin.readline()


def answer(index: VectorIndex) -> None:
    """Say how many there are and which is nearest, each time somebody asks."""
    query = unit_rows(1, seed=99)[0]
    while sys.stdin.readline():
        found = index.search(query, 1).ids
        say(f"{index.count()} {found[0] if len(found) else 'none'}")


def add_without_commit(index: VectorIndex) -> None:
    """Add passages 100 up to 120, remove card 0, and wait."""
    numbers = range(100, 120)
    index.add([PassageId(n) for n in numbers], [card(n) for n in numbers], unit_rows(20, seed=5))
    index.remove([card(0)])
    say("added")
    wait()


def commit_on_and_on(index: VectorIndex) -> None:
    """Commit ten passages after another, saying how many there are by now."""
    done = 0
    while True:
        fill(index, BATCH, seed=done, first=done)
        done += BATCH
        say(done)


def commit_once(index: VectorIndex) -> None:
    """Commit passages 200 up to 210, or say that somebody else is writing."""
    try:
        fill(index, BATCH, seed=7, first=200)
    except StorageBusy:
        say("busy")
    else:
        say("committed")


ACTIONS: dict[str, Callable[[VectorIndex], None]] = {
    "answer": answer,
    "add_without_commit": add_without_commit,
    "commit_on_and_on": commit_on_and_on,
    "commit_once": commit_once,
}

if __name__ == "__main__":
    backend, folder, action = sys.argv[1:4]
    opened = BACKENDS[backend].open(Path(folder), MODEL)
    ACTIONS[action](opened)
    opened.close()
