"""A flow: one action on its way from the offer to the approval. Pure: no clock, no disk, no server.

What an answer means depends on the step; the tables in `flow_table` and `answers` say where it
leads. A flow holds everything it needs, so that it goes on after a restart as if nothing had been.
Invariant: a flow in `CONFIRMING` carries the digest of exactly the arguments that were shown.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from salon.core.clock import instant, parse_instant
from salon.gate.actions import Action, Field, Problem, Reading, Situation
from salon.gate.answers import find_changes, is_cancel, is_no, is_skip, is_yes
from salon.gate.approval import POLICY_VERSION, Proposal
from salon.gate.flow_table import ENDS, Event, Step, move
from salon.gate.time_answers import read_time

LIFETIME = timedelta(minutes=30)
"""How long a flow waits for an answer."""
VARIABLES = "variables"
"""The name under which placeholders of a text are asked for."""
PLACEHOLDER = re.compile(r"\[([A-Za-z][^\[\]\n]{0,60})\]")

IsTaken: TypeAlias = Callable[[datetime, int], bool | None]
"""Tells whether so many minutes from an instant on are taken; `None` where nobody can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One action on its way; `arguments` are canonical values, `slots` instants that were shown."""

    id: str
    session: str
    action: str
    step: Step
    opened_at: str
    touched_at: str
    arguments: dict[str, str] = field(default_factory=dict)
    suggested: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What the conversation suggests for a field; only an answer makes it an argument."""
    skipped: tuple[str, ...] = ()
    asking: str | None = None
    """The field that is asked for, or the placeholder where `step_name` ends in `variables`."""
    is_placeholder: bool = False
    slots: tuple[str, ...] = ()
    has_looked: bool = False
    unclear: int = 0
    shown_turn: int | None = None
    digest: str | None = None
    policy: str = POLICY_VERSION
    order: str | None = None

    @property
    def is_active(self) -> bool:
        """Tell whether an answer is awaited."""
        return self.step not in ENDS

    @property
    def step_name(self) -> str:
        """The step as the wire has it: `awaiting_employee_name` where that field is asked for."""
        if self.step is not Step.ASKING:
            return self.step.value
        return f"awaiting_{VARIABLES if self.is_placeholder else self.asking}"

    @property
    def starts(self) -> tuple[datetime, ...]:
        """The times that were shown."""
        return tuple(parse_instant(one) for one in self.slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What an answer means: the event, what it changes, and what to tell the person about it."""

    event: Event
    arguments: dict[str, str] = field(default_factory=dict)
    say: str = ""
    drops: str | None = None
    """The field whose suggestion was turned down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A flow after an event, and what to tell the person before the next question."""

    flow: Flow
    event: Event
    say: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """The moment of an answer: the time, the turn, and a look into the calendar."""

    reading: Reading
    turn: int
    is_taken: IsTaken = lambda _start, _minutes: None


def open_flow(
    action: Action, situation: Situation, *, id_: str, session: str, reading: Reading
) -> Flow:
    """Return a flow that has just been offered, with what is known already."""
    now = instant(reading.now)
    return Flow(
        id=id_,
        session=session,
        action=action.name,
        step=Step.OFFERED,
        opened_at=now,
        touched_at=now,
        arguments=checked(action, action.begin(situation), reading),
        suggested=_suggested(action, situation, reading),
    )


def _suggested(
    action: Action, situation: Situation, reading: Reading
) -> dict[str, tuple[str, ...]]:
    """Return those suggestions that their fields accept, in canonical form."""
    found: dict[str, tuple[str, ...]] = {}
    for name, values in action.suggest(situation).items():
        accepted = (checked(action, {name: value}, reading) for value in values)
        if kept := tuple(dict.fromkeys(value for one in accepted for value in one.values())):
            found[name] = kept
    return found


def checked(action: Action, arguments: object, reading: Reading) -> dict[str, str]:
    """Return those arguments that their fields accept, in canonical form."""
    found: dict[str, str] = {}
    for name, value in dict(arguments).items():  # type: ignore[call-overload]
        one = action.find_field(name)
        accepted = one.check(value, reading) if one else Problem("")
        if one and isinstance(accepted, str):
            found[one.name] = accepted
    return found


def is_expired(flow: Flow, now: datetime) -> bool:
    """Tell whether a flow has waited too long."""
    return flow.is_active and now - parse_instant(flow.touched_at) > LIFETIME


def take_answer(flow: Flow, text: str, action: Action, at: At) -> Taken:
    """Return a flow after an answer of the person; one that looks up times takes none."""
    if is_expired(flow, at.reading.now):
        return take_event(flow, Read(event=Event.EXPIRE), action, at)
    if is_cancel(text):
        return take_event(flow, Read(event=Event.CANCEL), action, at)
    return take_event(flow, READERS[flow.step](flow, text, action, at), action, at)


def take_slots(flow: Flow, slots: Sequence[datetime] | None, action: Action, at: At) -> Taken:
    """Return a flow after a look into the calendar; `None` where that failed."""
    event = Event.LOOKUP_FAILED if slots is None else Event.SLOTS if slots else Event.NO_SLOTS
    looked = replace(flow, slots=tuple(instant(one) for one in slots or ()), has_looked=True)
    return take_event(looked, Read(event=event), action, at)


def take_event(flow: Flow, read: Read, action: Action, at: At) -> Taken:
    """Move a flow along the table."""
    step = move(flow.step, read.event)
    unclear = flow.unclear + 1 if read.event in {Event.UNCLEAR, Event.BAD_ANSWER} else 0
    skipped = flow.skipped
    if read.event is Event.SKIP and flow.asking is not None:
        skipped = (*skipped, flow.asking)
    moved = replace(
        flow,
        arguments=filled(action, flow.arguments | read.arguments),
        suggested={name: one for name, one in flow.suggested.items() if name != read.drops},
        skipped=skipped,
        unclear=unclear,
        touched_at=instant(at.reading.now),
    )
    moved = _rest(moved, action, at) if step is Step.NEXT else replace(moved, step=step)
    return Taken(flow=moved, event=read.event, say=read.say)


def _rest(flow: Flow, action: Action, at: At) -> Flow:
    """Find what is missing; where nothing is, bind the approval to the arguments as they are."""
    calm = replace(flow, asking=None, is_placeholder=False, digest=None, shown_turn=None)
    if action.time_field is not None and action.time_field not in flow.arguments:
        return replace(calm, step=Step.CHOOSING if flow.has_looked else Step.FETCHING)
    for one in action.fields:
        if one.name not in flow.arguments and one.name not in flow.skipped:
            return replace(calm, step=Step.ASKING, asking=one.name)
    if (placeholder := find_placeholder(action, flow.arguments)) is not None:
        return replace(calm, step=Step.ASKING, asking=placeholder, is_placeholder=True)
    shown = replace(calm, step=Step.CONFIRMING, shown_turn=at.turn, policy=POLICY_VERSION)
    return replace(shown, digest=proposal_of(shown).digest)


def proposal_of(flow: Flow) -> Proposal:
    """Return what a flow's approval would be bound to."""
    return Proposal(
        action=flow.action,
        arguments=flow.arguments,
        policy=flow.policy,
        session=flow.session,
        turn=flow.shown_turn or 0,
    )


def find_placeholder(action: Action, arguments: dict[str, str]) -> str | None:
    """Return the first thing in square brackets that the text still leaves open."""
    if action.text_field is None:
        return None
    match = PLACEHOLDER.search(arguments.get(action.text_field, ""))
    return match[1] if match else None


def filled(action: Action, arguments: dict[str, str]) -> dict[str, str]:
    """Return arguments with placeholders replaced by the fields that they name."""
    if action.text_field is None or action.text_field not in arguments:
        return arguments

    def value(match: re.Match[str]) -> str:
        one = action.find_field(match[1])
        known = arguments.get(one.name) if one and one.name != action.text_field else None
        return known if known is not None else match[0]

    text = PLACEHOLDER.sub(value, arguments[action.text_field])
    return arguments | {action.text_field: text}


# What an answer means, step by step


def _read_offered(flow: Flow, text: str, _action: Action, _at: At) -> Read:
    if is_yes(text):
        return Read(event=Event.ACCEPT)
    if is_no(text):
        return Read(event=Event.DECLINE)
    return Read(event=Event.MOVE_ON if flow.unclear else Event.UNCLEAR)


def _read_choosing(flow: Flow, text: str, action: Action, at: At) -> Read:
    if len(flow.slots) == 1 and is_yes(text):
        return _chosen(flow.starts[0], flow, action, at)
    found = read_time(text, at.reading, offered=flow.starts, minutes=minutes_of(flow))
    if found is None or isinstance(found, Problem):
        return Read(event=Event.UNCLEAR, say=found.text if found else "")
    return _chosen(found, flow, action, at)


def _chosen(start: datetime, flow: Flow, action: Action, at: At) -> Read:
    if at.is_taken(start, minutes_of(flow)):
        return Read(event=Event.UNCLEAR, say="That time is taken by now.")
    return Read(event=Event.CHOOSE, arguments={action.time_field or "": instant(start)})


def _read_asking(flow: Flow, text: str, action: Action, at: At) -> Read:
    if changed := _read_change(flow, text, action, at, is_loose=False):
        return changed
    if flow.is_placeholder:
        return _read_placeholder(flow, text, action, at)
    asked = _field(action, flow.asking)
    if not asked.is_required and is_skip(text):
        return Read(event=Event.SKIP)
    known = flow.suggested.get(asked.name, ())
    if known and is_no(text):
        return Read(event=Event.BAD_ANSWER, drops=asked.name)
    answer = known[0] if len(known) == 1 and is_yes(text) else text
    accepted = asked.check(answer, at.reading)
    if isinstance(accepted, Problem):
        return Read(event=Event.BAD_ANSWER, say=accepted.text)
    return Read(event=Event.ANSWER, arguments={asked.name: accepted})


def _read_placeholder(flow: Flow, text: str, action: Action, at: At) -> Read:
    asked = _field(action, action.text_field)
    value = text.strip()
    if not value or PLACEHOLDER.search(value) or "?" in value or is_yes(value) or is_no(value):
        say = "Please give the words that shall stand there."
        return Read(event=Event.BAD_ANSWER, say=say)
    body = flow.arguments[asked.name].replace(f"[{flow.asking}]", value)
    accepted = asked.check(body, at.reading)
    if isinstance(accepted, Problem):
        return Read(event=Event.BAD_ANSWER, say=accepted.text)
    return Read(event=Event.ANSWER, arguments={asked.name: accepted})


def _read_confirming(flow: Flow, text: str, action: Action, at: At) -> Read:
    if is_yes(text):
        return read_approval(flow, flow.digest, action, at)
    if is_no(text):
        return Read(event=Event.DECLINE)
    changed = _read_change(flow, text, action, at, is_loose=True)
    return changed or Read(event=Event.UNCLEAR)


def read_approval(flow: Flow, digest: str | None, action: Action, at: At) -> Read:
    """Read an approval that names a digest; what does not fit exactly is asked for again."""
    if flow.policy != POLICY_VERSION:
        return Read(event=Event.VOID, say="The rules have changed since this was shown.")
    if digest != flow.digest or digest != proposal_of(flow).digest:
        return Read(event=Event.VOID, say="This is not what was approved.")
    if (start := flow.arguments.get(action.time_field or "")) is not None:
        moment = parse_instant(start)
        if moment <= at.reading.now:
            say = "That time has passed; say `change the time to` and another one, or cancel."
            return Read(event=Event.UNCLEAR, say=say)
        if at.is_taken(moment, minutes_of(flow)):
            say = "That time is taken by now; say `change the time to` and another one, or cancel."
            return Read(event=Event.UNCLEAR, say=say)
    return Read(event=Event.APPROVE)


def _read_change(flow: Flow, text: str, action: Action, at: At, *, is_loose: bool) -> Read | None:
    """Read `change X to Y`; the looser forms (`subject: …`) count only where a draft is shown."""
    for change in find_changes(text, is_loose=is_loose):
        name = action.time_field if change.field.casefold() == "it" else change.field
        one = action.find_field(name) if name else None
        if one is not None:
            return _changed(flow, one, change.value, action, at)
    return None


def _changed(flow: Flow, one: Field, value: str, action: Action, at: At) -> Read:
    if one.name == action.time_field:
        found = read_time(value, at.reading, offered=flow.starts, minutes=minutes_of(flow))
        if not isinstance(found, datetime):
            say = found.text if found else "I did not understand that time."
            return Read(event=Event.BAD_CHANGE, say=say)
        if at.is_taken(found, minutes_of(flow)):
            return Read(event=Event.BAD_CHANGE, say="That time is taken.")
        return Read(event=Event.CHANGE, arguments={one.name: instant(found)})
    accepted = one.check(value, at.reading)
    if isinstance(accepted, Problem):
        return Read(event=Event.BAD_CHANGE, say=accepted.text)
    return Read(event=Event.CHANGE, arguments=_with_text(flow, one, accepted, action))


def _with_text(flow: Flow, one: Field, value: str, action: Action) -> dict[str, str]:
    """Return a changed field, and the text in which its old value stood."""
    old, name = flow.arguments.get(one.name), action.text_field
    if old is None or name is None or name == one.name:
        return {one.name: value}
    whole = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    return {one.name: value, name: whole.sub(lambda _: value, flow.arguments.get(name, ""))}


def minutes_of(flow: Flow) -> int:
    """Return how long a call is."""
    return int(flow.arguments.get("minutes", "30"))


def _field(action: Action, name: str | None) -> Field:
    return next(one for one in action.fields if one.name == name)


READERS: dict[Step, Callable[[Flow, str, Action, At], Read]] = {
    Step.OFFERED: _read_offered,
    Step.CHOOSING: _read_choosing,
    Step.ASKING: _read_asking,
    Step.CONFIRMING: _read_confirming,
}
