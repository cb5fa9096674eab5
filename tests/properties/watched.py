"""Simulated machines that are watched: at the instant of every command somebody looks whether it may be sent.

The watcher reads the true state of the simulator, the map as it is now, and the log; it shares no code with the guard,
the verifier or the leases. What it sees wrong it keeps as sentences.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.adapters.memory.store import MemoryStore
from beforehand.adapters.sim.cell import SimCell
from beforehand.adapters.sim.link import SimLink, open_sim_link
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.cell import CellScene
from beforehand.model.errors import NotFoundError
from beforehand.model.fleet import FleetScene
from beforehand.model.log_identity import LogIdentity
from beforehand.model.robot import GoTarget, RobotCommand
from beforehand.ports.cell import CellCommand, CellReport, ControllerRequest
from beforehand.ports.robot import LinkRequest


class EditedGraph:
    """A graph of cells that somebody else edits: scenes by name, and how often each was changed."""

    def __init__(self) -> None:
        self.scenes: dict[str, CellScene] = {}
        self.changes: dict[str, int] = {}

    async def read(self, name: str) -> CellScene:
        await asyncio.sleep(0)
        if name not in self.scenes:
            raise NotFoundError.unknown("scene", name, self.scenes)
        return self.scenes[name]

    async def write(self, scene: CellScene) -> None:
        self.scenes[scene.name] = scene
        self.changes[scene.name] = self.changes.get(scene.name, 0) + 1

    async def fingerprint(self, name: str) -> str:
        await self.read(name)
        return str(self.changes[name])

    async def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.scenes))

    async def close(self) -> None: ...


class YieldingStore(MemoryStore):
    """A log whose every read and write lets others go first, as a disk does."""

    async def append(self, events: Any) -> Any:
        await asyncio.sleep(0)
        return await super().append(events)

    async def row(self, kind: str, id: str) -> dict[str, Any] | None:
        await asyncio.sleep(0)
        return await super().row(kind, id)

    async def rows(self, kind: str, **which: Any) -> list[dict[str, Any]]:
        await asyncio.sleep(0)
        return await super().rows(kind, **which)


@dataclass
class Watcher:
    """Sees every command of every cell and robot; `wrong` is what must never be."""

    graph: EditedGraph
    store: MemoryStore = field(default_factory=MemoryStore)
    wrong: list[str] = field(default_factory=list)
    sent: list[tuple[str, str, int]] = field(default_factory=list)
    """Of every command to a cell: the machine, the run, and which of the run's leases of it this was."""
    robots_told: int = 0

    # -- cells ---------------------------------------------------------------------------------------------------

    def cell_factory(self, request: ControllerRequest) -> SimCell:
        return WatchedCell(self, request)

    async def see_cell(self, cell: "WatchedCell", scene_name: str, command: CellCommand) -> None:
        run_id, step_id, _ = command.key.split("/")
        machine = f"cell:{scene_name}"
        scene = self.graph.scenes.get(scene_name) or cell.scene
        report = await SimCell.report(cell)
        about = f"{command.action} {command.target} of {run_id}/{step_id} at {report.position} with {report.tool}"
        self.wrong += [f"{about}: {says}" for says in self._unfit(scene, command, report, run_id, step_id)]
        for key in cell.begun:
            if key != command.key and (await SimCell.did(cell, key)).state == "running":
                self.wrong.append(f"{about}: {key} is still under way")
        holders = [run for run, held in self._leases().items() if machine in held]
        if holders != [run_id]:
            self.wrong.append(f"{about}: {machine} is held by {holders}")
        self.sent.append((machine, run_id, self._lease_number(run_id, machine)))
        if self._interleaved(machine):
            self.wrong.append(f"{about}: another run's command came in between")
        cell.begun.add(command.key)

    def _unfit(self, scene: CellScene, command: CellCommand, report: CellReport, run: str, step: str) -> list[str]:
        """What the machine's state and the present map have against a command."""
        here, held = report.position, report.tool
        if here is None:
            return ["the robot is between two places"]
        verified = self._verified_for(run, step)
        if command.action == "move":
            found = [] if self._is_edge(scene, here, command.target) else ["there is no such edge now"]
            return found + ([] if verified.get("current_position", here) == here else [f"verified for {verified}"])
        if command.position != here:
            return [f"it is for {command.position}"]
        stands = {tool.name: tool.stand for tool in scene.tools}
        if command.target == "tool_attach":
            return [] if held == "none" and stands.get(str(command.tool)) == here else ["no such tool to take here"]
        if command.target == "tool_release":
            return [] if held == command.tool and stands.get(held) == here else ["no such tool to put down here"]
        for routine in scene.routines:
            if routine.name == command.target:
                fits = routine.tool_needed in (None, held)
                return [] if fits and any(at.position == here for at in routine.supported_at) else ["not to be run so"]
        return ["no such routine"]

    def _is_edge(self, scene: CellScene, here: str, there: str) -> bool:
        return any(
            (move.source, move.target) == (here, there)
            or (not move.one_way and (move.target, move.source) == (here, there))
            for move in scene.moves
        )

    def _verified_for(self, run_id: str, step_id: str) -> Mapping[str, Any]:
        """The state before the step for which the version that the run follows was approved."""
        head = self._heads()[run_id]
        plans = [event.data for event in self.store.log if event.about.get("planId") == head["planId"]]
        plan = next(data for data in plans if data.get("version") == head["version"] and "steps" in data)
        expects: Mapping[str, Any] = plan.get("expects", {}).get(step_id, {})
        return expects

    def _heads(self) -> dict[str, Mapping[str, Any]]:
        kinds = ("runStarted", "runUpdated", "runAdopted", "runFinished")
        return {str(event.data["runId"]): event.data for event in self.store.log if event.kind in kinds}

    def _leases(self) -> dict[str, list[str]]:
        return {run: list(head.get("machines") or ()) for run, head in self._heads().items()}

    def _lease_number(self, run_id: str, machine: str) -> int:
        """How often the run has taken the machine so far."""
        held, count = False, 0
        for event in self.store.log:
            if event.owner == f"run:{run_id}" and event.kind.startswith("run"):
                holds = machine in (event.data.get("machines") or ())
                count += holds and not held
                held = holds
        return count

    def _interleaved(self, machine: str) -> bool:
        """Whether the last command goes on with a lease that another run's command has come after."""
        mine = [(run, lease) for name, run, lease in self.sent if name == machine]
        return mine[-1] in mine[:-1] and mine[-2] != mine[-1]

    # -- robots --------------------------------------------------------------------------------------------------

    def link_factory(self, request: LinkRequest) -> SimLink:
        link = open_sim_link(request)
        link.__class__ = WatchedLink
        assert isinstance(link, WatchedLink)
        link.watcher, link.scene, link.log = self, request.scene, request.log
        return link

    def see_robot(self, link: "WatchedLink", command: RobotCommand) -> None:
        """A pick needs an empty fork and a pallet there, a drop a pallet on the fork and an empty place."""
        if not isinstance(command, GoTarget) or "operation" not in command.payload:
            return
        self.robots_told += 1
        places = {place.id for place in link.fleet.pallets().values()}
        site = next(site.worksite_id for site in link.scene.worksites if site.node_id == command.payload["id"])
        picks = command.payload["operation"] == "ForkLoad"
        if (command.robot_id in places) is picks or (site in places) is not picks:
            self.wrong.append(f"{command.robot_id} was told {dict(command.payload)}; pallets are at {sorted(places)}")
        task = command.key.partition(":")[0].removeprefix(link.log.key(""))
        told = (event for event in reversed(self.store.log) if event.kind in ("taskCreated", "taskUpdated"))
        owner = next((event.data for event in told if event.data["taskId"] == task), {})
        if owner.get("robotId") != command.robot_id or owner.get("status") != "active":
            self.wrong.append(f"{command.robot_id} was told {command.key}, and the log says {dict(owner)}")


