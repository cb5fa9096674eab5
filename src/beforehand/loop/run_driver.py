"""The driver of one run: what its decisions call for is carried out, and what comes of it is handed in.

It stands on the one loop and adds what a run needs: calls of tools, timers, judgements and probes. It decides nothing
itself. When it is stopped in the middle, the log says what was in the air.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from beforehand.engine.decide import decide
from beforehand.engine.inputs import (
    JudgeStep,
    LeaseMachine,
    MachineAsked,
    ProbeStep,
    RunCommand,
    RunInput,
    SetTimer,
    StartStep,
    StepEnded,
    StepJudged,
    StepProbed,
    StopStep,
    TimerFired,
    timeout_key,
)
from beforehand.engine.state import RunState
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.values import json_value, own_copy, writable
from beforehand.loop.loop import Loop, stop
from beforehand.model.errors import BeforehandError, ChangedSinceError, DriftError, Fault, UnavailableError
from beforehand.model.event import iso
from beforehand.model.secrets import without_secrets
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tool import STOPPED, Judgement, ProbeAnswer, ToolContext, ToolSource, Workspace

log = Log("beforehand.engine")

STOP_GRACE_MS = 10_000
"""How long a tool may take to end after it was told to stop."""
MAX_LOG_LINES = 200


async def grant(driver: "RunDriver", command: LeaseMachine) -> None:
    """Every machine is free: for a run that is alone in its world."""
    await driver.request(MachineAsked(driver.now, command.step_id, command.machine))


Lease = Callable[["RunDriver", LeaseMachine], Coroutine[Any, Any, None]]
"""Finds out whether a machine can be had and tells the driver, before anybody else is told that it is free."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a driver needs around it."""

    store: Store
    clock: Clock
    catalog: ToolCatalog
    tools: ToolSource
    workspace: Workspace
    on_progress: Callable[[str, str, float], None] = lambda run_id, step_id, percent: None
    lease: "Lease" = grant


