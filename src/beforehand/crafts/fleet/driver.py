"""The driver of one fleet: robots' reports and people's requests in, ticks decided, commands sent.

It stands on the one loop and decides nothing. Before the first tick after a start every robot is read, so that what was
in the air meets what the robots say before anything is ordered. What a person asks for is answered at once, by a tick
of its own. Each robot has its own queue of commands: sending to one never waits for another.

While the log cannot be written the fleet decides nothing but what stops robots. Where they are is shown all the same,
and what they report is kept, thinned out, for the first tick after that.
"""

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from beforehand.crafts.fleet.core.decide import brake, recover, step, unsend
from beforehand.crafts.fleet.core.inputs import FleetInput, NotSent
from beforehand.crafts.fleet.core.state import FleetState, Seen, snapshot
from beforehand.loop.log_outage import CODE, IN_DOUBT
from beforehand.loop.loop import Loop
from beforehand.loop.outbox import Outbox
from beforehand.loop.turn import Braked
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Verdict
from beforehand.model.robot import (
    Ack,
    CancelTarget,
    DriveOn,
    GoTarget,
    PauseRobot,
    ResumeRobot,
    RobotCommand,
    Telemetry,
)
from beforehand.ports.clock import Clock
from beforehand.ports.robot import RobotLink
from beforehand.ports.store import Store
from beforehand.ports.tasks import part, stop

READ_PATIENCE_S = 5.0
MOST_REPORTS = 20_000
"""Reports that lie undecided before those that say nothing new are left out."""

Ready = Callable[[FleetState], bool]


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; whatever the robots have reported is looked at."""


@dataclass(frozen=True, slots=True)
class RobotsRead:
    """What every robot said when it was asked, before anything is ordered."""

    reports: Sequence[Telemetry]


@dataclass(frozen=True, slots=True)
class Brake:
    """What a person stops; it does not wait for the log."""

    given: FleetInput


FleetMessage = Tick | RobotsRead | Brake | FleetInput


def spare_the_collector() -> None:
    """A scene stays as long as its fleet: the garbage collector need not walk it again and again, tens of ms a time."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


