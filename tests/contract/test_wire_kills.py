"""Robots that are killed as processes, brokers that restart, links that are cut: a few robots, and fifty.

Nothing is lost or doubled, what is held says why, and whoever was not killed has no part in it.
"""

import asyncio
import json
import subprocess
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.wire_testing import FastClock, linked, robots_on_the_wire

from .robokit_floor import LiveFloor, Spoiling, floor, live
from .test_robokit_fleet import places, proxied, transported
from .vda5050_rig import Mosquitto
from .wire_processes import Person, RobotProcess, kill_now_and_then, robokit_processes, started, vda_processes
from .wires import all_over, transports, with_links

HERE = Path(__file__).parent
PACKAGE, VERSION = "vda-5050-lib", "1.4.0"
Broker = Callable[[], Mosquitto]


async def run_through(fleet: LiveFloor, processes: Sequence[RobotProcess], pallets: int, trouble: Any) -> Person:
    """Trouble is made while the fleet works; then a person answers until everything lies where it should."""
    person = Person(fleet)

    def done(state: FleetState) -> bool:
        return state.completed == pallets and is_settled(state, fleet.clock.now_ms())

    await fleet.until(lambda state: any(task.command_state == "running" for task in state.tasks.values()))
    async with asyncio.TaskGroup() as both:
        making = both.create_task(trouble)
        await person.answer_until(lambda state: making.done() and done(state))
    moved = transports(fleet.store.log)
    assert sorted(source for source, _ in moved) == sorted(f"PICK_{n}" for n in range(pallets))
    assert sorted(target for _, target in moved) == sorted(f"DROP_{n}" for n in range(pallets))
    assert fleet.violations() == []
    killed = {name for one in processes if one.kills for name in one.robots}
    asked = [event.data for event in fleet.store.log if event.kind == "decisionOpened"]
    assert {one["about"]["robotId"] for one in asked} <= killed, [one["title"] for one in asked]
    assert all(" is held: " in one["title"] or one["about"]["robotId"] in one["title"] for one in asked)
    return person


async def robokit_run(home: Path, robots: int, pallets: int, *, size: int, pace: float, kills: int) -> Person:
    scene, clock = floor(robots, pallets), FastClock(pace)
    ports, made = robokit_processes(scene.wire(), home, pace, size)
    async with started(made) as processes, live(linked(scene, ports), clock, home) as fleet:
        return await run_through(fleet, processes, pallets, kill_now_and_then(processes, kills, 1, 1.0))


async def test_robots_over_robokit_killed_and_started_anew(tmp_path: Path) -> None:
    person = await robokit_run(tmp_path, 2, 4, size=1, pace=8, kills=2)
    assert any("forgotten its order" in title for title in person.titles)


@pytest.mark.soak
async def test_fifty_robots_over_robokit_killed_and_started_anew(tmp_path: Path) -> None:
    person = await robokit_run(tmp_path, 50, 100, size=5, pace=3, kills=12)
    assert any("forgotten its order" in title for title in person.titles)


@pytest.mark.soak
async def test_fifty_robots_over_links_that_are_cut_and_frames_that_are_spoilt(tmp_path: Path) -> None:
    clock = FastClock(3)
    spoiling = Spoiling(split=5, merge=5, delay=2, truncate=1, corrupt=1, duplicate=5, swap=1)
    async with AsyncExitStack() as stack:
        wire = await stack.enter_async_context(robots_on_the_wire(floor(50, 60), clock))
        proxies = await proxied(stack, wire, spoiling)
        scene = linked(wire.scene, {name: proxy.ports for name, proxy in proxies.items()})
        fleet = await stack.enter_async_context(live(scene, clock, tmp_path))
        for count in range(0, 60, 5):
            await fleet.until(lambda state, seen=count: len(fleet.commands()) > seen)
            for proxy in list(proxies.values())[count % 50 :: 7]:
                await proxy.cut()
        await fleet.until_idle("redo")
        assert fleet.violations() == []
        assert fleet.state.completed == 60
        assert sum(proxy.spoiled for proxy in proxies.values()) > 100
    assert transported(wire) == ["ForkLoad"] * 60 + ["ForkUnload"] * 60
    assert places(wire) == sorted(f"DROP_{n}" for n in range(60))


async def broker_and_robots(broker: Mosquitto, processes: Sequence[RobotProcess], kills: int, restarts: int) -> None:
    """The broker restarts between the kills."""
    for number in range(max(kills, restarts)):
        if number < kills:
            await kill_now_and_then(processes, 1, number, 1.0)
        if number < restarts:
            broker.stop()
            await asyncio.sleep(0.5)
            await asyncio.to_thread(broker.start)
            await asyncio.sleep(1.0)


