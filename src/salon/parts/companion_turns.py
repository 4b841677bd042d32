"""What a companion's turns stand on: its steps, what they are given, sessions and memories.

It builds and hands out; `salon.parts.conversations` takes the turns.
"""

import threading
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from salon.conversation.turns import Turn
from salon.core.absent import Absent

if TYPE_CHECKING:
    from salon.archive.sqlite_archive import SqliteArchive
    from salon.blackboard.checking import Plan
    from salon.blackboard.slots import Slot
    from salon.blackboard.steps import Step
    from salon.blackboard.times import StepTimes
    from salon.blackboard.workers import Workers
    from salon.conversation.memory.archived import MemoryLibrary
    from salon.conversation.memory.store import MemoryStore
    from salon.conversation.sessions import Sessions
    from salon.core.chat import ChatModel
    from salon.core.embedding import Embedder
    from salon.experts.profile import Profile
    from salon.settings import Settings
    from salon.steps.shared_embedder import SharedEmbedder
    from salon.steps.turn_taking import TurnTaking

NOT_READ = Absent("no step reads it")
_MAKING = threading.RLock()
"""Held while something is made that there must be one of, however many threads begin at once."""


class CompanionTurnsPart:
    """The application's steps, and what they work with."""

    if TYPE_CHECKING:
        settings: Settings

        @property
        def archive(self) -> SqliteArchive:
            """The application's archive."""

        @property
        def chat(self) -> ChatModel | None:
            """The chat model of the settings."""

        @property
        def _token_embedder(self) -> Any:
            """The embedder on which the steps were trained."""

    def _ready_for_turns(self) -> None:
        """Make what all turns share, once."""
        with _MAKING:
            _ = self.sessions, self._past_slots, self._companion_takings, self._memory_library
            _ = self._step_workers, self._step_times

    def _given_by_profile(self, profile: "Profile") -> "Mapping[Slot[Any], Any]":
        """Return what profile and settings give to the steps; recorded with the turn."""
        from salon.steps.discussion_room import DISCUSSION_ROOM
        from salon.steps.persona import COMPANION_PROFILE, Companion

        options = self.settings.companion
        return {
            COMPANION_PROFILE: Companion(
                name=profile.name,
                description=profile.description,
                region=options.region,
                typing_pace=options.typing_pace,
            ),
            DISCUSSION_ROOM: options.discussion_room,
        }

    def _step_resources(self, memory: "MemoryStore") -> "Mapping[Slot[Any], Any]":
        """Return what the steps work with; never recorded."""
        from salon.steps.emotion import EMOTION_EMBEDDER
        from salon.steps.given import EMBEDDER
        from salon.steps.memory_recall import MEMORY

        return {
            EMBEDDER: self._shared_embedder,
            EMOTION_EMBEDDER: self._shared_emotion_embedder,
            MEMORY: memory,
        }

    def _open_embedders(self, plan: "Plan") -> None:
        """Load what the steps embed with, so that no step spends its own time on that."""
        from salon.steps.emotion import EMOTION_EMBEDDER
        from salon.steps.given import EMBEDDER

        if EMBEDDER in plan.given:
            _ = self._shared_embedder.model
        emotion = self._shared_emotion_embedder if EMOTION_EMBEDDER in plan.given else NOT_READ
        if not isinstance(emotion, Absent):
            _ = emotion.model

    def _companion_steps(self) -> "tuple[Step[Any], ...]":
        """Return Salon's own steps of a companion's turn."""
        from salon.steps.companion import COMPANION

        return COMPANION

    def companion_turns(self, names: tuple[str, ...]) -> "TurnTaking":
        """Return what takes turns with Salon's steps and these further ones."""
        from salon.steps.plugins import get_outside_steps
        from salon.steps.turn_taking import TurnTaking, with_patience

        wanted = tuple(dict.fromkeys(names))
        with _MAKING:
            known = self._companion_takings.get(wanted)
            if known is None:
                steps = (*self._companion_steps(), *get_outside_steps(wanted))
                chat = self.settings.chat
                patient = with_patience(steps, chat.timeout_s if chat.model else 0.0)
                known = self._companion_takings[wanted] = TurnTaking(patient, self._step_workers)
                fresh = {slot.name: slot for slot in known.plan.past}
                if fresh.keys() - self._past_slots.keys():
                    self._past_slots.update(fresh)
                    self.sessions.drop()  # what is at hand lacks these slots
            return known

    def _outside_steps_of(self, turn: Turn) -> tuple[str, ...]:
        """Return the installed further steps that write slots which a recorded turn has."""
        from salon.steps.plugins import find_outside_steps

        own = {step.writes.name for step in self._companion_steps()}
        slots = (turn.board or {}).keys() - own
        if not slots:
            return ()
        found, _ = find_outside_steps()
        return tuple(one.step.name for one in found if one.step.writes.name in slots)

    @cached_property
    def sessions(self) -> "Sessions":
        """The conversations of this home, those of late at hand."""
        from salon.conversation.sessions import Sessions
        from salon.steps.turn_taking import kept_of

        return Sessions(self.archive, lambda turn: kept_of(turn, list(self._past_slots.values())))

    @cached_property
    def _past_slots(self) -> "dict[str, Slot[Any]]":
        return {}

    @cached_property
    def _companion_takings(self) -> "dict[tuple[str, ...], TurnTaking]":
        return {}

    @cached_property
    def _memory_library(self) -> "MemoryLibrary":
        from salon.conversation.memory.archived import MemoryLibrary

        return MemoryLibrary(self.archive)

    @cached_property
    def _shared_embedder(self) -> "SharedEmbedder":
        from salon.steps.shared_embedder import SharedEmbedder

        return SharedEmbedder(self._open_token_embedder)

    def _open_token_embedder(self) -> "Embedder":
        with _MAKING:
            found: Embedder = self._token_embedder
            return found

    @cached_property
    def _shared_emotion_embedder(self) -> "SharedEmbedder | Absent":
        from salon.steps.emotion_heads import ADAPTER
        from salon.steps.shared_embedder import SharedEmbedder

        if not ADAPTER.exists():
            return Absent("this copy of Salon has no adapter for feelings")
        return SharedEmbedder(self._open_emotion_embedder)

    def _open_emotion_embedder(self) -> "Embedder":
        with _MAKING:
            return self._emotion_embedder

    @cached_property
    def _emotion_embedder(self) -> "Embedder":
        """The embedder on which the emotion heads were trained."""
        from salon.providers.embedders.adapter import load_adapter
        from salon.providers.embedders.minilm import MiniLmEmbedder
        from salon.providers.embedders.minilm_files import find_minilm_files
        from salon.steps.emotion_heads import ADAPTER

        adapter = load_adapter(ADAPTER)
        return MiniLmEmbedder("embedded:emotion", find_minilm_files(), adapter=adapter, threads=1)

    @cached_property
    def _step_workers(self) -> "Workers":
        from salon.blackboard.workers import Workers

        return Workers()

    @cached_property
    def _step_times(self) -> "StepTimes":
        from salon.blackboard.times import StepTimes

        return StepTimes(self.settings.index_path / "step-times.json")