class RunDriver:
    def __init__(self, run: RunState, around: Surroundings) -> None:
        self.run = run
        self._around = around
        self._calls: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._started: dict[tuple[str, int], StartStep] = {}
        self._taken_up: dict[tuple[str, int], ProbeStep] = {}
        """What an earlier process began: the machine is asked about it, and there is no call to wait for."""
        self._told_to_stop: set[tuple[str, int]] = set()
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._loop: Loop[RunInput, RunCommand] = Loop(
            f"run:{run.run_id}",
            around.store,
            around.clock,
            decide=lambda given: decide(run, given, around.catalog),
            carry_out=self._carry_out,
            gone=lambda: _gone(run),
        )
        self.put = self._loop.put
        self.request = self._loop.request

    @property
    def now(self) -> int:
        return self._around.clock.now_ms()

    async def drive(self) -> None:
        """Work until the run has ended and nothing is under way any more."""
        try:
            while True:
                await self._loop.run(lambda: self.run.status.is_final and not self._calls)
                await self._stop_all()
                if self._loop.is_empty:  # a word that came in meanwhile may have opened the run again
                    return
        finally:
            await self._loop.close()
            await self._stop_all()

    async def _stop_all(self) -> None:
        """End what is under way beside the decisions. A tool that does not listen is left behind after a while."""
        tasks = [*self._calls.values(), *self._timers.values()]
        self._calls.clear()  # whatever they come to now, the log knows only that they had begun
        await stop(tasks)

    # -- doing ---------------------------------------------------------------------------------------------------

    def _carry_out(self, command: RunCommand) -> None:
        match command:
            case StartStep():
                self._start(command)
            case StopStep():
                self._stop(command)
            case SetTimer():
                self._set_timer(command)
            case JudgeStep():
                self._loop.beside(self._judge(command))
            case ProbeStep():
                self._taken_up[command.step_id, command.attempt] = command
                self._loop.beside(self._probe(command))
            case LeaseMachine():
                self._loop.beside(self._around.lease(self, command))

    def _context(self, key: str, step_id: str, lines: list[dict[str, Any]]) -> ToolContext:
        clock = self._around.clock

        def note(line: str) -> None:
            if len(lines) < MAX_LOG_LINES:
                lines.append({"ts": iso(clock.now_ms()), "line": writable(without_secrets(str(line))[:2000])})

        return ToolContext(
            key=key,
            workspace=self._around.workspace,
            correlation_id=self.run.correlation_id,
            progress=lambda percent: self._around.on_progress(self.run.run_id, step_id, percent),
            log=note,
        )

    def _start(self, command: StartStep) -> None:
        name = (command.step_id, command.attempt)
        task = asyncio.create_task(self._call(name, command))
        self._calls[name] = task
        self._started[name] = command
        task.add_done_callback(lambda done: self._never_began(name, done))

    async def _call(self, name: tuple[str, int], command: StartStep) -> None:
        """One call of a tool, whatever comes of it."""
        lines: list[dict[str, Any]] = []
        ended = await self._outcome(command, lines)
        self._over(name, replace(ended, logs=tuple(lines)) if lines else ended)

    def _over(self, name: tuple[str, int], ended: StepEnded) -> None:
        """A call is over; unless it was left behind, how it ended is decided upon."""
        if self._calls.pop(name, None) is None:
            return
        self._started.pop(name, None)
        self._told_to_stop.discard(name)
        timer = self._timers.pop(timeout_key(*name), None) if self._timers else None
        if timer is not None:
            timer.cancel()
        self.put(ended)

    def _never_began(self, name: tuple[str, int], done: "asyncio.Task[None]") -> None:
        if done.cancelled():
            self._over(name, self._stopped(*name))

    async def _outcome(self, command: StartStep, lines: list[dict[str, Any]]) -> StepEnded:
        clock = self._around.clock

        def ended(ok: bool, **more: Any) -> StepEnded:
            return StepEnded(clock.now_ms(), command.step_id, command.attempt, ok, **more)

        try:
            tool = self._around.tools.get(command.tool)
            args = own_copy(command.args)
            context = self._context(command.key, command.step_id, lines)
            context = replace(context, expects=command.expects, seen=command.seen)
            return ended(True, value=json_value(await tool.run(args, context), command.tool))
        except ChangedSinceError as changed:
            return ended(False, error=_says(changed), untouched=True, stale=True)
        except DriftError as drift:
            return ended(False, error=_says(drift), untouched=True, drift=drift.difference)
        except Fault as fault:
            return ended(False, error=_says(fault), transient=fault.transient, untouched=fault.untouched)
        except BeforehandError as error:
            return ended(False, error=_says(error))
        except asyncio.CancelledError:
            if (command.step_id, command.attempt) not in self._told_to_stop:
                raise  # the driver itself ends; the log says that it had begun
            return await self._what_became_of(command)
        except Exception as error:  # a tool's bug is that step's failure, not ours
            log.exception("a tool broke", tool=command.tool, step=command.step_id, run=self.run.run_id)
            return ended(False, error=f"The tool {command.tool} broke: {_says(error)}")

    async def _what_became_of(self, command: StartStep) -> StepEnded:
        """A call was cut off. A machine that can be asked says whether it happened; else the step only was stopped."""
        stopped = self._stopped(command.step_id, command.attempt)
        spec = self._around.catalog.get(command.tool)
        if spec is None or spec.effect != "physical":
            return replace(stopped, untouched=True)
        if not spec.can_probe:
            return stopped
        try:
            tool = self._around.tools.get(command.tool)
            answer = await tool.probe(own_copy(command.args), self._context(command.key, command.step_id, []))
        except Exception as error:  # a machine that cannot be asked leaves the step to a person
            return replace(stopped, error=f"The machine could not be asked: {_says(error)}")
        if answer.state == "happened":
            value = json_value(answer.value, command.tool)
            return replace(stopped, ok=True, value=value, error="", stopped=False)
        return replace(stopped, error=answer.says or stopped.error, untouched=answer.state == "not_begun")

    def _stopped(self, step_id: str, attempt: int) -> StepEnded:
        return StepEnded(self._around.clock.now_ms(), step_id, attempt, ok=False, error="It was stopped.", stopped=True)

    def _stop(self, command: StopStep) -> None:
        name = (command.step_id, command.attempt)
        call, begun = self._calls.get(name), self._started.get(name) or self._taken_up.get(name)
        if begun is None:
            self.put(self._stopped(*name))
            return
        self._loop.beside(self._tell_to_stop(begun, call))
        self._loop.beside(self._give_up_on(command, call))  # its time runs while the tool is told, too

    async def _tell_to_stop(self, begun: StartStep | ProbeStep, call: "asyncio.Task[None] | None") -> None:
        """Tell the tool to stop; a call that cannot be told is cut off, and then asked what became of it.

        What an earlier process began has no call here: the machine is told, and the next probe says what became of it.
        """
        told = False
        try:
            tool = self._around.tools.get(begun.tool)
            told = await tool.stop(begun.args, self._context(begun.key, begun.step_id, []))
        except Exception:  # what cannot be told is cut off
            log.exception("a tool could not be told to stop", step=begun.step_id, run=self.run.run_id)
        if call is not None and not told:
            self._told_to_stop.add((begun.step_id, begun.attempt))
            call.cancel(STOPPED)

    async def _give_up_on(self, command: StopStep, call: "asyncio.Task[None] | None") -> None:
        """A tool that does not stop when told to is left behind after a while; the step ends all the same."""
        clock, name = self._around.clock, (command.step_id, command.attempt)
        patience = asyncio.ensure_future(clock.sleep_until(clock.now_ms() + STOP_GRACE_MS))
        try:
            await asyncio.wait({patience} if call is None else {call, patience}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            patience.cancel()
        if call is None or (not call.done() and self._calls.pop(name, None) is not None):
            log.warning("a tool did not stop when told to", step=command.step_id, run=self.run.run_id)
            self.put(self._stopped(*name))  # of no account where a probe has settled it meanwhile

    def _set_timer(self, command: SetTimer) -> None:
        task = asyncio.create_task(self._wait(command))
        self._timers[command.key] = task

    async def _wait(self, command: SetTimer) -> None:
        await self._around.clock.sleep_until(command.at)
        self._timers.pop(command.key, None)
        self.put(TimerFired(self._around.clock.now_ms(), command.key))

    async def _judge(self, command: JudgeStep) -> None:
        try:
            tool = self._around.tools.get(command.tool)
            judgement = await tool.judge(own_copy(command.args), self._context(command.key, command.step_id, []))
            judgement = replace(judgement, evidence=json_value(dict(judgement.evidence), command.tool))
        except Exception as error:  # when in doubt, a person is asked
            judgement = Judgement(True, f"What it would do could not be found out: {_says(error)}")
            if isinstance(error, Fault) and error.untouched and not error.transient:
                judgement = Judgement(False, refused=_says(error))
        self.put(StepJudged(self._around.clock.now_ms(), command.step_id, command.covers, judgement))

    async def _probe(self, command: ProbeStep) -> None:
        try:
            tool = self._around.tools.get(command.tool)
            answer = await tool.probe(own_copy(command.args), self._context(command.key, command.step_id, []))
            answer = replace(answer, value=json_value(answer.value, command.tool))
        except Exception as error:  # a machine that cannot be asked leaves the step to a person
            answer = ProbeAnswer("unknown", says=f"The machine could not be asked: {_says(error)}")
        self.put(StepProbed(self._around.clock.now_ms(), command.step_id, command.attempt, answer))


def _says(error: Exception) -> str:
    """What went wrong and, where the error knows it, what to do about it."""
    if isinstance(error, BeforehandError):
        return writable(without_secrets(f"{error.says} {error.hint}".strip()))
    return writable(without_secrets(f"{type(error).__name__}: {error}"))


def _gone(run: RunState) -> UnavailableError:
    says = f"The run {run.run_id} is not driven any more, so this was not accepted."
    return UnavailableError(says, code="run.not_driven", hint="Try again; the run is then resumed.")
