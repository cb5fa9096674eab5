"""A shift for tests: a scene, its robots (simulated or scripted) and a clock that only moves when told to.

    shift = Shift(scene)
    shift.run(60)
    assert shift.task().status == "completed"

Everything goes through the same `decide` as live; every tick is also checked against the fleet's invariants.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.decide import recover, step
from beforehand.crafts.fleet.core.inputs import FleetInput
from beforehand.crafts.fleet.core.invariants import Invariants
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import Simulator
from beforehand.crafts.fleet.core.state import FleetState, evolve, initial
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene, Robot, Task, Worksite
from beforehand.model.reason import Reason
from beforehand.model.robot import Ack, GoTarget, RobotCommand, Telemetry


class ScriptedRobots:
    """Robots that report exactly what a test says, and remember what they were told."""

    def __init__(self) -> None:
        self.told: list[RobotCommand] = []
        self.seqs: dict[str, int] = {}
        self._said: list[Telemetry | Ack] = []

    def command(self, cmd: RobotCommand, now_ms: int) -> None:
        self.told.append(cmd)

    def advance(self, now_ms: int) -> list[Telemetry | Ack]:
        said, self._said = self._said, []
        return said

    def say(self, robot_id: str, status: int = 0, **more: Any) -> None:
        """Queues a report; `seq` counts up by itself unless given."""
        seq = self.seqs.get(robot_id, 0) + 1
        self.seqs[robot_id] = seq
        self._said.append(Telemetry(robot_id, 0, **{"seq": seq, "task_status": status, **more}))

    def answer(self, key: str, robot_id: str, ok: bool = True, code: str = "", says: str = "") -> None:
        self._said.append(Ack(key, robot_id, 0, ok, code, says))

    def targets(self, robot_id: str) -> list[Mapping[str, Any]]:
        """The payloads of the goTargets this robot was given."""
        return [cmd.payload for cmd in self.told if isinstance(cmd, GoTarget) and cmd.robot_id == robot_id]


class Shift:
    """One fleet at work in virtual time."""

    def __init__(
        self, scene: FleetScene | Mapping[str, Any], robots: Simulator | None = None, faults: Sequence[Any] = ()
    ) -> None:
        self.scene = scene if isinstance(scene, FleetScene) else read_fleet(scene)
        self.robots: Any = robots if robots is not None else SimFleet(self.scene, faults)
        self.state: FleetState = initial(self.scene)
        self.check = Invariants(self.scene)
        self.now = 0
        self.events: list[Event] = []
        self.commands: list[RobotCommand] = []
        self.tick_ms = round(self.scene.settings.tick_s * 1000)

    def tick(self, *asked: FleetInput) -> tuple[Reason, ...]:
        """One tick with what the robots said and what is asked for; then time moves on. Gives the refusals."""
        self.state, verdict = step(self.state, [*self.robots.advance(self.now), *asked], self.now)
        self._after(verdict.events, verdict.commands)
        return verdict.reasons

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * 1000 / self.tick_ms)):
            self.tick()

    def until(self, holds: Callable[[], bool], within_s: float = 3600) -> None:
        """Ticks until something holds; it is an error if that takes too long."""
        for _ in range(round(within_s * 1000 / self.tick_ms)):
            if holds():
                return
            self.tick()
        raise AssertionError(f"It did not happen within {within_s:g} s of virtual time.")

    def restart(self, lost: bool = False) -> None:
        """The house crashes and comes back: only the log is left, and the robots are asked first."""
        self.state = self.replayed()
        reports = [] if lost else self.robots.advance(self.now)
        self.state, verdict = recover(self.state, reports, self.now)
        self._after(verdict.events, verdict.commands)

    def replayed(self) -> FleetState:
        """The state that the events alone give."""
        state = initial(self.scene)
        for event in self.events:
            evolve(state, event)
        return state

    def _after(self, events: Sequence[Event], commands: Sequence[RobotCommand]) -> None:
        for event in events:
            self.events.append(event.numbered(len(self.events) + 1))
            self.check.see(event)
        self.check.settle()
        for command in commands:
            self.commands.append(command)
            self.robots.command(command, self.now)
        self.now += self.tick_ms

    # Looking

    def robot(self, robot_id: str = "RB-01") -> Robot:
        return self.state.robots[robot_id]

    def site(self, worksite_id: str) -> Worksite:
        return self.state.worksites[worksite_id]

    def task(self, number: int = 1) -> Task:
        return self.state.tasks[f"{self.scene.name}-t{number}"]

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]
