"""An error in any task of a server at work: nothing else stops, and a decision with the reason says so."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.api.conftest import line
from tests.api.test_sessions import ROOM, den
from tests.breaking import InjectedError, break_into, watched_here

from beforehand.app import leases
from beforehand.app.examples import find_document
from beforehand.app.runs import recover_runs
from beforehand.app.scenes import save_scene
from beforehand.crafts.agent.sessions import Sessions
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.wire_testing import FastClock, robots_on_the_wire
from beforehand.engine.inputs import PauseAsked
from beforehand.loop import run_driver
from beforehand.model.errors import UnavailableError
from beforehand.ports import tasks
from beforehand.ports.tasks import Watched

__all__ = ["den"]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "FIRST_PAUSE_S", 0.01)


@pytest.fixture
async def at_work(serve_with: Any) -> AsyncIterator[Any]:
    """A server with everything going on: three kinds of robots, a cell, a session in real time, and a run."""
    wired = read_fleet(line("wired", park=True))
    async with robots_on_the_wire(wired, FastClock(20)) as wire, serve_with(speed=20) as server:
        homes = [{**ROOM, "name": name, "rooms": []} for name in ("den", "attic")]
        for document in (wire.scene.wire(), line("simulated"), on_a_broker(), find_document("weld_star"), *homes):
            await save_scene(server.runtime, None, document, activate=True)
        for home in homes:  # two, so that one is always there for the heart of all sessions to beat for
            await server.call("POST", "/sessions", {"scene": home["name"], "clock": "realtime"}, status=201)
        await server.start(server.step("a", args={"seconds": 600}))
        await server.until(lambda: {"the driver", "the line to the broker"} <= {one.name for one in watched_here()})
        await server.until(lambda: any("conversation" in one.name for one in watched_here()))
        yield server


def on_a_broker() -> dict[str, Any]:
    """The same hall, its robots named otherwise, on a broker that nobody answers for."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    document = line("on_a_broker")
    document["settings"] = {**document["settings"], "broker": f"mqtt://127.0.0.1:{port}"}
    for robot in document["robots"]:
        robot["link"] = {"kind": "vda5050", "manufacturer": "maker", "serial": robot["robotId"]}
    return document


def name_of(watched: Watched) -> tuple[str, str]:
    return watched.owner_id, watched.name


async def test_an_error_in_any_task_stops_nothing_else_and_is_told(at_work: Any) -> None:
    names = sorted(name_of(one) for one in watched_here() if one.lasts or one.name == "the driver")
    assert {owner.partition(":")[0] for owner, _ in names} >= {"fleet", "session", "run", "server"}
    for name in names:
        await at_work.until(lambda name=name: found(name) is not None)
        entry = found(name)
        others = {one for one in watched_here() if one.lasts and one.owner_id != entry.owner_id}
        await at_work.until(lambda task=entry.task: break_into(task))
        decision = await asked_about(at_work, name)
        assert "injected" in decision["evidence"]["error"], decision
        assert others <= set(watched_here()), [name_of(one) for one in others - set(watched_here())]
        assert (await at_work.call("GET", "/health"))["status"] == "ok"
        if entry.lasts:
            assert entry in watched_here(), "it begins again"
        else:
            await at_work.call("POST", f"/inbox/{decision['id']}", {"verb": "restart"})
            await at_work.until(lambda name=name: found(name) is not None)
    findings = (await at_work.call("GET", "/doctor"))["checks"]
    assert any("injected" in one["says"] for one in findings if one["check"] == "task"), findings
    shown = (await at_work.http.get("/metrics")).text
    assert "beforehand_tasks_failing 0" not in shown
    for owner in {owner for owner, name in names if name == "the driver"}:
        assert owner in at_work.runtime.nursery.work, "it was started again"


def found(name: tuple[str, str]) -> Any:
    return next((one for one in watched_here() if name_of(one) == name), None)


