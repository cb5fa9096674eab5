"""Live and simulated, one core sees one world: a scene gives out the same tasks to the same robots in order."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene

SHIFT_S = 240.0
SCENES = Path(__file__).parents[4] / "scenes"


def product_fleets() -> list[FleetScene]:
    documents = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(SCENES.glob("*.yaml"))]
    return [read_fleet(document) for document in documents if document["kind"] == "fleet"]


def two_priorities() -> FleetScene:
    """The stream that stands last in the file goes first, if its pallets have not waited for too long."""
    nodes = [{"id": f"N{n}", "x": 5 * n, "y": 0} for n in range(9)]
    sites = [
        {"worksiteId": f"W{n}", "worksiteType": "buffer", "entryNodeId": f"N{n}", "occupancy": "filled"}
        | ({"occupancy": "empty"} if n > 4 else {})
        for n in range(1, 9)
    ]
    streams = [
        {"streamId": "idle", "priority": 0, "params": {"pickGroup": ["W1", "W2"], "dropGroup": ["W5", "W6"]}},
        {"streamId": "urgent", "priority": 5, "params": {"pickGroup": ["W3", "W4"], "dropGroup": ["W7", "W8"]}},
    ]
    edges = [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(8)]
    robots = [{"robotId": "RB-01", "nodeId": "N0"}]
    scene = {"kind": "fleet", "name": "two", "nodes": nodes, "edges": edges, "worksites": sites}
    return read_fleet({**scene, "robots": robots, "streams": streams})


def given_out(events: Iterable[Event]) -> list[Any]:
    keys = ("taskId", "sourceId", "targetId", "robotId")
    return [tuple(event.data.get(key) for key in keys) for event in events if event.kind == "taskCreated"]


@pytest.mark.parametrize("scene", [*product_fleets(), two_priorities()], ids=lambda scene: scene.name)
async def test_live_and_simulated_give_out_the_same_tasks(homestead: Any, scene: FleetScene) -> None:
    simulated = given_out(simulate(scene, SimFleet(scene), for_s=SHIFT_S).events)
    assert simulated
    async with homestead.open(scene.wire()):
        await homestead.clock.advance(SHIFT_S)
    assert given_out(homestead.store.log) == simulated


def driven(events: Iterable[Event]) -> list[Any]:
    """What each robot was told to drive over, in order."""
    return [
        (event.data["robotId"], event.data["command"], event.data["payload"].get("way"))
        for event in events
        if event.kind == "commandSent"
    ]


async def test_live_and_simulated_share_out_the_same_ground(homestead: Any) -> None:
    scene = next(one for one in product_fleets() if one.settings.traffic_mode == "RESERVE")
    simulated = driven(simulate(scene, SimFleet(scene), for_s=SHIFT_S).events)
    assert any(command == "driveOn" for _, command, _ in simulated)
    async with homestead.open(scene.wire()):
        await homestead.clock.advance(SHIFT_S)
    assert driven(homestead.store.log) == simulated


async def test_the_pallets_of_a_scene_wait_from_its_activation_on(homestead: Any) -> None:
    scene = two_priorities()
    activated = homestead.clock.now_ms()
    async with homestead.open(scene.wire()) as runtime:
        sites = runtime.service(Fleets).state_of("two").worksites.values()
        assert {site.since_ts_ms for site in sites if site.reserved_by is None} == {activated}
    await homestead.clock.advance(30)
    async with homestead.open() as runtime:
        sites = runtime.service(Fleets).state_of("two").worksites.values()
        assert activated in {site.since_ts_ms for site in sites}, "a restart does not make them younger"
