"""Avatars in Harmonica's structured sessions, where they speak only when they are consulted.

Harmonica itself knows no avatars. A session is set up through its interface, each avatar is made
known to its facilitator as an MCP source, and a consultation puts the avatar's words into the
dialogue of the participant who asked, and into no other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from salon.conversation.discussion import Discussion, Utterance
from salon.core.errors import InvalidInput, InvalidSettings, SalonError
from salon.experts.profile import Profile
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

DEFAULT_FACILITATOR = "default"
OFFERED_TOOLS = ("query_corpus", "generate_response", "get_avatar_info")
"""What a facilitator may call; whether to speak is not asked, since nobody speaks unasked."""
LONGEST_MESSAGE = 10_000
"""Harmonica takes no more in one message."""
FACILITATOR = "Facilitator"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class ConsultedService(Protocol):
    """What the app does for a structured session."""

    def profile(self, avatar: str) -> Profile:
        """Return the profile of an avatar, or raise `AvatarNotFound`."""
        ...

    def respond(
        self,
        avatar: str,
        question: str,
        *,
        discussion: Discussion = ...,
        session: str | None = ...,
        speaker: str = ...,
    ) -> Reply:
        """Return a grounded answer or an honest outcome."""
        ...

    def discussion(self, session: str) -> Discussion:
        """Return what was said in a session so far."""
        ...


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
        question the participant's last words are one.
        """
        self._patience.take(participant)
        known = self._in_session(session, avatar)
        record = session_of("harmonica", session.id, participant)
        said: Sequence[Utterance]
        if context is None:
            dialogue = self._dialogue(session.id, participant)
            name, said = _name_of(dialogue), self._said(dialogue, session, record)
        else:
            name, said = _speaker_of(context), context
        asked = clean(question or _last_words(said, name), LONGEST_QUESTION)
        history = self._history(said, name, asked)
        reply = self._service.respond(
            known.id,
            asked,
            discussion=Discussion(utterances=history, topic=session.topic or None),
            session=record,
            speaker=name,
        )
        shown = show_reply(reply, known.name)
        message = shorten(f"{spoken_name(known.name)}: {plain_text(shown)}", LONGEST_MESSAGE)
        answer = self._client.say(
            session.id, participant=participant, name=spoken_name(known.name), content=message
        )
        return Consultation(
            session=session.id,
            participant=participant,
            question=asked,
            reply=reply,
            message=message,
            facilitator=answer.message.content or None,
        )

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
        own = [one.content for one in self._service.discussion(record).utterances if one.content]
        names = {
            f"{spoken_name(one.name)}: ": one.name for one in self._roster(session.avatars).avatars
        }
        said = []
        for one in dialogue.messages:
            role = person if one.role == "user" else FACILITATOR
            before = next((name for name in names if one.content.startswith(name)), None)
            if before and any(text in one.content for text in own):
                role = names[before]
            said.append(Utterance(role=role, content=one.content))
        return said


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
