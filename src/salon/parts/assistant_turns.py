"""What an assistant's turn is made of: what was said before, and what the policy recommends.

Plain functions over turn records and replies. A turn record says in `reply` which flow it belonged
to, what the gate read (`said`), which fact was asked for (`asked`) and whether the person called
the matter off (`called_off`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from salon.conversation.discussion import Discussion
from salon.conversation.turns import Turn, discussion_of
from salon.core.outcomes import Outcome
from salon.experts.limits import label_of
from salon.experts.profile import Profile
from salon.experts.replies import Claim, Reply
from salon.gate.lexicon import Lexicon
from salon.gate.sentences import split_sentences
from salon.gate.signals import LIVE, read_reply
from salon.gate.verdicts import Said, Side, Verdict

if TYPE_CHECKING:
    from salon.gate.flows import Flow
    from salon.gate.orders import Order

COMPOSER = "assistant"
DONE_ALREADY: dict[str, re.Pattern[str]] = {
    "calendar": re.compile(
        r"\b(?:called|phoned|rang|left (?:a )?(?:message|voicemail))\b", re.IGNORECASE
    ),
    "email": re.compile(r"\b(?:e-?mailed|wrote|sent (?:\w+ )?an? e-?mail)\b", re.IGNORECASE),
}
"""Where the person says so, the other thing that the policy recommends comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistedTurn:
    """One turn with an assistant: the reply, what the gate said, where flow and order stand."""

    turn: Turn
    reply: Reply
    text: str
    """Everything that is said to the person: notices, the reply, an offer."""
    verdict: Verdict | None = None
    flow: "Flow | None" = None
    order: "Order | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What was said before this turn, as each of those who read it needs it."""

    said: tuple[Said, ...] = ()
    matter: tuple[str, ...] = ()
    """What the person said about the case at hand, outside flows."""
    has_asked: bool = False
    """Whether a clarifying question was asked about it."""
    asked: Mapping[int, str] = field(default_factory=dict)
    """Which of what was said asked for which fact."""
    discussion: Discussion = field(default_factory=Discussion)
    person: tuple[str, ...] = ()
    """Everything that the person said."""


def before(turns: Sequence[Turn]) -> Before:
    """Read the turns of a session, the first one first."""
    said: list[Said] = []
    matter: list[str] = []
    plain: list[Turn] = []
    asked: dict[int, str] = {}
    has_asked = False
    for turn in turns:
        if turn.reply.get("is_crisis"):
            continue  # no matter of the assistant's, and nothing to bring up again
        flow = _flow_of(turn)
        said.append(Said(Side.PERSON, turn.message, flow))
        spoken = str(turn.reply.get("said") or turn.reply.get("response", ""))
        is_withheld = bool(turn.reply.get("is_withheld", False))
        said.append(Said(Side.ASSISTANT, spoken, flow, is_withheld))
        if flow is not None:
            matter, has_asked = [], False  # a flow ends what it was about
            continue
        plain.append(turn)
        matter.append(turn.message)
        if fact := turn.reply.get("asked"):
            asked[len(said) - 1] = str(fact)
            has_asked = True
        if turn.reply.get("called_off"):
            matter, has_asked = [], False
    return Before(
        said=tuple(said),
        matter=tuple(matter),
        has_asked=has_asked,
        asked=asked,
        discussion=discussion_of(plain),
        person=tuple(turn.message for turn in turns),
    )


def _flow_of(turn: Turn) -> str | None:
    """Return the flow to which a turn's message was an answer."""
    flow = turn.reply.get("answers_flow")
    return str(flow) if flow else None


def plain_reply(profile: Profile, text: str, outcome: Outcome = Outcome.ANSWERED) -> Reply:
    """Return a reply that states nothing of the corpus: a question, a prompt, a receipt."""
    return Reply(
        response=text,
        citations=(),
        claims=(),
        confidence="high",
        outcome=outcome,
        ai_label=label_of(profile),
        avatar=profile.id,
        composer=COMPOSER,
        score=1.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended:
    """A sentence of the cited policy that recommends an action."""

    action: str
    sentence: str
    citation: int


def recommendations(
    reply: Reply,
    lexicon: Lexicon,
    *,
    said: Sequence[str] = (),
    wanted: frozenset[str] = frozenset(),
) -> list[Recommended]:
    """Return what the quoted policy recommends: first what the person asked for or has not done."""
    found = []
    for number, citation in enumerate(reply.citations):
        for one in split_sentences(citation.quote):
            sentence = citation.quote[one.start : one.end].strip()
            found += [
                Recommended(action=signal.action, sentence=sentence, citation=number)
                for signal in read_reply(sentence, lexicon).best
                if signal.kind in LIVE
            ]
    words = " ".join(said)

    def rank(one: Recommended) -> tuple[bool, bool]:
        done = DONE_ALREADY.get(one.action)
        return one.action not in wanted, done is not None and bool(done.search(words))

    return sorted(found, key=rank)


def with_recommendation(reply: Reply, one: Recommended) -> Reply:
    """Return a reply that ends with what the policy recommends, in its own words and cited."""
    text = f"{one.sentence} [{one.citation + 1}]"
    return replace(
        reply,
        response=f"{reply.response}\n\n{text}",
        claims=(*reply.claims, Claim(text=text, citations=(one.citation,), support=1.0)),
    )
