"""Cards, in every backend: what goes in comes out, once, under its hash."""

import io
import os
import re
import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from salon.core.archive import Archive
from salon.core.cards import AddedCard
from salon.core.errors import CardNotFound, EmptyContent, SalonError
from salon.core.hashing import ALGORITHMS, Algorithm, CardHash, content_hash
from tests.archive.backends import Place
from tests.archive.samples import NOBODY, Trickle, kinds, last_event
from tests.collisions import COLLIDING

SHARED_ARCHIVE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_a_card_comes_back_as_it_went_in(archive: Archive) -> None:
    added = archive.add(b"content")
    assert added == AddedCard(content_hash(b"content"), True)
    card = archive.get(added.hash)
    assert (card.hash, card.content) == (added.hash, b"content")
    assert archive.find(added.hash) == card
    assert archive.has(added.hash)


@pytest.mark.parametrize(
    "content", [b"\0", b"\xff\xfe\0\xd8", "é😀".encode(), b"a" * 100_000, b"\n"], ids=len
)
def test_any_bytes_can_be_a_card(archive: Archive, content: bytes) -> None:
    assert archive.get(archive.add(content).hash).content == content


@SHARED_ARCHIVE
@given(contents=st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=8))
def test_any_batch_is_found_again_by_hash(archive: Archive, contents: list[bytes]) -> None:
    for content, added in zip(contents, archive.add_many(contents), strict=True):
        assert added.hash == content_hash(content)
        assert archive.get(added.hash).content == content


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_algorithm_names_the_card_and_stands_in_its_time(
    archive: Archive, algorithm: Algorithm
) -> None:
    added = archive.add(b"content", algorithm=algorithm)
    assert added.hash == content_hash(b"content", algorithm)
    card = archive.get(added.hash)
    assert re.fullmatch(rf"{algorithm}\|2026-11-15T\d\d:\d\d:\d\d\.\d{{6}}Z\|UTC", card.g_time)


def test_the_same_content_under_two_algorithms_is_two_cards(archive: Archive) -> None:
    one, other = archive.add(b"content", algorithm="md5"), archive.add(b"content")
    assert one.created
    assert other.created
    assert archive.stats().cards == 2


def test_known_content_is_recognised_and_nothing_is_written(archive: Archive) -> None:
    first = archive.add(b"content")
    before, stamp = archive.stats(), archive.get(first.hash).g_time
    assert archive.add(b"content") == AddedCard(first.hash, False)
    assert archive.add_many([b"content", b"content"]) == [AddedCard(first.hash, False)] * 2
    assert archive.add_stream(io.BytesIO(b"content")) == AddedCard(first.hash, False)
    assert archive.write(lambda tx: tx.add(b"content")) == AddedCard(first.hash, False)
    assert archive.stats() == before
    assert archive.get(first.hash).g_time == stamp


def test_a_batch_is_one_event_and_tells_old_from_new(archive: Archive) -> None:
    known = archive.add(b"known").hash
    before = archive.checkpoint().seq
    added = archive.add_many([b"one", b"known", b"two", b"one", b"known", b"three"])
    assert [card.created for card in added] == [True, False, True, False, False, True]
    assert added[1].hash == added[4].hash == known
    assert added[0].hash == added[3].hash
    assert kinds(archive, after=before) == ["cards_added"]
    assert last_event(archive)["hashes"] == [added[0].hash, added[2].hash, added[5].hash]


def test_an_empty_batch_is_nothing(archive: Archive) -> None:
    assert archive.add_many([]) == []
    assert archive.write(lambda tx: tx.add_many([])) == []
    assert archive.stats().audit_entries == 0


def test_a_batch_may_come_from_a_generator(archive: Archive) -> None:
    added = archive.add_many(bytes([number]) for number in range(1, 6))
    assert [card.hash for card in added] == [content_hash(bytes([n])) for n in range(1, 6)]


def test_an_empty_content_in_a_batch_refuses_all_of_it(archive: Archive) -> None:
    with pytest.raises(EmptyContent):
        archive.add_many([b"one", b"", b"two"])
    assert archive.stats().cards == 0


# Collisions


