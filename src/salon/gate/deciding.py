"""Whether an action may be offered now: a pure function, with no model in its path.

The reply is the one at hand and is not part of the history yet. A verdict only says that a flow may
be opened with an offer; nothing is done before the person approves it.
"""

from collections.abc import Iterable, Sequence

from salon.conversation.discussion import Utterance
from salon.gate.lexicon import lexicon_of
from salon.gate.policy import Policy
from salon.gate.rules import GENERAL, OF_AN_ACTION, Rule, find_rule
from salon.gate.signals import ASKING, Found, ReplyReading, read_reply
from salon.gate.situation import Situation, Track, Tracks, event_of
from salon.gate.states import State, move
from salon.gate.verdicts import Said, Side, SignalSpan, Verdict


def decide(history: Sequence[Said], reply: str, flow: str | None, policy: Policy) -> Verdict:
    """Say which action may be offered with a reply, if any, and why."""
    lexicon = lexicon_of(policy.actions, policy.language)
    said = history if isinstance(history, tuple) else tuple(history)
    track = _TRACKS.follow(said, policy, lexicon)
    reading = read_reply(reply, lexicon)
    rule, candidate, state = _weigh(policy, flow, track, reading)
    reason = rule.reason
    if rule.name == "closed":
        reason = f"{reason}: {policy.closed_because}"
    return Verdict(
        action=candidate.action if candidate is not None and rule.lets_through else None,
        state=state,
        rule=rule.name,
        reason=reason,
        evidence=_evidence(reading, rule, candidate, track, said),
    )


def follow(history: Sequence[Said], policy: Policy) -> Track:
    """Return where a conversation stands after a history, before the next reply."""
    return _TRACKS.follow(tuple(history), policy, lexicon_of(policy.actions, policy.language))


def sides(utterances: Iterable[Utterance], *, assistant: str) -> tuple[Said, ...]:
    """Return utterances as the gate takes them; all but the assistant's are the person's."""
    name = assistant.casefold()
    return tuple(
        Said(side=Side.ASSISTANT if one.role.casefold() == name else Side.PERSON, text=one.content)
        for one in utterances
    )


def _weigh(
    policy: Policy, flow: str | None, track: Track, reading: ReplyReading
) -> tuple[Rule, Found | None, State]:
    state = move(track.state, event_of(track, reading, policy))
    rule = find_rule(GENERAL, Situation(policy, flow, track, reading, None))
    if rule is not None:
        return rule, None, state
    first: tuple[Rule, Found] | None = None
    for candidate in reading.best:
        rule = find_rule(OF_AN_ACTION, Situation(policy, flow, track, reading, candidate))
        if rule is None:
            raise AssertionError(f"no rule for {candidate.kind!r}")
        if rule.lets_through:
            return rule, candidate, state
        if first is None or _ORDER[rule.name] > _ORDER[first[0].name]:
            first = rule, candidate
    if first is None:
        raise AssertionError("a reply without action words passed that rule")
    return *first, state


def _judge(
    policy: Policy, flow: str | None, track: Track, reading: ReplyReading
) -> tuple[str | None, State]:
    rule, candidate, state = _weigh(policy, flow, track, reading)
    return (candidate.action if candidate and rule.lets_through else None), state


_ORDER = {rule.name: number for number, rule in enumerate(OF_AN_ACTION)}
_TRACKS = Tracks(_judge)


def _evidence(
    reading: ReplyReading, rule: Rule, candidate: Found | None, track: Track, said: tuple[Said, ...]
) -> tuple[SignalSpan, ...]:
    """Return the places that counted: in the reply, and in the history what the rule rests on."""
    if candidate is not None:
        return (*reading.asking, candidate.span, *track.matter_spans)
    spans = (*reading.asking, *(one.span for one in reading.best))
    if rule.name == "unanswered" and track.question is not None:
        text = said[track.question].text
        open_question = SignalSpan(
            kind=ASKING, start=0, end=len(text), quote=text, where=track.question
        )
        return (*spans, open_question)
    return spans
