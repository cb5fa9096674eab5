"""Spans at an OTLP collector: what belongs to what, by the correlation id, and never a text."""

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Server, serving
from tests.api.otlp_collector import Collector
from tests.api.test_drafts import GOOD
from tests.api.test_questions import thinks

from beforehand.testing.model_replies import gives, turned_away
from beforehand.testing.model_servers import FakeAnthropic, FakeOpenAI

pytestmark = pytest.mark.needs("otel")
SERVER, CLIENT = 2, 3
RUNS = "POST /plans/{plan_id}/runs"


def trace_of(correlation_id: str) -> bytes:
    return hashlib.sha256(correlation_id.encode()).digest()[:16]


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    async with Collector() as running:
        yield running


async def start(server: Server, *steps: dict[str, Any], correlation: str) -> Any:
    plan = await server.plan(*steps)
    headers = {"X_Correlation_Id": correlation}
    return await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201, **headers)


async def test_a_request_its_decisions_and_its_tool_calls_are_one_trace(collector: Collector, tmp_path: Path) -> None:
    async with serving(tmp_path, otel=collector.url) as server:
        steps = server.step("one"), server.step("two", dependsOn=["one"])
        run = await start(server, *steps, correlation="walk-1")
        await server.ended(run["runId"])
        await server.call("GET", "/health")
    request = collector.one(RUNS)
    assert (request.kind, request.parent, request.trace) == (SERVER, b"", trace_of("walk-1"))
    assert request.attributes["http.response.status_code"] == 201
    assert request.attributes["beforehand.correlation_id"] == "walk-1"
    calls = sorted(collector.named("tool wait"), key=lambda span: str(span.attributes["beforehand.stepId"]))
    assert [call.attributes["beforehand.stepId"] for call in calls] == ["one", "two"]
    for call in calls:
        decision = collector.parent(call)
        assert decision.name.startswith("decide ")
        assert decision.attributes["beforehand.owner"] == f"run:{run['runId']}"
        assert {call.trace, decision.trace} == {trace_of("walk-1")}
        assert call.attributes["beforehand.correlation_id"] == "walk-1"
        assert not call.failed
    assert not [span for span in collector.spans if "health" in span.name]


async def test_a_decision_belongs_to_the_request_that_asked_for_it(collector: Collector, tmp_path: Path) -> None:
    async with serving(tmp_path, otel=collector.url) as server:
        failing = server.step("read", "read_file", {"path": "the-missing-file.txt"}, onFailure="ask")
        run = await start(server, failing, server.step("after", dependsOn=["read"]), correlation="walk-2")
        waiting = await server.asked(runId=run["runId"])
        headers = {"X_Correlation_Id": "answer-1"}
        await server.call("POST", f"/inbox/{waiting['id']}", {"verb": "skip", "note": "a private note"}, **headers)
        await server.ended(run["runId"])
    failed = collector.one("tool read_file")
    assert failed.failed
    assert failed.attributes["error.type"] == "step.failed"
    decision = collector.parent(collector.one("tool wait"))
    answer = collector.parent(decision)
    assert answer.name == "POST /inbox/{decision_id}"
    assert answer.trace == decision.trace == trace_of("answer-1")
    for text in (b"the-missing-file", b"a private note", str(tmp_path).encode()):
        assert text not in collector.raw


