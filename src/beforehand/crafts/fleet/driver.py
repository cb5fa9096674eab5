"""The driver of one fleet: reports and people's words in, ticks decided, events made durable, commands sent.

It decides nothing. Before the first tick after a start every robot is read, so that what was in the air meets what the
robots say before anything is ordered. People's words are answered at once, each by a tick of its own.
"""

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog

from beforehand.crafts.fleet.core.decide import recover, step
from beforehand.crafts.fleet.core.inputs import FleetInput
from beforehand.crafts.fleet.core.state import FleetState, snapshot
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Event, Verdict
from beforehand.model.robot import Ack, RobotCommand, Telemetry
from beforehand.ports.clock import Clock
from beforehand.ports.robot import RobotLink
from beforehand.ports.store import Store

log = structlog.get_logger("beforehand.fleet")
SNAPSHOT_EVERY = 2_000
STORE_RETRY_MS = 1_000
READ_PATIENCE_S = 5.0

Ready = Callable[[FleetState], bool]
Decide = Callable[[FleetState, Sequence[FleetInput], int], tuple[FleetState, Verdict[RobotCommand]]]


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
    ) -> None:
        self.state = state
        self._link = link
        self._store = store
        self._clock = clock
        self._on_frame = on_frame
        self._reports: list[Telemetry | Ack] = []
        self._words: list[tuple[FleetInput, asyncio.Future[Verdict[RobotCommand]]]] = []
        self._wake = asyncio.Event()
        self._since_snapshot = 0
        self._last_seq = 0
        self._watchers: list[tuple[Ready, asyncio.Future[None]]] = []
        self.keeps_snapshots = True
        """False where the state is not the log's own, so that nobody takes it up later."""
        self._stopped = False
        self.ticks = 0

    async def say(self, given: FleetInput) -> Verdict[RobotCommand]:
        """Hand in what a person asks for; the answer comes when it is durable."""
        self._refuse_stopped()
        reply: asyncio.Future[Verdict[RobotCommand]] = asyncio.get_running_loop().create_future()
        self._words.append((given, reply))
        self._wake.set()
        return await reply

    async def until(self, ready: Ready) -> None:
        """Return once the state is as asked; looked at whenever something has changed."""
        if not ready(self.state):
            self._refuse_stopped()
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._watchers.append((ready, done))
            await done

    async def drive(self) -> None:
        """Work until cancelled."""
        listening = asyncio.create_task(self._listen())
        try:
            await self._meet_the_robots()
            spare_the_collector()
            tick_ms = round(self.state.scene.settings.tick_s * 1000)
            while not listening.done():
                due = self._clock.now_ms() + tick_ms
                await self._tick()
                await self._until_due(due)
            await listening
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            self._stopped = True
            waiting: list[asyncio.Future[Any]] = [*(reply for _, reply in self._words), *(d for _, d in self._watchers)]
            for left in waiting:
                if not left.done():
                    left.set_exception(self._gone())
            await self._link.close()
            await self._save(force=True)

    def _refuse_stopped(self) -> None:
        if self._stopped:
            raise self._gone()

    def _gone(self) -> UnavailableError:
        name = self.state.scene.name
        return UnavailableError(
            f"The fleet {name} does not work now.", code="fleet.stopped", hint=f"Activate the scene {name} again."
        )

    async def _until_due(self, due_ms: int) -> None:
        """Wait for the next tick, or for somebody to say something."""
        waits = [asyncio.ensure_future(self._wake.wait()), asyncio.ensure_future(self._clock.sleep_until(due_ms))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        self._wake.clear()

    async def _listen(self) -> None:
        async for report in self._link.reports():
            self._reports.append(report)

    async def _meet_the_robots(self) -> None:
        """Read every robot before anything is ordered."""
        reads = (asyncio.wait_for(self._link.read(name), READ_PATIENCE_S) for name in self.state.robots)
        found = await asyncio.gather(*reads, return_exceptions=True)
        reports = [report for report in found if isinstance(report, Telemetry)]
        await self._decide(recover, reports)

    async def _tick(self) -> None:
        """One tick of the clock, and one for each thing a person said."""
        while self._words:
            given, reply = self._words[0]
            verdict = await self._decide(step, [given])
            del self._words[0]  # not before: whoever waits hears of it if this fleet stops meanwhile
            if not reply.done():
                reply.set_result(verdict)
        reports, self._reports = self._reports, []
        await self._decide(step, reports)
        self.ticks += 1
        self._on_frame(self._frame())

    async def _decide(self, decide: Decide, inputs: Sequence[FleetInput]) -> Verdict[RobotCommand]:
        self.state, verdict = decide(self.state, inputs, self._clock.now_ms())
        if verdict.events:
            await self._append(verdict.events)
        for command in verdict.commands:
            try:
                await self._link.send(command)
            except UnavailableError as error:  # the robot did not get it; its silence is the core's to notice
                log.warning("a command did not get through", robot=command.robot_id, says=error.says)
        return verdict

    async def _append(self, events: Sequence[Event]) -> None:
        while True:
            try:
                numbered = await self._store.append(events)
                break
            except UnavailableError as error:
                log.error("the log cannot be written", scene=self.state.scene.name, error=error.says)
                await self._clock.sleep_until(self._clock.now_ms() + STORE_RETRY_MS)
        self._last_seq = numbered[-1].seq
        self._since_snapshot += len(events)
        self._tell_watchers()
        await self._save()

    def _tell_watchers(self) -> None:
        waiting = []
        for ready, done in self._watchers:
            if not done.done():
                if ready(self.state):
                    done.set_result(None)
                else:
                    waiting.append((ready, done))
        self._watchers = waiting

    async def _save(self, *, force: bool = False) -> None:
        if self.keeps_snapshots and self._since_snapshot >= (1 if force else SNAPSHOT_EVERY):
            await self._store.save_snapshot(self.state.owner, self._last_seq, snapshot(self.state))
            self._since_snapshot = 0

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
