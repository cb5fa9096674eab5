"""Proposals after a failure: made by a model, tried before they are shown, and a person's to accept."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Server, serving

from beforehand.testing.model_replies import gives, turned_away
from beforehand.testing.model_servers import FakeOpenAI

pytestmark = pytest.mark.needs("pydantic_ai")


def proposal(verb: str, *steps: dict[str, Any], **args: Any) -> dict[str, Any]:
    listed = [{"name": name, "json_value": json.dumps(value)} for name, value in args.items()]
    return {"verb": verb, "why": f"Because {verb} helps.", "args": listed, "steps": list(steps)}


def written(name: str, tool: str, **args: Any) -> dict[str, Any]:
    listed = [{"name": key, "json_value": json.dumps(value)} for key, value in args.items()]
    return {
        "id": name,
        "description": f"Call {tool}.",
        "tool": tool,
        "args": listed,
        "depends_on": [],
        "requires_approval": False,
        "when": "",
        "on_failure": "continue",
    }


@pytest.fixture
async def model() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
async def office(model: FakeOpenAI, tmp_path: Path) -> AsyncIterator[Server]:
    async with serving(tmp_path, model="openai:helper", model_url=model.url) as server:
        (server.workspace / "notes.txt").write_text("Milk.\n")
        yield server


async def failed(office: Server) -> Any:
    """A run whose reading fails, and the decision that waits."""
    return await office.start(
        office.step("read", "read_file", {"path": "note.txt"}, onFailure="ask"),
        office.step("after", dependsOn=["read"]),
    )


async def advised(office: Server, run: Any) -> Any:
    async for event in office.events(kinds="proposalMade", run=run["runId"]):
        assert event["says"].startswith("There is a proposal")
        return event["data"]
    raise AssertionError("Nobody proposed anything.")


async def test_proposals_stand_beside_the_question_and_one_is_accepted(office: Server, model: FakeOpenAI) -> None:
    insert = written("write_it", "write_file", path="note.txt", content="Bread.")
    model.script = (
        gives({"proposals": [proposal("retry", path="notes.txt"), proposal("insert", insert), proposal("skip")]}),
    )
    run = await failed(office)
    decision = await advised(office, run)
    assert [one["verb"] for one in decision["evidence"]["proposals"]] == ["retry", "insert", "skip"]
    assert {one["model"] for one in decision["evidence"]["proposals"]} == {"openai:helper"}
    [waiting] = await office.call("GET", "/inbox")
    assert waiting["evidence"]["proposals"] == decision["evidence"]["proposals"]
    assert waiting["status"] == "open"
    first = waiting["evidence"]["proposals"][0]
    assert first["value"] == {"args": {"path": "notes.txt"}}
    assert "note.txt" in model.seen[0].last
    assert '"error"' in model.seen[0].last.split("<data failure")[1].split("</data")[0], "what failed is data"
    await office.call("POST", f"/inbox/{waiting['id']}", {"verb": first["verb"], "value": first["value"]})
    done = await office.ended(run["runId"])
    assert done["status"] == "completed"
    assert done["steps"][0]["result"]["value"] == "Milk.\n"


async def test_an_inserted_step_is_taken_as_it_was_proposed(office: Server, model: FakeOpenAI) -> None:
    insert = written("write_it", "write_file", path="note.txt", content="Bread.")
    model.script = (gives({"proposals": [proposal("insert", insert)]}),)
    run = await failed(office)
    decision = await advised(office, run)
    [first] = decision["evidence"]["proposals"]
    await office.call("POST", f"/inbox/{decision['id']}", {"verb": first["verb"], "value": first["value"]})
    done = await office.ended(run["runId"])
    assert [(step["id"], step["status"]) for step in done["steps"]] == [
        ("write_it", "completed"),
        ("read", "completed"),
        ("after", "completed"),
    ]


async def test_a_proposal_that_would_not_hold_is_told_and_never_shown(office: Server, model: FakeOpenAI) -> None:
    wrong = [
        proposal("retry", file="notes.txt"),
        proposal("insert", written("after", "write_file", path="note.txt", content="x")),
        proposal("retry", path="$nobody"),
    ]
    model.script = (gives({"proposals": wrong}), gives({"proposals": [wrong[0], proposal("abort")]}))
    decision = await advised(office, await failed(office))
    assert [one["verb"] for one in decision["evidence"]["proposals"]] == ["abort"]
    told = model.seen[1].last
    assert "'file'" in told
    assert "after" in told
    assert "nobody" in told
    assert len(model.seen) == 2


async def test_without_an_answer_nothing_changes(office: Server, model: FakeOpenAI) -> None:
    model.script = (turned_away(500),)
    run = await failed(office)
    decision = await office.asked(runId=run["runId"])
    await model.asked.wait()
    assert "proposals" not in decision["evidence"]
    await office.call("POST", f"/inbox/{decision['id']}", {"verb": "skip"})
    assert (await office.ended(run["runId"]))["status"] == "completed"


async def test_a_proposal_that_comes_too_late_opens_nothing_again(office: Server, model: FakeOpenAI) -> None:
    import asyncio

    from beforehand.testing.model_replies import stalls

    going_on = asyncio.Event()
    model.script = (stalls(going_on, gives({"proposals": [proposal("abort")]})),)
    run = await failed(office)
    decision = await office.asked(runId=run["runId"])
    await model.asked.wait()
    await office.call("POST", f"/inbox/{decision['id']}", {"verb": "skip"})
    assert (await office.ended(run["runId"]))["status"] == "completed"
    going_on.set()
    async for event in office.events(kinds="modelAnswered"):
        assert event["about"]["decisionId"] == decision["id"]
        break
    assert await office.call("GET", "/inbox") == []
    assert (await office.call("GET", f"/runs/{run['runId']}"))["status"] == "completed"


async def test_without_a_model_nobody_is_asked(server: Server) -> None:
    run = await failed(server)
    decision = await server.asked(runId=run["runId"])
    assert decision["verbs"] == ["retry", "skip", "insert", "abort"]
    events = await server.call("GET", "/events?limit=1000")
    assert not {event["kind"] for event in events} & {"modelAsked", "proposalMade"}
