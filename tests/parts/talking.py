"""An application whose companions have toy steps, so that a turn shows the machinery alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from salon.app import Salon
from salon.blackboard.slots import Past, Slot
from salon.blackboard.steps import Step, View
from salon.blackboard.triggers import Every
from salon.core.absent import Absent
from salon.core.chat import ChatModel, ask
from salon.core.clock import SteppingClock
from salon.settings import load_settings
from salon.steps.given import CHAT, HISTORY, MESSAGE, NOW, SEED, USER
from salon.steps.memory_recall import SESSION
from salon.steps.persona import COMPANION_PROFILE, REPLY, CompanionReply

LENGTH = Slot("length", int)
TOTAL = Slot("total", int)
GUESS = Slot("guess", str)


def length(view: View) -> int | Absent:
    message = view[MESSAGE]
    if message == "raise":
        raise ValueError(f"cannot measure {message!r}")
    return message if isinstance(message, Absent) else len(message)


def total(view: View) -> int:
    now = view[LENGTH]
    return sum(one.value for one in view.past(LENGTH)) + (0 if isinstance(now, Absent) else now)


def guess(view: View) -> str | Absent:
    chat = view[CHAT]
    return chat if isinstance(chat, Absent) else chat.complete(ask("Guess.", (), "now?")).text


def reply(view: View) -> CompanionReply | Absent:
    if view[MESSAGE] == "mute":
        raise RuntimeError("no words")
    who, history = view[COMPANION_PROFILE], view[HISTORY]
    assert not isinstance(who, Absent)
    assert not isinstance(history, Absent)
    parts = (view[USER], view[NOW], view[SESSION], view[SEED], len(history.utterances))
    text = f"{who.name} on turn {view.turn} of {view[LENGTH]}, {view.latest(TOTAL)}: {parts}"
    return CompanionReply(
        response=text, strategy="plain", is_crisis=False, delay_s=0.0, ai_label="AI"
    )


def toy_steps() -> tuple[Step[Any], ...]:
    given = (MESSAGE, HISTORY, USER, NOW, SESSION, SEED, COMPANION_PROFILE)
    return (
        Step(name="length", about="length", reads=(MESSAGE,), writes=LENGTH, run=length),
        Step(
            name="total",
            about="sum of lengths",
            reads=(LENGTH, Past(LENGTH)),
            writes=TOTAL,
            run=total,
            when=Every(2),
        ),
        Step(name="guess", about="asks a model", reads=(CHAT,), writes=GUESS, run=guess),
        Step(
            name="reply",
            about="the reply",
            reads=(*given, LENGTH, TOTAL, Past(TOTAL)),
            writes=REPLY,
            run=reply,
        ),
    )


class Talking(Salon):
    """Salon with toy steps and, where wanted, a scripted model."""

    steps: Callable[[], tuple[Step[Any], ...]] = staticmethod(toy_steps)
    model: ChatModel | None = None

    @property
    def chat(self) -> ChatModel | None:
        return self.model

    def _companion_steps(self) -> tuple[Step[Any], ...]:
        return self.steps()


def clock(hour: int = 9) -> SteppingClock:
    return SteppingClock(datetime(2026, 11, 15, hour, tzinfo=UTC))


@contextmanager
def talking(home: Path, **flags: object) -> Iterator[Talking]:
    flags = {"index": {"embedder": "hashing:256"}, **flags}
    with Talking(load_settings(home=home, environment={}, flags=flags)) as salon:
        salon.clock = clock()
        yield salon
