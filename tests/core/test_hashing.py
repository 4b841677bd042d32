"""Hashes: six algorithms, told apart by their length, checked against `hashlib`."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import InvalidHash, UnknownAlgorithm
from salon.core.hashing import (
    ALGORITHMS,
    DEFAULT_ALGORITHM,
    STRONGER,
    Algorithm,
    CardHash,
    algorithm_of,
    as_algorithm,
    as_card_hash,
    content_hash,
    hash_all,
    names,
    new_digest,
)

LENGTHS = {"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}
EVERY_ALGORITHM = pytest.mark.parametrize("algorithm", ALGORITHMS)


def test_the_algorithms_are_exactly_those_of_mcard() -> None:
    assert set(ALGORITHMS) == set(LENGTHS)
    assert DEFAULT_ALGORITHM == "sha256"


def test_the_hash_of_a_known_content_is_the_published_one() -> None:
    assert content_hash(b"v1") == "3bfc269594ef649228e9a74bab00f042efc91d5acc6fbee31a382e80d42388fe"


@EVERY_ALGORITHM
@given(content=st.binary(max_size=300))
def test_every_algorithm_agrees_with_hashlib(algorithm: Algorithm, content: bytes) -> None:
    expected = hashlib.new(algorithm, content).hexdigest()
    assert content_hash(content, algorithm) == expected
    assert list(hash_all([content], algorithm)) == [(expected, content)]
    assert names(CardHash(expected), content)
    assert not names(CardHash(expected), content + b"!")


@EVERY_ALGORITHM
@given(pieces=st.lists(st.binary(max_size=20), max_size=6))
def test_content_in_pieces_hashes_like_the_whole(algorithm: Algorithm, pieces: list[bytes]) -> None:
    digest = new_digest(algorithm)
    for piece in pieces:
        digest.update(piece)
    assert digest.hexdigest() == content_hash(b"".join(pieces), algorithm)


@EVERY_ALGORITHM
def test_the_length_of_a_hash_tells_its_algorithm(algorithm: Algorithm) -> None:
    name = content_hash(b"x", algorithm)
    assert len(name) == LENGTHS[algorithm]
    assert algorithm_of(name) == algorithm
    assert as_card_hash(name) == name


@EVERY_ALGORITHM
def test_an_algorithm_is_known_by_its_name(algorithm: Algorithm) -> None:
    assert as_algorithm(str(algorithm)) == algorithm


@pytest.mark.parametrize("name", ["", "SHA256", "sha-256", "blake2b", "sha3_256", " sha256"])
def test_an_unknown_algorithm_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(UnknownAlgorithm) as caught:
        as_algorithm(name)
    assert all(algorithm in (caught.value.hint or "") for algorithm in ALGORITHMS)


@given(st.integers(0, 200).filter(lambda length: length not in LENGTHS.values()))
def test_a_hash_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(InvalidHash):
        as_card_hash("a" * length)


@pytest.mark.parametrize(
    "stain", ["A", "g", " ", "\n", "é", "٣", "\0", "-"], ids=lambda stain: f"U+{ord(stain):04X}"
)
@pytest.mark.parametrize("length", sorted(LENGTHS.values()))
def test_a_hash_with_anything_but_lowercase_hex_is_refused(stain: str, length: int) -> None:
    for text in ("a" * (length - 1) + stain, stain + "a" * (length - 1)):
        with pytest.raises(InvalidHash):
            as_card_hash(text)


def test_an_absurdly_long_hash_is_not_repeated_in_full() -> None:
    with pytest.raises(InvalidHash) as caught:
        as_card_hash("a" * 1_000_000)
    assert len(caught.value.message) < 500


@EVERY_ALGORITHM
def test_a_collision_climbs_to_a_longer_hash_until_sha512(algorithm: Algorithm) -> None:
    climbed = [algorithm]
    while climbed[-1] in STRONGER:
        climbed.append(STRONGER[climbed[-1]])
    assert climbed[-1] == "sha512"
    lengths = [LENGTHS[name] for name in climbed]
    assert lengths == sorted(set(lengths))


def test_the_ladder_is_mcards_with_the_two_rungs_it_forgot() -> None:
    assert STRONGER["md5"] == "sha1"
    assert STRONGER["sha1"] == "sha256"
    assert STRONGER["sha256"] == "sha512"
    assert "sha512" not in STRONGER
