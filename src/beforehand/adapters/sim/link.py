"""The simulated fleet behind the robot port, on any clock: the wall's, a faster one, or a virtual one in tests."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.scaled_clock import ScaledClock
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import Occupancy
from beforehand.model.robot import Ack, RobotCommand, Telemetry
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkRequest

log = Log("beforehand.sim")
_STEP_MS = 100
_ASLEEP_MS = 600_000
"""When so much has passed since the last look, nobody wants to hear every report of it."""

Keep = Callable[[Mapping[str, Any]], None]


class SimLink:
    """Robots that live in this process.

    `kept` is what `keep` was last given, if the robots are to be where they were when an earlier process ended; they
    have gone on since then, as real ones would. A command sent in the last moment before a crash may be missing from
    it: then the robot never got it, which is what may happen to a real one too.
    """

    def __init__(
        self, fleet: SimFleet, clock: Clock, *, kept: Mapping[str, Any] | None = None, keep: Keep | None = None
    ) -> None:
        self.fleet = fleet
        self._clock = clock
        self._keep = keep
        self._open = True
        self._changed = False
        self._keep_from_ms = 0
        if kept is not None:
            fleet.restore(kept)
            fleet.settle(clock.now_ms())

    async def send(self, command: RobotCommand) -> None:
        self.fleet.command(command, self._clock.now_ms())
        self._changed = True

    async def reports(self) -> AsyncIterator[Telemetry | Ack]:
        last_ms = self._clock.now_ms()
        while self._open:
            now_ms = self._clock.now_ms()
            if now_ms - last_ms > _ASLEEP_MS:
                self.fleet.catch_up(now_ms)
            last_ms = now_ms
            for report in self.fleet.advance(now_ms):
                yield report
            if self._changed and now_ms >= self._keep_from_ms:
                # A big fleet's state is big: it is kept less often, so that this stays a small part of the work.
                self._keep_from_ms = now_ms + max(_STEP_MS, self.fleet.robots)
                self.keep()
            due_ms = self.fleet.next_ms() or now_ms
            # A command sent while this sleeps may be answered sooner than what was due, hence the short step.
            await self._clock.sleep_until(max(now_ms + 1, min(due_ms, now_ms + _STEP_MS)))

    async def read(self, robot_id: str) -> Telemetry | None:
        return self.fleet.read(robot_id, self._clock.now_ms())

    def set_occupancy(self, worksite_id: str, occupancy: Occupancy) -> None:
        """A person brought a pallet or took one away: what they tell the fleet is true in the simulated hall too."""
        self.fleet.set_occupancy(worksite_id, occupancy)
        self._changed = True

    def set_load(self, robot_id: str, loaded: bool) -> None:
        """A person put a pallet on a fork or took it off."""
        self.fleet.set_load(robot_id, loaded)
        self._changed = True

    def inject(self, fault: FaultSpec, key: str = "") -> None:
        """Let a fault happen, `at_s` seconds from now; one with a key once, however often it is asked for."""
        self.fleet.inject(fault, self._clock.now_ms(), key)
        self.keep()  # before anybody is told that it will happen

    async def close(self) -> None:
        self._open = False
        self.keep()

    def keep(self) -> None:
        """Hand the state of the robots to whoever keeps it; done soon after every change, and on closing."""
        self._changed = False
        if self._keep is not None:
            self._keep(self.fleet.snapshot())


def open_sim_link(request: LinkRequest) -> SimLink:
    """The simulated robots of a scene, where they were when an earlier process ended, on a clock of their own pace."""
    clock = ScaledClock(request.clock, request.speed, request.kept)
    scene = request.scene.model_copy(update={"robots": request.robots})

    def keep(fleet: Mapping[str, Any]) -> None:
        request.keep({**clock.kept(), "fleet": fleet})

    try:
        return SimLink(SimFleet(scene), clock, kept=(request.kept or {}).get("fleet"), keep=keep)
    except (BadInputError, AttributeError, KeyError, TypeError, ValueError):
        log.warning(
            "what was kept of the robots cannot be read; they stand where the scene puts them", scene=scene.name
        )
        return SimLink(SimFleet(scene), clock, keep=keep)
