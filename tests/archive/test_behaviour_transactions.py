"""Transactions, in every backend: all of it or nothing, and never a hang."""

import threading
from collections.abc import Callable

import pytest

from salon.core.archive import Archive, ArchiveTransaction
from salon.core.documents import Provenance, Span
from salon.core.errors import CardNotFound, HandleMoved
from salon.core.hashing import content_hash
from tests.archive.backends import Place
from tests.archive.samples import delete, kinds, log

V1, V2 = content_hash(b"v1"), content_hash(b"v2")


class Stop(Exception):
    """Raised by a test in the middle of a transaction."""


def test_work_returns_what_it_returns_once_it_is_durable(archive: Archive) -> None:
    assert archive.write(lambda tx: (tx.add(b"v1").hash, 42)) == (V1, 42)
    assert archive.has(V1)


def test_a_transaction_sees_what_it_wrote(archive: Archive) -> None:
    def work(tx: ArchiveTransaction) -> None:
        card = tx.add(b"v1").hash
        tx.set_handle("notes", card, expected_current=None)
        tx.set_handle("notes", tx.add(b"v2").hash, expected_current=card)
        document = tx.add_document(Provenance(title="T"), source=card)
        tx.remove_document(document.id)
        tx.rename_handle("notes", "renamed")

    archive.write(work)
    assert archive.resolve("renamed").current == V2
    assert len(kinds(archive)) == 7


def test_an_exception_undoes_everything_of_its_transaction(archive: Archive) -> None:
    archive.put("notes", b"v1")
    source = archive.add(b"source").hash
    before, history, head = archive.stats(), archive.history("notes"), archive.checkpoint()

    def work(tx: ArchiveTransaction) -> None:
        tx.set_handle("notes", tx.add(b"v2").hash)
        tx.set_handle("other", V2)
        tx.rename_handle("notes", "renamed")
        tx.add_document(Provenance(title="T"), source=source)
        tx.cite(V2, [Span(hash=source, start=0, end=1)])
        tx.mark_derived(V2, from_card=source)
        tx.delete(V1, reason="r", force=True)
        raise Stop

    with pytest.raises(Stop):
        archive.write(work)
    assert archive.stats() == before
    assert archive.history("notes") == history
    assert archive.checkpoint() == head
    assert archive.get(V1).content == b"v1"
    assert archive.find_tombstone(V1) is None
    assert list(archive.documents()) == []
    assert archive.add(b"next").created


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError])
def test_whatever_is_raised_reaches_the_caller_and_the_archive_goes_on(
    archive: Archive, error: type[BaseException]
) -> None:
    def work(tx: ArchiveTransaction) -> None:
        tx.add(b"half")
        raise error

    with pytest.raises(error):
        archive.write(work)
    assert archive.stats().cards == 0
    assert archive.add(b"whole").created


def test_a_failed_put_does_not_keep_the_card(archive: Archive) -> None:
    archive.put("notes", b"v1")
    with pytest.raises(HandleMoved):
        archive.put("notes", b"v2", expected_current=None)
    assert not archive.has(V2)


def test_a_write_inside_a_write_is_refused_instead_of_waiting_for_itself(
    archive: Archive,
) -> None:
    nested: list[Callable[[], object]] = [
        lambda: archive.add(b"inner"),
        lambda: archive.put("inner", b"inner"),
        lambda: archive.write(lambda tx: tx.add(b"inner")),
        lambda: archive.add_many([b"inner"]),
    ]
    for inner in nested:

        def outer(tx: ArchiveTransaction, inner: Callable[[], object] = inner) -> None:
            tx.add(b"outer")
            inner()

        with pytest.raises(RuntimeError, match="write inside a write"):
            archive.write(outer)
    assert archive.stats().cards == 0
    assert archive.add(b"after").created


def test_the_archive_can_be_read_inside_a_write(archive: Archive) -> None:
    archive.put("notes", b"v1")
    content = archive.write(lambda _: archive.get(archive.resolve("notes").current).content)
    assert content == b"v1"


def test_a_transaction_that_is_over_cannot_be_used(archive: Archive) -> None:
    kept: list[ArchiveTransaction] = []
    archive.write(kept.append)
    archive.add(b"v1")
    head = archive.checkpoint()
    with pytest.raises(RuntimeError):
        kept[0].add(b"too late")
    assert archive.checkpoint() == head
    assert archive.stats().cards == 1
    assert archive.add(b"next").created


def test_an_empty_transaction_is_nothing(archive: Archive) -> None:
    assert archive.write(lambda _: 42) == 42
    assert log(archive) == []


def test_what_one_write_did_the_next_one_sees(archive: Archive) -> None:
    archive.put("notes", b"v1")
    archive.put("notes", b"v2", expected_current=V1)
    delete(archive, V1, force=True)
    with pytest.raises(CardNotFound):
        archive.write(lambda tx: tx.set_handle("notes", content_hash(b"never")))


def test_many_threads_can_write_and_read_at_once(archive: Archive) -> None:
    problems: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(10):
                content = b"%d/%d" % (number, step)
                handle = archive.put(f"worker {number}", content)
                assert archive.get(handle.current).content == content
                assert archive.resolve(f"worker {number}").current == handle.current
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert archive.stats().cards == 80
    assert all(len(archive.history(f"worker {number}")) == 10 for number in range(8))


def test_only_one_of_many_threads_wins_a_compare_and_swap(archive: Archive) -> None:
    start = archive.put("notes", b"start").current
    barrier = threading.Barrier(8)
    won: list[int] = []
    lost: list[int] = []

    def work(number: int) -> None:
        barrier.wait()
        try:
            archive.put("notes", b"%d" % number, expected_current=start)
            won.append(number)
        except HandleMoved:
            lost.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert len(lost) == 7
    assert archive.get(archive.resolve("notes").current).content == b"%d" % won[0]
    assert len(archive.history("notes")) == 2


def test_two_openings_of_one_archive_see_each_other(place: Place) -> None:
    one, other = place.open(actor="one"), place.open(actor="other")
    one.put("notes", b"v1")
    assert other.resolve("notes").current == V1
    other.put("notes", b"v2", expected_current=V1)
    assert one.resolve("notes").current == V2
    with pytest.raises(HandleMoved):
        one.put("notes", b"v3", expected_current=V1)
    assert [entry.by for entry in log(one)] == ["one", "one", "other", "other"]


def test_a_closed_archive_refuses_to_write(archive: Archive) -> None:
    archive.add(b"v1")
    archive.close()
    with pytest.raises(RuntimeError, match="closed"):
        archive.add(b"v2")
    with pytest.raises(RuntimeError, match="closed"):
        archive.write(lambda tx: tx.add(b"v2"))


def test_a_closed_archive_refuses_to_read(archive: Archive) -> None:
    archive.put("notes", b"v1")
    archive.close()
    for read in (
        lambda: archive.get(V1),
        lambda: archive.has(V1),
        lambda: archive.resolve("notes"),
        lambda: list(archive.cards()),
        lambda: archive.open(V1).close(),
        archive.stats,
        archive.checkpoint,
    ):
        with pytest.raises(RuntimeError, match="closed"):
            read()


def test_closing_twice_is_fine(archive: Archive) -> None:
    archive.add(b"v1")
    archive.close()
    archive.close()
