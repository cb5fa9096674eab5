"""Runs carried out on Temporal: the `RunHost` of an installation on several machines.

Every decision is taken in the process that leads and lands in its log; tools are called by workers, wherever they are.
A driver here only follows its run's workflow, so that a workflow that breaks becomes a decision like any other bug.
"""

import asyncio
from collections.abc import Iterable
from itertools import count
from typing import Any

from beforehand.adapters.temporal.calls import Calls, Toolbox
from beforehand.adapters.temporal.engine import Engine
from beforehand.adapters.temporal.led import Led
from beforehand.adapters.temporal.wire import input_document
from beforehand.app.clock import ahead_of
from beforehand.app.engines import temporal_address
from beforehand.app.leases import HOLD, ask_for_machine
from beforehand.app.run_documents import run_head_in
from beforehand.app.run_progress import show_progress, taken_in_turn
from beforehand.app.run_states import owner_of_run, replayed
from beforehand.app.runtime import Runtime
from beforehand.engine.inputs import LeaseMachine, RunInput
from beforehand.engine.state import RunState
from beforehand.loop.asked import Asked, asked_here
from beforehand.loop.edge import refuse_unled, until_led
from beforehand.loop.host import Host
from beforehand.model.errors import ExpiredError
from beforehand.model.event import Verdict
from beforehand.model.plan import RunStatus
from beforehand.model.reason import Reason
from beforehand.ports.tasks import lasting, stop
from beforehand.ports.tool import ToolSpec

PROGRESS_S = 1.0
MOST_SHOWN = 20
"""Runs whose progress is asked for in one round."""
HELD_S = 0.1
"""How often it is looked whether everything is still held."""


class TemporalRuns:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._address = temporal_address(runtime.settings, runtime.identity)
        having = (runtime.store, lambda: runtime.catalog, self._queue_of, self._lease)
        self._led = Led(*having, runtime.identity)
        self._opened: Engine | None = None
        self._showing: asyncio.Task[None] | None = None
        self._host: Host[str] = Host(runtime.nursery, owner_of_run, self._take_up)

    @property
    def driven(self) -> int:
        return len(self._host.live)

    def drives(self, run_id: str) -> bool:
        return run_id in self._host

    async def begin(self, run: RunState) -> None:
        self._follow(run.run_id, await run_head_in(self._runtime.store, run.run_id))

    async def recover(self, run_id: str) -> None:
        await self._host.take_up(run_id)

    async def recover_all(self, run_ids: Iterable[str]) -> int:
        return await self._host.take_up_all(run_ids)

    async def _take_up(self, run_id: str) -> None:
        head = await run_head_in(self._runtime.store, run_id)
        if not RunStatus(head["status"]).is_final:
            self._follow(run_id, head)

    async def send(self, run_id: str, given: RunInput) -> Verdict[Any]:
        head = await run_head_in(self._runtime.store, run_id)
        asked = asked_here()
        document = _asked_document(asked, ahead_of(self._runtime.clock))
        told = await self._engine.hand_in(run_id, input_document(given), document)
        self._follow(run_id, head, start=False)
        if told["expired"] is not None:
            raise ExpiredError(
                "This came to be decided after its deadline, so it was not done.",
                hint="Ask again if it is still wanted.",
                extra={"now": self._runtime.now()},
            )
        if asked is not None and document is not None:
            asked.decided = True
            asked.kept = asked.kept or ("requestId" in document and (bool(told["events"]) or "done" in told))
        return Verdict(reasons=tuple(Reason.model_validate(reason) for reason in told["reasons"]))

    async def brake(self, run_id: str, given: RunInput) -> tuple[Verdict[Any], bool]:
        """Its workflow decides, and that stands in the log before it is carried out."""
        return await self.send(run_id, given), True

    def states(self) -> list[RunState]:
        return []

    async def state(self, run_id: str) -> RunState:
        return await replayed(self._runtime.store, run_id)

    async def wait(self, run_id: str, timeout_s: float | None = None) -> None:
        await self._host.wait(run_id, timeout_s)

    async def _show_progress(self) -> None:
        """While somebody looks, ask how far the calls on workers are; those in this process tell it themselves."""
        for turn in count():
            await asyncio.sleep(PROGRESS_S)
            looked_for = list(self._host.live) if self._runtime.telemetry.listeners else ()
            for run_id in taken_in_turn(looked_for, turn, MOST_SHOWN):
                for step_id, percent in await self._engine.progress(run_id):
                    show_progress(self._runtime, run_id, step_id, percent, None)

    async def close(self) -> None:
        if self._showing is not None:
            await stop([self._showing])
        await self._host.close()
        if self._opened is not None:
            await self._opened.close()
        self._led.close()

    @property
    def _engine(self) -> Engine:
        """Opened with the first run: everything that its tools need is there by then."""
        if self._opened is None:
            runtime = self._runtime

            def on_progress(run_id: str, step_id: str, percent: float) -> None:
                show_progress(runtime, run_id, step_id, percent, None)

            async def until_let(spec: ToolSpec) -> None:
                await until_led(runtime.store)
                while spec.machine is not None and await runtime.store.row(*HOLD) is not None:  # noqa: ASYNC110  rows have no event
                    await asyncio.sleep(HELD_S)

            having = (runtime.extensions.tools, runtime.catalog, runtime.clock, runtime.workspace)
            box = Toolbox(*having, on_progress, until_let, lambda: refuse_unled(runtime.store))
            self._opened = Engine(self._address, [*self._led.activities, *Calls(box).activities])
            self._opened.open()
            self._showing = lasting(self._show_progress, "how far the steps at workers are")
        return self._opened

    def _queue_of(self, tool: str) -> str:
        names = self._address.names
        return names.runs if tool in self._runtime.extensions.led else names.tool(tool)

    async def _lease(self, run_id: str, command: LeaseMachine) -> None:
        await ask_for_machine(self._runtime, run_id, command, lambda given: self.send(run_id, given))

    def _follow(self, run_id: str, head: dict[str, Any], *, start: bool = True) -> None:
        """Have a driver wait for the end of the run's workflow, which it starts where there is none."""
        if run_id not in self._host:
            owner = owner_of_run(run_id, plan_id=head["planId"])
            self._host.start(run_id, run_id, self._driven(run_id, start), owner)

    async def _driven(self, run_id: str, start: bool) -> None:
        try:
            await self._engine.drive(run_id, start=start)
        finally:
            self._led.forget(run_id)


def _asked_document(asked: Asked | None, ahead_ms: int) -> dict[str, Any] | None:
    """The write that asks, as far as it matters to the decision; workflows go by the time of the wall."""
    if asked is None or not (asked.request_id or asked.deadline_ms):
        return None
    deadline = None if asked.decided or asked.deadline_ms is None else asked.deadline_ms + ahead_ms
    is_its_own = bool(asked.request_id) and not asked.kept and not asked.preparing
    key = {} if not is_its_own else {"requestId": asked.request_id, "requestHash": asked.content}
    again = {"again": True} if asked.again else {}
    return {"deadline": deadline, **key, **again}
