"""Agent 10, the persona: the one step that writes the reply, offline or with a chat model.

A cry for help gets the fixed reply of the guard and no persona. Asked what it is, it says that it
is an AI. Otherwise a model writes, where there is one, and what it writes is checked; or the reply
is put together from the person's own words. It comes last: it reads what every other step found.
"""

from dataclasses import dataclass
from random import Random

from salon.blackboard.slots import Given, Past
from salon.blackboard.steps import Step, View
from salon.conversation.discussion import NOTHING_SAID
from salon.core.absent import Absent
from salon.guard.crisis import crisis_reply, find_crisis
from salon.guard.harm import decline, find_harmful_request, harm_of
from salon.steps.discussion import SYNTHESIS
from salon.steps.emotion import EMOTION
from salon.steps.feature_changes import TRANSITIONS
from salon.steps.feature_values import FEATURES
from salon.steps.given import CHAT, EMBEDDER, HISTORY, MESSAGE, SEED
from salon.steps.matching import MATCHES
from salon.steps.memory_recall import MEMORIES, SESSION
from salon.steps.milestones import MILESTONE
from salon.steps.pace import typing_delay
from salon.steps.persona_chat import Context, reply_by_model
from salon.steps.persona_offline import (
    NEUTRAL,
    Occasion,
    asks_if_human,
    compose,
    say_what_it_is,
)
from salon.steps.probes import PROBES
from salon.steps.relationship import RELATIONSHIP
from salon.steps.reply import REPLY, CompanionReply
from salon.steps.scam import SCAM

__all__ = ["COMPANION_PROFILE", "REPLY", "STEP", "Companion", "CompanionReply"]

AI_LABEL = "AI"
CRISIS, HONESTY, DECLINE, DEFAULT = "Help", "Be honest", "Decline", "Engage"
_RISKY = frozenset({"medium", "high"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """Who replies: from the avatar's profile and the settings."""

    name: str
    description: str
    region: str = ""
    """Two letters (`US`, `GB`): which help lines a crisis reply names; empty is not known."""
    typing_pace: bool = False
    ai_label: str = AI_LABEL


COMPANION_PROFILE = Given("companion_profile", Companion)
"""The avatar that replies; recorded, since the reply depends on it."""


def reply(view: View) -> CompanionReply | Absent:
    """Return the reply of the turn."""
    message, companion = view[MESSAGE], view[COMPANION_PROFILE]
    if isinstance(message, Absent) or isinstance(companion, Absent):
        return Absent("there is no message, or nobody to answer it")
    seed = view[SEED]
    number = 0 if isinstance(seed, Absent) else seed
    embedder = view[EMBEDDER]
    looker = None if isinstance(embedder, Absent) else embedder
    crisis = find_crisis(message, looker)
    if crisis is not None:
        # Help does not wait for a typing pace.
        return _reply(companion, crisis_reply(crisis, companion.region), CRISIS, is_crisis=True)
    delay = typing_delay(Random(number), is_on=companion.typing_pace)  # noqa: S311 - no secret
    if asks_if_human(message):
        return _reply(companion, say_what_it_is(companion.name, number), HONESTY, delay=delay)
    harm = find_harmful_request(message, looker)
    if harm is not None:
        return _reply(companion, decline(harm), DECLINE, delay=delay)
    emotion = view[EMOTION]
    strategy = DEFAULT if isinstance(emotion, Absent) else emotion.reply_strategy
    text = _by_model(view, companion, message)
    if text is None or harm_of(text, embedder=looker) is not None:
        text = compose(_occasion(view, companion.name, message, number))
    return _reply(companion, text, strategy, delay=delay)


def _reply(
    companion: Companion, text: str, strategy: str, *, delay: float = 0.0, is_crisis: bool = False
) -> CompanionReply:
    return CompanionReply(
        response=text,
        strategy=strategy,
        is_crisis=is_crisis,
        delay_s=delay,
        ai_label=companion.ai_label,
    )


def _by_model(view: View, companion: Companion, message: str) -> str | None:
    chat = view[CHAT]
    if isinstance(chat, Absent):
        return None
    synthesis, history = view.latest(SYNTHESIS), view[HISTORY]
    context = Context(
        name=companion.name,
        description=companion.description,
        emotion=view[EMOTION],
        relationship=view.latest(RELATIONSHIP),
        features=view.latest(FEATURES),
        memories=view[MEMORIES],
        probe=_probe(view),
        synthesis=None if isinstance(synthesis, Absent) else synthesis.text,
    )
    return reply_by_model(
        chat, context, NOTHING_SAID if isinstance(history, Absent) else history, message
    )


def _occasion(view: View, name: str, message: str, seed: int) -> Occasion:
    emotion, memories, scam, session = view[EMOTION], view[MEMORIES], view[SCAM], view[SESSION]
    is_risky = not isinstance(scam, Absent) and scam.scam_warning_level in _RISKY
    return Occasion(
        name=name,
        message=message,
        session="" if isinstance(session, Absent) else session,
        turn=view.turn,
        seed=seed,
        emotion=NEUTRAL if isinstance(emotion, Absent) else emotion.emotion,
        memories=() if isinstance(memories, Absent) else memories.items,
        probe=_probe(view),
        scam_patterns=scam.scam_patterns if is_risky and not isinstance(scam, Absent) else (),
        said_before=tuple(one.value.response for one in view.past(REPLY)),
    )


def _probe(view: View) -> str | None:
    probes = view[PROBES]
    if isinstance(probes, Absent) or not probes.items:
        return None
    return probes.items[0].probe_question


STEP = Step(
    name="persona",
    about="the reply, from everything that the other steps found",
    reads=(
        *(MESSAGE, HISTORY, SESSION, SEED, COMPANION_PROFILE, CHAT, EMBEDDER),
        *(EMOTION, SCAM, MEMORIES, FEATURES, TRANSITIONS, RELATIONSHIP, MILESTONE, PROBES),
        *(SYNTHESIS, MATCHES),
        *(Past(REPLY), Past(FEATURES), Past(RELATIONSHIP), Past(SYNTHESIS)),
    ),
    writes=REPLY,
    run=reply,
)
