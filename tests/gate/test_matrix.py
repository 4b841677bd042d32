"""The source protocol's test matrix and every example of it, under both policies."""

import pytest

from salon.gate.deciding import decide
from salon.gate.policy import make_policy
from salon.gate.states import State
from salon.gate.verdicts import Said, Side
from tests.gate.saying import ABSENT, BOTH, CALLED, TWICE, after_answer, judge, talk

ADVICE = "You should call the employee. I can schedule a call for you."


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.requirement("gate/matrix/first-response", "gate/rule-2/not-on-first-reply")
def test_a_first_response_is_too_early(policy: str) -> None:
    verdict = judge(ABSENT, ADVICE, policy=policy)
    assert (verdict.action, verdict.rule) == (None, "depth")


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.requirement("gate/matrix/clarifying")
def test_a_clarifying_reply_is_still_asking(policy: str) -> None:
    verdict = judge(ABSENT, "I see.", "Were these consecutive shifts? You should call them.",
                    policy=policy)  # fmt: skip
    assert (verdict.action, verdict.rule) == (None, "asking")
    two = decide(
        talk(ABSENT, "I see."), "Were these consecutive shifts?", None, make_policy(policy)
    )
    assert (two.action, two.rule) == (None, "asking")


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.requirement("gate/matrix/post-clarification")
def test_after_clarification_with_four_messages_it_triggers(policy: str) -> None:
    history = (*talk(ABSENT, CALLED, TWICE), Said(Side.PERSON, "They did not answer."))
    assert len(history) == 4
    verdict = decide(history, ADVICE, None, make_policy(policy))
    assert (verdict.action, verdict.state) == ("calendar", State.GUIDING)


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("reply", [ADVICE, "I can draft an email for you."])
@pytest.mark.parametrize(
    "flow",
    [
        pytest.param("calendar", marks=pytest.mark.requirement("gate/rule-4/calendar-flow-guards")),
        pytest.param("email", marks=pytest.mark.requirement("gate/rule-4/email-flow-guards")),
    ],
)
@pytest.mark.requirement("gate/matrix/already-in-flow")
def test_any_active_flow_guards_both_actions(policy: str, reply: str, flow: str) -> None:
    history = (*talk(ABSENT, CALLED, TWICE), Said(Side.PERSON, "They did not answer."))
    verdict = decide(history, reply, flow, make_policy(policy))
    assert (verdict.action, verdict.rule) == (None, "flow_active")


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.requirement("gate/matrix/hypothetical", "gate/hypothetical/hypothetical-example")
def test_a_hypothetical_case_triggers_nothing(policy: str) -> None:
    asked = "What should I do if an employee doesn't show up?"
    advice = "You should call the employee and document it."
    first = judge(asked, advice, policy=policy)
    later = decide(talk(asked, "The handbook has a page on it."), advice, None, make_policy(policy))
    assert (first.action, first.rule) == (None, "depth")
    assert (later.action, later.rule) == (None, "hypothetical")


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.requirement("gate/rule-1/wrong-example")
def test_asking_and_acting_in_one_breath_triggers_nothing(policy: str) -> None:
    reply = "Have you tried calling them? I'll schedule a call for you now..."
    assert after_answer(reply, policy=policy).rule == "asking"
    assert judge(ABSENT, reply, policy=policy).action is None


@pytest.mark.requirement("gate/rule-1/correct-example", "gate/rule-1/sentence-policy")
def test_a_question_an_answer_then_an_offer_triggers() -> None:
    offer = "Thanks for clarifying. Would you like me to schedule that call?"
    verdict = judge(ABSENT, "Have you tried calling them?", TWICE, offer)
    assert (verdict.action, verdict.rule) == ("calendar", "offer")
    assert judge(ABSENT, "Have you tried calling them?").rule == "asking"


@pytest.mark.requirement("gate/rule-1/conservative-policy")
@pytest.mark.parametrize(
    "reply",
    ["Would you like me to schedule that call?", "I can schedule a call. Sound good?", "Draft it?"],
)
def test_any_question_mark_blocks_under_the_conservative_policy(reply: str) -> None:
    verdict = after_answer(reply, policy="conservative")
    assert (verdict.action, verdict.rule) == (None, "question_mark")
    assert after_answer(reply).action is not None


