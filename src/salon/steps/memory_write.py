"""Memory write: every five turns, what the user said becomes facts, moments and episodes.

It reads the user's messages and nothing of the replies. Private data of high risk and messages that
cry for help are not kept. A request to forget is obeyed in the turn it is made. What it changes is
pending in the store until the turn is recorded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from salon.blackboard.slots import Past, Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import AnyOf, Every, Holds
from salon.conversation.memory.forgetting import asks_to_forget
from salon.conversation.memory.kinds import WORKING_MESSAGES, Said
from salon.conversation.memory.writing import Heard, write_episode, write_messages
from salon.core.absent import Absent
from salon.core.digest_cache import remembered
from salon.guard.crisis import find_crisis
from salon.guard.pii import find_private_data
from salon.steps.emotion import EMOTION
from salon.steps.emotion_trend import emotion_trend
from salon.steps.feature_values import FEATURES
from salon.steps.given import EMBEDDER, MESSAGE, NOW, USER
from salon.steps.memory_recall import MEMORY, SESSION
from salon.steps.relationship import RELATIONSHIP
from salon.steps.reply import REPLY

TURNS = 5
LOW_RISK = frozenset({"name", "postal_code", "date_of_birth"})
"""Private data that a person may want remembered; every other kind is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWrite:
    """What was done to the user's memory, and to which memories, by id."""

    memory_action: Literal["store", "update", "delete", "none"]
    memories_affected: tuple[str, ...] = ()


MEMORY_WRITE = Slot("memory_write", MemoryWrite)


def write_memory(view: View) -> MemoryWrite | Absent:
    """Lay down what the user said since the last time, and close an episode when one is full."""
    store, embedder, now = view[MEMORY], view[EMBEDDER], view[NOW]
    if isinstance(store, Absent) or isinstance(embedder, Absent) or isinstance(now, Absent):
        return Absent("there is no memory to write to")
    if store.user != view[USER]:
        return Absent("the memory at hand is another user's")
    messages = [_heard(said) for said in _messages(view, now)]
    if not messages:
        return Absent("the user said nothing that is on record")
    done = write_messages(store, [one for one in messages if _is_new(one, view)], embedder)
    readings = [one.value for one in view.past(EMOTION)]
    episode = write_episode(
        store,
        messages,
        embedder,
        trend=emotion_trend(readings) if readings else "unknown",
        is_milestone=_has_moved(view),
    )
    if episode is not None:
        done.stored.append(episode)
    return MemoryWrite(memory_action=done.action, memories_affected=done.affected)


def _messages(view: View, now: str) -> Sequence[Said]:
    """Return the user's last messages with their turns, the one of this turn included."""
    session, message = view[SESSION], view[MESSAGE]
    if isinstance(session, Absent):
        return ()
    times = {one.turn: one.value for one in view.past(NOW)}
    said = [
        Said(session=session, turn=one.turn, text=one.value, at=times.get(one.turn, now))
        for one in view.past(MESSAGE)[-WORKING_MESSAGES:]
    ]
    if not isinstance(message, Absent):
        said.append(Said(session=session, turn=view.turn, text=message, at=now))
    return said


def _heard(said: Said) -> Heard:
    private, is_kept = _keepable(said.text)
    return Heard(said=said, private=private, is_kept=is_kept)


@remembered()
def _keepable(text: str) -> tuple[tuple[tuple[int, int], ...], bool]:
    """Return the private parts of a message, and whether any of it may be remembered."""
    private = [one for one in find_private_data(text) if one.kind not in LOW_RISK]
    return tuple((one.start, one.end) for one in private), find_crisis(text) is None


def _is_new(heard: Heard, view: View) -> bool:
    """Tell whether a message came after the last write, and within the last five turns."""
    written = max((one.turn for one in view.past(MEMORY_WRITE)), default=0)
    return heard.said.turn > max(written, view.turn - TURNS)


def _has_moved(view: View) -> bool:
    """Tell whether the relationship has another status than when it was last read."""
    now, before = view[RELATIONSHIP], view.past(RELATIONSHIP)
    return (
        not isinstance(now, Absent)
        and bool(before)
        and before[-1].value.rel_status != now.rel_status
    )


STEP = Step(
    name="memory_write",
    about="what the user said becomes facts, moments and episodes, each with its span",
    # The reply is read only so that memory is written after it.
    reads=(
        *(MESSAGE, USER, NOW, SESSION, MEMORY, EMBEDDER, FEATURES, RELATIONSHIP, REPLY),
        *(Past(MESSAGE), Past(NOW), Past(EMOTION), Past(RELATIONSHIP), Past(MEMORY_WRITE)),
    ),
    writes=MEMORY_WRITE,
    run=write_memory,
    when=AnyOf((Every(TURNS), Holds(MESSAGE, "the user asks to forget", asks_to_forget))),
)
