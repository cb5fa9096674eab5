"""Preview: the plan run by the same `decide`, in virtual time, on a copy of the world.

Tools are asked what they would do instead of doing it, file tools against a copy-on-write workspace. What a person
would be asked is shown and taken as approved; what only the real run can know stays unknown.
"""

import asyncio
import heapq
from collections.abc import Mapping
from typing import Any

from beforehand.engine.decide import decide
from beforehand.engine.inputs import (
    Answered,
    Begin,
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
    StopStep,
)
from beforehand.engine.state import RunState
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.decision import Decision
from beforehand.model.errors import BeforehandError
from beforehand.model.event import Event
from beforehand.model.plan import Plan, StepStatus
from beforehand.ports.foreign import contain
from beforehand.ports.tool import Judgement, Preview, ToolContext, ToolSource, Unknown, Workspace

MAX_INPUTS = 500_000
OTHERS_TURN = 100
"""After so many decisions whatever else the process does gets its turn."""


class _PreviewCatalog(ToolCatalog):
    """Arguments that hang on unknown values cannot be complained about yet."""

    def complaints(self, tool: str, args: Mapping[str, Any], *, filled_in: bool) -> list[tuple[str, str]]:
        return [] if _holds_unknown(args) else super().complaints(tool, args, filled_in=filled_in)


async def preview_plan(plan: Plan, catalog: ToolCatalog, tools: ToolSource, workspace: Workspace) -> dict[str, Any]:
    """What the plan would do: times, order, diffs and everything that would go wrong."""
    return await _Preview(plan, _PreviewCatalog(catalog.specs()), tools, workspace).play()


class _Preview:
    def __init__(self, plan: Plan, catalog: ToolCatalog, tools: ToolSource, workspace: Workspace) -> None:
        steps = tuple(step.model_copy(update={"on_failure": None, "timeout_s": None}) for step in plan.steps)
        self.plan = plan.model_copy(update={"steps": steps})
        self.catalog, self.tools, self.workspace = catalog, tools, workspace
        self.run = RunState("preview", self.plan, lambda version: self.plan)
        self.due: list[tuple[int, int, RunInput]] = []
        self.count = 0
        self.lines: dict[str, dict[str, Any]] = {}
        self.asked: set[str] = set()
        self.destroying: set[str] = set()
        self.under_way = self.most_at_once = 0

    async def play(self) -> dict[str, Any]:
        self.run.apply(Event("runStarted", {}, {"version": self.plan.version}, ts=0))
        self._at(0, Begin(0))
        now = 0
        for turn in range(MAX_INPUTS):
            if not self.due:
                break
            if turn % OTHERS_TURN == 0:
                await asyncio.sleep(0)
            now, _, given = heapq.heappop(self.due)
            if isinstance(given, StepEnded):
                self.under_way -= 1
            verdict = decide(self.run, given, self.catalog)
            for command in verdict.commands:
                await self._carry_out(command, now)
            for event in verdict.events:
                if event.kind == "decisionOpened":
                    self._answer(self.run.decisions[event.data["id"]], now)
        return self._summary(now)

    def _at(self, ts: int, given: RunInput) -> None:
        self.count += 1
        heapq.heappush(self.due, (ts, self.count, given))

    async def _carry_out(self, command: RunCommand, now: int) -> None:
        match command:
            case StartStep():
                await self._start(command, now)
            case JudgeStep():
                judgement = await self._judge(command)
                if judgement.destructive:
                    self.destroying.add(command.step_id)
                self._at(now, StepJudged(now, command.step_id, command.covers, judgement))
            case LeaseMachine():
                self._at(now, MachineAsked(now, command.step_id, command.machine))
            case SetTimer():
                pass  # nothing is retried or times out in a preview
            case StopStep() | ProbeStep():
                pass  # nobody stops it, and it never crashes

    async def _judge(self, command: JudgeStep) -> Judgement:
        try:
            return await contain(self.tools.get(command.tool).judge(command.args, self._context(command.key)))
        except Exception:  # an unknown argument or a missing file: the preview of the call says so
            return Judgement(destructive=False)

    async def _start(self, command: StartStep, now: int) -> None:
        tool = self.tools.get(command.tool)
        try:
            shown = await contain(tool.preview(command.args, self._context(command.key)))
        except BeforehandError as error:
            shown = Preview(says=error.says, seconds=0, problems=(error.says,))
        except Exception as error:  # a tool's bug, most often with a value that is not known yet
            says = f"The tool {command.tool} could not say what it would do: {type(error).__name__}: {error}"
            shown = Preview(says=says, seconds=0, problems=(says,))
        end = now + max(0, round(shown.seconds * 1000))
        line: dict[str, Any] = {
            "stepId": command.step_id,
            "tool": command.tool,
            "startS": now / 1000,
            "endS": end / 1000,
            "says": shown.says,
        }
        if shown.diff is not None:
            line["diff"] = shown.diff
        if command.step_id in self.asked:
            line["needsApproval"] = True
        if command.step_id in self.destroying:
            line["destroys"] = True
        self.lines[command.step_id] = line
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        wrong = "; ".join(shown.problems)
        self._at(end, StepEnded(end, command.step_id, command.attempt, ok=not wrong, value=shown.value, error=wrong))

    def _context(self, key: str) -> ToolContext:
        return ToolContext(key=key, workspace=self.workspace)

    def _answer(self, decision: Decision, now: int) -> None:
        name = str(decision.about["stepId"])
        if decision.kind == "question":
            self.lines[name] = {
                "stepId": name,
                "tool": self.run.steps[name].step.tool,
                "startS": now / 1000,
                "endS": now / 1000,
                "says": f"Asks a person: {decision.title}",
            }
            self._at(now, Answered(now, decision.id, "answer", Unknown("what the person answers")))
        else:
            self.asked.add(name)
            self._at(now, Answered(now, decision.id, "approve"))

    def _summary(self, now: int) -> dict[str, Any]:
        states = self.run.steps.values()
        problems = [
            {"code": "preview.fails", "about": state.step.id, "says": str((state.result or {}).get("error", ""))}
            for state in states
            if state.status is StepStatus.FAILED
        ]
        timeline = sorted(self.lines.values(), key=lambda line: (line["startS"], line["endS"]))
        return {
            "durationS": now / 1000,
            "moves": 0,
            "toolChanges": 0,
            "timeline": timeline,
            "mostAtOnce": self.most_at_once,
            "approvals": sorted(self.asked),
            "diffs": [{"stepId": line["stepId"], "diff": line["diff"]} for line in timeline if line.get("diff")],
            "end": {"steps": {state.step.id: state.status.value for state in states}},
            "problems": problems,
        }


def _holds_unknown(value: Any) -> bool:
    if isinstance(value, Unknown):
        return True
    if isinstance(value, Mapping):
        return any(map(_holds_unknown, value.values()))
    return isinstance(value, list | tuple) and any(map(_holds_unknown, value))
