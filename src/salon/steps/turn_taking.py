"""One turn of a companion: from a message to a record that can be replayed.

It builds the board and the record, and writes nothing. Everything that the reply depends on is in
the record or in the turns before it; what is only worked with (embedder, memory) is handed in.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from salon.blackboard.board import Board
from salon.blackboard.checking import make_plan
from salon.blackboard.recording import (
    RecordingChat,
    ReplayedChat,
    as_model_record,
    read_model_record,
)
from salon.blackboard.replaying import Replayed, compare, settled_by_the_machine
from salon.blackboard.running import Runner
from salon.blackboard.slots import Dated, Given, Resource, Slot
from salon.blackboard.steps import Step, slots_read
from salon.blackboard.values import as_record, decode, encode
from salon.blackboard.workers import Workers
from salon.conversation.sessions import SessionState
from salon.conversation.turns import Turn
from salon.core.absent import Absent
from salon.core.chat import ChatModel
from salon.core.errors import InvalidDocument
from salon.core.hashing import content_hash
from salon.steps.discussion_room import DISCUSSION_ROOM
from salon.steps.emotion import EMOTION_EMBEDDER, READINGS_CHAT
from salon.steps.given import CHAT, EMBEDDER, HISTORY, MESSAGE, NOW, SEED, USER
from salon.steps.memory_recall import MEMORY, SESSION
from salon.steps.persona import COMPANION_PROFILE, REPLY

_log = logging.getLogger(__name__)
COMPANION_PRESET = "companion"
IN_EVERY_TURN: tuple[Given[Any], ...] = (MESSAGE, HISTORY, USER, NOW, SESSION, SEED)
BY_PROFILE: tuple[Given[Any], ...] = (COMPANION_PROFILE, DISCUSSION_ROOM)
"""What profile and settings give to the steps."""
RESOURCES: tuple[Resource[Any], ...] = (
    CHAT,
    READINGS_CHAT,
    EMBEDDER,
    EMOTION_EMBEDDER,
    MEMORY,
)
NO_MODEL = Absent("no chat model is set")
NO_REPLY = (
    "I have no reply: the part of me that writes it failed. "
    "What you said is kept; please say it again, or in other words."
)
AI_LABEL = "AI"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message on its way into a turn."""

    state: SessionState
    message: str
    user: str
    avatar: str
    at: str
    settings: Mapping[Slot[Any], Any]
    """What the steps are given by profile and settings; recorded."""
    resources: Mapping[Slot[Any], Any]
    chat: ChatModel | None = None
    has_model_readings: bool = False
    """Whether the chat model also reads feelings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A turn that was run and is not recorded yet."""

    turn: Turn
    board: Board
    kept: Mapping[str, Dated[Any]]
    """What later turns may look back at, by slot."""
    is_memory_whole: bool
    """Whether what the steps laid down in memory may be written."""


class TurnTaking:
    """Takes and replays the turns of one set of steps."""

    def __init__(self, steps: Iterable[Step[Any]], workers: Workers) -> None:
        self.plan = make_plan(steps, given=(*IN_EVERY_TURN, *BY_PROFILE, *RESOURCES))
        self.runner = Runner(self.plan, workers)
        self._recorded = tuple(
            slot for slot in self.plan.given if isinstance(slot, Given) and _is_extra(slot)
        )
        self._with_memory = {step.name for step in self.plan.steps if MEMORY in step.reads}

    def take(self, incoming: Incoming) -> Outgoing:
        """Run the turn that a message begins."""
        state, number = incoming.state, incoming.state.number + 1
        chat = None if incoming.chat is None else RecordingChat(incoming.chat)
        given = self.given(incoming, chat)
        board = self.runner.run(number, given=given, past=state.past)
        turn = Turn(
            number=number,
            session=state.session,
            speaker=incoming.user,
            message=incoming.message,
            replier=incoming.avatar,
            reply=reply_of(board),
            at=incoming.at,
            previous=state.head,
            preset=COMPANION_PRESET,
            user=incoming.user,
            given={slot.name: as_record(encode(slot, given[slot])) for slot in self._recorded},
            model=_model_record(chat, has_readings=incoming.has_model_readings),
            board=board.record(),
        )
        held = ((slot.name, board[slot]) for slot in self.plan.past)
        kept = {
            name: Dated(turn=number, value=value)
            for name, value in held
            if not isinstance(value, Absent)
        }
        return Outgoing(
            turn=turn, board=board, kept=kept, is_memory_whole=self.is_memory_whole(board)
        )

    def given(self, incoming: Incoming, chat: ChatModel | None = None) -> dict[Slot[Any], Any]:
        """Return what the steps are given in the turn that a message begins."""
        state = incoming.state
        return {
            MESSAGE: incoming.message,
            HISTORY: state.history,
            USER: incoming.user,
            NOW: incoming.at,
            SESSION: str(state.session),
            SEED: make_seed(state.session, state.number + 1, incoming.at),
            **_chats(chat, has_readings=incoming.has_model_readings),
            **incoming.settings,
            **incoming.resources,
        }

    def replay(
        self, turn: Turn, state: SessionState, resources: Mapping[Slot[Any], Any]
    ) -> tuple[Replayed, Board]:
        """Run a recorded turn again after the turns before it, and compare."""
        chat = _replayed_chat(turn)
        given: dict[Slot[Any], Any] = {
            MESSAGE: turn.message,
            HISTORY: state.history,
            USER: turn.user,
            NOW: turn.at,
            SESSION: str(turn.session),
            **_chats(chat, has_readings=bool((turn.model or {}).get("readings"))),
            **resources,
        }
        found = turn.given or {}
        given |= {
            slot: decode(slot, found[slot.name]) for slot in self._recorded if slot.name in found
        }
        board = self.runner.run(
            turn.number, given=given, past=state.past, settled=settled_by_the_machine(turn)
        )
        order = [slot.name for slot in self.plan.slots]
        return compare(turn, board, reply=reply_of(board), order=order), board

    def is_memory_whole(self, board: Board) -> bool:
        """Tell whether every step that works with memory did so to its end, or not at all."""
        return not self._with_memory & {one.step for one in board.failures}


