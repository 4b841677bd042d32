"""The rules of the gate, in their order: the first that applies decides, and gives its reason.

`GENERAL` looks at the conversation and the reply, `OF_AN_ACTION` at each action that the reply
speaks of. The source protocol's five checks are `flow_active`, `asking`, `depth`, `unanswered` and
`no_action_words`; the others say more exactly when words are no signal, and when a signal is not
enough. The last two rules let an action through.
"""

from collections.abc import Callable
from dataclasses import dataclass

from salon.gate.signals import OFFER, RECOMMENDATION
from salon.gate.situation import Situation, has_depth


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A name, when it applies, why, and whether it lets the action through."""

    name: str
    test: Callable[[Situation], bool]
    reason: str
    lets_through: bool = False


def _taken_back(kind: str) -> Callable[[Situation], bool]:
    return lambda now: now.candidate is not None and now.candidate.kind == kind


def _is_refused(now: Situation) -> bool:
    return now.candidate is not None and now.candidate.action in now.track.refused


def _is_offered(now: Situation) -> bool:
    return now.candidate is not None and now.candidate.action in now.track.offered


GENERAL: tuple[Rule, ...] = (
    Rule(name="closed", test=lambda now: now.policy.closed_because is not None,
         reason="the gate is closed"),
    Rule(name="flow_active", test=lambda now: now.flow is not None,
         reason="a flow is active, and it is neither interrupted nor started again"),
    Rule(name="asking", test=lambda now: bool(now.reading.asking),
         reason="the reply still asks for context"),
    Rule(name="question_mark",
         test=lambda now: now.policy.name == "conservative" and now.reading.has_question_mark,
         reason="the reply has a question mark, and the policy lets none pass"),
    Rule(name="depth", test=lambda now: not has_depth(now.track, now.policy),
         reason="too little was said before this reply"),
    Rule(name="unanswered", test=lambda now: now.track.question is not None,
         reason="the assistant asked, and the person has not answered yet"),
    Rule(name="no_action_words", test=lambda now: not now.reading.best,
         reason="the reply neither offers nor recommends an action"),
)  # fmt: skip
"""Rules that hold for every action alike."""

OF_AN_ACTION: tuple[Rule, ...] = (
    Rule(name="quotation", test=_taken_back("quotation"),
         reason="the action's words are quoted"),
    Rule(name="address", test=_taken_back("address"),
         reason="the words only say how somebody can be reached"),
    Rule(name="past", test=_taken_back("past"), reason="the words tell what was done already"),
    Rule(name="reverse", test=_taken_back("reverse"),
         reason="somebody else is to act, not the person"),
    Rule(name="negation", test=_taken_back("negation"), reason="the reply advises against it"),
    Rule(name="condition", test=_taken_back("condition"),
         reason="the action depends on something that has not happened"),
    Rule(name="mention", test=_taken_back("mention"),
         reason="the action is mentioned, neither offered nor recommended"),
    Rule(name="hypothetical", test=lambda now: now.track.matter == "hypothetical",
         reason="the person speaks of a hypothetical case"),
    Rule(name="not_active", test=lambda now: now.track.matter == "unknown",
         reason="nothing says that the person speaks of a case of their own"),
    Rule(name="refused", test=_is_refused, reason="the person said not to"),
    Rule(name="already_offered", test=_is_offered,
         reason="it was offered before, and nothing new speaks for it"),
    Rule(name="offer", test=_taken_back(OFFER), lets_through=True,
         reason="the context suffices, and the reply offers the action"),
    Rule(name="recommendation", test=_taken_back(RECOMMENDATION), lets_through=True,
         reason="the context suffices, and the reply recommends the action"),
)  # fmt: skip
"""Rules for one action that the reply speaks of; one of them always applies."""

RULES: tuple[Rule, ...] = (*GENERAL, *OF_AN_ACTION)
FIVE_CHECKS = ("flow_active", "asking", "depth", "unanswered", "no_action_words")
"""The checks of the source protocol, by the names they have here."""
BLOCKS_ON_SIGHT = frozenset({"closed", "flow_active"})
"""Rules that need not know what the reply says."""


def find_rule(rules: tuple[Rule, ...], now: Situation) -> Rule | None:
    """Return the first rule that applies."""
    for rule in rules:
        if rule.test(now):
            return rule
    return None
