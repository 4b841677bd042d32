"""The bench of WebSockets, small: every reply comes, in order, to the session that asked."""

import asyncio

import pytest

from bench.socket_servers import Stub
from bench.sockets import CHECKS, Heard, Wrong, server, socket_rows, talk


def test_no_reply_is_lost_or_reaches_another_session() -> None:
    with server("salon") as served:
        heard = asyncio.run(talk(served, "salon", sessions=40, turns=5, thinking_s=0.0))
    assert len(heard.seconds) == 200
    assert heard.processor_s_each > 0


def test_all_sides_are_measured_in_one_run() -> None:
    rows = socket_rows(sessions=5, turns=2, rounds=1, thinking_s=0.0)
    figures = ("p50", "p99", "processor", "p99 ratio")
    assert [one.name for one in rows] == [
        f"{figure} beside {peer}" for peer in ("echo", "threaded") for figure in figures
    ]
    assert all(one.salon > 0 for one in rows)
    assert [one.name for one in rows if one.most_ratio == 2.0] == ["p99 beside echo"]


def test_a_reply_with_the_secret_of_another_session_is_caught() -> None:
    reply = Stub().take_turn("theirs", "remark 1", user="u").events[0].model_dump_json()
    with pytest.raises(Wrong, match="mine got"):
        CHECKS["salon"]("mine", 1, "remark 1", "", reply, set())
    with pytest.raises(Wrong, match="turn 2"):
        CHECKS["salon"]("theirs", 2, "remark 1", "", reply, set())
    with pytest.raises(Wrong, match="echo"):
        CHECKS["echo"]("mine", 1, "", "one", "two", set())


def test_a_share_of_the_replies_came_within() -> None:
    heard = Heard(seconds=[0.4, 0.1, 0.3, 0.2])
    assert (heard.at(0.5), heard.at(0.99)) == (0.3, 0.4)
