"""The two tools of a robot cell, `cell.move` and `cell.routine`: both physical, both can be asked afterwards.

They find the cell's controller among the live cells by the scene's name. What the controller reports after each step is
written to the log before the step itself is called completed, so that the state of the cell is never behind. A step is
completed only where the controller's answer and what the cell shows then fit what the step leaves (`core/guard.py`).
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

from beforehand.crafts.cell.cells import KIND, MACHINE, Cells
from beforehand.crafts.cell.core.guard import (
    Claim,
    Contract,
    Situation,
    Verdict,
    contract_of,
    differences,
    verdict,
)
from beforehand.crafts.cell.core.plan_steps import MOVE_TOOL, ROUTINE_TOOL
from beforehand.crafts.cell.core.preview import step_seconds
from beforehand.loop.edge import refuse_unled
from beforehand.model.cell import NO_TOOL, CellScene
from beforehand.model.errors import DriftError, Fault, InDoubtError
from beforehand.ports.cell import OTHER_STATE, CellCommand, CellController, CellReport
from beforehand.ports.tasks import part
from beforehand.ports.tool import Preview, ProbeAnswer, Tool, ToolContext, ToolSpec

CELL_TOOLS = (MOVE_TOOL, ROUTINE_TOOL)
FINISH_S = 5.0
"""How long a stopped step may take to come to rest; the controller finishes the move it is in."""

_TEXT = {"type": "string", "minLength": 1}
_SCENE = {**_TEXT, "description": "The cell's scene."}


class CellTool(Tool):
    """One atomic step of a cell; `action` tells a move from a routine."""

    def __init__(self, cells: Cells, spec: ToolSpec, action: Any) -> None:
        self._cells = cells
        self.spec = spec
        self._action = action

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        name = str(args.get("scene"))
        async with self._cells.turn(name):
            cell = self._cells.live_cell(args.get("scene"))
            before = await cell.controller.report()
            contract = await self._guarded(args, before, context)
            command = self._command(cell.scene, args, context.key, before, contract)
            refuse_unled(self._cells.runtime.store)
            self._cells.under_way[name] = context.correlation_id
            work = part(cell.controller.do(command, context.progress))
        try:
            return await self._ended(args, work, cell.controller, contract, context)
        finally:
            self._cells.under_way.pop(name, None)

    async def _ended(
        self,
        args: Mapping[str, Any],
        work: "asyncio.Future[CellReport]",
        controller: CellController,
        contract: Contract,
        context: ToolContext,
    ) -> Any:
        """The value of a step that is done; a Fault says what else became of it."""
        try:
            report = await asyncio.shield(work)
        except asyncio.CancelledError:
            await self._come_to_rest(work)
            await self._look(args, controller, context)
            raise
        except Fault as fault:
            now = await self._look(args, controller, context)
            raise _fault_of(fault, contract, now) from fault
        now = await self._look(args, controller, context)
        if now is None:  # it answers no more: its last word is how things are, as far as anybody knows
            await self._record(args, report, context)
        found = verdict(contract, "done", "", _situation(report) if report.own else None, now)
        if found.end != "done":
            raise _unlike(found)
        return _value(report)

    async def _guarded(self, args: Mapping[str, Any], before: CellReport, context: ToolContext) -> Contract:
        """The contract of a step that may begin: nothing is sent to a cell that is not as the step needs it.

        The report is written down first.
        """
        await self._record(args, before, context)
        scene = await self._cells.present_scene(str(args.get("scene")))
        found = differences(scene, self._action, args, before.position, before.tool, context.expects)
        if found:
            planned = {name: context.expects.get(name) for name in ("current_position", "current_tool")}
            raise _drift(found, planned, _situation(before))
        return contract_of(scene, self._action, args, _situation(before))

    async def stop(self, args: Mapping[str, Any], context: ToolContext) -> bool:
        """The controller comes to rest by itself, and the call ends with what became of it."""
        await self._cells.live_cell(args.get("scene")).controller.stop(context.key)
        return True

    async def _come_to_rest(self, work: "asyncio.Future[CellReport]") -> None:
        with suppress(Fault, TimeoutError):
            async with asyncio.timeout(FINISH_S):
                await work

    async def _record(self, args: Mapping[str, Any], report: CellReport, context: ToolContext) -> None:
        await self._cells.record(str(args.get("scene")), report, context.correlation_id)

    async def _look(
        self, args: Mapping[str, Any], controller: CellController, context: ToolContext
    ) -> Situation | None:
        """How things are, written down; None where the controller does not answer now."""
        with suppress(Fault):
            report = await controller.report()
            await self._record(args, report, context)
            return _situation(report)
        return None

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        cell = self._cells.live_cell(args.get("scene"))
        answer = await cell.controller.did(context.key)
        if answer.state == "running":
            return answer
        now = await self._look(args, cell.controller, context)
        if answer.state == "not_begun" or answer.difference is not None:
            return answer
        scene = await self._cells.present_scene(str(args.get("scene")))
        contract = contract_of(scene, self._action, args, _planned(context.expects))
        reported = _planned(answer.value) if isinstance(answer.value, Mapping) else None
        found = verdict(contract, _CLAIMS[answer.state], answer.says, reported, now)
        if found.end == "done":
            return answer if reported or now is None else replace(answer, value=now.wire())
        state: Literal["failed", "unknown"] = "failed" if found.end == "failed" else "unknown"
        return ProbeAnswer(state, says=found.says, difference=found.difference)

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        says = (
            f"Moves to {args['target']}." if self._action == "move" else f"{args['target']} at {args.get('position')}."
        )
        return Preview(says=says, seconds=self.spec.estimate_s, value=None)

    def _command(
        self, scene: CellScene, args: Mapping[str, Any], key: str, before: CellReport, contract: Contract
    ) -> CellCommand:
        fields = {name: args.get(name) for name in ("position", "tool", "stabilize", "verify")}
        target = str(args["target"])
        return CellCommand(
            key=key,
            action=self._action,
            target=target,
            seconds=step_seconds(scene, self._action, target, fields["stabilize"], before.position),
            needs_position=contract.needs.position,
            needs_tool=contract.needs.tool,
            **fields,
        )


_CLAIMS: dict[str, Claim] = {"happened": "done", "failed": "failed", "unknown": "unknown"}


def _situation(report: CellReport) -> Situation:
    return Situation(report.position, report.tool or NO_TOOL)


def _planned(state: Mapping[str, Any]) -> Situation:
    return Situation(state.get("current_position"), state.get("current_tool"))


def _drift(found: list[str], planned: dict[str, Any], now: Situation) -> DriftError:
    return DriftError(" ".join(found), {"planned": planned, "now": now.wire(), "says": found})


def _fault_of(fault: Fault, contract: Contract, now: Situation | None) -> Fault:
    """What a command that did not end well means for its step, once the cell was looked at."""
    if fault.code == OTHER_STATE:
        found = [f"The controller refused it and has done nothing: {fault.says}"]
        return _drift(found, contract.needs.wire(), now or Situation(None, None))
    if fault.untouched or (isinstance(fault, InDoubtError) and fault.difference):
        return fault
    claim: Claim = "unknown" if isinstance(fault, InDoubtError) else "failed"
    return _unlike(verdict(contract, claim, fault.says, None, now), fault.code)


def _unlike(found: Verdict, code: str = "cell.missed") -> Fault:
    """The fault of a step that is not done."""
    return Fault(found.says, code=code) if found.end == "failed" else InDoubtError(found.says, found.difference)


def _value(report: CellReport) -> dict[str, Any]:
    return {"current_position": report.position, "current_tool": report.tool or NO_TOOL}


def cell_tools(cells: Cells) -> tuple[Tool, ...]:
    move = ToolSpec(
        name=MOVE_TOOL,
        description="Moves the robot along one allowed edge of its cell.",
        input_schema={
            "type": "object",
            "properties": {"scene": _SCENE, "target": {**_TEXT, "description": "The neighbouring position."}},
            "required": ["target"],
            "additionalProperties": False,
        },
        effect="physical",
        can_probe=True,
        scene_kind=KIND,
        machine=MACHINE,
        pace=cells.pace,
        output="Where the robot stands and what it holds.",
        estimate_s=2.0,
    )
    number = {"type": "number", "minimum": 0}
    routine = ToolSpec(
        name=ROUTINE_TOOL,
        description="Runs a routine at the position where the robot stands.",
        input_schema={
            "type": "object",
            "properties": {
                "scene": _SCENE,
                "target": {**_TEXT, "description": "The routine."},
                "position": {**_TEXT, "description": "Where it runs."},
                "tool": {**_TEXT, "description": "The tool it attaches or releases."},
                "stabilize": {**number, "description": "Seconds to come to rest first."},
                "verify": {**_TEXT, "description": "The check that must be passed."},
                "action_after": {**_TEXT, "description": "What the next step does, by the scene."},
            },
            "required": ["target", "position"],
            "additionalProperties": False,
        },
        effect="physical",
        can_probe=True,
        scene_kind=KIND,
        machine=MACHINE,
        pace=cells.pace,
        output="Where the robot stands and what it holds.",
        estimate_s=5.0,
    )
    return CellTool(cells, move, "move"), CellTool(cells, routine, "routine")
