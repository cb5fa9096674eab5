"""Links by the kind a robot names: the simulator beside a kind that a plug-in brings, live in one scene."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from beforehand.crafts.fleet import link_kinds
from beforehand.crafts.fleet.core.check import LINK_KINDS
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.crafts.fleet.link_kinds import register_link
from beforehand.crafts.fleet.links import open_links
from beforehand.crafts.fleet.testing import ScriptedLink
from beforehand.model.errors import BadInputError, RefusedError
from beforehand.model.machine import options_of
from beforehand.model.reason import Problem
from beforehand.model.robot import GoTarget, Telemetry
from beforehand.ports.plugin import PluginRegistry
from beforehand.ports.robot import LinkRequest
from beforehand.testing import VirtualClock


class Plugin:
    """A plug-in that brings one kind of link, `wire`, and remembers the links it made."""

    def __init__(self) -> None:
        self.requests: list[LinkRequest] = []
        self.links: list[ScriptedLink] = []

    def register(self, plugins: PluginRegistry) -> None:
        register_link("wire", self.open, check=self.check)

    def open(self, request: LinkRequest) -> ScriptedLink:
        self.requests.append(request)
        self.links.append(ScriptedLink())
        return self.links[-1]

    def check(self, options: Mapping[str, Any]) -> Iterator[Problem]:
        if not isinstance(options.get("host"), str):
            yield Problem(code="wire.host", about="", says="host is missing: the robot's address.", path="host")
        for key in set(options) - {"host"}:
            yield Problem(code="scene.unknown_key", about=key, says=f"{key} is not a key here.", path=key)


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Plugin:
    monkeypatch.setattr(LINK_KINDS, "_checks", dict(LINK_KINDS._checks))
    monkeypatch.setattr(link_kinds, "_FACTORIES", dict(link_kinds._FACTORIES))
    plugin = Plugin()
    plugin.register(PluginRegistry("wire"))
    return plugin


def mixed(*links: Any) -> dict[str, Any]:
    """A robot for each of these links, RB-01 and on, and one pallet to move."""
    robots = [{"robotId": f"RB-0{at}", "nodeId": "LM2", "link": link} for at, link in enumerate(links, start=1)]
    return {
        "kind": "fleet",
        "name": "mixed",
        "nodes": [{"id": "LM1", "x": 0, "y": 0}, {"id": "LM2", "x": 8, "y": 0}, {"id": "LM3", "x": 16, "y": 0}],
        "edges": [{"from": "LM1", "to": "LM2"}, {"from": "LM2", "to": "LM3"}],
        "worksites": [
            {"worksiteId": "PICK_01", "worksiteType": "pickup", "entryNodeId": "LM1", "occupancy": "filled"},
            {"worksiteId": "DROP_01", "worksiteType": "dropoff", "entryNodeId": "LM3", "occupancy": "empty"},
        ],
        "robots": robots,
        "streams": [{"streamId": "out", "params": {"pickGroup": ["PICK_01"], "dropGroup": ["DROP_01"]}}],
    }


def files_in(home: Path) -> list[str]:
    return sorted(file.relative_to(home).as_posix() for file in home.rglob("*.json"))


WIRE = {"kind": "wire", "host": "robot-2"}


def test_a_plug_ins_kind_is_known_and_its_check_judges_the_scene(plugin: Plugin) -> None:
    assert {"robokit", "sim", "vda5050", "wire"} <= set(LINK_KINDS.known())
    assert read_fleet(mixed("sim", WIRE)).robots[1].link == WIRE
    with pytest.raises(BadInputError) as refused:
        read_fleet(mixed({"kind": "wire", "hots": "robot-1"}, "wire", {"kind": "wird"}))
    found = {problem.path: problem for problem in refused.value.problems}
    assert set(found) == {"robots[0].link.hots", "robots[0].link.host", "robots[1].link.host", "robots[2].link.kind"}
    assert found["robots[0].link.host"].says == "robots[0].link.host: host is missing: the robot's address."
    assert found["robots[2].link.kind"].nearest[-2:] == ("vda5050", "wire")


def test_without_the_plug_in_its_kind_is_unknown() -> None:
    assert "wire" not in LINK_KINDS.known()
    with pytest.raises(BadInputError, match="1 problem"):
        read_fleet(mixed(WIRE))


def test_a_scene_with_a_kind_survives_its_own_wire_form(plugin: Plugin) -> None:
    scene = read_fleet(mixed("sim", WIRE))
    assert read_fleet(json.loads(json.dumps(scene.wire()))) == scene


async def test_each_kind_gets_one_link_for_all_its_robots(plugin: Plugin, tmp_path: Path) -> None:
    scene = read_fleet(mixed(WIRE, "sim", {**WIRE, "host": "robot-3"}))
    link = open_links(scene, clock=VirtualClock(), speed=2, keep_in=tmp_path)
    [request] = plugin.requests
    assert [robot.robot_id for robot in request.robots] == ["RB-01", "RB-03"]
    assert [options_of(robot.link)["host"] for robot in request.robots] == ["robot-2", "robot-3"]
    assert (request.scene, request.speed, request.kept) == (scene, 2, None)
    assert link.simulated_part("RB-01") is None
    assert link.simulated_part("RB-02") is not None
    plugin.links[0].state["RB-03"] = Telemetry("RB-03", 0, 1, node_id="LM3")
    assert await link.read("RB-03") == Telemetry("RB-03", 0, 1, node_id="LM3")
    assert (await link.read("RB-02") or Telemetry("", 0, 0)).node_id == "LM2"
    await link.close()


async def test_each_kind_keeps_its_own_things_in_the_home(plugin: Plugin, tmp_path: Path) -> None:
    scene = read_fleet(mixed("sim", WIRE))
    clock = VirtualClock()
    link = open_links(scene, clock=clock, speed=1, keep_in=tmp_path)
    await link.send(GoTarget("k", "RB-01", {"id": "LM3"}))
    plugin.requests[0].keep({"session": 7})
    await link.close()
    assert files_in(tmp_path) == ["robots/mixed.json", "robots/wire/mixed.json"]
    await clock.advance(60)
    again = open_links(scene, clock=clock, speed=1, keep_in=tmp_path)
    assert plugin.requests[1].kept == {"session": 7}
    assert (await again.read("RB-01") or Telemetry("", 0, 0)).node_id == "LM3"
    await again.close()


@pytest.mark.parametrize("kept", ["nonsense", "[]", '{"fleet": {"version": 1}}', '{"fleet": 3}'])
async def test_kept_things_that_cannot_be_read_put_robots_where_the_scene_does(tmp_path: Path, kept: str) -> None:
    file = tmp_path / "robots" / "mixed.json"
    file.parent.mkdir()
    file.write_text(kept)
    link = open_links(read_fleet(mixed("sim")), clock=VirtualClock(), speed=1, keep_in=tmp_path)
    assert (await link.read("RB-01") or Telemetry("", 0, 0)).node_id == "LM2"
    await link.close()


async def test_a_home_that_cannot_be_written_does_not_stop_the_robots(tmp_path: Path) -> None:
    (tmp_path / "robots").write_text("a file where the folder should be")
    link = open_links(read_fleet(mixed("sim")), clock=VirtualClock(), speed=1, keep_in=tmp_path)
    await link.send(GoTarget("k", "RB-01", {"id": "LM3"}))
    await link.close()
    assert (tmp_path / "robots").is_file()


async def test_a_mixed_fleet_works_with_what_answers(homestead: Any, plugin: Plugin) -> None:
    async with homestead.open(mixed("sim", WIRE)) as runtime:
        await homestead.until(runtime, "taskUpdated", status="completed")
        plugin.links[0].fail(ConnectionResetError("gone"))
        fleets = runtime.service(Fleets)
        await fleets.patch_worksite("PICK_01", "filled", None)
        await fleets.patch_worksite("DROP_01", "empty", None)
        await homestead.until(runtime, "taskUpdated", status="completed", taskId="mixed-t2")
        assert {event.data["robotId"] for event in homestead.events("palletPicked")} == {"RB-01"}
    assert plugin.links[0].closed == 1


async def test_only_simulated_robots_can_be_told_to_fail(homestead: Any, plugin: Plugin) -> None:
    async with homestead.open(mixed("sim", WIRE)) as runtime:
        await homestead.until(runtime, "robotUpdated")
        fleets = runtime.service(Fleets)
        with pytest.raises(RefusedError, match="RB-02 is not simulated") as refused:
            fleets.inject("RB-02", {"fault": "offline"}, None)
        assert refused.value.code == "robot.real"
        assert fleets.inject("RB-01", {"fault": "offline"}, None)["robotId"] == "RB-01"


async def test_a_robot_on_a_plug_ins_link_is_ordered_over_it(homestead: Any, plugin: Plugin) -> None:
    def at_node(request: LinkRequest) -> ScriptedLink:
        link = plugin.open(request)
        for robot in request.robots:
            link.state[robot.robot_id] = Telemetry(robot.robot_id, 0, 1, node_id=robot.node_id, battery=0.9)
        return link

    register_link("wire", at_node, check=plugin.check)
    async with homestead.open(mixed(WIRE)) as runtime:
        await homestead.until(runtime, "taskUpdated", status="active")
        await homestead.clock.settle()
        orders = [command for command in plugin.links[0].told if isinstance(command, GoTarget)]
        assert [(order.robot_id, order.payload["id"]) for order in orders] == [("RB-01", "LM1")]
