"""Whether the server runs, and whether turns can be taken."""

from fastapi import APIRouter, Response
from pydantic import Field

from salon import __version__
from salon.api.shapes import Responses, Shape, responses
from salon.api.talking import Talking


class Health(Shape):
    """The server runs."""

    status: str
    version: str


class Readiness(Shape):
    """What turns stand on, each with `ok` or what is wrong with it."""

    ready: bool
    checks: dict[str, str] = Field(description="By name, `ok` or what is wrong")


_NOT_READY: Responses = {503: {"model": Readiness, "description": "Not ready; `checks` say why."}}


def health_routes(talking: Talking) -> APIRouter:
    """Return the routes for whoever watches a server."""
    routes = APIRouter(tags=["health"])

    @routes.get("/health", responses=responses())
    async def health() -> Health:
        """Say that the server runs; this needs no token."""
        return Health(status="ok", version=__version__)

    @routes.get("/ready", responses=responses() | _NOT_READY)
    async def ready(response: Response) -> Readiness:
        """Say whether turns can be taken now, and what is wrong where they cannot."""
        checks = await talking.look(talking.service.readiness)
        is_ready = all(said == "ok" for said in checks.values())
        response.status_code = 200 if is_ready else 503
        return Readiness(ready=is_ready, checks=checks)

    return routes