def check_both_are_kept(archive: Archive, first: AddedCard, second: AddedCard) -> None:
    one, other = COLLIDING
    assert first == AddedCard(content_hash(one, "md5"), True)
    assert second == AddedCard(content_hash(other, "sha1"), True)
    assert archive.get(first.hash).content == one
    found = archive.get(second.hash)
    assert found.content == other
    assert found.g_time.startswith("sha1|")
    assert archive.stats().cards == 2


def test_the_published_pair_really_collides() -> None:
    one, other = COLLIDING
    assert one != other
    assert content_hash(one, "md5") == content_hash(other, "md5")


def test_a_collision_climbs_to_the_next_stronger_hash(archive: Archive) -> None:
    first, second = (archive.add(content, algorithm="md5") for content in COLLIDING)
    check_both_are_kept(archive, first, second)
    assert kinds(archive) == ["cards_added", "cards_added"]
    assert last_event(archive)["hashes"] == [second.hash]


def test_a_collision_inside_one_batch_climbs_too(archive: Archive) -> None:
    first, second = archive.add_many(COLLIDING, algorithm="md5")
    check_both_are_kept(archive, first, second)
    assert last_event(archive)["hashes"] == [first.hash, second.hash]


def test_a_collision_inside_one_transaction_climbs_too(archive: Archive) -> None:
    added = archive.write(lambda tx: [tx.add(content, algorithm="md5") for content in COLLIDING])
    check_both_are_kept(archive, *added)


@pytest.mark.parametrize("seekable", [True, False])
def test_a_collision_in_a_stream_climbs_too(archive: Archive, seekable: bool) -> None:
    first, second = (
        archive.add_stream(as_stream(content, seekable=seekable), algorithm="md5")
        for content in COLLIDING
    )
    check_both_are_kept(archive, first, second)


def test_adding_a_collided_content_again_finds_it_where_it_went(archive: Archive) -> None:
    archive.add_many(COLLIDING, algorithm="md5")
    before = archive.stats()
    again = [
        archive.add(COLLIDING[1], algorithm="md5"),
        archive.add_stream(io.BytesIO(COLLIDING[1]), algorithm="md5"),
        *archive.add_many([COLLIDING[1]] * 2, algorithm="md5"),
    ]
    assert again == [AddedCard(content_hash(COLLIDING[1], "sha1"), False)] * 4
    assert archive.stats() == before


def test_a_collision_beside_its_own_repeats_in_one_batch(archive: Archive) -> None:
    one, other = COLLIDING
    added = archive.add_many([other, one, other, one, b"x"], algorithm="md5")
    assert [card.created for card in added] == [True, True, False, False, True]
    assert [archive.get(card.hash).content for card in added] == [other, one, other, one, b"x"]


# Streams


def as_stream(content: bytes, *, seekable: bool) -> BinaryIO:
    if seekable:
        return io.BytesIO(content)
    return cast("BinaryIO", Trickle(content, most=50_000))


LARGE = bytes(range(256)) * 12_000  # three million bytes: more than one piece


@pytest.mark.parametrize("seekable", [True, False])
@pytest.mark.parametrize("content", [b"x", b"small", LARGE], ids=["one", "small", "large"])
def test_a_stream_is_stored_like_its_bytes(
    archive: Archive, content: bytes, seekable: bool
) -> None:
    added = archive.add_stream(as_stream(content, seekable=seekable))
    assert added == AddedCard(content_hash(content), True)
    assert archive.get(added.hash).content == content
    assert archive.info(added.hash).size == len(content)
    assert kinds(archive) == ["cards_added"]
    assert last_event(archive)["hashes"] == [added.hash]


@pytest.mark.parametrize("seekable", [True, False])
def test_a_stream_that_gives_few_bytes_at_a_time_is_stored_whole(
    archive: Archive, seekable: bool
) -> None:
    content = b"a few bytes at a time, please"
    for created in (True, False):
        stream = cast("BinaryIO", Trickle(content, most=7, seekable=seekable))
        assert archive.add_stream(stream) == AddedCard(content_hash(content), created)
    assert archive.stats().cards == 1


def test_a_colliding_stream_that_gives_few_bytes_at_a_time_is_stored_whole(
    archive: Archive,
) -> None:
    archive.add(COLLIDING[0], algorithm="md5")
    stream = cast("BinaryIO", Trickle(COLLIDING[1], most=7, seekable=True))
    added = archive.add_stream(stream, algorithm="md5")
    assert archive.get(added.hash).content == COLLIDING[1]


