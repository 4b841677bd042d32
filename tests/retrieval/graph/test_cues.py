"""How near the words around a name are to what is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.retrieval.graph.cues import relevance
from salon.retrieval.graph.mentions import PassageMention

_FILM = "La Yuma is a film directed by Florence Jaugey and starring Alma Blanco. Edited by Bob Ray."


def _mention(text: str, name: str) -> PassageMention:
    start = text.index(name)
    return PassageMention(
        name=name, key=name.lower(), start=start, end=start + len(name), is_subject=False
    )


def _near(name: str, *cues: str, text: str = _FILM) -> float:
    return relevance(text, _mention(text, name), cues)


def test_a_form_of_the_cue_beside_a_name_makes_it_relevant() -> None:
    assert _near("Florence Jaugey", "director") == 1
    assert _near("Florence Jaugey", "composer") == 0
    assert _near("Florence Jaugey") == 0


def test_the_nearer_name_is_more_relevant() -> None:
    assert 0 < _near("Alma Blanco", "director") < _near("Florence Jaugey", "director")


def test_a_cue_in_another_sentence_does_not_count() -> None:
    assert _near("Bob Ray", "starring") == 0


def test_a_cue_may_follow_the_name() -> None:
    assert _near("Ann Lee", "director", text="It was Ann Lee, the director, who left.") == 1


@pytest.mark.parametrize(
    ("cue", "text"),
    [
        ("mother", "She was the daughter of Ann Lee."),
        ("husband", "She married Ann Lee."),
        ("grandfather", "He was a son of Ann Lee."),
    ],
)
def test_words_of_the_same_relation_count_though_less(cue: str, text: str) -> None:
    assert _near("Ann Lee", cue, text=text) == pytest.approx(0.7)
    assert _near("Ann Lee", "director", text=text) == 0


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=4))
def test_relevance_lies_between_none_and_all(text: str, cues: list[str]) -> None:
    whole = f"{text}Ann Lee{text}"
    start = len(text)
    mention = PassageMention(
        name="Ann Lee", key="ann lee", start=start, end=start + 7, is_subject=False
    )
    assert 0 <= relevance(whole, mention, cues) <= 1