async def asked_about(server: Any, name: tuple[str, str]) -> Any:
    """The open decision about a task, once there is one."""
    owner, task = name
    async with asyncio.timeout(60):
        while True:
            for decision in await server.call("GET", "/inbox"):
                is_task = decision["owner"] == f"bug:task:{owner}" and decision["evidence"].get("task") == task
                if is_task or (task == "the driver" and decision["owner"] == f"bug:{owner}"):
                    return decision
            await asyncio.sleep(0.01)


async def bugs(server: Any) -> list[Any]:
    return [one for one in await server.call("GET", "/inbox") if one["kind"] == "bug"]


async def test_what_cannot_be_decided_is_answered_once_and_asked_about_once(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await server.start(server.step("a", args={"seconds": 600}))
    sound = run_driver.decide

    def decide(state: Any, given: Any, catalog: Any) -> Any:
        if isinstance(given, PauseAsked):
            raise InjectedError("a pause")
        return sound(state, given, catalog)

    monkeypatch.setattr(run_driver, "decide", decide)
    path = f"/runs/{run['runId']}"
    for _ in range(3):
        told = await server.refused("POST", f"{path}/pause", status=500)
        assert told["code"] == "bug"
        assert "InjectedError: a pause" in told["detail"]
    events = await server.call("GET", f"/events?limit=1000&owner=bug:run:{run['runId']}")
    assert 1 <= len([one for one in events if one["kind"] == "decisionOpened"]) <= 3
    [asked] = await bugs(server)
    monkeypatch.setattr(run_driver, "decide", sound)
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "restart"})
    assert (await server.call("POST", f"{path}/pause"))["status"] == "paused"
    await server.call("POST", f"{path}/cancel")
    assert await bugs(server) == []


async def test_a_run_that_asks_for_its_machine_outlasts_a_log_that_cannot_be_read(
    cell_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with cell_server() as server:
        plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=201)
        sound, failed = leases.holder_of, []

        async def holder_of(*asked: Any, **more: Any) -> Any:
            if len(failed) < 2 and more.get("but"):
                failed.append(asked)
                raise UnavailableError("The log cannot be read now.")
            return await sound(*asked, **more)

        run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
        monkeypatch.setattr(leases, "holder_of", holder_of)
        assert (await server.ended(run["runId"]))["status"] == "completed"


async def test_a_picture_that_fails_costs_no_session_its_heart(den: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await den.call("POST", "/sessions", {"scene": "den", "clock": "realtime"}, status=201)
    sessions = den.runtime.service(Sessions)
    driver = sessions.live[first["sessionId"]]

    def show() -> None:
        raise InjectedError("no picture")

    monkeypatch.setattr(driver, "show", show)
    async with den.http.stream("GET", "/telemetry", params={"scene": "den"}):
        await den.until(lambda: ("session:" + first["sessionId"], "its picture") in den.runtime.nursery._noted)
    said = await den.call("POST", f"/sessions/{first['sessionId']}/commands", {"command": "skip(1)"})
    assert not said["refused"], said
    assert sessions.beating is not None
    assert not sessions.beating.done()
    await den.until(lambda: not den.runtime.nursery._telling)
    assert [one["evidence"]["error"] for one in await bugs(den)] == ["InjectedError: no picture"]


async def test_a_run_that_cannot_be_read_keeps_nothing_else_from_starting(serve_with: Any) -> None:
    async with serve_with() as server:
        broken, sound = [await server.start(server.step("a", args={"seconds": 600})) for _ in range(2)]
        about = {"owner": f"run:{broken['runId']}", "runId": broken["runId"]}
        await server.runtime.log("stepExpanded", {"stepId": "nobody", "taskId": "t", "items": []}, **about)
    async with serve_with() as server:
        assert await recover_runs(server.runtime) == 1
        assert server.runtime.runs.drives(sound["runId"])
        [asked] = await bugs(server)
        assert asked["owner"] == f"bug:run:{broken['runId']}"
        assert (await server.call("GET", "/runs"))[0]["runId"]
        await server.call("POST", f"/runs/{sound['runId']}/cancel")
