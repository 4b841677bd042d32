"""The application behind `salon serve`: HTTP routes, the WebSocket, and whatever is mounted."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated

import anyio
from fastapi import FastAPI, Query, Response, WebSocket
from starlette.applications import Starlette

from salon import __version__
from salon.api.access import Access, Door
from salon.api.chores import Chore, come_round
from salon.api.errors import answer_errors
from salon.api.limits import Limits
from salon.api.service import ConversationService
from salon.api.sessions import session_routes
from salon.api.talking import Talking
from salon.api.websocket import converse

HERE = Door()
USUAL = Limits()


def create_app(
    service: ConversationService,
    *,
    door: Door = HERE,
    limits: Limits = USUAL,
    mounted: Mapping[str, Starlette] | None = None,
    chores: Sequence[Chore] = (),
) -> FastAPI:
    """Return the application; `mounted` are others that live under a path of their own."""
    others = dict(mounted or {})

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for one in others.values():
                await stack.enter_async_context(one.router.lifespan_context(one))
            beside = await stack.enter_async_context(anyio.create_task_group())
            for chore in chores:
                beside.start_soon(come_round, chore)
            yield
            beside.cancel_scope.cancel()

    app = FastAPI(
        title="Salon",
        version=__version__,
        summary="Conversations with agents you can check.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        lifespan=running,
    )
    talking = Talking(service, limits)
    answer_errors(app)
    app.include_router(session_routes(talking))
    _health(app, talking)

    @app.websocket("/ws/{session_id}")
    async def websocket(
        websocket: WebSocket,
        session_id: str,
        last_event_id: Annotated[int | None, Query(ge=0)] = None,
    ) -> None:
        await converse(websocket, talking, session_id, last_event_id)

    for path, other in others.items():
        app.mount(path, other)
    app.add_middleware(Access, door=door, body_bytes=limits.body_bytes)
    return app


def _health(app: FastAPI, talking: Talking) -> None:
    @app.get("/health", tags=["health"])
    async def health() -> dict[str, str]:
        """Say that the server runs."""
        return {"status": "ok", "version": __version__}

    @app.get("/ready", tags=["health"], responses={503: {"description": "Not ready."}})
    async def ready(response: Response) -> dict[str, object]:
        """Say whether turns can be taken now, and what is wrong where they cannot."""
        checks = await talking.look(talking.service.readiness)
        is_ready = all(said == "ok" for said in checks.values())
        response.status_code = 200 if is_ready else 503
        return {"ready": is_ready, "checks": checks}
