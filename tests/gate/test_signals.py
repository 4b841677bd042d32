"""What counts as asking, offering and recommending: cases in our own words, for both actions."""

import pytest

from salon.gate.lexicon import lexicon_of
from salon.gate.messages import read_message
from salon.gate.policy import make_policy
from salon.gate.signals import normal, read_reply
from tests.gate.saying import after_answer

POLICY = make_policy()
LEXICON = lexicon_of(POLICY.actions, POLICY.language)

CALENDAR = [
    ("Let's schedule a call for tomorrow.", "calendar", "offer"),
    ("I'd be happy to set up a call with them.", "calendar", "offer"),
    ("Shall I arrange a call?", "calendar", "offer"),
    ("Want me to schedule a meeting?", "calendar", "offer"),
    ("I can find available times this week.", "calendar", "offer"),
    ("I will check your calendar now.", "calendar", "offer"),
    ("Schedule that call?", "calendar", "offer"),
    ("If you'd like, I can book a time.", "calendar", "offer"),
    ("When would you like to schedule the call?", "calendar", "offer"),
    ("I can schedule a meeting for Tuesday. Does that work?", "calendar", "offer"),
    ("You need to call your employee before noon.", "calendar", "recommendation"),
    ("The next step is to call them.", "calendar", "recommendation"),
    ("Give them a call this afternoon.", "calendar", "recommendation"),
    ("Try calling once more.", "calendar", "recommendation"),
    ("I suggest calling Dana.", "calendar", "recommendation"),
    ("Reach out to your employee in person.", "calendar", "recommendation"),
    ("Please get in touch with them.", "calendar", "recommendation"),
    ("Make a second call and note the time.", "calendar", "recommendation"),
    ("Don't hesitate to contact them.", "calendar", "recommendation"),
    ("Call them, and make sure you have your notes.", "calendar", "recommendation"),
    (
        "1. Write down the dates.\n2. Call the employee.\n3. Keep a copy.",
        "calendar",
        "recommendation",
    ),
    ("Dr. Smith agrees. You should call her today.", "calendar", "recommendation"),
    ("That is clear.You should call them.", "calendar", "recommendation"),
    ("Call Dana today.", "calendar", "recommendation"),
    ("Don't call them yet.", None, "negation"),
    ("There is no need to call the employee.", None, "negation"),
    ("I would hold off on scheduling a call.", None, "negation"),
    ("A phone call is not necessary; you should wait.", None, "negation"),
    ("You should wait rather than call them.", None, "negation"),
    ("They will call your employee line.", None, "reverse"),
    ("Your employee should call the manager.", None, "reverse"),
    ("Ask them to call the manager on duty.", None, "reverse"),
    ("Dana said that you called them on Monday.", None, "past"),
    ("After the phone call you made, nothing is left to do.", None, "past"),
    ("If she stays away again, call her.", None, "condition"),
    ("Call them if it happens a third time.", None, "condition"),
    ('The handbook says "call the employee within a day".', None, "quotation"),
    ("You can reach them at 555-010-9988.", None, "address"),
    ("The phone call log is in the office.", None, "address"),
    ("The handbook explains how to schedule a call.", None, "mention"),
    ("Phone calls are recorded by the front desk.", None, "mention"),
    ("Have you tried calling them?", None, "asking"),
    ("Did you call the employee", None, "asking"),
    ("Is it fine to call them at home?", None, "asking"),
    ("What about the second shift", None, "asking"),
]
EMAIL = [
    ("Want me to draft an email?", "email", "offer"),
    ("I can draft a message to them.", "email", "offer"),
    ("I can help you write to them.", "email", "offer"),
    ("Here's an email template for that.", "email", "recommendation"),
    ("Draft it?", "email", "offer"),
    ("Shall I send it?", "email", "offer"),
    ("Let me put together an email for you.", "email", "offer"),
    ("Follow up in writing today.", "email", "recommendation"),
    ("Send them an email with the dates.", "email", "recommendation"),
    ("Email the employee this afternoon.", "email", "recommendation"),
    ("You should email them.", "email", "recommendation"),
    ("Put it in writing.", "email", "recommendation"),
    ("Shoot them an email.", "email", "recommendation"),
    ("Send a written notice.", "email", "recommendation"),
    ("Follow up with an email after the call.", "email", "recommendation"),
    ("You should send an email to confirm the dates.", "email", "recommendation"),
    ("Document everything by email.", "email", "recommendation"),
    ("Don't email them yet.", None, "negation"),
    ("Do not call, text or email them.", None, "negation"),
    ("They will email the employee portal.", None, "reverse"),
    ("HR will send an email tomorrow.", None, "reverse"),
    ("You sent an email last week.", None, "past"),
    ("You emailed them already.", None, "past"),
    ("If he does not answer, send an email.", None, "condition"),
    ('The template begins with "send an email to all".', None, "quotation"),
    ("You can email them at help@example.org.", None, "address"),
    ("The email address is on the door.", None, "address"),
    ("The email system is down today.", None, "address"),
    ("Which policy do you mean", None, "asking"),
    ("What type of warning was it", None, "asking"),
    ("Did you send an email?", None, "asking"),
]