def test_a_stream_is_taken_from_where_it_stands(archive: Archive) -> None:
    stream = io.BytesIO(b"skipped|taken")
    stream.seek(8)
    for created in (True, False):
        stream.seek(8)
        assert archive.add_stream(stream) == AddedCard(content_hash(b"taken"), created)


def test_a_real_pipe_can_be_stored(archive: Archive) -> None:
    read_end, write_end = os.pipe()

    def feed() -> None:
        with os.fdopen(write_end, "wb") as writer:
            writer.write(LARGE)

    feeder = threading.Thread(target=feed)
    feeder.start()
    with os.fdopen(read_end, "rb") as reader:
        added = archive.add_stream(reader)
    feeder.join()
    assert archive.get(added.hash).content == LARGE


def test_a_stream_that_breaks_leaves_nothing(archive: Archive) -> None:
    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 0:
                raise OSError("the cable was pulled")
            return super().read(3)

    with pytest.raises(OSError, match="cable"):
        archive.add_stream(Breaking(b"never whole"))
    assert archive.stats().cards == 0
    assert archive.add(b"next").created


def test_a_stream_that_changes_while_it_is_read_is_refused(archive: Archive) -> None:
    class Changing(io.BytesIO):
        rewound = 0

        def seek(self, offset: int, whence: int = 0, /) -> int:
            if whence == io.SEEK_SET:
                self.rewound += 1
                if self.rewound == 2:  # the first is for measuring, the second for storing
                    self.getbuffer()[0:1] = b"X"
            return super().seek(offset, whence)

    with pytest.raises(SalonError, match="changed"):
        archive.add_stream(Changing(b"abc" * 10))
    assert archive.stats().cards == 0
    assert archive.stats().audit_entries == 0


# Reading


@pytest.mark.parametrize("content", [b"x", LARGE], ids=["one", "large"])
def test_a_card_can_be_read_as_a_stream(archive: Archive, content: bytes) -> None:
    card = archive.add(content).hash
    with archive.open(card) as stream:
        assert stream.read(1) == content[:1]
        assert stream.read() == content[1:]
        assert stream.read() == b""
    with archive.open(card) as stream:
        pieces = iter(lambda: stream.read(100_000), b"")
        assert b"".join(pieces) == content


def test_a_stream_keeps_reading_a_card_that_is_deleted_meanwhile(archive: Archive) -> None:
    card = archive.add(LARGE).hash
    with archive.open(card) as stream:
        head = stream.read(10)
        deletion = threading.Thread(
            target=lambda: archive.write(lambda tx: tx.delete(card, reason="gone")), daemon=True
        )
        deletion.start()
        assert head + stream.read() == LARGE
    deletion.join()
    assert not archive.has(card)


def test_info_tells_size_and_time(archive: Archive) -> None:
    card = archive.get(archive.add(b"12345").hash)
    info = archive.info(card.hash)
    assert (info.hash, info.size, info.g_time) == (card.hash, 5, card.g_time)


@pytest.mark.parametrize("card", [NOBODY, CardHash("abc"), CardHash(""), CardHash("' OR 1=1 --")])
def test_a_card_that_is_not_there_is_an_error_or_none(archive: Archive, card: CardHash) -> None:
    archive.add(b"something else")
    assert archive.find(card) is None
    assert not archive.has(card)
    assert archive.find_tombstone(card) is None
    assert not archive.needs(card)
    for read in (archive.get, archive.open, archive.info, archive.content_type):
        with pytest.raises(CardNotFound) as caught:
            read(card)
        assert caught.value.details["hash"] == card


def test_cards_come_in_the_order_of_their_arrival(archive: Archive) -> None:
    contents = [bytes([number]) * (number + 1) for number in range(20)]
    for content in contents:
        archive.add(content)
    listed = list(archive.cards())
    assert [info.hash for info in listed] == [content_hash(content) for content in contents]
    assert [info.size for info in listed] == [len(content) for content in contents]
    assert all(one.g_time < other.g_time for one, other in pairwise(listed))


def test_a_batch_keeps_its_order(archive: Archive) -> None:
    contents = [bytes([number]) for number in reversed(range(50))]
    archive.add_many(contents)
    assert [info.hash for info in archive.cards()] == [content_hash(c) for c in contents]


