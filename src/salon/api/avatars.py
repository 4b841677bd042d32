"""Avatars over HTTP: who they are, what they rest on, what they answer, when they speak.

The fields are those of the tools over MCP. Each route is one call of the app.
"""

from functools import partial
from typing import Annotated, Any

import anyio.from_thread
from fastapi import APIRouter, Body, Path, Request
from fastapi import Response as HttpResponse
from pydantic import Field

from salon.api import examples
from salon.api.documents import Documents, document_shown
from salon.api.service import AvatarService, Service
from salon.api.shapes import Responses, Shape, responses
from salon.api.streaming import EventStream, Hear, streams, wants_events
from salon.api.talking import Talking
from salon.conversation.discussion import Utterance, make_discussion
from salon.core.errors import InvalidInput
from salon.experts.gathering import Contribution
from salon.experts.replies import AvatarInfo
from salon.parts.avatar_arguments import (
    LONGEST_QUESTION,
    QueryArguments,
    RespondArguments,
    Said,
    SpeakArguments,
    VerifyArguments,
)
from salon.parts.avatar_results import (
    Info,
    Passages,
    Report,
    Response,
    Speaking,
    info_of,
    passages_of,
    report_of,
    response_of,
    speaking_of,
)

MOST_AVATARS = 8
"""Who may be gathered at once."""
MOST_ROUNDS = 5

AvatarId = Annotated[str, Path(description="The id of an avatar.", examples=[examples.AVATAR])]
_ASKED = responses(404, 413, 503, 504)


def _example(**values: Any) -> Any:
    return Body(openapi_examples={"plain": {"value": values}})


class AvatarShown(Info):
    """Who an avatar is, and which kind of conversation it holds."""

    preset: str = Field(description="expert, companion or assistant")


class Avatars(Shape):
    """The avatars of this home, by id."""

    avatars: list[AvatarShown]


class Responded(Response):
    """An answer, and under which session it is kept."""

    session_id: str = Field(description="Where question and answer are kept; it can be deleted")


class Checked(VerifyArguments):
    """A response to check, as anybody's or as an avatar's."""

    avatar: str | None = Field(None, description="Whose corpus and period count")


class Gathering(Shape):
    """A message to several avatars."""

    message: str = Field(min_length=1, max_length=LONGEST_QUESTION, description="What is said")
    avatars: list[str] = Field(
        min_length=1, max_length=MOST_AVATARS, description="Who is in the room"
    )
    conversation: list[Said] = Field([], description="What was said before, by whom")
    speaker: str = Field("You", min_length=1, max_length=128, description="Who says it")
    rounds: int = Field(1, ge=1, le=MOST_ROUNDS, description="How often each gets a chance")
    session_id: str | None = Field(None, description="The session that keeps it; a new one if null")


class Contributed(Shape):
    """What one avatar did with its chance: spoke, or stayed silent for a reason."""

    round: int
    avatar: str
    name: str
    decision: Speaking
    outcome: str
    reply: Response | None = Field(description="Null where it stayed silent")


class Gathered(Shape):
    """Who spoke and why, in the order in which they got their chance."""

    session_id: str
    contributions: list[Contributed]


def avatar_routes(talking: Talking, service: Service) -> APIRouter:
    """Return the routes about avatars."""
    routes = APIRouter(prefix="/api", tags=["avatars"])
    _describing(routes, talking, service)
    _asking(routes, talking, service)
    _together(routes, talking, service)
    return routes


def _describing(routes: APIRouter, talking: Talking, service: Service) -> None:
    @routes.get("/avatars", responses=responses())
    async def list_avatars() -> Avatars:
        """Describe every avatar of this home."""
        return await talking.ask(
            lambda: Avatars(avatars=[_shown(service, one) for one in service.avatars()])
        )

    @routes.get("/avatars/{avatar}", responses=responses(404))
    async def show_avatar(avatar: AvatarId) -> AvatarShown:
        """Return who an avatar is and what it rests on."""
        return await talking.ask(lambda: _shown(service, service.describe_avatar(avatar)))

    @routes.get("/avatars/{avatar}/documents", responses=responses(404))
    async def list_sources(avatar: AvatarId) -> Documents:
        """Return the whole source list of an avatar: every document, its links and its status."""

        def find() -> Documents:
            service.profile(avatar)  # an avatar without documents is no error, a missing one is
            found = service.documents(avatar=avatar)
            return Documents(total=len(found), documents=[document_shown(one) for one in found])

        return await talking.look(find)


def _shown(service: AvatarService, about: AvatarInfo) -> AvatarShown:
    known = info_of(about)
    return AvatarShown(**known.model_dump(), preset=service.profile(about.id).salon.preset)


