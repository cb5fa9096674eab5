"""An `McpOffer` as a server of the protocol: over standard input and output, or as an ASGI application.

Arguments are held to each tool's schema before it is called. What the tree of errors says becomes an answer that a
model can correct itself by; what nobody expected is logged and told without a traceback.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from beforehand.adapters.mcp.answers import answered, refused, sentences
from beforehand.engine.schemas import path_of, sentence_of, validator_of
from beforehand.model.errors import BadInputError, BeforehandError, NotFoundError
from beforehand.model.reason import Problem, nearest_names
from beforehand.model.reason import unknown as unknown_name
from beforehand.ports.log import Log
from beforehand.ports.mcp import McpOffer, McpPrompt, McpTool

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolResult, GetPromptResult, Prompt, ReadResourceResult, Tool

log = Log("beforehand.mcp")
PATH = "/mcp"
MOST_BYTES = 4 * 1024 * 1024
MOST_PROBLEMS = 20


async def serve_stdio(offer: McpOffer, version: str) -> None:
    """Serve one client over standard input and output until it goes; nothing else is written there."""
    from mcp.server.stdio import stdio_server

    server = make_server(offer, version)
    try:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    except* BrokenPipeError:
        pass  # it went before its answer was there


@asynccontextmanager
async def http_app(offer: McpOffer, version: str) -> AsyncIterator[Any]:
    """The ASGI application that answers at `/mcp`. Every request stands alone: nobody can take up another's session."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    manager = StreamableHTTPSessionManager(
        make_server(offer, version), stateless=True, max_request_body_size=MOST_BYTES
    )
    async with manager.run():
        yield manager.handle_request


def make_server(offer: McpOffer, version: str) -> "Server[Any]":
    from mcp.server.lowlevel import Server
    from mcp_types import ListPromptsResult, ListResourcesResult, ListToolsResult, Resource

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_shown(tool) for tool in offer.tools.values()])

    async def call_tool(context: Any, params: Any) -> "CallToolResult":
        tool = offer.tools.get(params.name)
        if tool is None:
            raise _protocol_error(NotFoundError.unknown("tool", params.name, offer.tools))
        return await _called(tool, offer.access_for(context.request), params.arguments or {})

    async def list_resources(context: Any, params: Any) -> ListResourcesResult:
        pages = await _told(offer.pages(offer.access_for(context.request)))
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=page.uri,
                    name=page.uri.rpartition("/")[2],
                    title=page.title,
                    description=page.description or None,
                    mime_type=page.media_type,
                )
                for page in pages
            ]
        )

    async def read_resource(context: Any, params: Any) -> "ReadResourceResult":
        uri = str(params.uri)
        return _page(uri, await _told(offer.page(offer.access_for(context.request), uri)))

    async def list_prompts(context: Any, params: Any) -> ListPromptsResult:
        return ListPromptsResult(prompts=[_shown_prompt(prompt) for prompt in offer.prompts.values()])

    async def get_prompt(context: Any, params: Any) -> "GetPromptResult":
        prompt = offer.prompts.get(params.name)
        if prompt is None:
            raise _protocol_error(NotFoundError.unknown("prompt", params.name, offer.prompts))
        return _filled(prompt, params.arguments or {})

    return Server(
        "beforehand",
        version=version,
        title="Beforehand",
        instructions=offer.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _shown(tool: McpTool) -> "Tool":
    from mcp_types import Tool, ToolAnnotations

    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=False,
            idempotent_hint=not tool.writes,
            open_world_hint=False,
        ),
    )


async def _called(tool: McpTool, access: Any, arguments: Mapping[str, Any]) -> "CallToolResult":
    try:
        _refuse_misfits(tool, arguments)
        return answered(await tool.call(access, arguments))
    except BeforehandError as error:
        return refused(error)
    except RecursionError:
        return refused(BadInputError("The arguments are too deep to work on.", code="input.too_deep"))
    except Exception as error:  # a bug: the client is told, and the next call is served
        log.exception("a tool met a bug", tool=tool.name)
        says = f"Beforehand itself made an error: {type(error).__name__}. Nothing was started."
        return refused(BeforehandError(says, code="bug", hint="Its standard error says more; please report it."))


def _refuse_misfits(tool: McpTool, arguments: Mapping[str, Any]) -> None:
    problems: list[Problem] = []
    for error in validator_of(tool.input_schema).iter_errors(dict(arguments)):
        problems += _problems(error, tool)
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems:
        says = " ".join(problem.says for problem in problems[:5])
        raise BadInputError(f"{tool.name} was not called. {says}", problems=problems)


def _problems(error: Any, tool: McpTool) -> list[Problem]:
    if error.validator == "additionalProperties" and not error.absolute_path:
        known = tool.properties
        return [
            Problem(
                code="argument.unknown",
                about=str(name)[:80],
                says=unknown_name("argument", name, known).says,
                nearest=nearest_names(str(name)[:80], known),
            )
            for name in error.instance
            if name not in known
        ]
    path = path_of(error, "").removeprefix(".")
    return [Problem(code="argument.invalid", about=path, path=path, says=_sentence(path, error))]


def _sentence(path: str, error: Any) -> str:
    return f"{path or tool_needs(error)} {sentence_of(error)}."


def tool_needs(error: Any) -> str:
    return "The call" if error.validator == "required" else "The arguments"


async def _told(looking: Any) -> Any:
    """What is found; an error of the tree as the protocol's own, since reading has no other way to say it."""
    try:
        return await looking
    except BeforehandError as error:
        raise _protocol_error(error) from None


def _protocol_error(error: BeforehandError) -> Exception:
    from mcp.shared.exceptions import MCPError
    from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

    code = INVALID_PARAMS if isinstance(error, BadInputError | NotFoundError) else INTERNAL_ERROR
    return MCPError(code, sentences(error), {"code": error.code, "nearest": list(error.nearest)})


def _page(uri: str, text: str) -> "ReadResourceResult":
    from mcp_types import ReadResourceResult, TextResourceContents

    kind = "application/json" if text.startswith("{") else "text/markdown"
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=kind, text=text)])


def _shown_prompt(prompt: McpPrompt) -> "Prompt":
    from mcp_types import Prompt, PromptArgument

    arguments = [PromptArgument(name=name, description=says, required=True) for name, says in prompt.arguments.items()]
    return Prompt(name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments)


def _filled(prompt: McpPrompt, given: Mapping[str, str]) -> "GetPromptResult":
    from mcp_types import GetPromptResult, PromptMessage, TextContent

    missing = [name for name in prompt.arguments if not given.get(name)]
    if missing:
        raise _protocol_error(BadInputError(f"The prompt {prompt.name} needs {', '.join(missing)}.", code="usage"))
    told = TextContent(type="text", text=prompt.text(given))
    return GetPromptResult(description=prompt.description, messages=[PromptMessage(role="user", content=told)])
