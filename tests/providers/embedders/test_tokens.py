"""Texts are cut where the tokenizer would cut them, and put together by length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from salon.core.errors import InvalidInput
from salon.providers.embedders.minilm_files import find_minilm_files
from salon.providers.embedders.tokens import LONGEST, TokenReader, pad, plan_batches

WORDS = st.sampled_from(
    [
        "commons",
        "a",
        "[SEP]",
        "é",
        "e\u0301",
        "知識",
        "x" * 150,
        "😀",
        "\u0301",
        "don't",
        "\n",
        "\0",
    ]
)
# Mostly short ones, so that some texts have few tokens for their length.
SPACES = st.sampled_from([" ", " ", "\t", "\u00a0", "  ", " " * 300])


@pytest.fixture(scope="module")
def reader() -> TokenReader:
    return TokenReader(find_minilm_files().tokenizer)


@pytest.fixture(scope="module")
def plain() -> Tokenizer:
    """The tokenizer itself, which reads every text to its end."""
    tokenizer = Tokenizer.from_file(str(find_minilm_files().tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


@given(parts=st.lists(st.tuples(WORDS, SPACES), min_size=1, max_size=12), times=st.integers(1, 80))
def test_a_long_text_is_cut_where_the_tokenizer_cuts_it(
    reader: TokenReader, plain: Tokenizer, parts: list[tuple[str, str]], times: int
) -> None:
    text = "".join(word + space for word, space in parts) * times
    assert reader.read(text).tolist() == plain.encode(text).ids


@pytest.mark.parametrize(
    ("text", "count"), [("", 2), ("word", 3), ("word " * 300, LONGEST), ("word " * 10_000, LONGEST)]
)
def test_a_text_has_at_least_its_two_ends_and_at_most_the_limit(
    reader: TokenReader, text: str, count: int
) -> None:
    assert len(reader.read(text)) == count


def test_half_a_character_is_refused(reader: TokenReader) -> None:
    with pytest.raises(InvalidInput, match="a text to embed"):
        reader.read("half \ud800")


@given(
    lengths=st.lists(st.integers(1, 256), max_size=80),
    budget=st.integers(1, 2000),
)
def test_every_text_is_in_one_batch_and_no_batch_is_over_budget(
    lengths: list[int], budget: int
) -> None:
    batches = plan_batches(lengths, budget)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[place] for place in batch)
        assert longest * len(batch) <= budget or len(batch) == 1
    firsts = [lengths[batch[0]] for batch in batches]
    assert firsts == sorted(firsts, reverse=True)


def test_padding_fills_up_with_zeros_and_the_mask_tells(reader: TokenReader) -> None:
    batch = pad([reader.read("one two three"), reader.read("one")])
    assert batch.ids.shape == (2, 5)
    assert batch.mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    assert batch.ids[1, 3:].tolist() == [0, 0]
    assert not batch.is_full
    assert pad([reader.read("one")]).is_full
