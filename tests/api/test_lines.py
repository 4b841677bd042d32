"""Lines before the threads: one after another within a session, and nobody stands in them twice."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from salon.api.lines import Lines, Place
from salon.api.live import Letter, Listener
from salon.api.talking import _settled
from salon.api.workers import Then, Workers
from salon.steps.wire_shapes import BotResponse


def asking(lines: Lines, session: str, work: Callable[[], Any]) -> Callable[[Then], Place]:
    return lambda then: lines.join(session, work, then)


def test_work_of_one_session_is_done_in_the_order_of_coming() -> None:
    done: list[int] = []

    async def main() -> None:
        lines = Lines(Workers(4))
        works = [asking(lines, "one", lambda n=n: done.append(n)) for n in range(50)]  # type: ignore[misc]
        await asyncio.gather(*map(_settled, works))

    asyncio.run(main())
    assert done == list(range(50))


def test_sessions_do_not_wait_for_each_other() -> None:
    both = threading.Barrier(2)

    async def main() -> list[int]:
        lines = Lines(Workers(2))
        works = (asking(lines, name, lambda: both.wait(20)) for name in ("one", "other"))
        return list(await asyncio.gather(*map(_settled, works)))

    assert sorted(asyncio.run(main())) == [0, 1]


def test_who_leaves_before_the_work_begins_is_passed_over() -> None:
    done: list[str] = []
    go_on = threading.Event()

    async def main() -> None:
        lines = Lines(Workers(2))
        first = asyncio.ensure_future(_settled(asking(lines, "one", lambda: go_on.wait(20))))
        second = asyncio.ensure_future(_settled(asking(lines, "one", lambda: done.append("left"))))
        third = asyncio.ensure_future(_settled(asking(lines, "one", lambda: done.append("stayed"))))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        go_on.set()
        await asyncio.gather(first, third)

    asyncio.run(main())
    assert done == ["stayed"]


def test_who_is_cancelled_in_the_midst_waits_for_what_has_begun() -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def work() -> None:
        begun.set()
        go_on.wait(20)
        done.append("whole")

    async def main() -> None:
        lines = Lines(Workers(1))
        asked = asyncio.ensure_future(_settled(asking(lines, "one", work)))
        await asyncio.to_thread(begun.wait, 20)
        asked.cancel()
        await asyncio.sleep(0)
        assert not asked.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(main())
    assert done == ["whole"]


def test_one_that_fails_to_hear_of_its_work_keeps_nobody_else_from_it() -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("one")

    async def main() -> tuple[int, list[str]]:
        failures: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, about: failures.append(str(about["exception"])))
        lines = Lines(Workers(1))
        lines.join("one", int, fail)
        return await _settled(asking(lines, "one", lambda: 7)), failures

    assert asyncio.run(main()) == (7, ["one"])


def test_nothing_is_sent_at_once_past_what_waits() -> None:
    event = BotResponse(event_id=199, content="x", bot_id="b", turn=1, ai_label="AI")
    sent: list[str] = []
    is_open = True

    def send(letter: Letter) -> bool:
        if is_open:
            sent.append(str(letter.text))
        return is_open

    async def main() -> None:
        nonlocal is_open
        listener = Listener(outgoing=9)
        listener.send_at_once = send
        listener.offer(event, "before anybody waits")
        assert (await listener.events.get() or Letter(event)).text == "before anybody waits"
        waiting = asyncio.ensure_future(listener.events.get())
        await asyncio.sleep(0)
        listener.offer(event, "at once")
        is_open = False
        listener.offer(event, "the usual way")
        is_open = True
        listener.offer(event, "after it")
        assert (await waiting or Letter(event)).text == "the usual way"
        assert (await listener.events.get() or Letter(event)).text == "after it"

    asyncio.run(main())
    assert sent == ["at once"]
