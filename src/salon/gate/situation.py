"""Where a conversation stands: a fold over what was said, message by message.

Each reply of the history is judged by the same rules as the one at hand, so that what was offered
before is known without anybody keeping a list. What was told inside a flow is not read as guidance.
Tracks of histories are kept, so the next turn only adds what is new.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from salon.gate.lexicon import Lexicon
from salon.gate.messages import MessageReading, read_message
from salon.gate.open_questions import leaves_open
from salon.gate.policy import Policy
from salon.gate.signals import LIVE, Found, ReplyReading, read_reply
from salon.gate.states import Event, State, move
from salon.gate.verdicts import Said, Side, SignalSpan

Matter = Literal["active", "hypothetical", "unknown"]
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """What is known of a conversation after some messages."""

    state: State = State.INITIAL
    messages: int = 0
    has_replied: bool = False
    question: int | None = None
    """The index of the assistant's latest question that nobody answered yet."""
    is_unknown: bool = False
    """Whether the person does not know or tell the answer; a request is then taken as it is."""
    matter: Matter = "unknown"
    matter_spans: tuple[SignalSpan, ...] = ()
    """What in the history says what the person speaks of."""
    is_named: bool = False
    """Whether there is somebody that a pronoun can stand for."""
    names: frozenset[str] = _NOTHING
    offered: frozenset[str] = _NOTHING
    """The actions that were offered and that nothing new speaks for."""
    refused: frozenset[str] = _NOTHING
    held_back: str | None = None
    """The action that the latest reply spoke of and that was withheld, offered before or refused;
    a plain yes to it is a request."""


START = Track()


class Situation(NamedTuple):
    """What the rules look at: the track before a reply, the reply, and one action in it, if any."""

    policy: Policy
    flow: str | None
    track: Track
    reading: ReplyReading
    candidate: Found | None


Judge = Callable[[Policy, str | None, Track, ReplyReading], tuple[str | None, State]]
"""Judges a reply: the action it may offer, and the state that it leads to."""


def event_of(track: Track, reading: ReplyReading, policy: Policy) -> Event:
    """Return what a reply is, for the state table."""
    if reading.asking:
        return Event.REPLY_ASKS
    if reading.is_guiding and has_depth(track, policy):
        return Event.REPLY_GUIDES
    return Event.REPLY_TELLS


def has_depth(track: Track, policy: Policy) -> bool:
    """Tell whether enough was said for an action, counted before the reply is appended."""
    return track.messages >= policy.minimum_depth and track.has_replied


class Tracks:
    """Tracks of histories, of which the latest used are kept."""

    __slots__ = ("_judge", "_kept", "_most")

    def __init__(self, judge: Judge, *, most: int = 2_048) -> None:
        self._judge = judge
        self._kept: OrderedDict[tuple[Lexicon, str, int, tuple[Said, ...]], Track] = OrderedDict()
        self._most = most

    def follow(self, history: tuple[Said, ...], policy: Policy, lexicon: Lexicon) -> Track:
        """Return where a conversation stands after a history."""
        key = (lexicon, policy.name, policy.minimum_depth, history)
        kept = self._kept
        track = kept.get(key)
        if track is not None:
            return track
        done = len(history)
        # A turn adds two messages, so its history is that of the turn before and two more.
        for fewer in (1, 2):
            if fewer < len(history):
                track = kept.get((*key[:3], history[:-fewer]))
                if track is not None:
                    done = fewer
                    break
        track = track or START
        for said in history[-done:]:
            track = self._add(track, said, history, policy, lexicon)
        kept[key] = track
        if len(kept) > self._most:
            kept.popitem(last=False)
        return track

    def _add(
        self,
        track: Track,
        said: Said,
        history: tuple[Said, ...],
        policy: Policy,
        lexicon: Lexicon,
    ) -> Track:
        if said.side is Side.PERSON:
            return _hear(track, said, history, lexicon)
        if said.flow is not None:
            return replace(track, messages=track.messages + 1, has_replied=True)
        reading = read_reply(said.text, lexicon)
        action, state = self._judge(policy, None, track, reading)
        is_offered = action is not None and not said.is_withheld
        return replace(
            track,
            state=state,
            messages=track.messages + 1,
            has_replied=True,
            question=track.messages if reading.asking else track.question,
            is_unknown=track.is_unknown and not reading.asking,
            offered=track.offered | {action} if is_offered and action else track.offered,
            held_back=None if is_offered else _held_back(track, reading, action),
        )


def _held_back(track: Track, reading: ReplyReading, action: str | None) -> str | None:
    """Return what a reply speaks of although it was withheld, offered before or turned down."""
    if action is not None or reading.asking:
        return action
    closed = track.offered | track.refused
    named = (one.action for one in reading.best if one.kind in LIVE and one.action in closed)
    return next(named, None)


def _hear(track: Track, said: Said, history: tuple[Said, ...], lexicon: Lexicon) -> Track:
    """Return the track after a message of the person."""
    at = track.messages
    reading = read_message(said.text, lexicon)
    names = track.names | reading.names
    if said.flow is not None:
        state = move(track.state, Event.PERSON_SPEAKS)
        return replace(
            track, state=state, messages=at + 1, question=None, is_unknown=False, names=names,
            held_back=None,
        )  # fmt: skip
    is_open = _is_still_open(track, reading, history, lexicon)
    wanted = reading.requests
    if reading.is_consenting and track.held_back is not None:
        wanted = wanted | {track.held_back}
    matter = _matter(track, reading, is_asked=bool(wanted))
    is_told = reading.stance != "neutral" or bool(wanted) or matter != track.matter
    offered, refused = track.offered - wanted, (track.refused | reading.refusals) - wanted
    if matter == "active" and (offered or refused) and _is_new(track, reading, history, at):
        offered, refused = _NOTHING, reading.refusals
    return replace(
        track,
        state=move(track.state, Event.PERSON_EVADES if is_open else Event.PERSON_SPEAKS),
        messages=at + 1,
        question=track.question if is_open else None,
        is_unknown=is_open and (track.is_unknown or "unknowing" in reading.evasions),
        matter=matter,
        matter_spans=_placed(reading.spans, at) if is_told else track.matter_spans,
        is_named=track.is_named or reading.stance == "active",
        names=names,
        offered=offered,
        refused=refused,
        held_back=None,
    )


def _is_still_open(
    track: Track, reading: MessageReading, history: tuple[Said, ...], lexicon: Lexicon
) -> bool:
    """Tell whether the assistant's question is open after a message."""
    if track.question is None:
        return False
    if track.is_unknown and reading.requests:
        return False  # there is no more to be had, and the person asks for it all the same
    asked = read_reply(history[track.question].text, lexicon)
    return leaves_open(reading, asked, lexicon)


def _placed(spans: tuple[SignalSpan, ...], at: int) -> tuple[SignalSpan, ...]:
    return tuple(replace(one, where=at) for one in spans)


def _matter(track: Track, reading: MessageReading, *, is_asked: bool) -> Matter:
    if is_asked or reading.stance == "active":
        return "active"
    if reading.stance == "hypothetical":
        return "hypothetical"
    if reading.stance == "bound" and track.is_named:
        return "active"
    # Who calls it off wants nothing done about it, until they speak of it again.
    return "unknown" if "calls_off" in reading.evasions else track.matter


def _is_new(track: Track, reading: MessageReading, history: tuple[Said, ...], at: int) -> bool:
    """Tell whether a message opens another matter: it says so, or names somebody new."""
    if reading.is_other_matter:
        return True
    fresh = reading.names - track.names
    return any(all(name not in said.text for said in history[:at]) for name in fresh)
