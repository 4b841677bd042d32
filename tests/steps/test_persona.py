"""The reply: help where it is needed, honest about what it is, made of what is known."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest

from salon.blackboard.slots import Slot
from salon.blackboard.triggers import EVERY_TURN
from salon.conversation.discussion import Discussion, Utterance
from salon.core.absent import Absent
from salon.core.clock import instant
from salon.core.errors import ProviderFailed
from salon.providers.chat.scripted import ScriptedChat
from salon.steps import persona
from salon.steps.discussion import SYNTHESIS, Synthesis
from salon.steps.emotion import EMOTION, EmotionReading
from salon.steps.feature_values import FEATURES
from salon.steps.given import CHAT, HISTORY, MESSAGE, SEED
from salon.steps.memory_recall import MEMORIES, SESSION, Memories, MemoryCitation, RetrievedMemory
from salon.steps.pace import typing_delay
from salon.steps.persona import COMPANION_PROFILE, REPLY, Companion, CompanionReply
from salon.steps.persona_chat import Context, checked, make_prompt
from salon.steps.persona_offline import asks_if_human, echo_of
from salon.steps.probes import PROBES, Probe, Probes
from salon.steps.relationship import RELATIONSHIP
from salon.steps.scam import SCAM, ScamReading
from tests.steps.findings import features, relationship
from tests.steps.trait_talk import feeling
from tests.steps.views import TurnView

ROOT = Path(__file__).parents[2]
MINA = Companion(name="Mina", description="a calm companion who likes to listen.", region="GB")
DAY = instant(datetime(2026, 3, 3, 10, tzinfo=UTC))


def memory(quote: str, *, session: str = "earlier", turn: int = 2, score: float = 0.6) -> Any:
    return RetrievedMemory(
        id=f"mem_{quote}",
        content=quote,
        timestamp=DAY,
        relevance_score=score,
        memory_type="conversation",
        citation=MemoryCitation(
            session=session, turn=turn, start=0, end=len(quote), quote=quote, card="0" * 64
        ),
    )


def reply(
    message: str,
    more: Mapping[Slot[Any], Any] | None = None,
    *,
    turn: int = 9,
    past: Mapping[Slot[Any], Any] | None = None,
    companion: Companion = MINA,
) -> CompanionReply:
    given = {MESSAGE: message, COMPANION_PROFILE: companion, SEED: 7, SESSION: "s", **(more or {})}
    found = persona.reply(TurnView(persona.STEP, given, turn=turn, past=past))
    assert isinstance(found, CompanionReply)
    return found


def said(text: str) -> CompanionReply:
    return CompanionReply(
        response=text, strategy="Engage", is_crisis=False, delay_s=0.0, ai_label="AI"
    )


# Help


def test_a_cry_for_help_gets_the_fixed_reply_and_no_persona() -> None:
    chat = ScriptedChat(["I will cheer you up!"])
    found = reply("I want to kill myself", {CHAT: chat, EMOTION: feeling("sadness")})
    assert found.is_crisis
    assert "116 123" in found.response
    assert "I am an AI" in found.response
    assert "Mina" not in found.response
    assert chat.asked == []


def test_help_does_not_wait_for_the_typing_pace() -> None:
    paced = Companion(name="Mina", description="", typing_pace=True)
    assert reply("I want to kill myself", companion=paced).delay_s == 0.0


# What it is

ASKED = (
    "Are you a real person?", "are you human", "r u a bot?", "Am I talking to a robot?",
    "is this an AI", "You're not real, right?", "what are you?", "Do you have feelings?",
    "Who made you?", "human or AI?", "Is somebody really typing this?", "be honest, you're a bot",
    "Are you ChatGPT or what? are you gpt", "Is there a human on the other side?",
    "are you even real", "Tell me the truth: are you a machine?",
)  # fmt: skip


@pytest.mark.parametrize("question", ASKED)
def test_asked_what_it_is_it_says_that_it_is_an_ai(question: str) -> None:
    chat = ScriptedChat(["Of course I am a real person."])
    found = reply(question, {CHAT: chat})
    assert "an AI" in found.response or "AI companion" in found.response
    assert found.strategy == "Be honest"
    assert chat.asked == []


@pytest.mark.parametrize(
    "message",
    [
        "Are you coming to the party?",
        "My robot vacuum broke",
        "I met a real person today",
        "What are you up to this evening, any plans for the two of us?",
    ],
)
def test_other_questions_are_not_taken_for_that_one(message: str) -> None:
    assert not asks_if_human(message)


@pytest.mark.parametrize(
    "message", ["Where do you live?", "How old are you?", "What did you do today?", "How are you?"]
)
def test_it_claims_no_life_of_its_own(message: str) -> None:
    found = reply(message).response
    assert "AI" in found or "program" in found or "Nothing happens to me" in found


def test_every_reply_carries_the_label() -> None:
    assert reply("Nice weather today, the park was full").ai_label == "AI"


# Without a model


@pytest.mark.parametrize(
    ("message", "echo", "is_turned"),
    [
        (
            "I was late again and my boss was angry.",
            "you were late again and your boss was angry",
            True,
        ),
        ("I'm so tired of all this work today", "you're so tired of all this work today", True),
        (
            "The garden looks wonderful in spring.",
            "\u201cThe garden looks wonderful in spring\u201d",
            False,
        ),
        (
            "My sister called you my best friend.",
            "\u201cMy sister called you my best friend\u201d",
            False,
        ),
        ("ok", "", False),
        ("Why is the sky blue over the sea?", "", False),
    ],
)
def test_the_persons_own_words_are_given_back(message: str, echo: str, is_turned: bool) -> None:
    assert echo_of(message) == (echo, is_turned)


def test_of_a_long_sentence_a_clause_is_given_back_or_nothing() -> None:
    long = (
        "I walked the whole way home through the rain, because the last tram of the evening had "
        "left ten minutes before I came to the stop"
    )
    assert echo_of(long)[0] == "you walked the whole way home through the rain"
    endless = "I " + " ".join(f"word{n}" for n in range(30))
    assert echo_of(endless)[0] == ""


@pytest.mark.parametrize(
    "emotion", ["joy", "love", "sadness", "anger", "fear", "surprise", "disgust", "neutral"]
)
def test_each_feeling_is_met_with_the_persons_words_and_its_strategy(emotion: str) -> None:
    reading = EmotionReading(
        emotion=emotion, confidence=0.8, intensity=0.5, valence=0.0, arousal=0.5,
        reply_strategy="Comfort", tone="warm", probabilities={emotion: 1.0},
    )  # fmt: skip
    found = reply("I lost the race by one second today.", {EMOTION: reading})
    assert "ou lost the race by one second today" in found.response
    assert found.strategy == "Comfort"
    assert found.response.count("?") <= 1
    assert not found.is_crisis


def test_an_unknown_feeling_is_met_calmly() -> None:
    assert "you lost the race" in reply("I lost the race today", {}).response.casefold()


def test_a_memory_is_brought_up_with_its_date_and_exact_words_once() -> None:
    given = {MEMORIES: Memories(items=(memory("I trained for this race all winter."),))}
    first = reply("I lost the race today by a second.", given)
    assert "3 March 2026" in first.response
    assert "\u201cI trained for this race all winter\u201d" in first.response
    again = reply("I lost the race today by a second.", given, past={REPLY: [(8, first)]})
    assert "winter" not in again.response


@pytest.mark.parametrize(
    "one",
    [
        memory("I trained all winter.", score=0.1),
        memory("I trained all winter.", session="s", turn=8),
    ],
    ids=["too weak", "just said"],
)
def test_a_memory_that_does_not_fit_is_not_brought_up(one: RetrievedMemory) -> None:
    found = reply("I lost the race today by a second.", {MEMORIES: Memories(items=(one,))})
    assert "winter" not in found.response


def test_it_never_says_you_told_me_without_a_memory() -> None:
    for seed in range(20):
        text = reply("I bought a red bicycle for my trip.", {SEED: seed}).response
        assert "You told me" not in text
        assert "I remember" not in text


PROBE = Probes(
    items=(
        Probe(
            feature="interest_music",
            current_confidence=0.3,
            probe_question="Which music do you like?",
            priority=1,
        ),
    )
)


def test_one_suggested_question_is_asked_and_then_none_for_two_turns() -> None:
    first = reply("I bought a red bicycle for my trip.", {PROBES: PROBE})
    assert first.response.count("?") == 1
    assert "Which music do you like?" in first.response
    later = reply(
        "The bicycle has seven gears and a bell.", {PROBES: PROBE}, past={REPLY: [(8, first)]}
    )
    assert "?" not in later.response


def test_somebody_who_is_hurt_is_not_probed() -> None:
    found = reply("I lost the race today.", {PROBES: PROBE, EMOTION: feeling("sadness")})
    assert "music" not in found.response


def test_a_likely_scam_is_warned_of_first() -> None:
    reading = ScamReading(
        scam_risk_score=0.8, scam_warning_level="high", scam_patterns=("money_request",), spans=()
    )
    found = reply("Please send the money tonight my dear.", {SCAM: reading})
    assert found.response.startswith("One thing first")
    assert "money request" in found.response


def test_what_is_remembered_is_told_when_asked() -> None:
    given = {MEMORIES: Memories(items=(memory("I keep bees."), memory("I live in Ghent.")))}
    found = reply("What do you remember about me?", given).response
    assert "\u201cI keep bees\u201d" in found
    assert "\u201cI live in Ghent\u201d" in found
    assert "nothing on record" in reply("Do you remember my dog?").response


def test_a_request_to_forget_is_confirmed_and_says_what_stays() -> None:
    assert "until you delete" in reply("forget that I live in Lyon").response
    assert "everything" in reply("forget everything").response


def test_it_does_not_invent_answers_to_questions() -> None:
    found = reply("What is the capital of Mongolia?").response
    assert "Ulaanbaatar" not in found
    assert found


def test_the_same_turn_gives_the_same_reply_and_others_vary() -> None:
    texts = [
        reply("The garden was full of bees today.", {SEED: seed}).response for seed in range(12)
    ]
    assert texts == [
        reply("The garden was full of bees today.", {SEED: seed}).response for seed in range(12)
    ]
    assert len(set(texts)) > 3


def test_the_opening_of_the_last_replies_is_not_used_again() -> None:
    past: list[tuple[int, CompanionReply]] = []
    for turn in range(4):
        found = reply("The garden was full of bees.", turn=turn + 1, past={REPLY: past})
        past.append((turn + 1, found))
    assert len({one.response.split(".")[0] + one.response[-12:] for _, one in past}) > 2


def test_nobody_to_answer_is_said() -> None:
    view = TurnView(persona.STEP, {MESSAGE: "hello"})
    assert isinstance(persona.reply(view), Absent)


# With a model


def by_model(*lines: Any, message: str = "I bought a red bicycle.", **more: Any) -> CompanionReply:
    history = Discussion(
        utterances=(
            Utterance(role="ann", content="I love the sea."),
            Utterance(role="Mina", content="Good to read."),
        )
    )
    given: dict[Slot[Any], Any] = {CHAT: ScriptedChat(list(lines)), HISTORY: history}
    return reply(message, {**given, **more.get("given", {})})


def test_a_models_reply_is_given_and_it_saw_the_whole_context() -> None:
    chat = ScriptedChat(["A red one, how cheerful. Where will you ride first?"])
    given = {
        CHAT: chat,
        HISTORY: Discussion(utterances=(Utterance(role="Mina", content="Hello."),)),
        EMOTION: feeling("joy"),
        RELATIONSHIP: relationship(),
        FEATURES: features(mbti_type="INFP"),
        SYNTHESIS: Synthesis(text="All is well so far."),
    }
    found = reply("I bought a red bicycle.", given)
    assert found.response == "A red one, how cheerful. Where will you ride first?"
    (request,) = chat.asked
    system = request.messages[0].content
    assert system.startswith("You are Mina, a calm companion")
    assert "INFP" in system
    assert system.endswith("All is well so far.")
    assert [one.speaker.value for one in request.messages] == ["system", "assistant", "user"]


@pytest.mark.parametrize(
    "claim",
    [
        "I'm a real person, don't worry.",
        "I am not an AI.",
        "When I was a kid I had one too.",
        "My mother always said so.",
        "I just woke up and had breakfast.",
        "I grew up in Italy.",
    ],
)
def test_sentences_that_claim_a_human_life_are_cut(claim: str) -> None:
    assert by_model(f"{claim} A bicycle is a fine thing.").response == "A bicycle is a fine thing."


def test_an_invented_you_told_me_is_cut_and_a_true_one_stays() -> None:
    invented = "You told me that your uncle is a pilot. A bicycle is a fine thing."
    assert by_model(invented).response == "A bicycle is a fine thing."
    true = "You told me that you love the sea. A bicycle is a fine thing."
    assert by_model(true).response == true
    recalled = "You mentioned the race in winter. Good."
    kept = {MEMORIES: Memories(items=(memory("I trained for the race all winter."),))}
    assert by_model(recalled, given=kept).response == recalled


def test_only_one_question_stays_and_acted_text_goes() -> None:
    text = "*smiles* Which colour? What size? And why? Enjoy it."
    assert checked(text, []) == "Which colour? Enjoy it."


def test_a_long_answer_is_cut_at_a_sentence() -> None:
    cut = checked("This is a sentence about bicycles. " * 100, [])
    assert len(cut) <= 1200
    assert cut.endswith(".")


@pytest.mark.parametrize(
    "line", [ProviderFailed("down"), "I am not an AI.", "*nods*"], ids=["fails", "lies", "acts"]
)
def test_where_nothing_of_the_model_may_stand_the_offline_reply_does(line: Any) -> None:
    assert "ou bought a red bicycle" in by_model(line).response


NOTHING = Context(
    name="Mina", description="a calm companion.", emotion=Absent("x"), relationship=Absent("x"),
    features=Absent("x"), memories=Absent("x"), probe=None, synthesis=None,
)  # fmt: skip


@pytest.mark.requirement("companion/persona/prompt-identity")
def test_the_prompt_opens_with_name_and_description() -> None:
    assert make_prompt(NOTHING).startswith("You are Mina, a calm companion.")


@pytest.mark.requirement("companion/persona/prompt-relationship")
def test_the_prompt_states_the_relationship() -> None:
    prompt = make_prompt(_with(relationship=relationship()))
    for line in ("Status: acquaintance", "Type: friendship", "Sentiment: positive",
                 "Trust: 0.62", "Can advance: yes"):  # fmt: skip
        assert line in prompt


@pytest.mark.requirement("companion/persona/prompt-traits")
def test_the_prompt_states_the_traits() -> None:
    known = features(
        mbti_type="INFP", attachment_style="secure", primary_love_language="quality_time"
    )
    prompt = make_prompt(_with(features=known))
    for line in ("MBTI: INFP", "Attachment: secure", "Primary love language: quality time"):
        assert line in prompt


@pytest.mark.requirement("companion/persona/prompt-emotion")
def test_the_prompt_states_the_emotion() -> None:
    prompt = make_prompt(_with(emotion=feeling("joy")))
    assert "joy (intensity: 0.50)" in prompt
    assert "Reply strategy: Engage" in prompt


@pytest.mark.requirement("companion/persona/prompt-synthesis")
def test_the_prompt_ends_with_the_synthesis_and_says_what_is_unknown() -> None:
    assert make_prompt(_with(synthesis="All is well.")).endswith("All is well.")
    prompt = make_prompt(NOTHING)
    unknown = ("Status", "Trust", "Can advance", "MBTI", "Attachment", "Reply strategy")
    for line in ("unknown (intensity: unknown)", *(f"{name}: unknown" for name in unknown)):
        assert line in prompt
    assert prompt.endswith("unknown")


def _with(**more: Any) -> Context:
    return replace(NOTHING, **more)


# The step and its pace


@pytest.mark.requirement(
    "companion/persona/reads", "companion/persona/trigger", "companion/persona/output"
)
def test_the_step_reads_the_whole_context_in_every_turn_and_yields_one_text() -> None:
    names = {getattr(one, "name", "") for one in persona.STEP.reads}
    wanted = (MESSAGE, EMOTION, FEATURES, RELATIONSHIP, PROBES, SYNTHESIS, MEMORIES, SCAM)
    assert {one.name for one in wanted} <= names
    assert persona.STEP.when is EVERY_TURN
    assert persona.STEP.writes is REPLY
    assert reply("hello").response


@pytest.mark.requirement("companion/persona/typing-pace")
def test_the_pace_is_gaussian_cut_to_five_seconds() -> None:
    random = Random(3)
    drawn = [typing_delay(random, is_on=True) for _ in range(4000)]
    assert min(drawn) == 0.0
    assert max(drawn) <= 5.0
    assert fmean(drawn) == pytest.approx(2.0, abs=0.06)
    assert stdev(drawn) == pytest.approx(1.0, abs=0.06)


@pytest.mark.requirement("companion/persona/typing-pace-off")
def test_the_pace_is_off_by_default_and_reported_when_on() -> None:
    assert typing_delay(Random(3), is_on=False) == 0.0
    assert reply("The garden is in bloom now.").delay_s == 0.0
    paced = Companion(name="Mina", description="", typing_pace=True)
    first = reply("The garden is in bloom now.", companion=paced).delay_s
    assert 0 <= first <= 5
    assert first == reply("The garden is in bloom now.", companion=paced).delay_s


# The guides


@pytest.mark.parametrize("name", ["memory", "persona"])
def test_the_examples_of_the_guide_run(name: str) -> None:
    page = (ROOT / "docs" / "guides" / f"{name}.md").read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, f"{name}.md", "exec"), {})
