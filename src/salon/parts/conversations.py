"""Conversations: one turn of a session with any avatar, its replay, and forgetting it.

Each capability is one function; edges validate, call it and shape the answer. A turn is one card
and one entry in the audit log, written together with what it changed in memory, or not at all.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from salon.blackboard.board import Board
from salon.conversation.discussion import LONGEST_UTTERANCE, Discussion, Utterance
from salon.conversation.turns import Turn, append_turn, as_session_id, read_turn, session_handle
from salon.core.clock import Clock, SystemClock, instant
from salon.core.errors import Conflict, ContentTooLarge, HandleMoved, InvalidInput, NotFound
from salon.core.events import TurnTaken
from salon.core.hashing import content_hash
from salon.core.text import require_text
from salon.parts.assistant import DEFAULT_ASSISTANT
from salon.parts.companion_turns import CompanionTurnsPart

if TYPE_CHECKING:
    from salon.blackboard.checking import Plan
    from salon.blackboard.replaying import Replayed
    from salon.conversation.memory.store import MemoryStore
    from salon.conversation.sessions import SessionState
    from salon.core.archive import ArchiveTransaction
    from salon.core.ids import SessionId
    from salon.experts.profile import Profile
    from salon.experts.replies import Reply
    from salon.gate.forms import Form, FormAnswer
    from salon.grounding.reports import ResponseReport
    from salon.parts.assistant_turns import AssistedTurn
    from salon.steps.turn_taking import Incoming, Outgoing
    from salon.steps.wire_shapes import WireEvent

    OnEvent = Callable[[WireEvent], None]

_log = logging.getLogger(__name__)
DEFAULT_COMPANION = "mina"
"""Who replies where nobody else was asked for."""
LONGEST_USER = 128
MOST_ATTEMPTS = 3
"""How often a turn is taken anew because another process was faster in the same session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenTurn:
    """A turn that was taken and recorded; `reply` is what the avatar says."""

    turn: Turn
    reply: str
    ai_label: str
    board: Board
    """Empty but for a companion's turn."""
    events: "tuple[WireEvent, ...]"
    assisted: "AssistedTurn | None" = None
    """Where flow and order stand, for an assistant's turn."""


