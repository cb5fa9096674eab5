"""A fleet over real MQTT: our own virtual vehicles, brokers that restart, lines that fail, vehicles of both kinds."""

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.fork_server import Forked

from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.vda5050.robots import VirtualRobots
from beforehand.adapters.vda5050.vehicle import Vehicle
from beforehand.crafts.fleet.core.inputs import AnswerDecision
from beforehand.model.fleet import Task

from . import vda5050_rig
from .vda5050_rig import Mosquitto, hall, live, vehicles

pytestmark = pytest.mark.needs("mosquitto", "aiomqtt")


@pytest.fixture
def broker(tmp_path: Path, executable: Callable[[str], Path]) -> Iterator[Mosquitto]:
    made = Mosquitto(str(executable("mosquitto")), tmp_path)
    made.start()
    yield made
    made.stop()


async def test_a_scene_is_run_to_idle(broker: Mosquitto, tmp_path: Path) -> None:
    document = hall(broker.url, 3, pallets=5)
    async with vehicles(document) as robots, live(document, tmp_path) as fleet:
        await fleet.until_idle()
        assert fleet.moved() == (5, 5)
        assert set(fleet.lying("OUT")) == {"filled"}
        assert fleet.state.decisions == {}
        done = [action for vehicle in robots.vehicles.values() for action in vehicle.done]
        assert len(done) == len(set(done)) == 10


async def test_simulated_robots_and_vehicles_work_side_by_side(broker: Mosquitto, tmp_path: Path) -> None:
    document = hall(broker.url, 2, sim=2, pallets=6)
    async with vehicles(document, trusting=True), live(document, tmp_path) as fleet:
        await fleet.until_idle()
        assert fleet.moved() == (6, 6)
        worked = {event.data["robotId"] for event in fleet.events("palletDropped")}
        assert len(worked) == 4


async def test_a_broker_that_restarts_loses_and_doubles_nothing(broker: Mosquitto, tmp_path: Path) -> None:
    document = hall(broker.url, 2, pallets=4, errorPolicy="recover", offlineAfterS=1.5)
    async with vehicles(document, speed=8) as robots, live(document, tmp_path) as fleet:
        await fleet.until(lambda state: any(task.step == "drop" for task in state.tasks.values()))
        broker.stop()
        await fleet.until(lambda state: all(robot.status == "offline" for robot in state.robots.values()))
        held = [task for task in fleet.state.tasks.values() if task.status == "held"]
        assert held
        assert all("has not reported" in str(task.error) for task in held)
        await asyncio.to_thread(broker.start)
        await fleet.until_idle()
        assert fleet.moved() == (4, 4)
        done = [action for vehicle in robots.vehicles.values() for action in vehicle.done]
        assert len(done) == len(set(done)) == 8
        assert fleet.state.decisions == {}


class Muddled(VirtualRobots):
    """Every message arrives twice, and old ones arrive once more, much later."""

    def _pass_on(self, vehicle: Vehicle) -> None:
        sent = self.__dict__.setdefault("sent", {}).setdefault(vehicle.robot_id, [])
        fresh, vehicle.out = vehicle.out, []
        for message in fresh:
            sent.append(message)
            vehicle.out += [message, message, sent[max(0, len(sent) - 12)]]
        super()._pass_on(vehicle)


async def test_states_that_come_twice_and_late_are_counted_once(
    broker: Mosquitto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vda5050_rig, "VirtualRobots", Muddled)
    document = hall(broker.url, 2, pallets=4)
    async with vehicles(document) as robots, live(document, tmp_path) as fleet:
        await fleet.until_idle()
        assert fleet.moved() == (4, 4)
        assert sum(len(vehicle.done) for vehicle in robots.vehicles.values()) == 8
        assert fleet.state.decisions == {}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param("restart", marks=pytest.mark.soak),
        pytest.param("status5", marks=pytest.mark.soak),
        "cancelled_by_hand",
    ],
)
async def test_what_goes_wrong_with_a_vehicle_is_its_own_and_is_told(
    broker: Mosquitto, tmp_path: Path, fault: str
) -> None:
    """The task waits for a person, who is told why; the others finish theirs, and redo finishes it. What was cancelled
    by hand is asked about even where failures are tried again."""
    said = {
        "restart": "forgotten its order",
        "status5": "internal fault",
        "cancelled_by_hand": "cancelled at the robot",
    }
    policy = "recover" if fault == "cancelled_by_hand" else "freeze"
    document = hall(broker.url, 2, pallets=2, offlineAfterS=30, errorPolicy=policy)
    strikes = FaultSpec(at_s=0.0, robot_id="RB-00", fault=fault)
    async with AsyncExitStack() as stack:
        robots = await stack.enter_async_context(vehicles(document, speed=8))
        if fault != "restart":
            robots.inject(strikes)  # it strikes the first order, however slow this machine is
        fleet = await stack.enter_async_context(live(document, tmp_path))
        if fault == "restart":
            await fleet.until(lambda state: state.robots["RB-00"].phase == "moving_to_pick")
            await fleet.until_seen(lambda state: state.seen["RB-00"].report.next_node_id is not None)
            robots.inject(strikes)
        await fleet.until(lambda state: bool(state.decisions))
        (asked,) = fleet.state.decisions.values()
        assert said[fault] in asked.title
        await fleet.until(lambda state: state.completed == 1)
        await fleet.driver.request(AnswerDecision(asked.id, "redo"))
        await fleet.until_idle()
        assert fleet.moved() == (2, 2)
        assert sum(len(vehicle.done) for vehicle in robots.vehicles.values()) == 4


async def test_a_vehicle_that_is_killed_is_missed_and_reconciled(broker: Mosquitto, tmp_path: Path) -> None:
    document = hall(broker.url, 2, pallets=2)
    file = tmp_path / "hall.json"
    file.write_text(json.dumps(document))
    both = {robot["robotId"]: start_vehicle(file, tmp_path, robot["robotId"]) for robot in document["robots"]}
    try:
        async with live(document, tmp_path, pace=1) as fleet:
            await fleet.until(lambda state: any(runs(task) for task in state.tasks.values()))
            both["RB-00"].kill()
            both["RB-00"].wait()
            await fleet.until(lambda state: state.robots["RB-00"].status == "offline")
            assert "has not reported" in next(iter(fleet.state.decisions.values())).title
            both["RB-00"] = start_vehicle(file, tmp_path, "RB-00")
            await fleet.until(lambda state: state.robots["RB-00"].status == "online")
            await fleet.until(lambda state: any("its order" in str(task.error) for task in state.tasks.values()))
            (asked,) = fleet.state.decisions.values()
            await fleet.driver.request(AnswerDecision(asked.id, "redo"))
            await fleet.until_idle()
            assert fleet.moved() == (2, 2)
    finally:
        for process in both.values():
            process.kill()
            process.wait()


def runs(task: Task) -> bool:
    """Whether RB-00 is known to have begun with it."""
    return task.robot_id == "RB-00" and task.command_state == "running"


def start_vehicle(scene: Path, home: Path, robot_id: str) -> "subprocess.Popen[bytes]":
    options = ["--scene", str(scene), "--robot", robot_id, "--speed", "5", "--home", str(home)]
    return Forked(["robot", "vda5050", *options])
