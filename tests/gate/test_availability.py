"""Free times: working hours of the person's own zone, also when its clocks change."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import InvalidInput
from salon.gate.availability import free_slots, get_zone, horizon, in_zone, is_free, is_offered
from salon.gate.means import Busy

NEW_YORK, BERLIN, KOLKATA = (
    ZoneInfo(name) for name in ("America/New_York", "Europe/Berlin", "Asia/Kolkata")
)


def _local(slots: list[datetime], zone: ZoneInfo) -> list[str]:
    return [f"{slot.astimezone(zone):%a %d %H:%M %Z}" for slot in slots]


def test_the_next_three_half_hours_of_the_working_day_are_offered() -> None:
    now = datetime(2026, 11, 16, 15, 10, tzinfo=UTC)
    assert _local(free_slots([], now=now, zone=NEW_YORK), NEW_YORK) == [
        "Mon 16 10:30 EST",
        "Mon 16 11:00 EST",
        "Mon 16 11:30 EST",
    ]


def test_weekends_and_evenings_are_passed_over() -> None:
    friday_evening = datetime(2026, 11, 20, 21, 45, tzinfo=UTC)
    assert _local(free_slots([], now=friday_evening, zone=NEW_YORK), NEW_YORK) == [
        "Mon 23 09:00 EST",
        "Mon 23 09:30 EST",
        "Mon 23 10:00 EST",
    ]


def test_what_is_taken_is_not_offered_and_the_edges_touch() -> None:
    now = datetime(2026, 11, 16, 13, 0, tzinfo=UTC)
    nine = datetime(2026, 11, 16, 14, 0, tzinfo=UTC)
    busy = [
        Busy(start=nine, end=nine + timedelta(minutes=30)),
        Busy(start=nine + timedelta(minutes=75), end=nine + timedelta(minutes=80)),
    ]
    assert _local(free_slots(busy, now=now, zone=NEW_YORK), NEW_YORK) == [
        "Mon 16 09:30 EST",
        "Mon 16 10:30 EST",
        "Mon 16 11:00 EST",
    ]


def test_a_longer_call_must_fit_before_five() -> None:
    now = datetime(2026, 11, 16, 20, 45, tzinfo=UTC)
    assert _local(free_slots([], now=now, zone=NEW_YORK, minutes=60), NEW_YORK)[0] == (
        "Mon 16 16:00 EST"
    )
    later = datetime(2026, 11, 16, 21, 15, tzinfo=UTC)
    assert _local(free_slots([], now=later, zone=NEW_YORK, minutes=60), NEW_YORK)[0] == (
        "Tue 17 09:00 EST"
    )


def test_nothing_is_offered_beyond_a_week() -> None:
    now = datetime(2026, 11, 16, 13, 0, tzinfo=UTC)
    all_week = [Busy(start=now, end=now + timedelta(days=30))]
    assert free_slots(all_week, now=now, zone=NEW_YORK) == []
    assert horizon(now, NEW_YORK) == datetime(2026, 11, 23, 22, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "before", "opens_before", "opens_after"),
    [
        # In spring the clocks go forward in the night to Sunday, in autumn back.
        (NEW_YORK, datetime(2026, 3, 6, 23, tzinfo=UTC), (6, 14), (9, 13)),
        (NEW_YORK, datetime(2026, 10, 30, 22, tzinfo=UTC), (30, 13), (2, 14)),
        (BERLIN, datetime(2026, 3, 27, 18, tzinfo=UTC), (27, 8), (30, 7)),
        (BERLIN, datetime(2026, 10, 23, 18, tzinfo=UTC), (23, 7), (26, 8)),
        (KOLKATA, datetime(2026, 3, 27, 18, tzinfo=UTC), (27, 3), (30, 3)),
    ],
    ids=["New York in spring", "New York in autumn", "Berlin in spring", "Berlin in autumn",
         "Kolkata without a change"],
)  # fmt: skip
def test_nine_is_nine_on_both_sides_of_a_change_of_the_clocks(
    zone: ZoneInfo,
    before: datetime,
    opens_before: tuple[int, int],
    opens_after: tuple[int, int],
) -> None:
    friday = free_slots([], now=before - timedelta(hours=18), zone=zone)[0]
    monday = free_slots([], now=before, zone=zone)[0]
    assert (friday.day, friday.hour) == opens_before
    assert (monday.day, monday.hour) == opens_after
    assert f"{friday.astimezone(zone):%H:%M}" == f"{monday.astimezone(zone):%H:%M}" == "09:00"


def test_a_time_that_the_clocks_skip_does_not_exist() -> None:
    assert in_zone(date(2026, 3, 8), time(2, 30), NEW_YORK) is None
    assert in_zone(date(2026, 3, 29), time(2, 30), BERLIN) is None
    assert in_zone(date(2026, 3, 8), time(3, 0), NEW_YORK) == datetime(2026, 3, 8, 7, tzinfo=UTC)


def test_a_time_that_the_clocks_show_twice_is_the_first_one() -> None:
    assert in_zone(date(2026, 11, 1), time(1, 30), NEW_YORK) == datetime(
        2026, 11, 1, 5, 30, tzinfo=UTC
    )


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no time zone"):
        get_zone("Mars/Olympus")
    with pytest.raises(InvalidInput, match="no time zone"):
        get_zone("../../etc/passwd")


moments = st.integers(0, 4 * 365 * 24 * 60).map(
    lambda minutes: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
stretches = st.builds(
    lambda start, minutes: (start, minutes),
    st.integers(0, 9 * 24 * 60),
    st.integers(1, 600),
)


@given(
    moments,
    st.sampled_from((NEW_YORK, BERLIN, KOLKATA, ZoneInfo("Australia/Lord_Howe"))),
    st.lists(stretches, max_size=12),
    st.sampled_from((15, 30, 45, 60, 120)),
)
def test_every_slot_is_free_ahead_on_a_weekday_and_inside_the_hours(
    now: datetime, zone: ZoneInfo, taken: list[tuple[int, int]], minutes: int
) -> None:
    busy = [
        Busy(start=now + timedelta(minutes=start), end=now + timedelta(minutes=start + length))
        for start, length in taken
    ]
    slots = free_slots(busy, now=now, zone=zone, minutes=minutes)
    assert slots == sorted(set(slots))
    assert len(slots) <= 3
    for slot in slots:
        local = slot.astimezone(zone)
        end = (slot + timedelta(minutes=minutes)).astimezone(zone)
        assert slot > now
        assert slot <= horizon(now, zone)
        assert local.weekday() < 5
        assert time(9) <= local.time()
        assert local.date() == end.date()
        assert end.time() <= time(17)
        assert is_free(slot, minutes, busy)
        assert is_offered(slot, zone, minutes)
