"""Agent 2, scam: levels, patterns with their spans, escalation across turns, and when it is due."""

import io
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter

from salon.blackboard.triggers import AnyOf, Every, Holds
from salon.conversation.discussion import Discussion, Utterance
from salon.core.absent import Absent
from salon.core.errors import IntegrityFailed
from salon.steps.given import HISTORY, MESSAGE, USER
from salon.steps.scam import LEVELS, STEP, ScamReading, read_scam, said_before, scam_risk
from salon.steps.scam_model import WEIGHTS, load_words, shipped_words, words_only
from tests.steps.readings import GivenView

TEXTBOOK = (
    "My love, you are my soulmate. Please send money right now, wire it via bitcoin, it is urgent "
    "for the hospital bill"
)
HARMLESS = "I had a great time with my friends online today, the app is nice"


@pytest.mark.requirement("companion/scam/warning-level", "companion/scam/risk-score")
def test_a_textbook_romance_scam_is_high_and_a_harmless_sentence_is_none() -> None:
    scam, harmless = scam_risk([TEXTBOOK]), scam_risk([HARMLESS])
    assert scam.scam_warning_level == "high"
    assert harmless.scam_warning_level == "none"
    assert harmless.scam_patterns == ()
    assert 0 <= harmless.scam_risk_score < scam.scam_risk_score <= 1


@pytest.mark.parametrize(
    ("messages", "level"),
    [
        (["I have never felt like this", "My son is ill, could you wire it today?"], "high"),
        (["Please don't tell your family about us", "I need gift cards to call you"], "high"),
        (["Start with 2000 on this", "my cousin has inside information"], "high"),
        (["亲爱的 你是我的灵魂伴侣", "请马上转账给我"], "high"),
        (["I'm a soldier in Syria, someone pays the leave fee and I come home"], "medium"),
        (["Could you lend me 50 dollars until Monday?"], "low"),
        (["Happy birthday, see you forever and a day, honey"], "none"),
        (["Can you transfer the rent? It is due", "Thanks, see you at dinner"], "none"),
        (["My hospital bill was huge this year"], "none"),
        (["Is it a scam if someone on a dating site asks for bitcoin?"], "none"),
        (["I was scammed last year and lost my savings"], "none"),
        (["No, I will never send you money"], "none"),
        (["今天天气很好 我们一起吃饭吧"], "none"),
    ],
    ids=[
        "love then money", "secrecy then gift cards", "insider investment", "chinese romance",
        "pretext", "a loan", "affection", "rent", "a bill", "question about scams", "victim",
        "refusal", "chinese small talk",
    ],
)  # fmt: skip
def test_levels(messages: list[str], level: str) -> None:
    assert scam_risk(messages).scam_warning_level == level
    assert level in LEVELS


@pytest.mark.requirement("companion/scam/patterns")
def test_every_pattern_carries_the_words_that_showed_it_and_the_turn_they_were_said_in() -> None:
    messages = ["You are my soulmate", "How was your day?", "Could you wire money to me"]
    found = scam_risk(messages)
    assert found.scam_patterns == ("love_bombing", "money_request", "fast_intimacy_money")
    for span in found.spans:
        said = messages[len(messages) - 1 + span.turn_offset]
        assert said[span.start : span.end] == span.quote
    assert {(one.quote, one.turn_offset) for one in found.spans} == {
        ("soulmate", -2),
        ("wire money", 0),
    }


def test_love_and_money_count_more_the_closer_they_come() -> None:
    between = ["The weather is fine"] * 5
    near = scam_risk(["You are my soulmate", "please wire money"])
    far = scam_risk(["You are my soulmate", *between, "please wire money"])
    assert "fast_intimacy_money" in near.scam_patterns
    assert "fast_intimacy_money" not in far.scam_patterns
    assert near.scam_risk_score > far.scam_risk_score


