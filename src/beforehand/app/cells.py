"""The cell craft in the house: planning from the state the log has, verifying, previewing, running on a controller.

`make_cell_plan` is the whole way from words or an intent to a plan and needs no home; the craft adds what the house
knows: saved scenes, the present state, and controllers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from beforehand.adapters.sim.cell import SimCell
from beforehand.app.cell_tools import LiveCell
from beforehand.app.craft import PlanRequest
from beforehand.app.house import House
from beforehand.cell.builder import build
from beforehand.cell.grammar import Refusal, parse
from beforehand.cell.order import best_order
from beforehand.cell.planform import plan_step, to_plan_steps
from beforehand.cell.preview import preview
from beforehand.cell.repair import repair_plan
from beforehand.cell.scene import read_cell
from beforehand.cell.verifier import verify
from beforehand.model.cell import AtomicStep, CellScene, CellState
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, NotUnderstoodError, RefusedError
from beforehand.model.plan import Origin, Plan, Step, step_wire
from beforehand.model.reason import Problem, name_list, nearest_names
from beforehand.ports.cell import CellReport

log = structlog.get_logger("beforehand.cell")
CELL_TOOLS = ("cell.move", "cell.routine")


def make_cell_plan(scene: CellScene, state: CellState, request: PlanRequest, correlation_id: str = "") -> Plan:
    """From words or an intent to a plan; BadInputError with all problems, NotUnderstoodError rather than a guess."""
    intent = _understood(scene, request.text) if request.text is not None else request.intent
    goals = len(intent.get("steps") or ()) if isinstance(intent, Mapping) else len(getattr(intent, "steps", ()))
    about = {"service": "sequence_builder", "correlation_id": correlation_id, "high_level_steps": goals}
    log.info("Building step sequence", **about)
    notes: list[str] = []
    comparison = None
    if request.options.get("order") == "free":
        intent, saved = best_order(scene, intent, state)
        notes.append(saved.says)
        comparison = {
            "order": list(saved.order),
            "steps": saved.steps,
            "stepsGiven": saved.steps_given,
            "stepsSaved": saved.steps_saved,
            "says": saved.says,
        }
        comparison |= _given_order(scene, state, request)
    sequence = build(scene, intent, state)
    log.info("Step sequence built", **about, concrete_steps=len(sequence.steps))
    notes += [note.says for note in sequence.notes]
    if not sequence.steps:
        return _nothing_to_do(scene, notes)
    steps = tuple(Step.model_validate({**step, "onFailure": "ask", "order": at}) for at, step in _numbered(sequence))
    documents = [step_wire(step) for step in steps]
    seen = preview(scene, documents, state)
    return Plan(
        name=request.text or "; ".join(sequence.goals)[:200],
        scene=scene.name,
        steps=steps,
        estimated_duration=seen.duration_s,
        origin=Origin(
            planner="cell",
            text=request.text,
            intent=None if request.intent is None else dict(request.intent),
            options=dict(request.options),
        ),
        world=state.wire(),
        notes=tuple(notes),
        comparison=comparison,
    )


def _numbered(sequence: Any) -> list[tuple[int, dict[str, Any]]]:
    return list(enumerate(to_plan_steps(sequence), start=1))


def _nothing_to_do(scene: CellScene, notes: list[str]) -> Plan:
    says = " ".join(notes) or "The robot is where it should be already."
    raise RefusedError(f"There is nothing to do in {scene.name}. {says}", code="cell.nothing_to_do")


def _given_order(scene: CellScene, state: CellState, request: PlanRequest) -> dict[str, Any]:
    """The same goals in the order given, to be compared in review; absent when that order cannot be done."""
    try:
        given = build(scene, _understood(scene, request.text) if request.text is not None else request.intent, state)
    except BadInputError:
        return {}
    return {"given": [step.name for step in given.steps]}


def _understood(scene: CellScene, text: str) -> Any:
    read = parse(text, scene)
    if isinstance(read, Refusal):
        raise NotUnderstoodError(
            read.says,
            hint=read.try_next,
            extra={
                "understood": [{"text": chip.text, "says": chip.says} for chip in read.understood],
                "notUnderstood": list(read.words),
            },
        )
    return read.intent


def plan_document(document: Any, scene: str) -> Any:
    """A plan's document from an atomic step list, such as `plan -o steps` prints; other documents stay as they are."""
    steps = document.get("steps") if isinstance(document, Mapping) else document
    if not isinstance(steps, list) or not steps or not all(isinstance(s, Mapping) and "action" in s for s in steps):
        return document
    atomic = [AtomicStep.model_validate(step) for step in steps]
    made = [
        plan_step(step, scene, f"step_{at}", [f"step_{at - 1}"] if at > 1 else [], None)
        for at, step in enumerate(atomic, start=1)
    ]
    return {"scene": scene, "steps": made}


