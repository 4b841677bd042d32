"""Texts as stems, and how telling each is."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.errors import FileMissing, InvalidSettings
from salon.grounding.support.words import (
    FrequencyFile,
    read_frequencies,
    read_words,
    shipped_tellingness,
    tellingness,
)


def stems(text: str) -> list[str]:
    return [word.stem for word in read_words(text) if word.is_content]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("governed", "governing"),
        ("rose", "rises"),
        ("written", "write"),
        ("the farmer's fields", "farmers field"),
        ("Zürich", "Zurich"),
        ("women", "woman"),
        ("won\u2019t", "won't"),
    ],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stems(one) == stems(other)


def test_words_know_where_they_stand() -> None:
    text = "In 1,200 years \u2013 B12, it's said."
    assert all(text[word.start :].startswith(word.text) for word in read_words(text))
    assert [word.text for word in read_words(text)] == [
        "In",
        "1,200",
        "years",
        "B12",
        "it's",
        "said",
    ]


@given(st.text(max_size=200))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    for word in read_words(text):
        assert text[word.start : word.start + len(word.text)] == word.text


def test_rare_words_are_more_telling() -> None:
    telling = shipped_tellingness()
    common, rare, unseen = telling.of("the"), telling.of("treati"), telling.of("qzxvk")
    assert 0 < common < rare < unseen == 1.0


def test_the_rarest_counted_is_as_telling_as_what_was_not_seen() -> None:
    counted = FrequencyFile(
        texts=100, rarest=4, stems={"a": 100, "b": 4}, names=frozenset({"lyon"})
    )
    telling = tellingness(counted)
    assert telling.of("b") == telling.of("c") == 1.0
    assert telling.of("a") < 0.3


def test_the_first_word_of_a_sentence_is_a_name_only_if_known_as_one() -> None:
    counted = FrequencyFile(texts=9, rarest=1, stems={"tax": 5}, names=frozenset({"lyon"}))
    telling = tellingness(counted)
    assert telling.is_name("lyon", "lyon", is_first=True)
    assert telling.is_name("qzx", "qzx", is_first=False)
    assert not telling.is_name("qzx", "qzx", is_first=True)
    assert not telling.is_name("tax", "tax", is_first=False)


def test_files_that_hold_no_frequencies_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        read_frequencies(tmp_path / "none.json")
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"texts": 3}))
    with pytest.raises(InvalidSettings, match="holds no frequencies"):
        read_frequencies(bad)
