"""Passages: exact spans, whole sentences, nothing lost."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from salon.core.errors import InvalidSettings
from salon.retrieval.chunking import ChunkSettings, cut_passages, cut_spans, sentences

WORDS = st.text(st.sampled_from("abcXYZéßñ漢字🙂.,'\""), min_size=1, max_size=12)
GAPS = st.sampled_from([" ", "  ", "\n", "\n\n", ". ", "! ", ".\n\n", "\u2003", "。", "\t"])
PROSE = st.lists(st.tuples(WORDS, GAPS), max_size=80).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)
TEXTS = st.one_of(PROSE, st.text(max_size=400))
SETTINGS = st.integers(1, 60).flatmap(
    lambda size: st.integers(0, size // 2).map(
        lambda overlap: ChunkSettings(size=size, overlap=overlap)
    )
)


@given(TEXTS, SETTINGS)
@example("One. Two. Three.", ChunkSettings(size=9, overlap=4))
def test_every_passage_is_an_exact_span_of_the_bytes(text: str, settings: ChunkSettings) -> None:
    content = text.encode()
    for passage in cut_passages(text, settings):
        assert content[passage.start : passage.end].decode() == passage.text
        assert passage.text == passage.text.strip() != ""


@given(TEXTS, SETTINGS)
def test_all_text_that_is_not_white_space_is_in_some_passage(
    text: str, settings: ChunkSettings
) -> None:
    covered = {place for start, end in cut_spans(text, settings) for place in range(start, end)}
    assert all(text[place].isspace() for place in set(range(len(text))) - covered)


@given(TEXTS, SETTINGS)
def test_no_passage_is_longer_than_its_size_and_neighbours_share_at_most_the_overlap(
    text: str, settings: ChunkSettings
) -> None:
    spans = cut_spans(text, settings)
    assert all(0 < end - start <= settings.size for start, end in spans)
    for (start, end), (next_start, next_end) in itertools.pairwise(spans):
        assert start < next_start
        assert end < next_end
        assert end - next_start <= settings.overlap


@given(TEXTS, SETTINGS)
def test_a_sentence_that_fits_is_whole_in_at_least_one_passage(
    text: str, settings: ChunkSettings
) -> None:
    spans = cut_spans(text, settings)
    for start, end in sentences(text):
        if end - start <= settings.size:
            assert any(begin <= start and end <= stop for begin, stop in spans)


@given(TEXTS, SETTINGS)
def test_a_word_that_fits_is_never_cut_by_the_end_of_a_passage(
    text: str, settings: ChunkSettings
) -> None:
    broken_words = text.split()
    if all(len(word) <= settings.size for word in broken_words):
        for _, end in cut_spans(text, settings):
            assert end == len(text) or text[end].isspace() or text[end - 1] in "。\"'"


def test_by_default_passages_have_up_to_1000_characters_and_share_up_to_200() -> None:
    text = " ".join(f"This is sentence number {number} of a long document." for number in range(99))
    spans = cut_spans(text)
    lengths = [end - start for start, end in spans[:-1]]
    shared = [end - following for (_, end), (following, _) in itertools.pairwise(spans)]
    assert all(900 < length <= 1000 for length in lengths)
    assert all(100 < overlap <= 200 for overlap in shared)
    assert all(text[start:].startswith("This is sentence") for start, _ in spans)


def test_a_sentence_longer_than_a_passage_is_cut_between_words_and_still_overlaps() -> None:
    text = "word " * 1000 + "end."
    spans = cut_spans(text)
    assert len(spans) > 5
    for (_, end), (following, _) in itertools.pairwise(spans):
        assert text[end] == " "
        assert text[following - 1] == " "
        assert 0 < end - following <= 200


def test_a_word_longer_than_a_passage_is_cut_where_it_must() -> None:
    text = "x" * 2500
    assert [len(passage.text) for passage in cut_passages(text)] == [1000, 1000, 500]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ostrom met J. Smith. They spoke.", ["Dr. Ostrom met J. Smith.", "They spoke."]),
        ("See e.g. the appendix. It is long.", ["See e.g. the appendix.", "It is long."]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("A title\n\nThe text begins.", ["A title", "The text begins."]),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("Version 3.11 is out! Really?", ["Version 3.11 is out!", "Really?"]),
        ("  \n\t ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, -1), (10, 6), (-5, 0)])
def test_settings_that_make_no_sense_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InvalidSettings):
        ChunkSettings(size=size, overlap=overlap)


@pytest.mark.parametrize("text", ["." * 400_000, " ." * 200_000, "é\n " * 150_000])
def test_hostile_text_is_cut_in_linear_time(text: str) -> None:
    # Quadratic work on these would outlast the patience of any test runner.
    settings = ChunkSettings(overlap=0)
    joined = "".join(passage.text for passage in cut_passages(text, settings))
    assert "".join(joined.split()) == "".join(text.split())
