"""What may go wrong between a leader, Temporal and the log: each is forced, and the run goes on or says why."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Server, serving

from beforehand.app.examples import find_document
from beforehand.app.runs import recover_runs
from beforehand.app.scenes import save_scene
from beforehand.engine.inputs import PauseAsked
from beforehand.model.errors import UnavailableError
from beforehand.ports.tool import Tool
from beforehand.testing.temporal_server import TemporalServer
from beforehand.testing.tools import ScriptedTool, echoes, gives, hangs

pytestmark = pytest.mark.needs("temporal", "temporalio")


@asynccontextmanager
async def on_temporal(folder: Path, temporal: TemporalServer, *tools: Tool, speed: float = 1) -> AsyncIterator[Server]:
    flags = {"engine": "temporal", "temporal": temporal.address, "temporal_prefix": folder.name, "speed": speed}
    async with serving(folder, tools=[ScriptedTool("echo", echoes(), effect="physical"), *tools], **flags) as server:
        yield server


async def chained(server: Server, length: int) -> Any:
    steps = [
        server.step(f"s{at}", "echo", {"value": at}, dependsOn=[f"s{at - 1}"] if at else []) for at in range(length)
    ]
    return await server.start(*steps)


def assert_each_once(server: Server, run: Any, length: int) -> None:
    """Every step was called once: all are physical."""
    echo = server.runtime.extensions.tools.get("echo")
    assert isinstance(echo, ScriptedTool)
    log = server.runtime.identity
    assert [key for key, _ in echo.calls] == [log.key(f"{run['runId']}/s{at}/1") for at in range(length)]


async def test_a_leader_that_dies_right_behind_its_append_writes_nothing_twice(
    tmp_path: Path, temporal: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer to Temporal is lost, so the decision is taken once more: the log is read anew, and wins."""
    from beforehand.adapters.temporal.led import Led

    durable, lost = Led._durable, []

    async def and_then_dies(led: Any, run_id: str, events: Any) -> Any:
        done = await durable(led, run_id, events)
        if any(event.data.get("status") == "completed" for event in events) and not lost:
            lost.append(run_id)
            raise ConnectionError("the process ends here")
        return done

    monkeypatch.setattr(Led, "_durable", and_then_dies)
    async with on_temporal(tmp_path, temporal) as server:
        run = await chained(server, 3)
        asked = await server.asked(runId=run["runId"])
        assert lost == [run["runId"]]
        # The log says that s1 was started, and nobody can tell whether it was: as after any crash, a person is asked.
        assert (asked["kind"], asked["about"]["stepId"]) == ("inDoubt", "s1")
        await server.call("POST", f"/inbox/{asked['id']}", {"verb": "run-again"})
        done = await server.ended(run["runId"])
        assert [(step["status"], step["attempt"]) for step in done["steps"]] == [
            ("completed", 1),
            ("completed", 2),
            ("completed", 1),
        ]
        events = await server.call("GET", f"/events?limit=1000&run={run['runId']}&kinds=stepUpdated")
        shown = [(event["data"]["stepId"], event["data"]["status"]) for event in events]
        assert len(shown) == len(set(shown)) + 1, "only s1 was started twice"


async def test_a_run_that_went_on_without_temporal_is_taken_up_where_the_log_says(
    tmp_path: Path, temporal: TemporalServer
) -> None:
    """Its workflow waits for an answer that was given elsewhere: it looks at the log when it is told to."""
    async with on_temporal(tmp_path, temporal, ScriptedTool("slow", hangs())) as server:
        first = server.step("a", "echo", {"value": 1}, requiresApproval=True)
        run = await server.start(first, server.step("b", "slow", dependsOn=["a"]))
        asked = await server.asked(runId=run["runId"])
    slow = ScriptedTool("slow", hangs())
    async with serving(tmp_path, tools=[ScriptedTool("echo", echoes(), effect="physical"), slow]) as server:
        await recover_runs(server.runtime)
        await server.call("POST", f"/inbox/{asked['id']}", {"verb": "approve"})
        await server.until(lambda: bool(slow.calls))
    async with on_temporal(tmp_path, temporal, ScriptedTool("slow", gives("done"))) as server:
        await recover_runs(server.runtime)
        done = await server.ended(run["runId"])
        assert [step["status"] for step in done["steps"]] == ["completed", "completed"]


