"""Ground shared out over real MQTT: the base of an order is what is granted, the rest is its horizon."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from beforehand.adapters.vda5050.robots import VirtualRobots
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.traffic_testing import touching

from .vda5050_rig import Mosquitto, live, vehicles

pytestmark = pytest.mark.needs("mosquitto", "aiomqtt")
CROSSING = Path(__file__).parents[2] / "scenes" / "crossing.yaml"


@pytest.fixture
def broker(tmp_path: Path, executable: Callable[[str], Path]) -> Iterator[Mosquitto]:
    made = Mosquitto(str(executable("mosquitto")), tmp_path)
    made.start()
    yield made
    made.stop()


def crossing(broker: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(CROSSING.read_text(encoding="utf-8"))
    for number, robot in enumerate(document["robots"]):
        robot["link"] = {"kind": "vda5050", "manufacturer": "acme", "serial": f"v{number}"}
    return {**document, "settings": {**document["settings"], "broker": broker, "tickS": 0.1, "offlineAfterS": 10}}


async def watch(robots: VirtualRobots, document: dict[str, Any], touched: set[Any], orders: list[Any]) -> None:
    scene = read_fleet(document)
    while True:
        touched.update(touching(scene, robots.fleet.positions()))
        for vehicle in robots.vehicles.values():
            seen = (vehicle.order_id, vehicle.update_id, tuple((one.node_id, one.released) for one in vehicle.nodes))
            if seen not in orders and vehicle.nodes:
                orders.append(seen)
        await asyncio.sleep(0.003)


async def test_vehicles_share_a_crossing_by_base_and_horizon(broker: Mosquitto, tmp_path: Path) -> None:
    document, touched, orders = crossing(broker.url), set(), []
    async with vehicles(document, speed=12) as robots, live(document, tmp_path) as fleet:
        watching = asyncio.create_task(watch(robots, document, touched, orders))
        await fleet.until(lambda state: state.completed >= 3)
        watching.cancel()
        assert not any(vehicle.errors for vehicle in robots.vehicles.values())
    assert touched == set()
    assert any(update > 0 for _, update, _ in orders), "orders are updated as ground is granted"
    assert any(not released for _, _, nodes in orders for _, released in nodes), "what is not granted is the horizon"


async def test_a_broker_that_restarts_does_not_lead_robots_into_each_other(broker: Mosquitto, tmp_path: Path) -> None:
    document, touched, orders = crossing(broker.url), set(), []
    async with vehicles(document, speed=12) as robots, live(document, tmp_path) as fleet:
        watching = asyncio.create_task(watch(robots, document, touched, orders))
        await fleet.until(lambda state: state.completed >= 1)
        broker.stop()
        await asyncio.sleep(0.5)
        broker.start()
        await fleet.until(lambda state: state.completed >= 2)
        watching.cancel()
    assert touched == set()
