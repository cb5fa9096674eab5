"""The floor under the robots on the wire: the simulated forklifts of a scene, and what they were heard to say.

Pallets are where the scene puts them. A hall that follows orders lets a pallet be there, or room for one, whenever a
robot is told to fetch or bring one: then it can stand in for a real hall that only people can see.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.link import SimLink
from beforehand.adapters.sim.pallets import Place
from beforehand.adapters.sim.readings import Position
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, GoTarget, RobotCommand, Telemetry
from beforehand.ports.clock import Clock

FORK_MPS = 0.2
LIFTED_M = 0.3
"""A fork that goes up past this lifts what stands there; one that goes below it puts down what it carries."""


@dataclass(slots=True)
class Fork:
    """A fork between two heights, in closed form."""

    from_m: float = 0.1
    to_m: float = 0.1
    since_ms: int = 0
    settled: bool = True

    def height(self, now_ms: int) -> float:
        gone = FORK_MPS * max(0, now_ms - self.since_ms) / 1000
        if abs(self.to_m - self.from_m) <= gone:
            return self.to_m
        return self.from_m + (gone if self.to_m > self.from_m else -gone)


class Hall:
    """All robots of one process, on one floor."""

    def __init__(
        self, scene: FleetScene, clock: Clock, faults: Sequence[FaultSpec] = (), *, follows_orders: bool = False
    ) -> None:
        self.clock = clock
        self.scene = scene
        self.done: list[tuple[str, str, str]] = []
        """Orders that came to a good end: robot, task id, operation or nothing."""
        self._fleet = SimFleet(scene, faults, SimSettings(load_sensor=True))
        self._link = SimLink(self._fleet, clock)
        self._edges = {(edge.from_, edge.to) for edge in scene.edges}
        self._edges |= {(edge.to, edge.from_) for edge in scene.edges if not edge.one_way}
        self._sites = {site.node_id: site.worksite_id for site in scene.worksites}
        self._follows_orders = follows_orders
        self._orders: dict[str, tuple[str, GoTarget]] = {}
        self._answers: dict[str, asyncio.Future[Ack]] = {}
        self._last: dict[str, Telemetry] = {}
        self._statuses: dict[str, dict[str, int]] = {robot.robot_id: {} for robot in scene.robots}
        self._forks = {robot.robot_id: Fork() for robot in scene.robots}

    async def run(self) -> None:
        """Let time pass on the floor until cancelled."""
        async for report in self._link.reports():
            if isinstance(report, Ack):
                waiting = self._answers.pop(report.key, None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(report)
            else:
                self._hear(report)

    async def told(self, command: RobotCommand) -> Ack:
        """Give a robot a command and wait for what it answers; a fault may keep it silent for ever."""
        if isinstance(command, GoTarget):
            self._make_room(command)
            self._orders.setdefault(command.key, (command.robot_id, command))
        answer = self._answers.setdefault(command.key, asyncio.get_running_loop().create_future())
        await self._link.send(command)
        return await asyncio.shield(answer)

    async def look(self, robot_id: str) -> Telemetry | None:
        """The robot as it is now; None while it is silent."""
        report = await self._link.read(robot_id)
        if report is not None:
            self._hear(report)
        return report

    def status_of(self, robot_id: str, task_id: str) -> int | None:
        return self._statuses[robot_id].get(task_id)

    def has_edge(self, start: Any, end: Any) -> bool:
        return (start, end) in self._edges

    def positions(self) -> dict[str, Position]:
        """Where every robot truly is now."""
        return self._fleet.positions(self.clock.now_ms())

    def inject(self, fault: FaultSpec) -> None:
        self._link.inject(fault)

    def pallets(self) -> dict[str, Place]:
        return self._fleet.pallets()

    # -- the fork by itself

    def send_fork(self, robot_id: str, height_m: float) -> None:
        now_ms = self.clock.now_ms()
        from_m = self._forks[robot_id].height(now_ms)
        self._forks[robot_id] = Fork(from_m, height_m, now_ms, settled=False)

    def stop_fork(self, robot_id: str) -> None:
        """It stays where it is now."""
        fork, now_ms = self._forks[robot_id], self.clock.now_ms()
        if not fork.settled:
            self._forks[robot_id] = Fork(fork.from_m, fork.height(now_ms), fork.since_ms, settled=False)

    def fork(self, report: Telemetry) -> tuple[float, bool, bool]:
        """Its height, whether it is where it was sent, and whether a pallet is on it: one changes hands there."""
        fork = self._forks[report.robot_id]
        height_m, loaded = fork.height(self.clock.now_ms()), report.load_sensor == "loaded"
        if height_m == fork.to_m and not fork.settled:
            fork.settled = True
            loaded = self._lift_or_lower(report, fork)
        return round(height_m, 3), height_m == fork.to_m, loaded

    def _lift_or_lower(self, report: Telemetry, fork: Fork) -> bool:
        """Whether it is loaded then."""
        site = self._sites.get(report.node_id or "")
        if site is None or report.next_node_id is not None:
            return report.load_sensor == "loaded"
        up, down = fork.from_m < LIFTED_M <= fork.to_m, fork.to_m < LIFTED_M <= fork.from_m
        if up and report.load_sensor == "empty":
            self._link.set_occupancy(site, "empty")
            self._link.set_load(report.robot_id, True)
            return True
        if down and report.load_sensor == "loaded":
            self._link.set_occupancy(site, "filled")
            self._link.set_load(report.robot_id, False)
            return False
        return report.load_sensor == "loaded"

    def _make_room(self, command: GoTarget) -> None:
        operation, site = command.payload.get("operation"), self._sites.get(str(command.payload.get("id")))
        if self._follows_orders and operation and site:
            self._link.set_occupancy(site, "filled" if operation == "ForkLoad" else "empty")

    def _hear(self, report: Telemetry) -> None:
        last, statuses = self._last.get(report.robot_id), self._statuses[report.robot_id]
        if last is not None and (report.boot, report.seq) <= (last.boot, last.seq):
            return  # it was on its way while somebody looked
        if last is not None and report.boot != last.boot:
            statuses.clear()
        if report.task_id is not None:
            if report.task_status in (4, 6) and statuses.get(report.task_id) not in (4, 5, 6):
                self._note_done(report)
            statuses[report.task_id] = report.task_status
        self._last[report.robot_id] = report

    def _note_done(self, report: Telemetry) -> None:
        known = self._orders.get(str(report.task_id))
        if known is not None and report.task_status == 4:
            self.done.append((report.robot_id, str(report.task_id), str(known[1].payload.get("operation") or "")))
