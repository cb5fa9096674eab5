"""Gathers every tool there is: built-ins, plug-ins by entry point, and the tools of configured MCP servers.

One that cannot be loaded is reported with a sentence and spares the rest.
"""

from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import structlog

from beforehand.adapters.tools.builtin import register as register_builtins
from beforehand.adapters.tools.registry import ToolRegistry
from beforehand.app.settings import Settings
from beforehand.crafts.cell.tools import CellDesk, cell_tools
from beforehand.crafts.fleet.tools import FleetDesk, fleet_tools
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.errors import BeforehandError
from beforehand.model.reason import Reason
from beforehand.ports.plugin import PluginRegistry
from beforehand.ports.tool import Tool

if TYPE_CHECKING:
    from beforehand.adapters.mcp.client import McpServers

GROUP = "beforehand.plugins"
log = structlog.get_logger("beforehand.plugins")


@dataclass(slots=True)
class Extensions:
    tools: ToolRegistry
    reasons: list[Reason] = field(default_factory=list)
    plugins: list[PluginRegistry] = field(default_factory=list)
    servers: "McpServers | None" = None
    cells: CellDesk = field(default_factory=CellDesk)
    fleets: FleetDesk = field(default_factory=FleetDesk)

    @property
    def catalog(self) -> ToolCatalog:
        return ToolCatalog(self.tools.specs())

    async def close(self) -> None:
        if self.servers is not None:
            await self.servers.close()


async def open_extensions(settings: Settings, *, with_servers: bool = True) -> Extensions:
    """Load everything; `with_servers` false leaves MCP servers alone, for commands that only look."""
    extensions = Extensions(ToolRegistry())
    builtins = PluginRegistry(settings={"http_allow": settings["http_allow"]})
    register_builtins(builtins)
    for tool in (*cell_tools(extensions.cells), *fleet_tools(extensions.fleets)):
        builtins.add_tool(tool)
    _take(extensions, builtins)
    for entry in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        plugins = PluginRegistry(entry.name, settings.plugins.get(entry.name))
        try:
            entry.load()(plugins)
        except Exception as error:  # somebody else's code: it may fail in any way, and the house stands
            _miss(
                extensions, entry.name, f"The plug-in {entry.name} could not be loaded: {type(error).__name__}: {error}"
            )
            continue
        _take(extensions, plugins)
    if settings.mcp and with_servers:
        await _take_servers(extensions, settings)
    return extensions


async def _take_servers(extensions: Extensions, settings: Settings) -> None:
    from beforehand.adapters.mcp.client import McpServers
    from beforehand.adapters.mcp.config import read_configs

    extensions.servers = McpServers(read_configs(settings.mcp))
    for tool in await extensions.servers.start():
        _add(extensions, tool)
    for reason in extensions.servers.reasons:
        log.warning("an MCP server is missing", server=reason.about, says=reason.says)
    extensions.reasons += extensions.servers.reasons


def _take(extensions: Extensions, plugins: PluginRegistry) -> None:
    extensions.plugins.append(plugins)
    for tool in plugins.tools:
        _add(extensions, tool)


def _add(extensions: Extensions, tool: Tool) -> None:
    try:
        extensions.tools.add(tool)
    except BeforehandError as error:
        _miss(extensions, tool.spec.name, error.says)


def _miss(extensions: Extensions, about: str, says: str) -> None:
    log.warning("a plug-in is missing", plugin=about, says=says)
    extensions.reasons.append(
        Reason(code="plugin.unavailable", about=about, says=says, try_next="Mend it and start again.")
    )
