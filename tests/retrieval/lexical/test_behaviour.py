"""What every lexical index does: finding, ranking, filtering, whatever engine is under it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from salon.core.errors import InvalidInput
from salon.retrieval.lexical.folding import fold
from salon.retrieval.lexical.query import parse_query
from tests.retrieval.lexical.engines import ENGINES, Index, card, fill, find, found, passage

GRAVITY = "Gravity bends light. Newton described gravity as a force between masses."
PACKETS = "Packet switching was invented by Paul Baran. Networks carry packets."
LONG = "Gravity is mentioned once among " + "many words " * 50

SCRIPTS = [
    "Das Café liegt in Zürich, in der Großen Straße.",
    "हिन्दी एक भाषा है और भारत में बोली जाती है।",
    "ذَهَبَ أحمدُ إلى المدرسةِ صباحاً",
    "שָׁלוֹם עולם",
    "東京大学の歴史について",
    "我们研究经济问题 with GDP数据",
    "ภาษาไทยเป็นภาษาราชการ",
    "저는 학교에서 한국어를 배웁니다",
    "Στην Ελλάδα ζει όμορφη χώρα, ΟΔΟΣ ΝΙΚΗΣ",
    "Ёлка стоит в лесу",
    "Tiếng Việt có nhiều dấu",
    "ພາສາລາວ",
    "The eﬃcient co\u00adoperation of na\u0308ive agents",
]


# Words


@pytest.mark.requirement("council/search/bm25")
def test_better_matches_come_first_with_higher_scores(index: Index) -> None:
    fill(index, [LONG, PACKETS, GRAVITY])
    ranking = index.search("gravity force", 10)
    assert found(ranking) == [2, 0]
    assert ranking.scores[0] > ranking.scores[1] > 0
    assert ranking.ids.dtype == np.dtype(np.int64)
    assert ranking.scores.dtype == np.dtype(np.float32)


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("network", {1}),
        ("SWITCHED packets", {1}),
        ("forces gravity invented", {0, 1}),
        ("nothing known", set()),
        ("", set()),
        ("  ?! 🎈 ", set()),
    ],
)
def test_words_match_by_stem_and_in_any_case(index: Index, query: str, hits: set[int]) -> None:
    fill(index, [GRAVITY, PACKETS])
    assert find(index, query) == hits


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("cafe", {0}),
        ("ZÜRICH", {0}),
        ("strasse", {0}),
        ("zu\u0308rich", {0}),
        ("हिन्दी", {1}),
        ("हनद", set()),
        ("احمد", {2}),
        ("المدرسة", {2}),
        ("שלום", {3}),
        ("東京", {4}),
        ("歴史", {4}),
        ("史", {4}),
        ("京東", set()),
        ("经济", {5}),
        ("gdp", {5}),
        ("GDP数据", {5}),
        ("ไทย", {6}),
        ("학교", {7}),
        ("한국어", {7}),
        ("ελλαδα", {8}),
        ("οδός", {8}),
        ("елка", {9}),
        ("tieng viet", {10}),
        ("ພາສາ", {11}),
        ("efficient", {12}),
        ("cooperation", {12}),
        ("naive", {12}),
    ],
)
def test_all_scripts_are_found(index: Index, query: str, hits: set[int]) -> None:
    fill(index, SCRIPTS)
    assert find(index, query) == hits


def test_more_signs_in_a_row_rank_higher(index: Index) -> None:
    fill(index, ["東に山があり京に寺がある", "東京に大きな学校がある", "東京大学の歴史"])
    ranking = index.search("東京大学", 10)
    assert found(ranking) == [2, 1]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("co-operation", "cooperation of states"),
        ("x-ray", "An xray of the hand"),
        ("x-ray", "An x-ray of the hand"),
        ("COVID-19", "the covid 19 years"),
        ("H2O", "about H₂O"),
        ("newton's", "Newton described it"),
        ("O'Brien", "said O\u2019Brien"),
    ],
)
def test_a_word_is_found_however_it_is_put_together(index: Index, query: str, text: str) -> None:
    fill(index, [text, PACKETS])
    assert find(index, query) == {0}


def test_words_that_hold_sentences_together_count_only_when_alone(index: Index) -> None:
    fill(index, ["the of and is to the of and", GRAVITY, "To be, or not to be"])
    assert find(index, "what is the gravity of it") == {1}
    alone = index.search("gravity", 10)
    asked = index.search("What is gravity?", 10)
    assert found(asked) == found(alone)
    assert asked.scores.tolist() == alone.scores.tolist()
    assert found(index.search("to be or not to be", 10))[0] == 2


def test_how_many_passages_have_each_word_is_known(index: Index) -> None:
    fill(index, [GRAVITY, LONG, PACKETS])
    assert index.frequencies('Gravity "packets switched" unheard') == (3, [2, 0, 1, 1])
    assert index.frequencies("") == (3, [])


# Phrases and prefixes


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ('"packet switching"', {0, 1}),
        ('"switching packet"', {1}),
        ('"switching packets" unheard', {1}),
        ('"packet switching" "paul baran"', {0}),
        ('"bank of england"', {2}),
        ('"bank england"', set()),
        ('"of the bank"', {3}),
        ('"paul"', {0}),
        ('paul "bank"', {2, 3}),
        ('"packet', {0, 1}),
        ('"unheard of" packet', set()),
        ("“packet switching”", {0, 1}),
        ('"大学"', {4}),
        ('"学大"', set()),
    ],
)
def test_a_phrase_must_occur(index: Index, query: str, hits: set[int]) -> None:
    fill(
        index,
        [
            "Packet switching was invented by Paul Baran.",
            "Packets: switching packets is packet-switching.",
            "The Bank of England",
            "England and the wall of the bank",
            "東京大学",
        ],
    )
    assert find(index, query) == hits


def test_words_beside_a_phrase_rank_but_do_not_exclude(index: Index) -> None:
    fill(index, ["blue whale in water", "blue whale in the deep ocean", "deep ocean"])
    assert found(index.search('"blue whale" ocean deep', 10)) == [1, 0]


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("comput*", {0, 1, 2}),
        ("COMPUTE*", {0, 1, 2}),
        ("computin*", {0, 1, 2}),
        ("happine*", {3}),
        ("mapp*", {4}),
        ("co*", {0, 1, 2, 5}),
        ("zürich*", {6}),
        ("zü*", {6}),
        ("भा*", {7}),
        ("x*", set()),
        ("unheard*", set()),
        ("unheard* happiness", {3}),
    ],
)
def test_a_prefix_stands_for_the_words_that_begin_so(
    index: Index, query: str, hits: set[int]
) -> None:
    fill(
        index,
        [
            "computers",
            "computing power",
            "He computed it",
            "happiness",
            "mapping the land",
            "A cooperative",
            "Zürichsee",
            "भाषा",
        ],
    )
    assert find(index, query) == hits


def test_a_prefix_of_very_many_words_still_finds(index: Index) -> None:
    fill(index, [f"prefix{number:04}" for number in range(500)])
    assert len(find(index, "prefix*", 1000)) >= 64
    assert find(index, "prefix0123*") == {123}


# Ranking


def test_passages_of_equal_score_come_by_id_also_at_the_limit(index: Index) -> None:
    numbers = [int(number) for number in np.random.default_rng(7).permutation(300)]
    for part in range(0, 300, 75):
        index.add(passage(number, "the same words") for number in numbers[part : part + 75])
        index.commit()
    assert found(index.search("words", 1000)) == list(range(300))
    assert found(index.search("words", 10)) == list(range(10))
    index.add([passage(400, "words words words")])
    index.commit()
    assert found(index.search("words", 3)) == [400, 0, 1]


def test_a_limit_takes_the_best_and_a_huge_one_takes_all(index: Index) -> None:
    fill(index, [GRAVITY, PACKETS, LONG])
    everything = index.search("gravity packets", 10**12)
    assert len(everything.ids) == 3
    for limit in (1, 2, 3, 4):
        assert found(index.search("gravity packets", limit)) == found(everything)[:limit]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_search_for_no_passages_is_refused(index: Index, limit: int) -> None:
    with pytest.raises(InvalidInput):
        index.search("gravity", limit)


def test_an_empty_index_finds_nothing(index: Index) -> None:
    for query in ("gravity", '"gravity"', "grav*", "東京"):
        ranking = index.search(query, 5)
        assert (len(ranking.ids), len(ranking.scores)) == (0, 0)
    assert index.count() == 0


def test_ids_are_as_large_as_they_get(index: Index) -> None:
    index.add([passage(2**63 - 1, GRAVITY), passage(0, PACKETS)])
    index.commit()
    assert find(index, "gravity packets") == {2**63 - 1, 0}


# Filtering by card


def test_a_filter_leaves_the_ranking_of_what_it_lets_through(index: Index) -> None:
    words = [f"w{number}" for number in range(30)]
    random = np.random.default_rng(3)
    cards = 200
    for part in range(3):
        index.add(
            passage(part * 1000 + number, " ".join(random.choice(words, 12)), of=number % cards)
            for number in range(400)
        )
        index.commit()
    for query in ("w1 w2 w3", '"w4 w5"', "w6*", "w7 w8 w9 w10 w11 w12 w13 w14"):
        everything = index.search(query, 10_000)
        for some in (1, 3, 63, 64, 65, 120, 200):
            chosen = random.choice(cards, some, replace=False)
            kept = np.isin(everything.ids % 1000 % cards, chosen)
            filtered = index.search(query, 25, cards={card(number) for number in chosen})
            assert found(filtered) == everything.ids[kept][:25].tolist()
            assert filtered.scores.tolist() == everything.scores[kept][:25].tolist()


def test_a_filter_of_no_or_unknown_cards_finds_nothing(index: Index) -> None:
    fill(index, [GRAVITY])
    assert found(index.search("gravity", 5, cards=[])) == []
    assert found(index.search("gravity", 5, cards=[card("other")])) == []
    assert found(index.search("gravity", 5, cards=[card(f"o{n}") for n in range(100)])) == []
    assert found(index.search("gravity", 5, cards=frozenset({card(0), card("other")}))) == [0]


# Whatever a person types


@pytest.mark.parametrize(
    "query",
    [
        'gravity"',
        '"gravity" OR "',
        "gravity NEAR(",
        "NEAR(gravity light, 5)",
        "text:gravity",
        "title:gravity id:0",
        "gravity*",
        "^gravity -light",
        "gravity AND NOT (",
        "{gravity} : } [a TO z]",
        "gravity'; DROP TABLE lexical_cards; --",
        "gravity\0light",
        "\ud800 gravity",
        "gravity~2^3",
        "gravity 👩‍👩‍👧‍👦",
        "\u202egravity",
        "gravity " * 12_500,
        "gravity" + '"' * 5001,
        "g" * 10_000 + " gravity",
        "gravity " + "g" * 100_000,
        "gravity " + "東" * 100_000,
        "gravity " + '"a" b* ' * 15_000,
    ],
)
def test_whatever_a_person_types_is_searched_as_words(index: Index, query: str) -> None:
    fill(index, [GRAVITY, "nothing of it"])
    assert 0 in find(index, query)
    assert index.count() == 2


@pytest.fixture(scope="module", params=ENGINES)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Index:
    index = ENGINES[request.param](Path(tmp_path_factory.mktemp("shared")))
    fill(index, [GRAVITY, PACKETS, *SCRIPTS])
    return index


HOSTILE = st.text(st.characters(), max_size=60) | st.lists(
    st.sampled_from(['"', "*", "a", "gravity", "OR", "東京", "“", "(", ":", "-", "'", " ", "\0"])
).map("".join)


@given(query=HOSTILE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_at_all_raises(shared: Index, query: str) -> None:
    ranking = shared.search(query, 5)
    assert len(ranking.ids) == len(ranking.scores) <= 5
    some = shared.search(query, 5, cards=[card(0), card(1)])
    assert set(found(some)) <= {0, 1}


# Whatever a text holds


@pytest.mark.parametrize(
    "text",
    [
        "gravity\0light",
        "gravity \ud800 light",
        "gravity " + "x" * 300_000,
        "gravity " * 100_000,
        "👩‍👩‍👧‍👦 gravity \u202e",
        "\ufeffgravity",
        '"gravity" OR NOT',
    ],
)
def test_whatever_a_text_holds_its_words_are_found(index: Index, text: str) -> None:
    fill(index, [text, "", " \n "])
    assert index.count() == 3
    assert find(index, "gravity") == {0}
    for long in ("x" * 1000, f'"{"x" * 1000}"', f"{'x' * 1000}*"):
        assert find(index, long) <= {0}


KNOWN = st.characters(max_codepoint=0xFFFF, exclude_categories=("Cn", "Cs", "Co"))


@given(texts=st.lists(st.text(KNOWN, max_size=30), min_size=1, max_size=4), data=st.data())
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_word_of_a_text_finds_it(
    tmp_path_factory: pytest.TempPathFactory, engine: str, texts: list[str], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(texts) - 1))
    assume(not set(fold(texts[place])) & set("-'*\"\u2010\u2019\u201c\u201d\u201e\u201f"))
    with ENGINES[engine](tmp_path_factory.mktemp("words")) as index:
        fill(index, texts)
        for word in parse_query(texts[place]).words[:3]:
            assert place in find(index, word)
