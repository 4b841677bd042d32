"""Claims and evidence as they are read."""

from hypothesis import given
from hypothesis import strategies as st

from salon.grounding.support import sentences
from salon.grounding.support.readings import (
    LONGEST_EVIDENCE,
    MOST_SENTENCES,
    read_claim,
    read_evidence,
)


def test_sentences_end_at_stops_and_at_new_lines() -> None:
    text = "A title\nDr. Solano came. She left!\n\nThen it rained"
    assert [text[start:end] for start, end in sentences(text)] == [
        "A title",
        "Dr. Solano came.",
        "She left!",
        "Then it rained",
    ]


@given(st.text(max_size=300))
def test_sentences_hold_everything_but_white_space(text: str) -> None:
    spans = sentences(text)
    assert spans == sorted(spans)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())


def test_a_claim_of_words_that_only_join_is_compared_by_them() -> None:
    assert read_claim("It is so.").stems
    assert read_claim("...").stems == ()


def test_endless_evidence_is_cut() -> None:
    evidence = read_evidence("So. " * LONGEST_EVIDENCE)
    assert len(evidence.text) == LONGEST_EVIDENCE
    assert len(evidence.sentences) == MOST_SENTENCES
