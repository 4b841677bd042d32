"""The bucket of messages: bursts, the long run, and the sessions that are remembered."""

import pytest

from salon.api.limits import Buckets


class Watch:
    """A clock that stands until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    watch = Watch()
    buckets = Buckets(rate=2.0, burst=3, now=watch)
    assert [buckets.take("s") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    watch.now = 0.5
    assert buckets.take("s") == 0.0
    assert buckets.take("s") == pytest.approx(0.5)


def test_a_refused_message_takes_nothing() -> None:
    watch = Watch()
    buckets = Buckets(rate=1.0, burst=1, now=watch)
    buckets.take("s")
    for _ in range(50):
        buckets.take("s")
    watch.now = 1.0
    assert buckets.take("s") == 0.0


def test_a_pause_fills_the_bucket_but_not_beyond_the_burst() -> None:
    watch = Watch()
    buckets = Buckets(rate=1.0, burst=2, now=watch)
    watch.now = 1000.0
    assert [buckets.take("s") == 0.0 for _ in range(3)] == [True, True, False]


def test_sessions_have_buckets_of_their_own_and_old_ones_are_forgotten() -> None:
    buckets = Buckets(rate=1.0, burst=1, now=Watch())
    assert buckets.take("first") == 0.0
    assert buckets.take("first") > 0.0
    for n in range(Buckets.REMEMBERED):
        assert buckets.take(f"session-{n}") == 0.0
    assert buckets.take("first") == 0.0


def test_what_costs_more_takes_more_and_is_let_through_when_the_bucket_is_full() -> None:
    watch = Watch()
    buckets = Buckets(rate=1.0, burst=10, now=watch)
    assert buckets.take("s", 8.0) == 0.0
    assert buckets.take("s", 8.0) == 6.0
    assert buckets.take("s") == 0.0
    watch.now = 100.0
    assert buckets.take("s", 50.0) == 0.0
    assert buckets.take("s") > 0.0