@pytest.mark.requirement("gate/rule-2/minimum-depth")
def test_two_messages_must_be_there_before_the_reply() -> None:
    history = talk(ABSENT, "I am sorry to hear that.")
    policy = make_policy()
    assert decide(history[:1], ADVICE, None, policy).rule == "depth"
    assert decide(history, ADVICE, None, policy).action == "calendar"
    twice_the_person = (Said(Side.PERSON, ABSENT), Said(Side.PERSON, "What now"))
    assert decide(twice_the_person, ADVICE, None, policy).rule == "depth"


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.requirement("gate/rule-2/four-message-walk")
def test_only_the_fourth_message_of_the_walk_triggers(policy: str) -> None:
    walk = talk(ABSENT, CALLED, TWICE, "You should call them again today.")
    verdicts = [decide(walk[:at], walk[at].text, None, make_policy(policy)) for at in (1, 3)]
    assert [one.action for one in verdicts] == [None, "calendar"]


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.requirement("gate/rule-3/worked-example", "gate/rule-3/question-is-last")
def test_the_absence_example_counts_as_gathered_after_the_answer(policy: str) -> None:
    history = talk(ABSENT, CALLED, TWICE)
    assert decide(history, ADVICE, None, make_policy(policy)).action == "calendar"
    cut = decide(history[:2], ADVICE, None, make_policy(policy))
    assert (cut.action, cut.rule) == (None, "unanswered")
    assert [one.where for one in cut.evidence if one.kind == "asking"] == [1]


@pytest.mark.requirement("gate/rule-3/unanswered-blocks", "gate/rule-3/only-the-person-answers")
def test_a_further_message_of_the_assistant_is_no_answer() -> None:
    history = (*talk(ABSENT, CALLED), Said(Side.ASSISTANT, "Take your time."))
    verdict = decide(history, ADVICE, None, make_policy())
    assert (verdict.action, verdict.rule) == (None, "unanswered")


@pytest.mark.requirement("gate/rule-3/never-asked")
def test_who_never_asked_waits_for_no_answer() -> None:
    assert judge(ABSENT, "I am sorry to hear that.", "What now", ADVICE).action == "calendar"


@pytest.mark.requirement("gate/rule-3/last-question-counts")
def test_the_latest_question_must_be_answered() -> None:
    history = (*talk(ABSENT, CALLED, TWICE), Said(Side.ASSISTANT, "Were these consecutive shifts?"))
    assert decide(history, ADVICE, None, make_policy()).rule == "unanswered"
    answered = (*history, Said(Side.PERSON, "Yes, three in a row"))
    assert decide(answered, ADVICE, None, make_policy()).action == "calendar"


@pytest.mark.requirement("gate/clarification/question-marks")
@pytest.mark.parametrize(
    "reply", ["Have you tried calling them?", "Were these consecutive shifts?"]
)
def test_the_example_questions_are_clarification(reply: str) -> None:
    assert after_answer(reply).rule == "asking"


@pytest.mark.requirement("gate/clarification/phrases")
@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize(
    "phrase",
    [
        "Just to make sure, they knew the rota.",
        "Just to confirm, this was on Monday.",
        "Can you clarify when it began.",
        "Need to know how long they were away.",
        "Could you provide the dates.",
    ],
)
def test_clarifying_phrases_ask_without_a_question_mark(phrase: str, policy: str) -> None:
    assert after_answer(f"{phrase} I can schedule a call.", policy=policy).rule == "asking"


@pytest.mark.requirement(
    "gate/clarification/rhetorical-offer", "gate/clarification/question-with-action-words"
)
def test_advice_with_a_question_about_when_is_an_offer() -> None:
    reply = "You should call them — when do you want to schedule that?"
    assert (after_answer(reply).action, after_answer(reply).rule) == ("calendar", "offer")
    assert after_answer("When do you want to talk about it?").rule == "asking"


@pytest.mark.requirement("gate/triggers/calendar-offers")
@pytest.mark.parametrize(
    "reply",
    [
        "Would you like me to schedule that call?",
        "I can schedule a call for you...",
        "Let me check your calendar...",
    ],
)
def test_calendar_offers_are_strong(reply: str) -> None:
    assert (after_answer(reply).action, after_answer(reply).rule) == ("calendar", "offer")


@pytest.mark.requirement("gate/triggers/calendar-recommendation")
def test_advice_to_call_is_the_weaker_kind() -> None:
    verdict = after_answer("You should call the employee...")
    assert (verdict.action, verdict.rule) == ("calendar", "recommendation")


@pytest.mark.requirement("gate/triggers/email-offers", "gate/overview/two-actions")
@pytest.mark.parametrize(
    "reply",
    ["Would you like me to draft an email?", "I can help you send a written warning..."],
)
def test_email_offers_are_strong(reply: str) -> None:
    assert (after_answer(reply).action, after_answer(reply).rule) == ("email", "offer")


@pytest.mark.requirement("gate/triggers/email-recommendation")
def test_advice_to_send_an_email_triggers_email() -> None:
    assert after_answer("You should send an email documenting this...").action == "email"


@pytest.mark.requirement("gate/triggers/no-signal")
def test_a_reply_without_a_signal_opens_nothing_however_deep() -> None:
    deep = [ABSENT, CALLED] + ["They are back.", "Good to hear."] * 8
    verdict = judge(*deep, "Thanks", "Keep an eye on it.")
    assert (verdict.action, verdict.rule) == (None, "no_action_words")


@pytest.mark.requirement("gate/hypothetical/active-example")
def test_the_active_example_triggers_once_depth_and_answer_are_met() -> None:
    reply = "You should call the employee. Would you like me to schedule that?"
    assert judge("My employee didn't show up.", reply).rule == "depth"
    assert judge("My employee didn't show up.", CALLED, "No", reply).action == "calendar"


