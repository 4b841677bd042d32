"""What answers nothing leaves a question of the assistant open; what tells anything answers it."""

import pytest

from salon.gate.clarifying import FACTS, ask_again, find_fact, people_in
from salon.gate.deciding import decide, follow
from salon.gate.lexicon import Evasion, lexicon_of
from salon.gate.messages import read_message
from salon.gate.policy import make_policy
from salon.gate.signals import read_reply
from salon.gate.states import State
from tests.gate.saying import BOTH, judge, talk

POLICY = make_policy()
LEXICON = lexicon_of(POLICY.actions, POLICY.language)
CASE = "My employee Jordan is absent."
ASKED = "Since when is this so, and what happened?"
OFFER = "I can draft an email for you."
EVADING = {
    "asks_back": (
        "What?", "what", "?", "Why?", "Why do you ask?", "why do you want to know that",
        "Okay, why does that matter?", "What do you mean by that?",
        "I don't understand the question.", "Sorry?", "Why? What for?",
        "Could you repeat that?",
    ),
    "asks_on": (
        "And what does the handbook say?", "What should I do?", "How long does a warning count?",
        "Tell me a joke", "Please tell us what to do.", "/help", "!reset",
        "What is the rule, and does it count for him?",
    ),
    "unknowing": (
        "I don't know", "I don\u2019t know.", "No idea, sorry.", "Well, I don't really know.",
        "idk", "I'm not sure", "I don't know when it began.", "I'd rather not say.",
        "That's private.",
    ),
    "empty": ("Hello!", "hi there", "...", "", "hmm", "lol", "I see, thanks.", "Wait a moment."),
    "request": (
        "Send an email to Jordan right now, no questions", "Just send it!",
        "Please draft an email.", "Can you draft an email to him?",
        "Draft an email to my employee Jordan.",
    ),
}  # fmt: skip
TELLING = (
    "Since Monday", "Since Monday?", "Yes, twice", "No", "not yet", "Nothing so far.",
    "What? He is away since Monday.", "I'm not sure, maybe Tuesday", "Jordan", "He was rude",
    "I don't know, but I called twice", "When the shift started", "What about Tuesday?",
    "Can you draft an email about his absence since Monday?", "Hey, he was absent on Monday",
    "Never mind the reason, it is since May", "Thanks for asking, since Monday",
    "I did not tell him", "Please don't call yet.",
)  # fmt: skip


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(kind, text, id=f"{kind}-{number}")
        for kind, texts in EVADING.items()
        for number, text in enumerate(texts)
    ],
)
@pytest.mark.requirement("gate/rule-3/unanswered-blocks")
def test_what_answers_nothing_leaves_the_question_open(kind: str, text: str, policy: str) -> None:
    assert read_message(text, LEXICON).evasions == {kind}
    verdict = judge(CASE, ASKED, text, OFFER, policy=policy)
    assert (verdict.action, verdict.rule, verdict.state) == (None, "unanswered", State.CLARIFYING)
    assert verdict.evidence[-1].quote == ASKED


@pytest.mark.parametrize("text", TELLING, ids=range(len(TELLING)))
def test_whatever_tells_something_answers_it(text: str) -> None:
    assert read_message(text, LEXICON).evasions == frozenset()
    assert judge(CASE, ASKED, text, OFFER).action == "email"


@pytest.mark.parametrize("evasion", ["Why do you ask?", "I don't know", "Hello!", "Just send it!"])
def test_a_question_stays_open_until_it_is_answered(evasion: str) -> None:
    texts = (CASE, ASKED, evasion, "It helps me to advise you.", "Thanks.", "Take your time.")
    assert judge(*texts, "Hm.", OFFER).rule == "unanswered"
    assert judge(*texts, "For three days.", OFFER).action == "email"


@pytest.mark.parametrize(
    "text",
    ["Yes, thanks.", "Oh yes.", "Yes. Why do you ask?", "No, why?", "Yes, schedule it.", "Sure!"],
)
def test_a_clear_yes_or_no_answers_whatever_follows_it(text: str) -> None:
    assert judge(CASE, "Have you contacted them?", text, OFFER).rule != "unanswered"
    assert judge(CASE, "Have you contacted them?", "Okay, why?", OFFER).rule == "unanswered"