async def test_a_long_history_is_begun_anew(
    tmp_path: Path, temporal: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beforehand.adapters.temporal import workflow

    monkeypatch.setattr(workflow, "FULL", 20)
    async with on_temporal(tmp_path, temporal) as server:
        run = await chained(server, 8)
        done = await server.ended(run["runId"])
        assert [(step["status"], step["attempt"]) for step in done["steps"]] == [("completed", 1)] * 8
        assert_each_once(server, run, 8)


async def test_a_decision_that_breaks_becomes_a_question_and_the_run_can_be_taken_up(
    tmp_path: Path, temporal: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beforehand.adapters.temporal import workflow

    decide, broken = workflow.decide, [True]

    def breaks(run: Any, given: Any, catalog: Any) -> Any:
        if broken and type(given).__name__ == "StepEnded":
            raise RuntimeError("a bug in a decision")
        return decide(run, given, catalog)

    monkeypatch.setattr(workflow, "decide", breaks)
    async with on_temporal(tmp_path, temporal, ScriptedTool("calm", gives(7))) as server:
        run = await server.start(server.step("a", "calm"), server.step("b", "calm", dependsOn=["a"]))
        asked = await server.asked(runId=run["runId"])
        assert (asked["kind"], asked["verbs"]) == ("bug", ["restart", "leave"])
        assert "a bug in a decision" in asked["evidence"]["error"]
        broken.clear()
        await server.call("POST", f"/inbox/{asked['id']}", {"verb": "restart"})
        assert (await server.ended(run["runId"]))["status"] == "completed"


async def test_a_value_that_temporal_cannot_take_fails_its_step(tmp_path: Path, temporal: TemporalServer) -> None:
    large = random.Random(1).randbytes(3_000_000).hex()
    async with on_temporal(tmp_path, temporal, ScriptedTool("large", gives(large))) as server:
        run = await server.start(server.step("a", "large", retries=0))
        done = await server.ended(run["runId"])
        assert done["status"] == "failed"
        assert "MB" in done["steps"][0]["result"]["error"]


async def test_while_the_server_is_away_runs_wait_and_people_are_told(
    tmp_path: Path, own_temporal: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beforehand.adapters.temporal import engine

    monkeypatch.setattr(engine, "ANSWER_S", 1.0)
    async with on_temporal(tmp_path, own_temporal) as server:
        run = await server.start(server.step("q", "ask_person", {"question": "?"}))
        asked = await server.asked(runId=run["runId"])
        own_temporal.kill()
        answer = await server.http.post(f"/inbox/{asked['id']}", json={"verb": "answer", "value": 1})
        told = server.problem(answer, 503)
        assert told["code"] == "temporal.unanswered"
        assert "It may have been taken" in told["detail"]
        begun = await server.start(server.step("a", "echo", {"value": 2}))
        assert begun["status"] == "running"
        await asyncio.to_thread(own_temporal.start)
        assert (await server.ended(begun["runId"]))["status"] == "completed"
        monkeypatch.setattr(engine, "ANSWER_S", 30.0)
        await server.http.post(f"/inbox/{asked['id']}", json={"verb": "answer", "value": 1})
        assert (await server.ended(run["runId"]))["status"] == "completed"


async def test_an_answer_that_was_taken_late_is_told_of_as_one_that_may_have_been_taken(
    tmp_path: Path, temporal: TemporalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beforehand.adapters.temporal import engine
    from beforehand.adapters.temporal.led import Led

    durable, goes_on = Led._durable, asyncio.Event()

    async def waits(led: Any, run_id: str, events: Any) -> Any:
        if any(event.kind == "decisionAnswered" for event in events):
            await goes_on.wait()
        return await durable(led, run_id, events)

    monkeypatch.setattr(Led, "_durable", waits)
    async with on_temporal(tmp_path, temporal) as server:
        run = await server.start(server.step("q", "ask_person", {"question": "?"}))
        asked = await server.asked(runId=run["runId"])
        monkeypatch.setattr(engine, "ANSWER_S", 1.0)
        answering = ("POST", f"/inbox/{asked['id']}", {"verb": "answer", "value": 1})
        told = await server.refused(*answering, status=503, Idempotency_Key="once")
        assert told["code"] == "temporal.unanswered"
        assert f"GET /api/v1/runs/{run['runId']}" in told["hint"]
        goes_on.set()
        assert (await server.ended(run["runId"]))["status"] == "completed"
        again = await server.call(*answering, Idempotency_Key="once")
        assert (again["id"], again["status"]) == (asked["id"], "answered")


async def test_an_unanswered_request_that_is_sent_again_is_decided_once(
    tmp_path: Path, temporal: TemporalServer
) -> None:
    """The first one reaches the run late, and so does the second, when somebody has gone on meanwhile."""
    from beforehand.adapters.temporal.wire import input_document
    from beforehand.app.temporal_runs import TemporalRuns

    async with on_temporal(tmp_path, temporal) as server:
        run = await server.start(server.step("q", "ask_person", {"question": "?"}))
        path = f"/runs/{run['runId']}"
        runs = server.runtime.runs
        assert isinstance(runs, TemporalRuns)
        given = input_document(PauseAsked(server.runtime.now(), by="her"))
        asked = {"requestId": "k" * 32, "requestHash": "h", "deadline": None}
        first = await runs._engine.hand_in(run["runId"], given, asked)
        assert (first["events"] > 0, (await server.call("GET", path))["status"]) == (True, "paused")
        await server.call("POST", f"{path}/resume")
        late = await runs._engine.hand_in(run["runId"], given, {**asked, "deadline": 1})
        assert (late["events"], late["done"], late["expired"]) == (0, True, None)
        assert (await server.call("GET", path))["status"] == "waiting"
        anew = await runs._engine.hand_in(run["runId"], given, {**asked, "again": True})
        assert (anew["events"] > 0, (await server.call("GET", path))["status"]) == (True, "paused")
        await server.call("POST", f"{path}/cancel")


async def test_a_settings_file_of_somebody_else_sends_runs_nowhere(tmp_path: Path) -> None:
    from beforehand.app.engines import temporal_address
    from beforehand.app.settings import load_settings
    from beforehand.model.errors import BadInputError

    file = tmp_path / "beforehand.toml"
    flags = {"home": str(tmp_path / "home"), "workspace": str(tmp_path)}
    file.write_text('temporal = "evil.example.com:7233"\n')
    with pytest.raises(BadInputError, match=r"not trusted, so runs are not sent to evil\.example\.com"):
        temporal_address(load_settings(flags, {}, file))
    file.write_text('temporal = "127.0.0.1:7000"\n')
    assert temporal_address(load_settings(flags, {}, file)).target == "127.0.0.1:7000"


async def test_an_address_that_nobody_answers_at_is_one_sentence(tmp_path: Path) -> None:
    from beforehand.app.settings import load_settings
    from beforehand.app.tool_worker import work

    settings = load_settings({"home": str(tmp_path), "temporal": "127.0.0.1:1"}, {}, tmp_path / "none")
    with pytest.raises(UnavailableError, match=r"^The Temporal server at 127\.0\.0\.1:1 does not answer \(.*\)\.$"):
        async with work(settings):
            pass


async def test_a_step_that_the_hold_overtakes_on_its_way_begins_when_it_is_cleared(
    tmp_path: Path, temporal: TemporalServer
) -> None:
    """The hold is in the log, the run was not told yet, and a worker has its next step already."""
    async with on_temporal(tmp_path, temporal, speed=50) as server:
        await save_scene(server.runtime, None, find_document("weld_star"), activate=True)
        first = server.step("first", "echo", {"value": 1}, requiresApproval=True)
        move = server.step("move", "cell.move", {"scene": "weld_star", "target": "Safe_Pos_1"}, dependsOn=["first"])
        run = await server.start(first, move)
        asked = await server.asked(runId=run["runId"])
        await server.runtime.log("everythingHeld", {"by": "ann", "since": "", "what": []}, owner="hold")
        await server.call("POST", f"/inbox/{asked['id']}", {"verb": "approve"})
        async for event in server.events(run=run["runId"], kinds="stepUpdated"):
            if event["data"]["stepId"] == "move" and event["data"]["status"] == "running":
                break
        assert (await server.call("GET", "/cells/weld_star"))["current_position"] == "Home"
        await server.call("POST", "/clear")
        assert (await server.ended(run["runId"]))["status"] == "completed"
        assert (await server.call("GET", "/cells/weld_star"))["current_position"] == "Safe_Pos_1"
