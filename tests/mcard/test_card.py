"""A single card, as MCard's callers know it."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import EmptyContent, SalonError, UnknownAlgorithm
from salon.core.hashing import content_hash
from salon.mcard import MCard

V1 = "3bfc269594ef649228e9a74bab00f042efc91d5acc6fbee31a382e80d42388fe"


@pytest.mark.requirement("council/mcard/hash")
def test_a_hash_is_the_lower_case_hex_sha256_of_the_bytes_by_default() -> None:
    assert MCard("v1").hash == V1
    assert MCard(b"v1").get_hash() == V1
    assert MCard("v1").hash_function == "sha256"


@pytest.mark.requirement("council/mcard/hash")
@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"])
def test_another_algorithm_can_be_asked_for(algorithm: str) -> None:
    for spelling in (algorithm, algorithm.upper()):
        card = MCard("v1", hash_function=spelling)
        assert card.hash == hashlib.new(algorithm, b"v1").hexdigest()
        assert card.g_time.startswith(f"{algorithm}|")


@pytest.mark.requirement("council/mcard/g-time")
def test_g_time_is_algorithm_utc_time_with_microseconds_and_zone() -> None:
    pattern = r"sha256\|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\|UTC"
    assert re.fullmatch(pattern, MCard("v1").g_time)
    assert MCard("v1").get_g_time().count("|") == 2


@pytest.mark.parametrize("content", ["", b"", None])
def test_a_card_without_content_is_refused_as_a_value_error(content: str | bytes | None) -> None:
    with pytest.raises(EmptyContent) as caught:
        MCard(content)  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "empty_content"


def test_an_unknown_algorithm_is_refused_as_a_value_error() -> None:
    with pytest.raises(ValueError, match="crc32") as caught:
        MCard("v1", hash_function="crc32")
    assert isinstance(caught.value, UnknownAlgorithm)
    assert isinstance(caught.value, SalonError)


def test_content_that_is_neither_text_nor_bytes_is_a_mistake() -> None:
    with pytest.raises(TypeError):
        MCard(5)  # type: ignore[arg-type]


@pytest.mark.requirement("council/mcard/immutable")
@pytest.mark.parametrize("field", ["content", "hash", "g_time", "hash_function", "anything"])
def test_nothing_about_a_card_can_be_changed(field: str) -> None:
    with pytest.raises(AttributeError):
        setattr(MCard("v1"), field, "v2")


def test_content_comes_as_bytes_or_as_text() -> None:
    card = MCard("Grüße")
    assert card.content == card.get_content() == "Grüße".encode()
    assert card.get_content(as_text=True) == "Grüße"
    with pytest.raises(UnicodeDecodeError):
        MCard(b"\xff").get_content(as_text=True)


def test_the_content_type_is_told_by_the_bytes() -> None:
    assert MCard("plain words").get_content_type() == "text/plain"
    assert MCard(b"\x89PNG\r\n\x1a\n" + bytes(20)).get_content_type() == "image/png"


def test_a_card_can_be_written_out() -> None:
    card = MCard("x" * 80)
    assert card.to_dict() == {
        "content": "x" * 80,
        "hash": card.hash,
        "g_time": card.g_time,
        "content_type": "text/plain",
    }
    shown = card.to_display_dict()
    assert shown["content_preview"] == "x" * 50 + "..."
    assert shown["created_at"] == card.g_time.split("|")[1][:19]
    assert shown["card_class"] == "MCard"
    assert MCard(b"\xff").to_dict()["content"] == "b'\\xff'"


@given(st.binary(min_size=1, max_size=20), st.binary(min_size=1, max_size=20))
def test_cards_are_equal_when_hash_and_content_are(one: bytes, other: bytes) -> None:
    assert (MCard(one) == MCard(other)) == (one == other)
    assert len({MCard(one), MCard(one), MCard(other)}) == len({one, other})
    assert MCard(one) != MCard(one, hash_function="md5")
    assert MCard(one) != one


def test_the_environment_can_name_another_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCARD_HASH_ALGORITHM", "sha512")
    assert MCard("v1").hash == content_hash(b"v1", "sha512")
    assert MCard("v1", "md5").hash == content_hash(b"v1", "md5"), "what is asked for is stronger"
    monkeypatch.setenv("MCARD_HASH_ALGORITHM", "crc32")
    with pytest.raises(ValueError, match="crc32"):
        MCard("v1")
