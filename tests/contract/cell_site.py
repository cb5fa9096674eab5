"""A whole runtime with one live cell, whose PLC is a stranger's, and a line to it over real TCP that can be cut.

The runtime can be killed: from that very moment nothing reaches the PLC and nothing is written any more, and the next
process opens the same home and the same log.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.contract.conftest import Line
from tests.contract.stranger_plc import StrangerPlc

from beforehand.app.crafts import load_crafts
from beforehand.app.examples import find_document
from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import cancel_run, pause_run, recover_runs, resume_run, run_document, start_run
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import recover_scenes, save_scene
from beforehand.app.settings import load_settings
from beforehand.crafts.cell.cells import Cells
from beforehand.model.errors import BeforehandError
from beforehand.model.event import Event
from beforehand.testing import MemoryLog, MemoryStore

SCENE = "weld_star"
PATIENCE_S = 30.0
STEP_S = 0.01


class Wire(Line):
    """A line to a PLC that may be switched off: then nobody listens at its end, and it says so."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await super()._serve(reader, writer)
        except OSError:
            writer.close()


class Wired:
    """Whoever reaches the PLC over a line."""

    plc: StrangerPlc
    line: Wire

    async def cut(self) -> None:
        await self.line.close()

    async def connect(self) -> None:
        await self.line.close()
        self.line = Wire(self.plc.port, self.line.port)
        await self.line.open()

    def freeze(self) -> None:
        """Nothing is answered any more, and the connections stay open."""
        self.line.silent_at = b""

    def thaw(self) -> None:
        self.line.silent_at = None


class CellSite(Wired):
    refusals: tuple[type[Exception], ...] = (BeforehandError,)

    def __init__(self, folder: Path, plc: StrangerPlc, speed: float = 1.0) -> None:
        flags = {"home": str(folder / "home"), "workspace": str(folder), "speed": speed}
        self.settings = load_settings(flags, {}, folder / "none.toml")
        self.plc = plc
        self.line = Wire(plc.port)
        self.log = MemoryLog()
        self.store: MemoryStore
        self.runtime: Runtime
        self._stack = AsyncExitStack()
        plc.books = lambda: len(self.log.events)

    @property
    def scene(self) -> dict[str, Any]:
        url = f"opc.tcp://127.0.0.1:{self.line.port}/plc"
        return {**find_document(SCENE), "controller": {"kind": "opcua", "url": url}}

    # -- the process -----------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the home, with the cell live; what was under way before goes on."""
        await self.connect()
        self.store = MemoryStore(load_crafts().projection(), shared=self.log)
        opening = open_runtime(self.settings, store=self.store, with_servers=False)
        self.runtime = await self._stack.enter_async_context(opening)
        if not self.log.events:
            await save_scene(self.runtime, None, self.scene, activate=True)
        await recover_scenes(self.runtime)
        await recover_runs(self.runtime)

    async def kill(self) -> None:
        """What is in flight is not waited for, and nobody looks how it ends."""
        self.store.break_down()
        await self.cut()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("beforehand.crafts.cell.tools.FINISH_S", 0.0)
            patch.setattr("beforehand.adapters.opcua.client.PATIENCE_S", 0.0)
            patch.setattr("beforehand.ports.tasks.AGAIN_S", 0.05)
            await self.close()
        self.store.mend()

    async def restore(self, seq: int) -> None:
        """The log is again as it was at this number, and another generation; the PLC went on."""
        await self.kill()
        kept, identity, self.log = self.log.events[:seq], self.log.identity, MemoryLog()
        assert identity is not None
        self.log.identity = identity.next_generation()
        before = MemoryStore(load_crafts().projection(), shared=self.log)
        await before.append(kept)
        await before.close()
        await self.open()

    async def close(self) -> None:
        stack, self._stack = self._stack, AsyncExitStack()
        await stack.aclose()

    # -- the books -------------------------------------------------------------------------------------------------

    async def start(self, text: str) -> str:
        """A run of what these words say."""
        plan, _ = await create_plan(self.runtime, PlanInput(scene=SCENE, text=text))
        return str((await start_run(self.runtime, plan.id, plan.version))["runId"])

    async def decisions(self, kind: str = "") -> list[dict[str, Any]]:
        """What waits for a person, reviews left out."""
        found = await list_decisions(self.runtime)
        return [row for row in found if row["kind"] == kind or (not kind and row["kind"] != "review")]

    async def answer(self, asked: Mapping[str, Any], verb: str) -> None:
        await answer_decision(self.runtime, str(asked["id"]), verb)

    async def steer(self, verb: str, run_id: str) -> None:
        """Pause, resume or cancel a run."""
        await {"pause": pause_run, "resume": resume_run, "cancel": cancel_run}[verb](self.runtime, run_id)

    async def say_where(self, position: str, tool: str) -> None:
        """A person tells the PLC, through us, where its robot stands."""
        await self.runtime.service(Cells).set_state(SCENE, position, tool)

    def events(self) -> list[dict[str, Any]]:
        return [event.wire() for event in self.log.events]

    async def step(self, run_id: str, step_id: str) -> dict[str, Any]:
        run = await run_document(self.runtime, run_id)
        return next(step for step in run["steps"] if step["id"] == step_id)

    async def until(self, kind: str, /, after: int = 0, **data: Any) -> Event:
        """The first such event behind the first so many."""
        found: list[Event] = []

        def came() -> bool:
            found.extend(e for e in self.log.events[after:] if e.kind == kind and data.items() <= e.data.items())
            return bool(found)

        await until(came, f"{kind} {data}")
        return found[0]


