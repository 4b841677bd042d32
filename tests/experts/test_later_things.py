"""What came after an avatar's time."""

import pytest

from salon.experts.later_things import YEARS, find_later


@pytest.mark.parametrize(
    ("text", "last", "found"),
    [
        ("What do you say about the election of 1932?", 1909, ("1932", 1932)),
        ("Is Bitcoin money?", 1909, ("Bitcoin", 2009)),
        ("Should nuclear weapons be banned?", 1909, ("nuclear weapons", 1945)),
        ("What did you say in 1903?", 1909, None),
        ("Is radio good?", 1909, None),
        ("It cost $1,950 in all", 1909, None),
        ("the dnase enzyme", 1909, None),
        ("Is Bitcoin money?", None, None),
    ],
)
def test_later_things_are_named_with_their_year(
    text: str, last: int | None, found: tuple[str, int] | None
) -> None:
    assert find_later(text, last) == found


def test_the_table_is_written_as_it_is_looked_up() -> None:
    assert all(name == name.casefold() for name in YEARS)
    assert all(1500 < year < 2030 for year in YEARS.values())
