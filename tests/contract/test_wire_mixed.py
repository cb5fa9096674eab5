"""Simulated robots, robots over Robokit and vehicles over VDA 5050 in one scene: each wire's trouble is its own."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.robokit.frame import Frame
from beforehand.adapters.robokit.robot import WireRobot
from beforehand.crafts.fleet.core.state import FleetState

from .robokit_floor import floor
from .vda5050_rig import Mosquitto
from .wires import transports, wired

pytestmark = pytest.mark.needs("mosquitto", "aiomqtt")
Broker = Callable[[], Mosquitto]


def two_of_each(pallets: int) -> tuple[dict[str, Any], dict[str, str]]:
    kinds = ("sim", "sim", "robokit", "robokit", "vda5050", "vda5050")
    document = floor(6, pallets).wire()
    return document, {robot["robotId"]: kind for robot, kind in zip(document["robots"], kinds, strict=True)}


async def test_three_kinds_of_robots_work_in_one_scene(tmp_path: Path, start_broker: Broker) -> None:
    document, kinds = two_of_each(8)
    async with wired(document, kinds, tmp_path, start_broker) as wires:
        await wires.fleet.until_idle()
        moved = transports(wires.fleet.store.log)
        worked = {task.robot_id for task in wires.fleet.state.tasks.values()}
        assert wires.fleet.violations() == []
        assert wires.fleet.state.decisions == {}
    assert [source for source, _ in moved] == [f"PICK_{n}" for n in range(8)]
    assert sorted(target for _, target in moved) == [f"DROP_{n}" for n in range(8)]
    assert {kinds[str(robot_id)] for robot_id in worked} == {"sim", "robokit", "vda5050"}


def struck_dumb(robot: WireRobot) -> asyncio.Event:
    """From now on it takes every question and answers none, until the event is set."""
    answer, speaks = robot.answer, asyncio.Event()

    async def late(port: str, frame: Frame) -> Frame | None:
        await speaks.wait()
        return await answer(port, frame)

    robot.answer = late  # type: ignore[method-assign]
    return speaks


async def test_a_wire_that_hangs_delays_nobody_on_another(tmp_path: Path, start_broker: Broker) -> None:
    """A robot over Robokit is struck dumb and the broker stands still, each with orders under way: all the others
    finish everything else meanwhile, and when the wires work again nothing is lost or doubled."""
    document, kinds = two_of_each(10)
    broker = start_broker()
    hanging = {"RB-02", *(name for name, kind in kinds.items() if kind == "vda5050")}

    def all_are_under_way(state: FleetState) -> bool:
        return hanging <= {task.robot_id for task in state.tasks.values() if task.command_state == "running"}

    def only_they_have_work(state: FleetState) -> bool:
        left = [state.tasks[task_id].robot_id for task_id in state.open_tasks]
        return state.completed + len(left) == 10 and set(left) <= hanging

    async with wired(document, kinds, tmp_path, start_broker) as wires:
        assert wires.robokit is not None
        assert broker.process is not None
        await wires.fleet.until(all_are_under_way)
        speaks = struck_dumb(wires.robokit.robots["RB-02"])
        broker.process.send_signal(signal.SIGSTOP)
        try:
            await wires.fleet.until(only_they_have_work)
            assert {wires.fleet.state.tasks[task_id].robot_id for task_id in wires.fleet.state.open_tasks} == hanging
        finally:
            broker.process.send_signal(signal.SIGCONT)
        speaks.set()
        await wires.fleet.until_idle("redo")
        moved = transports(wires.fleet.store.log)
        assert wires.fleet.violations() == []
    assert sorted(source for source, _ in moved) == [f"PICK_{n}" for n in range(10)]
    assert sorted(target for _, target in moved) == [f"DROP_{n}" for n in range(10)]
