"""The factory: one place where tables become an MCP server, with the same rules everywhere.

Strict arguments, typed results with their schemas, all four annotations, a cap on every call,
signs of life on long ones, errors in Salon's one shape, sealed state between rounds. Both eras of
the protocol are served by the same object; which one is spoken is the client's choice.
"""

import base64
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

import anyio
import mcp_types as types
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from salon.core.errors import InvalidInput, NotFound, SalonError
from salon.mcp_server.arguments import (
    check_arguments,
    input_schema,
    nearest,
    output_or_error_schema,
    output_schema,
)
from salon.mcp_server.calls import INTERNAL, Calls, error_result, too_slow
from salon.mcp_server.paging import page
from salon.mcp_server.tables import (
    CALL_SECONDS,
    Call,
    Content,
    Prompt,
    PromptAnswer,
    Resource,
    ResourceTemplate,
    ServerPlan,
    Tool,
)

log = logging.getLogger(__name__)

ServerContext = ServerRequestContext[Any, Any]
T = TypeVar("T")
Reading: TypeAlias = Callable[[], str | bytes | Content]
ListMethod = Literal["tools/list", "prompts/list", "resources/templates/list", "server/discover"]
_STATIC_LISTS: tuple[ListMethod, ...] = (
    "tools/list",
    "prompts/list",
    "resources/templates/list",
    "server/discover",
)


def build_server(plan: ServerPlan) -> Server[Any]:
    """Return the server that offers what the plan says."""
    parts = _Parts(plan)
    fresh = CacheHint(ttl_ms=plan.lists_fresh_ms, scope="public")
    server: Server[Any] = Server(
        plan.name,
        title=plan.title,
        version=plan.version,
        description=plan.description,
        instructions=plan.instructions,
        cache_hints=dict.fromkeys(_STATIC_LISTS, fresh),
        get_tool_input_schema=parts.input_schema,
        on_list_tools=parts.list_tools,
        on_call_tool=parts.call_tool,
        on_list_resources=parts.list_resources,
        on_list_resource_templates=parts.list_templates,
        on_read_resource=parts.read_resource,
        on_list_prompts=parts.list_prompts,
        on_get_prompt=parts.get_prompt,
    )
    seal = RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=plan.name)
    server.middleware.append(seal)
    if plan.malformed is not None:
        server.middleware.append(_as_object)
    return server


async def _as_object(ctx: ServerContext, call_next: CallNext) -> HandlerResult:
    """Hand arguments that are no object on as one that no tool takes, so that a tool refuses it."""
    params = ctx.params
    if ctx.method == "tools/call" and params is not None:
        given = params.get("arguments")
        if given is not None and not isinstance(given, Mapping):
            ctx = replace(ctx, params={**params, "arguments": {"arguments": None}})
    return await call_next(ctx)