@pytest.mark.parametrize(("reply", "action", "rule"), CALENDAR, ids=[one[0] for one in CALENDAR])
def test_calendar_words_count_when_they_mean_it(reply: str, action: str | None, rule: str) -> None:
    verdict = after_answer(reply)
    assert (verdict.action, verdict.rule) == (action, rule)


@pytest.mark.parametrize(("reply", "action", "rule"), EMAIL, ids=[one[0] for one in EMAIL])
def test_email_words_count_when_they_mean_it(reply: str, action: str | None, rule: str) -> None:
    verdict = after_answer(reply)
    assert (verdict.action, verdict.rule) == (action, rule)


def test_a_refused_action_leaves_the_other_one_open() -> None:
    assert after_answer("Don't email them, call them instead.").action == "calendar"
    assert after_answer("Don't call them, send an email instead.").action == "email"


@pytest.mark.parametrize(
    "reply",
    [
        "Make sure you have your notes. You should call them.",
        "Here is what you need to know: you should call them.",
        "Send an email to confirm the date.",
        "Let me know if anything changes. You should call them.",
    ],
)
def test_words_that_only_look_like_a_question_do_not_block(reply: str) -> None:
    assert after_answer(reply).action is not None


@pytest.mark.parametrize(
    ("reply", "is_asking"),
    [
        ("Just to confirm, would you like me to schedule that call?", False),
        ("Just to confirm, you called twice, and would you like me to schedule that call?", True),
        ("I can schedule a call. Sound good?", False),
        ("You were right. Sound good?", True),
        ('Ask them "can you come in?" and write the answer down.', False),
        ("are you looking for a form", True),
        ("Are there others. I can schedule a call.", False),
    ],
)
def test_asking_is_judged_by_what_a_sentence_is_for(reply: str, is_asking: bool) -> None:
    assert bool(read_reply(reply, LEXICON).asking) is is_asking


@pytest.mark.parametrize(
    ("text", "requests", "refusals"),
    [
        ("Please schedule a call with Dana", {"calendar"}, set()),
        ("Can you draft an email?", {"email"}, set()),
        ("Help me schedule something", {"calendar"}, set()),
        ("Schedule a call and send them an email", {"calendar"}, set()),
        ("Should I call them?", set(), set()),
        ("Do I need to send an email?", set(), set()),
        ("Don't call them yet", set(), {"calendar"}),
        ("Let's not email them", set(), {"email"}),
        ("I did not call them", set(), set()),
        ("I called them twice", set(), set()),
        ('She said "schedule a call"', set(), set()),
        ("What if you schedule a call?", set(), set()),
        ("No emails please, just book a call", {"calendar"}, {"email"}),
    ],
)
def test_what_the_person_asks_for_and_turns_down(
    text: str, requests: set[str], refusals: set[str]
) -> None:
    reading = read_message(text, LEXICON)
    assert (set(reading.requests), set(reading.refusals)) == (requests, refusals)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I spoke to Dana and Omar on Monday", {"Dana", "Omar"}),
        ("Dana was late", {"Dana"}),
        ("Thanks for that", set()),
        ("HR and Outlook know", set()),
        ("Where Is The Form For Leave", set()),
        ("Omar\u2019s shift", {"Omar"}),
    ],
)
def test_names_are_told_from_other_capitals(text: str, names: set[str]) -> None:
    assert set(read_message(text, LEXICON).names) == names


@pytest.mark.parametrize("text", ["İstanbul\u2019da ARA", "Don\u2019t CALL", "ẞtraße", "plain"])
def test_lower_case_keeps_every_place(text: str) -> None:
    assert len(normal(text)) == len(text)
    assert "\u2019" not in normal(text)
