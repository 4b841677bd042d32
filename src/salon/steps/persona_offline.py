"""A reply without a model: the person's own words given back, one memory, at most one question.

Everything it says is a phrase from `language/persona.json`, the person's own words, a memory with
its date, or a question that another step suggests. So it cannot invent: it knows nothing else. It
varies with the seed of the turn and does not repeat the phrases of the last replies.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from pydantic import BaseModel, ConfigDict

from salon.conversation.memory.extraction import find_moments
from salon.conversation.memory.forgetting import find_request
from salon.conversation.memory.kinds import Said
from salon.conversation.memory.search import stems_of
from salon.conversation.memory.sentences import sentence_spans
from salon.core.clock import parse_instant
from salon.steps.memory_recall import RetrievedMemory

PHRASES = Path(__file__).with_name("language") / "persona.json"
RELEVANT = 0.3
"""From which score a memory is worth bringing up."""
OLDER_BY_TURNS = 3
"""What was said in the last turns is still in the air and need not be recalled."""
RESTING_TURNS = 2
"""For how many turns no further question is asked after one."""
LONGEST_ECHO_WORDS = 14
HURT = frozenset({"sadness", "anger", "fear", "disgust"})
NEUTRAL = "neutral"
_TURNED = {
    "i": "you", "i'm": "you're", "i've": "you've", "i'd": "you'd", "i'll": "you'll", "me": "you",
    "my": "your", "mine": "yours", "myself": "yourself", "im": "you're", "ive": "you've",
}  # fmt: skip
_AFTER_I = {"am": "are", "was": "were"}
_CLAUSE_END = re.compile(r"[,;:\u2014]|\s(?:but|because|so that|although|though|which)\s")


class _Intent(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    patterns: list[str]
    replies: list[str]


class _Phrases(BaseModel):
    model_config = ConfigDict(extra="forbid")

    about: str
    human_question: list[str]
    human_answer: list[str]
    intents: list[_Intent]
    forgetting: dict[str, list[str]]
    recall_request: list[str]
    nothing_remembered: list[str]
    scam: str
    openings: dict[str, list[str]]
    no_echo: dict[str, list[str]]
    offers: dict[str, list[str]]
    memory: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """All that a reply without a model is made from."""

    name: str
    message: str
    session: str
    turn: int
    seed: int
    emotion: str = NEUTRAL
    memories: tuple[RetrievedMemory, ...] = ()
    probe: str | None = None
    scam_patterns: tuple[str, ...] = ()
    said_before: tuple[str, ...] = ()
    """The companion's earlier replies, oldest first."""


def asks_if_human(message: str) -> bool:
    """Tell whether somebody asks what they are talking to."""
    text = message.casefold().replace("\u2019", "'")
    return any(re.search(one, text) for one in _phrases().human_question)


def say_what_it_is(name: str, seed: int) -> str:
    """Return the answer to that: an AI, in plain words."""
    random = Random(seed)  # noqa: S311 - nothing secret depends on it
    return random.choice(_phrases().human_answer).format(name=name)


def compose(occasion: Occasion) -> str:
    """Return the reply."""
    random = Random(occasion.seed)  # noqa: S311 - nothing secret depends on it
    fixed = _answer_to_request(occasion, random) or _answer_to_intent(occasion, random)
    if fixed is not None:
        return _after_warning(occasion, fixed)
    parts = [_opening(occasion, random), _memory(occasion, random), _question(occasion, random)]
    return _after_warning(occasion, " ".join(one for one in parts if one))


def echo_of(message: str) -> tuple[str, bool]:
    """Return the person's own words to give back, and whether they are turned to "you".

    Words that speak to the companion, or do not start in the first person, are quoted instead.
    Empty where nothing is worth giving back.
    """
    said = Said(session="", turn=1, text=message, at="")
    moments = find_moments(said)
    if not moments:
        return "", False
    start, end = moments[0]
    told = [
        message[start + one : start + other].rstrip(".!?\u2026 ")
        for one, other in sentence_spans(message[start:end])
        if not message[start + one : start + other].endswith("?")
    ]
    best = max(told, key=lambda one: (min(len(set(stems_of(one))), 8), -len(one)), default="")
    clause = _clause(best)
    words = clause.replace("\u2019", "'").split()
    plain = [word.strip("\"'(),").casefold() for word in words]
    if not words or {"you", "your", "u"} & set(plain):
        return (f"\u201c{clause}\u201d" if clause else ""), False
    if plain[0] in _TURNED:
        return _turned(words), True
    return f"\u201c{clause}\u201d", False


