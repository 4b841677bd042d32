"""The floor: who waits for whom, and that everybody gets something to show."""

import threading
from typing import Any

import anyio
import pytest

from salon.app import Salon
from salon.core.errors import SalonError
from salon.experts.replies import Reply
from salon.platforms.asking import LONGEST_QUESTION
from salon.platforms.floor import Floor, Heard
from salon.platforms.options import Room
from salon.platforms.rendering import Kind, Shown, plain_text
from tests.platforms.rooms import GARDEN_QUESTION, floor_of


def heard(text: str, person: str = "U1") -> Heard:
    return Heard(text=text, speaker="alice", person=person, session="slack-1")


class Stuck:
    """An app whose answers come when the test lets them."""

    def __init__(self, salon: Salon) -> None:
        self._salon = salon
        self.profile = salon.profile
        self.deliveries = salon.deliveries
        self.should_speak = salon.should_speak
        self.is_open = threading.Event()
        self.began = threading.Semaphore(0)

    def respond(self, avatar: str, question: str, **given: Any) -> Reply:
        self.began.release()
        self.is_open.wait(30)
        return self._salon.respond(avatar, question, **given)


def test_too_many_at_once_are_told_to_come_back(salon: Salon) -> None:
    service = Stuck(salon)
    room = Room(per_minute=1_000, burst=100, at_once=1, waiting=2)
    floor = Floor(service, floor_of(salon).roster, room)
    ada = floor.roster.avatars[0]
    shown: list[Shown] = []

    async def main() -> None:
        async def ask(person: str) -> None:
            shown.append(await floor.answer(ada, heard(GARDEN_QUESTION, person)))
            if len(shown) == 1:
                service.is_open.set()

        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(ask, f"U{number}")

    anyio.run(main)
    assert [one.kind for one in shown] == [Kind.REFUSAL, Kind.ANSWER, Kind.ANSWER]
    assert "too many people" in shown[0].text


def test_an_answer_that_does_not_come_is_given_up(salon: Salon) -> None:
    service = Stuck(salon)
    floor = Floor(service, floor_of(salon).roster, Room(seconds=0.05))

    async def main() -> None:
        shown = await floor.answer(floor.roster.avatars[0], heard(GARDEN_QUESTION))
        assert shown.kind is Kind.REFUSAL
        assert "took longer" in plain_text(shown)
        service.is_open.set()

    anyio.run(main)


def test_what_is_too_long_or_empty_is_refused_kindly(salon: Salon) -> None:
    floor = floor_of(salon)
    ada = floor.roster.avatars[0]

    async def main() -> None:
        shown = await floor.answer(ada, heard("x" * (LONGEST_QUESTION + 1)))
        assert "too long" in shown.text
        shown = await floor.answer(ada, heard(" \x00 "))
        assert "Ask Ada Berg something" in shown.text
        assert await floor.volunteer([ada], heard(" \x00 ")) is None

    anyio.run(main)


def test_a_volunteer_without_an_answer_stays_silent(salon: Salon) -> None:
    """Addressed by name an avatar would speak, but only an answer is worth it."""
    floor = floor_of(salon)

    async def main() -> None:
        asked = "Ada Berg, what do violins cost in the garden of Vienna?"
        assert await floor.volunteer(floor.roster.avatars, heard(asked)) is None

    anyio.run(main)


def test_talking_does_not_use_up_the_questions(salon: Salon) -> None:
    floor = floor_of(salon, Room(per_minute=1, burst=1))
    ada = floor.roster.avatars[0]

    async def main() -> None:
        assert await floor.volunteer([ada], heard("Shall we have lunch?")) is None
        assert await floor.volunteer([ada], heard(GARDEN_QUESTION)) is None  # too soon
        assert (await floor.answer(ada, heard(GARDEN_QUESTION))).kind is Kind.ANSWER

    anyio.run(main)


@pytest.mark.parametrize("error", [RuntimeError("x"), SalonError("x")], ids=["defect", "known"])
def test_a_decision_that_fails_is_silence(salon: Salon, error: Exception) -> None:
    service = Stuck(salon)

    def fail(*_: object, **__: object) -> Any:
        raise error

    service.should_speak = fail
    floor = Floor(service, floor_of(salon).roster, Room())

    async def main() -> None:
        assert await floor.volunteer(floor.roster.avatars, heard(GARDEN_QUESTION)) is None

    anyio.run(main)
