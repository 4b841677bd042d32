"""Where the words of a claim lie in a text."""

import pytest

from salon.grounding.support.alignment import align, gram_share, order_share, pair_share
from salon.grounding.support.readings import read_claim, read_evidence
from salon.grounding.support.words import shipped_tellingness

TELLING = shipped_tellingness()
TEXT = (
    "The valley has two rivers. The mill stands by the northern river. It grinds barley for bread. "
    "Nobody lives in the old tower."
)


def test_the_best_sentence_and_window_are_found() -> None:
    claim, evidence = read_claim("The northern mill grinds barley."), read_evidence(TEXT)
    found = align(claim, evidence, TELLING)
    assert found.window == (1, 3)
    assert found.best in (1, 2)
    assert found.covered.all()
    assert found.by_sentence.max() < 1


def test_a_window_is_no_longer_than_it_must_be() -> None:
    found = align(read_claim("The old tower."), read_evidence(TEXT), TELLING)
    assert found.window == (3, 4)


def test_a_claim_without_words_aligns_with_nothing() -> None:
    found = align(read_claim("!"), read_evidence(TEXT), TELLING)
    assert found.by_sentence.max() == 0


@pytest.mark.parametrize(
    ("claim", "pairs", "order"),
    [
        ("northern river", 1.0, 1.0),
        ("river northern", 0.0, None),
        ("!", 0.0, 0.0),
        ("barley", 0.0, 1.0),
    ],
)
def test_neighbours_and_order_count(claim: str, pairs: float, order: float | None) -> None:
    evidence = read_evidence(TEXT)
    read = read_claim(claim)
    assert pair_share(read, evidence.sentences) == pairs
    found = order_share(read, evidence.sentences[1:3], TELLING)
    assert found == pytest.approx(order) if order is not None else 0 < found < 1


def test_runs_of_letters_are_shared() -> None:
    assert gram_share(read_claim("grinds barley"), TEXT) == 1.0
    assert gram_share(read_claim("xylophones"), TEXT) == 0.0
    assert gram_share(read_claim("so"), TEXT) == 0.0
