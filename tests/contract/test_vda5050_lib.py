"""Against what others wrote: npm's vda-5050-lib, its validators for 2.0 and its virtual AGVs.

Its AGVs want the version 2.0.0, a stationType that begins with floor, and EPAL for a loadType: our defaults.
"""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from beforehand.crafts.fleet.core.inputs import FleetVerb, PatchStream, RobotVerb
from beforehand.ports.tasks import stop

from .vda5050_rig import Mosquitto, hall, live, vehicles
from .wire_processes import kill_all_of

PACKAGE, VERSION = "vda-5050-lib", "1.4.0"
HERE = Path(__file__).parent

pytestmark = pytest.mark.needs("mosquitto", "aiomqtt", "node", "npm")


@pytest.fixture(scope="session")
def library(npm_package: Callable[[str, str], Path]) -> Path:
    return npm_package(PACKAGE, VERSION)


@pytest.fixture
def broker(tmp_path: Path, executable: Callable[[str], Path]) -> Iterator[Mosquitto]:
    made = Mosquitto(str(executable("mosquitto")), tmp_path)
    made.start()
    yield made
    made.stop()


@asynccontextmanager
async def agvs(
    document: dict[str, Any], library: Path, node: Path, broker: str, serials: set[str] | None = None
) -> AsyncIterator["asyncio.subprocess.Process"]:
    """AGVs of the library where the robots of the scene stand, twenty times as fast as real ones."""
    places = {one["id"]: one for one in document["nodes"]}
    given = [
        {
            "serial": robot["link"]["serial"],
            "node": robot["nodeId"],
            "battery": 100 * robot.get("battery", 1.0),
            **{key: places[robot["nodeId"]][key] for key in "xy"},
        }
        for robot in document["robots"]
        if isinstance(robot["link"], dict) and (serials is None or robot["link"]["serial"] in serials)
    ]
    command = [str(node), str(HERE / "vda5050_agvs.js"), str(library), broker, json.dumps(given), "20"]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            assert await process.stdout.readline() == b"READY\n"
        yield process
    finally:
        await kill_all_of(process)


async def test_a_scene_is_run_to_idle_by_the_librarys_agvs(
    broker: Mosquitto, library: Path, executable: Callable[[str], Path], tmp_path: Path
) -> None:
    document = hall(broker.url, 3, pallets=4)
    async with agvs(document, library, executable("node"), broker.url), live(document, tmp_path, pace=1) as fleet:
        await fleet.until_idle()
        assert fleet.moved() == (4, 4)
        assert set(fleet.lying("OUT")) == {"filled"}
        assert fleet.state.decisions == {}


async def test_every_message_passes_the_librarys_validators(
    broker: Mosquitto, library: Path, executable: Callable[[str], Path], tmp_path: Path
) -> None:
    """Ours as master control and our vehicles' own, from a whole shift."""
    document = hall(broker.url, 2, pallets=3)
    kinds = {"order": "Order", "instantActions": "InstantActions", "state": "State", "connection": "Connection"}
    said: dict[str, list[Any]] = {kind: [] for kind in (*kinds.values(), "Factsheet")}

    async def listen() -> None:
        from aiomqtt import Client

        async with Client("127.0.0.1", broker.port) as client:
            await client.subscribe("uagv/v2/#")
            async for message in client.messages:
                topic = str(message.topic).rpartition("/")[2]
                said[kinds.get(topic, topic.capitalize())].append(json.loads(message.payload))

    listening = asyncio.create_task(listen())
    async with vehicles(document), live(document, tmp_path) as fleet:
        await fleet.until(lambda state: any(robot.phase == "moving_to_drop" for robot in state.robots.values()))
        await fleet.driver.request(FleetVerb("hold"))
        await fleet.driver.request(FleetVerb("let-go"))
        await fleet.until_idle()
    await stop([listening])
    assert all(said.values())
    assert any(order["orderUpdateId"] for order in said["Order"])
    checking = [str(executable("node")), str(HERE / "vda5050_check.js"), str(library)]
    checked = await asyncio.to_thread(
        subprocess.run, checking, input=json.dumps(said), capture_output=True, text=True, check=True
    )
    assert json.loads(checked.stdout) == []


@pytest.mark.soak
async def test_one_of_the_librarys_agvs_charges_and_is_called_away_from_it(
    broker: Mosquitto, library: Path, executable: Callable[[str], Path], tmp_path: Path
) -> None:
    document = hall(broker.url, 1, pallets=1, chargeStartThreshold=0.2, chargeStopThreshold=0.53)
    document["worksites"].append({"worksiteId": "CH_0", "worksiteType": "charger", "entryNodeId": "A0"})
    document["robots"][0]["battery"] = 0.5
    document["streams"][0]["enabled"] = False
    async with agvs(document, library, executable("node"), broker.url), live(document, tmp_path, pace=1) as fleet:
        await fleet.until(lambda state: state.robots["RB-00"].status == "online")
        await fleet.driver.request(RobotVerb("RB-00", "charge"))
        await fleet.until(lambda state: state.robots["RB-00"].phase == "charging")
        await fleet.until(lambda state: state.seen["RB-00"].report.charging)
        await fleet.driver.request(PatchStream("flow", enabled=True))
        await fleet.until_idle()
        assert fleet.moved() == (1, 1)
        assert not fleet.state.seen["RB-00"].report.charging
        assert fleet.state.decisions == {}


@pytest.mark.soak
async def test_fifty_of_the_librarys_agvs_and_ten_simulated_robots(
    broker: Mosquitto, library: Path, executable: Callable[[str], Path], tmp_path: Path
) -> None:
    document = hall(broker.url, 50, sim=10, pallets=90, offlineAfterS=15)
    async with agvs(document, library, executable("node"), broker.url), live(document, tmp_path, pace=1) as fleet:
        await fleet.until_idle(600)
        assert fleet.moved() == (90, 90)
        assert fleet.state.decisions == {}