class WatchedCell(SimCell):
    def __init__(self, watcher: Watcher, request: ControllerRequest) -> None:
        super().__init__(request.scene, request.clock, file=request.file, speed=request.speed)
        self.watcher = watcher
        self.scene = request.scene
        self.begun: set[str] = set()

    async def report(self) -> CellReport:
        await asyncio.sleep(0)
        return await super().report()

    async def do(self, command: CellCommand, progress: Callable[[float], None]) -> CellReport:
        await self.watcher.see_cell(self, self.scene.name, command)
        return await super().do(command, progress)

    async def place(self, position: str, tool: str) -> None:
        """Nobody can say where a robot stands that is on its way."""
        self._catch_up()
        doing = self._state["doing"]
        if doing is not None and not doing["lost"] and not doing["stalled"]:
            self.watcher.wrong.append(f"{position} with {tool} was said during {doing['key']}: {doing['target']}")
        await super().place(position, tool)


class WatchedLink(SimLink):
    watcher: Watcher
    scene: FleetScene
    log: LogIdentity

    async def send(self, command: RobotCommand) -> None:
        self.watcher.see_robot(self, command)
        await super().send(command)


YARD = read_fleet(
    {
        "kind": "fleet",
        "name": "yard",
        "nodes": [{"id": f"N{n}", "x": 4 * n, "y": 0} for n in range(5)],
        "edges": [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(4)],
        "worksites": [
            {"worksiteId": "A", "worksiteType": "buffer", "entryNodeId": "N0", "occupancy": "filled"},
            {"worksiteId": "B", "worksiteType": "buffer", "entryNodeId": "N2", "occupancy": "empty"},
            {"worksiteId": "C", "worksiteType": "buffer", "entryNodeId": "N4", "occupancy": "filled"},
        ],
        "robots": [
            {"robotId": f"R{n}", "nodeId": f"N{2 * n + 1}", "loadState": "empty", "speedMps": 2} for n in range(2)
        ],
        "streams": [],
    }
)
"""A small fleet: two robots, three places, two pallets."""
