"""Intents over HTTP: what a scene understands of words, corrected before anything is planned."""

from typing import Any

import pytest
from tests.api.conftest import Server

from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene

CELL, FLEET, HOME = "weld_star", "cross_dock", "apartment"


@pytest.fixture
async def scenes(server: Server) -> Server:
    for name in (CELL, FLEET, HOME):
        await save_scene(server.runtime, None, find_document(name), activate=name != FLEET)
    return server


async def read(server: Server, scene: str, **asked: Any) -> Any:
    return await server.call("POST", "/intents", {"scene": scene, **asked})


async def test_words_for_a_cell_are_read_piece_by_piece_and_nothing_is_planned(scenes: Server) -> None:
    told = await read(scenes, CELL, text="weld 1 and 2, then go home")
    assert [step["says"] for step in told["steps"]] == ["Tack Weld at Pos_1", "Tack Weld at Pos_2", "Move to Home"]
    assert [step["text"] for step in told["steps"]] == ["weld 1 and 2", "weld 1 and 2", "go home"]
    assert [step["action"] for step in told["intent"]["steps"]] == ["routine", "routine", "move"]
    assert await scenes.call("GET", "/plans") == []
    assert await scenes.call("GET", "/inbox") == []


async def test_a_corrected_intent_is_read_again_and_planned_as_it_is(scenes: Server) -> None:
    told = await read(scenes, CELL, text="weld 1")
    [step] = told["intent"]["steps"]
    routine = next(one for one in told["stepSchema"]["oneOf"] if one["properties"]["action"]["const"] == "routine")
    assert routine["properties"]["position"]["enum"] == ["Pos_1", "Pos_2", "Pos_3"]
    again = await read(scenes, CELL, intent={"steps": [{**step, "position": "Pos_3"}]})
    assert [one["says"] for one in again["steps"]] == ["Tack Weld at Pos_3"]
    plan = await scenes.call("POST", "/plans", {"scene": CELL, "intent": again["intent"]}, status=201)
    assert plan["origin"]["intent"] == again["intent"]
    assert any(one["goal"]["says"] == "Tack Weld at Pos_3" for one in plan["steps"])


async def test_a_correction_that_cannot_be_says_where(scenes: Server) -> None:
    intent = {"steps": [{"action": "routine", "routine": "tack_weld", "position": "Pos_4"}]}
    told = await scenes.refused("POST", "/intents", {"scene": CELL, "intent": intent}, status=422)
    assert [problem["path"] for problem in told["problems"]] == ["steps[0].position"]


async def test_a_fleet_and_a_home_read_too(scenes: Server) -> None:
    fleet = await scenes.call("GET", f"/scenes/{FLEET}")
    robot = fleet["document"]["robots"][0]["robotId"]
    told = await read(scenes, FLEET, text=f"send {robot} to charge")
    assert told["intent"] == {"steps": [{"action": "charge", "robotId": robot}]}
    assert told["steps"] == [{"says": f"Send {robot} to charge"}]
    assert (await read(scenes, FLEET, intent=told["intent"]))["intent"] == told["intent"]
    errands = await read(scenes, HOME, text="bring cup1 to table1, then sit on bed1")
    assert errands["intent"] == {"steps": [{"goal": "bring cup1 to table1"}, {"goal": "sit on bed1"}]}
    plan = await scenes.call("POST", "/plans", {"scene": HOME, "intent": errands["intent"]}, status=201)
    assert [step["args"]["goal"] for step in plan["steps"]] == ["bring cup1 to table1", "sit on bed1"]


@pytest.mark.parametrize("scene", [CELL, FLEET, HOME])
async def test_what_is_not_understood_is_refused_as_planning_refuses_it(scenes: Server, scene: str) -> None:
    asked = {"scene": scene, "text": "perhaps do something nice"}
    told = await scenes.refused("POST", "/intents", asked, status=422)
    planned = await scenes.refused("POST", "/plans", asked, status=422)
    assert (told["detail"], told["code"]) == (planned["detail"], planned["code"])
    assert told["notUnderstood"]


async def test_neither_words_nor_intent_or_an_unknown_scene_is_refused(scenes: Server) -> None:
    await scenes.refused("POST", "/intents", {"scene": CELL}, status=422)
    await scenes.refused("POST", "/intents", {"scene": "nowhere", "text": "weld 1"}, status=422)
    told = await scenes.refused("POST", "/intents", {"scene": CELL, "text": "x?", "model": "configured"}, status=409)
    assert told["code"] == "model.not_configured"
    told = await scenes.refused("POST", "/intents", {"scene": CELL, "text": "x?", "model": "gpt-5"}, status=422)
    assert told["code"] == "model.bad_name"
