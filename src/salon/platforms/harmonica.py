"""Avatars in Harmonica's structured sessions, where they speak only when they are consulted.

Harmonica itself knows no avatars. A session is set up through its interface, each avatar is made
known to its facilitator as an MCP source, and a consultation puts the avatar's words into the
dialogue of the participant who asked, and into no other. The same words are answered once.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from salon.archive.deliveries import Delivery, Standing
from salon.conversation.discussion import Discussion, Utterance
from salon.conversation.turns import Turn
from salon.core.errors import Conflict, InvalidInput, InvalidSettings, NotFound, SalonError
from salon.experts.replies import Reply
from salon.platforms.asking import (
    LONGEST_QUESTION,
    Known,
    Roster,
    clean,
    clean_name,
    discussion_of,
    session_of,
)
from salon.platforms.harmonica_client import Dialogue, HarmonicaClient
from salon.platforms.options import HarmonicaOptions, Room
from salon.platforms.patience import Patience
from salon.platforms.rendering import plain_text, shorten, show_reply, spoken_name
from salon.platforms.services import ConsultedService

DEFAULT_FACILITATOR = "default"
OFFERED_TOOLS = ("query_corpus", "generate_response", "get_avatar_info")
"""What a facilitator may call; whether to speak is not asked, since nobody speaks unasked."""
LONGEST_MESSAGE = 10_000
"""Harmonica takes no more in one message."""
FACILITATOR = "Facilitator"
_REPLY = TypeAdapter(Reply)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmonicaSession:
    """A session with the avatars that can be consulted in it."""

    id: str
    topic: str
    avatars: tuple[str, ...]
    facilitator: str
    join_url: str | None
    sources: tuple[str, ...]
    """The MCP addresses that the facilitator was told; none without `mcp_url`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consultation:
    """What an avatar said in a dialogue, and what the facilitator said to that."""

    session: str
    participant: str
    question: str
    reply: Reply
    message: str
    facilitator: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What an avatar is consulted on, and in which place of whose dialogue."""

    session: HarmonicaSession
    avatar: Known
    participant: str
    record: str
    speaker: str
    text: str
    history: tuple[Utterance, ...]
    place: int | None
    """Where the participant spoke last; `None` where the dialogue was handed over."""

    @property
    def event(self) -> str:
        """What is the same where the same is asked again."""
        said = [(one.role, one.content) for one in self.history]
        where = said if self.place is None else self.place
        names = (self.session.id, self.participant, self.avatar.id)
        return json.dumps([*names, self.text, where])


class Harmonica:
    """Sets up sessions and consults avatars in them."""

    def __init__(
        self,
        service: ConsultedService,
        client: HarmonicaClient,
        options: HarmonicaOptions,
        *,
        room: Room,
        now: Callable[[], float],
    ) -> None:
        self._service = service
        self._client = client
        self._options = options
        self._room = room
        self._patience = Patience(per_minute=room.per_minute, burst=room.burst, now=now)

    def create_session(
        self,
        topic: str,
        *,
        avatars: Sequence[str],
        facilitator: str = DEFAULT_FACILITATOR,
        goal: str | None = None,
    ) -> HarmonicaSession:
        """Set up a session about a topic, with avatars to consult and somebody to lead it.

        `default` leaves the lead to Harmonica; anything else tells its facilitator how to lead.
        """
        if not topic.strip():
            raise InvalidInput("a session needs a topic")
        known = self._roster(avatars).avatars
        addresses = [self._mcp_address(one) for one in known]
        names = ", ".join(spoken_name(one.name) for one in known)
        created = self._client.create_session(
            topic=topic,
            goal=goal or f"Understand what matters to each participant about: {topic}",
            context=f"Participants can have these AI avatars consulted: {names}.",
            prompt=None if facilitator == DEFAULT_FACILITATOR else facilitator,
        )
        for one, url in zip(known, addresses, strict=True):
            if url is not None:
                self._register(created.id, one, url)
        return HarmonicaSession(
            id=created.id,
            topic=created.topic,
            avatars=tuple(one.id for one in known),
            facilitator=facilitator,
            join_url=created.join_url,
            sources=tuple(url for url in addresses if url is not None),
        )

    def consult_avatar(
        self,
        session: HarmonicaSession,
        avatar: str,
        *,
        participant: str,
        context: Sequence[Utterance] | None = None,
        question: str | None = None,
    ) -> Consultation:
        """Let an avatar speak in the dialogue of one participant.

        The history of that dialogue goes along: `context`, or what Harmonica has of it. Without a
        question the participant's last words are one. `Conflict` where exactly this was answered
        already, or is being answered by another process.
        """
        self._patience.take(participant)
        known = self._in_session(session, avatar)
        asked = self._asked(session, known, participant, context, question)
        deliveries = self._service.deliveries
        delivery = deliveries.take("harmonica", asked.event)
        if not delivery.is_mine:
            raise _refusal(delivery, known)
        try:
            if delivery.standing is Standing.IN_DOUBT:
                self._require_unanswered(asked, delivery)
            consultation = self._consult(asked, delivery)
        except BaseException:
            deliveries.give_back(delivery)
            raise
        deliveries.answered(delivery)
        return consultation

    def _asked(
        self,
        session: HarmonicaSession,
        avatar: Known,
        participant: str,
        context: Sequence[Utterance] | None,
        question: str | None,
    ) -> "_Asked":
        record = session_of("harmonica", session.id, participant)
        said: Sequence[Utterance]
        if context is None:
            dialogue = self._dialogue(session.id, participant)
            name, said = _name_of(dialogue), self._said(dialogue, session, record)
        else:
            name, said = _speaker_of(context), context
        text = clean(question or _last_words(said, name), LONGEST_QUESTION)
        return _Asked(
            session=session,
            avatar=avatar,
            participant=participant,
            record=record,
            speaker=name,
            text=text,
            history=self._history(said, name, text),
            place=None if context is not None else _last_place(said, name),
        )

    def _consult(self, asked: "_Asked", delivery: Delivery) -> Consultation:
        session, name = asked.session, asked.avatar.name
        reply = self._service.respond(
            asked.avatar.id,
            asked.text,
            discussion=Discussion(utterances=asked.history, topic=session.topic or None),
            session=asked.record,
            speaker=asked.speaker,
        )
        message = message_of(reply, name)
        self._service.deliveries.sending(delivery)
        answer = self._client.say(
            session.id, participant=asked.participant, name=spoken_name(name), content=message
        )
        return Consultation(
            session=session.id,
            participant=asked.participant,
            question=asked.text,
            reply=reply,
            message=message,
            facilitator=answer.message.content or None,
        )

    def _require_unanswered(self, asked: "_Asked", delivery: Delivery) -> None:
        """Raise `Conflict` if the dialogue has the answer that Salon recorded to a question."""
        own = {
            _plain(message_of(_reply_of(turn), asked.avatar.name))
            for turn in self._turns(asked.record)
            if turn.message == asked.text and turn.replier == asked.avatar.id
        }
        begin = 0 if asked.place is None else asked.place + 1
        for dialogue in self._client.dialogues(asked.session.id):
            is_theirs = dialogue.participant_id == asked.participant
            if is_theirs and any(_plain(one.content) in own for one in dialogue.messages[begin:]):
                self._service.deliveries.answered(delivery)
                raise _refusal(delivery, asked.avatar)

    def _history(self, said: Sequence[Utterance], name: str, asked: str) -> tuple[Utterance, ...]:
        room = self._room
        before = discussion_of(said, most=room.history, longest=room.longest_message).utterances
        is_there = bool(before) and before[-1].content == asked
        return before if is_there else (*before, Utterance(role=name, content=asked))

    def _register(self, session: str, avatar: Known, url: str) -> None:
        try:
            self._client.add_mcp_source(
                session,
                url=url,
                title=spoken_name(avatar.name),
                bearer=self._options.mcp_bearer,
                tools=OFFERED_TOOLS,
            )
        except SalonError as error:
            # The session is there, so whoever made it has to know which one it is.
            raise type(error)(
                f"session {session} was set up, but {avatar.name} could not be made known to it: "
                f"{error.message}",
                hint=error.hint,
                **{**error.details, "session": session},
            ) from error

    def _mcp_address(self, avatar: Known) -> str | None:
        base = self._options.mcp_url
        if base is None:
            return None
        parts = urlsplit(base)
        is_here = parts.hostname in _LOOPBACK
        if parts.scheme != "https" and not (parts.scheme == "http" and is_here):
            raise InvalidSettings(
                f"Harmonica cannot be sent to {base!r}", hint="give an https:// address"
            )
        return f"{base.rstrip('/')}/mcp/{avatar.id}/sse"

    def _roster(self, avatars: Sequence[str]) -> Roster:
        return Roster([self._service.profile(one) for one in avatars])

    def _in_session(self, session: HarmonicaSession, avatar: str) -> Known:
        found = self._roster(session.avatars).find(avatar)
        if found is None:
            raise InvalidInput(
                f"{avatar!r} is not in session {session.id}",
                hint=f"there are {', '.join(session.avatars)}",
            )
        return found

    def _dialogue(self, session: str, participant: str) -> Dialogue:
        for one in self._client.dialogues(session):
            if one.participant_id == participant:
                return one
        raise InvalidInput(
            f"nobody with the id {participant!r} has spoken in session {session}",
            hint="give the participant's id, or the dialogue itself",
        )

    def _said(self, dialogue: Dialogue, session: HarmonicaSession, record: str) -> list[Utterance]:
        """Return a dialogue by speakers. What an avatar said is known from Salon's own record."""
        person = _name_of(dialogue)
        names = {one.id: one.name for one in self._roster(session.avatars).avatars}
        # The whole message, or a participant could go on in an avatar's name.
        own = {
            _plain(message_of(_reply_of(turn), names[turn.replier])): names[turn.replier]
            for turn in self._turns(record)
            if turn.replier in names
        }
        said = []
        for one in dialogue.messages:
            role = person if one.role == "user" else FACILITATOR
            said.append(Utterance(role=own.get(_plain(one.content), role), content=one.content))
        return said

    def _turns(self, record: str) -> tuple[Turn, ...]:
        try:
            return self._service.session_turns(record)
        except NotFound:
            return ()


