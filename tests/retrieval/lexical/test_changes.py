"""Changing an index: what is replaced, removed and cleared, when others see it, what survives."""

import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from salon.core.indexes import IndexedText
from tests.retrieval.lexical.engines import (
    ENGINES,
    Index,
    Open,
    card,
    fill,
    find,
    found,
    passage,
)

GRAVITY = "Gravity bends light."
PACKETS = "Networks carry packets."


def run_process(engine: str, folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "tests.retrieval.lexical.engines", engine, str(folder)]
    subprocess.run([*command, *arguments], check=True, timeout=60)


# Visibility


def test_a_change_is_seen_after_commit_and_not_before(open_index: Open) -> None:
    index, other = open_index(), open_index()
    index.add([passage(1, GRAVITY)])
    assert (index.count(), find(index, "gravity")) == (0, set())
    index.commit()
    for reader in (index, other):
        assert (reader.count(), find(reader, "gravity")) == (1, {1})
    index.remove([card("card")])
    assert (index.count(), find(index, "gravity")) == (1, {1})
    index.commit()
    for reader in (index, other):
        assert (reader.count(), find(reader, "gravity")) == (0, set())


def test_closing_drops_what_was_not_committed(open_index: Open) -> None:
    index = open_index()
    fill(index, [GRAVITY])
    index.add([passage(5, PACKETS)])
    index.remove([card(0)])
    index.close()
    with open_index() as again:
        assert find(again, "gravity packets") == {0}
        again.commit()
        assert again.count() == 1


def test_what_was_committed_is_there_when_opened_again(open_index: Open) -> None:
    with open_index() as index:
        fill(index, [GRAVITY, PACKETS])
    with open_index() as again:
        assert (again.count(), find(again, "networks")) == (2, {1})


def test_a_commit_of_nothing_changes_nothing(index: Index) -> None:
    index.commit()
    fill(index, [GRAVITY])
    index.commit()
    index.remove([])
    index.commit()
    assert (index.count(), find(index, "gravity")) == (1, {0})


def test_a_commit_of_another_process_is_seen(engine: str, index: Index, tmp_path: Path) -> None:
    fill(index, [GRAVITY])
    assert find(index, "packets") == set()
    run_process(engine, tmp_path, "write", "7", PACKETS)
    assert (index.count(), find(index, "packets")) == (2, {7})
    index.add([passage(8, "more packets")])
    index.commit()
    assert find(index, "packets") == {7, 8}


# Replacing and removing


def test_adding_an_id_again_replaces_it(index: Index) -> None:
    fill(index, [GRAVITY, PACKETS])
    index.add([passage(0, "A new text", of=0)])
    index.commit()
    assert (index.count(), find(index, "gravity"), find(index, "text")) == (2, set(), {0})
    index.add([passage(0, "first", of=0), passage(0, "second", of=0)])
    index.add([passage(0, "third", of=0)])
    index.commit()
    assert (index.count(), find(index, "text first second"), find(index, "third")) == (
        2,
        set(),
        {0},
    )


def test_many_are_replaced_at_once(index: Index) -> None:
    many = range(2500)
    index.add(passage(number, f"old{number} text", of=number % 50) for number in many)
    index.commit()
    index.add(passage(number, f"new{number} text", of=number % 50) for number in many)
    index.add(passage(number, f"newest{number} text", of=number % 50) for number in many)
    index.commit()
    assert index.count() == 2500
    assert find(index, "old77 new77 newest77") == {77}
    assert len(find(index, "text", 5000)) == 2500
    index.remove(card(number) for number in range(25))
    index.commit()
    assert index.count() == 1250


def test_removing_a_card_takes_all_its_passages_and_no_others(index: Index) -> None:
    index.add([passage(1, GRAVITY, of="a"), passage(2, GRAVITY, of="b")])
    index.add([passage(3, PACKETS, of="a")])
    index.commit()
    index.remove([card("a"), card("unknown"), card("a")])
    index.commit()
    assert (index.count(), find(index, "gravity packets")) == (1, {2})
    index.remove([card("unknown")])
    index.commit()
    assert index.count() == 1


