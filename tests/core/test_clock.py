"""Time: its two spellings, `g_time`, and a clock that can be replayed."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.clock import (
    SteppingClock,
    SystemClock,
    g_time,
    instant,
    mcard_instant,
    parse_instant,
)

MOMENT = datetime(2026, 11, 15, 0, 23, 23, 229924, tzinfo=UTC)
MOMENTS = st.datetimes(
    min_value=datetime(1, 1, 3),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(9999, 12, 29),  # noqa: DTZ001 - hypothesis adds the zone
    timezones=st.integers(-14 * 60, 14 * 60).map(
        lambda minutes: timezone(timedelta(minutes=minutes))
    ),
)


def test_g_time_is_spelled_exactly_like_mcards() -> None:
    assert g_time("sha256", MOMENT) == "sha256|2026-11-15T00:23:23.229924Z|UTC"


def test_g_time_names_algorithm_and_place() -> None:
    assert g_time("md5", MOMENT, "did:web:a") == "md5|2026-11-15T00:23:23.229924Z|did:web:a"


def test_a_full_second_still_has_six_digits() -> None:
    full = MOMENT.replace(microsecond=0)
    assert g_time("sha256", full) == "sha256|2026-11-15T00:23:23.000000Z|UTC"
    assert instant(full) == "2026-11-15T00:23:23.000000Z"
    assert mcard_instant(full) == "2026-11-15T00:23:23.000000+00:00"


def test_another_zone_is_spelled_in_utc() -> None:
    there = MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert instant(there) == "2026-11-15T00:23:23.229924Z"
    assert mcard_instant(there) == "2026-11-15T00:23:23.229924+00:00"
    assert g_time("sha1", there) == "sha1|2026-11-15T00:23:23.229924Z|UTC"


@given(MOMENTS)
def test_both_spellings_read_back_as_the_same_moment_in_utc(moment: datetime) -> None:
    for text in (instant(moment), mcard_instant(moment)):
        read = parse_instant(text)
        assert read == moment
        assert read.tzinfo == UTC


@given(MOMENTS, MOMENTS)
def test_spelled_moments_sort_like_moments(one: datetime, other: datetime) -> None:
    assert (instant(one) < instant(other)) == (one < other)
    assert (mcard_instant(one) < mcard_instant(other)) == (one < other)


@pytest.mark.parametrize("text", ["2026-11-15T00:23:23", "2026-11-15 00:23:23", "2026-11-15"])
def test_a_time_without_a_zone_is_taken_as_utc(text: str) -> None:
    assert parse_instant(text).tzinfo == UTC


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "sha256|2026|UTC"])
def test_what_is_not_a_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|month"):
        parse_instant(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_time_that_utc_cannot_express_is_refused_like_any_other_bad_time(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever words, it is a bad value
        parse_instant(text)


def test_the_stepping_clock_moves_by_one_step_per_look() -> None:
    clock = SteppingClock(MOMENT, timedelta(milliseconds=5))
    seen = [clock.now() for _ in range(4)]
    assert seen == [MOMENT + timedelta(milliseconds=5 * number) for number in range(4)]


def test_the_system_clock_is_aware_and_in_utc() -> None:
    assert SystemClock().now().utcoffset() == timedelta(0)
