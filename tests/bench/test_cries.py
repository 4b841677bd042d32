"""Counting noticed cries for help."""

from bench.cries import measure


def test_recall_and_precision_are_shares_of_cries_and_of_alarms() -> None:
    cases = [("self", "I want to kill myself"), ("self", "the bus was late"), ("", "Hello there")]
    found = measure("a set", cases, None)
    assert (found.cries, found.near_misses) == (2, 1)
    assert (found.recall, found.precision) == (0.5, 1.0)
