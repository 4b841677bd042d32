"""Reading a query: words, pairs of signs, phrases and prefixes, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.lexical.query import (
    MAX_PHRASES,
    MAX_PREFIXES,
    MAX_QUERY_WORDS,
    STOPWORDS,
    Query,
    completions,
    parse_query,
)
from salon.retrieval.lexical.tantivy_search import build_analyzer


def test_words_are_folded_lowered_and_counted_once() -> None:
    assert parse_query("Café CAFÉ, zürich; cafe") == Query(words=("cafe", "zurich"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What is the force of gravity?", ("force", "gravity")),
        ("the gravity's pull", ("gravity", "pull")),
        ("don't we\u2019re can't panic", ("panic",)),
        ("to be or not to be", ("to", "be", "or", "not")),
        ("who are they", ("who", "are", "they")),
        ("don't", ("not",)),
        ("AND NOT (light) NEAR/3 text:mass", ("light", "near", "3", "text", "mass")),
        ("snake_case a\0b", ("snake", "case", "b")),
        ("p53 x-ray 3.14", ("p53", "x", "ray", "xray", "3", "14")),
        ("co\u2010operation --", ("co", "operation", "cooperation")),
        ("end-to-end test", ("end", "endtoend", "test")),
        ("🎈🎈 ?!", ()),
        ("", ()),
    ],
)
def test_plain_text_is_words(text: str, words: tuple[str, ...]) -> None:
    assert parse_query(text) == Query(words=words)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('"bank of England"', Query(phrases=(("bank", "of", "england"),))),
        ('the "to be" question', Query(words=("question",), phrases=(("to", "be"),))),
        ('of "gravity"', Query(phrases=(("gravity",),))),
        ("“packet switching” now", Query(words=("now",), phrases=(("packet", "switching"),))),
        ('"x-ray*" "" "?"', Query(phrases=(("x", "ray"),))),
        ('"one" "one" two', Query(words=("two",), phrases=(("one",),))),
        ('never "closed quote', Query(words=("never", "closed", "quote"))),
        ('"a b" c "d', Query(words=("c", "d"), phrases=(("a", "b"),))),
        ('"', Query()),
    ],
)
def test_double_quotes_make_a_phrase(text: str, query: Query) -> None:
    assert parse_query(text) == query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("comput*", Query(prefixes=("comput",))),
        ("the Comput* of", Query(prefixes=("comput",))),
        ("covid-19*", Query(words=("covid",), prefixes=("19",))),
        ("a* x*", Query(words=("x",))),
        ("* ** comput *", Query(words=("comput",))),
        ("in*side", Query(words=("side",))),
        ("東京*", Query(pairs=(("東", "京"),))),
    ],
)
def test_a_star_ends_a_prefix_of_at_least_two_characters(text: str, query: Query) -> None:
    assert parse_query(text) == query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("東京都", Query(pairs=(("東", "京"), ("京", "都")))),
        ("東京 大学、京", Query(words=("京",), pairs=(("東", "京"), ("大", "学")))),
        ("iPhone手机", Query(words=("iphone",), pairs=(("手", "机"),))),
        ("猫 犬", Query(words=("猫", "犬"))),
        ("猫 and 犬小屋", Query(words=("猫",), pairs=(("犬", "小"), ("小", "屋")))),
        ('"東京"', Query(phrases=(("東", "京"),))),
        ("학교에서", Query(pairs=(("학", "교"), ("교", "에"), ("에", "서")))),
    ],
)
def test_signs_that_touch_are_looked_for_in_pairs(text: str, query: Query) -> None:
    assert parse_query(text) == query


def test_only_so_many_words_count_and_the_first_ones_do() -> None:
    query = parse_query("the of " + " ".join(f"word{number}" for number in range(20_000)))
    assert query.words == tuple(f"word{number}" for number in range(MAX_QUERY_WORDS))
    query = parse_query(" ".join(f'"phrase {number}" pre{number}*' for number in range(5_000)))
    assert len(query.phrases) == MAX_PHRASES
    assert len(query.prefixes) == MAX_PREFIXES
    assert len(parse_query(f'"{"word " * 3000}"').phrases[0]) == MAX_QUERY_WORDS


@given(st.text(st.characters()) | st.text(st.sampled_from("ab\"* -'東京é\u0301\ud800\0“the ")))
def test_every_string_can_be_read(text: str) -> None:
    query = parse_query(text)
    assert len(query.words) + len(query.pairs) <= MAX_QUERY_WORDS
    words = [*query.words, *query.prefixes, *(word for phrase in query.phrases for word in phrase)]
    for word in words:
        assert word.encode()
        assert not set(word) & set(" \"*'-\0")
    assert bool(query) == bool(words or query.pairs)


def test_a_prefix_stands_for_the_stems_of_what_somebody_is_about_to_type() -> None:
    analyze = build_analyzer().analyze
    for word in ("happiness", "computing", "living", "probability", "mapping", "studies"):
        (stem,) = analyze(word)
        for length in range(3, len(word) + 1):
            prefix = word[:length]
            assert stem.startswith(prefix) or stem in analyze(" ".join(completions(prefix)))


@pytest.mark.parametrize(
    ("prefix", "other"), [("care", "car"), ("carbon", "carb"), ("nation", "nat")]
)
def test_a_prefix_does_not_stand_for_shorter_words(prefix: str, other: str) -> None:
    assert other not in build_analyzer().analyze(" ".join(completions(prefix)))


def test_completions_begin_with_their_prefix() -> None:
    assert completions("हि") == ["हि"]
    for prefix in ("co", "compu", "nationaliz", "19"):
        assert all(word.startswith(prefix) for word in completions(prefix))


def test_stopwords_are_folded_words() -> None:
    assert all(word.isascii() and word.islower() and word.isalpha() for word in STOPWORDS)
