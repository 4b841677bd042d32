"""Content hashes: a card's name is the lowercase hex digest of its bytes.

A digest's length tells its algorithm, so a hash carries its algorithm without a prefix and stays
readable by MCard. `STRONGER` is the ladder that a collision climbs.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NewType, Protocol, TypeAlias, cast, get_args

from salon.core.errors import InvalidHash, UnknownAlgorithm

CardHash = NewType("CardHash", str)
Algorithm: TypeAlias = Literal["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]

DEFAULT_ALGORITHM: Algorithm = "sha256"
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


class Digest(Protocol):
    """The part of a `hashlib` object that Salon uses."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Take in more bytes."""

    def hexdigest(self) -> str:
        """Return the digest so far."""


def _not_for_security(algorithm: Algorithm) -> Callable[..., Digest]:
    # md5 and sha1 exist here to read and extend MCard files, not to protect anything; FIPS
    # builds of Python refuse them unless told so.
    constructor: Callable[..., Digest] = getattr(hashlib, algorithm)
    return lambda data=b"": constructor(data, usedforsecurity=False)


_NEW: dict[Algorithm, Callable[..., Digest]] = {
    "md5": _not_for_security("md5"),
    "sha1": _not_for_security("sha1"),
    "sha224": hashlib.sha224,
    "sha256": hashlib.sha256,
    "sha384": hashlib.sha384,
    "sha512": hashlib.sha512,
}
_BY_LENGTH: dict[int, Algorithm] = {len(_NEW[name]().hexdigest()): name for name in ALGORITHMS}
_NEW_BY_LENGTH = {length: _NEW[name] for length, name in _BY_LENGTH.items()}

STRONGER: dict[Algorithm, Algorithm] = {
    "md5": "sha1",
    "sha1": "sha256",
    "sha224": "sha256",
    "sha256": "sha512",
    "sha384": "sha512",
}

_HEX = frozenset("0123456789abcdef")


def content_hash(content: bytes, algorithm: Algorithm = DEFAULT_ALGORITHM) -> CardHash:
    """Return the name of the card that holds `content`."""
    return CardHash(_NEW[algorithm](content).hexdigest())


def names(card_hash: CardHash, content: bytes) -> bool:
    """Tell whether `card_hash` is the name of `content`."""
    new = _NEW_BY_LENGTH.get(len(card_hash))
    return new is not None and new(content).hexdigest() == card_hash


def hash_all(
    contents: Iterable[bytes], algorithm: Algorithm = DEFAULT_ALGORITHM
) -> Iterator[tuple[CardHash, bytes]]:
    """Hash many contents; the same as `content_hash`, with the look-ups done once."""
    new = _NEW[algorithm]
    return ((cast("CardHash", new(content).hexdigest()), content) for content in contents)


def new_digest(algorithm: Algorithm = DEFAULT_ALGORITHM) -> Digest:
    """Return an empty digest, for content that arrives in pieces."""
    return _NEW[algorithm]()


def as_algorithm(name: str) -> Algorithm:
    """Return `name` as an algorithm or raise `UnknownAlgorithm`."""
    for algorithm in ALGORITHMS:
        if algorithm == name:
            return algorithm
    raise UnknownAlgorithm(
        f"unknown hash algorithm {name!r}", hint=f"use one of {', '.join(ALGORITHMS)}"
    )


def as_card_hash(text: str) -> CardHash:
    """Return `text` as a card hash or raise `InvalidHash`."""
    if len(text) not in _BY_LENGTH or not _HEX.issuperset(text):
        raise InvalidHash(
            f"{text[:140]!r} is not a card hash",
            hint="a card hash is the full lowercase hex digest, 64 characters for SHA-256",
        )
    return CardHash(text)


def algorithm_of(card_hash: CardHash) -> Algorithm:
    """Return the algorithm that made `card_hash`, told by its length."""
    return _BY_LENGTH[len(as_card_hash(card_hash))]
