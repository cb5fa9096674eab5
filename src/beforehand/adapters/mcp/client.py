"""MCP servers as a source of tools.

Each tool appears as `server.tool`. What the server hints about it decides how careful Beforehand is with it, unless the
configuration decides: read-only is pure, idempotent is idempotent, everything else is physical and never silently run
twice. As in the protocol, a tool that is not read-only counts as destructive unless it says that it is not.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from beforehand.adapters.mcp.config import McpServerConfig, ToolPolicy
from beforehand.adapters.mcp.connection import McpConnection, root_cause
from beforehand.model.errors import Fault, InDoubtError, UnavailableError
from beforehand.model.reason import Reason
from beforehand.ports.tool import Destructive, Effect, Preview, Tool, ToolContext, ToolSpec, Unknown

if TYPE_CHECKING:
    import mcp_types
    from mcp import Client, MCPError

MAX_PAGES = 100
KEY_IN_META = "beforehand/key"
"""Where a call carries its idempotency key, for servers that know to look."""


class McpServers:
    """All configured servers. One that cannot be started is reported and spares the rest."""

    def __init__(self, configs: Iterable[McpServerConfig]) -> None:
        self._connections = [McpConnection(config) for config in configs]
        self.reasons: list[Reason] = []
        """Why servers are missing, after `start`."""

    async def start(self) -> list[Tool]:
        """Connect to every server at once and return the tools of those that answered, in the order configured."""
        found = await asyncio.gather(*(self._tools_of(connection) for connection in self._connections))
        return [tool for tools in found for tool in tools]

    async def close(self) -> None:
        """Let every server go; the programs that were started have ended when this returns."""
        await asyncio.gather(*(connection.close() for connection in self._connections))

    async def _tools_of(self, connection: McpConnection) -> list[Tool]:
        name = connection.config.name
        try:
            client = await connection.client()
            return [McpTool(connection, tool) for tool in await _listed(client)]
        except UnavailableError as error:
            self._report(name, error.says, error.hint)
        except Exception as error:  # a server may answer anything; its tools are missing then, the rest is not
            self._report(
                name, f"The MCP server {name} does not list its tools: {root_cause(error)}.", "Correct the server."
            )
        await connection.close()
        return []

    def _report(self, name: str, says: str, try_next: str) -> None:
        self.reasons.append(Reason(code="mcp.unavailable", about=name, says=says, try_next=try_next))


class McpTool(Tool):
    """One tool of one server."""

    def __init__(self, connection: McpConnection, listed: "mcp_types.Tool") -> None:
        self._connection = connection
        self._name = listed.name
        self.spec = spec_of(connection.config, listed)

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        client = await self._client()
        result = await self._call(client, args, context)
        value = value_of(result)
        if result.is_error:
            raise Fault(f"{self.spec.name} failed: {_told(value)}", code="mcp.tool_failed")
        return value

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        says = f"Calls {self._name} on the MCP server {self._connection.config.name}: {self.spec.description}"
        return Preview(says, self.spec.estimate_s, Unknown(f"what {self.spec.name} gives"))

    async def _client(self) -> "Client":
        try:
            return await self._connection.client()
        except UnavailableError as error:
            raise Fault(error.says, transient=True, untouched=True, code=error.code, hint=error.hint) from error

    async def _call(
        self, client: "Client", args: Mapping[str, Any], context: ToolContext
    ) -> "mcp_types.CallToolResult":
        from mcp import MCPError

        async def reported(progress: float, total: float | None, message: str | None) -> None:
            if total:
                context.progress(max(0.0, min(100.0, 100 * progress / total)))
            if message:
                context.log(message)

        timeout_s = self._connection.config.timeout_s
        try:
            async with asyncio.timeout(timeout_s + 5):  # the protocol's own timeout comes first; this is the net
                return await client.call_tool(
                    self._name,
                    dict(args),
                    read_timeout_seconds=timeout_s,
                    progress_callback=reported,
                    meta=cast("mcp_types.RequestParamsMeta", {KEY_IN_META: context.key}),
                )
        except MCPError as error:
            raise await self._fault(client, error) from error
        except TimeoutError:
            self._connection.suspect()
            raise self._timed_out() from None
        except (OSError, RuntimeError, ValueError) as error:
            says = f"{self.spec.name} gave no usable answer: {root_cause(error)}."
            raise self._unanswered(says, "mcp.bad_answer", transient=False) from error

    async def _fault(self, client: "Client", error: "MCPError") -> Fault:
        import mcp_types

        if error.code == mcp_types.REQUEST_TIMEOUT:
            self._connection.suspect()
            return self._timed_out()
        if error.code == mcp_types.CONNECTION_CLOSED or error.message == "Session terminated":
            await self._connection.drop(client)
            says = f"The MCP server {self._connection.config.name} went away during {self.spec.name}."
            return self._unanswered(says, "mcp.gone", "The server is started again with the next call.")
        refused = error.code in (mcp_types.INVALID_PARAMS, mcp_types.METHOD_NOT_FOUND)
        return Fault(
            f"The MCP server {self._connection.config.name} refused {self.spec.name}: {error.message}",
            transient=error.code == mcp_types.INTERNAL_ERROR,
            untouched=refused,
            code="mcp.refused",
        )

    def _timed_out(self) -> Fault:
        says = f"{self.spec.name} did not answer within {self._connection.config.timeout_s:g} s."
        hint = f"Set timeout_s in mcp.{self._connection.config.name} if it needs longer."
        return self._unanswered(says, "mcp.timeout", hint)

    def _unanswered(self, says: str, code: str, hint: str = "", *, transient: bool = True) -> Fault:
        """It was sent and nobody knows what came of it: of a physical call a person decides, others may be retried."""
        if self.spec.effect == "physical":
            return InDoubtError(f"{says} Whether it was done is not known.", hint=hint)
        return Fault(says, transient=transient, code=code, hint=hint)


async def _listed(client: "Client") -> "list[mcp_types.Tool]":
    page = await client.list_tools()
    tools = list(page.tools)
    for _ in range(MAX_PAGES):
        if page.next_cursor is None:
            break
        page = await client.list_tools(cursor=page.next_cursor)
        tools.extend(page.tools)
    return list({tool.name: tool for tool in tools}.values())


def spec_of(config: McpServerConfig, listed: "mcp_types.Tool") -> ToolSpec:
    """What Beforehand makes of a listed tool: its hints, under the user's policy."""
    policy = config.tools.get(listed.name, ToolPolicy())
    effect, destructive = hinted(listed.annotations)
    chosen = policy.effect or config.effect or effect
    if chosen == "pure" and policy.destructive is None:
        destructive = "never"
    return ToolSpec(
        name=config.tool_name(listed.name),
        description=listed.description or listed.title or listed.name,
        input_schema=listed.input_schema,
        effect=chosen,
        destructive=policy.destructive or destructive,
        output="What the MCP server answers: its structured content, else its text.",
        output_schema=listed.output_schema,
        estimate_s=1.0,
        source=f"mcp:{config.name}",
    )


def hinted(annotations: "mcp_types.ToolAnnotations | None") -> tuple[Effect, Destructive]:
    if annotations is None:
        return "physical", "always"
    if annotations.read_only_hint:
        return "pure", "never"
    effect: Effect = "idempotent" if annotations.idempotent_hint else "physical"
    return effect, "never" if annotations.destructive_hint is False else "always"


def value_of(result: "mcp_types.CallToolResult") -> Any:
    """Structured content where there is some, else the text, else the content blocks as they came."""
    if result.structured_content is not None:
        return result.structured_content
    if all(block.type == "text" for block in result.content):
        return "\n".join(getattr(block, "text", "") for block in result.content)
    return [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]


def _told(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text.strip()[:2000] or "it did not say why."