def _asking(routes: APIRouter, talking: Talking, service: Service) -> None:
    @routes.post("/avatars/{avatar}/query", responses=_ASKED)
    async def query(
        avatar: AvatarId,
        given: Annotated[QueryArguments, _example(query=examples.QUESTION, threshold=0.1)],
    ) -> Passages:
        """Return passages of an avatar's corpus, each with its probability of being relevant."""
        work = partial(
            service.query_corpus,
            avatar,
            given.query,
            context=given.context or None,
            limit=given.most,
            threshold=given.threshold,
        )
        return passages_of(await talking.ask(work))

    @routes.post(
        "/avatars/{avatar}/respond",
        response_model=Responded,
        responses=_ASKED | streams("The reply; as events where asked for."),
    )
    async def respond(
        request: Request,
        avatar: AvatarId,
        given: Annotated[RespondArguments, _example(question=examples.QUESTION)],
    ) -> HttpResponse | Responded:
        """Return an answer whose every claim is cited, or an honest reason for none.

        With `Accept: text/event-stream` verified sentences come as `reply_delta` while a chat
        model still writes, then `reply` with the whole, or `error`.
        """

        async def answer(hear: Hear | None) -> Responded:
            session = service.new_session()
            work = partial(
                service.respond,
                avatar,
                given.question,
                discussion=given.discussion(),
                passages=given.given_passages(),
                session=session,
                heard=None if hear is None else _parts(hear),
            )
            reply = response_of(await talking.ask(work))
            return Responded(**reply.model_dump(), session_id=session)

        return EventStream(answer) if wants_events(request) else await answer(None)

    @routes.post("/verify", responses=_ASKED)
    async def verify(
        given: Annotated[
            Checked,
            _example(
                response=f"{examples.QUOTE} [1]",
                citations=[examples.CITATION],
                avatar=examples.AVATAR,
            ),
        ],
    ) -> Report:
        """Check a response: each citation is derived again, each sentence held against it."""
        work = partial(
            service.verify_response,
            given.response,
            [one.as_citation() for one in given.citations],
            avatar=given.avatar,
            discussion=given.discussion(),
        )
        return report_of(await talking.ask(work))


def _parts(hear: Hear) -> Any:
    def heard(piece: str) -> None:
        part: dict[str, object] = {"text": piece}
        anyio.from_thread.run_sync(hear, "reply_delta", part)

    return heard


def _together(routes: APIRouter, talking: Talking, service: Service) -> None:
    said = [{"role": "Anna", "content": examples.QUESTION}]

    @routes.post("/avatars/{avatar}/should-speak", responses=_ASKED)
    async def should_speak(
        avatar: AvatarId, given: Annotated[SpeakArguments, _example(conversation=said)]
    ) -> Speaking:
        """Decide whether an avatar has something grounded to add now, with the reason."""
        work = partial(service.should_speak, avatar, given.discussion(), mode=given.mode)
        return speaking_of(await talking.ask(work))

    gathered: Responses = _ASKED | streams("Who spoke and why; as events where asked for.")

    @routes.post("/gather", response_model=Gathered, responses=gathered)
    async def gather(
        request: Request,
        given: Annotated[
            Gathering,
            _example(message=examples.QUESTION, avatars=[examples.AVATAR], conversation=[]),
        ],
    ) -> HttpResponse | Gathered:
        """Put a message to several avatars: each speaks where its corpus has something, or not.

        With `Accept: text/event-stream` each `contribution` comes as soon as it is made, then
        `reply` with the whole, or `error`.
        """

        async def together(hear: Hear | None) -> Gathered:
            return await talking.ask(partial(_gather, service, given, hear))

        return EventStream(together) if wants_events(request) else await together(None)


def _gather(service: Service, given: Gathering, hear: Hear | None) -> Gathered:
    if not given.message.strip():
        raise InvalidInput("the message is empty", hint="say something")
    said = (Utterance(role=one.role, content=one.content) for one in given.conversation)
    session = given.session_id or service.new_session()
    done = []
    for one in service.gather(
        given.avatars,
        given.message,
        rounds=given.rounds,
        facilitator=given.speaker,
        session=session,
        before=make_discussion(said),
    ):
        done.append(_contributed(one))
        if hear is not None:
            anyio.from_thread.run_sync(hear, "contribution", done[-1])
    return Gathered(session_id=session, contributions=done)


def _contributed(one: Contribution) -> Contributed:
    return Contributed(
        round=one.round,
        avatar=one.avatar,
        name=one.name,
        decision=speaking_of(one.decision),
        outcome=str(one.outcome),
        reply=None if one.reply is None else response_of(one.reply),
    )
