"""Scenes made live and let rest; and no machine is in two live scenes, whatever its kind and whoever brings it."""

import copy
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import bearer, line, serving

from beforehand.adapters.sim.cell import open_sim_cell
from beforehand.adapters.sim.link import open_sim_link
from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.crafts.cell import controllers
from beforehand.crafts.cell.controllers import register_controller
from beforehand.crafts.cell.core.scene import CONTROLLER_KINDS
from beforehand.crafts.fleet import link_kinds
from beforehand.crafts.fleet.core.check import LINK_KINDS
from beforehand.crafts.fleet.link_kinds import register_link
from beforehand.ports.machines import address_in
from beforehand.server.serve import recover


@pytest.fixture(autouse=True)
def _foreign_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link and a controller as plug-ins bring them, each with options of its own."""
    for kinds, module in ((LINK_KINDS, link_kinds), (CONTROLLER_KINDS, controllers)):
        monkeypatch.setattr(kinds, "_checks", dict(kinds._checks))
        monkeypatch.setattr(module, "_FACTORIES", dict(module._FACTORIES))
    register_link("wire", open_sim_link, check=lambda options: ())
    register_controller("wire", open_sim_cell, check=lambda options: ())
    by_unit = lambda options: f"unit {options['unit']}"  # noqa: E731
    register_link("gateway", open_sim_link, check=lambda options: (), address=by_unit)


def hall(name: str, link: Any) -> dict[str, Any]:
    document = line(name)
    document["robots"][0]["link"] = link
    return document


def cell(name: str, controller: Any) -> dict[str, Any]:
    return {**copy.deepcopy(find_document("weld_star")), "name": name, "controller": controller}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (hall("a", {"kind": "wire", "host": "Robot-7"}), hall("b", {"kind": "wire", "host": "robot-7."})),
        (hall("a", {"kind": "wire", "serial": "7", "host": "x"}), hall("b", {"kind": "wire", "serial": "7"})),
        (
            hall("a", {"kind": "gateway", "host": "g", "unit": 3}),
            hall("b", {"kind": "gateway", "host": "h", "unit": 3}),
        ),
        (cell("a", {"kind": "wire", "url": "opc.tcp://c:1/"}), cell("b", {"kind": "wire", "url": "opc.tcp://C:1"})),
        (cell("a", {"kind": "wire", "host": "m"}), hall("b", {"kind": "wire", "host": "m"})),
    ],
)
async def test_a_machine_is_in_one_live_scene(server: Any, first: Any, second: Any) -> None:
    await server.call("PUT", "/scenes/a", first)
    await server.call("PUT", "/scenes/b", second)
    await server.call("POST", "/scenes/a/activate")
    told = await server.refused("POST", "/scenes/b/activate", status=409)
    assert (told["code"], told["scene"]) == ("machine.shared", "a")
    assert not (await server.call("GET", "/scenes/b"))["active"]
    await server.call("POST", "/scenes/a/activate")
    await server.call("POST", "/scenes/a/deactivate")
    await server.call("POST", "/scenes/b/activate")
    await server.refused("POST", "/scenes/a/activate", status=409)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (hall("a", "sim"), hall("b", "sim")),
        (hall("a", "wire"), hall("b", "wire")),
        (hall("a", {"kind": "wire", "host": "m", "port": 1}), hall("b", {"kind": "wire", "host": "m", "port": 2})),
        (
            hall("a", {"kind": "gateway", "host": "g", "unit": 3}),
            hall("b", {"kind": "gateway", "host": "g", "unit": 4}),
        ),
        (cell("a", "sim"), cell("b", "sim")),
    ],
)
async def test_other_machines_do_not_mind(server: Any, first: Any, second: Any) -> None:
    await save_scene(server.runtime, None, first, activate=True)
    await save_scene(server.runtime, None, second, activate=True)
    assert [scene["active"] for scene in await server.call("GET", "/scenes")] == [True, True]


async def test_what_is_live_counts_and_not_what_was_saved_since(server: Any) -> None:
    await save_scene(server.runtime, None, hall("a", {"kind": "wire", "host": "m"}), activate=True)
    await server.call("PUT", "/scenes/a", hall("a", {"kind": "wire", "host": "other"}))
    await server.call("PUT", "/scenes/b", hall("b", {"kind": "wire", "host": "m"}))
    assert (await server.refused("POST", "/scenes/b/activate", status=409))["code"] == "machine.shared"
    await server.call("POST", "/scenes/a/activate")
    await server.call("POST", "/scenes/b/activate")


def test_an_address_is_what_a_machine_is_known_by() -> None:
    assert address_in({"manufacturer": "M", "serial": "1", "version": "2"}) == address_in(
        {"serial": "1", "manufacturer": "M"}
    )
    assert address_in({"manufacturer": "N", "serial": "1"}) != address_in({"manufacturer": "M", "serial": "1"})
    assert address_in({"b": 1, "a": [2]}) == address_in({"a": [2], "b": 1})


async def test_a_scene_rests_and_stays_so(tmp_path: Path) -> None:
    async with serving(tmp_path, speed=50) as server:
        await save_scene(server.runtime, None, line(), activate=True)
        assert (await server.call("POST", "/scenes/line/deactivate"))["active"] is False
        assert (await server.call("POST", "/scenes/line/deactivate"))["active"] is False
        assert await server.call("GET", "/robots") == []
        state = await server.call("GET", "/state")
        assert (state["fleets"], state["scenes"][0]["active"]) == ([], False)
        [event] = await server.take(1, kinds="sceneDeactivated")
        assert event["says"] == "The scene line rests."
        await server.refused("POST", "/scenes/none/deactivate", status=404)
    async with serving(tmp_path, speed=50) as server:
        await recover(server.runtime, [])
        assert await server.call("GET", "/robots") == []
        await server.call("POST", "/scenes/line/activate")
        assert len(await server.call("GET", "/robots")) == 1


async def test_a_scene_in_which_something_goes_on_does_not_rest(fleet_server: Any) -> None:
    async with fleet_server() as server:
        await server.call("POST", "/robots/RB-01/faults", {"fault": "status5"})
        await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True})
        await server.asked(scene="line")
        told = await server.refused("POST", "/scenes/line/deactivate", status=409)
        assert (told["code"], told["detail"][:14]) == ("fleet.busy", "1 task is unde")


@pytest.mark.parametrize("scene", ["weld_star", "line"])
async def test_a_cell_that_a_run_holds_does_not_rest(cell_server: Any, scene: str) -> None:
    async with cell_server(speed=1.0) as server:
        await save_scene(server.runtime, None, line(), activate=True)
        step = server.step("m", "cell.move", {"scene": "weld_star", "target": "Safe_Pos_1"})
        wait = server.step("w", "ask_person", {"question": "Go on?"})
        plan = await server.plan(wait, {**step, "dependsOn": ["w"]}, scene=scene)
        run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
        told = await server.refused("POST", "/scenes/weld_star/deactivate", status=409)
        assert told["code"] == ("scene.in_use" if scene == "weld_star" else "machine.held")
        await server.call("POST", f"/runs/{run['runId']}/cancel")
        assert (await server.call("POST", "/scenes/weld_star/deactivate"))["active"] is False


async def test_only_admins_let_scenes_rest(guarded: Any) -> None:
    for role, status in (("viewer", 403), ("operator", 403), ("admin", 404)):
        answer = await guarded.http.post("/scenes/x/deactivate", headers=bearer(guarded.tokens[role]))
        guarded.problem(answer, status)


async def test_a_live_scene_that_was_saved_since_says_so_until_it_is_activated_again(server: Any) -> None:
    first = cell("a", "sim")
    await server.call("PUT", "/scenes/a", first)
    assert "changed" not in await server.call("POST", "/scenes/a/activate")
    again = copy.deepcopy(first)
    again["positions"][0]["x"] = 0.5
    assert (await server.call("PUT", "/scenes/a", again))["changed"] is True
    assert (await server.call("PUT", "/scenes/a", again))["changed"] is True
    assert [row.get("changed") for row in (await server.call("GET", "/state"))["scenes"]] == [True]
    assert "changed" not in await server.call("POST", "/scenes/a/activate")
    live = (await server.call("GET", "/events?kinds=sceneActivated&scene=a&limit=1"))[0]
    assert live["data"]["document"]["positions"][0]["x"] == 0.5
    await server.call("PUT", "/scenes/a", first)
    assert "changed" not in await server.call("POST", "/scenes/a/deactivate")


async def test_a_scene_may_be_saved_as_the_text_that_was_checked(server: Any) -> None:
    text = "kind: cell\nname: a\npositions: [{name: Home, x: 0, y: 0, role: home}]\nmoves: []\nroutines: []\n"
    assert (await server.call("POST", "/scenes/check", text))["ok"]
    assert (await server.call("PUT", "/scenes/a", text))["document"]["positions"][0]["name"] == "Home"
    told = await server.refused("PUT", "/scenes/a", "kind: [", status=422)
    assert told["code"] == "document.syntax"