async def switch_silent_ones_off_and_on(fleet: LiveFloor, processes: Sequence[RobotProcess]) -> None:
    """What a person does with vehicles that have said nothing for a minute; those in the same process go with them."""

    def silent(state: FleetState) -> set[str]:
        since_ms = fleet.clock.now_ms() - 60_000
        return {name for name, robot in state.robots.items() if robot.status == "offline" and heard_ms(name) < since_ms}

    def heard_ms(name: str) -> int:
        return fleet.state.seen[name].at_ms if name in fleet.state.seen else 0

    while True:
        await fleet.until(lambda state: bool(silent(state)))
        names = silent(fleet.state)
        for one in processes:
            if not names.isdisjoint(one.robots):
                await one.kill()
                one.kills += 1
                await one.start()
        await fleet.until(lambda state, gone=names: gone.isdisjoint(silent(state)))


def vda_floor(broker: Mosquitto, robots: int, pallets: int) -> dict[str, Any]:
    document = floor(robots, pallets).wire()
    return with_links(document, all_over(document, "vda5050"), broker.url)


@pytest.mark.needs("mosquitto", "aiomqtt")
class TestOverVda5050:
    async def run(
        self,
        broker: Mosquitto,
        document: dict[str, Any],
        made: Sequence[RobotProcess],
        home: Path,
        pallets: int,
        *,
        pace: float,
        kills: int,
        restarts: int,
        may_fall_silent: bool = False,
    ) -> None:
        async with started(made) as processes, live(read_fleet(document), FastClock(pace), home) as fleet:
            over = asyncio.Event()

            async def trouble() -> None:
                await broker_and_robots(broker, processes, kills, restarts)
                over.set()

            async def person_at_the_vehicles() -> None:
                await over.wait()
                if may_fall_silent:
                    await switch_silent_ones_off_and_on(fleet, processes)

            async with asyncio.TaskGroup() as beside:
                walking = beside.create_task(person_at_the_vehicles())
                await run_through(fleet, processes, pallets, trouble())
                walking.cancel()

    @pytest.mark.soak
    async def test_fifty_vehicles_killed_and_a_broker_restarted(self, tmp_path: Path, start_broker: Broker) -> None:
        broker = start_broker()
        document = vda_floor(broker, 50, 100)
        made = vda_processes(document, tmp_path, 4, 5)
        await self.run(broker, document, made, tmp_path, 100, pace=4, kills=12, restarts=4)

    @pytest.mark.needs("node", "npm")
    @pytest.mark.parametrize(
        ("robots", "pallets", "size", "kills", "restarts"),
        [
            # A broker that goes away under a publish can leave the library silent until it is switched off: too long
            # for the gate.
            pytest.param(2, 3, 1, 1, 1, id="two", marks=pytest.mark.soak),
            pytest.param(50, 60, 5, 8, 3, id="fifty", marks=pytest.mark.soak),
        ],
    )
    async def test_the_librarys_agvs_killed_and_a_broker_restarted(
        self,
        robots: int,
        pallets: int,
        size: int,
        kills: int,
        restarts: int,
        tmp_path: Path,
        start_broker: Broker,
        executable: Callable[[str], Path],
        npm_package: Callable[[str, str], Path],
    ) -> None:
        broker = start_broker()
        document = vda_floor(broker, robots, pallets)
        library, node = npm_package(PACKAGE, VERSION), executable("node")
        made = agv_processes(document, library, node, broker.url, 4, size)
        trouble = {"kills": kills, "restarts": restarts}
        await self.run(broker, document, made, tmp_path, pallets, pace=4, may_fall_silent=True, **trouble)


def agv_processes(
    document: dict[str, Any], library: Path, node: Path, broker: str, pace: float, size: int
) -> list[RobotProcess]:
    """AGVs of npm's library, some in each process, where the scene's robots stand."""
    places = {one["id"]: one for one in document["nodes"]}
    robots, made = document["robots"], []
    for at in range(0, len(robots), size):
        part = robots[at : at + size]
        given = [
            {
                "serial": robot["link"]["serial"],
                "node": robot["nodeId"],
                **{key: places[robot["nodeId"]][key] for key in "xy"},
            }
            for robot in part
        ]
        command = [str(node), str(HERE / "vda5050_agvs.js"), str(library), broker, json.dumps(given), str(pace)]
        made.append(RobotProcess(command, [robot["robotId"] for robot in part], ["READY"], subprocess.Popen))
    return made
