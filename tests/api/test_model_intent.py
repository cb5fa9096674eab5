"""Words that a cell's grammar refuses, read by a model: only if asked for, with the scene's names, and shown."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Server, serving

from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.testing.model_replies import Reply, gives
from beforehand.testing.model_servers import FakeOpenAI

pytestmark = pytest.mark.needs("pydantic_ai")
WORDS = "Unless it rains, put the torch to the first two spots like last week."


def goal(action: str, **named: Any) -> dict[str, Any]:
    return {"action": action, "position": None, "routine": None, "tool": None, **named}


def reads(*goals: dict[str, Any], unclear: str = "") -> Reply:
    return gives({"goals": list(goals), "unclear": unclear})


WELDS = reads(*(goal("routine", routine="tack_weld", position=f"Pos_{at}") for at in (1, 2)))


@pytest.fixture
async def model() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI(WELDS) as fake:
        yield fake


@pytest.fixture
async def cell(model: FakeOpenAI, tmp_path: Path) -> AsyncIterator[Server]:
    async with serving(tmp_path, model="openai:reader", model_url=model.url, speed=500) as server:
        await save_scene(server.runtime, None, find_document("weld_star"), activate=True)
        yield server


async def test_a_model_reads_what_the_grammar_refuses_and_shows_how(cell: Server, model: FakeOpenAI) -> None:
    asked = {"scene": "weld_star", "text": WORDS, "model": "configured"}
    plan = await cell.call("POST", "/plans", asked, status=201)
    assert plan["origin"]["model"] == "openai:reader"
    assert plan["notes"][0].startswith("openai:reader read the words as: 1. ")
    assert "Pos_2" in plan["notes"][0]
    assert plan["decision"]["evidence"]["origin"] == {"planner": "cell", "model": "openai:reader", "text": WORDS}
    schema = model.seen[0].body["tools"][0]["function"]["parameters"]
    goal_schema = schema["properties"]["goals"]["items"]["properties"]
    names = [place["name"] if isinstance(place, dict) else place for place in find_document("weld_star")["positions"]]
    assert goal_schema["position"]["anyOf"][0]["enum"] == names
    again = await cell.call("POST", f"/plans/{plan['id']}/regenerate")
    assert (again["version"], again["origin"]["model"]) == (2, "openai:reader")
    assert again["notes"][0] == plan["notes"][0]
    assert len(model.seen) == 1, "what was read is kept, so nobody is asked again"


async def test_an_intent_as_it_is_written_everywhere_else_is_read_too(cell: Server, model: FakeOpenAI) -> None:
    steps = [{"action": "routine", "routine": "tack_weld", "position": f"Pos_{at}"} for at in (1, 2)]
    model.script = (gives({"goal": "sequence", "steps": steps}),)
    plan = await cell.call("POST", "/plans", {"scene": "weld_star", "text": WORDS, "model": "configured"}, status=201)
    assert len(plan["steps"]) == 12
    assert len(model.seen) == 1


async def test_nobody_is_asked_where_the_grammar_understands_or_nobody_says_so(cell: Server, model: FakeOpenAI) -> None:
    understood = {"scene": "weld_star", "text": "weld 1 and 2", "model": "configured"}
    plan = await cell.call("POST", "/plans", understood, status=201)
    assert "model" not in plan["origin"]
    told = await cell.refused("POST", "/plans", {"scene": "weld_star", "text": WORDS}, status=422)
    assert told["code"] == "intent.not_understood"
    assert model.seen == []


async def test_the_builders_errors_go_back_at_most_twice(cell: Server, model: FakeOpenAI) -> None:
    wrong = reads(goal("routine", routine="tack_weld", position="Home"))
    model.script = (wrong, reads(goal("move", position="Nowhere")), WELDS)
    asked = {"scene": "weld_star", "text": WORDS, "model": "openai:other"}
    plan = await cell.call("POST", "/plans", asked, status=201)
    assert plan["origin"]["model"] == "openai:other"
    assert "tack_weld" in model.seen[1].last
    assert "Nowhere" in model.seen[2].last
    model.script = (wrong,)
    told = await cell.refused("POST", "/plans", asked, status=422)
    assert told["code"] == "model.bad_answer"
    assert "asked 3 times" in told["detail"]
    assert len(model.seen) == 6


async def test_a_model_that_is_not_sure_is_no_reason_to_guess(cell: Server, model: FakeOpenAI) -> None:
    model.script = (reads(unclear="Nobody told me about last week."),)
    asked = {"scene": "weld_star", "text": WORDS, "model": "configured"}
    told = await cell.refused("POST", "/plans", asked, status=422)
    assert told["code"] == "intent.not_understood"
    assert "Nobody told me about last week." in told["detail"]


async def test_without_a_model_the_one_asked_for_is_missed(cell_server: Any) -> None:
    async with cell_server() as server:
        asked = {"scene": "weld_star", "text": WORDS, "model": "configured"}
        told = await server.refused("POST", "/plans", asked, status=409)
        assert told["code"] == "model.not_configured"


async def test_a_model_that_nobody_would_ask_is_refused(cell: Server, model: FakeOpenAI) -> None:
    await save_scene(cell.runtime, None, find_document("line_pick_drop"), activate=True)
    asked = {"scene": "line_pick_drop", "text": "move a pallet", "model": "configured"}
    told = await cell.refused("POST", "/plans", asked, status=422)
    assert told["code"] == "plan.model"
    assert "asks no model" in told["detail"]
    assert "POST /drafts" in told["hint"]
    for given in ({"scene": "weld_star", "intent": {"steps": []}}, {"plan": {"steps": [cell.step("a")]}}):
        told = await cell.refused("POST", "/plans", {**given, "model": "configured"}, status=422)
        assert (told["code"], "for words" in told["detail"]) == ("plan.model", True)
    assert model.seen == []
