"""The cell craft in the house: planning from the state the log has, verifying, previewing, running on a controller.

How a plan is made is in `cell_plans`; the craft adds what the house knows: saved scenes, the present state, and
controllers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from beforehand.adapters.sim.cell_faults import CellFault, FaultName
from beforehand.adapters.sim.faces import SimulatedCell
from beforehand.app.craft import PlanRequest
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene
from beforehand.crafts.cell.controllers import open_controller
from beforehand.crafts.cell.core.plan_steps import in_line
from beforehand.crafts.cell.core.preview import preview
from beforehand.crafts.cell.core.repair import repair_plan
from beforehand.crafts.cell.core.scene import read_cell, warnings
from beforehand.crafts.cell.core.verifier import verify
from beforehand.crafts.cell.graphs import GraphScenes
from beforehand.crafts.cell.plans import CELL_TOOLS, atomic_steps, make_cell_plan, plan_document, readable
from beforehand.crafts.cell.tools import LiveCell
from beforehand.engine.validate import invalid_plan
from beforehand.model.cell import NO_TOOL, CellScene, CellState
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError, RefusedError, UnavailableError
from beforehand.model.plan import Plan, step_wire
from beforehand.model.reason import Problem, name_list, nearest_names
from beforehand.ports.cell import CellReport


@dataclass(slots=True)
class CellCraft:
    runtime: Runtime
    graph: GraphScenes = field(default_factory=lambda: GraphScenes(None))
    kind: str = "cell"

    def check_scene(self, document: Any) -> dict[str, Any]:
        return read_cell(document).wire()

    def warnings(self, document: Any) -> list[Problem]:
        return warnings(read_cell(document))

    async def activate(self, name: str, document: Mapping[str, Any]) -> None:
        scene = read_cell(document)
        live = self.runtime.extensions.cells.live.get(name)
        if live is not None and live.scene == scene:
            return
        if live is not None:
            await self._refuse_under_way(name)
        settings, clock = self.runtime.settings, self.runtime.clock
        controller = open_controller(scene, clock=clock, speed=float(settings["speed"]), keep_in=settings.home)
        self.runtime.extensions.cells.live[name] = LiveCell(scene, controller)
        if live is not None:
            await live.controller.close()
        report = await controller.report()
        if report.position is not None or await self.runtime.store.row("cellState", name) is None:
            await self.record(name, report, "")

    async def deactivate(self, name: str) -> None:
        live = self.runtime.extensions.cells.live.pop(name, None)
        if live is not None:
            await live.controller.close()

    async def record(self, name: str, report: CellReport, correlation_id: str) -> None:
        """Write down what a controller reports, when it is news."""
        data = {"current_position": report.position, "current_tool": report.tool}
        if report.position is None:
            data["says"] = report.says
        known = await self.runtime.store.row("cellState", name) or {}
        if {key: value for key, value in known.items() if key != "saidBy"} != data:
            await self.runtime.log(
                "cellStateChanged", data, owner=f"cell:{name}", correlation_id=correlation_id, scene=name, sceneId=name
            )

    async def scene(self, name: str) -> CellScene:
        """The scene as the graph has it now, if one is kept there; else as it is live, else as it was saved."""
        kept, live = await self.graph.scene(name), self.runtime.extensions.cells.live.get(name)
        if kept is not None:
            if live is not None and kept.controller is None:  # a graph is a map: it need not say who moves the robot
                kept = kept.model_copy(update={"controller": live.scene.controller})
            if live is not None and live.scene != kept:
                await self.activate(name, kept.wire())
            return kept
        if live is not None:
            return live.scene
        row = await self.runtime.store.row("scene", name)
        if row is None:
            raise BadInputError(f"There is no scene {name!r}.", code="scene.unknown")
        return read_cell(row["document"])

    async def state_of(self, name: str) -> CellState:
        """Where the robot stands and what it holds, from the log; else as the scene begins."""
        row = await self.runtime.store.row("cellState", name)
        if row is not None and row["current_position"] is None and name in self.runtime.extensions.cells.live:
            await self.record(name, await self.runtime.extensions.cells.live[name].controller.report(), "")
            row = await self.runtime.store.row("cellState", name)
        if row is None:
            scene = await self.scene(name)
            if scene.state is None:
                raise _unknown_state(name, "The scene does not say where the robot stands.")
            return scene.state
        if row["current_position"] is None:
            raise _unknown_state(name, f"Nobody knows where the robot stands. {row.get('says', '')}".strip())
        return CellState(current_position=row["current_position"], current_tool=row["current_tool"])

    async def set_state(self, name: str, position: str | None, tool: str | None, *, by: str = "") -> CellState:
        """A person says where the robot stands and what it holds; not while a step moves it."""
        scene = await self.known(name)
        scene = await self.graph.scene(name) or scene
        await self._refuse_under_way(name)
        row = await self.runtime.store.row("cellState", name) or (scene.state.wire() if scene.state else {})
        position = position or row.get("current_position")
        tool = tool or row.get("current_tool") or "none"
        _refuse_unknown("position", position, [place.name for place in scene.positions])
        _refuse_unknown("tool", tool, [*(stand.name for stand in scene.tools), "none"])
        live = self.runtime.extensions.cells.live.get(name)
        if live is not None:
            await live.controller.place(str(position), tool)
        data = {"current_position": position, "current_tool": tool, "saidBy": by or "a person"}
        await self.runtime.log("cellStateChanged", data, owner=f"cell:{name}", scene=name, sceneId=name)
        return CellState(current_position=str(position), current_tool=tool)

    async def _refuse_under_way(self, name: str) -> None:
        for run in await self.runtime.store.rows("run", open=True):
            steps = await self.runtime.store.rows("step", parent=run["runId"]) if run.get("scene") == name else []
            moving = [step["stepId"] for step in steps if step["status"] == "running"]
            if moving and run["runId"] in self.runtime.drivers:
                raise ConflictError(
                    f"{moving[0]} of the run {run['runId']} moves the robot now.",
                    code="cell.under_way",
                    hint="Pause or cancel the run first.",
                )

    async def state_document(self, name: str) -> dict[str, Any]:
        """What is known of a cell: where its robot stands, what it holds, and whether it is live."""
        scene = await self.known(name)
        row = await self.runtime.store.row("cellState", name) or (scene.state.wire() if scene.state else {})
        shown = {"scene": name, "current_position": None, "current_tool": "none", **row}
        return {**shown, "active": name in self.runtime.extensions.cells.live}

    async def listed(self) -> list[dict[str, Any]]:
        """Every cell the home knows."""
        names = [row["name"] for row in await self.runtime.store.rows("scene") if row["kind"] == self.kind]
        return [await self.state_document(name) for name in names]

    async def inject(self, name: str, fault: CellFault) -> dict[str, Any]:
        """Have the simulated controller go wrong at the next command that fits."""
        scene = await self.known(name)
        _refuse_no_target(scene, fault)
        live = self.runtime.extensions.cells.live.get(name)
        if live is None:
            raise ConflictError(
                f"The cell {name} is not active, so nothing in it can go wrong.",
                code="cell.inactive",
                hint=f"Make it live first: POST /scenes/{name}/activate.",
            )
        if not isinstance(live.controller, SimulatedCell):
            raise RefusedError(f"The controller of {name} is not simulated.", code="cell.real")
        live.controller.inject(fault)
        return {"scene": name, **fault.wire()}

    async def known(self, name: str) -> CellScene:
        """A cell of this name; NotFoundError with the cells there are."""
        row = await self.runtime.store.row("scene", name)
        if row is not None and row["kind"] == self.kind:
            return read_cell(row["document"])
        cells = [found["name"] for found in await self.runtime.store.rows("scene") if found["kind"] == self.kind]
        nearest = nearest_names(name, cells)
        raise NotFoundError(
            f"There is no cell {name!r}; known: {name_list(nearest)}.", code="scene.unknown", nearest=nearest
        )

    # -- plans ---------------------------------------------------------------------------------------------------

    async def draft(self, request: PlanRequest, correlation_id: str = "") -> Plan:
        """A plan for the request; without steps where everything is so already."""
        scene = await self.scene(request.scene)
        plan = make_cell_plan(scene, await self.start_state(request), request, correlation_id)
        note = self.graph.note(request.scene)
        return plan if note is None else plan.model_copy(update={"notes": (*plan.notes, note)})

    async def plan(self, request: PlanRequest, correlation_id: str = "") -> Plan:
        plan = await self.draft(request, correlation_id)
        if not plan.steps:
            says = f"There is nothing to do in {request.scene}. {' '.join(plan.notes)}"
            raise RefusedError(says, code="cell.nothing_to_do", extra={"notes": list(plan.notes)})
        return plan

    async def start_state(self, request: PlanRequest) -> CellState:
        position, tool = request.options.get("position"), request.options.get("tool")
        if position and tool:
            return CellState(current_position=position, current_tool=tool)
        if position:
            row = await self.runtime.store.row("cellState", request.scene)
            scene = await self.scene(request.scene)
            held = row["current_tool"] if row else scene.state.current_tool if scene.state else NO_TOOL
            return CellState(current_position=position, current_tool=held)
        now = await self.state_of(request.scene)
        return CellState(current_position=now.current_position, current_tool=tool or now.current_tool)

    async def take_in(self, document: Any, name: str, *, only_look: bool = False) -> Any:
        """A list of atomic steps as a plan's document, verified as it stands; other documents stay as they are."""
        steps = atomic_steps(document)
        if steps is None:
            return document
        verdict = verify(await self.scene(name), steps, await self.state_of(name))
        if verdict.problems and not (only_look and readable(steps)):
            raise invalid_plan(list(verdict.problems))
        return plan_document(document, name)

    async def prepare(self, plan: Plan) -> Plan:
        """A plan taken in by hand: its cell steps get their scene, and it is bound to the state it starts from."""
        steps = tuple(
            step.model_copy(update={"args": {"scene": plan.scene, **step.args}}) if step.tool in CELL_TOOLS else step
            for step in plan.steps
        )
        world = plan.world or (await self.state_of(str(plan.scene))).wire()
        plan = plan.model_copy(update={"steps": in_line(steps), "world": world})
        if all(step.tool in CELL_TOOLS for step in steps):
            plan = plan.model_copy(update={"estimated_duration": (await self.preview(plan))["durationS"]})
        return plan

    async def problems(self, plan: Plan) -> list[Problem]:
        """Verify the cell's steps; in a plan for something else, each cell's from where its robot stands now."""
        if not _has_cell_steps(plan):
            return []
        if plan.world is not None and await self._is_cell(plan.scene):
            scene = await self.scene(str(plan.scene))
            return list(verify(scene, _documents(plan), _world(plan)).problems)
        found: list[Problem] = []
        for name in dict.fromkeys(step.args.get("scene") for step in plan.steps if step.tool in CELL_TOOLS):
            if not await self._is_cell(name):
                found.append(await self._no_cell(name))
                continue
            steps = [_aside(step, str(name)) for step in _documents(plan)]
            found += verify(await self.scene(str(name)), steps, await self.state_of(str(name))).problems
        return found

    async def _is_cell(self, name: Any) -> bool:
        row = await self.runtime.store.row("scene", name) if isinstance(name, str) else None
        return row is not None and row["kind"] == self.kind

    async def _no_cell(self, name: Any) -> Problem:
        cells = [row["name"] for row in await self.runtime.store.rows("scene") if row["kind"] == self.kind]
        nearest = nearest_names(str(name), cells)
        given = "The cell's steps do not say their scene" if name is None else f"There is no cell {name!r}"
        says = f"{given}; known: {name_list(nearest)}."
        return Problem(code="cell.unknown_scene", about=str(name), says=says, nearest=nearest, fixable_by="user")

    async def repair(self, plan: Plan, documents: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str] | None:
        """An offer for an edited plan that the cell does not allow: the gaps planned anew; None when it cannot be."""
        scene = await self.scene(str(plan.scene))
        loose = [{**step, "dependsOn": []} if step.get("tool") in CELL_TOOLS else step for step in documents]
        mended, proposal = repair_plan(scene, loose, _world(plan))
        if proposal.problems:
            return None
        return [{**step, "order": at} for at, step in enumerate(mended, start=1)], proposal.says

    async def make_ready(self, plan: Plan) -> None:
        """A cell that only stands still until it is told something is made live when it is."""
        name = str(plan.scene)
        if _has_cell_steps(plan) and name not in self.runtime.extensions.cells.live:
            await activate_scene(self.runtime, name)

    async def drift(self, plan: Plan) -> dict[str, Any] | None:
        """How the cell differs from the state the plan was made for."""
        planned = _world(plan)
        try:
            now = await self.state_of(str(plan.scene))
        except BadInputError as error:
            return {"planned": planned.wire(), "now": None, "says": error.says}
        if planned == now:
            return None
        return {"planned": planned.wire(), "now": now.wire(), "says": _difference(planned, now)}

    async def preview(self, plan: Plan) -> dict[str, Any]:
        """The cell simulated; where other tools take part, what each of them says it would do."""
        if all(step.tool in CELL_TOOLS for step in plan.steps):
            scene = await self.scene(str(plan.scene))
            return preview(scene, _documents(plan), _world(plan)).wire()
        from beforehand.app.plans import preview_by_tools

        shown = await preview_by_tools(self.runtime, plan)
        shown["problems"] += [problem.wire() for problem in await self.problems(plan)]
        return shown

    # -- what is live --------------------------------------------------------------------------------------------

    async def state(self, name: str) -> dict[str, list[dict[str, Any]]]:
        row = await self.runtime.store.row("cellState", name) or {}
        return {"cells": [{"scene": name, **row}]}

    async def answer(self, decision: Decision, verb: str, **said: Any) -> bool:
        return False

    async def close(self) -> None:
        for name in list(self.runtime.extensions.cells.live):
            await self.deactivate(name)
        await self.graph.close()