def test_risk_grows_from_turn_to_turn_as_the_story_unfolds() -> None:
    story = [
        "You have such a kind smile",
        "I think you are the love of my life",
        "I work on an oil rig, so I cannot video call",
        "My account was frozen, can you send me 400 dollars",
        "It is urgent, and please don't tell your sister or your family",
    ]
    scores = [scam_risk(story[: turn + 1]).scam_risk_score for turn in range(len(story))]
    assert scores == sorted(scores)
    assert scores[0] < 0.1
    assert scam_risk(story[:4]).scam_warning_level == "high"


def test_what_was_said_more_than_ten_turns_ago_is_not_read() -> None:
    old = scam_risk([TEXTBOOK, *["The garden needs water"] * 11])
    assert old.scam_warning_level == "none"
    assert old.spans == ()


def test_without_a_strong_pattern_nothing_rises_above_low() -> None:
    words = "winner prize bonus reward exclusive lucrative commission invest deposit fee payment"
    assert scam_risk([words, "login website portal secret asap"]).scam_warning_level in {
        "none",
        "low",
    }


def test_nothing_said_is_no_risk() -> None:
    assert scam_risk([]) == ScamReading(
        scam_risk_score=0.0, scam_warning_level="none", scam_patterns=(), spans=()
    )


@pytest.mark.requirement("companion/scam/reads")
def test_the_step_reads_the_person_and_not_the_companion() -> None:
    history = Discussion(
        utterances=(
            Utterance(role="user", content="You are my soulmate"),
            Utterance(role="Mina", content="Please wire money to me"),
        )
    )
    view = GivenView(STEP, {MESSAGE: "Good night", HISTORY: history, USER: "ada"})
    found = read_scam(view)
    assert isinstance(found, ScamReading)
    assert found.scam_patterns == ("love_bombing",)
    assert found.spans[0].turn_offset == -1


@pytest.mark.requirement("companion/scam/reads")
def test_the_step_reads_at_most_the_last_ten_turns_and_the_message() -> None:
    said = tuple(Utterance(role="Ada", content=f"number {one}") for one in range(14))
    assert said_before(Discussion(utterances=said), "ada") == tuple(
        f"number {one}" for one in range(4, 14)
    )


def test_without_a_message_the_step_says_why_there_is_no_reading() -> None:
    found = read_scam(GivenView(STEP, {}))
    assert isinstance(found, Absent)


@pytest.mark.requirement("companion/scam/trigger")
def test_the_step_is_due_every_second_turn_and_at_once_for_money_links_or_secrecy() -> None:
    assert isinstance(STEP.when, AnyOf)
    every, holds = STEP.when.triggers
    assert every == Every(2)
    assert isinstance(holds, Holds)
    assert holds.slot == MESSAGE
    assert holds.test("keep this between us")
    assert not holds.test("good morning")


def test_the_same_messages_give_the_same_bytes() -> None:
    adapter = TypeAdapter(ScamReading)
    first, second = (adapter.dump_json(scam_risk([HARMLESS, TEXTBOOK])) for _ in range(2))
    assert first == second
    assert adapter.validate_json(first) == scam_risk([HARMLESS, TEXTBOOK])


def test_the_trained_words_ignore_marks_digits_and_capitals() -> None:
    assert words_only(["WIN 500!!! NOW"]).split() == ["win", "now"]
    words = shipped_words()
    assert words.probability(["Claim your prize now"]) == words.probability(
        ["CLAIM your PRIZE now!"]
    )
    assert words.probability(["claim your free prize, call this number now"]) > 0.5
    assert words.probability([]) < 0.2
    assert words.probability(["qzxvqq"]) == 0.0


def test_weights_that_are_damaged_give_one_clear_error(tmp_path: Path) -> None:
    content = WEIGHTS.read_bytes()
    cut, empty, odd = tmp_path / "cut.npz", tmp_path / "empty.npz", tmp_path / "odd.npz"
    cut.write_bytes(content[: len(content) // 2])
    empty.write_bytes(b"")
    with np.load(io.BytesIO(content)) as arrays:
        kept = {name: arrays[name] for name in arrays.files}
    np.savez(odd, **{**kept, "weight": kept["weight"][:-1]})
    for path in (cut, empty, odd, tmp_path / "missing.npz"):
        with pytest.raises(IntegrityFailed, match=f"the scam weights {path.name} cannot be used"):
            load_words(path)
