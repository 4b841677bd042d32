"""Speaking or staying silent: the rules in their order."""

from dataclasses import replace

import pytest

from salon.conversation.discussion import Discussion, Utterance
from salon.experts.profile import Profile, make_profile
from salon.experts.replies import SpeakDecision
from salon.experts.speaking import RULES, Mode, decide, is_addressed, situation_of

NAMES = ("Ada Berg", "ada-berg", "Berg")


def _profile() -> Profile:
    return make_profile(
        {
            "id": "ada-berg",
            "name": "Ada Berg",
            "description": "A gardener.",
            "corpus": {"description": "Texts.", "sources": []},
            "systemPrompt": {
                "identity": "You speak from her texts.",
                "tone": "plain",
                "constraints": [],
                "citationStyle": "In X I wrote",
            },
        }
    )


def _decide(
    *said: tuple[str, str], mode: Mode | None = None, score: float = 0.9, is_said: bool = False
) -> SpeakDecision:
    discussion = Discussion(
        utterances=tuple(Utterance(role=role, content=content) for role, content in said)
    )
    others = tuple((one,) for one in discussion.participants if one not in NAMES)
    return decide(
        situation_of(
            _profile(),
            discussion,
            names=NAMES,
            others=(*others, ("Eva Lind",)),
            mode=mode,
            threshold=0.5,
            look=lambda _: (score, is_said),
        )
    )


WATER = ("Bob", "Who waters the beds in the garden?")


@pytest.mark.parametrize(
    ("said", "mode", "score", "is_said", "rule"),
    [
        ((), None, 0.9, False, "nothing_said"),
        ((("Ada Berg", "I wrote this."),), None, 0.9, False, "own_words"),
        ((("Bob", "Ada Berg, who waters the beds?"),), "mentioned", 0.1, False, "addressed"),
        ((WATER,), "always", 0.1, False, "always"),
        ((WATER,), "mentioned", 0.9, False, "not_mentioned"),
        ((("Bob", "Eva Lind, who waters?"),), None, 0.9, False, "another_addressed"),
        ((("Bob", "What about that?"),), None, 0.9, False, "unclear"),
        ((WATER,), None, 0.4, False, "not_in_corpus"),
        ((WATER,), None, 0.9, True, "said_already"),
        ((WATER,), None, 0.9, False, "relevant"),
    ],
)
def test_the_first_rule_that_applies_decides(
    said: tuple[tuple[str, str], ...], mode: Mode | None, score: float, is_said: bool, rule: str
) -> None:
    decision = _decide(*said, mode=mode, score=score, is_said=is_said)
    assert decision.rule == rule
    expected = next(one for one in RULES if one.name == rule)
    assert (decision.speak, decision.reason) == (expected.speak, expected.reason)


@pytest.mark.parametrize(
    ("is_helped", "rule", "speak"), [(False, "crisis", True), (True, "help_given", False)]
)
def test_a_cry_for_help_goes_before_whom_it_was_said_to(
    is_helped: bool, rule: str, speak: bool
) -> None:
    discussion = Discussion(utterances=(Utterance(role="Bob", content="Eva Lind, help me"),))
    situation = situation_of(
        _profile(),
        discussion,
        names=NAMES,
        others=(("Eva Lind",),),
        mode="mentioned",
        threshold=0.5,
        look=lambda _: (0.1, False),
    )
    decision = decide(replace(situation, is_cry=True, is_helped=is_helped))
    assert (decision.rule, decision.speak) == (rule, speak)


def test_every_rule_can_decide() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES) == 12


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("Berg, what do you say?", True),
        ("Hello Ada Berg! How is it?", True),
        ("@ada-berg please", True),
        ("And what does Berg think?", True),
        ("What is a garden, Ada Berg?", True),
        ("The book by Berg is old.", False),
        ("Bergen is a town.", False),
        ("I like what Berg wrote", False),
    ],
)
def test_speaking_to_somebody_is_told_from_speaking_about(text: str, is_so: bool) -> None:
    assert is_addressed(text, NAMES) is is_so
