"""Questions over HTTP: asked, followed as events, answered with a chart or refused; by rules, by a model."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Server, serving

from beforehand.crafts.rounds.core.wire import to_wire
from beforehand.crafts.rounds.core.words import PlannedInputRef, PlannedSubGoal, PlannerDecision
from beforehand.crafts.rounds.questions import Questions
from beforehand.model.event import Event
from beforehand.testing.model_replies import Reply, Seen, dies, gives, says, turned_away
from beforehand.testing.model_servers import FakeAnthropic, FakeOpenAI


async def asked(server: Server, text: str, **more: Any) -> Any:
    """A question once it is over."""
    question = await server.call("POST", "/questions", {"text": text, **more}, status=202)
    async with asyncio.timeout(30):
        await server.runtime.service(Questions).until_over(question["questionId"])
    return await server.call("GET", f"/questions/{question['questionId']}")


async def test_a_question_is_answered_with_its_query_and_chart(server: Server) -> None:
    plan = await server.plan(server.step("a"), name="Tiny")
    await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    question = await asked(server, "runs per hour today")
    assert question["status"] == "done", question
    path = f"/questions/{question['questionId']}"
    chart = await server.http.get(f"{path}/chart")
    assert chart.headers["content-type"] == "image/svg+xml"
    assert chart.text.startswith("<svg")
    replay = await server.call("GET", f"{path}/replay")
    assert replay["question"] == question["question"]
    [listed] = await server.call("GET", "/questions")
    assert listed["questionId"] == question["questionId"]
    assert await server.call("GET", "/questions?open=true") == []
    events = await server.call("GET", "/events?limit=200")
    kinds = [event["kind"] for event in events if event["about"].get("questionId") == question["questionId"]]
    assert kinds[0] == "questionAsked"
    assert kinds[-1] == "questionFinished"
    assert all(event["says"] for event in events)


async def test_many_questions_at_once_are_all_answered(server: Server) -> None:
    questions = await asyncio.gather(*(asked(server, "how many events are there") for _ in range(16)))
    assert {question["status"] for question in questions} == {"done"}


async def test_pages_say_where_they_are_and_which_query_made_them(server: Server) -> None:
    runs = [{"runId": f"r{number:02}", "planId": "p1", "status": "running"} for number in range(25)]
    await server.runtime.store.append(
        [Event("runStarted", {"runId": one["runId"]}, one, 1_000_000 - at * 1000) for at, one in enumerate(runs)]
    )
    page = await asked(server, "show me 8 runs")
    assert page["answer"].startswith("25 runs; these are 1 to 8.")
    pages = (("next page", "9 to 16", "r08"), ("next 3", "17 to 19", "r16"), ("next 10", "20 to 25", "r19"))
    for text, where, first in pages:
        page = await asked(server, text, follows=page["questionId"])
        shown = page["sub_goals"][-1]["outputs"]["formatted_results"]
        assert where in page["answer"]
        assert shown["rows"][0][0] == first
        assert shown["query"]["body"]["from"] == int(where.split()[0]) - 1
    over = await asked(server, "next page", follows=page["questionId"])
    assert over["reason"] == "There is no next page: everything has been shown."


async def test_what_is_unclear_is_asked_back_and_its_answer_goes_on(server: Server) -> None:
    question = await server.call("POST", "/questions", {"text": "how many pallets today"}, status=202)
    async with asyncio.timeout(30):
        while not question.get("waitsFor"):
            await asyncio.sleep(0.02)
            question = await server.call("GET", f"/questions/{question['questionId']}")
    [decision] = question["waitsFor"]
    await server.call("POST", f"/inbox/{decision}", {"verb": "answer", "value": "dropped"})
    async with asyncio.timeout(30):
        await server.runtime.service(Questions).until_over(question["questionId"])
    told = await server.call("GET", f"/questions/{question['questionId']}")
    assert (told["status"], told["answer"].splitlines()[0]) == ("done", "0 pallets.")


async def test_what_is_being_answered_is_in_the_state_until_it_is(server: Server) -> None:
    question = await server.call("POST", "/questions", {"text": "duration per robot"}, status=202)
    decision = await server.asked(questionId=question["questionId"])
    state = await server.call("GET", "/state")
    assert [one["questionId"] for one in state["questions"]] == [question["questionId"]]
    assert decision["about"]["questionId"] == question["questionId"]
    await server.call("POST", f"/questions/{question['questionId']}/cancel")
    assert (await server.call("GET", "/state"))["questions"] == []
    assert (await server.call("GET", f"/state?at={state['seq']}"))["questions"] != []


async def test_what_cannot_be_is_refused_with_a_sentence(server: Server) -> None:
    await server.refused("POST", "/questions", {}, status=422)
    await server.refused("POST", "/questions", {"text": "x", "maxRounds": 0}, status=422)
    await server.refused("GET", "/questions/none", status=404)
    await server.refused("POST", "/questions", {"text": "next page", "follows": "none"}, status=404)
    told = await server.refused("POST", "/questions", {"text": "x", "model": "openai:any"}, status=409)
    assert told["code"].startswith("model.")
    question = await asked(server, "how do I add a token?")
    path = f"/questions/{question['questionId']}"
    await server.refused("POST", f"{path}/cancel", status=409)
    await server.refused("GET", f"{path}/chart", status=404)


def planned(seen: Seen) -> Reply:
    """What a model would decide that reads its prompt: ask the help desk, then be done."""
    if "common_helpdesk" not in seen.last:
        helped = PlannedSubGoal(worker="common_helpdesk", description="Ask.", goal_type="deliverable")
        return gives(to_wire(PlannerDecision(action="continue", reasoning="Help.", sub_goals=(helped,))))
    answer = {"help": PlannedInputRef(from_sub_goal=1, slot="help_answer")}
    return gives(to_wire(PlannerDecision(action="done", reasoning="There it is.", synthesis_inputs=answer)))


def thinks(seen: Seen) -> Reply:
    return planned(seen) if "Workers:" in seen.system else says("Use beforehand token add.")


@pytest.fixture(params=[FakeOpenAI, FakeAnthropic])
async def model(request: Any) -> AsyncIterator[Any]:
    async with request.param(thinks) as fake:
        fake.provider = "openai" if request.param is FakeOpenAI else "anthropic"
        yield fake


@pytest.fixture
async def thinking(model: Any, tmp_path: Path) -> AsyncIterator[Server]:
    flags = {"model": f"{model.provider}:some-model", "model_url": model.url, "model_key": "sk-this-is-a-secret-key"}
    async with serving(tmp_path, **flags) as server:
        yield server


@pytest.mark.needs("pydantic_ai")
async def test_a_model_plans_and_answers(thinking: Server, model: Any) -> None:
    question = await asked(thinking, "how do I add a token?", model=str(thinking.runtime.settings["model"]))
    assert (question["status"], question["answer"]) == ("done", "Use beforehand token add."), question
    assert [each["worker"] for each in question["sub_goals"]] == ["common_helpdesk"]
    assert "Context from F01" not in model.seen[-1].last
    assert "sk-this-is-a-secret-key" not in str(await thinking.call("GET", "/events?limit=500"))


@pytest.mark.needs("pydantic_ai")
@pytest.mark.parametrize("script", [[dies()], [turned_away(401)], [gives({"action": "dance"})]], ids=str)
async def test_a_model_that_fails_ends_in_a_clear_state(thinking: Server, model: Any, script: Any) -> None:
    model.script = script
    question = await asked(thinking, "how do I add a token?", model=str(thinking.runtime.settings["model"]))
    assert question["status"] == "failed"
    assert question["reason"].startswith("The planner failed:")


def writes_query(seen: Seen) -> Reply:
    """A model that plans by the workers' preconditions, and writes a wrong field first."""
    if "Indexes:" in seen.system:
        field = "status" if "That cannot run" in seen.last else "statu"
        body = json.dumps({"size": 0, "query": {"term": {field: "completed"}}})
        return gives({"index": "runs", "body_json": body, "query_summary": "Runs that are completed."})
    if "Workers:" not in seen.system:
        return says("One run got done.")
    done = [
        name for name in ("metadata_lookup", "es_query_gen", "es_query_exec", "show_results") if f"({name}" in seen.last
    ]
    wiring = {
        0: ("metadata_lookup", {}),
        1: ("es_query_gen", {"analysis_result": (1, "analysis_result")}),
        2: ("es_query_exec", {"es_query": (2, "es_query")}),
        3: ("show_results", {"es_results": (3, "es_results")}),
    }
    if len(done) == 4:
        answer = {"results": PlannedInputRef(from_sub_goal=4, slot="formatted_results")}
        return gives(to_wire(PlannerDecision(action="done", reasoning="x", synthesis_inputs=answer)))
    worker, wires = wiring[len(done)]
    inputs = {name: PlannedInputRef(from_sub_goal=id, slot=slot) for name, (id, slot) in wires.items()}
    goal = PlannedSubGoal(worker=worker, description="x", inputs=inputs, goal_type="deliverable")
    return gives(to_wire(PlannerDecision(action="continue", reasoning="x", sub_goals=(goal,))))


@pytest.mark.needs("pydantic_ai")
async def test_what_the_grammar_does_not_read_a_model_writes_as_a_query_that_is_checked(
    thinking: Server, model: Any
) -> None:
    plan = await thinking.plan(thinking.step("a"), name="Tiny")
    run = await thinking.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    await thinking.ended(run["runId"])
    model.script = (writes_query,)
    name = str(thinking.runtime.settings["model"])
    question = await asked(thinking, "did the little thing get finished, dear machine?", model=name)
    assert (question["status"], question["answer"]) == ("done", "One run got done."), question
    made = next(each for each in question["sub_goals"] if each["worker"] == "es_query_gen")
    assert made["outputs"]["es_query"]["body"]["query"] == {"term": {"status": "completed"}}
    shown = question["sub_goals"][-1]["outputs"]["formatted_results"]
    assert shown["says"].startswith("1 found")