def cells_of(runtime: Runtime) -> CellCraft:
    """The house's cells; refused where the house was opened without crafts."""
    craft = runtime.crafts.get("cell")
    if not isinstance(craft, CellCraft):
        raise UnavailableError("No cell is kept here.", code="cell.none")
    return craft


def read_fault(name: str, target: str | None = None) -> CellFault:
    """A fault by its name; BadInputError with the names there are."""
    known = get_args(FaultName)
    if name not in known:
        nearest = nearest_names(name, known)
        raise BadInputError(
            f"There is no fault {name!r}; there is {name_list(nearest)}.", code="cell.unknown_fault", nearest=nearest
        )
    return CellFault.model_validate({"fault": name, "target": target})


def _has_cell_steps(plan: Plan) -> bool:
    return any(step.tool in CELL_TOOLS for step in plan.steps)


def _documents(plan: Plan) -> list[dict[str, Any]]:
    """Every step: those of other tools may stand between two of the cell's and keep them in order."""
    return [step_wire(step) for step in plan.steps]


def _aside(step: dict[str, Any], name: str) -> dict[str, Any]:
    """A step of another cell keeps its place in the order and is not judged in this one."""
    if step["tool"] in CELL_TOOLS and step["args"].get("scene") != name:
        return {**step, "tool": "another.cell"}
    return step