class FleetDriver:
    def __init__(
        self,
        state: FleetState,
        link: RobotLink,
        store: Store,
        clock: Clock,
        on_frame: Callable[[Mapping[str, Any]], None],
        *,
        keeps_snapshots: bool = True,
    ) -> None:
        """`keeps_snapshots` false where the state is not the log's own, so that nobody takes it up later."""
        self.state = state
        self.ticks = 0
        self._link = link
        self._clock = clock
        self._on_frame = on_frame
        self._reports: list[Telemetry | Ack] = []
        self._newest: dict[str, Telemetry] = {}
        self._outbox = Outbox(store)
        self._loop: Loop[FleetMessage, RobotCommand] = Loop(
            state.owner,
            store,
            clock,
            decide=self._decide,
            carry_out=self._send,
            gone=self._gone,
            snapshot=(lambda: snapshot(self.state)) if keeps_snapshots else None,
            stops=lambda command: isinstance(command, PauseRobot | CancelTarget),
            stop=lambda command: self._send(command, led=False),
            put_off=self._put_off,
        )

    async def request(self, given: FleetInput, *, patient: bool = True) -> Verdict[RobotCommand]:
        """Hand in what a person asks for; the verdict comes when it is durable."""
        verdict = await self._loop.request(given, patient=patient)
        self._loop.put(Tick())
        return verdict

    async def brake(self, given: FleetInput) -> Braked[RobotCommand]:
        """Hand in what a person stops: it reaches the robots now, whether or not it can be recorded."""
        braked = await self._loop.brake(Brake(given))
        if braked.is_recorded:
            self._loop.put(Tick())
        return braked

    async def until(self, ready: Ready) -> None:
        """Return once the state is as asked; looked at whenever something has changed."""
        await self._loop.wait_until(lambda: ready(self.state))

    async def drive(self) -> None:
        """Work until cancelled, or until the link's reports end."""
        deciding = part(self._loop.run(lambda: False))
        ticking = part(self._tick())
        listening = part(self._listen())
        work = (deciding, ticking, listening)
        try:
            await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for done in work:
                if done.done():
                    done.result()
        finally:
            await stop(work)
            await self._outbox.close()
            await self._link.close()
            await self._loop.close()

    async def _listen(self) -> None:
        async for report in self._link.reports():
            self._reports.append(report)
            if isinstance(report, Telemetry):
                self._newest[report.robot_id] = report
            if len(self._reports) >= MOST_REPORTS:
                self._reports = thinned(self._reports)

    async def _tick(self) -> None:
        await self._read_robots()
        spare_the_collector()
        settings = self.state.scene.settings
        tick_ms, held_up_ms = round(settings.tick_s * 1000), round(settings.offline_after_s * 500)
        while True:
            due = self._clock.now_ms() + tick_ms
            await self._decide_tick()
            self.ticks += 1
            self._on_frame(self._frame())
            # What is reported at the very moment of a tick counts in it, so the tick goes to sleep after the listeners.
            await self._clock.sleep_until(due - 1)
            await self._clock.sleep_until(due)
            if self._clock.now_ms() - due > held_up_ms:  # this process stood still: what robots said lies unread
                await self._clock.sleep_until(self._clock.now_ms() + tick_ms)

    async def _decide_tick(self) -> None:
        """One tick; while the log cannot be written, only what is seen of the robots is taken note of."""
        if not self._loop.is_held_up:
            try:
                await self._loop.request(Tick(), patient=False)
                return
            except UnavailableError as error:
                if error.code not in (CODE, IN_DOUBT):
                    raise
        newest, self._newest = self._newest, {}
        for report in newest.values():
            self._see(report)

    def _see(self, new: Telemetry) -> None:
        """Where a robot is and how full its battery: nothing that a decision goes by before it is decided upon."""
        seen = self.state.seen.get(new.robot_id)
        if seen is not None:
            report = seen.report._replace(x=new.x, y=new.y, heading=new.heading, battery=new.battery)
            self.state.seen[new.robot_id] = Seen(report, self._clock.now_ms(), seen.heard)

    async def _read_robots(self) -> None:
        reads = (self._read_robot(name) for name in self.state.robots)
        found = await asyncio.gather(*reads, return_exceptions=True)
        await self._loop.request(RobotsRead([report for report in found if isinstance(report, Telemetry)]))

    async def _read_robot(self, name: str) -> Telemetry | None:
        async with asyncio.timeout(READ_PATIENCE_S):
            return await self._link.read(name)

    def _decide(self, given: FleetMessage) -> Verdict[RobotCommand]:
        now = self._clock.now_ms()
        if isinstance(given, RobotsRead):
            self.state, verdict = recover(self.state, given.reports, now)
        elif isinstance(given, Tick):
            reports, self._reports = self._reports, []
            self.state, verdict = step(self.state, reports, now)
        elif isinstance(given, NotSent):
            self.state, verdict = unsend(self.state, given, now)
        elif isinstance(given, Brake):
            reports, self._reports = self._reports, []
            self.state, verdict = brake(self.state, [*reports, given.given], now)
        else:
            self.state, verdict = step(self.state, [given], now)
        return verdict

    def _send(self, command: RobotCommand, *, led: bool = True) -> None:
        self._outbox.send(command.robot_id, lambda: self._link.send(command), led=led)

    def _put_off(self, commands: Sequence[RobotCommand]) -> Sequence[RobotCommand]:
        """The log kept these waiting: orders are decided anew; a resume and more ground are said again anyway."""
        orders = frozenset(command.key for command in commands if isinstance(command, GoTarget))
        if orders:
            self._loop.put_behind(NotSent(orders))
        return [command for command in commands if not isinstance(command, GoTarget | DriveOn | ResumeRobot)]

    def _gone(self) -> UnavailableError:
        name = self.state.scene.name
        return UnavailableError(
            f"The fleet {name} does not work now.", code="fleet.stopped", hint=f"Activate the scene {name} again."
        )

    def _frame(self) -> Mapping[str, Any]:
        """Where every robot is, for whoever looks."""
        robots = []
        for robot_id, seen in self.state.seen.items():
            report = seen.report
            robots.append(
                {
                    "robotId": robot_id,
                    "x": round(report.x, 3),
                    "y": round(report.y, 3),
                    "heading": round(report.heading, 3),
                    "nodeId": report.node_id,
                    "nextNodeId": report.next_node_id,
                    "battery": report.battery,
                    "phase": self.state.robots[robot_id].phase,
                    "status": self.state.robots[robot_id].status,
                    "lastSeenTsMs": max(0, seen.at_ms),
                }
            )
        return {"kind": "robots", "scene": self.state.scene.name, "ts": self._clock.now_ms(), "robots": robots}


def thinned(reports: Sequence[Telemetry | Ack]) -> list[Telemetry | Ack]:
    """The reports without those of a robot that only stands or drives on: first, last and whatever changed are kept."""
    kept: list[Telemetry | Ack] = [report for report in reports if isinstance(report, Ack)]
    by_robot: dict[str, list[Telemetry]] = {}
    for report in reports:
        if isinstance(report, Telemetry):
            by_robot.setdefault(report.robot_id, []).append(report)
    for said in by_robot.values():
        news = [said[0], *(now for before, now in pairwise(said) if _says(now) != _says(before)), said[-1]]
        kept += news if len(news) <= MOST_REPORTS // 2 // len(by_robot) else [said[-1]]
    return kept[-MOST_REPORTS // 2 :]


def _says(report: Telemetry) -> tuple[object, ...]:
    """What a decision may go by, beside where it is."""
    task = (report.task_status, report.task_id, report.target, report.called_off)
    return (report.boot, *task, report.load_sensor, report.error, report.blocked, report.charging)