@dataclass(slots=True)
class CellCraft:
    house: House
    kind: str = "cell"

    def check_scene(self, document: Any) -> dict[str, Any]:
        return read_cell(document).wire()

    async def activate(self, name: str, document: Mapping[str, Any]) -> None:
        scene = read_cell(document)
        file = self.house.settings.home / "cells" / f"{name}.json"
        controller = SimCell(scene, self.house.clock, file=file, speed=float(self.house.settings["speed"]))
        self.house.shed.cells.live[name] = LiveCell(scene, controller)
        row = await self.house.store.row("cellState", name)
        if row is None:
            await self.record(name, await controller.report(), "")

    async def deactivate(self, name: str) -> None:
        self.house.shed.cells.live.pop(name, None)

    async def record(self, name: str, report: CellReport, correlation_id: str) -> None:
        """Write down what a controller reports, when it is news."""
        data = {"current_position": report.position, "current_tool": report.tool}
        if report.position is None:
            data["says"] = report.says
        if await self.house.store.row("cellState", name) != data:
            await self.house.log(
                "cellStateChanged", data, owner=f"cell:{name}", correlation_id=correlation_id, scene=name, sceneId=name
            )

    async def scene(self, name: str) -> CellScene:
        live = self.house.shed.cells.live.get(name)
        if live is not None:
            return live.scene
        row = await self.house.store.row("scene", name)
        if row is None:
            raise BadInputError(f"There is no scene {name!r}.", code="scene.unknown")
        return read_cell(row["document"])

    async def state_of(self, name: str) -> CellState:
        """Where the robot stands and what it holds, from the log; else as the scene begins."""
        row = await self.house.store.row("cellState", name)
        if row is None:
            scene = await self.scene(name)
            if scene.state is None:
                raise _unknown_state(name, "The scene does not say where the robot stands.")
            return scene.state
        if row["current_position"] is None:
            raise _unknown_state(name, f"Nobody knows where the robot stands. {row.get('says', '')}".strip())
        return CellState(current_position=row["current_position"], current_tool=row["current_tool"])

    async def set_state(self, name: str, position: str | None, tool: str | None, *, by: str = "") -> CellState:
        """A person says where the robot stands and what it holds."""
        scene = await self.scene(name)
        row = await self.house.store.row("cellState", name) or (scene.state.wire() if scene.state else {})
        position = position or row.get("current_position")
        tool = tool or row.get("current_tool") or "none"
        _refuse_unknown("position", position, [place.name for place in scene.positions])
        _refuse_unknown("tool", tool, [*(stand.name for stand in scene.tools), "none"])
        live = self.house.shed.cells.live.get(name)
        if live is not None:
            await live.controller.place(str(position), tool)
        data = {"current_position": position, "current_tool": tool, "saidBy": by or "a person"}
        await self.house.log("cellStateChanged", data, owner=f"cell:{name}", scene=name, sceneId=name)
        return CellState(current_position=str(position), current_tool=tool)

    # -- plans ---------------------------------------------------------------------------------------------------

    async def plan(self, request: PlanRequest, correlation_id: str = "") -> Plan:
        scene = await self.scene(request.scene)
        state = await self.start_state(request)
        return make_cell_plan(scene, state, request, correlation_id)

    async def start_state(self, request: PlanRequest) -> CellState:
        position, tool = request.options.get("position"), request.options.get("tool")
        if position and tool:
            return CellState(current_position=position, current_tool=tool)
        now = await self.state_of(request.scene)
        return CellState(current_position=position or now.current_position, current_tool=tool or now.current_tool)

    async def prepare(self, plan: Plan) -> Plan:
        """A plan taken in by hand: its cell steps get their scene, and it is bound to the state it starts from."""
        steps = tuple(
            step.model_copy(update={"args": {"scene": plan.scene, **step.args}}) if step.tool in CELL_TOOLS else step
            for step in plan.steps
        )
        world = plan.world or (await self.state_of(str(plan.scene))).wire()
        return plan.model_copy(update={"steps": steps, "world": world})

    async def problems(self, plan: Plan) -> list[Problem]:
        steps = _cell_steps(plan)
        if not steps:
            return []
        scene = await self.scene(str(plan.scene))
        return list(verify(scene, steps, _world(plan)).problems)

    async def repair(self, plan: Plan, documents: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str] | None:
        """An offer for an edited plan that the cell does not allow: the gaps planned anew; None when it cannot be."""
        scene = await self.scene(str(plan.scene))
        loose = [{**step, "dependsOn": []} if step.get("tool") in CELL_TOOLS else step for step in documents]
        mended, proposal = repair_plan(scene, loose, _world(plan))
        if proposal.problems:
            return None
        return [{**step, "order": at} for at, step in enumerate(mended, start=1)], proposal.says

    async def drift(self, plan: Plan) -> dict[str, Any] | None:
        planned, now = _world(plan), await self.state_of(str(plan.scene))
        if planned == now:
            return None
        return {"planned": planned.wire(), "now": now.wire()}

    async def preview(self, plan: Plan) -> dict[str, Any]:
        scene = await self.scene(str(plan.scene))
        return preview(scene, _cell_steps(plan), _world(plan)).wire()

    # -- what is live --------------------------------------------------------------------------------------------

    async def state(self, name: str) -> dict[str, list[dict[str, Any]]]:
        row = await self.house.store.row("cellState", name) or {}
        return {"cells": [{"scene": name, **row}]}

    async def answer(self, decision: Decision, verb: str, **said: Any) -> bool:
        return False

    async def close(self) -> None:
        self.house.shed.cells.live.clear()


def _cell_steps(plan: Plan) -> list[dict[str, Any]]:
    return [step_wire(step) for step in plan.steps if step.tool in CELL_TOOLS]


def _world(plan: Plan) -> CellState:
    return CellState.model_validate(plan.world)


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
            f"There is no {kind} {name!r}; nearest: {name_list(nearest)}.", code=f"cell.unknown_{kind}", nearest=nearest
        )
