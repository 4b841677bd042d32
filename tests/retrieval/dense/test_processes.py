"""Vector indexes between processes and threads: commits that are seen, writers that are killed."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from salon.core.errors import StorageBusy
from salon.core.indexes import PassageId
from tests.retrieval.dense.backends import Place, card, fill, unit_rows

QUERY = unit_rows(1, seed=99)[0]
ROOT = Path(__file__).parents[3]


@contextmanager
def running(place: Place, action: str) -> Iterator["subprocess.Popen[str]"]:
    """Run an action of `other_process` and make sure that it ends."""
    process = subprocess.Popen(
        place.command(action),
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def say(process: "subprocess.Popen[str]", line: str = "\n") -> None:
    assert process.stdin is not None
    process.stdin.write(line)
    process.stdin.flush()


def hear(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdout.readline().strip() or process.stderr.read()


@pytest.fixture
def shared(place: Place) -> Place:
    """A place that more than one process may use at a time."""
    if not place.backend.many_processes:
        pytest.skip("this engine belongs to one process")
    return place


def test_a_reader_in_another_process_sees_each_commit(shared: Place) -> None:
    index = shared.open()
    fill(index, 4)
    with running(shared, "answer") as reader:
        say(reader)
        assert hear(reader).split()[0] == "4"
        index.add([PassageId(70)], [card(70)], QUERY[None])
        index.commit()
        say(reader)
        assert hear(reader) == "5 70"
        index.remove([card(70)])
        index.commit()
        index.compact()
        say(reader)
        assert hear(reader).split()[0] == "4"
        index.clear()
        say(reader)
        assert hear(reader) == "0 none"


def test_a_reader_in_the_same_process_sees_each_commit(shared: Place) -> None:
    writer, reader = shared.open(), shared.open()
    assert reader.count() == 0
    fill(writer, 4)
    assert reader.count() == 4
    writer.add([PassageId(70)], [card(70)], QUERY[None])
    writer.commit()
    assert reader.search(QUERY, 1).ids.tolist() == [70]
    writer.remove([card(70)])
    writer.commit()
    writer.compact()
    assert reader.search(QUERY, 100).ids.tolist() == writer.search(QUERY, 100).ids.tolist()
    assert 70 not in reader.search(QUERY, 100).ids


def test_processes_write_by_turns(shared: Place) -> None:
    index = shared.open()
    fill(index, 4)
    with running(shared, "commit_once") as other:
        assert hear(other) == "committed"
        other.communicate()
    assert index.count() == 14
    fill(index, 4, first=300)
    assert index.count() == 18
    assert len(index.search(QUERY, 100).ids) == 18


def test_a_writer_killed_before_its_commit_leaves_the_index_usable(place: Place) -> None:
    index = place.open()
    rows = fill(index, 6)
    index.close()
    with running(place, "add_without_commit") as writer:
        assert hear(writer) == "added"
        writer.kill()
        writer.wait()
    again = place.open()
    if place.backend.whole_commits:
        assert again.count() == 6
        assert len(again.search(QUERY, 100).ids) == 6
    numbers = range(100, 120)
    again.add([PassageId(n) for n in numbers], [card(n) for n in numbers], unit_rows(20, seed=5))
    again.add([PassageId(0), PassageId(1)], [card(0), card(0)], rows[:2])
    again.commit()
    assert again.count() == 26
    assert again.search(rows[0], 1).ids.tolist() == [0]


@pytest.mark.parametrize("seed", range(3))
def test_a_writer_killed_at_any_moment_loses_nothing_committed(place: Place, seed: int) -> None:
    place.open().close()
    with running(place, "commit_on_and_on") as writer:
        for _ in range(Random(seed).randrange(3, 12)):
            last = hear(writer)
        writer.kill()
        assert writer.stdout is not None
        told = [last, *writer.stdout.read().split("\n")]
        writer.wait()
    committed = max(int(line) for line in told if line)
    index = place.open()
    count = index.count()
    assert count >= committed
    if place.backend.whole_commits:
        assert count % 10 == 0
    found = index.search(QUERY, count)
    assert len(set(found.ids.tolist())) == count
    held, _ = index.vectors([PassageId(n) for n in range(committed)])
    assert len(held) == committed
    fill(index, 10, first=10**6)
    assert index.count() == count + 10


def test_threads_search_while_another_one_writes(place: Place) -> None:
    index = place.open()
    fill(index, 50)
    failures: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                found = index.search(QUERY, 5)
                assert len(found.ids) == 5
                assert index.count() >= 50
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, 12):
        fill(index, 20, first=1000 * number, seed=number)
        index.remove([card(500 * number)])
        index.commit()
    index.compact()
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert index.count() == 50 + 11 * 18


def test_a_second_writer_is_told_that_it_has_to_wait(tmp_path: Path) -> None:
    place = Place("flat", tmp_path)
    index = place.open()
    index.add([PassageId(1)], [card(1)], unit_rows(1, seed=1))
    with running(place, "commit_once") as other:
        assert hear(other) == "busy"
    second = place.open()
    with pytest.raises(StorageBusy, match="another"):
        second.remove([card(1)])
    with pytest.raises(StorageBusy):
        second.clear()
    index.commit()
    second.remove([card(1)])
    second.commit()
    assert index.count() == 0
    place.close()
