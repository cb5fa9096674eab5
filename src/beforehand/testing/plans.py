"""Scenarios of plans: a plan run by the real driver on virtual time, with a store in memory.

`play` goes on until the run has ended or only a person can move it; `answer` and `send` are that person; `crash` ends
the driver without a trace and `recover` begins again from the log alone.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from beforehand.adapters.memory.store import MemoryStore
from beforehand.adapters.tools.registry import ToolRegistry
from beforehand.engine.edit import edited
from beforehand.engine.inputs import Adopted, Answered, Begin, Recover, RunCommand, RunInput
from beforehand.engine.state import RunState, StepState, replay
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import plan_from
from beforehand.loop.run_driver import RunDriver, Surroundings
from beforehand.model.decision import Decision
from beforehand.model.event import Event, Verdict
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.model.plan import Plan, RunStatus
from beforehand.ports.tasks import part
from beforehand.ports.tool import Tool, Workspace
from beforehand.testing.clock import StandstillError, VirtualClock
from beforehand.testing.tools import ScriptedTool
from beforehand.testing.workspace import MemoryWorkspace

MOST_JUMPS = 100_000


class PlanScenario:
    def __init__(
        self,
        *tools: Tool,
        clock: VirtualClock | None = None,
        store: MemoryStore | None = None,
        workspace: Workspace | None = None,
        run_id: str = "r1",
        log: LogIdentity = UNNAMED,
    ) -> None:
        self.clock = clock or VirtualClock()
        self.store = store or MemoryStore()
        self.tools = {tool.spec.name: tool for tool in tools if isinstance(tool, ScriptedTool)}
        """The scripted ones, which know what was asked of them."""
        for tool in self.tools.values():
            tool.clock = tool.clock or self.clock
        self.catalog = ToolCatalog(tool.spec for tool in tools)
        self.progress: list[tuple[str, float]] = []
        self.around = Surroundings(
            self.store,
            self.clock,
            self.catalog,
            ToolRegistry(tools),
            workspace or MemoryWorkspace(),
            lambda run_id, step_id, percent: self.progress.append((step_id, percent)),
        )
        self.run_id = run_id
        self.plans: dict[int, Plan] = {}
        self.log = log
        """Whose keys its calls begin with; another one is another generation, as after a restored backup."""
        self.run = RunState(run_id, Plan(steps=()), self.plans.__getitem__, log)
        self._driver: RunDriver | None = None
        self._work: asyncio.Task[None] | None = None

    # -- what happens --------------------------------------------------------------------------------------------

    async def begin(self, document: Any) -> "PlanScenario":
        """Validate the plan, start a run of it, and let everything happen that can without time passing."""
        plan = plan_from(document, self.catalog).model_copy(update={"id": "p1", "task_id": "t1"})
        self.plans[plan.version] = plan
        head = {"runId": self.run_id, "planId": plan.id, "version": plan.version, "status": "running"}
        about = {"planId": plan.id, "runId": self.run_id}
        started = Event("runStarted", about, head, self.now, correlation_id="c1", owner=f"run:{self.run_id}")
        (started,) = await self.store.append([started])
        self.run.apply(started)
        self._put_on_driver().put(Begin(self.now))
        await self.clock.settle()
        return self

    async def play(self, seconds: float | None = None) -> RunStatus:
        """Let time pass: so many seconds, or until the run has ended or waits for a person.

        StandstillError when it never does.
        """
        await self.clock.settle()
        end = None if seconds is None else self.now + round(seconds * 1000)
        for _ in range(MOST_JUMPS):
            due = self.clock.next_ms()
            if due is None or (end is None and self._is_over()) or (end is not None and due > end):
                break
            await self.clock.jump()
        else:
            raise StandstillError(f"The run goes on and on: {MOST_JUMPS} timers and no end.")
        if end is not None:
            await self.clock.advance((end - self.now) / 1000)
        if self._is_over() and self._work is not None:
            await self._work
        return self.run.status

    async def send(self, make: Callable[..., RunInput], *args: Any, **more: Any) -> Verdict[RunCommand]:
        """A person's word to the run, such as `tell(RetryAsked, "a")`; a run that had ended gets a driver again."""
        driver = self._driver if self._driver is not None and not self._is_over() else None
        asked = part((driver or self._put_on_driver()).request(make(self.now, *args, **more)))
        await self.clock.settle()
        return await asked

    async def answer(self, verb: str, value: Any = None, *, step: str | None = None, note: str = "") -> Verdict[Any]:
        """Answer the open decision, or the one about a step."""
        return await self.send(Answered, self.decision(step).id, verb, value, note)

    async def adopt(self, edits: list[Mapping[str, Any]]) -> Verdict[Any]:
        """Edit the plan and go on with the new version."""
        latest = self.plans[max(self.plans)]
        plan = edited(latest, edits, self.catalog, created_at="")
        self.plans[plan.version] = plan
        return await self.send(Adopted, plan)

    async def crash(self) -> None:
        """The process is gone: what ran is cut off, and what was decided and not yet written never was."""
        if self._work is not None:
            self._work.cancel()
            await self.clock.settle()
        self._driver = self._work = None

    async def recover(self) -> "PlanScenario":
        """A new process begins from the log alone."""
        self.run = self.replayed()
        self._put_on_driver().put(Recover(self.now))
        await self.clock.settle()
        return self

    def _put_on_driver(self) -> RunDriver:
        """A driver for the run; it begins to work only after its first input has come in."""
        driver = self._driver = RunDriver(self.run, self.around)

        async def work() -> None:
            await asyncio.sleep(0)
            await driver.drive()

        self._work = part(work())
        return driver

    def _is_over(self) -> bool:
        return self._work is None or self._work.done()

    # -- what is to be seen --------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """The virtual time in ms."""
        return self.clock.now_ms()

    @property
    def statuses(self) -> dict[str, str]:
        """The status of each step, by its name."""
        return {name: state.status.value for name, state in self.run.steps.items()}

    def step(self, name: str) -> StepState:
        """The state of a step; KeyError for an unknown name."""
        return self.run.steps[name]

    def status(self, name: str) -> str:
        """The status of a step."""
        return self.run.steps[name].status.value

    def value(self, name: str) -> Any:
        """What a step gave."""
        return self.run.steps[name].value

    def error(self, name: str) -> str:
        """Why a step failed, or empty text."""
        return str((self.run.steps[name].result or {}).get("error", ""))

    def decision(self, step: str | None = None) -> Decision:
        """The one open decision, of a step where one is named; AssertionError where there is not exactly one."""
        found = [one for one in self.run.decisions.values() if step is None or one.about["stepId"] == step]
        assert len(found) == 1, f"{len(found)} decisions are open, not one: {[one.title for one in found]}"
        return found[0]

    def events(self, kind: str, step: str | None = None) -> list[Event]:
        """The events of a kind, of one step where it is named, in the order of the log."""
        return [
            event
            for event in self.store.log
            if event.kind == kind and (step is None or event.about.get("stepId") == step)
        ]

    def moments(self, step: str) -> list[tuple[str, float]]:
        """Each status a step went through, and how many seconds after the run's start."""
        return [
            (event.data["status"], (event.ts - self.run.started_at) / 1000)
            for event in self.events("stepUpdated", step)
        ]

    def replayed(self) -> RunState:
        """The run's state from the log alone."""
        return replay(self.run_id, self.plans.__getitem__, list(self.store.log), self.log)
