"""Tools as activities: what a worker does for a run, wherever it is.

A call is made the way the local driver makes it. Being told to stop comes with a sign of life, and is passed on to the
tool; a call whose worker shuts down is given back as lost, and one that nobody waits for any more is cut off.
A physical call is claimed first.
"""

import asyncio
import zlib
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import to_json
from temporalio import activity
from temporalio.exceptions import ApplicationError

from beforehand.adapters.temporal.claiming import claimed
from beforehand.adapters.temporal.heartbeats import Pulse, heartbeats
from beforehand.adapters.temporal.names import CALL, JUDGE, LOST, PROBE, STOP
from beforehand.adapters.temporal.wire import Document, document_of, judge_from, probe_from, start_from
from beforehand.engine.calls import Caller, Lines
from beforehand.engine.inputs import StartStep, StepEnded
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.errors import Fault
from beforehand.ports.clock import Clock
from beforehand.ports.tasks import part
from beforehand.ports.tool import STOPPED, ToolSource, ToolSpec, Workspace
from beforehand.ports.tracing import Value, following, span

MOST_BYTES = 1_900_000
"""What a value may have after compression: Temporal takes 2 MB, with what is around it."""


async def _at_once(spec: ToolSpec) -> None: ...


def _nothing() -> None: ...


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of a process and what they are called with."""

    tools: ToolSource
    catalog: ToolCatalog
    clock: Clock
    workspace: Callable[[str | None], Workspace]
    on_progress: Callable[[str, str, float], None] = lambda run_id, step_id, percent: None
    until_let: Callable[[ToolSpec], Coroutine[Any, Any, None]] = _at_once
    """Returns when a call of the tool may begin: not while everything is held."""
    before_effect: Callable[[], None] = _nothing
    """A Fault where this process may tell machines nothing any more."""


class Calls:
    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    @property
    def activities(self) -> Sequence[Callable[..., Any]]:
        return [self.call, self.judge, self.probe, self.stop]

    @activity.defn(name=CALL)
    async def call(self, run: Document, order: Document) -> Document:
        command, pulse = start_from(order), Pulse()
        with following(run["correlationId"]):
            return document_of(self._small(command, await self._ended(run, command, pulse)))

    @activity.defn(name=JUDGE)
    async def judge(self, run: Document, order: Document) -> Document:
        async with heartbeats():
            return document_of(await self._caller(run).judgement(judge_from(order)))

    @activity.defn(name=PROBE)
    async def probe(self, run: Document, order: Document) -> Document:
        async with heartbeats():
            return document_of(await self._caller(run).probe(probe_from(order)))

    @activity.defn(name=STOP)
    async def stop(self, run: Document, order: Document) -> Document:
        async with heartbeats():
            return {"told": await self._caller(run).tell_to_stop(probe_from(order))}

    def _caller(self, run: Document, pulse: Pulse | None = None) -> Caller:
        box = self._toolbox

        def on_progress(run_id: str, step_id: str, percent: float) -> None:
            box.on_progress(run_id, step_id, percent)
            if pulse is not None:
                pulse.step_id, pulse.percent = step_id, percent

        workspace = box.workspace(run["workspace"])
        where = (box.tools, box.catalog, box.clock, workspace, on_progress, self._before_effect)
        return Caller(run["runId"], run["correlationId"], *where)

    def _before_effect(self) -> None:
        self._toolbox.before_effect()
        why = activity.cancellation_details()
        if why is not None and not why.cancel_requested:
            says = "This worker ends, or was taken for lost, so it told the machine nothing."
            raise Fault(says, code="step.lost", transient=True, untouched=True)

    async def _ended(self, run: Document, command: StartStep, pulse: Pulse) -> StepEnded:
        try:
            caller = self._caller(run, pulse)
        except Exception as error:  # a workspace that is not here: nothing was touched
            return StepEnded(0, command.step_id, command.attempt, ok=False, error=str(error), untouched=True)
        spec = self._toolbox.catalog.get(command.tool)
        if spec is not None and spec.effect == "physical":
            stopped = caller.stopped(command.step_id, command.attempt)
            if refused := await claimed(stopped, self._toolbox.until_let(spec)):
                return refused
            pulse.step_id = command.step_id
        about: dict[str, Value] = {
            "beforehand.runId": run["runId"],
            "beforehand.stepId": command.step_id,
            "beforehand.attempt": command.attempt,
            "beforehand.tool": command.tool,
        }
        with span(f"tool {command.tool}", about) as spanned:
            async with heartbeats(pulse):
                ended = await _Call(caller, command).ended()
            if not ended.ok:
                spanned.fail("step.stopped" if ended.stopped else "step.failed")
        return ended

    def _small(self, command: StartStep, ended: StepEnded) -> StepEnded:
        """How the step ends where its value is more than Temporal takes; a physical one has happened all the same."""
        written = to_json(ended.value) if ended.ok else b""
        if len(written) <= MOST_BYTES or (size := len(zlib.compress(written, 1))) <= MOST_BYTES:
            return ended
        spec = self._toolbox.catalog.get(command.tool)
        says = f"The tool {command.tool} gave {size / 1e6:.1f} MB; Temporal takes {MOST_BYTES / 1e6:.1f} MB at most."
        is_physical = spec is None or spec.effect == "physical"
        return replace(ended, ok=False, value=None, error=says, in_doubt=is_physical)


class _Call:
    """One call under way, which may be told to stop."""

    def __init__(self, caller: Caller, command: StartStep) -> None:
        self._caller = caller
        self._command = command
        self._lines: Lines = []
        self._told = False

    async def ended(self) -> StepEnded:
        work = part(self._caller.outcome(self._command, self._lines, lambda: self._told))
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            await self._stop(work)
        ended = work.result()
        return replace(ended, logs=tuple(self._lines)) if self._lines else ended

    async def _stop(self, work: "asyncio.Task[StepEnded]") -> None:
        """Why the worker is told to end this: the step is to stop, the worker does, or nobody waits for it any more."""
        why = activity.cancellation_details()
        if why is None or not why.cancel_requested:
            work.cancel()
            await asyncio.wait({work})
            raise ApplicationError(LOST, type=LOST)
        if not await self._caller.tell_to_stop(self._command):
            self._told = True
            work.cancel(STOPPED)
        await asyncio.wait({work})
