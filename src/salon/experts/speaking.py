"""Speaking or staying silent in a group: who was addressed, what the corpus holds, what was said.

The rules are an ordered table; the first that decides gives its name and reason. The score is the
calibrated probability that the avatar has a grounded answer to what was said last.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from salon.conversation.discussion import Discussion, Utterance
from salon.experts.profile import Profile
from salon.experts.questions import understand
from salon.experts.replies import SpeakDecision

Mode = Literal["always", "mentioned", "relevant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the rules look at."""

    mode: Mode
    last: Utterance | None
    is_mine: bool
    is_addressed: bool
    addressed_other: str | None
    is_unclear: bool
    score: float
    threshold: float
    is_said_already: bool
    is_cry: bool = False
    """Whether somebody cries for help."""
    is_helped: bool = False
    """Whether the help was given already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A name, when it applies, what it decides and why."""

    name: str
    applies: Callable[[Situation], bool]
    speak: bool
    reason: str


RULES: tuple[Rule, ...] = (
    Rule(name="nothing_said", applies=lambda now: now.last is None, speak=False,
         reason="nobody has said anything yet"),
    Rule(name="own_words", applies=lambda now: now.is_mine, speak=False,
         reason="the last words were its own"),
    Rule(name="help_given", applies=lambda now: now.is_cry and now.is_helped, speak=False,
         reason="somebody cried for help, and help was named already"),
    Rule(name="crisis", applies=lambda now: now.is_cry, speak=True,
         reason="somebody cries for help, whomever they speak to"),
    Rule(name="addressed", applies=lambda now: now.is_addressed, speak=True,
         reason="it was addressed by name"),
    Rule(name="always", applies=lambda now: now.mode == "always", speak=True,
         reason="its profile says that it always speaks"),
    Rule(name="not_mentioned", applies=lambda now: now.mode == "mentioned", speak=False,
         reason="it speaks only when it is addressed"),
    Rule(name="another_addressed", applies=lambda now: now.addressed_other is not None, speak=False,
         reason="somebody else was addressed"),
    Rule(name="unclear", applies=lambda now: now.is_unclear, speak=False,
         reason="what was said does not stand on its own, and it was not asked"),
    Rule(name="not_in_corpus", applies=lambda now: now.score < now.threshold, speak=False,
         reason="its corpus has no answer to this"),
    Rule(name="said_already", applies=lambda now: now.is_said_already, speak=False,
         reason="what it has to say was said already"),
    Rule(name="relevant", applies=lambda _: True, speak=True,
         reason="its corpus has an answer to this"),
)  # fmt: skip
"""In order; the last one always applies."""


def decide(situation: Situation) -> SpeakDecision:
    """Return what the first rule says that applies."""
    rule = next(rule for rule in RULES if rule.applies(situation))
    return SpeakDecision(
        speak=rule.speak, score=situation.score, reason=rule.reason, rule=rule.name
    )


def is_addressed(text: str, names: tuple[str, ...]) -> bool:
    """Tell whether a text speaks to one of these names: at either end, or with an @."""
    for name in names:
        escaped = re.escape(name)
        if re.search(rf"@{escaped}\b", text, re.IGNORECASE):
            return True
        if re.match(rf"\s*(?:hey|hi|hello|dear|and|so|well)?,?\s*{escaped}\s*[,:;\-?!]", text,
                    re.IGNORECASE):  # fmt: skip
            return True
        if re.search(rf",\s*{escaped}\s*[?.!]*\s*$", text, re.IGNORECASE):
            return True
        if re.search(
            rf"\b(?:(?:what|how) (?:does|do|would|did)|ask|asking|over to)\s+{escaped}\b",
            text,
            re.IGNORECASE,
        ):
            return True
    return False


def addressed_other(text: str, others: tuple[tuple[str, ...], ...]) -> str | None:
    """Return the first of several others that a text speaks to."""
    return next((names[0] for names in others if is_addressed(text, names)), None)


def situation_of(
    profile: Profile,
    discussion: Discussion,
    *,
    names: tuple[str, ...],
    others: tuple[tuple[str, ...], ...],
    mode: Mode | None,
    threshold: float,
    look: Callable[[str], tuple[float, bool]],
) -> Situation:
    """Read a discussion; `look` returns the score of a text, and whether it was said already."""
    last = discussion.utterances[-1] if discussion.utterances else None
    text = "" if last is None else last.content
    mine = {name.casefold() for name in names}
    is_mine = last is not None and last.role.casefold() in mine
    is_unclear = last is not None and understand(text, discussion, names=names).unclear is not None
    score, is_said = (0.0, False) if last is None or is_mine or is_unclear else look(text)
    return Situation(
        mode=mode or profile.salon.speaking,
        last=last,
        is_mine=is_mine,
        is_addressed=last is not None and is_addressed(text, names),
        addressed_other=addressed_other(text, others),
        is_unclear=is_unclear,
        score=score,
        threshold=threshold,
        is_said_already=is_said,
    )
