"""The example craft over HTTP: its scenes, words, decision, state, route and sentences, and a crash in its tool."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from beforehand_example_craft.greenhouses import Greenhouses
from beforehand_example_craft.tool import Water

from beforehand.server.serve import recover


@pytest.fixture
def document(repository: Path) -> Any:
    return yaml.safe_load((repository / "examples" / "craft" / "glasshouse.yaml").read_text(encoding="utf-8"))


@pytest.fixture
async def glasshouse(serve_with: Callable[..., Any], document: Any) -> AsyncIterator[Any]:
    """A server with a live greenhouse in which time passes a thousand times as fast."""
    async with serve_with(speed=1000.0) as server:
        await server.call("PUT", "/scenes/glasshouse", document)
        await server.call("POST", "/scenes/glasshouse/activate")
        yield server


async def planned(server: Any, words: str) -> Any:
    return await server.call("POST", "/plans", {"scene": "glasshouse", "text": words}, status=201)


async def started(server: Any, words: str) -> str:
    plan = await planned(server, words)
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    return str(run["runId"])


async def test_from_words_over_a_review_to_a_watered_bed(glasshouse: Any) -> None:
    plan = await planned(glasshouse, "water bed 3 for 10 seconds, then bed 1 for 4 s")
    (review,) = await glasshouse.call("GET", "/inbox")
    calls = review["evidence"]["steps"]
    assert [call["description"] for call in calls] == ["Water bed 3 for 10 s", "Water bed 1 for 4 s"]
    assert {(call["effect"], call.get("mismatch")) for call in calls} == {("physical", None)}
    await glasshouse.call("POST", f"/inbox/{review['id']}", {"verb": "start"})
    (run,) = await glasshouse.call("GET", "/runs")
    assert run["planId"] == plan["id"]
    assert (await glasshouse.ended(run["runId"]))["status"] == "completed"
    shown = await glasshouse.call("GET", "/greenhouses/glasshouse")
    assert shown["tankL"] == 33
    assert [bed["wateredL"] for bed in shown["beds"]] == [2, 0, 5]
    assert (await glasshouse.call("GET", "/state"))["greenhouses"] == [shown]
    told = await glasshouse.refused("GET", "/greenhouses/orangery", status=404)
    assert told["detail"] == "Unknown greenhouse 'orangery'. Known greenhouses: glasshouse."


async def test_what_it_refuses_has_the_one_shape(glasshouse: Any, document: Any) -> None:
    asked = {"scene": "glasshouse", "text": "water bed 3 for 10 seconds and sing"}
    told = await glasshouse.refused("POST", "/plans", asked, status=422)
    assert (told["code"], told["notUnderstood"]) == ("intent.not_understood", ["sing"])
    told = await glasshouse.refused("POST", "/plans", {**asked, "text": "water bed 7 for 1 s"}, status=422)
    assert [(one["path"], one["nearest"]) for one in told["problems"]] == [("steps[0].args.bed", ["1", "2", "3"])]
    told = await glasshouse.refused("PUT", "/scenes/glasshouse", {**document, "tankL": "full"}, status=422)
    assert [one["path"] for one in told["problems"]] == ["tankL"]
    assert await glasshouse.call("GET", "/inbox") == []


async def test_its_question_stands_in_the_inbox_and_its_owner_gets_the_answer(glasshouse: Any) -> None:
    await glasshouse.ended(await started(glasshouse, "water bed 1 for 64 seconds"))
    (asked,) = await glasshouse.call("GET", "/inbox")
    assert asked["title"] == "The tank of glasshouse is down to 8 l. Was it refilled?"
    assert (await glasshouse.call("GET", "/state?scene=glasshouse"))["decisions"] == [asked]
    told = await glasshouse.refused("POST", f"/inbox/{asked['id']}", {"verb": "drink"}, status=422)
    assert told["nearest"] == ["leave", "refilled"]
    run = await glasshouse.ended(await started(glasshouse, "water bed 2 for 20 seconds"))
    assert run["steps"][0]["result"]["error"] == "Bed 2 needs 10 l, and the tank holds 8 l. Refill it."
    answered = await glasshouse.call("POST", f"/inbox/{asked['id']}", {"verb": "refilled"})
    assert (answered["status"], answered["answer"]["verb"]) == ("answered", "refilled")
    assert (await glasshouse.call("GET", "/greenhouses/glasshouse"))["tankL"] == 40


async def test_left_as_it_is_the_tank_is_asked_about_again(glasshouse: Any) -> None:
    await glasshouse.ended(await started(glasshouse, "water bed 1 for 64 seconds"))
    (first,) = await glasshouse.call("GET", "/inbox")
    await glasshouse.call("POST", f"/inbox/{first['id']}", {"verb": "leave"})
    await glasshouse.ended(await started(glasshouse, "water bed 1 for 2 seconds"))
    (second,) = await glasshouse.call("GET", "/inbox")
    assert (second["id"] != first["id"], second["evidence"]) == (True, {"tankL": 7, "lowL": 10})


async def test_its_events_carry_its_sentences(glasshouse: Any) -> None:
    run_id = await started(glasshouse, "water bed 1 for 64 seconds")
    await glasshouse.ended(run_id)
    (asked,) = await glasshouse.call("GET", "/inbox")
    await glasshouse.call("POST", f"/inbox/{asked['id']}", {"verb": "refilled"})
    (began,) = await glasshouse.take(1, run=run_id, kinds="runStarted")
    watered, refilled = await glasshouse.take(2, kinds="bedWatered,tankRefilled")
    assert watered["says"] == "Bed 1 of glasshouse gets 32 l; 8 l are left."
    assert refilled["says"] == "The tank of glasshouse is full again: 40 l."
    assert watered["correlationId"] == began["correlationId"]


@pytest.mark.parametrize(("place", "name"), [(Water, "run"), (Greenhouses, "record")], ids=["before", "after"])
async def test_a_crash_before_or_after_the_valve_opens_is_resolved_by_the_probe(
    serve_with: Callable[..., Any], document: Any, monkeypatch: pytest.MonkeyPatch, place: type, name: str
) -> None:
    """Closing a runtime leaves the log as a crash would: it says that the step began, and not how it ended."""
    reached = asyncio.Event()

    async def hang(*args: Any) -> None:
        reached.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(place, name, hang)
        async with serve_with() as server:
            await server.call("PUT", "/scenes/glasshouse", document)
            run_id = await started(server, "water bed 2 for 0.5 seconds")
            async with asyncio.timeout(30):
                await reached.wait()
    async with serve_with() as server:
        assert (await server.call("GET", f"/runs/{run_id}"))["steps"][0]["status"] == "running"
        await recover(server.runtime, ())
        run = await server.ended(run_id)
        assert (run["status"], run["steps"][0]["result"]["value"]) == ("completed", {"bed": 2, "litres": 0.25})
        assert (await server.call("GET", "/greenhouses/glasshouse"))["tankL"] == 39.75
        kinds = [event.kind for event in await server.runtime.store.events()]
        assert kinds.count("bedWatered") == 1
        assert await server.call("GET", "/inbox") == []
