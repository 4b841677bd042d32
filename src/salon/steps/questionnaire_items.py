"""Questions that are questionnaire items in our own words, and answers in words on their scale.

Each stands for one item of a public questionnaire whose data calibrates the sets (`column`). A
person who is asked one and answers it with plain agreement or disagreement has answered the item;
any other answer is no answer.
"""

import re
from dataclasses import dataclass

ATTACHMENT = "attachment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question, the item it stands for, and the feature that it tells most about."""

    id: str
    column: str
    questionnaire: str
    feature: str
    question: str


def _items(questionnaire: str, feature: str, *pairs: tuple[str, str]) -> tuple[Item, ...]:
    return tuple(
        Item(
            id=f"{questionnaire}.{column}",
            column=column,
            questionnaire=questionnaire,
            feature=feature,
            question=question,
        )
        for column, question in pairs
    )


ITEMS: tuple[Item, ...] = (
    *_items(
        ATTACHMENT,
        "attachment_anxiety",
        ("Q8", "Once somebody matters to you, do you often fear that they might go?"),
        ("Q18", "Do you need to hear again and again that you are loved?"),
        ("Q16", "Have people backed off because you wanted to be very close, very soon?"),
    ),
    *_items(
        ATTACHMENT,
        "attachment_avoidance",
        ("Q9", "Is it hard for you to open up to somebody you are with?"),
        ("Q17", "Do you keep a little distance even from somebody you love?"),
        ("Q35", "When you have had a bad day, do you go to the person closest to you for comfort?"),
    ),
    *_items(
        "big_five_extraversion",
        "big_five_extraversion",
        ("E5", "Among people you don't know, are you the one who begins to talk?"),
        ("E4", "In a group, do you rather stay at the edge of things?"),
        ("E9", "Is it fine with you when everybody looks at you?"),
    ),
    *_items(
        "big_five_neuroticism",
        "big_five_neuroticism",
        ("N6", "Are you quickly upset when something goes wrong?"),
        ("N8", "Does your mood go up and down a lot?"),
        ("N1", "Do you get stressed easily?"),
    ),
    *_items(
        "big_five_agreeableness",
        "big_five_agreeableness",
        ("A4", "When somebody near you is sad, do you feel it with them?"),
        ("A7", "Honestly, do other people's lives leave you rather cold?"),
        ("A8", "Do you make time for others even when you have little of it?"),
    ),
    *_items(
        "big_five_conscientiousness",
        "big_five_conscientiousness",
        ("C6", "Do your things often lie about because you forget to tidy them away?"),
        ("C9", "Do you plan your days and then keep to the plan?"),
        ("C4", "Do you tend to get things into a muddle?"),
    ),
    *_items(
        "big_five_openness",
        "big_five_openness",
        ("O10", "Is your head always full of new ideas?"),
        ("O1", "Would you say that you have a word for nearly everything?"),
        ("O2", "Do you lose the thread when talk becomes very abstract?"),
    ),
)
ITEMS_BY_ID: dict[str, Item] = {one.id: one for one in ITEMS}

_ANSWERS: dict[int, tuple[str, ...]] = {
    5: (
        "strongly agree", "i strongly agree", "yes definitely", "yes absolutely", "yes totally",
        "yes very much", "yes always", "definitely", "absolutely", "totally", "very much so",
        "very much", "always", "all the time", "for sure", "oh yes", "completely", "every time",
        "that is so me", "that's so me", "hundred percent", "100%", "without a doubt",
    ),
    4: (
        "yes", "yeah", "yep", "yup", "i do", "it is", "i am", "mostly", "usually", "often",
        "quite often", "i agree", "agree", "i think so", "i guess so", "true", "that's true",
        "pretty much", "more or less", "probably", "a lot of the time", "quite a bit",
    ),
    3: (
        "sometimes", "it depends", "depends", "neither", "so-so", "so so", "in between",
        "half and half", "now and then", "from time to time", "neutral", "a bit of both",
        "fifty-fifty", "50/50", "yes and no", "maybe", "hard to say",
    ),
    2: (
        "no", "nope", "nah", "not really", "not much", "not often", "rarely", "seldom", "hardly",
        "hardly ever", "i don't think so", "i do not think so", "disagree", "i disagree",
        "not usually", "not so much", "i don't", "i'm not", "it isn't", "not very",
    ),
    1: (
        "not at all", "never", "definitely not", "absolutely not", "strongly disagree",
        "i strongly disagree", "no way", "no never", "no not at all", "not in the least",
        "no definitely not", "certainly not", "not even a little",
    ),
}  # fmt: skip
_PATTERNS = tuple(
    (re.compile(re.escape(phrase).replace(r"\ ", ",? ") + r"(?![\w'%-])"), scale)
    for phrase, scale in sorted(
        ((phrase, scale) for scale, phrases in _ANSWERS.items() for phrase in phrases),
        key=lambda one: -len(one[0]),
    )
)
"""Longest first, so that `not at all` is not read as `not`."""
_OPENERS = re.compile(
    r"^(?:(?:well|hmm+|mm+|oh|ha(?:ha)+|honestly|i guess|i would say|i'd say|let me think|"
    r"good question|to be honest|um+|uh+)[\s,.!…-]+)+"
)
_NUMBER = re.compile(r"^([1-5])(?:\s*(?:/|out of|of)\s*(?:5|five))?[.!]?$")
_TAKEN_BACK = re.compile(r"^[\s,.;!-]*(?:but|although|though|except|unless|however)\b")
_MOST_WORDS = 40


def answer_on_scale(text: str) -> int | None:
    """Return where an answer lies from 1 (not at all) to 5 (very much), `None` if it is unclear."""
    plain = " ".join(text.replace("\u2019", "'").casefold().split())
    if plain.endswith("?") or len(plain.split()) > _MOST_WORDS:
        return None
    plain = _OPENERS.sub("", plain)
    if number := _NUMBER.match(plain):
        return int(number.group(1))
    for pattern, scale in _PATTERNS:
        if said := pattern.match(plain):
            return None if _is_unclear(plain[said.end() :]) else scale
    return None


def _is_unclear(rest: str) -> bool:
    """Tell whether what follows takes the answer back, or runs on as another sentence part."""
    if _TAKEN_BACK.match(rest):
        return True
    first = re.match(r" (\w+)", rest)
    return first is not None and first.group(1) not in _MAY_FOLLOW


_MAY_FOLLOW = frozenset({"i", "it", "that", "because", "and", "with", "when", "so", "since", "my"})


def find_item_asked(reply: str) -> Item | None:
    """Return the item that a reply asks, word for word; the last one where it asks several."""
    plain = _flat(reply)
    asked = [(plain.rfind(_flat(item.question)), item) for item in ITEMS]
    found = [(place, item) for place, item in asked if place >= 0]
    return max(found, key=lambda one: one[0])[1] if found else None


def _flat(text: str) -> str:
    return " ".join(re.findall(r"[\w']+", text.replace("\u2019", "'").casefold()))