def with_patience(steps: Iterable[Step[Any]], chat_s: float) -> tuple[Step[Any], ...]:
    """Return the steps; those that may ask a chat model get the time that it may take as well."""
    return tuple(
        replace(step, timeout_s=step.timeout_s + chat_s)
        if {CHAT, READINGS_CHAT} & set(slots_read(step))
        else step
        for step in steps
    )


def kept_of(turn: Turn, slots: Iterable[Slot[Any]]) -> dict[str, Dated[Any]]:
    """Return what a recorded turn holds in these slots.

    Those that are empty are left out, and so is what another Salon wrote in a form of its own: a
    conversation goes on after an update.
    """
    fixed = {MESSAGE.name: turn.message, NOW.name: turn.at, USER.name: turn.user}
    held = {**(turn.given or {}), **(turn.board or {})}
    found: dict[str, Dated[Any]] = {}
    for slot in slots:
        value: Any = fixed.get(slot.name)
        if value is None and slot.name in held:
            value = _readable(slot, held[slot.name])
        if value is not None and not isinstance(value, Absent):
            found[slot.name] = Dated(turn=turn.number, value=value)
    return found


def _readable(slot: Slot[Any], recorded: object) -> Any:
    try:
        return decode(slot, recorded)
    except InvalidDocument as error:
        _log.warning("%s", error.message)
        return Absent("it was recorded in another form")


def reply_of(board: Board) -> dict[str, object]:
    """Return the reply as the turn's record has it; an honest one where no step wrote any."""
    reply = board[REPLY]
    if isinstance(reply, Absent):
        return {"response": NO_REPLY, "ai_label": AI_LABEL, "outcome": "no_reply"}
    return {**asdict(reply), "outcome": "answered"}


def make_seed(session: str, number: int, at: str) -> int:
    """Return where a turn's randomness starts."""
    return int(content_hash(f"{session}\n{number}\n{at}".encode())[:12], 16)


def _is_extra(slot: Given[Any]) -> bool:
    """Tell whether a given is recorded by name, and not by the turn's own fields."""
    return slot.name == SEED.name or slot not in IN_EVERY_TURN


def _chats(chat: ChatModel | None, *, has_readings: bool) -> dict[Slot[Any], Any]:
    no_readings = Absent("companion.model_readings is off")
    return {
        CHAT: NO_MODEL if chat is None else chat,
        READINGS_CHAT: NO_MODEL if chat is None else chat if has_readings else no_readings,
    }


def _model_record(chat: RecordingChat | None, *, has_readings: bool) -> dict[str, object] | None:
    if chat is None:
        return None
    return {
        "address": chat.address,
        "readings": has_readings,
        "said": as_model_record(chat.record()),
    }


def _replayed_chat(turn: Turn) -> ReplayedChat | None:
    match turn.model:
        case None:
            return None
        case {"address": str(address), "said": dict(said)}:
            return ReplayedChat(address, read_model_record(said))
    raise InvalidDocument(f"turn {turn.number} of {turn.session} has no readable model record")
