"""Content types: an answer for any bytes at all."""

import puremagic
from hypothesis import given
from hypothesis import strategies as st

from salon.archive.content_types import HEAD_BYTES, detect_content_type, is_text

SIGNATURES = [entry.byte_match for entry in puremagic.main.magic_header_array]
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(st.sampled_from(SIGNATURES), st.binary(max_size=100))
def test_whatever_begins_like_a_known_format_has_a_media_type(head: bytes, rest: bytes) -> None:
    kind, _, name = detect_content_type(head + rest).partition("/")
    assert kind
    assert name


@given(TEXT)
def test_any_text_is_text(text: str) -> None:
    assert is_text(text.encode())


@given(TEXT, st.integers(1, 3))
def test_text_whose_last_character_was_cut_is_text(text: str, lost: int) -> None:
    emoji = "😀".encode()
    assert is_text(text.encode() + emoji[:-lost])


@given(TEXT, st.binary(max_size=20))
def test_bytes_that_no_text_has_are_not_text(text: str, tail: bytes) -> None:
    assert not is_text(text.encode() + b"\xff" + tail)


def test_a_zero_byte_makes_it_data() -> None:
    assert not is_text(b"text\0")
    assert detect_content_type(b"text\0\1\2") == "application/octet-stream"


def test_what_is_looked_at_is_enough_for_the_signatures() -> None:
    assert max(len(signature) for signature in SIGNATURES) < HEAD_BYTES
