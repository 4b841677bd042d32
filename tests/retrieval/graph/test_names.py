"""Names that may mean the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.graph import names
from salon.retrieval.graph.names import NameIndex, NameWords, affinity, name_words

_PEOPLE = (
    "William A. Berke",
    "Leong Po-Chih",
    "Bahrām Beyzāie",
    "Google LLC",
    "Oswiu",
    "Juan Carlos Falcón",
    "Juan Carlos Pérez Frías",
    "Robert G. Springsteen",
)


def _alike(one: str, other: str) -> float:
    return affinity(name_words(one), name_words(other), lambda _: 1.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Bahrām  Beyzāie", ("bahram", "beyzaie")),
        ("God'S Gift To Women", ("god", "gift", "to", "women")),
        ("Al-Mu'tasim's U.S.A.", ("al", "mutasim", "u", "s", "a")),
        ("…", ()),
    ],
)
def test_words_of_a_name_are_compared_without_what_varies(name: str, words: NameWords) -> None:
    assert name_words(name) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("William Berke", "William A. Berke"),
        ("R. G. Springsteen", "Robert G. Springsteen"),
        ("Po-Chih Leong", "Leong Po-Chih"),
        ("Bahram Beyzai", "Bahrām Beyzāie"),
        ("Jocelyn Lovell", "Jocelyn Charles Bjorn Lovell"),
        ("Brad Booth", "Bradley Booth"),
    ],
)
def test_names_with_more_initials_or_in_another_order_are_alike(one: str, other: str) -> None:
    assert 0.7 <= _alike(one, other) < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada Lovelace", "Charles Babbage"),
        ("Raiyah bint Hussein", "Iman bint Talal"),
        ("Jean", "Jean Renoir"),
        ("A. B.", "Anton Bruckner"),
        ("Ed Wood", "Ed Harris"),
    ],
)
def test_names_that_share_too_little_are_not(one: str, other: str) -> None:
    assert _alike(one, other) < 0.5


_NAMES = st.lists(st.sampled_from(["a", "ann", "anna", "bo", "bob", "carlos"]), max_size=4)


@given(_NAMES, _NAMES)
def test_affinity_is_symmetric_and_between_none_and_all(one: list[str], other: list[str]) -> None:
    found = affinity(tuple(one), tuple(other), len)
    assert found == affinity(tuple(other), tuple(one), len)
    assert 0 <= found <= 1
    assert affinity(tuple(one), tuple(one), len) == 1
    if one and other and not set("".join(one)) & set("".join(other)):
        assert found == 0


@pytest.fixture
def index() -> NameIndex:
    return NameIndex(enumerate(_PEOPLE))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("William Berke", [0]),
        ("Po-Chih Leong", [1]),
        ("google", [3]),
        ("Oswiu of Northumbria", [4]),
        ("juan carlos falcon", [5]),
        ("Juan Carlos", [5, 6]),
        ("Carlos", []),
        ("Nobody Special", []),
        ("", []),
    ],
)
def test_an_index_finds_the_names_that_are_meant(
    index: NameIndex, name: str, found: list[int]
) -> None:
    assert sorted(index.find(name_words(name))) == found


def test_an_exact_name_is_known_and_puts_others_aside(index: NameIndex) -> None:
    words = name_words("Juan Carlos Falcón")
    assert index.exact(words) == {5}
    assert index.find(words) == {5: 1.0}
    assert index.exact(name_words("Juan")) == set()
    assert NameIndex([(7, "…")]).find(name_words("anything")) == {}


def test_a_word_that_few_names_have_weighs_more(index: NameIndex) -> None:
    assert index.weight("springsteen") > index.weight("juan")
    assert index.weight("never seen") > index.weight("springsteen")


def test_where_many_share_each_word_two_words_must_agree() -> None:
    many = [(number, f"John Smith{chr(97 + number % 26) * 3} {number}") for number in range(60)]
    index = NameIndex([*many, *((100 + number, f"{number} John Smith") for number in range(60))])
    assert index.find(("john", "smith"))
    assert index.find(("john", "unseen")) == {}


def test_what_was_found_is_remembered_within_limits(
    index: NameIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "REMEMBERED", 2)
    first = index.find(("oswiu",))
    assert index.find(("oswiu",)) is first
    index.find(("google",))
    index.find(("berke",))
    assert index.find(("oswiu",)) == first
