"""The two tools of a robot cell, `cell.move` and `cell.routine`: both physical, both can be asked afterwards.

They find the cell's controller among the live cells by the scene's name. What the controller reports after each step is
written to the log before the step itself is called completed, so that the state of the cell is never behind.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from beforehand.crafts.cell.cells import KIND, MACHINE, Cells
from beforehand.crafts.cell.core.guard import differences, missed
from beforehand.crafts.cell.core.plan_steps import MOVE_TOOL, ROUTINE_TOOL
from beforehand.crafts.cell.core.preview import step_seconds
from beforehand.loop.edge import refuse_unled
from beforehand.model.cell import NO_TOOL, CellScene
from beforehand.model.errors import DriftError, Fault
from beforehand.ports.cell import CellCommand, CellController, CellReport
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
        async with self._cells.turn(str(args.get("scene"))):
            cell = self._cells.live_cell(args.get("scene"))
            before = await cell.controller.report()
            await self._guard(args, before, context)
            command = self._command(cell.scene, args, context.key, before)
            refuse_unled(self._cells.runtime.store)
            work = asyncio.ensure_future(cell.controller.do(command, context.progress))
        try:
            report = await asyncio.shield(work)
        except asyncio.CancelledError:
            await self._come_to_rest(work)
            await self._look(args, cell.controller, context)
            raise
        except Fault:
            await self._look(args, cell.controller, context)
            raise
        await self._record(args, report, context)
        if says := missed(self._action, args, report.position, report.tool):
            raise Fault(says, code="cell.missed")
        return _value(report)

    async def _guard(self, args: Mapping[str, Any], before: CellReport, context: ToolContext) -> None:
        """Nothing is sent to a cell that is not as this step needs it; the report is written down first."""
        await self._record(args, before, context)
        scene = await self._cells.present_scene(str(args.get("scene")))
        found = differences(scene, self._action, args, before.position, before.tool, context.expects)
        if found:
            planned = {name: context.expects.get(name) for name in ("current_position", "current_tool")}
            now = {"current_position": before.position, "current_tool": before.tool}
            raise DriftError(" ".join(found), {"planned": planned, "now": now, "says": found})

    async def stop(self, args: Mapping[str, Any], context: ToolContext) -> bool:
        """The controller comes to rest by itself, and the call ends with what became of it."""
        refuse_unled(self._cells.runtime.store)
        await self._cells.live_cell(args.get("scene")).controller.stop(context.key)
        return True

    async def _come_to_rest(self, work: "asyncio.Future[CellReport]") -> None:
        with suppress(Fault, TimeoutError):
            async with asyncio.timeout(FINISH_S):
                await work

    async def _record(self, args: Mapping[str, Any], report: CellReport, context: ToolContext) -> None:
        await self._cells.record(str(args.get("scene")), report, context.correlation_id)

    async def _look(self, args: Mapping[str, Any], controller: CellController, context: ToolContext) -> None:
        """Write down how things are; a controller that does not answer now takes nothing back from what became."""
        with suppress(Fault):
            await self._record(args, await controller.report(), context)

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        cell = self._cells.live_cell(args.get("scene"))
        answer = await cell.controller.did(context.key)
        if answer.state != "running":
            await self._look(args, cell.controller, context)
        if answer.state == "happened" and isinstance(answer.value, Mapping):
            now = answer.value.get("current_position"), str(answer.value.get("current_tool") or NO_TOOL)
            if says := missed(self._action, args, *now):
                return ProbeAnswer("failed", says=says)
        return answer

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        says = (
            f"Moves to {args['target']}." if self._action == "move" else f"{args['target']} at {args.get('position')}."
        )
        return Preview(says=says, seconds=self.spec.estimate_s, value=None)

    def _command(self, scene: CellScene, args: Mapping[str, Any], key: str, before: CellReport) -> CellCommand:
        fields = {name: args.get(name) for name in ("position", "tool", "stabilize", "verify", "action_after")}
        target = str(args["target"])
        seconds = step_seconds(scene, self._action, target, fields["stabilize"], before.position)
        return CellCommand(key=key, action=self._action, target=target, seconds=seconds, **fields)


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
                "action_after": {**_TEXT, "description": "What is done right after it."},
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
