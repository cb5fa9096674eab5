"""A whole runtime on virtual time: the crafts, a log in memory, and simulators that keep their files in a folder."""

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from beforehand.app.crafts import load_crafts
from beforehand.app.examples import find_document
from beforehand.app.runs import recover_runs, run_document, start_run
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import recover_scenes, save_scene
from beforehand.app.settings import Settings, load_settings
from beforehand.model.event import Event
from beforehand.ports.compiled import has_scipy
from beforehand.testing import MemoryLog, MemoryStore, VirtualClock


@dataclass
class Homestead:
    """Opened again and again over the same log and clock, as a home is over restarts."""

    folder: Path
    clock: VirtualClock = field(default_factory=VirtualClock)
    log: MemoryLog = field(default_factory=MemoryLog)
    store: MemoryStore = field(default_factory=MemoryStore)

    @property
    def settings(self) -> Settings:
        flags = {"home": str(self.folder / "home"), "workspace": str(self.folder)}
        return load_settings(flags, {}, self.folder / "none.toml")

    @asynccontextmanager
    async def open(self, *scenes: Any) -> AsyncIterator[Runtime]:
        """The runtime with these scenes live, and everything that was live and under way before."""
        self.store = MemoryStore(load_crafts().projection(), shared=self.log)
        async with open_runtime(self.settings, clock=self.clock, store=self.store, with_servers=False) as runtime:
            for scene in scenes:
                document = find_document(scene) if isinstance(scene, str) else scene
                await save_scene(runtime, None, document, activate=True)
            await recover_scenes(runtime)
            await recover_runs(runtime)
            yield runtime

    async def lose_after(self, seq: int) -> None:
        """What was written later is what `kill -9` at that moment would have kept from being written."""
        kept, identity, self.log = self.store.log[:seq], self.log.identity, MemoryLog()
        self.log.identity = identity
        fresh = MemoryStore(load_crafts().projection(), shared=self.log)
        await fresh.append(kept)
        await fresh.close()

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
def homestead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homestead:
    """A home on virtual time, which stands still while a process ends: no cell comes to rest meanwhile."""
    monkeypatch.setattr("beforehand.crafts.cell.tools.FINISH_S", 0.0)
    return Homestead(tmp_path)
