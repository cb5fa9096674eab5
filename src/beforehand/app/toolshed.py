"""Gathers every tool there is: built-ins, plug-ins by entry point, and the tools of configured MCP servers.

One that cannot be loaded is reported with a sentence and spares the rest.
"""

from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import structlog

from beforehand.adapters.tools.builtin import register as register_builtins
from beforehand.adapters.tools.registry import Toolbox
from beforehand.app.cell_tools import CellDesk, cell_tools
from beforehand.app.fleet_tools import FleetDesk, fleet_tools
from beforehand.app.settings import Settings
from beforehand.engine.catalog import Catalog
from beforehand.model.errors import BeforehandError
from beforehand.model.reason import Reason
from beforehand.ports.plugin import Plugins
from beforehand.ports.tool import Tool

if TYPE_CHECKING:
    from beforehand.adapters.mcp.client import McpServers

GROUP = "beforehand.plugins"
log = structlog.get_logger("beforehand.plugins")


@dataclass(slots=True)
class Toolshed:
    toolbox: Toolbox
    reasons: list[Reason] = field(default_factory=list)
    plugins: list[Plugins] = field(default_factory=list)
    servers: "McpServers | None" = None
    cells: CellDesk = field(default_factory=CellDesk)
    fleets: FleetDesk = field(default_factory=FleetDesk)

    @property
    def catalog(self) -> Catalog:
        return Catalog(self.toolbox.specs())

    async def close(self) -> None:
        if self.servers is not None:
            await self.servers.close()


async def open_toolshed(settings: Settings, *, with_servers: bool = True) -> Toolshed:
    """Load everything; `with_servers` false leaves MCP servers alone, for commands that only look."""
    shed = Toolshed(Toolbox())
    builtins = Plugins(settings={"http_allow": settings["http_allow"]})
    register_builtins(builtins)
    for tool in (*cell_tools(shed.cells), *fleet_tools(shed.fleets)):
        builtins.add_tool(tool)
    _take(shed, builtins)
    for entry in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        plugins = Plugins(entry.name, settings.plugins.get(entry.name))
        try:
            entry.load()(plugins)
        except Exception as error:  # somebody else's code: it may fail in any way, and the house stands
            _miss(shed, entry.name, f"The plug-in {entry.name} could not be loaded: {type(error).__name__}: {error}")
            continue
        _take(shed, plugins)
    if settings.mcp and with_servers:
        await _take_servers(shed, settings)
    return shed


async def _take_servers(shed: Toolshed, settings: Settings) -> None:
    from beforehand.adapters.mcp.client import McpServers
    from beforehand.adapters.mcp.config import read_configs

    shed.servers = McpServers(read_configs(settings.mcp))
    for tool in await shed.servers.start():
        _add(shed, tool)
    for reason in shed.servers.reasons:
        log.warning("an MCP server is missing", server=reason.about, says=reason.says)
    shed.reasons += shed.servers.reasons


def _take(shed: Toolshed, plugins: Plugins) -> None:
    shed.plugins.append(plugins)
    for tool in plugins.tools:
        _add(shed, tool)


def _add(shed: Toolshed, tool: Tool) -> None:
    try:
        shed.toolbox.add(tool)
    except BeforehandError as error:
        _miss(shed, tool.spec.name, error.says)


def _miss(shed: Toolshed, about: str, says: str) -> None:
    log.warning("a plug-in is missing", plugin=about, says=says)
    shed.reasons.append(Reason(code="plugin.unavailable", about=about, says=says, try_next="Mend it and start again."))
