"""Ground shared out over real TCP: Robokit robots drive node by node, and their bodies never touch."""

import asyncio
from pathlib import Path

import pytest
import yaml
from tests.contract.robokit_floor import PATIENT, live

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.robot import Manners
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import evolve, initial
from beforehand.crafts.fleet.traffic_testing import touching
from beforehand.crafts.fleet.wire_testing import FastClock, robots_on_the_wire

CROSSING = Path(__file__).parents[2] / "scenes" / "crossing.yaml"


def crossing():
    document = yaml.safe_load(CROSSING.read_text(encoding="utf-8"))
    return read_fleet({**document, "settings": {**document["settings"], **PATIENT}})


async def watch(hall, touched) -> None:
    while True:
        touched.update(touching(hall.scene, hall.positions()))
        await asyncio.sleep(0.004)


@pytest.mark.parametrize(
    "manners", [Manners(), Manners(unknown=frozenset({1110}))], ids=["orders by id", "no account of orders"]
)
async def test_robots_over_robokit_share_a_crossing(manners, tmp_path):
    clock, touched = FastClock(120), set()
    async with robots_on_the_wire(crossing(), clock, manners) as wire, live(wire.scene, clock, tmp_path) as fleet:
        watching = asyncio.create_task(watch(wire.hall, touched))
        await fleet.until(lambda state: state.completed >= 2)
        watching.cancel()
        assert fleet.violations() == []
    assert touched == set()
    for robot in wire.robots.values():
        numbers = {number for number, _ in robot.heard}
        assert no.GO_TARGET not in numbers, "no robot is told of more than it may drive"
    legs = [
        leg
        for robot in wire.robots.values()
        for number, body in robot.heard
        if number == no.GO_TARGET_LIST
        for leg in body["move_task_list"]
    ]
    assert legs
    assert all({"source_id", "id", "task_id"} <= leg.keys() for leg in legs)
    assert len({leg["task_id"] for leg in legs}) == len(legs), "no leg is told twice"


async def test_a_server_that_dies_takes_the_traffic_up_again(tmp_path):
    clock, touched, log = FastClock(120), set(), []
    async with robots_on_the_wire(crossing(), clock) as wire:
        watching = asyncio.create_task(watch(wire.hall, touched))
        state = None
        for wanted in (1, 2):
            async with live(wire.scene, clock, tmp_path, state) as fleet:
                await fleet.until(lambda state, wanted=wanted: state.completed >= wanted)
            log += fleet.store.log
            state = initial(wire.scene)
            for event in log:
                evolve(state, event)
        watching.cancel()
    assert touched == set()
    assert not [one for one in state.decisions.values() if "waitsFor" in one.about]
