"""The threads of turns and the boxes between tasks: nothing is lost, mixed up or waited for."""

import asyncio
import threading
from typing import Any

import pytest

from salon.api import workers
from salon.api.mailbox import Mailbox
from salon.api.workers import Workers


def test_many_short_jobs_give_each_its_own_result() -> None:
    async def main() -> list[int]:
        pool = Workers(4)
        return await asyncio.gather(*(pool.run(lambda n=n: n * n) for n in range(500)))  # type: ignore[misc]

    assert asyncio.run(main()) == [n * n for n in range(500)]


def test_long_jobs_run_side_by_side_up_to_the_limit() -> None:
    most = 3
    together = threading.Barrier(most)

    async def main() -> list[int]:
        pool = Workers(most)
        return await asyncio.gather(*(pool.run(lambda: together.wait(20)) for _ in range(most)))

    assert sorted(asyncio.run(main())) == [0, 1, 2]


def test_no_more_threads_than_allowed_work_at_once() -> None:
    now: list[int] = []
    peak: list[int] = []
    both, release = threading.Barrier(3), threading.Event()

    def work() -> None:
        now.append(1)
        peak.append(len(now))
        if not release.is_set():
            both.wait(20)
        release.wait(20)
        now.pop()

    async def main() -> None:
        pool = Workers(2)
        jobs = [asyncio.ensure_future(pool.run(work)) for _ in range(6)]
        await asyncio.to_thread(both.wait, 20)
        for _ in range(5):  # time enough to wake a third
            await asyncio.sleep(workers.MOMENT_S)
        release.set()
        await asyncio.gather(*jobs)

    asyncio.run(main())
    assert max(peak) == 2


def test_what_a_job_raises_belongs_to_who_waits_and_others_go_on() -> None:
    def fail() -> Any:
        raise ZeroDivisionError("one")

    async def main() -> Any:
        pool = Workers(1)
        jobs = (pool.run(fail), pool.run(lambda: "fine"))
        return await asyncio.gather(*jobs, return_exceptions=True)

    failed, fine = asyncio.run(main())
    assert isinstance(failed, ZeroDivisionError)
    assert fine == "fine"


def test_a_job_is_finished_although_nobody_waits_any_more() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(20)
        done.set()

    async def main() -> None:
        pool = Workers(1)
        job = asyncio.ensure_future(pool.run(work))
        await asyncio.to_thread(begun.wait, 20)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        go_on.set()
        assert await pool.run(lambda: "next") == "next"

    asyncio.run(main())
    assert done.is_set()


def test_a_thread_without_work_ends_and_another_one_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "IDLE_S", 0.01)

    async def main() -> tuple[int | None, bool, str]:
        pool = Workers(1)
        first = await pool.run(threading.current_thread)
        await asyncio.to_thread(first.join, 20)
        return first.ident, first.is_alive(), await pool.run(lambda: "again")

    _, is_alive, said = asyncio.run(main())
    assert (is_alive, said) == (False, "again")


def test_a_box_keeps_the_order_and_is_bounded() -> None:
    async def main() -> None:
        box: Mailbox[int] = Mailbox(2)
        assert [box.put(n) for n in (1, 2, 3)] == [True, True, False]
        assert len(box) == 2
        assert [await box.get(), await box.get()] == [1, 2]
        reading = asyncio.ensure_future(box.get())
        await asyncio.sleep(0)
        box.put(4)
        assert await reading == 4
        box.put(5)
        box.close()
        assert box.put(6)
        assert [await box.get(), await box.get()] == [5, None]

    asyncio.run(main())


def test_a_box_that_is_closed_wakes_its_reader() -> None:
    async def main() -> None:
        box: Mailbox[int] = Mailbox(2)
        reading = asyncio.ensure_future(box.get())
        await asyncio.sleep(0)
        box.close()
        assert await reading is None

    asyncio.run(main())
