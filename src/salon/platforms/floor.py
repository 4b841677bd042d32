"""Where questions from chat rooms are answered: fairly, in threads, and with an answer always.

Invariant: whatever a question does, the room gets one thing to show and the loop goes on. What an
avatar says and whether it speaks is decided in the app; here is only who waits for whom.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from salon.conversation.discussion import Discussion, Utterance
from salon.core.errors import InvalidInput, LimitReached, SalonError, TimedOut
from salon.core.outcomes import Outcome
from salon.experts.replies import Reply
from salon.platforms.asking import LONGEST_QUESTION, Known, Roster, clean, clean_name, discussion_of
from salon.platforms.options import Room
from salon.platforms.patience import Patience
from salon.platforms.rendering import Shown, show_error, show_help, show_reply
from salon.platforms.services import RoomService

if TYPE_CHECKING:
    from salon.archive.deliveries import Deliveries

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message with what was said before it, as a platform hands it over."""

    text: str
    speaker: str
    person: str
    """Whose patience it costs: an id that nobody can choose."""
    session: str
    before: tuple[Utterance, ...] = ()
    note: str | None = None
    """What the platform could not do, if anything: read the channel, say."""


class Floor:
    """Answers the questions of one platform."""

    def __init__(
        self,
        service: RoomService,
        roster: Roster,
        room: Room,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.roster = roster
        self.room = room
        self._service = service
        self._patience = Patience(per_minute=room.per_minute, burst=room.burst, now=now)
        self._threads = anyio.CapacityLimiter(room.at_once)
        self._pending = 0

    @property
    def deliveries(self) -> "Deliveries":
        """What was delivered and answered, in whatever process."""
        return self._service.deliveries

    async def answer(self, avatar: Known, heard: Heard) -> Shown:
        """Return what to show in answer to a question, whatever happens."""
        question = clean(heard.text, LONGEST_QUESTION + 1)
        if not question:
            return show_help(f"Ask {avatar.name} something.", avatar.name)
        try:
            self._patience.take(heard.person)
            reply = await self._respond(avatar, question, heard)
            return show_reply(reply, avatar.name, note=heard.note)
        except SalonError as error:
            return show_error(error, avatar.name)
        except Exception:
            # The top of this edge: the others in the room go on.
            log.exception("a question to %s failed", avatar.id)
            return show_error(_defect(), avatar.name)

    async def volunteer(self, avatars: Sequence[Known], heard: Heard) -> Shown | None:
        """Return what an avatar says without being called on, or `None` for silence.

        Of those whose policy says that they speak, the one with the most to say does; what is
        not an answer is not worth breaking a silence.
        """
        text = clean(heard.text, LONGEST_QUESTION)
        if not text:
            return None
        try:
            # A bucket of its own: whoever only talks does not use up their questions.
            self._patience.take(f"unasked/{heard.person}")
            discussion = self._discussion(text, heard)
            avatar = await self._run(partial(self._first_to_speak, avatars, discussion))
            if avatar is None:
                return None
            reply = await self._respond(avatar, text, heard)
        except SalonError as error:
            log.info("nobody spoke: %s", error)
            return None
        except Exception:
            # As above; nobody asked, so nobody has to be told.
            log.exception("deciding who speaks failed")
            return None
        is_answer = reply.outcome is Outcome.ANSWERED
        return show_reply(reply, avatar.name, note=heard.note) if is_answer else None

    async def _respond(self, avatar: Known, question: str, heard: Heard) -> Reply:
        if len(question) > LONGEST_QUESTION:
            raise InvalidInput(
                "that question is too long", hint=f"ask in at most {LONGEST_QUESTION:,} characters"
            )
        return await self._run(
            partial(
                self._service.respond,
                avatar.id,
                question,
                discussion=self._discussion(question, heard),
                session=heard.session,
                speaker=clean_name(heard.speaker),
            )
        )

    def _first_to_speak(self, avatars: Sequence[Known], discussion: Discussion) -> Known | None:
        ids = [one.id for one in avatars]
        decided = [
            (self._service.should_speak(one.id, discussion, others=ids), one) for one in avatars
        ]
        # Whoever is addressed goes first, then whoever has the most to say.
        willing = [(one.rule == "addressed", one.score, who) for one, who in decided if one.speak]
        return max(willing, key=lambda one: one[:2])[2] if willing else None

    def _discussion(self, text: str, heard: Heard) -> Discussion:
        before = discussion_of(
            heard.before, most=self.room.history, longest=self.room.longest_message
        )
        last = Utterance(role=clean_name(heard.speaker), content=text)
        return Discussion(utterances=(*before.utterances, last))

    async def _run(self, work: Callable[[], T]) -> T:
        if self._pending >= self.room.waiting:
            raise LimitReached("too many people are asking at once", hint="ask again in a minute")
        self._pending += 1
        try:
            with anyio.fail_after(self.room.seconds):
                return await anyio.to_thread.run_sync(
                    work, limiter=self._threads, abandon_on_cancel=True
                )
        except TimeoutError as error:
            raise TimedOut(
                f"that took longer than {self.room.seconds:g} s", hint="ask for less at once"
            ) from error
        finally:
            self._pending -= 1


def _defect() -> SalonError:
    return SalonError(
        "something inside Salon failed", hint="this is a defect of Salon; its log says more"
    )
