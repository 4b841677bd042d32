"""The application behind `salon serve`: HTTP routes, the WebSocket, and whatever is mounted."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
from fastapi import FastAPI, WebSocket
from starlette.applications import Starlette

from salon import __version__
from salon.api.access import Access, Door
from salon.api.avatars import avatar_routes
from salon.api.cards import archive_routes
from salon.api.chores import Chore, come_round
from salon.api.documents import document_routes
from salon.api.errors import Defects, answer_errors
from salon.api.flows import flow_routes
from salon.api.headers import HeadAsGet, SafeHeaders
from salon.api.health import health_routes
from salon.api.ledger import ledger_routes
from salon.api.limits import Limits
from salon.api.looking_back import looking_back_routes
from salon.api.metrics import Measured, Metrics, metric_routes
from salon.api.page_files import PageFiles, page_routes
from salon.api.patience import Patience
from salon.api.rounds import round_routes
from salon.api.service import Service
from salon.api.sessions import session_routes
from salon.api.talking import Talking
from salon.api.websocket import converse

HERE = Door()
USUAL = Limits()


def create_app(
    service: Service,
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
    metrics = Metrics()
    metrics.watch(service.measurements)
    talking = Talking(service, limits, metrics)
    answer_errors(app)
    for routes in (
        page_routes(PageFiles()),
        looking_back_routes(talking, service),
        session_routes(talking),
        flow_routes(talking, service),
        avatar_routes(talking, service),
        document_routes(talking, service),
        archive_routes(talking, service),
        ledger_routes(talking, service),
        round_routes(service),
        metric_routes(metrics, talking.look),
        health_routes(talking),
    ):
        app.include_router(routes)

    @app.websocket("/ws/{session_id}")
    async def websocket(
        websocket: WebSocket,
        session_id: str,
        last_event_id: str | None = None,
    ) -> None:
        await converse(websocket, talking, session_id, last_event_id)

    for path, other in others.items():
        answer_errors(other)
        app.mount(path, other)
    # The one that is added last sees a request first.
    app.add_middleware(Patience, limits=limits)
    app.add_middleware(Access, door=door, body_bytes=limits.body_bytes)
    app.add_middleware(Defects)
    app.add_middleware(SafeHeaders)
    app.add_middleware(HeadAsGet)
    app.add_middleware(Measured, metrics=metrics)
    return app
