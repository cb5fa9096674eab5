"""The house: everything that is open while a process works on a home.

Opened for leading it may write the log and run plans; opened for looking it reads. The verbs live beside it, one
function each; they all take the house as their first argument.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

from beforehand.adapters.files.workspace import DiskWorkspace
from beforehand.app.clock import WallClock
from beforehand.app.craft import Craft
from beforehand.app.extensions import Extensions, open_extensions
from beforehand.app.settings import Settings
from beforehand.app.stores import open_store
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.loop.feed import Feed
from beforehand.loop.rows import project
from beforehand.loop.run_driver import RunDriver
from beforehand.loop.telemetry import Telemetry
from beforehand.model.errors import BadInputError
from beforehand.model.event import Event
from beforehand.ports.clock import Clock
from beforehand.ports.store import Store


@dataclass(slots=True)
class Runtime:
    settings: Settings
    store: Store
    clock: Clock
    extensions: Extensions
    catalog: ToolCatalog
    feed: Feed
    telemetry: Telemetry = field(default_factory=Telemetry)
    crafts: dict[str, Craft] = field(default_factory=dict)
    drivers: dict[str, RunDriver] = field(default_factory=dict)
    work: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    turns: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """One verb at a time on one plan, so that nobody starts the same version twice."""

    def now(self) -> int:
        return self.clock.now_ms()

    async def log(
        self,
        kind: str,
        data: Mapping[str, Any],
        *,
        owner: str,
        correlation_id: str = "",
        scene: str | None = None,
        **about: Any,
    ) -> Event:
        """Append one event of the house's own."""
        correlation_id = correlation_id or _of_this_request()
        event = self.event(kind, data, owner=owner, correlation_id=correlation_id, scene=scene, **about)
        return (await self.store.append([event]))[0]

    def event(
        self,
        kind: str,
        data: Mapping[str, Any],
        *,
        owner: str,
        correlation_id: str = "",
        scene: str | None = None,
        **about: Any,
    ) -> Event:
        return Event(kind, about, data, self.now(), scene=scene, correlation_id=correlation_id, owner=owner)

    def workspace(self, path: str | None) -> DiskWorkspace:
        """The folder a plan's file tools stay inside; the house's own files are closed to them."""
        root = self.settings.workspace if path is None else self.settings.workspace / path
        if not root.is_dir():
            raise BadInputError(f"The workspace {root} is no folder.", code="workspace.missing")
        return DiskWorkspace(root, closed=[self.settings.home])

    def refresh_catalog(self) -> None:
        """The set of tools has changed."""
        self.catalog = self.extensions.catalog


def _of_this_request() -> str:
    """The correlation id of the request that is being answered, if there is one."""
    return str(structlog.contextvars.get_contextvars().get("correlation_id", ""))


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    *,
    lead: bool = True,
    with_servers: bool = True,
    clock: Clock | None = None,
    store: Store | None = None,
    url: str | None = None,
    note: str = "",
) -> AsyncIterator[Runtime]:
    """Open a home, or a `store` in place of its log; NotLeadingError when another process leads it already."""
    clock = clock or WallClock()
    if store is None:
        store = await open_store(
            settings.database, project=project, lead=lead, now_ms=clock.now_ms, url_of_server=url, note=note
        )
    try:
        extensions = await open_extensions(settings, with_servers=with_servers)
        runtime = Runtime(settings, store, clock, extensions, extensions.catalog, Feed(store))
        try:
            yield runtime
        finally:
            await _close(runtime)
    finally:
        await store.close()


async def _close(runtime: Runtime) -> None:
    runtime.feed.close()
    runtime.telemetry.close()
    for task in runtime.work.values():
        task.cancel()
    await asyncio.gather(*runtime.work.values(), return_exceptions=True)
    for craft in runtime.crafts.values():  # after the runs: to a step, a fleet that stops would be a failure
        await craft.close()
    await runtime.extensions.close()