@pytest.mark.requirement("gate/multiple-actions/example", "gate/multiple-actions/one-per-turn")
@pytest.mark.parametrize("policy", BOTH)
def test_documenting_by_email_then_a_call_opens_email_alone(policy: str) -> None:
    verdict = after_answer(
        "Document this via email, then schedule a call with them...", policy=policy
    )
    assert verdict.action == "email"


@pytest.mark.requirement(
    "gate/multiple-actions/email-first", "gate/multiple-actions/calendar-otherwise"
)
def test_email_wins_and_the_calendar_is_next() -> None:
    assert after_answer("Call them today. I can also draft an email.").action == "email"
    assert after_answer("Call them today. Do not email them.").action == "calendar"
    assert after_answer("Call them today.").action == "calendar"


@pytest.mark.requirement("gate/same-reply/example-blocked")
@pytest.mark.parametrize("policy", BOTH)
def test_asking_for_confirmation_then_offering_triggers_nothing(policy: str) -> None:
    reply = (
        "Just to confirm - you've already called twice? In that case,\n"
        "let me schedule a follow-up call for you..."
    )
    assert after_answer(reply, policy=policy).rule == "asking"


@pytest.mark.requirement("gate/same-reply/separated")
@pytest.mark.parametrize("policy", BOTH)
def test_the_same_in_two_turns_triggers_in_the_second(policy: str) -> None:
    asked = "Just to confirm - you've already called twice?"
    assert judge(ABSENT, asked, policy=policy).rule == "asking"
    verdict = judge(ABSENT, asked, "Yes", "Got it. Let me schedule that call...", policy=policy)
    assert (verdict.action, verdict.state) == ("calendar", State.GUIDING)


@pytest.mark.requirement("gate/same-reply/per-sentence")
def test_a_verdict_gives_the_span_of_each_sentence_that_counted() -> None:
    reply = "Thanks. Were these consecutive shifts? I can schedule a call."
    spans = {one.kind: one for one in after_answer(reply).evidence}
    assert spans["asking"].quote == "Were these consecutive shifts?"
    assert spans["offer"].quote == "schedule a call"
    assert all(reply[one.start : one.end] == one.quote for one in spans.values())


@pytest.mark.requirement("gate/integration/sufficiency-from-state")
def test_the_same_conversation_always_gets_the_same_verdict() -> None:
    first = after_answer(ADVICE)
    for _ in range(3):
        judge("Other words", "Something else.", "Yes", "Call her today.")
        assert after_answer(ADVICE) == first


@pytest.mark.requirement("gate/hypothetical/decided-by-the-gate", "gate/hypothetical/possessives")
@pytest.mark.parametrize("whose", ["My employee", "Our new trainer", "One of my people"])
def test_possessives_of_the_person_mark_an_active_case(whose: str) -> None:
    assert judge(f"{whose} did not come in.", CALLED, "No", ADVICE).action == "calendar"
    assistant_says_it = judge("A no-show.", "Is it about my team?", "No", ADVICE)
    assert (assistant_says_it.action, assistant_says_it.rule) == (None, "not_active")


@pytest.mark.requirement("gate/hypothetical/names")
@pytest.mark.parametrize(
    "texts",
    [
        ("Dana didn't show up today.", CALLED, "No"),
        ("I am worried about Dana.", CALLED, "No"),
        ("Dana's shift was not covered.", CALLED, "No"),
        ("I worry about Dana.", "Noted.", "What if someone is ill?", "Then they stay home.",
         "She did not come today."),
    ],
)  # fmt: skip
def test_names_and_pronouns_bound_to_them_mark_an_active_case(texts: tuple[str, ...]) -> None:
    assert judge(*texts, ADVICE).action == "calendar"


def test_a_pronoun_that_stands_for_nobody_marks_nothing() -> None:
    assert judge("They did not come.", "I see.", "So", ADVICE).rule == "not_active"


@pytest.mark.requirement("gate/hypothetical/hypothetical-frame")
@pytest.mark.parametrize(
    "text",
    [
        "What if my employee does not show up?",
        "Suppose our trainer leaves early.",
        "Should I ever call my employee at home?",
        "Let's say my employee is late every day.",
        "If my employee quits, who covers the desk?",
        "What is our policy on absences?",
    ],
)
def test_a_hypothetical_frame_outweighs_a_possessive(text: str) -> None:
    assert judge(text, "I see.", "So", ADVICE).rule == "hypothetical"


def test_a_later_imagined_case_outweighs_an_earlier_report_in_one_message() -> None:
    mixed = "My team is doing well. What if someone does not show up?"
    assert judge(mixed, "I see.", "So", ADVICE).rule == "hypothetical"
    same = "My employee did not come. What should I do if it happens again?"
    assert judge(same, "I see.", "So", ADVICE).action == "calendar"