def message_of(reply: Reply, name: str) -> str:
    """Return what an avatar says as Harmonica is given it."""
    text = plain_text(show_reply(reply, name))
    return shorten(f"{spoken_name(name)}: {text}", LONGEST_MESSAGE)


def _reply_of(turn: Turn) -> Reply:
    """Return the reply that a turn records; what else it holds is not shown."""
    return _REPLY.validate_python({one.name: turn.reply[one.name] for one in fields(Reply)})


def _plain(text: str) -> str:
    return " ".join(text.split())


def _refusal(delivery: Delivery, avatar: Known) -> Conflict:
    if delivery.standing is Standing.ELSEWHERE:
        return Conflict(f"{avatar.name} is being consulted on this", hint="wait for the answer")
    return Conflict(
        f"{avatar.name} has answered this", hint="it is in the dialogue; ask something else"
    )


def _last_place(said: Sequence[Utterance], name: str) -> int:
    return max((place for place, one in enumerate(said) if one.role == name), default=-1)


def _name_of(dialogue: Dialogue) -> str:
    return clean_name(dialogue.participant_name or "participant")


def _speaker_of(said: Sequence[Utterance]) -> str:
    spoken = (one.role for one in reversed(said) if one.role != FACILITATOR)
    return clean_name(next(spoken, "participant"))


def _last_words(said: Sequence[Utterance], name: str) -> str:
    for one in reversed(said):
        if one.role == name and one.content.strip():
            return one.content
    raise InvalidInput("the participant has not asked anything", hint="give a question")