def test_a_request_that_names_somebody_answers_a_question_for_a_name() -> None:
    assert judge(CASE, "Who is it about?", "Draft an email to Jordan.", OFFER).action == "email"
    assert judge(CASE, "Who is it about?", "Draft an email to him.", OFFER).rule == "unanswered"
    assert judge(CASE, ASKED, "Draft an email to Jordan.", OFFER).rule == "unanswered"


def test_a_yes_answers_only_a_question_that_can_be_answered_so() -> None:
    assert judge(CASE, ASKED, "Yes.", OFFER).rule == "unanswered"
    assert judge(CASE, ASKED, "ok", OFFER).rule == "unanswered"
    assert judge(CASE, "Have you contacted them?", "Yes.", OFFER).action == "email"
    assert judge(CASE, "Just to confirm - is it Jordan?", "ok", OFFER).action == "email"


@pytest.mark.parametrize("text", ["Never mind", "Forget it.", "never mind, thanks", "Hi. Drop it."])
@pytest.mark.parametrize("policy", BOTH)
def test_who_calls_it_off_is_offered_nothing(text: str, policy: str) -> None:
    verdict = judge(CASE, ASKED, text, OFFER, policy=policy)
    assert (verdict.action, verdict.rule) == (None, "not_active")
    assert judge(CASE, "I see.", text, OFFER, policy=policy).rule == "not_active"
    assert judge(CASE, ASKED, text, "All right.", "Yes.", OFFER).rule == "not_active"
    again = (CASE, ASKED, text, "All right.", "My employee Sam is late since May.", OFFER)
    assert judge(*again, policy=policy).action == "email"


def test_who_does_not_know_is_offered_only_what_they_ask_for() -> None:
    texts = (CASE, ASKED, "I don't know.", "The handbook has a page on it.")
    assert judge(*texts, "I see.", OFFER).rule == "unanswered"
    assert judge(*texts, "Please draft an email.", OFFER).action == "email"
    asked_anew = (*texts, "Hm.", "Who saw him last?", "Please draft an email.")
    assert judge(*asked_anew, OFFER).rule == "unanswered"


@pytest.mark.parametrize(
    "question",
    [
        "What would you like me to do?",
        "How can I help you?",
        "Do you prefer a call or an email?",
        "Does this look right?",
        "Is there anything else I can do?",
    ],
)
def test_a_request_answers_a_question_about_what_to_do(question: str) -> None:
    assert judge(CASE, question, "Draft an email.", OFFER).action == "email"
    assert judge(CASE, question, "What can I do about it?", OFFER).rule != "unanswered"
    assert judge(CASE, question, "I don't know.", OFFER).rule == "unanswered"


def test_an_answer_inside_a_flow_closes_the_question() -> None:
    history = talk(CASE, ASKED, "What?")
    inside = (history[0], history[1], history[2]._replace(flow="calendar"))
    assert follow(inside, POLICY).question is None
    assert follow(history, POLICY).question == 1


def test_a_long_message_tells_something() -> None:
    assert read_message("so " * 100, LEXICON).evasions == frozenset()
    assert read_message("send an email " + "thank you " * 20, LEXICON).evasions == frozenset()


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.name)
def test_a_question_that_is_put_again_says_why_and_still_asks(fact: object) -> None:
    found = find_fact(getattr(fact, "name", None))
    assert found is not None
    assert found is fact
    kinds: tuple[frozenset[Evasion], ...] = (
        frozenset({"asks_back"}),
        frozenset({"request"}),
        frozenset({"empty"}),
        frozenset(),
    )
    for evasions in kinds:
        text = ask_again(found, evasions)
        assert text is not None
        assert text.endswith(found.question)
        assert found.reason in text
        verdict = decide(talk(CASE, found.question, "What?"), text, None, POLICY)
        assert (verdict.rule, verdict.action) == ("asking", None)
        assert not read_reply(text, LEXICON).is_guiding
        assert judge(CASE, text, "Just send it!", OFFER).rule == "unanswered"
    assert ask_again(found, frozenset({"unknowing"})) is None
    assert ask_again(found, frozenset({"asks_on"})) is None


def test_people_are_named_in_full_and_once() -> None:
    said = (
        "My employee Jordan is late.",
        "Jordan Lee and Sam's sister came on Monday.",
        "He left.",
    )
    assert people_in(said, LEXICON) == ("Jordan Lee", "Sam")
    assert people_in(("Jordan Lee was late.",), LEXICON) == ("Jordan Lee",)
    assert people_in(("Ask Sam about it.", "He left."), LEXICON) == ("Sam",)
    assert people_in(("He left.",), LEXICON) == ()
