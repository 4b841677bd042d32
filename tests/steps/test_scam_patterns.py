"""Word patterns of fraud: whole words, exact spans, and sentences that say nothing of their own."""

import json
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.steps.scam_patterns import (
    LANGUAGES,
    find_cues,
    pattern_names,
    read_patterns,
    shipped_rules,
    wants_a_look,
)


def patterns_in(text: str) -> dict[str, str]:
    return {cue.quote: cue.pattern for cue in find_cues(text)}


@pytest.mark.requirement("companion/scam/patterns")
@pytest.mark.parametrize(
    "text",
    [
        "I met my friends online and stayed in line at the happy museum.",
        "The wireless came from a wired house.",
        "He profited by unprofitable trades.",
        "Her destination was the oneness of things.",
    ],
    ids=["line", "wire", "profit", "destiny"],
)
def test_a_word_inside_another_word_shows_no_pattern(text: str) -> None:
    assert find_cues(text) == ()


def test_a_phrase_is_found_on_whole_words_in_any_case_and_over_line_ends() -> None:
    assert patterns_in("You are my SoulMate.") == {"SoulMate": "love_bombing"}
    assert patterns_in("Could you Send\n Money soon") == {"Send\n Money": "money_request"}


def test_a_curly_apostrophe_reads_like_a_straight_one() -> None:
    curly, straight = "I can\u2019t live without you", "I can't live without you"
    assert [cue.start for cue in find_cues(curly)] == [cue.start for cue in find_cues(straight)]
    assert find_cues(curly)[0].quote == "can\u2019t live without you"


def test_the_longest_strong_phrase_takes_the_place_of_those_inside_it() -> None:
    cues = find_cues("an annual wire transfer")
    assert [(cue.quote, cue.is_strong) for cue in cues] == [("wire transfer", True)]


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("lend me 200 euros until Friday", "money_request"),
        ("just between us, don't let your brother or your bank know", "secrecy"),
        ("write to me at bright-gains.xyz/start", "external_links"),
        ("tell me the verification code", "credential_request"),
        ("a captain on a ship has no time", "inconsistency"),
        ("you get 20 % profit a week", "too_good"),
        ("this is your last chance", "urgency_pressure"),
        ("I never felt this way about anyone", "love_bombing"),
    ],
    ids=lambda one: one if "_" in one else None,
)
def test_each_pattern_knows_more_than_the_literal_phrases(text: str, pattern: str) -> None:
    assert pattern in {cue.pattern for cue in find_cues(text) if cue.is_strong}


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("你是我的灵魂伴侣", "love_bombing"),
        ("请转账到我的银行卡", "money_request"),
        ("扫码加我", "external_links"),
        ("来不及了 赶紧", "urgency_pressure"),
        ("我在海外维和", "inconsistency"),
        ("稳赚不赔", "too_good"),
        ("别告诉你家人", "secrecy"),
        ("把验证码发给我", "credential_request"),
    ],
    ids=lambda one: one if one.isascii() else None,
)
def test_chinese_patterns_need_no_word_boundary(text: str, pattern: str) -> None:
    found = find_cues(text)
    assert pattern in {cue.pattern for cue in found if cue.is_strong}
    assert all(text[cue.start : cue.end] == cue.quote for cue in found)


@pytest.mark.requirement("companion/scam/patterns")
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    "send money",
                    "soulmate",
                    "转账",
                    "İ",
                    "ẞ",
                    "can\u2019t",
                    "http://x.cn",
                    "\n",
                    "! ",
                    ".",
                ]
            ),
            st.text(max_size=8),
        ),
        max_size=12,
    )
)
def test_every_quote_is_exactly_what_stands_at_its_span(parts: list[str]) -> None:
    text = " ".join(parts)
    for cue in find_cues(text):
        assert text[cue.start : cue.end] == cue.quote
    assert {*read_patterns(text).cues} <= {*find_cues(text)}


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("How do romance scams work? Do they ask you to send money?", "about"),
        ("What is phishing and how can I spot a guaranteed return?", "about"),
        ("I was scammed last spring, she made me wire money to a bank", "victim"),
        ("My uncle got conned. It was a gift card thing.", "victim"),
        ("No, I won't send you any money", "refusal"),
        ("Never send money to strangers", "refusal"),
        ("My match asked me to send bitcoin", "report"),
        ("杀猪盘是什么 怎么识别投资平台", "about"),
        ("我被骗了 转账给了他", "victim"),
        ("我不会转账给你", "refusal"),
    ],
    ids=lambda one: one if one in {"about", "victim", "refusal", "report"} else "text",
)
def test_talk_about_fraud_and_refusing_it_show_nothing(text: str, frame: str) -> None:
    reading = read_patterns(text)
    assert frame in reading.frames
    assert reading.cues == ()
    assert reading.unframed == ""


def test_a_frame_does_not_excuse_a_request_beside_it() -> None:
    reading = read_patterns("I was scammed out of my savings. Please send me 900 dollars.")
    assert reading.frames == ("victim",)
    assert [cue.quote for cue in reading.cues] == ["send me 900 dollars"]


def test_a_long_message_is_framed_sentence_by_sentence() -> None:
    long = "Our platform has served families for years. " * 12
    reading = read_patterns(f"{long}How do we prevent fraud? Open an investment plan today.")
    assert "about" in reading.frames
    assert "investment plan" in [cue.quote for cue in reading.cues]


def test_the_one_who_says_it_is_no_scam_is_not_excused() -> None:
    assert read_patterns("This is not a scam, why would you ask? Send money.").frames == ()


def test_an_address_does_not_end_a_sentence() -> None:
    assert read_patterns("I won't click on bad.example.com for you.").unframed == ""


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("we should keep this secret", True),
        ("see https://example.org", True),
        ("could you lend me 20 dollars", True),
        ("我们转账吧", True),
        ("the weather is fine today", False),
    ],
    ids=["secrecy", "link", "money", "chinese", "weather"],
)
def test_money_links_and_secrecy_want_a_look_at_once(text: str, due: bool) -> None:
    assert wants_a_look(text) is due


def test_all_tables_know_the_same_patterns_and_every_composite_is_made_of_them() -> None:
    folder = resources.files("salon.steps").joinpath("language")
    for language in LANGUAGES:
        table = json.loads(folder.joinpath(f"scam_{language}.json").read_text("utf-8"))
        assert set(table["patterns"]) == set(pattern_names())
    rules = shipped_rules()
    assert all(set(one.of) <= set(rules.weights) for one in rules.composites)
    assert list(rules.levels.values()) == sorted(rules.levels.values())
