"""Handle names: MCard's rules, to the letter."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import InvalidHandle
from salon.core.handles import ANYTHING, MAX_HANDLE_CHARACTERS, as_handle_name

LETTERS = st.characters(categories=["Lu", "Ll", "Lt", "Lm", "Lo"])
FOLLOWING = st.characters(categories=["L", "N"]) | st.sampled_from("_-./: ")
GOOD = st.builds(lambda first, rest: first + rest, LETTERS, st.text(FOLLOWING, max_size=40))


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "a1",
        "corpus/ostrom",
        "v1.2-final_x",
        "ns:thing",
        "two words",
        "Ωmega",
        "日本語",
        "é",
        "ǅ",
    ],
)
def test_a_proper_name_stays_as_it_is(name: str) -> None:
    assert as_handle_name(name) == name


def test_case_is_kept_and_tells_handles_apart() -> None:
    assert as_handle_name("README") == "README"
    assert as_handle_name("ReadMe") != as_handle_name("readme")


@pytest.mark.parametrize("text", ["  name  ", "\tname\n", "\u00a0name\u2003"])
def test_white_space_around_a_name_is_stripped(text: str) -> None:
    assert as_handle_name(text) == "name"


def test_two_spellings_of_the_same_text_are_one_name() -> None:
    composed, decomposed = "café", "cafe\u0301"
    assert composed != decomposed
    assert as_handle_name(decomposed) == as_handle_name(composed) == composed


def test_marks_that_cannot_be_composed_belong_to_their_letter() -> None:
    assert as_handle_name("हिन्दी") == "हिन्दी"


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u3000"])
def test_an_empty_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidHandle, match="empty"):
        as_handle_name(text)


def test_255_characters_are_fine_and_256_are_not() -> None:
    assert MAX_HANDLE_CHARACTERS == 255
    assert as_handle_name("a" * 255) == "a" * 255
    with pytest.raises(InvalidHandle, match="256 characters"):
        as_handle_name("a" * 256)


def test_the_length_is_counted_in_characters_after_composing_and_stripping() -> None:
    assert as_handle_name("  " + "e\u0301" * 255 + "  ") == "é" * 255
    assert as_handle_name("日" * 255) == "日" * 255
    with pytest.raises(InvalidHandle, match="256 characters"):
        as_handle_name("日" * 256)


@pytest.mark.parametrize("first", ["1", "_", "-", ".", "/", ":", "@", "\u0301", "²", "😀", "٣"])
def test_the_first_character_must_be_a_letter(first: str) -> None:
    with pytest.raises(InvalidHandle, match="not a letter"):
        as_handle_name(first + "name")


@pytest.mark.parametrize(
    "bad", ["@", "#", "%", "*", "?", "\\", "\n", "\0", "\u200b", "\u00a0", "😀", "\ud800", "(", "'"]
)
def test_a_character_outside_the_rules_is_refused_and_named(bad: str) -> None:
    with pytest.raises(InvalidHandle) as caught:
        as_handle_name(f"na{bad}me")
    assert repr(bad) in caught.value.message
    assert caught.value.hint


def test_a_refused_name_is_not_repeated_in_full() -> None:
    with pytest.raises(InvalidHandle) as caught:
        as_handle_name("a" * 1_000_000)
    assert len(caught.value.message) < 200


@given(GOOD)
def test_a_name_made_by_the_rules_is_accepted_and_normal(text: str) -> None:
    name = as_handle_name(text)
    assert name == unicodedata.normalize("NFC", text.strip())
    assert as_handle_name(name) == name


@given(st.text(max_size=30))
def test_any_text_gives_a_settled_name_or_a_clear_error(text: str) -> None:
    try:
        name = as_handle_name(text)
    except InvalidHandle:
        return
    assert as_handle_name(name) == name
    assert name == name.strip()
    assert name[0].isalpha()
    assert len(name) <= MAX_HANDLE_CHARACTERS
    assert all(c in "_-./: " or unicodedata.category(c)[0] in "LNM" for c in name)


def test_anything_is_neither_none_nor_a_hash() -> None:
    assert ANYTHING is not None
    assert not isinstance(ANYTHING, str)
