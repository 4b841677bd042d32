"""The map from offsets to pages and sections."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import InvalidDocument
from salon.core.hashing import content_hash
from salon.corpus.layout import Layout, LayoutBuilder, ReadText, Segment

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
PIECES = st.lists(
    st.tuples(
        TEXT, st.none() | st.integers(1, 5), st.sampled_from(["intro", "Käse \u203a 😀", "e\u0301"])
    ),
    max_size=20,
)


def built(*pieces: tuple[str, int | None, str | None]) -> ReadText:
    builder = LayoutBuilder()
    for text, page, section in pieces:
        builder.add(text, page=page, section=section)
    return builder.build(media_type="text/plain")


@given(PIECES)
def test_segments_cover_every_byte_and_segment_at_finds_the_right_one(
    pieces: list[tuple[str, int | None, str]],
) -> None:
    read = built(*pieces)
    expected = [
        (page, section) for text, page, section in pieces for _ in range(len(text.encode()))
    ]
    found = [read.segment_at(offset) for offset in range(len(read.text.encode()))]
    assert [(segment.page, segment.section) for segment in found] == expected
    assert all(segment.start <= offset < segment.end for offset, segment in enumerate(found))
    assert read.layout.size == len(expected)


@given(PIECES)
def test_a_layout_card_gives_the_same_layout_back(
    pieces: list[tuple[str, int | None, str]],
) -> None:
    read = built(*pieces)
    card = read.layout.to_json(content_hash(read.text.encode()))
    assert Layout.from_json(card) == read.layout
    assert Layout.from_json(card).to_json(content_hash(read.text.encode())) == card


def test_neighbours_in_one_place_become_one_segment() -> None:
    read = built(("ä", 1, None), ("b", 1, None), ("c", 2, None))
    assert read.segments == (
        Segment(start=0, end=3, page=1),
        Segment(start=3, end=4, page=2),
    )


def test_texts_of_equal_shape_have_different_layout_cards() -> None:
    layout = built(("abc", 1, None)).layout
    assert layout.to_json(content_hash(b"abc")) != layout.to_json(content_hash(b"xyz"))


def test_a_layout_card_of_another_text_is_refused() -> None:
    card = built(("abc", 1, None)).layout.to_json(content_hash(b"abc"))
    assert Layout.from_json(card, text=content_hash(b"abc")).size == 3
    with pytest.raises(InvalidDocument, match="another text"):
        Layout.from_json(card, text=content_hash(b"xyz"))


@pytest.mark.parametrize(
    "segments",
    [
        (Segment(start=1, end=2, page=1),),
        (Segment(start=0, end=2, page=1), Segment(start=3, end=4, page=1)),
        (Segment(start=0, end=2, page=1), Segment(start=1, end=4, page=1)),
    ],
)
def test_a_layout_with_gaps_or_overlaps_is_refused(segments: tuple[Segment, ...]) -> None:
    with pytest.raises(ValueError, match="starts at"):
        Layout(segments=segments)


@pytest.mark.parametrize(
    ("start", "end", "page", "section"),
    [(0, 0, 1, None), (-1, 2, 1, None), (0, 1, None, None), (0, 1, 0, None), (0, 1, None, "")],
)
def test_a_segment_needs_bytes_and_a_place(
    start: int, end: int, page: int | None, section: str | None
) -> None:
    with pytest.raises(ValueError, match=r"segment|page"):
        Segment(start=start, end=end, page=page, section=section)


@pytest.mark.parametrize("text", ["nul\0", "lone \ud800"])
def test_text_without_a_proper_utf8_form_is_refused(text: str) -> None:
    layout = Layout(segments=(Segment(start=0, end=4, page=1),))
    with pytest.raises(ValueError, match="cannot contain"):
        ReadText(text=text, layout=layout, media_type="text/plain")


def test_a_layout_that_does_not_cover_its_text_is_refused() -> None:
    with pytest.raises(ValueError, match="covers 1 of 2 bytes"):
        ReadText(
            text="é",
            layout=Layout(segments=(Segment(start=0, end=1, page=1),)),
            media_type="text/plain",
        )


@pytest.mark.parametrize("offset", [-1, 3, 100])
def test_an_offset_outside_the_text_has_no_segment(offset: int) -> None:
    with pytest.raises(IndexError):
        built(("abc", 1, None)).segment_at(offset)


GOOD = {"kind": "salon.layout", "version": 1, "sections": ["a"], "segments": [[3, None, 0]]}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "other"},
        {"version": 2},
        {"sections": "a"},
        {"sections": [1]},
        {"segments": None},
        {"segments": [[3, None]]},
        {"segments": [["3", None, 0]]},
        {"segments": [[3, None, 1]]},
        {"segments": [[3, None, -1]]},
        {"segments": [[3, 1.5, 0]]},
        {"segments": [[3, True, 0]]},
        {"segments": [[3, None, None]]},
        {"segments": [[3, 1, 0], [2, 1, 0]]},
    ],
)
def test_a_damaged_layout_card_is_refused(change: dict[str, object]) -> None:
    assert Layout.from_json(json.dumps(GOOD).encode()).size == 3
    with pytest.raises(InvalidDocument):
        Layout.from_json(json.dumps(GOOD | change).encode())


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"[" * 100_000])
def test_bytes_that_are_no_layout_card_are_refused(content: bytes) -> None:
    with pytest.raises(InvalidDocument):
        Layout.from_json(content)
