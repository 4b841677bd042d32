"""Learning from a reviewer's file."""

from pathlib import Path

import pytest

from salon.archive.sqlite_archive import SqliteArchive
from salon.core.errors import InvalidDocument, InvalidInput
from salon.gate.feedback import (
    HANDLE,
    find_feedback_gate,
    learn,
    parse_feedback_gate,
    rates_of,
    read_feedback,
    rule_rates,
    save_feedback_gate,
)
from salon.gate.learned import LearnedDecision, within_rules
from salon.gate.policy import make_policy
from tests.gate.saying import ABSENT, CALLED, TWICE, after_answer, judge, talk

HEAD = "Turn,User,ERA,Improvement,Label\n"
EXAMPLE = (
    HEAD
    + '2,"My employee is absent","Have you called?","Calendar too early",should_trigger=False\n'
    + '4,"Yes I called","Thanks. Schedule call?","Good timing",should_trigger=True\n'
)


def _many() -> bytes:
    lines = [HEAD]
    names = ("employee", "trainer", "manager", "coach", "cashier", "driver")
    for name in names:
        early = f"I can schedule a call with your {name} now."
        lines += [
            f'2,"My {name} is absent","{early}","Too early",should_trigger=False\n',
            f'2,"My {name} is late","You should call them.","Too early",should_trigger=False\n',
            f'4,"Yes, twice","I can schedule a call with the {name}.","Good",should_trigger=True\n',
            f'6,"No answer","You should call your {name} again.","Good",should_trigger=True\n',
        ]
    return "".join(lines).encode()


@pytest.mark.requirement("gate/learned/feedback-file", "gate/learned/feedback-labels")
def test_the_two_example_rows_are_a_negative_and_a_positive() -> None:
    rows = read_feedback(EXAMPLE.encode())
    assert [(one.turn, one.should_trigger) for one in rows] == [(2, False), (4, True)]
    assert rows[0].user == "My employee is absent"
    assert rows[1].improvement == "Good timing"
    assert [one.line for one in rows] == [2, 3]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "line 1"),
        (b"a,b\n", "line 1: the columns are a, b"),
        (HEAD.encode(), "no rows"),
        (
            b"Turn,User Message,ERA Response,Improvement Notes,Category,Timestamp\n1,a,b,c,d,x\n",
            "categories of improvement",
        ),
        (HEAD.encode() + b"2,a,b,c\n", "line 2: 4 cells"),
        (HEAD.encode() + b"2,a,b,c,yes\n", "line 2: the label"),
        (HEAD.encode() + b"x,a,b,c,should_trigger=True\n", "line 2: 'x' is no turn"),
        (HEAD.encode() + b"2,a,,c,should_trigger=True\n", "line 2: the message or the reply"),
        (HEAD.encode() + b'2,"a,b,c,should_trigger=True\n', "line 2"),
        (b"\xff\xfe", "not UTF-8"),
        (b"x" * 2_000_001, "too large"),
    ],
    ids=range(11),
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(content: bytes, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        read_feedback(content)


@pytest.mark.parametrize("content", [EXAMPLE.encode(), _many().replace(b"=True", b"=False")])
def test_too_little_to_learn_from_is_said(content: bytes) -> None:
    with pytest.raises(InvalidInput, match="too few"):
        learn(read_feedback(content))


@pytest.mark.requirement("gate/learned/feedback-rows-learned", "gate/learned/signature")
def test_early_triggers_marked_wrong_are_withheld_on_rows_held_back() -> None:
    made = learn(read_feedback(_many()))
    assert (made.positives, made.negatives) == (12, 12)
    assert made.rates.premature == 0.0
    assert made.rates.missed == 0.0
    assert made.rates.held_back == "each row by a model of all others"
    early = made.consider(talk("My nurse is absent"), "I can schedule a call with your nurse now.")
    late = made.consider(talk(ABSENT, CALLED, TWICE), "I can schedule a call with your nurse.")
    assert (early.should_trigger, early.context_sufficient) == (False, False)
    assert (late.should_trigger, late.context_sufficient) == (True, True)
    assert early.probability < 0.5 < late.probability


def test_many_rows_are_judged_by_folds() -> None:
    rows = read_feedback(_many()) * 3
    shown: list[tuple[int, int]] = []
    made = learn(rows, on_progress=lambda done, total: shown.append((done, total)))
    assert made.rates.held_back == "5 folds"
    assert shown[-1] == (5, 5)


def test_rates_are_those_that_can_be_counted_by_hand() -> None:
    rates = rates_of([True, True, False, False, False], [True, False, True, False, False], "x")
    assert (rates.missed, rates.premature) == (0.5, 0.333333)
    assert rates_of([], [], "x").premature == 0.0


def test_the_rules_alone_are_judged_on_the_same_rows() -> None:
    rows = read_feedback(_many())
    rates = rule_rates(rows, make_policy())
    assert (rates.premature, rates.rows) == (0.0, 24)
    assert rates.missed < 1.0


@pytest.mark.requirement("gate/learned/inside-the-rules")
def test_what_was_learned_withholds_or_suggests_and_never_opens() -> None:
    yes = LearnedDecision(context_sufficient=True, should_trigger=True, probability=0.9)
    no = LearnedDecision(context_sufficient=False, should_trigger=False, probability=0.1)
    allowed = after_answer("I can schedule a call.")
    assert within_rules(allowed, yes) == allowed
    held = within_rules(allowed, no)
    assert (held.action, held.rule, held.state) == (None, "learned", allowed.state)
    for blocked in (
        judge(ABSENT, "I can schedule a call."),
        judge(ABSENT, CALLED),
        after_answer("Don't call them yet."),
        after_answer("I can schedule a call.", flow="email"),
    ):
        assert within_rules(blocked, yes).action is None
        assert not within_rules(blocked, yes).is_suggested
    plain = within_rules(after_answer("That is on page four."), yes)
    assert (plain.action, plain.is_suggested) == (None, True)
    assert within_rules(after_answer("That is on page four."), no).is_suggested is False


def test_what_was_learned_is_kept_behind_a_handle(tmp_path: Path) -> None:
    made = learn(read_feedback(_many()))
    with SqliteArchive(tmp_path / "salon.db") as archive:
        assert find_feedback_gate(archive) is None
        save_feedback_gate(archive, made)
        assert find_feedback_gate(archive) == made
        assert archive.find_handle(HANDLE) is not None


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"kind": "x", "version": 1}', b'{"kind": 1}'])
def test_a_damaged_card_is_said_to_be_one(content: bytes) -> None:
    with pytest.raises(InvalidDocument, match="not what a gate learned"):
        parse_feedback_gate(content)
