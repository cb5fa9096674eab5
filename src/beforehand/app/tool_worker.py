"""A worker of a distributed installation: it has tools, and calls them for whichever run asks Temporal for one.

It has the tools that every installation has, those of its plug-ins and those of its MCP servers. Tools of crafts work
on scenes, which only the process that leads holds, so they are not here. It writes to no log.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from beforehand.app.clock import WallClock
from beforehand.app.engines import require_temporal, temporal_address
from beforehand.app.extensions import Extensions, built_in_extensions, load_plugins
from beforehand.app.runtime import open_workspace
from beforehand.app.settings import Settings
from beforehand.model.errors import NotFoundError

STOP_GRACE_S = 30.0
"""How long calls under way may take to end when the worker is told to."""


@dataclass(frozen=True, slots=True)
class Working:
    """A worker at its work."""

    tools: list[str]
    server: str
    missing: list[str]
    """Why something that was asked for is not there."""


@asynccontextmanager
async def work(
    settings: Settings, only: Sequence[str] = (), *, grace_s: float = STOP_GRACE_S
) -> AsyncIterator[Working]:
    """Call tools for runs until the context ends, all that are here or `only` those named.

    Raises NotFoundError for a tool that is not here, UnavailableError where the server cannot be reached.
    """
    require_temporal()
    from beforehand.adapters.temporal.calls import Calls, Toolbox
    from beforehand.adapters.temporal.connection import connect, identity_of
    from beforehand.adapters.temporal.working import running, tool_workers

    address = temporal_address(settings)
    extensions = built_in_extensions(settings)
    try:
        await load_plugins(extensions, settings)
        names = _chosen(extensions, only)
        client = await connect(address, identity_of("worker"))
        box = Toolbox(extensions.tools, extensions.catalog, WallClock(), lambda path: open_workspace(settings, path))
        async with running(tool_workers(client, address, Calls(box), names, grace_s)):
            yield Working(names, address.target, [reason.says for reason in extensions.reasons])
    finally:
        await extensions.close()


def _chosen(extensions: Extensions, only: Sequence[str]) -> list[str]:
    here = [spec.name for spec in extensions.tools.specs() if not spec.asks_person]
    for name in only:
        if name not in here:
            raise NotFoundError.unknown("tool", name, here)
    return sorted(set(only)) if only else here


async def work_until_stopped(settings: Settings, only: Sequence[str], ready: Callable[[Working], None]) -> None:
    """Work until this task is cancelled; `ready` is told once calls are taken."""
    async with work(settings, only) as working:
        ready(working)
        await asyncio.get_running_loop().create_future()
