"""Every tool there is: built in, of crafts, of plug-ins by entry point, and of configured MCP servers.

One that cannot be loaded is reported with a sentence and spares the rest.
"""

from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

from beforehand.adapters.tools.builtin import register as register_builtins
from beforehand.adapters.tools.registry import ToolRegistry
from beforehand.app.entry_points import entry_points
from beforehand.app.settings import Settings
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.errors import BeforehandError, ForeignError
from beforehand.model.reason import Reason
from beforehand.model.secrets import without_secrets
from beforehand.ports.foreign import made, why
from beforehand.ports.log import Log
from beforehand.ports.plugin import PluginRegistry
from beforehand.ports.tool import Tool

if TYPE_CHECKING:
    from beforehand.adapters.mcp.client import McpServers

GROUP = "beforehand.plugins"
log = Log("beforehand.plugins")


@dataclass(slots=True)
class Extensions:
    tools: ToolRegistry = field(default_factory=ToolRegistry)
    reasons: list[Reason] = field(default_factory=list)
    """Why something that was asked for is not there."""
    plugins: list[PluginRegistry] = field(default_factory=list)
    servers: "McpServers | None" = None
    led: set[str] = field(default_factory=set)
    """The tools that work only in the process that leads: those of crafts, and those it was opened with."""

    @property
    def catalog(self) -> ToolCatalog:
        """The tools by name, with their schemas, as plans are checked against."""
        return ToolCatalog(self.tools.specs())

    def add(self, tool: Tool) -> None:
        """Offer a tool; a name that is taken is reported, and the first one stays."""
        try:
            self.tools.add(tool)
        except BeforehandError as error:
            self.miss(tool.spec.name, error.says)

    def miss(self, about: str, says: str) -> None:
        """Note something that could not be loaded, with a sentence."""
        says = without_secrets(says)
        log.warning("a plug-in is missing", plugin=about, says=says)
        reason = Reason(code="plugin.unavailable", about=about, says=says, try_next="Correct it and start again.")
        self.reasons.append(reason)

    async def close(self) -> None:
        """End the MCP servers that were started."""
        if self.servers is not None:
            await self.servers.close()


def built_in_extensions(settings: Settings) -> Extensions:
    """The tools every installation has."""
    extensions = Extensions()
    builtins = PluginRegistry(settings={"http_allow": settings["http_allow"]})
    register_builtins(builtins)
    _take(extensions, builtins)
    return extensions


async def load_plugins(extensions: Extensions, settings: Settings, *, with_servers: bool = True) -> None:
    """Add the tools of plug-ins and, unless `with_servers` is false, of the configured MCP servers."""
    for entry in entry_points(GROUP):
        try:
            plugins = PluginRegistry(entry.name, settings.with_secrets(settings.plugins.get(entry.name)))
            await made(partial(_registered, entry, plugins), ours=False)
        except Exception as error:
            hint = error.hint if isinstance(error, BeforehandError) and not isinstance(error, ForeignError) else ""
            extensions.miss(entry.name, f"The plug-in {entry.name} could not be loaded: {why(error)} {hint}".strip())
            continue
        _take(extensions, plugins)
    if settings.mcp and with_servers:
        await _take_servers(extensions, settings)


def _registered(entry: EntryPoint, plugins: PluginRegistry) -> None:
    entry.load()(plugins)


async def _take_servers(extensions: Extensions, settings: Settings) -> None:
    from beforehand.adapters.mcp.client import McpServers
    from beforehand.adapters.mcp.config import read_configs

    tables: dict[str, Any] = {}
    for name, table in settings.mcp.items():
        try:
            tables[name] = settings.with_secrets(table)
        except BeforehandError as error:
            extensions.miss(name, f"The MCP server {name} was not started: {error.says} {error.hint}")
    extensions.servers = McpServers(read_configs(tables))
    for tool in await extensions.servers.start():
        extensions.add(tool)
    for reason in extensions.servers.reasons:
        told = {"says": without_secrets(reason.says), "try_next": without_secrets(reason.try_next)}
        log.warning("an MCP server is missing", server=reason.about, says=told["says"])
        extensions.reasons.append(reason.model_copy(update=told))


def _take(extensions: Extensions, plugins: PluginRegistry) -> None:
    extensions.plugins.append(plugins)
    for tool in plugins.tools:
        extensions.add(tool)
