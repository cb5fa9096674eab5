"""The driver of one run: what its decisions call for is carried out, and what comes of it is handed in.

It stands on the one loop and adds what a run needs: calls of tools, timers, judgements and probes. It decides nothing
itself. When it is stopped in the middle, the log says what was in the air.

A step that the log kept waiting is not begun because of that: it is handed over anew, once the run may go on.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from beforehand.engine.calls import STOP_GRACE_MS, Caller, Lines
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
    StepLost,
    StepProbed,
    StopStep,
    TimerFired,
    timeout_key,
)
from beforehand.engine.state import RunState
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.loop.edge import refuse_unled, until_led
from beforehand.loop.loop import Loop
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Verdict
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tasks import part, stop
from beforehand.ports.tool import STOPPED, ToolSource, Workspace
from beforehand.ports.tracing import Value, is_tracing, span

log = Log("beforehand.engine")

HELD_UP_MS = 100
"""A timer that is so late says that the machine or this process stood still."""
HELD_UP_AT_MOST_MS = 10_000
HELD_UP_TIMES = 5


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
        self._caller = Caller(
            run.run_id,
            run.correlation_id,
            around.tools,
            around.catalog,
            around.clock,
            around.workspace,
            around.on_progress,
            lambda: refuse_unled(around.store),
            lambda: until_led(around.store),
        )
        self._calls: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._started: dict[tuple[str, int], StartStep] = {}
        self._taken_up: dict[tuple[str, int], ProbeStep] = {}
        """What an earlier process began: the machine is asked about it, and there is no call to wait for."""
        self._told_to_stop: set[tuple[str, int]] = set()
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._put_by: set[tuple[str, int]] = set()
        """Attempts that are in the log as begun and of which no tool was told: the log kept them waiting."""
        self._loop: Loop[RunInput, RunCommand] = Loop(
            f"run:{run.run_id}",
            around.store,
            around.clock,
            decide=self._decide,
            carry_out=self._carry_out,
            gone=lambda: _gone(run),
            stops=lambda command: isinstance(command, StopStep),
            put_off=self._put_off,
        )
        self.put = self._loop.put
        self.request = self._loop.request
        self.brake = self._loop.brake

    @property
    def now(self) -> int:
        return self._around.clock.now_ms()

    async def drive(self) -> None:
        """Work until the run has ended and nothing is under way any more."""
        try:
            while True:
                await self._loop.run(lambda: not self._calls and self.run.status.is_final)
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

    def _decide(self, given: RunInput) -> Verdict[RunCommand]:
        if isinstance(given, StepLost) and not given.begun and self._is_put_by(given):
            self._put_by.add((given.step_id, given.attempt))
            return Verdict()
        verdict = decide(self.run, given, self._around.catalog)
        if self._put_by and not self.run.paused:
            for name in sorted(self._put_by):
                self._hand_over(*name)
        return verdict

    def _is_put_by(self, given: StepLost) -> bool:
        """Whether a step that nobody was told of waits until the run goes on."""
        step = self.run.steps.get(given.step_id)
        return self.run.paused and step is not None and step.stopping is None

    def _put_off(self, commands: Sequence[RunCommand]) -> Sequence[RunCommand]:
        """The log keeps these waiting: steps are handed over anew, with their time-outs, and the rest is done."""
        steps = {(command.step_id, command.attempt) for command in commands if isinstance(command, StartStep)}
        for name in sorted(steps):
            self._hand_over(*name)
        clocks = {timeout_key(*name) for name in steps}
        return [
            command
            for command in commands
            if not isinstance(command, StartStep) and not (isinstance(command, SetTimer) and command.key in clocks)
        ]

    def _hand_over(self, step_id: str, attempt: int) -> None:
        self._put_by.discard((step_id, attempt))
        self.put(StepLost(self.now, step_id, attempt, begun=False))

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

    def _start(self, command: StartStep) -> None:
        name = (command.step_id, command.attempt)
        task = part(self._call(name, command))
        self._loop.answer_for(task)
        self._calls[name] = task
        self._started[name] = command
        task.add_done_callback(lambda done: self._never_began(name, done))

    async def _call(self, name: tuple[str, int], command: StartStep) -> None:
        """One call of a tool, whatever comes of it."""
        lines: Lines = []
        ended = await (self._traced(name, command, lines) if is_tracing() else self._outcome(name, command, lines))
        self._over(name, replace(ended, logs=tuple(lines)) if lines else ended)

    def _outcome(self, name: tuple[str, int], command: StartStep, lines: Lines) -> Coroutine[Any, Any, StepEnded]:
        return self._caller.outcome(command, lines, lambda: name in self._told_to_stop)

    async def _traced(self, name: tuple[str, int], command: StartStep, lines: Lines) -> StepEnded:
        about: dict[str, Value] = {
            "beforehand.runId": self.run.run_id,
            "beforehand.stepId": command.step_id,
            "beforehand.attempt": command.attempt,
            "beforehand.tool": command.tool,
        }
        with span(f"tool {command.tool}", about) as call:
            ended = await self._outcome(name, command, lines)
            if not ended.ok:
                call.fail("step.stopped" if ended.stopped else "step.failed")
        return ended

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
            self._over(name, self._caller.stopped(*name))

    def _stop(self, command: StopStep) -> None:
        name = (command.step_id, command.attempt)
        call, begun = self._calls.get(name), self._started.get(name) or self._taken_up.get(name)
        if name in self._put_by:
            self._hand_over(*name)
            return
        if begun is None:
            self.put(self._caller.stopped(*name))
            return
        self._loop.beside(self._tell_to_stop(begun, call))
        self._loop.beside(self._give_up_on(command, call))  # its time runs while the tool is told, too

    async def _tell_to_stop(self, begun: StartStep | ProbeStep, call: "asyncio.Task[None] | None") -> None:
        """Tell the tool to stop; a call that cannot be told is cut off, and then asked what became of it.

        What an earlier process began has no call here: the machine is told, and the next probe says what became of it.
        """
        told = await self._caller.tell_to_stop(begun)
        if call is not None and not told:
            self._told_to_stop.add((begun.step_id, begun.attempt))
            call.cancel(STOPPED)

    async def _give_up_on(self, command: StopStep, call: "asyncio.Task[None] | None") -> None:
        """A tool that does not stop when told to is left behind after a while; the step ends all the same."""
        clock, name = self._around.clock, (command.step_id, command.attempt)
        patience = part(clock.sleep_until(clock.now_ms() + STOP_GRACE_MS))
        try:
            await asyncio.wait({patience} if call is None else {call, patience}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            patience.cancel()
        if call is None or (not call.done() and self._calls.pop(name, None) is not None):
            log.warning("a tool did not stop when told to", step=command.step_id, run=self.run.run_id)
            self.put(self._caller.stopped(*name))  # of no account where a probe has settled it meanwhile

    def _set_timer(self, command: SetTimer) -> None:
        task = self._timers[command.key] = part(self._wait(command))
        self._loop.answer_for(task)

    async def _wait(self, command: SetTimer) -> None:
        """As long as this process was held up is waited once more: what a machine has answered was held up with it."""
        clock = self._around.clock
        due = max(command.at, clock.now_ms())
        for _ in range(HELD_UP_TIMES):
            await clock.sleep_until(due)
            late = clock.now_ms() - due
            if late < HELD_UP_MS:
                break
            due = clock.now_ms() + min(late, HELD_UP_AT_MOST_MS)
        self._timers.pop(command.key, None)
        self.put(TimerFired(clock.now_ms(), command.key))

    async def _judge(self, command: JudgeStep) -> None:
        judgement = await self._caller.judgement(command)
        self.put(StepJudged(self._around.clock.now_ms(), command.step_id, command.covers, judgement))

    async def _probe(self, command: ProbeStep) -> None:
        answer = await self._caller.probe(command)
        self.put(StepProbed(self._around.clock.now_ms(), command.step_id, command.attempt, answer))


def _gone(run: RunState) -> UnavailableError:
    says = f"The run {run.run_id} is not driven any more, so this was not accepted."
    return UnavailableError(says, code="run.not_driven", hint="Try again; the run is then resumed.")
