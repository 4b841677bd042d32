"""A loop in a thread of its own: runs, cancels, ends."""

import asyncio
import threading

import pytest

from salon.providers.chat.loop_thread import LoopThread


async def _answer() -> int:
    await asyncio.sleep(0)
    return threading.get_ident()


def test_work_is_done_in_one_other_thread() -> None:
    with LoopThread("test loop") as loop:
        first, second = loop.run(_answer()), loop.run(_answer())
    assert first == second != threading.get_ident()


def test_what_is_raised_there_arrives_here() -> None:
    async def fail() -> None:
        raise KeyError("there")

    with LoopThread("test loop") as loop, pytest.raises(KeyError, match="there"):
        loop.run(fail())


def test_closing_cancels_what_runs_and_ends_the_thread() -> None:
    cancelled = threading.Event()
    started = threading.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    loop = LoopThread("test loop")
    future = loop.start(wait())
    assert started.wait(10)
    loop.close()
    assert cancelled.is_set()
    assert future.cancelled()
    assert "test loop" not in {thread.name for thread in threading.enumerate()}


def test_a_closed_loop_takes_no_more_work_and_may_be_closed_again() -> None:
    loop = LoopThread("test loop")
    loop.close()
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.run(_answer())


def test_nothing_is_started_before_it_is_needed() -> None:
    before = threading.active_count()
    with LoopThread("test loop"):
        assert threading.active_count() == before
