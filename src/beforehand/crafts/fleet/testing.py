"""Fleets for tests: a shift on a clock that only moves when told to, and robots that do what the test says.

    shift = Shift(scene)
    shift.run(60)
    assert shift.task().status == "completed"

Everything goes through the same `decide` as live; every tick is also checked against the fleet's invariants.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.decide import recover, step
from beforehand.crafts.fleet.core.hands import Hall, follow_hands
from beforehand.crafts.fleet.core.inputs import FleetInput
from beforehand.crafts.fleet.core.invariants import Invariants
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import Floor, Simulator
from beforehand.crafts.fleet.core.state import FleetState, evolve, initial
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene, Robot, Task, Worksite
from beforehand.model.log_identity import UNNAMED
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

    def report(self, robot_id: str, status: int = 0, **more: Any) -> None:
        """Queues a report; `seq` counts up by itself unless given."""
        seq = self.seqs.get(robot_id, 0) + 1
        self.seqs[robot_id] = seq
        self._said.append(Telemetry(robot_id, 0, **{"seq": seq, "task_status": status, **more}))

    def answer(self, key: str, robot_id: str, ok: bool = True, code: str = "", says: str = "") -> None:
        self._said.append(Ack(key, robot_id, 0, ok, code, says))

    def targets(self, robot_id: str) -> list[Mapping[str, Any]]:
        """The payloads of the goTargets this robot was given."""
        return [cmd.payload for cmd in self.told if isinstance(cmd, GoTarget) and cmd.robot_id == robot_id]


class ScriptedLink:
    """A link whose robots report exactly what a test says; it can be told to hang, to break and to end."""

    def __init__(self) -> None:
        self.told: list[RobotCommand] = []
        """The commands that arrived."""
        self.takes_commands = asyncio.Event()
        """Cleared, it makes every `send` wait."""
        self.takes_commands.set()
        self.state: dict[str, Telemetry] = {}
        """What a robot answers when it is read."""
        self.closed = 0
        self._said: asyncio.Queue[Telemetry | Ack | Exception | None] = asyncio.Queue()

    async def send(self, command: RobotCommand) -> None:
        await self.takes_commands.wait()
        self.told.append(command)

    async def reports(self) -> AsyncIterator[Telemetry | Ack]:
        while (said := await self._said.get()) is not None:
            if isinstance(said, Exception):
                raise said
            yield said

    async def read(self, robot_id: str) -> Telemetry | None:
        return self.state.get(robot_id)

    async def close(self) -> None:
        self.closed += 1
        self.end()

    def report(self, report: Telemetry | Ack) -> None:
        self._said.put_nowait(report)

    def fail(self, error: Exception) -> None:
        """Let the reports break off with this error."""
        self._said.put_nowait(error)

    def end(self) -> None:
        """Let the reports end."""
        self._said.put_nowait(None)


class Shift:
    """One fleet at work in virtual time."""

    def __init__(
        self, scene: FleetScene | Mapping[str, Any], robots: Simulator | None = None, faults: Sequence[Any] = ()
    ) -> None:
        self.scene = scene if isinstance(scene, FleetScene) else read_fleet(scene)
        self.robots: Any = robots if robots is not None else SimFleet(self.scene, faults)
        self.log = UNNAMED
        """Whose keys orders begin with; another one is another generation, as after a restored backup."""
        self.state: FleetState = initial(self.scene)
        self.check = Invariants(self.scene)
        self.differing: dict[str, None] = {}
        """Where the books have ever differed from the true places of the pallets, as sentences."""
        self.now = 0
        self.events: list[Event] = []
        self.commands: list[RobotCommand] = []
        self.tick_ms = round(self.scene.settings.tick_s * 1000)

    def tick(self, *asked: FleetInput) -> tuple[Reason, ...]:
        """One tick with what the robots said and what is asked for; then time moves on. Gives the refusals."""
        self.state, verdict = step(self.state, [*self.robots.advance(self.now), *asked], self.now)
        if isinstance(self.robots, Hall):
            follow_hands(self.robots, asked, verdict)
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
        """The runtime crashes and comes back: only the log is left, and the robots are asked first."""
        self.state = self.replayed()
        reports = [] if lost else self.robots.advance(self.now)
        self.state, verdict = recover(self.state, reports, self.now)
        self._after(verdict.events, verdict.commands)

    def replayed(self) -> FleetState:
        """The state that the events alone give."""
        state = initial(self.scene)
        for event in self.events:
            evolve(state, event)
        state.log = self.log
        return state

    def _after(self, events: Sequence[Event], commands: Sequence[RobotCommand]) -> None:
        for event in events:
            self.events.append(event.numbered(len(self.events) + 1))
            self.check.see(event)
        self.check.settle()
        if isinstance(self.robots, Floor):
            told = self.check.differing(self.robots.pallets().values())
            self.differing.update(dict.fromkeys(told))
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
