"""Canonical JSON: one value, one byte string, and nothing that two values could share."""

import json
import math
from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.canonical import canonical_json

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def backwards(value: Json) -> Json:
    """Return the same value with every object's keys inserted in reverse order."""
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(list(value))}
    if isinstance(value, list):
        return [backwards(item) for item in value]
    return value


def keys_in_order(value: Json) -> bool:
    """Tell whether all objects in a parsed value keep their keys sorted."""
    if isinstance(value, dict):
        return list(value) == sorted(value) and all(map(keys_in_order, value.values()))
    return not isinstance(value, list) or all(map(keys_in_order, value))


@given(VALUES)
def test_the_bytes_read_back_as_the_value(value: Json) -> None:
    assert json.loads(canonical_json(value)) == value


@given(VALUES)
def test_the_order_of_keys_does_not_matter(value: Json) -> None:
    assert canonical_json(backwards(value)) == canonical_json(value)


@given(VALUES)
def test_writing_what_was_read_gives_the_same_bytes(value: Json) -> None:
    once = canonical_json(value)
    assert canonical_json(json.loads(once)) == once


@given(VALUES)
def test_keys_are_sorted_at_every_depth_and_no_line_break_is_written(value: Json) -> None:
    written = canonical_json(value)
    assert keys_in_order(json.loads(written))
    assert b"\n" not in written


@given(st.dictionaries(TEXT, st.integers(), min_size=1, max_size=4))
def test_no_white_space_stands_between_the_parts(value: dict[str, int]) -> None:
    parts = [json.dumps(key, ensure_ascii=False) + ":" + str(value[key]) for key in sorted(value)]
    assert canonical_json(value).decode() == "{" + ",".join(parts) + "}"


def test_characters_beyond_ascii_are_written_as_themselves() -> None:
    assert canonical_json({"Ω": "é\u2028😀"}) == '{"Ω":"é\u2028😀"}'.encode()


def test_keys_are_sorted_by_code_point_not_by_utf16_unit() -> None:
    assert canonical_json({"\U0001f600": 1, "\ufffd": 2}) == '{"\ufffd":2,"\U0001f600":1}'.encode()


def test_a_tuple_is_written_like_a_list() -> None:
    assert canonical_json({"a": (1, ("b",))}) == b'{"a":[1,["b"]]}'


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_what_json_has_no_number_for_is_refused(number: float, depth: int) -> None:
    value: object = number
    for _ in range(depth):
        value = {"deeper": ["first", value]}
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json(value)


NOT_STRINGS = [1, 1.5, True, None]


@pytest.mark.parametrize("key", NOT_STRINGS)
def test_a_key_that_is_not_a_string_is_refused(key: object) -> None:
    with pytest.raises(TypeError, match="string keys"):
        canonical_json({key: 0})


WRAPPINGS: dict[str, Callable[[object], object]] = {
    "in an object": lambda inner: {"a": inner},
    "in a list": lambda inner: [inner],
    "in a tuple": lambda inner: (inner,),
    "after a string in a list": lambda inner: ["text", inner],
    "after a string in a tuple": lambda inner: ("text", inner),
    "after a number in a list": lambda inner: [0, inner],
    "deep": lambda inner: {"a": [["text", {"b": ("text", inner)}]]},
}


@pytest.mark.parametrize("key", NOT_STRINGS)
@pytest.mark.parametrize("where", WRAPPINGS)
def test_a_key_that_is_not_a_string_is_refused_wherever_it_hides(where: str, key: object) -> None:
    with pytest.raises(TypeError, match="string keys"):
        canonical_json(WRAPPINGS[where]({key: 0}))


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), 1j])
def test_what_is_not_json_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


def test_half_a_character_is_refused_instead_of_written() -> None:
    with pytest.raises(UnicodeEncodeError):
        canonical_json("\ud800")