class ConversationsPart(CompanionTurnsPart):
    """What the application can do with conversations, turn by turn."""

    clock: Clock = SystemClock()
    """What says when a turn is taken; a test or a script puts its own here."""

    if TYPE_CHECKING:
        # The application and its other parts have these.
        respond: Callable[..., Reply]
        verify_response: Callable[..., ResponseReport]
        assist: Callable[..., AssistedTurn]
        answer_flow: Callable[..., AssistedTurn]
        flow_request: Callable[[str], Form | None]
        ensure_assistant: Callable[[], Profile]
        profile: Callable[[str], Profile]
        new_avatar: Callable[[Profile], Profile]
        refresh_avatar: Callable[[str], Profile]
        _place: Callable[[str], Any]

    # Capabilities

    def take_turn(
        self,
        session: str,
        message: str,
        *,
        user: str = "user",
        avatar: str | None = None,
        on_event: "OnEvent | None" = None,
    ) -> TakenTurn:
        """Take one turn: a message in, a reply out, both recorded.

        A session goes on with the avatar that it began with. Turns of one session, and of one
        user, follow each other. A step that fails leaves its slot empty and never fails the turn.
        `on_event` hears verified parts of the reply while it is written, then every event.
        """
        name = as_session_id(session)
        _require_message(message)
        _require_user(user)
        self._ready_for_turns()
        with self.sessions.alone(f"session {name}", f"user {user}"):
            state = self.sessions.get(name)
            profile = self._partner_of(state, avatar)
            way = _WAYS.get(profile.salon.preset)
            if way is None:
                raise InvalidInput(
                    f"{profile.id} is a {profile.salon.preset}, and not talked to turn by turn",
                    hint=f"choose one with a preset of {', '.join(_WAYS)}; "
                    "`salon council --help` lists what a council does",
                )
            taken = way(self, state, profile, message, user, on_event)
        for event in taken.events if on_event else ():
            assert on_event is not None
            on_event(event)
        return taken

    def answer_flow_of(
        self, session: str, answer: "FormAnswer", *, user: str | None = None
    ) -> TakenTurn:
        """Answer the flow that waits in a session as one of its turns, or raise `Conflict`.

        Without a `user` it is whoever the session is held with.
        """
        name = as_session_id(session)
        self._ready_for_turns()
        with self.sessions.alone(f"session {name}"):
            state = self.sessions.get(name)
            if state.avatar is None:
                raise NotFound(f"there is no session {name}", hint="it exists with its first turn")
            who = user if user is not None else state.user or "user"
            _require_user(who)
            _require_own(state, who)
            if self.flow_request(name) is None:
                raise Conflict(
                    "nothing waits for an answer in this session",
                    hint="an action is offered in a turn with an assistant",
                )
            assisted = self.answer_flow(name, answer, avatar=state.avatar, user=who)
        return _taken_by_assistant(assisted)

    def replay_session(self, session: str) -> "Iterator[Replayed]":
        """Run every companion's turn of a session again, and compare each with its record.

        A turn of an expert or an assistant is not run again: its citations and claims are checked
        against the archive once more. Which of the two was done stands in `way`.
        """
        from salon.parts.checking_again import check_again
        from salon.steps.session_replay import replay_session

        self._ready_for_turns()
        return replay_session(
            self.archive,
            as_session_id(session),
            taking_of=lambda turn: self.companion_turns(self._outside_steps_of(turn)),
            resources_of=self._step_resources,
            check=lambda turn, state: check_again(turn, state, self.verify_response),
        )

    def forget_session(self, session: str) -> int:
        """Delete every turn of a session, its flows and the memories that came from it.

        Returns how many turns there were, or raises `NotFound`. Tombstones stay, and so does an
        approved action that is not over; what indexes and backups hold goes with `compact`.
        """
        from salon.conversation.sessions import forget_session
        from salon.gate.forgetting import forgetting_flows

        name = as_session_id(session)
        self._ready_for_turns()
        users = self._users_of(name)
        with self.sessions.alone(f"session {name}", *(f"user {user}" for user in users)):
            memories = [self._without_session(user, name) for user in users]
            forget_flows = forgetting_flows(self.archive, name)

            def along(tx: "ArchiveTransaction") -> None:
                forget_flows(tx)
                for memory in memories:
                    memory.commit(tx)

            count = forget_session(self.archive, name, along=along)
            for memory in memories:
                memory.settle()
            self.sessions.drop(name)
        return count

    def companion_plan(self, names: tuple[str, ...] = ()) -> "Plan":
        """Return the checked steps of a companion's turn, with these further ones."""
        return self.companion_turns(names).plan

    def step_medians(self) -> dict[str, float]:
        """Return how long each step took lately in this home: the median, in seconds."""
        return self._step_times.medians()

    def ensure_companion(self) -> "Profile":
        """Make the companion that comes with Salon, where it is not there yet."""
        import json
        from importlib.resources import files

        from salon.experts.profile import find_profile, make_profile

        found = find_profile(self.archive, DEFAULT_COMPANION)
        if found is not None:
            return found
        if self._place(DEFAULT_COMPANION).has_config():
            return self.refresh_avatar(DEFAULT_COMPANION)
        file = files("salon.experts").joinpath("demo_profiles", f"{DEFAULT_COMPANION}.json")
        return self.new_avatar(make_profile(json.loads(file.read_text("utf-8"))))

    def memory_of(self, user: str) -> "MemoryStore":
        """Return what is remembered of a user, for one turn."""
        return self._memory_library.open(user)

    # The ways of taking a turn, by preset

    def _take_companion_turn(
        self,
        state: "SessionState",
        profile: "Profile",
        message: str,
        user: str,
        _: "OnEvent | None",
    ) -> TakenTurn:
        taking = self.companion_turns((*self.settings.companion.steps, *profile.salon.steps))
        self._open_embedders(taking.plan)
        for attempt in range(1, MOST_ATTEMPTS + 1):
            # What steps look back at is only known now that their set is.
            state = self.sessions.get(state.session)
            _require_own(state, user)
            memory = self.memory_of(user)
            outgoing = taking.take(self.incoming_turn(state, profile, message, user, memory))
            try:
                self._record_companion_turn(outgoing, memory)
                break
            except HandleMoved:
                if attempt == MOST_ATTEMPTS:
                    raise
        self._step_times.note(outgoing.board.times)
        reply = outgoing.turn.reply
        return TakenTurn(
            turn=outgoing.turn,
            reply=str(reply["response"]),
            ai_label=str(reply["ai_label"]),
            board=outgoing.board,
            events=_companion_events(outgoing),
        )

    def _take_expert_turn(
        self,
        state: "SessionState",
        profile: "Profile",
        message: str,
        user: str,
        on_event: "OnEvent | None",
    ) -> TakenTurn:
        from salon.steps.wire import turn_events

        said = (*state.history.utterances, Utterance(role=user, content=message))
        reply = self.respond(
            profile.id,
            message,
            discussion=Discussion(utterances=said),
            session=state.session,
            speaker=user,
            heard=None if on_event is None else _parts_of(profile, state, on_event),
        )
        handle = self.archive.resolve(session_handle(state.session))
        turn = read_turn(self.archive, handle.current)
        return TakenTurn(
            turn=turn,
            reply=reply.response,
            ai_label=reply.ai_label,
            board=Board(turn=turn.number),
            events=turn_events(turn),
        )

    def _take_assistant_turn(
        self,
        state: "SessionState",
        profile: "Profile",
        message: str,
        user: str,
        _: "OnEvent | None",
    ) -> TakenTurn:
        assisted = self.assist(state.session, message, avatar=profile.id, user=user)
        return _taken_by_assistant(assisted)

    def incoming_turn(
        self,
        state: "SessionState",
        profile: "Profile",
        message: str,
        user: str,
        memory: "MemoryStore",
    ) -> "Incoming":
        """Return a message with everything that its turn is given, now."""
        from salon.steps.turn_taking import Incoming

        return Incoming(
            state=state,
            message=message,
            user=user,
            avatar=profile.id,
            at=instant(self.clock.now()),
            settings=self._given_by_profile(profile),
            resources=self._step_resources(memory),
            chat=self.chat,
            has_model_readings=self.settings.companion.model_readings,
        )

    def _record_companion_turn(self, outgoing: "Outgoing", memory: "MemoryStore") -> None:
        """Write the turn, its note and its memories, all or nothing."""
        turn, board = outgoing.turn, outgoing.board
        note = TurnTaken(
            avatar=turn.replier,
            session=turn.session,
            number=turn.number,
            message_sha256=content_hash(turn.message.encode()),
            absent=tuple(f"{one.slot}: {one.kind}" for one in board.failures),
        )
        if not outgoing.is_memory_whole:
            memory.discard()  # a step that failed leaves nothing half done
        card = append_turn(self.archive, turn, note=note, along=lambda tx, _card: memory.commit(tx))
        memory.settle()
        self.sessions.note(turn, card, outgoing.kept)

    def _partner_of(self, state: "SessionState", avatar: str | None) -> "Profile":
        wanted = avatar or state.avatar or DEFAULT_COMPANION
        makes = {DEFAULT_COMPANION: self.ensure_companion, DEFAULT_ASSISTANT: self.ensure_assistant}
        profile = makes[wanted]() if wanted in makes else self.profile(wanted)
        # What was edited in its folder counts from this turn on.
        profile = self.refresh_avatar(profile.id)
        if state.avatar not in {None, wanted}:
            held = self.profile(state.avatar or "")
            # Experts may take turns in one session: a gathering is such a one.
            if {held.salon.preset, profile.salon.preset} != {"expert"}:
                raise InvalidInput(
                    f"session {state.session} is held with {state.avatar}",
                    hint=f"begin another session to talk with {wanted}",
                )
        return profile

    def _without_session(self, user: str, session: "SessionId") -> "MemoryStore":
        """Return a user's memory from which what came from a session is about to go."""
        memory = self.memory_of(user)
        memory.forget(
            one.id
            for one in memory.memories()
            if any(source.session == session for source in one.sources)
        )
        return memory

    def _users_of(self, session: "SessionId") -> list[str]:
        from salon.conversation.turns import walk_turns

        found = {turn.user for turn in walk_turns(self.archive, session) if turn.user}
        return sorted(found)