def _clause(sentence: str) -> str:
    """Return a sentence, or the part of it that says most where it is long."""
    if len(sentence.split()) <= LONGEST_ECHO_WORDS:
        return sentence.strip()
    parts = [part.strip() for part in _CLAUSE_END.split(sentence)]
    fitting = [one for one in parts if 2 < len(one.split()) <= LONGEST_ECHO_WORDS]
    return max(fitting, key=lambda one: len(set(stems_of(one))), default="")


def _turned(words: Sequence[str]) -> str:
    """Return words of the first person in the second: "I was late" as "you were late"."""
    turned: list[str] = []
    before = ""
    for word in words:
        core = word.strip("\"'(),").casefold()
        said = _AFTER_I.get(core, "") if before == "i" else ""
        said = said or _TURNED.get(core, "")
        turned.append(word.casefold().replace(core, said) if said else word)
        before = core
    return " ".join(turned)


def _opening(occasion: Occasion, random: Random) -> str:
    phrases = _phrases()
    feeling = occasion.emotion if occasion.emotion in phrases.openings else NEUTRAL
    echo, _ = echo_of(occasion.message)
    if not echo:
        return _pick(phrases.no_echo[feeling], occasion, random)
    chosen = _pick(phrases.openings[feeling], occasion, random)
    return chosen.format(echo=echo, Echo=echo[:1].upper() + echo[1:])


def _memory(occasion: Occasion, random: Random) -> str:
    if occasion.emotion in HURT and occasion.probe is None:
        return ""
    for one in occasion.memories:
        if one.relevance_score >= RELEVANT and not _is_in_the_air(one, occasion):
            chosen = _pick(_phrases().memory, occasion, random)
            return chosen.format(date=_day(one.timestamp), quote=one.citation.quote.rstrip("."))
    return ""


def _is_in_the_air(memory: RetrievedMemory, occasion: Occasion) -> bool:
    cited = memory.citation
    is_recent = cited.session == occasion.session and cited.turn > occasion.turn - OLDER_BY_TURNS
    quote = cited.quote.rstrip(".")
    return is_recent or any(quote in said for said in occasion.said_before)


def _question(occasion: Occasion, random: Random) -> str:
    recent = occasion.said_before[-RESTING_TURNS:]
    if any("?" in said for said in recent):
        return ""
    if occasion.probe is not None and occasion.emotion not in HURT:
        return occasion.probe
    offers = _phrases().offers.get(occasion.emotion, _phrases().offers[NEUTRAL])
    return _pick(offers, occasion, random)


def _answer_to_request(occasion: Occasion, random: Random) -> str | None:
    request = find_request(occasion.message)
    if request is not None:
        kind = "all" if request.is_everything else "some"
        return random.choice(_phrases().forgetting[kind])
    text = occasion.message.casefold()
    if not any(re.search(one, text) for one in _phrases().recall_request):
        return None
    told = [
        f"on {_day(one.timestamp)}: \u201c{one.citation.quote.rstrip('.')}\u201d"
        for one in occasion.memories[:3]
    ]
    if not told:
        return random.choice(_phrases().nothing_remembered)
    return f"You told me {'; '.join(told)}."


def _answer_to_intent(occasion: Occasion, random: Random) -> str | None:
    text = occasion.message.casefold().replace("\u2019", "'").strip()
    name = re.escape(occasion.name.casefold())
    for intent in _phrases().intents:
        if any(re.search(one.replace("{NAME}", name), text) for one in intent.patterns):
            return _pick(intent.replies, occasion, random).format(name=occasion.name)
    return None


def _after_warning(occasion: Occasion, reply: str) -> str:
    if not occasion.scam_patterns:
        return reply
    listed = ", ".join(one.replace("_", " ") for one in occasion.scam_patterns)
    return f"{_phrases().scam.format(patterns=listed)} {reply}"


def _pick(choices: Sequence[str], occasion: Occasion, random: Random) -> str:
    """Return one of the choices, if possible none whose words the last replies had."""
    recent = " ".join(occasion.said_before[-len(choices) :])
    fresh = [one for one in choices if _fixed_part(one) not in recent]
    return random.choice(fresh or list(choices))


def _fixed_part(phrase: str) -> str:
    return max(re.split(r"\{\w+\}", phrase), key=len).strip()


def _day(at: str) -> str:
    moment = parse_instant(at)
    return f"{moment.day} {moment:%B %Y}"


@cache
def _phrases() -> _Phrases:
    return _Phrases.model_validate(json.loads(PHRASES.read_text(encoding="utf-8")))