class _Parts:
    """The handlers of one server."""

    def __init__(self, plan: ServerPlan) -> None:
        self._plan = plan
        self._says_why = plan.malformed is not None
        self._calls = Calls(structured_errors=self._says_why)
        self._tools = _by_name(plan.tools)
        self._listed = {tool.name: _as_listed(tool, plan) for tool in plan.tools}
        self._prompts = _by_name(plan.prompts)
        self._templates = [(UriTemplate.parse(one.uri_template), one) for one in plan.templates]

    # Tools

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        listed = self._listed.get(name)
        return None if listed is None else listed.input_schema

    async def list_tools(
        self, _: ServerContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools, following = page(list(self._listed.values()), _cursor(params))
        return types.ListToolsResult(tools=tools, next_cursor=following)

    async def call_tool(
        self, context: ServerContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise _unknown("tool", params.name, self._tools)
        try:
            arguments = check_arguments(tool.arguments, params.arguments, tool.name)
        except InvalidInput as error:
            return error_result(error, structured=self._says_why, text=self._plan.malformed)
        return await self._calls.tool(tool, arguments, context, params)

    # Resources

    async def list_resources(
        self, _: ServerContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        more = await self._guarded(self._plan.more_resources, "resources/list", {})
        resources, following = page([*self._plan.resources, *more], _cursor(params))
        listed = [
            types.Resource(
                uri=one.uri,
                name=one.name,
                title=one.title,
                description=one.description,
                mime_type=one.mime_type,
            )
            for one in resources
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=following)

    async def list_templates(
        self, _: ServerContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates, following = page(list(self._plan.templates), _cursor(params))
        listed = [
            types.ResourceTemplate(
                uri_template=one.uri_template,
                name=one.name,
                title=one.title,
                description=one.description,
                mime_type=one.mime_type,
            )
            for one in templates
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed, next_cursor=following)

    async def read_resource(
        self, _: ServerContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        about = {"uri": uri}
        found, read = await self._guarded(partial(self._find, uri), f"reading {uri}", about)
        content = await self._guarded(read, f"reading {uri}", about)
        return types.ReadResourceResult(
            contents=[_contents(uri, found.mime_type, content)],
            ttl_ms=found.fresh_ms,
            cache_scope="private",
        )

    def _find(self, uri: str) -> tuple[Resource | ResourceTemplate, Reading]:
        for template, offered in self._templates:
            parts = template.match(uri)
            if parts is not None:
                values = {name: str(value) for name, value in parts.items()}
                return offered, partial(offered.read, values)
        for resource in (*self._plan.resources, *self._plan.more_resources()):
            if resource.uri == uri:
                return resource, resource.read
        raise NotFound(f"there is no resource {uri[:200]}", hint="resources/list names them")

    # Prompts

    async def list_prompts(
        self, _: ServerContext, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        prompts, following = page(list(self._plan.prompts), _cursor(params))
        return types.ListPromptsResult(
            prompts=[_prompt_as_listed(one) for one in prompts], next_cursor=following
        )

    async def get_prompt(
        self, context: ServerContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise _unknown("prompt", params.name, self._prompts)
        call = Call(context=context, params=params, report=lambda *_, **__: None)

        def answer() -> PromptAnswer:
            given = check_arguments(prompt.arguments, params.arguments, prompt.name)
            return prompt.run(call, given)

        found = await self._guarded(answer, prompt.name, {"prompt": prompt.name})
        if isinstance(found, types.GetPromptResult | types.InputRequiredResult):
            return found
        return types.GetPromptResult(description=prompt.description, messages=list(found))

    async def _guarded(self, work: Callable[[], T], what: str, about: dict[str, Any]) -> T:
        """Run work that has no result of its own for errors: they become errors of the protocol."""
        try:
            with anyio.fail_after(CALL_SECONDS):
                return await self._calls.run(work)
        except TimeoutError:
            error: SalonError = too_slow(what, CALL_SECONDS)
        except SalonError as raised:
            error = raised
        except MCPError:
            raise
        except Exception:  # the top of this edge: logged, and an error of the protocol from here on
            log.exception("%s failed", what)
            raise MCPError(INTERNAL_ERROR, INTERNAL["error"]["message"], about | INTERNAL) from None  # type: ignore[arg-type]
        code = INVALID_PARAMS if isinstance(error, NotFound | InvalidInput) else INTERNAL_ERROR
        raise MCPError(code, error.message, about | error.as_json()) from None


Named = TypeVar("Named", Tool, Prompt)


def _by_name(offered: Sequence[Named]) -> dict[str, Named]:
    table = {one.name: one for one in offered}
    assert len(table) == len(offered), "two tools or prompts have the same name"
    return table


def _unknown(kind: str, name: str, known: Mapping[str, object]) -> MCPError:
    meant = nearest(name, known)
    guess = f"; did you mean `{meant}`?" if meant else ""
    return MCPError(INVALID_PARAMS, f"there is no {kind} `{name[:100]}`{guess}", list(known))


def _as_listed(tool: Tool, plan: ServerPlan) -> types.Tool:
    describe = output_schema if plan.malformed is None else output_or_error_schema
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.arguments),
        output_schema=None if tool.result is None else describe(tool.result),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
    )


def _prompt_as_listed(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=field.description, required=field.is_required())
        for name, field in prompt.arguments.model_fields.items()
    ]
    return types.Prompt(
        name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments
    )


def _contents(
    uri: str, mime_type: str | None, content: str | bytes | Content
) -> types.TextResourceContents | types.BlobResourceContents:
    if isinstance(content, Content):
        return _contents(uri, content.mime_type, content.data)
    if isinstance(content, str):
        return types.TextResourceContents(uri=uri, mime_type=mime_type, text=content)
    blob = base64.b64encode(content).decode("ascii")
    return types.BlobResourceContents(uri=uri, mime_type=mime_type, blob=blob)


def _cursor(params: types.PaginatedRequestParams | None) -> str | None:
    return None if params is None else params.cursor
