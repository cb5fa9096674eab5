"""Virtual VDA 5050 vehicles on a broker: each has a line of its own, so that its last will is its own too."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.roads import Roads
from beforehand.adapters.sim.scaled_clock import ScaledClock
from beforehand.adapters.vda5050.lines import CANCEL_AGAIN_S, client_of, why_no_line
from beforehand.adapters.vda5050.options import VdaOptions
from beforehand.adapters.vda5050.vehicle import Vehicle
from beforehand.model.broker import Broker
from beforehand.model.fleet import FleetScene, RobotSpec
from beforehand.model.machine import kind_of, options_of
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.tasks import part, stop

log = Log("beforehand.vda5050")
STEP_S = 0.02
AGAIN_S = 0.5


def vda_robots(scene: FleetScene) -> list[RobotSpec]:
    """The robots of a scene that are reached over VDA 5050."""
    return [robot for robot in scene.robots if kind_of(robot.link) == "vda5050"]


class VirtualRobots:
    """Some robots of one scene, on a clock of their own pace."""

    def __init__(
        self,
        scene: FleetScene,
        robots: Sequence[RobotSpec],
        broker: Broker,
        clock: Clock,
        *,
        speed: float = 1.0,
        faults: Sequence[FaultSpec] = (),
        trusting: bool = True,
    ) -> None:
        self._broker = broker
        self._clock = ScaledClock(clock, speed)
        own = scene.model_copy(update={"robots": tuple(robots)})
        self.fleet = SimFleet(own, faults, SimSettings(load_sensor=True))
        places = Roads(scene).at
        self.vehicles = {
            robot.robot_id: Vehicle(robot.robot_id, VdaOptions.of(options_of(robot.link)), self.fleet, places, trusting)
            for robot in robots
        }
        self._outgoing: dict[str, asyncio.Queue[tuple[str, bytes]]] = {name: asyncio.Queue() for name in self.vehicles}

    async def run(self, ready: Callable[[str], None] = lambda robot_id: None) -> None:
        """Until cancelled; `ready` is told of every robot that has come to be on the broker."""
        stays = (self._stay(vehicle, ready) for vehicle in self.vehicles.values())
        work = [part(one) for one in (self._play(), *stays)]
        try:
            done, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await stop(work, again_s=CANCEL_AGAIN_S)

    def inject(self, fault: FaultSpec) -> None:
        """Let a fault happen, `at_s` seconds from now."""
        self.fleet.inject(fault, self._clock.now_ms())

    async def _play(self) -> None:
        while True:
            now = self._clock.now_ms()
            for said in self.fleet.advance(now):
                vehicle = self.vehicles[said.robot_id]
                vehicle.follow(said, now)
                self._pass_on(vehicle)
            await asyncio.sleep(STEP_S)

    def _pass_on(self, vehicle: Vehicle) -> None:
        for name, document in vehicle.out:
            topic = vehicle.options.topic(name)
            self._outgoing[vehicle.robot_id].put_nowait((topic, json.dumps(document).encode()))
        vehicle.out.clear()

    async def _stay(self, vehicle: Vehicle, ready: Callable[[str], None]) -> None:
        while True:
            if self.fleet.is_reachable(vehicle.robot_id):
                try:
                    await self._line(vehicle, ready)
                except asyncio.CancelledError:
                    raise
                except Exception as error:
                    says = why_no_line(error, self._broker)
                    log.warning("the line to the broker is down", robot=vehicle.robot_id, says=says)
            await asyncio.sleep(AGAIN_S)

    async def _line(self, vehicle: Vehicle, ready: Callable[[str], None]) -> None:
        from aiomqtt import Will

        topic = vehicle.options.topic("connection")
        broken = self._connection(vehicle, "CONNECTIONBROKEN")
        async with client_of(self._broker, will=Will(topic, broken, qos=1, retain=True)) as client:
            for name in ("order", "instantActions"):
                await client.subscribe(vehicle.options.topic(name))
            await client.publish(topic, self._connection(vehicle, "ONLINE"), qos=1, retain=True)
            while not self._outgoing[vehicle.robot_id].empty():
                self._outgoing[vehicle.robot_id].get_nowait()
            vehicle.report(self._clock.now_ms(), again=True)
            self._pass_on(vehicle)
            ready(vehicle.robot_id)
            work = [part(one) for one in (self._send(vehicle, client), self._listen(vehicle, client))]
            try:
                await self._until_unreachable(vehicle, work)
                await client.publish(topic, broken, qos=1, retain=True)
            except asyncio.CancelledError:
                await client.publish(topic, self._connection(vehicle, "OFFLINE"), qos=1, retain=True)
                raise
            finally:
                await stop(work, again_s=CANCEL_AGAIN_S)

    async def _until_unreachable(self, vehicle: Vehicle, work: Sequence["asyncio.Task[None]"]) -> None:
        while self.fleet.is_reachable(vehicle.robot_id):
            done, _ = await asyncio.wait(work, timeout=AGAIN_S / 5, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()

    async def _send(self, vehicle: Vehicle, client: Any) -> None:
        while True:
            topic, payload = await self._outgoing[vehicle.robot_id].get()
            await client.publish(topic, payload)

    async def _listen(self, vehicle: Vehicle, client: Any) -> None:
        async for message in client.messages:
            vehicle.hear(str(message.topic).rpartition("/")[2], message.payload, self._clock.now_ms())
            self._pass_on(vehicle)

    def _connection(self, vehicle: Vehicle, said: str) -> bytes:
        return json.dumps(vehicle.connection(said, self._clock.now_ms())).encode()
