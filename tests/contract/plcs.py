"""A simulated PLC for a test, and controllers that reach it over real TCP."""

import copy
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from beforehand.adapters.opcua.client import OpcuaCell, open_opcua_cell
from beforehand.adapters.opcua.plc import SimulatedPlc
from beforehand.app.clock import WallClock
from beforehand.app.kept_files import HomeFiles
from beforehand.model.cell import CellScene
from beforehand.ports.cell import ControllerRequest
from beforehand.ports.clock import Clock
from beforehand.ports.private_files import KeptFile

_standard: dict[Any, Any] = {}


def share_standard_nodes() -> None:
    """Filling in the thousands of nodes that every server has takes seconds; once in a test process is enough."""
    from asyncua import ua
    from asyncua.server.internal_server import InternalServer

    if getattr(InternalServer, "shares_standard_nodes", False):
        return
    load = InternalServer.load_standard_address_space

    async def shared(self: Any, shelf_file: Path | None = None) -> None:
        if not _standard:
            await load(self, None)
            _standard.update(self.aspace._nodes)
        self.aspace._nodes = dict(_standard)
        for standing in (ua.ObjectIds.ObjectsFolder, ua.ObjectIds.Server_NamespaceArray):
            self.aspace._nodes[ua.NodeId(standing)] = copy.deepcopy(_pristine(ua.NodeId(standing)))

    InternalServer.load_standard_address_space = shared
    InternalServer.shares_standard_nodes = True


_untouched: dict[Any, Any] = {}


def _pristine(node: Any) -> Any:
    """A node as it was before the first server wrote to it."""
    return _untouched.setdefault(node, copy.deepcopy(_standard[node]))


@asynccontextmanager
async def running_plc(
    scene: CellScene, clock: Clock | None = None, *, port: int = 0, users: Any = None, secured: Any = None, **more: Any
) -> AsyncIterator[SimulatedPlc]:
    share_standard_nodes()
    plc = SimulatedPlc(scene, clock or WallClock(), **more)
    await plc.start(port=port, users=users, secured=secured)
    try:
        yield plc
    finally:
        await plc.stop()


@asynccontextmanager
async def opened(
    scene: CellScene, url: str, file: Path | None, **options: Any
) -> AsyncIterator[Callable[[], Awaitable[OpcuaCell]]]:
    """Opens the controller; opened again, the process that had it before has died."""
    made: list[OpcuaCell] = []
    kept = None if file is None else KeptFile(HomeFiles(file.parent), file.name)
    named = scene.model_copy(update={"controller": {"kind": "opcua", "url": url, **options}})

    async def open_again() -> OpcuaCell:
        for cell in made:
            await cell._link.close()  # a process that dies gives nothing back
        made.append(open_opcua_cell(ControllerRequest(named, WallClock(), kept=kept)))
        return made[-1]

    try:
        yield open_again
    finally:
        for cell in made:
            await cell.close()
