"""The cells of a runtime: their scenes, the state of each from the log, and the controllers of those that are live."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from beforehand.app.craft import Moving
from beforehand.app.kept_files import LedFiles
from beforehand.app.not_live import with_live
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene, no_scene_of, scene_names
from beforehand.crafts.cell.controllers import is_made_here, open_controller
from beforehand.crafts.cell.core.scene import CONTROLLER_KINDS, read_cell
from beforehand.crafts.cell.graphs import GraphScenes
from beforehand.crafts.cell.state_follower import StateFollower
from beforehand.engine.machines import machine_of
from beforehand.loop.asked import key_here, preparing
from beforehand.loop.edge import refuse_unled
from beforehand.model.cell import ATTACH, NO_TOOL, RELEASE, CellScene, CellState
from beforehand.model.errors import (
    BadInputError,
    ConflictError,
    Fault,
    NotFoundError,
    RefusedError,
    UnavailableError,
)
from beforehand.model.event import Event
from beforehand.model.machine import SIM, kind_of
from beforehand.model.plan import StepStatus
from beforehand.model.reason import Problem, Reason, name_list, nearest_names
from beforehand.ports.cell import CellController, CellReport, HoldingController
from beforehand.ports.foreign import guarded, is_ours, made, started, why
from beforehand.ports.log import Log
from beforehand.ports.store import Store

if TYPE_CHECKING:
    from beforehand.adapters.sim.cell_faults import CellFault
    from beforehand.engine.state import StepState

log = Log("beforehand.cells")
KIND = "cell"
STATE_ROW = "cellState"
STATE_CHANGED = "cellStateChanged"
MACHINE = "cell:{scene}"
"""What a cell is called as a machine that runs hold."""


def machine_name(scene: str) -> str:
    return MACHINE.format(scene=scene)


@dataclass(frozen=True, slots=True)
class LiveCell:
    scene: CellScene
    controller: CellController


@dataclass(slots=True)
class Cells:
    runtime: Runtime
    graph: GraphScenes
    live: dict[str, LiveCell] = field(default_factory=dict)
    under_way: dict[str, str] = field(default_factory=dict)
    """The cells that a step of ours moves now, each with the correlation id of its run."""
    _followers: dict[str, StateFollower] = field(default_factory=dict)
    _written: Counter[str] = field(default_factory=Counter)
    """How often the state of each cell was written down, news or not."""

    @property
    def pace(self) -> float:
        """How many simulated seconds pass in one."""
        return max(float(self.runtime.settings["speed"]), 1e-3)

    # -- live and not --------------------------------------------------------------------------------------------

    async def activate(self, name: str, document: Mapping[str, Any]) -> None:
        scene = read_cell(document)
        async with self.turn(name):
            await self._activate(name, scene)

    async def _activate(self, name: str, scene: CellScene) -> None:
        live = self.live.get(name)
        if live is not None and live.scene == scene:
            return
        if live is not None:
            await self._refuse_under_way(name)
            await self._let_go(name)
        settings, clock = self.runtime.settings, self.runtime.clock
        opening = partial(
            open_controller,
            scene,
            clock=clock,
            speed=float(settings["speed"]),
            keep_in=settings.home,
            with_secrets=settings.with_secrets,
            files=LedFiles(self.runtime.files, self.runtime.store),
            before_send=lambda: refuse_unled(self.runtime.store),
        )
        with guarded(f"Opening the controller of {name}"):
            controller = await made(opening, ours=is_made_here(scene))
        self.live[name] = LiveCell(scene, controller)
        try:
            report = await _seen(controller)
        except BaseException:
            await self._let_go(name)
            raise
        if report.position is not None or await self._state_row(name) is None:
            await self.record(name, report, "")
        if kind_of(scene.controller or SIM) != SIM:  # nobody but us moves a simulated robot
            self._followers[name] = StateFollower(name, controller, self._look)
            self._followers[name].start()

    async def _look(self, name: str) -> None:
        """Write down what a live cell shows when it is news; not that a step of ours is between two positions.

        Raises Fault where the controller does not answer. What a step has written down meanwhile is newer.
        """
        before, live = self._written[name], self.live.get(name)
        if live is None:
            return
        report = await live.controller.report()
        if self.live.get(name) is live and not (report.position is None and name in self.under_way):
            await self.record(name, report, self.under_way.get(name, ""), after=before)

    async def deactivate(self, name: str) -> None:
        """Let go of the controller; ConflictError while a run holds the cell, also one of a plan for another scene."""
        from beforehand.app.leases import refuse_held

        await refuse_held(self.runtime, [f"{KIND}:{name}"])
        await self._let_go(name)

    async def _let_go(self, name: str) -> None:
        live, follower = self.live.pop(name, None), self._followers.pop(name, None)
        if follower is not None:
            await follower.close()
        if live is not None:
            await _close(live.controller, name)

    def live_machines(self) -> dict[str, dict[str, str]]:
        """The robot of every live cell by its address."""
        return {name: machines_of(cell.scene) for name, cell in self.live.items()}

    # -- held with everything ------------------------------------------------------------------------------------

    def moving(self) -> list[Moving]:
        """Every live cell: its runs start no step, and where the controller can, what is in flight stops at once."""
        later, at_once = "Stops after the step in flight.", "Stops at once, and goes on from there."
        return [Moving(name, KIND, at_once if _holding(cell.controller) else later) for name, cell in self.live.items()]

    async def hold(self, name: str) -> None:
        controller = self.live[name].controller if name in self.live else None
        if isinstance(controller, HoldingController):
            await controller.hold()

    async def let_go(self, name: str) -> None:
        controller = self.live[name].controller if name in self.live else None
        if isinstance(controller, HoldingController):
            refuse_unled(self.runtime.store)
            await controller.go_on()

    async def ready(self, name: str) -> None:
        """A cell only stands still until it is told something, so it is made live when it is needed.

        One that is live is looked at: what starts now, starts from how things are in this very moment.
        """
        if name not in self.live:
            with preparing():
                await activate_scene(self.runtime, name)
            return
        with suppress(Fault):  # one that does not answer is where it was last seen, as far as anybody knows
            await self._look(name)

    def live_cell(self, name: Any) -> LiveCell:
        """A cell that is live; a Fault, with nothing touched, where it is not."""
        if name in self.live:
            return self.live[name]
        told = BadInputError.unknown("active cell", name, self.live)
        raise Fault(told.says, code="cell.inactive", untouched=True)

    async def close(self) -> None:
        for name in list(self.live):
            await self._let_go(name)
        await self.graph.close()

    # -- the state -----------------------------------------------------------------------------------------------

    async def _state_row(self, name: str) -> dict[str, Any] | None:
        return await self.runtime.store.row(STATE_ROW, name)

    async def record(self, name: str, report: CellReport, correlation_id: str, *, after: int | None = None) -> None:
        """Write down what a controller reports, when it is news; `after` nothing else was written down since."""
        data = {"current_position": report.position, "current_tool": report.tool}
        if report.position is None:
            data["says"] = report.says
        async with self.runtime.turns[f"{machine_name(name)}:state"]:
            if after not in (None, self._written[name]):
                return
            self._written[name] += 1
            try:
                known = await self._state_row(name) or {}
                if {key: value for key, value in known.items() if key != "saidBy"} != data:
                    with preparing():  # what is seen of a machine is no write of whoever had it looked at
                        await self._log_state(name, data, correlation_id)
            except UnavailableError:  # what a machine has done stands, and is written before what follows from it
                self.runtime.outage.follow([self._state_event(name, data, correlation_id)])

    async def _log_state(self, name: str, data: Mapping[str, Any], correlation_id: str = "") -> None:
        await self.runtime.store.append([self._state_event(name, data, correlation_id)])

    def _state_event(self, name: str, data: Mapping[str, Any], correlation_id: str) -> Event:
        return self.runtime.event(
            STATE_CHANGED, data, owner=f"cell:{name}", correlation_id=correlation_id, scene=name, sceneId=name
        )

    async def scene(self, name: str) -> CellScene:
        """The scene as the graph has it now, if one is kept there; else as it is live, else as it was saved."""
        kept, live = await self.graph.scene(name), self.live.get(name)
        if kept is not None:
            if live is not None and kept.controller is None:  # a graph is a map: it need not say who moves the robot
                kept = kept.model_copy(update={"controller": live.scene.controller})
            if live is not None and live.scene != kept:
                await self.activate(name, kept.wire())
            return kept
        return live.scene if live is not None else await self.saved(name)

    async def present_scene(self, name: str) -> CellScene:
        """The map as it is now, for the guard: the graph's, if one is kept there, else the live one."""
        return await self.graph.scene(name) or self.live_cell(name).scene

    async def saved(self, name: str) -> CellScene:
        """A cell as it was saved; NotFoundError with the cells there are."""
        return read_cell((await self._saved_row(name))["document"])

    async def _saved_row(self, name: str) -> dict[str, Any]:
        row = await self.runtime.store.row("scene", name)
        if row is None or row["kind"] != KIND:
            told = await no_scene_of(self.runtime, KIND, name)
            raise NotFoundError(told.says, code="scene.unknown", nearest=told.nearest)
        return row

    async def is_cell(self, name: Any) -> bool:
        row = await self.runtime.store.row("scene", name) if isinstance(name, str) else None
        return row is not None and row["kind"] == KIND

    async def state_of(self, name: str) -> CellState:
        """Where the robot stands and what it holds, from the log; else as the scene begins.

        Raises BadInputError where nobody knows.
        """
        row = await self._state_row(name)
        if row is not None and row["current_position"] is None and name in self.live:
            await self.record(name, await _seen(self.live[name].controller, row["current_tool"]), "")
            row = await self._state_row(name)
        if row is None:
            scene = await self.scene(name)
            if scene.state is None:
                raise _unknown_state(name, "The scene does not say where the robot stands.")
            return scene.state
        if row["current_position"] is None:
            raise _unknown_state(name, f"The robot's position is not known. {row.get('says', '')}".strip())
        return CellState(current_position=row["current_position"], current_tool=row["current_tool"])

    async def state_from(self, name: str, position: str | None, tool: str | None) -> CellState:
        """The present state, but for what somebody says about it; a position alone is enough to start from."""
        if position is None:
            now = await self.state_of(name)
            return CellState(
                current_position=now.current_position, current_tool=now.current_tool if tool is None else tool
            )
        if tool is None:
            row, scene = await self._state_row(name), await self.scene(name)
            tool = row["current_tool"] if row else scene.state.current_tool if scene.state else NO_TOOL
        return CellState(current_position=position, current_tool=str(tool))

    async def set_state(self, name: str, position: str | None, tool: str | None, *, by: str = "") -> CellState:
        """A person says where the robot stands and what it holds; ConflictError while a step moves it."""
        scene = await self.saved(name)
        scene = await self.graph.scene(name) or scene
        async with self.turn(name):
            await self._refuse_under_way(name)
            return await self._place(name, scene, position, tool, by)

    async def _place(self, name: str, scene: CellScene, position: str | None, tool: str | None, by: str) -> CellState:
        row = await self._state_row(name) or (scene.state.wire() if scene.state else {})
        position = row.get("current_position") if position is None else position
        tool = (row.get("current_tool") or NO_TOOL) if tool is None else tool
        _refuse_unknown("position", position, [place.name for place in scene.positions])
        _refuse_unknown("tool", tool, [*(stand.name for stand in scene.tools), NO_TOOL])
        if name in self.live:
            refuse_unled(self.runtime.store)
            await self.live[name].controller.place(str(position), tool)
        self._written[name] += 1
        await self._log_state(name, {"current_position": position, "current_tool": tool, "saidBy": by or "a person"})
        return CellState(current_position=str(position), current_tool=tool)

    def turn(self, name: str) -> asyncio.Lock:
        """Whoever looks at a cell and then tells it something keeps others out from the look to the telling."""
        return self.runtime.turns[machine_name(name)]

    async def _refuse_under_way(self, name: str) -> None:
        """ConflictError while a step of any run, whatever it was planned for, moves this cell's robot."""
        for head in await self.runtime.store.rows("run", open=True):
            if machine_name(name) not in (head.get("machines") or ()) or not self.runtime.runs.drives(head["runId"]):
                continue
            run = await self.runtime.runs.state(head["runId"])
            moving = [step_id for step_id, step in run.steps.items() if self._moves(step, name)]
            if moving:
                raise ConflictError(
                    f"{moving[0]} of the run {run.run_id} is moving the robot now.",
                    code="cell.under_way",
                    hint="Pause or cancel the run first.",
                )

    def _moves(self, step: "StepState", name: str) -> bool:
        """Whether a step works on this cell now; one whose arguments do not say which machine may well do so."""
        spec = self.runtime.catalog.get(step.step.tool)
        if step.status is not StepStatus.RUNNING or spec is None or spec.machine is None:
            return False
        args = step.step.args if step.args is None else step.args
        return machine_of(spec, args) in (machine_name(name), None)

    # -- what is shown -------------------------------------------------------------------------------------------

    async def document(self, name: str) -> dict[str, Any]:
        """What is known of a cell: where its robot stands, what it holds, and whether it is live."""
        saved = await self._saved_row(name)
        row = await self._state_row(name) or saved["document"].get("state") or {}
        reason = (await with_live(self.runtime.store, saved)).get("reason")
        silent = {} if reason is None else {"says": reason["says"]}
        return {
            "scene": name,
            "current_position": None,
            "current_tool": NO_TOOL,
            **row,
            **self._live(name),
            **silent,
        }

    def _live(self, name: str) -> dict[str, Any]:
        """Whether it is live, and that it has not been seen just now, where that is so."""
        follower = self._followers.get(name)
        silence = {"says": follower.silence} if follower is not None and follower.silence else {}
        return {**silence, "active": name in self.live}

    async def listed(self) -> list[dict[str, Any]]:
        """Every cell the home knows."""
        return [await self.document(name) for name in await scene_names(self.runtime, KIND)]

    async def state(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """What is live, for `GET /state`."""
        return {"cells": [{"scene": name, **(await self._state_row(name) or {}), **self._live(name)}]}

    async def held_state(self, name: str, store: Store, reason: Reason) -> dict[str, list[dict[str, Any]]]:
        """A cell that should be live and is not, as the log left it."""
        known = await store.row(STATE_ROW, name) or ((await store.row("scene", name)) or {})["document"].get("state")
        nowhere = {"current_position": None, "current_tool": NO_TOOL}
        return {"cells": [{"scene": name, **nowhere, **(known or {}), "says": reason.says, "active": False}]}

    async def state_at(self, name: str, store: Store) -> dict[str, list[dict[str, Any]]]:
        """The same as it was where the store ends."""
        return {"cells": [{"scene": name, **(await store.row(STATE_ROW, name) or {}), "active": True}]}

    async def inject(self, name: str, fault: "CellFault") -> dict[str, Any]:
        """Have the simulated controller go wrong at the next command that fits."""
        from beforehand.adapters.sim.faces import SimulatedCell

        scene = await self.saved(name)
        _refuse_no_target(scene, fault)
        live = self.live.get(name)
        if live is None:
            raise ConflictError(
                f"The cell {name} is not active, so nothing in it can go wrong.",
                code="cell.inactive",
                hint=f"Make it live first: POST /scenes/{name}/activate.",
            )
        if not isinstance(live.controller, SimulatedCell):
            raise RefusedError(f"The controller of {name} is not simulated.", code="cell.real")
        live.controller.inject(fault, key_here())
        return {"scene": name, **fault.wire()}


def _holding(controller: CellController) -> bool:
    return isinstance(controller, HoldingController) and controller.can_hold


async def _close(controller: CellController, name: str) -> None:
    try:
        await started(controller.close(), ours=is_ours(controller.close))
    except Exception as error:  # a plug-in's: the cell is let go of all the same
        log.error("a controller could not be closed", scene=name, says=why(error))


async def _seen(controller: CellController, tool: str = NO_TOOL) -> CellReport:
    """How things are; nowhere known where the controller does not answer. It is live all the same, and asked again."""
    try:
        return await started(controller.report(), ours=is_ours(controller.report))
    except Fault as fault:
        return CellReport(None, tool, fault.says)


def machines_of(scene: CellScene) -> dict[str, str]:
    """The one robot of a cell by what it is known by: its controller's address, or the scene where it is simulated."""
    return {CONTROLLER_KINDS.address(scene.controller or SIM, scene.name): "its robot"}


def read_fault(name: str, target: str | None = None) -> "CellFault":
    """A fault by its name; BadInputError with the names there are."""
    from beforehand.adapters.sim.cell_faults import CellFault, FaultName

    if name not in get_args(FaultName):
        raise BadInputError.unknown("fault", name, get_args(FaultName), code="cell.unknown_fault")
    return CellFault.model_validate({"fault": name, "target": target})


def _refuse_no_target(scene: CellScene, fault: "CellFault") -> None:
    names = [place.name for place in scene.positions] + [routine.name for routine in scene.routines]
    names += [name for name in ("tool_attach", "tool_release") if name not in names]
    if fault.target is not None and fault.target not in names:
        raise BadInputError.unknown(
            "position or routine", fault.target, names, code="cell.unknown_position", plural="positions and routines"
        )
    if fault.target is not None and not _can_come(fault, scene):
        aimed = {name: fault.model_copy(update={"target": name}) for name in names}
        others = nearest_names(fault.target, [name for name, other in aimed.items() if _can_come(other, scene)])
        says = f"The fault {fault.fault} never comes at {fault.target}. It can come at: {name_list(others)}."
        raise BadInputError(says, code="cell.no_such_fault", nearest=others)


def _can_come(fault: "CellFault", scene: CellScene) -> bool:
    return any(fault.fits(*command) for command in _commands(scene))


def _commands(scene: CellScene) -> Iterator[tuple[str, str, str | None]]:
    """Everything a robot can be told in a cell: the action, its target, and where a routine runs."""
    yield from (("move", place.name, None) for place in scene.positions)
    yield from (("routine", one.name, place.position) for one in scene.routines for place in one.supported_at)
    yield from (("routine", name, tool.stand) for name in (ATTACH, RELEASE) for tool in scene.tools)


def _refuse_unknown(kind: str, name: str | None, known: list[str]) -> None:
    if name not in known:
        raise BadInputError.unknown(kind, name, known, code=f"cell.unknown_{kind}")


def _unknown_state(name: str, says: str) -> BadInputError:
    try_next = f"Give --position for this once, or set it: `beforehand cell set {name} --position P --tool T`."
    return BadInputError(
        says,
        code="cell.state_unknown",
        problems=[Problem(code="cell.state_unknown", about=name, says=says, fixable_by="state", try_next=try_next)],
    )