def test_changes_apply_in_their_order(index: Index) -> None:
    index.add([passage(1, "first", of="a")])
    index.remove([card("a")])
    index.add([passage(2, "second", of="a")])
    index.commit()
    assert find(index, "first second") == {2}
    index.remove([card("a")])
    index.add([passage(2, "third", of="a")])
    index.commit()
    assert find(index, "second third") == {2}
    assert find(index, "second") == set()


def test_a_source_that_fails_halfway_leaves_what_was_committed(index: Index) -> None:
    fill(index, [GRAVITY])

    def broken() -> Iterator[IndexedText]:
        yield passage(1, PACKETS)
        raise ValueError("the source is broken")

    with pytest.raises(ValueError, match="source is broken"):
        index.add(broken())
    assert index.count() == 1


# Clearing


def test_clearing_is_seen_after_commit_and_forgets_what_was_pending(open_index: Open) -> None:
    index, other = open_index(), open_index()
    fill(index, [GRAVITY, PACKETS])
    index.add([passage(9, GRAVITY)])
    index.clear()
    assert other.count() == 2
    index.commit()
    assert (index.count(), other.count(), find(other, "gravity")) == (0, 0, set())


def test_an_index_is_built_anew_behind_the_back_of_its_readers(open_index: Open) -> None:
    index, other = open_index(), open_index()
    fill(index, [GRAVITY, PACKETS])
    index.clear()
    index.add(passage(number, f"gravity{number} again", of=number) for number in range(1500))
    assert find(other, "gravity packets") == {0, 1}
    index.add([passage(3, "replaced", of=3)])
    index.remove([card(4)])
    index.commit()
    assert other.count() == 1499
    assert find(other, "packets gravity3 gravity4") == set()
    assert find(other, "replaced gravity7") == {3, 7}


# Several at once


def test_threads_search_while_another_one_commits(index: Index) -> None:
    failures: list[BaseException] = []
    stop = threading.Event()

    def search() -> None:
        try:
            while not stop.is_set():
                count = len(index.search("number", 1000).ids)
                assert count % 10 == 0
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for part in range(20):
        index.add(passage(part * 10 + n, f"card number {n}", of=part) for n in range(10))
        index.commit()
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert index.count() == 200


# Killing


@pytest.mark.parametrize("seed", range(2))
def test_a_kill_leaves_the_last_commit(engine: str, tmp_path: Path, seed: int) -> None:
    told = 0
    for number in range(3):
        last = _killed_while_writing(engine, tmp_path, after=random.Random(f"{seed}/{number}"))
        told = max(told, last)
        with ENGINES[engine](tmp_path) as index:
            count = index.count() - 1
            assert told <= count <= max(told, last + 1)
            assert len(find(index, "shared", 10_000)) == count + 1
            rounds = [n for n in range(1, count + 1) if 0 in find(index, f"round{n}")]
            assert len(rounds) == 1
            assert all(n in find(index, f"word{n}") for n in range(1, count + 1))
            index.add([passage(10_000, "written after the kill")])
            index.commit()
            assert found(index.search("kill", 5)) == [10_000]
            index.clear()
            index.commit()
            told = 0


def _killed_while_writing(engine: str, folder: Path, *, after: random.Random) -> int:
    """Start a process that commits without end, kill it, and return what it last told."""
    command = [sys.executable, "-m", "tests.retrieval.lexical.engines", engine, str(folder), "go"]
    rounds = after.randrange(1, 12)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(rounds):
            process.stdout.readline()
        for _ in range(after.randrange(0, 20_000)):
            pass  # somewhere inside the next round
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
    return int(rest[-1]) if rest else rounds
