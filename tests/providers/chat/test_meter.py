"""Limits: a session uses no more than it may, and says which limit stopped it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from salon.core.chat import ChatRequest, ChatUsage, ask
from salon.core.errors import InvalidSettings, LimitReached, ProviderFailed
from salon.providers.chat import ChatLimits, ChatOptions, ChatPrices, ScriptedChat, as_prices
from salon.providers.chat.backend import Tokens
from salon.providers.chat.meter import Meter
from tests.providers.chat.conftest import Talk
from tests.providers.chat.wire import PIECES, READ, WRITTEN, speak

QUESTION = ask("You are brief.", (), "Who governs?")  # five words
PRICES = ChatPrices(usd_per_million_input=3.0, usd_per_million_output=15.0)


def limited(lines: int = 9, prices: ChatPrices | None = None, **limits: Any) -> ScriptedChat:
    options = ChatOptions(limits=ChatLimits(**limits), prices=prices)
    return ScriptedChat(["Those who use it."] * lines, options)  # four words


@pytest.mark.parametrize(
    ("limits", "name", "answers"),
    [
        ({"requests": 2}, "requests", 2),
        ({"requests": 0}, "requests", 0),
        ({"input_tokens": 6}, "input_tokens", 2),
        ({"output_tokens": 8}, "output_tokens", 2),
        ({"tokens": 18}, "tokens", 2),
        ({"usd": 0.00015}, "usd", 2),
    ],
)
def test_a_limit_that_is_used_up_stops_the_session(
    limits: dict[str, Any], name: str, answers: int
) -> None:
    chat = limited(prices=PRICES, **limits)
    for _ in range(answers):
        chat.complete(QUESTION)
    with pytest.raises(LimitReached) as caught:
        chat.complete(QUESTION)
    assert caught.value.details["limit"] == name
    assert "raise the limit" in (caught.value.hint or "")
    with pytest.raises(LimitReached):
        next(iter(chat.stream(QUESTION)))
    assert chat.usage.requests == answers
    assert len(chat.asked) == answers


def test_an_answer_may_be_no_longer_than_what_is_left() -> None:
    chat = limited(output_tokens=10, tokens=100)
    for _ in range(2):
        chat.complete(QUESTION)
    assert [asked.max_tokens for asked in chat.asked] == [10, 6]


def test_money_too_decides_how_long_an_answer_may_be() -> None:
    chat = limited(prices=PRICES, usd=0.003)
    chat.complete(QUESTION)
    assert chat.asked[0].max_tokens == 200
    free = limited(prices=ChatPrices(usd_per_million_input=1, usd_per_million_output=0), usd=1)
    free.complete(QUESTION)
    assert free.asked[0].max_tokens == 800


def test_less_money_than_one_token_costs_is_none() -> None:
    with pytest.raises(LimitReached):
        limited(prices=PRICES, usd=0.00001).complete(QUESTION)


def test_the_cost_is_known_where_prices_are() -> None:
    chat = limited(prices=PRICES)
    answer = chat.complete(QUESTION)
    assert answer.usage == ChatUsage(requests=1, input_tokens=5, output_tokens=4, cost_usd=75e-6)
    assert "".join(chat.stream(QUESTION)) == answer.text
    assert chat.usage == ChatUsage(requests=2, input_tokens=10, output_tokens=8, cost_usd=150e-6)
    assert limited().complete(QUESTION).usage.cost_usd is None
    assert limited().usage.cost_usd is None
    assert limited(prices=PRICES).usage.cost_usd == 0


def test_a_limit_in_dollars_without_prices_is_refused_at_the_start() -> None:
    with pytest.raises(InvalidSettings, match="needs to know what tokens cost"):
        limited(usd=1.0)


def test_prices_come_in_pairs() -> None:
    assert as_prices(None, None) is None
    assert as_prices(3.0, 15.0) == PRICES
    for pair in ((3.0, None), (None, 15.0)):
        with pytest.raises(InvalidSettings, match="only one"):
            as_prices(*pair)


def test_each_session_has_its_own_limits_and_shares_the_rest() -> None:
    chat = limited(requests=1)
    chat.complete(QUESTION)
    other = chat.for_session()
    other.complete(QUESTION)
    other.close()
    with pytest.raises(LimitReached):
        other.complete(QUESTION)
    assert len(chat.asked) == 2
    assert chat.usage.requests == other.usage.requests == 1
    assert repr(other) == "<chat model scripted:code>"


def test_closing_a_session_leaves_the_model_open(compatible: Talk) -> None:
    chat = compatible.open()
    with chat.for_session() as session:
        session.complete(QUESTION)
    assert chat.complete(QUESTION).text


def test_what_failed_counts_as_a_request_and_holds_nothing_back() -> None:
    options = ChatOptions(limits=ChatLimits(output_tokens=10))
    chat = ScriptedChat([ProviderFailed("gone"), ProviderFailed("gone"), "Yes."], options)
    with pytest.raises(ProviderFailed):
        chat.complete(QUESTION)
    with pytest.raises(ProviderFailed):
        list(chat.stream(QUESTION))
    assert chat.complete(QUESTION).text == "Yes."
    assert [asked.max_tokens for asked in chat.asked] == [10, 10, 10]
    assert chat.usage.requests == 3


def test_tokens_that_nobody_tells_count_as_the_most_they_can_be(compatible: Talk) -> None:
    compatible.server.always = speak(compatible.protocol, tells=False)
    said = sum(len(message.content.encode()) for message in QUESTION.messages)
    limits = ChatLimits(tokens=said + len("".join(PIECES)))
    chat = compatible.open(limits=limits, prices=PRICES)
    answer = chat.complete(QUESTION)
    assert answer.usage == ChatUsage(requests=1)
    assert chat.usage == ChatUsage(requests=1)
    with pytest.raises(LimitReached):
        chat.complete(QUESTION)


def test_a_stream_that_is_left_early_counts_as_far_as_it_came(compatible: Talk) -> None:
    chat = compatible.open(limits=ChatLimits(output_tokens=len(PIECES[0])), prices=PRICES)
    answer = chat.stream(QUESTION)
    next(answer)
    del answer
    with pytest.raises(LimitReached):
        chat.complete(QUESTION)
    assert chat.usage.cost_usd is None


def test_what_servers_tell_is_added_up(compatible: Talk) -> None:
    chat = compatible.open(prices=PRICES)
    chat.complete(QUESTION)
    list(chat.stream(QUESTION))
    assert chat.usage.input_tokens == 2 * READ
    assert chat.usage.output_tokens == 2 * WRITTEN


def test_requests_at_the_same_time_do_not_share_what_is_left_twice() -> None:
    meter = Meter(ChatLimits(output_tokens=100), None)
    assert meter.let_in(60) == 60
    assert meter.let_in(60) == 40
    with pytest.raises(LimitReached):
        meter.let_in(1)
    meter.settle(60, tokens=Tokens(read=1, written=10), most=Tokens(read=0, written=0))
    assert meter.let_in(60) == 50


def test_many_threads_together_keep_to_the_limit() -> None:
    chat = limited(lines=100, requests=20)
    start = threading.Barrier(8)

    def work(_: int) -> int:
        start.wait(10)
        done = 0
        for _ in range(10):
            try:
                chat.complete(QUESTION)
                done += 1
            except LimitReached:
                pass
        return done

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 20
    assert chat.usage.requests == 20


def test_a_request_may_ask_for_less_than_the_most() -> None:
    chat = ScriptedChat(["Yes.", "Yes."], ChatOptions(max_tokens=50))
    chat.complete(ChatRequest(messages=QUESTION.messages, max_tokens=7))
    chat.complete(QUESTION)
    assert [asked.max_tokens for asked in chat.asked] == [7, 50]
