"""Whether plans work out in a cell: bound to its state, verified, repaired, compared with the world, previewed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.app.craft import Assessment, Done, Judge, Start
from beforehand.app.plan_changes import no_replan
from beforehand.app.scenes import no_scene_of
from beforehand.crafts.cell.cells import KIND, Cells
from beforehand.crafts.cell.core.plan_steps import in_line
from beforehand.crafts.cell.core.preview import Preview as Seen
from beforehand.crafts.cell.core.preview import preview
from beforehand.crafts.cell.tools import CELL_TOOLS
from beforehand.model.cell import NO_TOOL, CellState
from beforehand.model.errors import BadInputError
from beforehand.model.plan import Plan, step_wire
from beforehand.model.reason import Problem, name_list

ASIDE = "another.tool"
"""The tool of steps that are not judged and only keep their places in the order."""


def judge_of(cells: Cells) -> Judge:
    judging = CellJudging(cells)
    return Judge(
        assess=judging.assess,
        assess_rest=judging.assess_rest,
        bind=judging.bind,
        repair=judging.repair,
        replan=judging.replan,
        ready=judging.ready,
        drift=judging.drift,
        preview=judging.preview,
    )


@dataclass(frozen=True, slots=True)
class CellJudging:
    cells: Cells

    async def bind(self, plan: Plan, start: Start) -> Plan:
        """The plan bound to the state it starts from: what is said, else what the plan claims, else the present."""
        claimed = _read_state(plan.world)
        position, tool = start.get("position"), start.get("tool")
        if claimed is not None:
            position = claimed.current_position if position is None else position
            tool = claimed.current_tool if tool is None else tool
        state = await self.cells.state_from(str(plan.scene), position, tool)
        return plan.model_copy(update={"steps": in_line(plan.steps), "world": state.wire()})

    async def assess(self, plan: Plan) -> Assessment:
        return await self.assess_rest(plan, frozenset())

    async def assess_rest(self, plan: Plan, done: Done) -> Assessment:
        """The plan's cell steps, verified; in a plan for something else, each cell's from where its robot stands.

        What has begun in a run is left out, and the rest verified from where the robot stands now.
        """
        rest = _without(plan, done)
        if not _has_cell_steps(rest):
            return Assessment()
        if plan.world is not None and await self.cells.is_cell(plan.scene):
            return await self._assess_own(plan, done)
        found: list[Problem] = []
        expects: dict[str, Mapping[str, Any]] = {}
        for name in dict.fromkeys(step.args.get("scene") for step in rest.steps if step.tool in CELL_TOOLS):
            if isinstance(name, str) and name.startswith("$"):
                continue  # known only when it runs: the guard looks then
            if not await self.cells.is_cell(name):
                found.append(await self._no_cell(name))
                continue
            steps = [_aside(step, str(name)) for step in _documents(plan, done)]
            scene, state = await self.cells.scene(str(name)), await self.cells.state_of(str(name))
            seen = preview(scene, steps, state)
            found += seen.problems
            expects |= _expects(seen)
        return Assessment(tuple(found), expects=expects)

    async def _assess_own(self, plan: Plan, done: Done) -> Assessment:
        scene = await self.cells.scene(str(plan.scene))
        state = await self.cells.state_of(str(plan.scene)) if done else _world(plan)
        seen = preview(scene, _documents(plan, done), state)
        if done or not _all_cell_steps(plan):
            return Assessment(seen.problems, expects=_expects(seen))
        return Assessment(seen.problems, seen.duration_s, seen.end.wire(), _ends(seen.end), _expects(seen))

    async def replan(self, plan: Plan, done: Done) -> tuple[list[dict[str, Any]], str]:
        """What has not begun, planned anew from where the robot stands; RefusedError with what keeps it from that."""
        from beforehand.crafts.cell.core.repair import repair_plan

        rest = _without(plan, done)
        scene, state = await self.cells.scene(str(plan.scene)), await self.cells.state_of(str(plan.scene))
        loose = [{**step, "dependsOn": []} if step.get("tool") in CELL_TOOLS else step for step in _documents(rest)]
        mended, proposal = repair_plan(scene, loose, state)
        if proposal.problems:
            raise no_replan(proposal.problems)
        return mended, proposal.says

    async def _no_cell(self, name: Any) -> Problem:
        told = await no_scene_of(self.cells.runtime, KIND, name)
        says = told.says
        if name is None:
            says = f"The cell's steps do not name their scene. Cells to choose from: {name_list(told.nearest)}."
        return Problem(code="cell.unknown_scene", about=str(name), says=says, nearest=told.nearest, fixable_by="user")

    async def repair(self, plan: Plan, documents: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str] | None:
        """An offer for an edited plan that the cell does not allow: the gaps planned anew; None when it cannot be."""
        from beforehand.crafts.cell.core.repair import repair_plan

        scene = await self.cells.scene(str(plan.scene))
        loose = [{**step, "dependsOn": []} if step.get("tool") in CELL_TOOLS else step for step in documents]
        mended, proposal = repair_plan(scene, loose, _world(plan))
        if proposal.problems:
            return None
        return [{**step, "order": at} for at, step in enumerate(mended, start=1)], proposal.says

    async def ready(self, plan: Plan) -> None:
        if _has_cell_steps(plan):
            await self.cells.ready(str(plan.scene))

    async def drift(self, plan: Plan) -> dict[str, Any] | None:
        """How the cell differs from the state the plan was made for."""
        planned = _world(plan)
        try:
            now = await self.cells.state_of(str(plan.scene))
        except BadInputError as error:
            set_it = f"`beforehand cell set {plan.scene} --position P --tool T`"
            try_next = f"See that its controller answers, or say where the robot stands: {set_it}."
            return {"planned": planned.wire(), "now": None, "says": error.says, "tryNext": try_next}
        if planned == now:
            return None
        says = f"It was planned with the robot {_stands(planned)}; now the robot is {_stands(now)}."
        return {"planned": planned.wire(), "now": now.wire(), "says": says}

    async def preview(self, plan: Plan) -> dict[str, Any] | None:
        """The cell simulated; where other tools take part, they are asked instead."""
        if not _all_cell_steps(plan):
            return None
        seen = preview(await self.cells.scene(str(plan.scene)), _documents(plan), _world(plan))
        return {**seen.wire(), "endSays": _ends(seen.end)}


def _without(plan: Plan, done: Done) -> Plan:
    return (
        plan.model_copy(update={"steps": tuple(step for step in plan.steps if step.id not in done)}) if done else plan
    )


def _expects(seen: Seen) -> dict[str, Mapping[str, Any]]:
    """The state before each step, as it was verified."""
    return {str(moment.step_id): moment.before.wire() for moment in seen.timeline}


def _has_cell_steps(plan: Plan) -> bool:
    return any(step.tool in CELL_TOOLS for step in plan.steps)


def _all_cell_steps(plan: Plan) -> bool:
    return all(step.tool in CELL_TOOLS for step in plan.steps)


def _documents(plan: Plan, done: Done = frozenset()) -> list[dict[str, Any]]:
    """Every step: those of other tools, and those done, may stand between two of the cell's and keep them in order."""
    return [step_wire(step) | ({"tool": ASIDE} if step.id in done else {}) for step in plan.steps]


def _aside(step: dict[str, Any], name: str) -> dict[str, Any]:
    """A step of another cell keeps its place in the order and is not judged in this one."""
    if step["tool"] in CELL_TOOLS and step["args"].get("scene") != name:
        return {**step, "tool": ASIDE}
    return step


def _read_state(world: Mapping[str, Any] | None) -> CellState | None:
    try:
        return None if world is None else CellState.model_validate(dict(world))
    except ValueError:
        return None


def _world(plan: Plan) -> CellState:
    return CellState.model_validate(plan.world)


def _held(state: CellState) -> str:
    return "no tool" if state.current_tool == NO_TOOL else state.current_tool


def _stands(state: CellState) -> str:
    return f"at {state.current_position} holding {_held(state)}"


def _ends(state: CellState) -> str:
    return f"The robot ends at {state.current_position} with {_held(state)}."
