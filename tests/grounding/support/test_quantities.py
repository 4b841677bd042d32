"""Numbers are the same in any spelling, and different numbers are not."""

import pytest

from salon.grounding.support.quantities import (
    missing_months,
    missing_quantities,
    read_quantities,
    values_of,
    without_marks,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,200 tons", 1200),
        ("1.2 thousand tons", 1200),
        ("twelve hundred tons", 1200),
        ("one thousand two hundred tons", 1200),
        ("forty-five", 45),
        ("two hundred and five", 205),
        ("3.5%", 3.5),
        ("4 million", 4_000_000),
        ("5bn", 5_000_000_000),
        ("the 1990s", 1990),
        ("the 20th century", 20),
        ("the twentieth", 20),
        ("three million", 3_000_000),
        ("hundred", 100),
    ],
)
def test_a_number_is_worth_the_same_in_every_spelling(text: str, value: float) -> None:
    assert [one.value for one in read_quantities(text)] == [value]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("It carried 1,200 tons.", "It carried twelve hundred tons."),
        ("It took three years.", "It took 3 years."),
        ("They had two children.", "They had a couple of children."),
        ("It lasted ten years.", "It lasted a decade."),
        ("Some 12 percent stayed.", "12.4 % stayed."),
        ("About 1,000 people came.", "1,042 people came."),
        ("Of the 25 nearly all left.", "25 were there; all but 1 left."),
        ("Vitamin B12 helps.", "It helps."),
        ("One of them left.", "They left."),
        ("2. The second item.", "The item."),
        ("The price doubled to 5 million.", "It was 5 million."),
    ],
)
def test_a_number_that_is_there_is_not_missing(claim: str, text: str) -> None:
    assert missing_quantities(without_marks(claim), values_of(text)) == []


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("In 1862 he left.", "In 1861 he left.", ["1862"]),
        ("About 1862 he left.", "In 1861 he left.", ["1862"]),
        ("It cost 13 dollars.", "It cost 12.4 dollars.", ["13"]),
        ("It grew by 5%.", "It grew by 6%.", ["5%"]),
        ("About 1,000 people came.", "1,300 people came.", ["1,000"]),
        ("Four ships sank.", "Five ships sank.", ["Four"]),
        ("It was 2000 then.", "It was 1998.5 then.", ["2000"]),
    ],
)
def test_a_number_that_is_not_there_is_missing(claim: str, text: str, missing: list[str]) -> None:
    assert [one.text for one in missing_quantities(claim, values_of(text))] == missing


def test_a_year_is_known_for_one() -> None:
    years = {one.text: one.is_year for one in read_quantities("1861, 1861% and 18,610 and 5000")}
    assert years == {"1861": True, "1861%": False, "18,610": False, "5000": False}


@pytest.mark.parametrize(
    ("claim", "text", "missing"),
    [
        ("Signed on 3 June 1862.", "Signed on 3 May 1862.", ["June"]),
        ("Signed on June 3, 1862.", "Signed on May 3, 1862.", ["June"]),
        ("Signed on 3 June 1862.", "Signed on Jun. 3.", []),
        ("Signed on 3 June 1862.", "Signed on 1862-06-03.", []),
        ("They march in step.", "They walk.", []),
        ("It may rain.", "It rains.", []),
    ],
)
def test_months_are_compared_where_they_date_something(
    claim: str, text: str, missing: list[str]
) -> None:
    assert missing_months(claim, text) == missing


def test_marks_that_point_to_sources_are_no_numbers() -> None:
    bare = without_marks("It rains [3], often [4, 5].")
    assert read_quantities(bare) == []
    assert len(bare) == len("It rains [3], often [4, 5].")
