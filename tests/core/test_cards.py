"""Cards: content and name agree, or it is said."""

import pytest

from salon.core.cards import MAX_CARD_BYTES, Card, require_intact
from salon.core.clock import GTime
from salon.core.errors import HashMismatch
from salon.core.hashing import ALGORITHMS, Algorithm, content_hash

STAMP = GTime("sha256|2026-11-15T00:23:23.229924Z|UTC")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_intact_card_passes(algorithm: Algorithm) -> None:
    card = Card(content_hash(b"content", algorithm), b"content", STAMP)
    assert require_intact(card) is card


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_changed_byte_is_caught_and_both_hashes_are_named(algorithm: Algorithm) -> None:
    card = Card(content_hash(b"content", algorithm), b"contenT", STAMP)
    with pytest.raises(HashMismatch) as caught:
        require_intact(card)
    assert caught.value.details["hash"] == card.hash
    assert caught.value.details["actual"] == content_hash(b"contenT", algorithm)


def test_text_is_the_content_read_as_utf8() -> None:
    assert Card(content_hash("é".encode()), "é".encode(), STAMP).text() == "é"


def test_the_largest_card_fits_into_a_row_of_sqlite() -> None:
    assert MAX_CARD_BYTES < 1_000_000_000