async def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold in so long; it is looked at every few milliseconds."""
    for _ in range(max(1, round(seconds / STEP_S))):
        if holds():
            return True
        await asyncio.sleep(STEP_S)
    return holds()


async def until(holds: Callable[[], bool], what: str = "it") -> None:
    """Return when something holds, and do not wait for it for ever."""
    assert await within(PATIENCE_S, holds), f"{what} never came"


@asynccontextmanager
async def cell_site(folder: Path, speed: float = 1.0, **plc: Any) -> AsyncIterator[CellSite]:
    made = CellSite(folder, StrangerPlc(**plc), speed)
    await made.plc.start()
    try:
        await made.open()
        yield made
        assert made.plc.troubles == []
    finally:
        made.thaw()
        await made.close()
        await made.cut()
        await made.plc.close()


def hurry(patch: pytest.MonkeyPatch) -> None:
    """Everybody waits a short time, where the real ones are made for machines far away."""
    patch.setattr("beforehand.app.runs.STOP_PATIENCE_S", 0.0)
    patch.setattr("beforehand.ports.tasks.AGAIN_S", 0.1)
    patch.setattr("beforehand.crafts.cell.tools.FINISH_S", 0.0)
    patch.setattr("beforehand.adapters.opcua.client.SETTLE_S", 0.6)
    patch.setattr("beforehand.adapters.opcua.client.LOOK_S", 0.1)
    patch.setattr("beforehand.adapters.opcua.client.ARRIVE_MS", 600)
    patch.setattr("beforehand.adapters.opcua.client.PATIENCE_S", 0.3)
    patch.setattr("beforehand.adapters.opcua.link.ANSWER_S", 0.5)
    patch.setattr("beforehand.adapters.opcua.link.CONNECT_S", 1.0)
    patch.setattr("beforehand.adapters.opcua.link.CLOSE_S", 0.3)
    patch.setattr("beforehand.adapters.opcua.link.BACK_OFF_S", (0.02, 0.05, 0.1))
    patch.setattr("beforehand.engine.decide.PROBE_AGAIN_MS", 100)
    for module in ("beforehand.engine.calls", "beforehand.loop.run_driver"):
        patch.setattr(f"{module}.STOP_GRACE_MS", 700)
