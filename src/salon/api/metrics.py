"""What a server measures about itself, in the text format of Prometheus at `/metrics`.

Every application has a registry of its own, so two in one process do not mix. Labels are routes,
methods, statuses and states, which are few; nothing that a person said or is called appears.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from salon.api.shapes import Responses, responses
from salon.parts.measuring import Measurements

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
ELSEWHERE = "elsewhere"
"""The route of a request that no route answers, whatever path it names."""
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The measurements of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "salon_http_requests",
            "HTTP requests that were answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.latency = Histogram(
            "salon_http_request_seconds",
            "How long answering took, to the last byte.",
            ("route",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        turns = Counter(
            "salon_turns", "Turns of sessions, by how they ended.", ("end",), registry=self.registry
        )
        self.turns_taken = turns.labels("taken")
        self.turns_refused = turns.labels("refused")
        self.turn_latency = Histogram(
            "salon_turn_seconds",
            "How long a turn took, without waiting for its place.",
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.sockets = Gauge(
            "salon_open_sockets", "WebSockets that are open now.", registry=self.registry
        )

    def watch(self, measure: Callable[[], Measurements]) -> None:
        """Have the numbers of a home looked up whenever somebody asks."""
        self.registry.register(_Home(measure))

    def text(self) -> bytes:
        """Return everything in the text format."""
        return generate_latest(self.registry)


class _Home:
    """Numbers of the home, read when they are asked for."""

    def __init__(self, measure: Callable[[], Measurements]) -> None:
        self._measure = measure

    def describe(self) -> Iterator[Any]:
        """Say nothing beforehand: a registry that asks must not open an archive."""
        return iter(())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return the numbers as they are now."""
        now = self._measure()
        plain = {
            "salon_audit_entries": ("Entries of the audit log.", now.audit_entries),
            "salon_index_passages": ("Passages that can be found.", now.passages),
            "salon_index_vectors": (
                "Passages that can be found by meaning.",
                now.passages_with_vector,
            ),
            "salon_index_entries_behind": (
                "Audit entries that the index has not seen.",
                now.index_behind,
            ),
            "salon_rounds": ("Rounds of the council.", now.rounds),
        }
        for name, (about, value) in plain.items():
            yield GaugeMetricFamily(name, about, value=value)
        orders = GaugeMetricFamily("salon_outbox_orders", "Orders that wait.", labels=["state"])
        for state, count in sorted(now.orders.items()):
            orders.add_metric([state], count)
        yield orders


class Measured:
    """Counts and times every HTTP request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on one request, and note how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            route = route_of(scope)
            method = scope["method"] if scope["method"] in METHODS else "other"
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.latency.labels(route).observe(time.perf_counter() - began)


METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})


def route_of(scope: Scope) -> str:
    """Return the template of the route that a request took, never the path that it named."""
    route = scope.get("route")
    return getattr(route, "path", None) or ELSEWHERE


_PLAIN: Responses = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Now."}
}


def metric_routes(metrics: Metrics, look: Callable[..., Any]) -> APIRouter:
    """Return the route under which the measurements are read."""
    routes = APIRouter(tags=["health"])

    @routes.get("/metrics", responses=responses(503) | _PLAIN, response_class=Response)
    async def show_metrics() -> Response:
        """Return what this server measures, in the text format of Prometheus."""
        return Response(await look(metrics.text), media_type=MEDIA_TYPE)

    return routes
