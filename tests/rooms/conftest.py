"""A whole house on virtual time: the crafts, a log in memory, and simulators that keep their files in a folder."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from beforehand.app.crafts import register_crafts
from beforehand.app.runs import recover_runs, run_document, start_run
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import find_document, recover_scenes, save_scene
from beforehand.app.settings import Settings, load_settings
from beforehand.loop.rows import project
from beforehand.model.event import Event
from beforehand.ports.compiled import has_scipy
from beforehand.testing import MemoryStore, VirtualClock


@dataclass
class Homestead:
    """Opened again and again over the same log and clock, as a home is over restarts."""

    folder: Path
    clock: VirtualClock = field(default_factory=VirtualClock)
    store: MemoryStore = field(default_factory=lambda: MemoryStore(project))

    @property
    def settings(self) -> Settings:
        flags = {"home": str(self.folder / "home"), "workspace": str(self.folder)}
        return load_settings(flags, {}, self.folder / "none.toml")

    @asynccontextmanager
    async def open(self, *scenes: Any) -> AsyncIterator[Runtime]:
        """The house with these scenes live, and everything that was live and under way before."""
        await self._reopen()
        async with open_runtime(self.settings, clock=self.clock, store=self.store, with_servers=False) as runtime:
            register_crafts(runtime)
            for scene in scenes:
                document = find_document(scene) if isinstance(scene, str) else scene
                await save_scene(runtime, None, document, activate=True)
            await recover_scenes(runtime)
            await recover_runs(runtime)
            yield runtime

    async def _reopen(self) -> None:
        """What a new process finds: the events and snapshots, nothing of what was in memory."""
        fresh = MemoryStore(project)
        if self.store.log:
            await fresh.append(self.store.log)
        for owner in {event.owner for event in self.store.log}:
            if (kept := await self.store.snapshot(owner)) is not None:
                await fresh.save_snapshot(owner, *kept)
        self.store = fresh

    def events(self, kind: str) -> list[Event]:
        return [event for event in self.store.log if event.kind == kind]

    async def until(self, runtime: Runtime, kind: str, /, **data: Any) -> Event:
        """Let time pass until such an event is in the log."""
        begun = 0
        for _ in range(200_000):
            await self.clock.settle()
            for event in self.store.log[begun:]:
                if event.kind == kind and all(event.data.get(name) == value for name, value in data.items()):
                    return event
            begun = len(self.store.log)
            assert await self.clock.jump(), f"no {kind} came, and nothing can move any more"
        raise AssertionError(f"no {kind} came")

    async def carried_out(self, runtime: Runtime, plan: Any) -> dict[str, Any]:
        """The run of a plan once it has ended."""
        run = await start_run(runtime, plan.id, plan.version)
        await self.until(runtime, "runFinished", runId=run["runId"])
        return await run_document(runtime, run["runId"])


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine on which scipy is not installed."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    has_scipy.cache_clear()
    yield
    has_scipy.cache_clear()


@pytest.fixture
def homestead(tmp_path: Path) -> Homestead:
    return Homestead(tmp_path)
