"""What a question names, and what it asks about that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.graph.names import NameWords, name_words
from salon.retrieval.graph.questions import PART_OF_NAME, read_question

_KNOWN = {name_words("Rip, Sew and Stitch"), name_words("Conrad IV"), name_words("Osthryth")}


def _is_known(name: NameWords) -> bool:
    return name in _KNOWN


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When did Conrad Iv's mother die?", ["conrad iv"]),
        (
            "Was Johnny Cash or Jean-Michel Jarre born first?",
            ["johnny cash", "jean michel jarre"],
        ),
        ("Which film is older, God'S Gift To Women or 3 Dots?", ["god gift to women", "3 dots"]),
        ("Who directed Kadal (1968 Film)?", ["kadal 1968 film", "kadal"]),
        ("How does it work?", []),
        ("", []),
    ],
)
def test_capitals_tell_names(question: str, names: list[str]) -> None:
    assert [" ".join(name) for name in read_question(question).names] == names


def test_parts_between_commas_count_for_less_than_the_whole() -> None:
    assert read_question("Who is Louis, Dauphin Of France?").names == {
        ("louis", "dauphin", "of", "france"): 1.0,
        ("louis",): PART_OF_NAME,
        ("dauphin", "of", "france"): PART_OF_NAME,
    }


def test_a_known_name_reaches_over_small_words() -> None:
    asked = read_question("Who directed Rip, Sew and Stitch?", _is_known)
    assert name_words("Rip, Sew and Stitch") in asked.names
    assert asked.cues == {"directed"}


def test_without_capitals_known_names_are_all_there_is() -> None:
    assert read_question("when did conrad iv's mother die", _is_known).names == {
        ("conrad", "iv"): 1.0
    }
    assert read_question("osthryth's father", _is_known).cues == {"father"}
    assert read_question("when did conrad iv's mother die").names == {}


def test_small_words_alone_are_no_name() -> None:
    assert read_question("who is the one", lambda _: True).names == {}
    assert read_question("who is the king", lambda _: True).names == {
        ("who", "is", "the", "king"): 1.0
    }


@pytest.mark.parametrize(
    ("question", "cues"),
    [
        ("Which film has the director who is older, A Yank or B Two?", {"director", "older"}),
        ("Where was the director of film La Yuma born?", {"director", "born"}),
        ("Do both films, A Trial and B Two, have the directors?", {"directors"}),
        ("What nationality is Elena Petrova's husband?", {"husband"}),
        (
            "When was the company that published The News founded?",
            {"company", "published", "founded"},
        ),
        ("Who is the mother-in-law of Rosa?", {"mother", "law"}),
    ],
)
def test_cues_say_what_is_asked_and_not_what_kind_of_thing_it_is(
    question: str, cues: set[str]
) -> None:
    assert read_question(question).cues == cues


@given(st.text(alphabet="Aab Cc'(),.?of the", max_size=80))
def test_no_word_is_both_name_and_cue(question: str) -> None:
    asked = read_question(question, lambda name: len(name) == 2)
    assert all(asked.names)
    assert all(0 < counts <= 1 for counts in asked.names.values())
    assert asked.named_words == {word for name in asked.names for word in name}


def test_a_page_pasted_as_a_question_stays_cheap() -> None:
    asked = read_question("Ada met Bob. " * 5_000, lambda _: True)
    assert asked.names
