"""Checking a response: sentence by sentence, against what it cites and nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from salon.conversation.discussion import Discussion, Utterance
from salon.core.citations import Citation
from salon.grounding.reports import Fault, ResponseReport, Support, Verdict
from salon.grounding.verifying import Speaker, Verification
from tests.grounding.worlds import World, make_world

WARNINGS = "Those who do not water lose their bed after two warnings."
BUILT = "The bridge was built in 1874 by the people of the valley."


class WordsOnly:
    """A judge that wants every word of a claim in the evidence."""

    threshold = 0.5

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Support]:
        def words(text: str) -> set[str]:
            return {word.strip(".,:!?").casefold() for word in text.split()}

        return [
            Support(probability=1.0)
            if words(claim) <= words(evidence)
            else Support(probability=0.1, against=("a word is missing",))
            for claim, evidence in pairs
        ]


class Checker:
    """Verifies in one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._verification = Verification(world.citations, WordsOnly)

    def __call__(
        self,
        response: str,
        *cited: Citation,
        speaker: Speaker | None = None,
        said: Sequence[Utterance] = (),
    ) -> ResponseReport:
        return self._verification.verify(
            response,
            cited,
            speaker=speaker or Speaker(names=frozenset({"Ada Berg"})),
            discussion=Discussion(utterances=tuple(said)),
        )


@pytest.fixture
def check(tmp_path: Path) -> Iterator[Checker]:
    world = make_world(tmp_path)
    yield Checker(world)
    world.archive.close()


@pytest.mark.parametrize(
    "frame",
    [
        "In “Rules of the Garden” (1901) I wrote:",
        "In “Rules of the Garden” (1901) Ada Berg wrote:",
        "In “Rules of the Garden” I said:",
        "And in “Rules of the Garden” (1901):",
        "And in the same text:",
    ],
)
def test_a_quote_in_a_true_frame_stands(check: Checker, frame: str) -> None:
    cited = check.world.cite(check.world.garden, WARNINGS)
    report = check(f"{frame} “{WARNINGS}” [1]", cited)
    assert report.holds
    (claim,) = report.claims
    assert claim.support == Support(probability=1.0)


@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        ("In “Rules of the Garden” (1902) I wrote:", Fault.NOT_BORNE_OUT),
        ("In “Rules of the Meadow” (1901) I wrote:", Fault.QUOTE_DIFFERS),
        ("In “Rules of the Garden” (1901) Eva Lind wrote:", Fault.NOT_BORNE_OUT),
        ("It is a proven fact that:", Fault.NOT_BORNE_OUT),
        ("In “Rules of the Garden” (1901) I wrote, and everybody agrees:", Fault.NOT_BORNE_OUT),
    ],
)
def test_a_frame_that_says_more_or_wrong_does_not(check: Checker, frame: str, fault: Fault) -> None:
    cited = check.world.cite(check.world.garden, WARNINGS)
    report = check(f"{frame} “{WARNINGS}” [1]", cited)
    assert not report.holds
    assert [one.fault for one in report.claims if one.fault] == [fault]


def test_a_claim_is_judged_by_what_it_marks(check: Checker) -> None:
    garden = check.world.cite(check.world.garden, WARNINGS)
    bridge = check.world.cite(check.world.bridge, BUILT)
    good = check("The bridge was built by the people of the valley [2].", garden, bridge)
    assert good.holds
    wrong = check("The bridge was built by the people of the valley [1].", garden, bridge)
    assert [one.verdict for one in wrong.claims] == [Verdict.UNSUPPORTED]
    assert wrong.claims[0].reason == "a word is missing"


def test_a_claim_without_a_mark_may_rest_on_any_citation(check: Checker) -> None:
    garden = check.world.cite(check.world.garden, WARNINGS)
    bridge = check.world.cite(check.world.bridge, BUILT)
    assert check("The bridge was built in 1874.", garden, bridge).holds


def test_what_nothing_is_cited_for_is_unsupported(check: Checker) -> None:
    report = check("Water flows downhill. Birds sing.")
    assert [one.fault for one in report.claims] == [Fault.NO_CITATION] * 2
    assert all(one.verdict is Verdict.UNSUPPORTED for one in report.claims)


def test_a_mark_that_names_no_citation_is_unsupported(check: Checker) -> None:
    cited = check.world.cite(check.world.bridge, BUILT)
    report = check("The bridge was built in 1874 [2].", cited)
    assert report.claims[0].fault is Fault.NO_CITATION
    assert "2" in report.claims[0].reason


def test_one_broken_citation_breaks_the_claim_that_marks_it(check: Checker) -> None:
    cited = check.world.cite(check.world.bridge, BUILT)
    broken = replace(cited, quote=BUILT.replace("1874", "1875"))
    report = check(f"“{broken.quote}” [1] The bridge was built in 1874 [2].", broken, cited)
    assert [one.verdict for one in report.claims] == [Verdict.FABRICATED, Verdict.SUPPORTED]
    assert not report.holds


def test_text_that_salon_made_is_never_the_only_support(check: Checker) -> None:
    made = check.world.cite(check.world.made, "thirty members are enough for one garden")
    real = check.world.cite(check.world.garden, "The garden has thirty members.")
    alone = check("“thirty members are enough for one garden” [1]", made)
    assert alone.claims[0].fault is Fault.ONLY_DERIVED
    assert check("Thirty members [1][2].", made, real).holds


def test_a_short_quote_cannot_cut_a_word_out_of_a_claim(check: Checker) -> None:
    no = check.world.cite(check.world.garden, "not")
    members = check.world.cite(check.world.garden, "The garden has thirty members.")
    report = check("The garden has not thirty members [1][2].", no, members)
    assert not report.holds


def test_a_quote_over_several_sentences_stays_whole(check: Checker) -> None:
    both = f"{WARNINGS} No member may hold more than two beds."
    cited = check.world.cite(check.world.garden, both)
    report = check(f"In “Rules of the Garden” (1901) I wrote: “{both}” [1]", cited)
    assert report.holds
    assert len(report.claims) == 1


def test_participants_are_spoken_to_only_if_they_spoke(check: Checker) -> None:
    cited = check.world.cite(check.world.garden, WARNINGS)
    said = [Utterance(role="Bob", content="What about free riders?")]
    text = f"Bob, to your question: In “Rules of the Garden” (1901) I wrote: “{WARNINGS}” [1]"
    assert check(text, cited, said=said).holds
    assert not check(text, cited).holds
    assert not check(text.replace("Bob", "Eve"), cited, said=said).holds


def test_limits_claim_nothing(check: Checker) -> None:
    speaker = Speaker(fixed=frozenset({"I am an AI.", "field:gardens, bridges", "year:1905"}))
    text = (
        "My texts say nothing about “free riders”. This lies outside my field, which is gardens, "
        "bridges. My texts end in 1905, so I cannot speak about “1950”. I am an AI."
    )
    assert check(text, speaker=speaker).holds
    assert not check(text).holds
    assert not check("My texts say nothing about bread. It is cheap.", speaker=speaker).holds


def test_private_characters_in_a_response_do_no_harm(check: Checker) -> None:
    cited = check.world.cite(check.world.bridge, BUILT)
    report = check("\ue001\uf001 The bridge was built in 1874 [1]. \ue005 Lies.", cited)
    assert [one.verdict for one in report.claims] == [Verdict.SUPPORTED, Verdict.UNSUPPORTED]


def test_an_empty_response_claims_nothing(check: Checker) -> None:
    assert check("").holds
    assert check(" \n ").claims == ()
