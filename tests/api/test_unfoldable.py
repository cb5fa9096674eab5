"""What the log says of one thing cannot be read any more: that one stands, with its reason, and the others go on."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Server, line, serving

from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.server.serve import recover

ASKS = ("q", "ask_person", {"question": "Which colour?"})


def change_event(folder: Path, kind: str, change: Callable[[dict[str, Any]], Any], **about: str) -> None:
    """Write another thing into the one event of this kind, as a damaged disk or a hand in the database does."""
    with closing(sqlite3.connect(folder / "home" / "log.db")) as log, log:
        found = log.execute("SELECT seq, line FROM events WHERE kind = ?", (kind,)).fetchall()
        lines = [(json.loads(text), seq) for seq, text in found]
        [(event, seq)] = [(event, seq) for event, seq in lines if about.items() <= event["about"].items()]
        change(event)
        log.execute("UPDATE events SET line = ? WHERE seq = ?", (json.dumps(event).encode(), seq))


async def asked_about(server: Server, owner: str) -> list[Any]:
    return [one for one in await server.call("GET", "/inbox") if one["owner"] == f"bug:{owner}"]


@pytest.fixture
async def runs(tmp_path: Path) -> list[str]:
    """Two runs that wait for a person; what the log says of the first has become nonsense."""
    async with serving(tmp_path) as server:
        started = [(await server.start(server.step(*ASKS)))["runId"] for _ in range(2)]
        for run_id in started:
            await server.asked(runId=run_id)
    change_event(tmp_path, "runStarted", lambda event: event["data"].update(version=77), runId=started[0])
    return started


async def test_a_run_that_cannot_be_read_stands_alone(runs: list[str], tmp_path: Path) -> None:
    broken, whole = runs
    async with serving(tmp_path) as server:
        await recover(server.runtime, [])
        [asked] = await asked_about(server, f"run:{broken}")
        assert asked["kind"] == "bug"
        assert asked["title"] == f"The run {broken} cannot go on"
        assert f"The run {broken} cannot be read from the log" in asked["evidence"]["error"]
        told = await server.refused("POST", f"/runs/{broken}/cancel", status=503)
        assert told["code"] == "log.unfoldable"
        decision = await server.asked(runId=whole)
        await server.call("POST", f"/inbox/{decision['id']}", {"verb": "answer", "value": "red"})
        assert (await server.ended(whole))["status"] == "completed"


async def test_it_is_asked_once_and_again_where_it_was_to_be_tried_again(runs: list[str], tmp_path: Path) -> None:
    owner = f"run:{runs[0]}"
    for _ in range(2):
        async with serving(tmp_path) as server:
            await recover(server.runtime, [])
            [asked] = await asked_about(server, owner)
    async with serving(tmp_path) as server:
        await server.refused("POST", f"/inbox/{asked['id']}", {"verb": "restart"}, status=503)
        [again] = await asked_about(server, owner)
        assert again["id"] != asked["id"]
        await server.call("POST", f"/inbox/{again['id']}", {"verb": "leave"})
        assert await asked_about(server, owner) == []


async def test_a_session_that_cannot_be_read_stands_alone(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await save_scene(server.runtime, None, find_document("apartment"), activate=True)
        session = await server.call("POST", "/sessions", {"scene": "apartment"}, status=201)
    change_event(tmp_path, "sessionStarted", lambda event: event["data"].clear())
    async with serving(tmp_path) as server:
        await recover(server.runtime, [])
        [asked] = await asked_about(server, f"session:{session['sessionId']}")
        assert "cannot be read from the log" in asked["evidence"]["error"]
        assert [row["name"] for row in await server.call("GET", "/scenes") if row["active"]] == ["apartment"]


async def test_a_question_that_cannot_be_read_stands_alone(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        head = {"questionId": "question_1", "text": "how many?", "status": "new", "askedAt": "2026-01-01T00:00:00Z"}
        await server.runtime.log("questionAsked", head, owner="question:question_1", questionId="question_1")
        assert await server.runtime.store.rows("question", open=True)
    async with serving(tmp_path) as server:
        [asked] = await asked_about(server, "question:question_1")
        assert "The question question_1 cannot be read from the log" in asked["evidence"]["error"]
        await server.refused("GET", "/questions/question_1", status=503)


async def test_a_fleet_that_cannot_be_read_keeps_nobody_from_starting(tmp_path: Path) -> None:
    async with serving(tmp_path, speed=50) as server:
        for name in ("east", "west"):
            document = line(name)
            for robot in document["robots"]:
                robot["robotId"] = f"{name}-{robot['robotId']}"
            await save_scene(server.runtime, None, document, activate=True)
    change_event(tmp_path, "fleetActivated", lambda event: event["data"].pop("state"), sceneId="east")
    async with serving(tmp_path, speed=50) as server:
        await recover(server.runtime, [])
        robots = await server.call("GET", "/robots")
        assert {robot["robotId"].split("-")[0] for robot in robots} == {"west"}
        state = await server.call("GET", "/state")
        assert {robot["robotId"].split("-")[0] for robot in state["robots"]} == {"west"}
        [east] = [scene for scene in await server.call("GET", "/scenes") if scene["name"] == "east"]
        assert "The fleet east cannot be read from the log" in east["reason"]["says"]
