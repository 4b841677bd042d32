"""Folding: one form for the spellings of a word, and no word torn apart."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.lexical.folding import _folded, fold, is_part_of_word, is_sign
from salon.retrieval.lexical.tantivy_search import build_analyzer

ANALYZER = build_analyzer()


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Café Zürich", "Cafe Zurich"),
        ("Cafe\u0301 Zu\u0308rich", "Cafe Zurich"),
        ("Straße, Œuvre, Ærø, Łódź, Đakovo", "Strasse, OEuvre, AEro, Lodz, Dakovo"),
        ("ﬁnal ﬂow \uff46\uff55\uff4c\uff4c H₂O", "final flow full H2O"),
        ("co\u00adoperation zero\u200cwidth \u202ertl", "cooperation zerowidth rtl"),
        ("Ελλάς Ώρα", "Ελλασ Ωρα"),
        ("Ёлка", "Елка"),
        ("كِتَابٌ", "كتاب"),
        ("أحمد إلى مدرسة", "احمد الي مدرسه"),
        ("שָׁלוֹם", "שלום"),
        ("हिन्दी", "हिनदी"),
        ("ﾃｽﾄ", " テ  ス  ト "),
        ("東京 a", " 東  京  a"),
        ("ภาษา", " ภ  า  ษ  า "),
        ("한국", " 한  국 "),
        ("“quotes” \u2013 and dashes…", "“quotes” \u2013 and dashes..."),
    ],
)
def test_spellings_of_one_word_become_one(written: str, folded: str) -> None:
    assert fold(written) == folded


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_stays_as_it_is(text: str) -> None:
    assert fold(text) == text


@given(st.text(st.characters()))
def test_folding_twice_changes_no_word_and_everything_can_be_encoded(text: str) -> None:
    once = fold(text)
    once.encode()
    assert fold(once).split() == once.split()


def test_no_character_that_changes_is_overlooked() -> None:
    overlooked = [
        hex(code)
        for code in range(0x80, 0x3100)
        if unicodedata.is_normalized("NFKC", chr(code)) and fold(chr(code)) != _folded(chr(code))
    ]
    assert overlooked == []


def test_half_characters_separate_words() -> None:
    assert fold("gravity\ud800light").split() == ["gravity", "light"]


def test_no_mark_tears_a_word_apart() -> None:
    characters = map(chr, range(0x300, 0xFFFF))
    marks = [mark for mark in characters if unicodedata.category(mark).startswith("M")]
    assert len(marks) > 1000
    torn = [mark for mark in marks if len(ANALYZER.analyze(fold(f"ka{mark}ta"))) != 1]
    assert [hex(ord(mark)) for mark in torn if not is_sign(mark)] == []


def test_vowel_signs_tell_words_apart() -> None:
    assert len({fold(word) for word in ("की", "का", "कु", "के", "को", "क")}) == 6


def test_words_are_made_of_letters_digits_and_marks() -> None:
    assert all(map(is_part_of_word, "aß9ि東\ue000"))
    assert not any(map(is_part_of_word, " -_'\"*\0\u00ad🎈"))