@pytest.mark.needs("pydantic_ai")
@pytest.mark.parametrize("kind", [FakeOpenAI, FakeAnthropic])
async def test_a_request_to_a_model_tells_tokens_and_no_words(
    collector: Collector, tmp_path: Path, kind: type[FakeOpenAI | FakeAnthropic]
) -> None:
    provider = "openai" if kind is FakeOpenAI else "anthropic"
    async with kind(turned_away(429), gives({"odd": 1}), GOOD) as model:
        flags = {"model": f"{provider}:writer", "model_url": model.url, "model_key": "sk-this-is-a-secret-key"}
        async with serving(tmp_path, otel=collector.url, **flags) as server:
            (server.workspace / "notes.txt").write_text("Milk, bread.\n")
            draft = await server.call("POST", "/drafts", {"text": "Copy my private notes."}, status=202)
            async for _ in server.events(kinds="draftFinished,draftFailed"):
                break
    chats = collector.named("chat writer")
    assert len(chats) == 3
    turned, odd, good = sorted(chats, key=lambda span: "error.type" not in span.attributes)
    assert turned.failed
    assert turned.attributes["gen_ai.usage.input_tokens"] == 0
    for chat in (odd, good):
        assert chat.kind == CLIENT
        told = {name: value for name, value in chat.attributes.items() if name.startswith("gen_ai.")}
        assert told["gen_ai.operation.name"] == "chat"
        assert told["gen_ai.provider.name"] == provider
        assert told["gen_ai.request.model"] == told["gen_ai.response.model"] == "writer"
        assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (100, 10)
        assert chat.attributes["beforehand.correlation_id"] == draft["draftId"]
        assert collector.parent(chat).name == "POST /drafts"
    for text in (b"private", b"Milk", b"sk-this-is-a-secret-key", b"read_file"):
        assert text not in collector.raw


@pytest.mark.needs("pydantic_ai")
async def test_sub_goals_and_the_planner_s_requests_belong_to_the_question(
    collector: Collector, tmp_path: Path
) -> None:
    async with FakeOpenAI(thinks) as model:
        flags = {"model": "openai:planner", "model_url": model.url}
        async with serving(tmp_path, otel=collector.url, **flags) as server:
            asked = {"text": "how do I add a token?", "model": "openai:planner"}
            question = await server.call("POST", "/questions", asked, status=202)
            async for _ in server.events(kinds="questionFinished"):
                break
    sub_goal = collector.one("sub-goal common_helpdesk")
    assert sub_goal.attributes["beforehand.questionId"] == question["questionId"]
    assert sub_goal.attributes["beforehand.round"] == 1
    assert collector.parent(sub_goal).name == "decide PlannerDecided"
    chats = collector.named("chat planner")
    assert len(chats) == 3
    assert all(collector.parent(chat).name.startswith("decide ") for chat in chats)
    assert {span.trace for span in (*chats, sub_goal)} == {collector.one("POST /questions").trace}


async def test_a_collector_that_says_nothing_keeps_nobody(tmp_path: Path) -> None:
    async with Collector(answers=False) as silent:
        async with serving(tmp_path, otel=silent.url) as server:
            run = await server.start(server.step("one"))
            await server.ended(run["runId"])
        async with asyncio.timeout(30):
            await silent.asked.wait()
        assert silent.spans == [], "it was left although it never answered"


async def test_a_collector_that_is_not_there_keeps_nobody(tmp_path: Path) -> None:
    async with Collector() as gone:
        url = gone.url
    async with serving(tmp_path, otel=url) as server:
        run = await server.start(server.step("one"))
        assert (await server.ended(run["runId"]))["status"] == "completed"


async def test_a_run_that_is_taken_up_again_stays_in_its_trace(collector: Collector, tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        asking = server.step("ask", "ask_person", {"question": "Well?"})
        run = await start(server, asking, server.step("after", dependsOn=["ask"]), correlation="walk-3")
        await server.asked(runId=run["runId"])
    async with serving(tmp_path, otel=collector.url) as server:
        await server.runtime.runs.recover(run["runId"])
        [waiting] = await server.call("GET", "/inbox")
        await server.call("POST", f"/inbox/{waiting['id']}", {"verb": "answer", "value": "yes"})
        await server.ended(run["runId"])
    call = collector.one("tool wait")
    assert call.attributes["beforehand.correlation_id"] == "walk-3"


def test_nothing_of_it_is_loaded_where_it_is_off() -> None:
    check = "import sys, beforehand.server.serve; assert 'opentelemetry.sdk' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True)
