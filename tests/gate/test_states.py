"""The state machine, explored to depth 8 and walked at random beyond.

The monitor below knows only what happened (who spoke, what kind of words), never how the gate
works, so that a mistake in the gate cannot hide in it.
"""

from collections import deque
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salon.gate.deciding import decide, follow
from salon.gate.policy import Policy, make_policy
from salon.gate.states import MOVES, Event, State, move
from salon.gate.verdicts import Said, Side, Verdict
from tests.gate.saying import BOTH, judge

DEPTH = 8
PERSON = {
    "active": "My employee did not come to work.",
    "hypothetical": "What if an employee does not come to work?",
    "asks": "And what does the handbook say?",
    "answers": "Yes, twice already.",
    "declines": "No, not now.",
    "negates": "Please don't call yet.",
    "requests": "Please schedule a call for me.",
    "wonders": "Why do you ask?",
    "does_not_know": "I don't know.",
    "drops_it": "Never mind.",
}
REPLY = {
    "asks": "Were these consecutive shifts?",
    "asks_and_offers": "Were these consecutive shifts? I can schedule a call.",
    "offers": "I can schedule a call for you.",
    "recommends": "You should call them today.",
    "writes": "You should send an email about it.",
    "plain": "Absences are on page four.",
}
FLOW = ("ends", "cancels")
EVENTS = (
    *(f"person {name}" for name in PERSON),
    *(f"reply {name}" for name in REPLY),
    *(f"flow {name}" for name in FLOW),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What an onlooker knows."""

    spoken: int = 0
    has_replied: bool = False
    is_open: bool = False
    is_unknown: bool = False
    stance: str = "nothing"
    offered: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    flow: str | None = None


def _hear(seen: Seen, kind: str) -> Seen:
    seen = replace(seen, spoken=min(seen.spoken + 1, 3))
    if seen.flow is not None:
        return replace(seen, is_open=False)
    is_open = seen.is_open and (
        kind in {"asks", "wonders", "does_not_know"} or (kind == "requests" and not seen.is_unknown)
    )
    is_unknown = is_open and (seen.is_unknown or kind == "does_not_know")
    seen = replace(seen, is_open=is_open, is_unknown=is_unknown)
    if kind == "drops_it":
        return replace(seen, stance="nothing")
    if kind in {"active", "hypothetical"}:
        return replace(seen, stance=kind)
    if kind == "negates":
        return replace(seen, refused=seen.refused | {"calendar"})
    if kind == "requests":
        return replace(seen, stance="active", offered=seen.offered - {"calendar"},
                       refused=seen.refused - {"calendar"})  # fmt: skip
    return seen


def _check(seen: Seen, kind: str, verdict: Verdict) -> None:
    """Fail where an action was offered that must not be."""
    if verdict.action is None:
        return
    assert verdict.state is State.GUIDING
    assert kind in {"offers", "recommends", "writes"}, "it acts while asking, or on nothing"
    assert not seen.is_open, "it acts before the person answered"
    assert seen.flow is None, "it acts while a flow is active"
    assert verdict.action not in seen.offered, "it acts twice"
    assert verdict.action not in seen.refused, "it acts against a refusal"
    assert seen.spoken >= 2, "it acts too early"
    assert seen.has_replied, "it acts on its first reply"
    assert seen.stance == "active", "it acts on a hypothetical case"


def _reply(seen: Seen, kind: str, verdict: Verdict) -> Seen:
    after = replace(
        seen,
        spoken=min(seen.spoken + 1, 3),
        has_replied=True,
        is_open=seen.is_open or (kind.startswith("asks") and seen.flow is None),
        is_unknown=seen.is_unknown and not kind.startswith("asks"),
    )
    if verdict.action is None:
        return after
    return replace(after, flow=verdict.action, offered=seen.offered | {verdict.action})


def _step(
    history: tuple[Said, ...], seen: Seen, event: str, policy: Policy
) -> tuple[tuple[Said, ...], Seen, str | None]:
    """Let one event happen, check it, and return what is then known."""
    who, kind = event.split()
    if who == "flow":
        return history, replace(seen, flow=None), None
    if who == "person":
        said = Said(Side.PERSON, PERSON[kind], flow=seen.flow)
        return (*history, said), _hear(seen, kind), None
    verdict = decide(history, REPLY[kind], seen.flow, policy)
    _check(seen, kind, verdict)
    said = Said(Side.ASSISTANT, REPLY[kind], flow=seen.flow)
    return (*history, said), _reply(seen, kind, verdict), verdict.action


def _key(history: tuple[Said, ...], seen: Seen, policy: Policy) -> tuple[object, ...]:
    track = follow(history, policy)
    return (track.state, min(track.messages, 3), track.has_replied, track.question is not None,
            track.is_unknown, track.matter, track.is_named, track.offered, track.refused,
            track.held_back, seen)  # fmt: skip


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.requirement("gate/overview/ask-then-act", "gate/rule-4/not-twice")
def test_no_sequence_of_eight_events_lets_an_action_through_that_must_not(name: str) -> None:
    policy = make_policy(name)
    start: tuple[tuple[Said, ...], Seen] = ((), Seen())
    known = {_key(*start, policy)}
    queue = deque([(start, 0)])
    offered: set[str] = set()
    while queue:
        (history, seen), depth = queue.popleft()
        if depth == DEPTH:
            continue
        for event in EVENTS:
            after, then, action = _step(history, seen, event, policy)
            offered |= {action} if action else set()
            key = _key(after, then, policy)
            if key not in known:
                known.add(key)
                queue.append(((after, then), depth + 1))
    assert offered == {"calendar", "email"}
    assert len(known) > 200


@settings(max_examples=120, deadline=None)
@given(
    events=st.lists(st.sampled_from(EVENTS), min_size=9, max_size=40),
    name=st.sampled_from(BOTH),
)
def test_longer_walks_keep_the_same_promises(events: list[str], name: str) -> None:
    history: tuple[Said, ...] = ()
    seen = Seen()
    for event in events:
        history, seen, _ = _step(history, seen, event, make_policy(name))
    assert len(history) == sum(not one.startswith("flow") for one in events)


@pytest.mark.requirement("gate/states/legal-moves")
def test_the_table_has_every_state_with_every_event_and_nothing_else() -> None:
    assert set(MOVES) == {(state, event) for state in State for event in Event}
    into_guiding = {pair for pair, state in MOVES.items() if state is State.GUIDING}
    assert {event for state, event in into_guiding if state is not State.GUIDING} == {
        Event.REPLY_GUIDES
    }
    assert move(State.CLARIFYING, Event.REPLY_GUIDES) is State.CLARIFYING


@pytest.mark.requirement("gate/states/initial")
def test_a_conversation_starts_where_nothing_triggers() -> None:
    assert follow((), make_policy()).state is State.INITIAL
    verdict = judge(PERSON["active"], REPLY["offers"])
    assert (verdict.action, verdict.state) == (None, State.INITIAL)


@pytest.mark.requirement("gate/states/clarifying", "gate/states/answering", "gate/states/guiding")
def test_a_whole_walk_goes_through_all_four_states() -> None:
    policy = make_policy()
    history: tuple[Said, ...] = (Said(Side.PERSON, PERSON["active"]),)
    asking = decide(history, REPLY["asks"], None, policy)
    history = (*history, Said(Side.ASSISTANT, REPLY["asks"]), Said(Side.PERSON, "Yes"))
    answering = follow(history, policy).state
    guiding = decide(history, REPLY["recommends"], None, policy)
    assert (asking.state, asking.action) == (State.CLARIFYING, None)
    assert answering is State.ANSWERING
    assert (guiding.state, guiding.action) == (State.GUIDING, "calendar")
    plain = decide(history, REPLY["plain"], None, policy)
    assert (plain.state, plain.action) == (State.ANSWERING, None)


@pytest.mark.parametrize(
    ("events", "action"),
    [
        (("declines", "plain", "active", "offers"), None),
        (("declines", "plain", "requests", "offers"), "calendar"),
        (("answers", "plain", "asks", "recommends"), None),
        (("declines", "plain", "another", "offers"), "calendar"),
        (("declines", "offers", "affirms", "offers"), "calendar"),
    ],
)
def test_what_was_offered_is_offered_again_only_for_a_new_reason(
    events: tuple[str, ...], action: str | None
) -> None:
    person = PERSON | {
        "another": "I have another employee, Dana Roth, who is late.",
        "affirms": "Yes please, go ahead.",
    }
    texts = [PERSON["active"], REPLY["asks"], PERSON["answers"], REPLY["offers"]]
    texts += [(person if at % 2 == 0 else REPLY)[name] for at, name in enumerate(events)]
    assert judge(*texts).action == action


def test_what_the_gate_withheld_was_not_offered() -> None:
    texts = (PERSON["active"], REPLY["asks"], PERSON["answers"])
    history = tuple(
        Said(Side.PERSON if at % 2 == 0 else Side.ASSISTANT, text) for at, text in enumerate(texts)
    )
    withheld = Said(Side.ASSISTANT, REPLY["offers"], is_withheld=True)
    again = (*history, withheld, Said(Side.PERSON, "Yes, please."))
    assert decide(again, REPLY["offers"], None, make_policy()).action == "calendar"
    offered = (*history, Said(Side.ASSISTANT, REPLY["offers"]), Said(Side.PERSON, "Thanks."))
    assert decide(offered, REPLY["offers"], None, make_policy()).rule == "already_offered"


def test_what_is_said_inside_a_flow_is_no_guidance_and_no_new_reason() -> None:
    texts = (PERSON["active"], REPLY["asks"], PERSON["answers"], REPLY["offers"])
    history = tuple(
        Said(Side.PERSON if at % 2 == 0 else Side.ASSISTANT, text) for at, text in enumerate(texts)
    )
    inside = (
        Said(Side.PERSON, "Yes, Dana Roth please", flow="calendar"),
        Said(Side.ASSISTANT, "You should send an email to confirm. Which time?", flow="calendar"),
        Said(Side.PERSON, "Ten", flow="calendar"),
    )
    track = follow((*history, *inside), make_policy())
    assert track.offered == {"calendar"}
    assert track.question is None
    assert (
        decide((*history, *inside), REPLY["offers"], None, make_policy()).rule == "already_offered"
    )


def test_a_long_history_is_followed_without_recursion() -> None:
    many = tuple(Said(Side(one), "Yes") for one in ("person", "assistant") * 2_000)
    assert follow(many, make_policy()).messages == 4_000
