"""The state as it was: what `GET /state?at=` says of a moment is what `GET /state` said then."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import line, serving

from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.server.serve import recover

NOT_LOGGED = ("x", "y", "nodeId", "battery", "lastSeenTsMs", "says")


def logged(state: Any) -> Any:
    """A state without what robots report and nobody writes down."""
    robots = [{key: robot[key] for key in robot if key not in NOT_LOGGED} for robot in state["robots"]]
    return {**state, "robots": robots}


async def quiet(server: Any, query: str = "") -> Any:
    """The state of a moment in which nothing happens: asked twice, it is the same."""
    async with asyncio.timeout(20):
        before = logged(await server.call("GET", f"/state{query}"))
        while True:
            await asyncio.sleep(0.05)
            now = logged(await server.call("GET", f"/state{query}"))
            if now == before:
                return now
            before = now


async def live_through(server: Any) -> list[Any]:
    """A day in which everything changes, and its quiet moments."""
    moments = []
    await save_scene(server.runtime, None, find_document("weld_star"), activate=True)
    moments.append(await quiet(server))
    await save_scene(server.runtime, None, line(), activate=True)
    moments.append(await quiet(server))
    plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=201)
    moments.append(await quiet(server))
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    await server.ended(run["runId"])
    moments.append(await quiet(server))
    await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True, "priority": 3})
    await server.take(1, kinds="taskCreated")
    await server.call("POST", "/hold")
    moments.append(await quiet(server))
    assert moments[-1]["tasks"]
    await server.call("POST", "/clear")
    async for event in server.events(kinds="taskUpdated"):
        if event["data"]["status"] == "completed":
            break
    moments.append(await quiet(server))
    asked = await server.start(server.step("q", "ask_person", {"question": "Well?"}))
    moments.append(await quiet(server))
    await server.call("POST", f"/runs/{asked['runId']}/cancel")
    await server.call("PATCH", "/worksites/DROP_01", {"occupancy": "unknown"})
    await server.call("PATCH", "/cells/weld_star", {"position": "Pos_2"})
    moments.append(await quiet(server))
    await server.call("POST", "/scenes/line/deactivate")
    moments.append(await quiet(server))
    return moments


async def test_every_quiet_moment_comes_back(tmp_path: Path) -> None:
    async with serving(tmp_path, speed=50) as server:
        moments = await live_through(server)
        assert len({moment["seq"] for moment in moments}) == len(moments)
        for moment in moments:
            assert logged(await server.call("GET", f"/state?at={moment['seq']}")) == moment
    async with serving(tmp_path, speed=50) as server:
        await recover(server.runtime, [])
        await server.call("POST", "/scenes/line/activate")
        for moment in moments:
            assert logged(await server.call("GET", f"/state?at={moment['seq']}")) == moment
    with closing(sqlite3.connect(tmp_path / "home" / "log.db")) as file, file:
        assert file.execute("DELETE FROM snapshots").rowcount
    async with serving(tmp_path, speed=50) as server:
        for moment in moments:
            assert logged(await server.call("GET", f"/state?at={moment['seq']}")) == moment


async def test_one_scene_of_the_past(fleet_server: Any) -> None:
    async with fleet_server() as server:
        at = (await quiet(server))["seq"]
        await save_scene(server.runtime, None, find_document("weld_star"), activate=True)
        await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=201)
        now = await quiet(server, "?scene=weld_star")
        assert [item["kind"] for item in now["decisions"]] == ["review"]
        assert logged(await server.call("GET", f"/state?scene=weld_star&at={now['seq']}")) == now
        await server.refused("GET", f"/state?scene=weld_star&at={at}", status=404)
        assert (await server.call("GET", f"/state?scene=line&at={at}"))["robots"][0]["robotId"] == "RB-01"


async def test_robots_of_the_past_have_no_position(fleet_server: Any) -> None:
    async with fleet_server() as server:
        seq = (await quiet(server))["seq"]
        [robot] = (await server.call("GET", f"/state?at={seq}"))["robots"]
        assert robot["robotId"] == "RB-01"
        assert not robot.keys() & {*NOT_LOGGED} - {"says"}
        assert robot["says"].startswith("RB-01 is idle")


async def test_every_event_has_a_state(server: Any) -> None:
    run = await server.start(server.step("a"), server.step("b", dependsOn=["a"]))
    await server.ended(run["runId"])
    last = (await server.call("GET", "/state"))["seq"]
    statuses = []
    for at in range(1, last + 1):
        state = await server.call("GET", f"/state?at={at}")
        assert state["seq"] == at
        statuses += [one["status"] for one in state["runs"]]
    assert statuses[0] == "running"
    assert statuses[-1] == "completed"


@pytest.mark.parametrize("at", ["0", "-1", "1.5", "x", "", "1e3", str(10**18), "9" * 200, "%00", "１"])
async def test_what_is_no_event_is_422(server: Any, at: str) -> None:
    told = await server.refused("GET", f"/state?at={at}", status=422)
    assert told["code"] == "state.at"
    await server.plan(server.step("a"))
    await server.refused("GET", f"/state?at={at}", status=422)


async def test_looking_back_writes_nothing(fleet_server: Any) -> None:
    async with fleet_server() as server:
        seq = (await quiet(server))["seq"]
        answers = await asyncio.gather(*(server.call("GET", f"/state?at={seq}") for _ in range(5)))
        assert all(answer == answers[0] for answer in answers)
        assert (await server.call("GET", "/state"))["seq"] == seq