def test_a_prefix_finds_exactly_the_cards_that_start_with_it(archive: Archive) -> None:
    hashes = [added.hash for added in archive.add_many([b"%d" % n for n in range(300)])]
    hashes += [archive.add(b"%d" % n, algorithm="md5").hash for n in range(50)]
    for prefix in ("0", "f", "ff", "a", hashes[7][:5], hashes[7], hashes[-1]):
        listed = [info.hash for info in archive.cards(prefix=prefix)]
        assert listed == sorted(card for card in hashes if card.startswith(prefix))


@pytest.mark.parametrize("prefix", ["%", "_", "*", "[0-9]", "A", "g", "0%", "' --", "é"])
def test_a_prefix_is_taken_literally(archive: Archive, prefix: str) -> None:
    archive.add_many([b"%d" % n for n in range(50)])
    assert list(archive.cards(prefix=prefix)) == []


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (1, 1), (5, 5), (10, 10), (99, 10)])
def test_a_limit_cuts_the_list(archive: Archive, limit: int, expected: int) -> None:
    hashes = [added.hash for added in archive.add_many([b"%d" % n for n in range(10)])]
    assert [info.hash for info in archive.cards(limit=limit)] == hashes[:expected]
    assert len(list(archive.cards(prefix="", limit=limit))) == expected


def test_a_limit_counts_within_a_prefix(archive: Archive) -> None:
    archive.add_many([b"%d" % n for n in range(100)])
    found = [info.hash for info in archive.cards(prefix="4")]
    assert len(found) > 2
    assert [info.hash for info in archive.cards(prefix="4", limit=2)] == found[:2]


def test_what_was_written_is_seen_at_once_even_in_the_middle_of_a_walk(archive: Archive) -> None:
    archive.add_many([b"one", b"two", b"three"])
    walk: Iterator[object] = archive.cards()
    next(walk)
    added = archive.add(b"four").hash
    assert archive.has(added)
    assert archive.get(added).content == b"four"
    archive.put("name", b"five")
    assert archive.find_handle("name") is not None


def test_everything_is_there_after_opening_again(place: Place) -> None:
    archive = place.open()
    hashes = [added.hash for added in archive.add_many([b"one", b"two"])]
    stamps = [archive.get(card).g_time for card in hashes]
    archive.close()
    again = place.open()
    assert [info.hash for info in again.cards()] == hashes
    assert [again.get(card).g_time for card in hashes] == stamps


CONTENT_TYPES = {
    "text": (b"Once upon a time, there was a commons.\n", "text/plain"),
    "utf8": ("Ça coûte 3 €, dit-elle. 😀".encode(), "text/plain"),
    "one byte": (b"a", "text/plain"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "application/pdf"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1", "image/png"),
    "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1", "image/jpeg"),
    "gif": (b"GIF89a\1\0\1\0\0\0\0", "image/gif"),
    "json": (b'{"name": "value", "list": [1, 2]}', "application/json"),
    "html": (b"<!DOCTYPE html>\n<html><body>x</body></html>", "text/html"),
    "xml": (b'<?xml version="1.0"?>\n<a/>', "application/xml"),
    "zeros": (b"\0" * 100, "application/octet-stream"),
    "noise": (bytes(range(1, 256)), "application/octet-stream"),
}


@pytest.mark.parametrize("name", CONTENT_TYPES)
def test_the_content_type_is_told_by_the_first_bytes(archive: Archive, name: str) -> None:
    content, expected = CONTENT_TYPES[name]
    assert archive.content_type(archive.add(content).hash) == expected
    long = content + b"\n" + (b"x" * 20_000 if expected.startswith("text") else b"\0" * 20_000)
    assert archive.content_type(archive.add(long).hash) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "BM is the name of the company.",
        "MZ stands for Mark Zbikowski.",
        "ID3 is an algorithm for decision trees.",
        "P1 was the first of the eight principles.",
        "FORM follows function.",
    ],
)
def test_a_sentence_is_text_whatever_letters_it_begins_with(
    archive: Archive, sentence: str
) -> None:
    assert archive.content_type(archive.add(sentence.encode()).hash) == "text/plain"


def test_text_cut_in_the_middle_of_a_character_is_still_text(archive: Archive) -> None:
    for shift in range(4):
        content = b"x" * shift + "😀".encode() * 5_000
        assert archive.content_type(archive.add(content).hash) == "text/plain"
