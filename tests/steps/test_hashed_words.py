"""Words as numbers: the same everywhere, and only known ones count."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.steps.hashed_words import KnownWords, hashed_words


def numbers(text: str) -> set[int]:
    return set(hashed_words(text))


def test_a_number_is_the_same_in_every_process() -> None:
    # "hi", and "hi" as the beginning and as the end of a text.
    assert sorted(numbers("hi")) == [827797548, 2878462270, 3633523372]


def test_case_and_apostrophes_do_not_matter_but_shouting_does() -> None:
    assert numbers("Don\u2019t go") == numbers("don't GO")
    assert numbers("please STOP") - numbers("please stop") != set()


def test_drawn_out_letters_read_like_two_and_are_noticed() -> None:
    assert numbers("nooooo") - numbers("noo") == numbers("yesss") - numbers("yess")


def test_marks_and_emoji_count() -> None:
    assert len(numbers("fine!") - numbers("fine")) >= 2
    assert numbers("\U0001f622") != numbers("\U0001f600")


def test_repeated_words_count_less_each_time() -> None:
    once, thrice = hashed_words("so"), hashed_words("so so so")
    shared = set(once) & set(thrice)
    assert {once[one] for one in shared} == {1.0}
    assert max(thrice.values()) == pytest.approx(1 + math.log(3))


@given(st.text(max_size=60))
def test_what_is_known_has_length_one_or_is_nothing(text: str) -> None:
    kept = sorted(numbers(text))[::2]
    known = KnownWords(np.array(kept, dtype=np.uint32), np.ones(len(kept), dtype=np.float32))
    weighed = known.weigh(text)
    assert len(known) == len(kept)
    assert set(weighed) <= set(range(len(kept)))
    length = math.sqrt(sum(value * value for value in weighed.values()))
    assert length == pytest.approx(1.0 if kept else 0.0)