def _world(plan: Plan) -> CellState:
    return CellState.model_validate(plan.world)


def _difference(planned: CellState, now: CellState) -> str:
    return f"It was planned with the robot {_stands(planned)}; now the robot is {_stands(now)}."


def _stands(state: CellState) -> str:
    held = "no tool" if state.current_tool == NO_TOOL else state.current_tool
    return f"at {state.current_position} holding {held}"


def _refuse_no_target(scene: CellScene, fault: CellFault) -> None:
    names = [place.name for place in scene.positions] + [routine.name for routine in scene.routines]
    names += [name for name in ("tool_attach", "tool_release") if name not in names]
    if fault.target is not None:
        _refuse_unknown("position or routine", fault.target, names)


def _unknown_state(name: str, says: str) -> BadInputError:
    return BadInputError(
        says,
        code="cell.state_unknown",
        hint=f"Say it: beforehand cell set {name} --position P --tool T",
        problems=[
            Problem(
                code="cell.state_unknown", about=name, says=says, fixable_by="state", try_next="Set the cell's state."
            )
        ],
    )


def _refuse_unknown(kind: str, name: str | None, known: list[str]) -> None:
    if name not in known:
        nearest = nearest_names(str(name), known)
        raise BadInputError(
            f"There is no {kind} {name!r}; nearest: {name_list(nearest)}.",
            code=f"cell.unknown_{kind.split()[0]}",
            nearest=nearest,
        )
