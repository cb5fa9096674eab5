"""What leads to a robot, over HTTP: simulated, on the wire, gone, and in the hands of somebody else."""

from typing import Any

from tests.api.conftest import line

from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.crafts.fleet.wire_testing import FastClock, OnTheWire, robots_on_the_wire


def on_the_wire() -> Any:
    return robots_on_the_wire(read_fleet(line(park=True)), FastClock(20))


async def status_is(server: Any, status: str) -> None:
    await server.until(lambda: server.runtime.service(Fleets).state_of("line").robots["RB-01"].status == status)


async def test_a_simulated_robot_says_that_it_is_one(fleet_server: Any) -> None:
    async with fleet_server() as server:
        told = await server.call("GET", "/robots/RB-01/link")
        assert told == {"robotId": "RB-01", "scene": "line", "kind": "sim", "says": "RB-01 is simulated."}
        await server.refused("GET", "/robots/RB-9/link", status=404)


async def test_a_robot_on_the_wire_says_where_it_is_since_when_and_who_has_control(fleet_server: Any) -> None:
    wire: OnTheWire
    async with on_the_wire() as wire, fleet_server(wire.scene.wire()) as server:
        await server.call("POST", "/robots/RB-01/park")
        await server.until(lambda: wire.robots["RB-01"].holder != "")
        told = await server.call("GET", "/robots/RB-01/link")
        assert (told["kind"], told["says"], told["answers"]) == ("robokit", "RB-01 answers.", True)
        assert told["at"] == f"127.0.0.1, port {wire.robots['RB-01'].ports['status']}"
        assert told["control"] == "beforehand"
        assert told["sinceTsMs"] > 0
        assert "trouble" not in told


async def test_a_robot_that_somebody_else_has_and_one_that_is_gone_say_so(fleet_server: Any) -> None:
    wire: OnTheWire
    async with on_the_wire() as wire:
        robot = wire.robots["RB-01"]
        robot.holder = "Roboshop"
        async with fleet_server(wire.scene.wire()) as server:
            await server.until(lambda: server.runtime.service(Fleets).state_of("line").seen["RB-01"].heard)
            told = await server.call("GET", "/robots/RB-01/link")
            assert told["control"] == "Roboshop"
            await robot.close()
            await status_is(server, "offline")
            told = await server.call("GET", "/robots/RB-01/link")
            assert (told["says"], told["answers"]) == ("RB-01 does not answer.", False)
            assert "cannot be reached: nothing listens on this port." in told["trouble"]
            assert told["troubleTsMs"] >= told["sinceTsMs"]
            assert "control" not in told
