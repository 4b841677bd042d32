"""What is shown of a reply, on any platform and on each."""

import json
import re
import warnings
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from salon.core.citations import Citation
from salon.core.errors import InvalidInput
from salon.core.hashing import CardHash
from salon.core.outcomes import Outcome
from salon.experts.replies import Reply
from salon.platforms.rendering import (
    Kind,
    plain_text,
    shorten,
    show_error,
    show_reply,
    split_text,
)

CITED = Citation(
    hash=CardHash("ab" * 32), start=3, end=40, quote="The toll is three crowns.",
    source="A Speech at the Bridge", page=7,
)  # fmt: skip
REPLY = Reply(
    response="The toll is three crowns.", citations=(CITED,), claims=(), confidence="high",
    outcome=Outcome.ANSWERED, ai_label="AI avatar of Ada Berg.", avatar="ada-berg",
    composer="extractive", score=0.9,
)  # fmt: skip
HOSTILE = "<!channel> <@U2> <https://evil.test|click> & @everyone [x](https://evil.test) **b** `c`"


def test_an_answer_shows_its_sources_and_its_label() -> None:
    shown = show_reply(REPLY, "Ada Berg", note="a note")
    assert (shown.kind, shown.heading) == (Kind.ANSWER, None)
    assert shown.notes == ("a note",)
    assert shown.sources[0].title == "A Speech at the Bridge, page 7"
    assert shown.sources[0].place == f"{'ab' * 8}… bytes 3 to 40"
    text = plain_text(shown)
    for part in ("three crowns", "[1]", "page 7", "AI avatar of Ada Berg.", "confidence high"):
        assert part in text


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.ANSWERED])
def test_every_other_outcome_has_a_heading_of_its_own(outcome: Outcome) -> None:
    shown = show_reply(replace(REPLY, outcome=outcome, redirect="Ask Ole."), "Ada Berg")
    assert shown.kind is Kind.OUTCOME
    assert shown.heading
    assert "Ask Ole." in shown.notes
    assert str(outcome) in shown.label


def test_an_error_says_what_to_do_and_that_an_ai_says_it() -> None:
    shown = show_error(InvalidInput("too long", hint="shorter"), "Ada Berg")
    assert shown.kind is Kind.REFUSAL
    assert "AI" in plain_text(shown)
    assert "shorter" in plain_text(shown)
    assert show_error(InvalidInput("too long"), "Ada Berg").notes == ()


@given(st.text(min_size=0, max_size=400), st.integers(10, 60))
def test_pieces_are_short_enough_and_nothing_but_spaces_is_lost(text: str, most: int) -> None:
    pieces = split_text(text, most)
    assert all(len(one) <= most for one in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_a_text_is_cut_between_sentences_or_words() -> None:
    assert split_text("One two. Three four. Five six.", 22) == ["One two. Three four.", "Five six."]
    assert split_text("onetwo threefour", 12) == ["onetwo", "threefour"]
    assert shorten("abcdef", 4) == "abc…"


def long_reply() -> Reply:
    sentence = "The garden has thirty members & <no more>. "
    cites = tuple(replace(CITED, quote=f"{number} {sentence * 30}") for number in range(40))
    return replace(REPLY, response=sentence * 300, citations=cites, suggestion="Ask again.")


def slack_limits_hold(blocks: list[dict[str, object]]) -> None:
    assert len(blocks) <= 50
    for block in blocks:
        if "text" in block:
            text = block["text"]
            assert isinstance(text, dict)
            assert 0 < len(text["text"]) <= 3000


def test_slack_takes_a_long_reply_in_several_messages_each_labelled() -> None:
    pytest.importorskip("slack_bolt")
    from salon.platforms.slack_text import fallback, messages

    shown = show_reply(long_reply(), "Ada Berg")
    made = messages(shown, asked="why?")
    assert len(made) > 1
    for blocks in made:
        slack_limits_hold(blocks)
        assert shown.label in json.dumps(blocks, ensure_ascii=False)
    assert len(fallback(shown)) < 40_000


def test_slack_reads_and_writes_nothing_but_text() -> None:
    pytest.importorskip("slack_bolt")
    from salon.platforms.slack_text import escape, fallback, mentioned, messages, read, unescape

    cited = replace(CITED, quote=HOSTILE, source=HOSTILE)
    shown = show_reply(replace(REPLY, response=HOSTILE, citations=(cited,)), HOSTILE)
    whole = json.dumps(messages(shown, asked=HOSTILE)) + fallback(shown)
    assert not re.search(r"<[@!#h]", whole)
    assert unescape(escape(HOSTILE)) == HOSTILE
    text = "<@U1> <@U2|bo> in <#C1|hall> <#C2> <!here> <!subteam^S1|@us> <https://a.test> &amp;"
    assert mentioned(text) == ["U1", "U2"]
    assert read(text, str.lower) == "@u1 @u2 in #hall #C2 @here @us https://a.test &"


@given(st.text())
def test_slack_reads_any_text(text: str) -> None:
    pytest.importorskip("slack_bolt")
    from salon.platforms.slack_text import escape, read, unescape

    read(text, str.lower)
    assert unescape(escape(text)) == text
    assert not set(escape(text)) & set("<>")


def import_discord() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
        pytest.importorskip("discord")


def test_discord_takes_a_long_reply_in_several_messages_each_labelled() -> None:
    import_discord()
    from salon.platforms.discord_text import embeds

    made = embeds(show_reply(long_reply(), "Ada Berg"), asked="why? " * 500)
    assert len(made) > 1
    for one in made:
        assert len(one) <= 6000
        assert len(one.description or "") <= 4096
        assert len(one.fields) <= 25
        assert all(0 < len(field.value or "") <= 1024 for field in one.fields)
        assert all(0 < len(field.name or "") <= 256 for field in one.fields)
        assert one.footer.text
        assert "AI" in one.footer.text
        assert one.author.name == "Ada Berg (AI)"


def test_discord_is_given_nothing_but_text() -> None:
    import_discord()
    from salon.platforms.discord_text import embeds, escape, unescape

    cited = replace(CITED, quote=HOSTILE)
    (made,) = embeds(show_reply(replace(REPLY, response=HOSTILE, citations=(cited,)), "Ada"))
    for text in (made.description or "", made.fields[0].value or ""):
        assert "@everyone" not in text
        assert not re.search(r"(?<!\\)[<\[*`]", text)
    assert unescape(escape(HOSTILE)) == HOSTILE
