"""Everything held at once and let go again: fleets, cells, runs; twice, during a move, after a restart."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import PATIENCE_S, bearer, line, serving

from beforehand.adapters.sim.cell import SimCell, open_sim_cell
from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.crafts.cell import controllers
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.ports.cell import ControllerRequest
from beforehand.server.serve import recover


async def both(server: Any) -> None:
    """A live cell and a live fleet."""
    await save_scene(server.runtime, None, find_document("weld_star"), activate=True)
    await save_scene(server.runtime, None, line(), activate=True)


async def welding(server: Any, text: str = "weld 1") -> str:
    plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": text}, status=201)
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    return str(run["runId"])


async def running(server: Any, run_id: str) -> str:
    """The step of a run that is in flight, once there is one."""
    async for event in server.events(run=run_id, kinds="stepUpdated"):
        if event["data"]["status"] == "running":
            return str(event["data"]["stepId"])
    raise AssertionError


def in_flight(run: Any) -> list[str]:
    return [step["id"] for step in run["steps"] if step["status"] == "running"]


def kinds(answer: Any) -> list[tuple[str, str]]:
    return sorted((entry["kind"], entry["scene"]) for entry in answer["what"])


class WithoutHold:
    """A controller that cannot stop in the middle."""

    def __init__(self, request: ControllerRequest) -> None:
        inner = open_sim_cell(request)
        self.do, self.stop, self.report, self.did = inner.do, inner.stop, inner.report, inner.did
        self.place, self.close = inner.place, inner.close


@pytest.fixture
def no_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controllers, "_FACTORIES", {"sim": WithoutHold})


async def test_everything_is_held_and_given_back(serve_with: Any) -> None:
    async with serve_with(speed=2.0) as server:
        await both(server)
        run_id = await welding(server)
        await running(server, run_id)
        answer = await server.call("POST", "/hold")
        assert (answer["held"], answer["already"], answer["couldNot"]) == (True, False, [])
        assert kinds(answer) == [("cell", "weld_star"), ("fleet", "line"), ("run", "weld_star")]
        state = await server.call("GET", "/state")
        assert state["hold"]["what"] == answer["what"]
        assert state["fleets"][0]["person"] is True
        run = await server.call("GET", f"/runs/{run_id}")
        assert run["status"] == "paused"
        assert len(in_flight(run)) == 1
        cleared = await server.call("POST", "/clear")
        assert (cleared["held"], cleared["what"], cleared["couldNot"]) == (False, answer["what"], [])
        assert (await server.call("GET", "/fleet/why?name=RB-01"))[0]["code"] != "fleet.held"
        assert "hold" not in await server.call("GET", "/state")
        assert (await server.call("GET", f"/runs/{run_id}"))["status"] == "running"


async def test_a_controller_that_can_stops_in_the_middle_and_goes_on(serve_with: Any) -> None:
    async with serve_with(speed=20.0) as server:
        await both(server)
        run_id = await welding(server, "go to Pos_1")
        await running(server, run_id)
        answer = await server.call("POST", "/hold")
        [cell] = [entry for entry in answer["what"] if entry["kind"] == "cell"]
        assert cell["what"].startswith("Stops at once")
        held = await server.call("GET", f"/runs/{run_id}")
        seq = (await server.call("GET", "/state"))["seq"]
        await asyncio.sleep(0.3)  # longer than the step would have taken
        assert await server.call("GET", f"/runs/{run_id}") == held
        assert (await server.call("GET", "/state"))["seq"] == seq
        await server.call("POST", "/clear")
        assert (await server.ended(run_id))["status"] == "completed"


@pytest.mark.usefixtures("no_hold")
async def test_without_that_the_step_in_flight_ends_and_no_other_begins(serve_with: Any) -> None:
    async with serve_with(speed=5.0) as server:
        await both(server)
        run_id = await welding(server)
        await running(server, run_id)
        answer = await server.call("POST", "/hold")
        [cell] = [entry for entry in answer["what"] if entry["kind"] == "cell"]
        assert cell["what"] == "Stops after the step in flight."
        async with asyncio.timeout(PATIENCE_S):
            while in_flight(await server.call("GET", f"/runs/{run_id}")):  # noqa: ASYNC110  it may have begun another before
                await asyncio.sleep(0.02)
        run = await server.call("GET", f"/runs/{run_id}")
        assert run["status"] == "paused"
        assert len([one for one in run["steps"] if one["status"] == "completed"]) < len(run["steps"])
        await server.call("POST", "/clear")
        assert (await server.ended(run_id))["status"] == "completed"


async def test_while_held_nothing_begins_to_move(serve_with: Any) -> None:
    async with serve_with(speed=500.0) as server:
        await both(server)
        plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=201)
        await server.call("POST", "/hold")
        told = await server.refused("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=409)
        assert told["code"] == "hold.everything"
        assert (await server.refused("POST", "/fleet/line/clear", status=409))["code"] == "hold.everything"
        await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True})
        still = await server.start(server.step("a"))
        assert (await server.ended(still["runId"]))["status"] == "completed"  # what moves nothing goes on
        await save_scene(server.runtime, None, {**line("north"), "streams": line()["streams"]})
        north = line("north")
        north["streams"][0]["enabled"] = True
        await save_scene(server.runtime, None, north, activate=True)
        assert ("fleet", "north") in kinds({"what": (await server.call("GET", "/state"))["hold"]["what"]})
        fleets = server.runtime.service(Fleets)
        ticks = fleets.live["north"].driver.ticks
        await server.until(lambda: fleets.live["north"].driver.ticks > ticks + 5)
        assert await server.call("GET", "/tasks") == []
        await server.call("POST", "/clear")
        assert len(await server.take(2, kinds="taskCreated")) == 2
        await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)


async def test_what_a_person_held_before_stays_held(serve_with: Any) -> None:
    async with serve_with(speed=2.0) as server:
        await both(server)
        await server.call("POST", "/fleet/line/hold")
        run_id = await welding(server)
        await server.call("POST", f"/runs/{run_id}/pause")
        answer = await server.call("POST", "/hold")
        assert kinds(answer) == [("cell", "weld_star")]
        assert (await server.refused("POST", f"/runs/{run_id}/resume", status=409))["code"] == "hold.everything"
        await server.call("POST", "/clear")
        assert (await server.call("GET", f"/runs/{run_id}"))["status"] == "paused"
        assert (await server.call("GET", "/state"))["fleets"][0]["person"] is True
        await server.call("POST", f"/runs/{run_id}/resume")


async def test_a_machine_known_late_is_not_given_out(serve_with: Any) -> None:
    async with serve_with(speed=500.0) as server:
        await both(server)
        name = server.step("name", "ask_person", {"question": "Which cell?"})
        move = server.step("m", "cell.move", {"scene": "$name", "target": "Safe_Pos_1"}, dependsOn=["name"])
        run = await server.start(name, move)
        asked = await server.asked(runId=run["runId"])
        answer = await server.call("POST", "/hold")
        assert ("run", None) in [(entry["kind"], entry.get("scene")) for entry in answer["what"]]
        await server.call("POST", f"/inbox/{asked['id']}", {"verb": "answer", "value": "weld_star"})
        assert (await server.call("GET", f"/runs/{run['runId']}"))["status"] == "paused"
        refused = await server.refused("POST", f"/runs/{run['runId']}/steps/m/rerun", status=409)
        assert refused["code"] == "hold.everything"
        await server.call("POST", "/clear")
        assert (await server.ended(run["runId"]))["status"] == "completed"


async def test_a_step_put_in_meanwhile_gets_no_machine(serve_with: Any) -> None:
    async with serve_with(speed=500.0) as server:
        await both(server)
        run = await server.start(server.step("a", "read_file", {"path": "none"}, onFailure="ask"))
        failed = await server.asked(runId=run["runId"], stepId="a")
        assert "run" not in [entry["kind"] for entry in (await server.call("POST", "/hold"))["what"]]
        move = {"id": "m", "tool": "cell.move", "args": {"scene": "weld_star", "target": "Safe_Pos_1"}}
        await server.call("POST", f"/inbox/{failed['id']}", {"verb": "insert", "value": [move]})
        held = await server.asked(runId=run["runId"], stepId="m")
        assert (held["kind"], held["evidence"]["says"][:34]) == ("machineHeld", "cell:weld_star is held by local si")
        await server.call("POST", "/clear")
        await server.call("POST", f"/inbox/{held['id']}", {"verb": "check-again"})
        async for event in server.events(run=run["runId"], kinds="stepUpdated"):
            if event["data"]["stepId"] == "m" and event["data"]["status"] == "completed":
                return


async def test_twice_and_both_at_once(serve_with: Any) -> None:
    async with serve_with(speed=2.0) as server:
        await both(server)
        answers = await asyncio.gather(*(server.call("POST", "/hold") for _ in range(4)))
        assert sorted(answer["already"] for answer in answers) == [False, True, True, True]
        assert len({str(answer["what"]) for answer in answers}) == 1
        cleared = await asyncio.gather(*(server.call("POST", "/clear") for _ in range(3)))
        assert sorted((answer["already"], len(answer["what"])) for answer in cleared) == [
            (False, 2),
            (True, 0),
            (True, 0),
        ]
        events = await server.call("GET", "/events?limit=1000&kinds=everythingHeld,everythingCleared")
        assert [event["kind"] for event in events] == ["everythingHeld", "everythingCleared"]
        assert events[0]["says"] == "Everything is held by local."


async def test_held_after_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path, speed=2.0) as server:
        await both(server)
        run_id = await welding(server)
        await running(server, run_id)
        held = await server.call("POST", "/hold")
    async with serving(tmp_path, speed=500.0) as server:
        await recover(server.runtime, [])
        state = await server.call("GET", "/state")
        assert state["hold"]["what"] == held["what"]
        assert (await server.call("POST", "/hold"))["already"] is True
        assert (await server.call("GET", f"/runs/{run_id}"))["status"] == "paused"
        assert state["fleets"][0]["person"] is True
        await server.call("POST", "/clear")
        assert (await server.ended(run_id))["status"] == "completed"


async def test_a_crash_right_after_the_event_leaves_nothing_moving(tmp_path: Path, monkeypatch: Any) -> None:
    async def crash(*_: Any) -> None:
        raise RuntimeError("the process ends here")

    async with serving(tmp_path, speed=2.0) as server:
        await both(server)
        run_id = await welding(server)
        await running(server, run_id)
        with monkeypatch.context() as patch:
            patch.setattr("beforehand.app.holds._each", crash)
            server.problem(await server.http.post("/hold"), 500)
    async with serving(tmp_path, speed=500.0) as server:
        await recover(server.runtime, [])
        assert (await server.call("GET", f"/runs/{run_id}"))["status"] == "paused"
        assert (await server.call("GET", "/state"))["fleets"][0]["person"] is True
        await server.call("POST", "/clear")
        assert (await server.ended(run_id))["status"] == "completed"


async def test_what_does_not_answer_is_told_and_the_rest_is_held(serve_with: Any, monkeypatch: Any) -> None:
    async def stuck(self: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(SimCell, "hold", stuck)
    monkeypatch.setattr("beforehand.app.holds.PATIENCE_S", 0.2)
    async with serve_with(speed=2.0) as server:
        await both(server)
        answer = await server.call("POST", "/hold")
        [missed] = answer["couldNot"]
        assert (missed["kind"], missed["scene"]) == ("cell", "weld_star")
        assert "did not answer" in missed["says"]
        assert (await server.call("GET", "/state"))["fleets"][0]["person"] is True


async def test_a_frozen_fleet_stays_frozen(fleet_server: Any) -> None:
    async with fleet_server() as server:
        await server.call("POST", "/robots/RB-01/faults", {"fault": "status5"})
        await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True})
        await server.asked(scene="line")
        await server.call("POST", "/hold")
        await server.call("POST", "/clear")
        [fleet] = (await server.call("GET", "/state"))["fleets"]
        assert (fleet["person"], fleet["held"], len(fleet["heldTasks"])) == (False, True, 1)


async def test_operators_hold_and_viewers_do_not(guarded: Any) -> None:
    for path in ("/hold", "/clear"):
        guarded.problem(await guarded.http.post(path), 401)
        guarded.problem(await guarded.http.post(path, headers=bearer(guarded.tokens["viewer"])), 403)
        guarded.problem(await guarded.http.post(path, headers=bearer("bh_somebody_else"[:16])), 401)
        assert (await guarded.http.post(path, headers=bearer(guarded.tokens["operator"]))).status_code == 200
        late = {**bearer(guarded.tokens["operator"]), "Beforehand-Deadline": "1"}
        guarded.problem(await guarded.http.post(path, headers=late), 409)
        guarded.problem(await guarded.http.post(path, json={"x": 1}, headers=bearer(guarded.tokens["operator"])), 422)