_WAYS: dict[str, Callable[..., TakenTurn]] = {
    "companion": ConversationsPart._take_companion_turn,  # noqa: SLF001 - its own table
    "expert": ConversationsPart._take_expert_turn,  # noqa: SLF001
    "assistant": ConversationsPart._take_assistant_turn,  # noqa: SLF001
}
"""How a turn is taken, by the preset of the avatar."""


def _taken_by_assistant(assisted: "AssistedTurn") -> TakenTurn:
    from salon.steps.wire import turn_events

    return TakenTurn(
        turn=assisted.turn,
        reply=assisted.text,
        ai_label=assisted.reply.ai_label,
        board=Board(turn=assisted.turn.number),
        events=turn_events(assisted.turn),
        assisted=assisted,
    )


def _parts_of(
    profile: "Profile", state: "SessionState", on_event: "OnEvent"
) -> Callable[[str], None]:
    """Return what hears the next part of a reply and tells it as an event that is not kept."""
    from salon.experts.limits import label_of
    from salon.steps.wire import reply_id
    from salon.steps.wire_shapes import ReplyDelta

    def tell(piece: str) -> None:
        on_event(
            ReplyDelta(
                event_id=reply_id(state.number),
                content=piece,
                bot_id=profile.id,
                turn=state.number + 1,
                ai_label=label_of(profile),
            )
        )

    return tell


def _require_own(state: "SessionState", user: str) -> None:
    if state.user not in {None, user}:
        raise Conflict(
            f"session {state.session} belongs to somebody else", hint="begin another session"
        )


def _companion_events(outgoing: "Outgoing") -> "tuple[WireEvent, ...]":
    """Return the events of a turn; a reading that the wire cannot carry takes no reply along."""
    from pydantic import ValidationError

    from salon.steps.wire import turn_events

    try:
        return turn_events(outgoing.turn, outgoing.board)
    except ValidationError as error:
        _log.warning("a reading fits no event: %s", error.title)
        return turn_events(outgoing.turn, Board(turn=outgoing.turn.number))


def _require_message(message: str) -> None:
    if not require_text(message, "the message").strip():
        raise InvalidInput("the message is empty", hint="say something")
    if len(message) > LONGEST_UTTERANCE:
        raise ContentTooLarge(
            f"a message of {len(message):,} characters is too long",
            hint=f"keep it below {LONGEST_UTTERANCE:,}",
        )


def _require_user(user: str) -> None:
    require_text(user, "the id of the user")
    if not user.strip() or len(user) > LONGEST_USER or not user.isprintable():
        raise InvalidInput(
            f"{user[:40]!r} cannot be the id of a user",
            hint=f"use 1 to {LONGEST_USER} characters that can be printed",
        )
