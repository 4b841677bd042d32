"""The judge: exact words hold, plain disagreements never do, paraphrase in between."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.embedding import EmbeddingModel
from salon.grounding.reports import Support
from salon.grounding.support import Judge, load_judge
from salon.grounding.support.judge import VERBATIM
from salon.providers.embedders.minilm import MiniLmEmbedder

TEXT = (
    "The commons of Torres\n"
    "In 1874 the village of Torres divided its water among 1,200 farms. "
    "Anna Keller kept the records for twelve years and never missed a meeting. "
    "Under the new rules the farms used less water than before the flood. "
    "The council did not approve a tax on wells. "
    "By 1890 about 65% of the farmers paid their dues on 3 May each year. "
    "Harvests increased after the canal was built, though the upper fields stayed dry."
)


def judged(judge: Judge, claim: str, text: str = TEXT) -> Support:
    (found,) = judge.judge([(claim, text)])
    return found


@pytest.mark.parametrize("start", range(7))
def test_every_sentence_of_the_text_is_borne_out(judge: Judge, start: int) -> None:
    sentences = [part for line in TEXT.split("\n") for part in line.split(". ")]
    found = judged(judge, sentences[start])
    assert found == Support(probability=VERBATIM)


def test_two_sentences_that_follow_each_other_are_borne_out(judge: Judge) -> None:
    said = "the council did NOT approve a tax on wells.  By 1890 about 65% of the farmers paid "
    found = judged(judge, said + "their dues on 3 May each year [2].")
    assert found == Support(probability=VERBATIM)


@pytest.mark.parametrize(
    "claim",
    [
        "The village of Torres divided its water among twelve hundred farms in 1874.",
        "Anna Keller kept the records of the village for 12 years.",
        "The farms used less water under the new rules.",
        "The council didn't approve a tax on wells.",
        "About 65 percent of the farmers paid their dues by 1890.",
        "After the canal was built, harvests increased.",
    ],
)
def test_the_same_in_other_words_is_borne_out(judge: Judge, claim: str) -> None:
    found = judged(judge, claim)
    assert found.against == ()
    assert found.probability >= judge.threshold


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (
            "In 1875 the village of Torres divided its water among 1,200 farms.",
            "year differs: 1875",
        ),
        ("The village of Torres divided its water among 1,300 farms.", "number differs: 1,300"),
        ("By 1890 about 85% of the farmers paid their dues.", "number differs: 85%"),
        ("Farmers paid their dues on 3 June each year.", "date differs: June"),
        ("Anna Miller kept the records for twelve years.", "name missing: Anna Miller"),
        ("The village of Lisbon divided its water among 1,200 farms.", "name missing: Lisbon"),
        ("The council approved a tax on wells.", "negation differs"),
        ("Anna Keller did not keep the records for twelve years.", "negation differs"),
        ("The farms used more water than before the flood.", "comparison reversed"),
        ("Harvests decreased after the canal was built.", "comparison reversed"),
        ("Harvests increased before the canal was built.", "comparison reversed"),
    ],
)
def test_a_plain_disagreement_is_never_borne_out(judge: Judge, claim: str, reason: str) -> None:
    found = judged(judge, claim)
    assert found.probability < judge.threshold
    assert any(one.startswith(reason) for one in found.against), found.against


@pytest.mark.parametrize(
    "claim",
    [
        "Railways changed how cities grew in the north of the country.",
        "The village sold its timber to pay for a school and a church.",
        "Dogs are loyal animals.",
    ],
)
def test_something_else_is_not_borne_out(judge: Judge, claim: str) -> None:
    assert judged(judge, claim).probability < judge.threshold


def test_a_piece_of_a_sentence_that_denies_it_is_not_borne_out(judge: Judge) -> None:
    found = judged(
        judge, "Wells are taxed.", "Nobody may say that it is so. It is false that wells are taxed."
    )
    assert found.probability < judge.threshold
    assert found.against


@pytest.mark.parametrize(("claim", "text"), [("", TEXT), ("Harvests rose.", " \n "), ("!?", "!?")])
def test_nothing_is_not_borne_out(judge: Judge, claim: str, text: str) -> None:
    assert judged(judge, claim, text) == Support(
        probability=0.01, against=("there is nothing to compare",)
    )


def test_pairs_are_judged_one_by_one(judge: Judge) -> None:
    pairs = [("Dogs are loyal.", TEXT), ("Harvests increased.", TEXT), ("Dogs are loyal.", TEXT)]
    found = judge.judge(pairs)
    assert found == [judge.judge([pair])[0] for pair in pairs]
    assert judge.judge([]) == []


@given(st.text(max_size=120), st.text(max_size=400))
def test_whatever_is_handed_in_a_probability_comes_out(claim: str, text: str) -> None:
    judge = load_judge(None)
    found = judged(judge, claim, text)
    assert 0 < found.probability < 1
    assert found.probability < judge.threshold or not found.against


def test_an_encoder_that_no_weights_were_made_for_is_not_used() -> None:
    class Other:
        @property
        def model(self) -> EmbeddingModel:
            return EmbeddingModel(address="other:1", fingerprint="unheard of", dimensions=3)

        def embed_tokens(self, texts: object) -> list[object]:
            raise AssertionError

    judge = load_judge(Other())  # type: ignore[arg-type]
    assert judge.encoder is None
    assert judged(judge, "Harvests increased.") == judged(load_judge(None), "Harvests increased.")


def test_the_encoder_is_named(encoder: MiniLmEmbedder) -> None:
    assert load_judge(encoder).encoder == str(encoder.model)


def test_a_megabyte_of_hostile_text_is_judged_in_seconds(judge: Judge) -> None:
    begun = time.process_time()
    for piece in ("a.", "1,000,", "Ab Cd ", "not ", "than before after ", "((((", "\u0301"):
        judged(judge, "Anna Keller did not rise before 1874.", piece * (1_000_000 // len(piece)))
        judged(judge, piece * (50_000 // len(piece)), TEXT)
    assert time.process_time() - begun < 60
