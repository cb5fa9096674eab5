"""Fleets over HTTP: looked at, corrected, held, asked why, and transport as a plan."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.api.conftest import line

PATIENCE_S = 90


async def until_event(server: Any, holds: Callable[[dict[str, Any]], bool], **query: Any) -> dict[str, Any]:
    async for event in server.events(**query):
        if holds(event):
            return dict(event)
    raise AssertionError("The stream ended before it happened.")


def is_task(status: str) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["data"].get("status") == status and event["kind"] == "taskUpdated"


async def test_everything_has_the_spec_s_fields(fleet_server: Any) -> None:
    async with fleet_server() as server:
        [robot] = await server.call("GET", "/robots")
        assert robot["robotId"] == "RB-01"
        assert robot["phase"] == "idle"
        assert {"status", "loadState", "battery", "nodeId", "x", "y", "scene"} <= robot.keys()
        assert (await server.call("GET", "/robots/RB-01"))["robotId"] == "RB-01"
        sites = {site["worksiteId"]: site for site in await server.call("GET", "/worksites")}
        assert sites["PICK_01"]["occupancy"] == "filled"
        assert {"worksiteType", "groupId", "entryNodeId", "actionNodeId"} <= sites["PICK_01"].keys()
        [stream] = await server.call("GET", "/streams")
        assert (stream["streamId"], stream["enabled"]) == ("stream_pick_drop", False)
        assert await server.call("GET", "/tasks") == []
        state = await server.call("GET", "/state?scene=line")
        assert [one["robotId"] for one in state["robots"]] == ["RB-01"]
        assert state["fleets"][0]["held"] is False


async def test_a_stream_switched_on_moves_the_pallet(fleet_server: Any) -> None:
    async with fleet_server() as server:
        [reason] = await server.call("GET", "/streams/stream_pick_drop/why")
        assert reason["code"] == "stream.disabled"
        assert {"code", "about", "says", "tryNext"} == reason.keys()
        on = await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True})
        assert on["enabled"] is True
        ended = await until_event(server, is_task("completed"), kinds="taskUpdated")
        task = await server.call("GET", f"/tasks/{ended['data']['taskId']}")
        assert (task["status"], task["sourceId"], task["targetId"]) == ("completed", "PICK_01", "DROP_01")
        assert [one["taskId"] for one in await server.call("GET", "/tasks?open=false")] == [task["taskId"]]
        assert await server.call("GET", "/tasks?open=true") == []
        assert (await server.call("GET", "/worksites/DROP_01"))["occupancy"] == "filled"
        assert (await server.call("GET", "/worksites/PICK_01"))["occupancy"] == "empty"
        why = await server.call("GET", "/robots/RB-01/why")
        assert why
        assert all(reason["says"].endswith((".", "!")) for reason in why)
        over = await server.refused("POST", f"/tasks/{task['taskId']}/resume", status=409)
        assert over["reasons"][0]["code"] == "task.over"


async def test_people_correct_worksites(fleet_server: Any) -> None:
    async with fleet_server() as server:
        changed = await server.call("PATCH", "/worksites/PICK_01", {"occupancy": "empty"})
        assert changed["occupancy"] == "empty"
        event = await until_event(server, lambda event: True, kinds="worksiteUpdated")
        assert event["about"]["worksiteId"] == "PICK_01"
        assert event["data"]["occupancy"] == "empty"
        assert event["scene"] == "line"
        wrong = await server.refused("PATCH", "/worksites/PICK_01", {"occupancy": "full"}, status=422)
        assert "empty, filled or unknown" in wrong["detail"]
        await server.refused("PATCH", "/worksites/PICK_01", {"occupancy": 7}, status=422)
        await server.refused("PATCH", "/worksites/PICK_01", {"occupied": True}, status=422)
        await server.refused("PATCH", "/streams/stream_pick_drop", {"enabled": "yes"}, status=422)
        unknown = await server.refused("GET", "/worksites/PICK_99", status=404)
        assert "PICK_01" in unknown["nearest"]
        assert (await server.refused("GET", "/robots/RB-99/why", status=404))["nearest"] == ["RB-01"]
        assert (await server.refused("POST", "/tasks/line-t9/cancel", status=404))["code"] == "task.unknown"
        assert (await server.refused("GET", "/robots?scene=nowhere", status=404))["nearest"] == ["line"]


async def test_an_id_in_two_active_scenes_is_refused_without_its_scene(fleet_server: Any) -> None:
    async with fleet_server(line("north"), line("south")) as server:
        for method, path, body in (
            ("GET", "/robots/RB-01", None),
            ("GET", "/robots/RB-01/why", None),
            ("POST", "/robots/RB-01/hold", None),
            ("GET", "/worksites/PICK_01", None),
            ("PATCH", "/worksites/PICK_01", {"occupancy": "empty"}),
            ("PATCH", "/streams/stream_pick_drop", {"enabled": True}),
            ("GET", "/fleet/why?name=RB-01", None),
        ):
            told = await server.refused(method, path, body, status=409)
            assert told["scenes"] == ["north", "south"]
            assert "north, south" in told["detail"]
        held = await server.call("POST", "/robots/RB-01/hold?scene=south")
        assert (held["phase"], held["scene"]) == ("held", "south")
        assert (await server.call("GET", "/robots/RB-01?scene=north"))["phase"] == "idle"
        assert len(await server.call("GET", "/robots")) == 2
        assert len(await server.call("GET", "/robots?scene=north")) == 1


async def test_robots_are_held_released_parked_and_taken_out(fleet_server: Any) -> None:
    async with fleet_server(line(park=True)) as server:
        assert (await server.call("POST", "/robots/RB-01/hold"))["phase"] == "held"
        [reason, *_] = await server.call("GET", "/robots/RB-01/why")
        assert reason["code"] == "robot.held"
        assert (await server.call("POST", "/robots/RB-01/release"))["phase"] != "held"
        assert (await server.call("POST", "/robots/RB-01/out-of-service"))["outOfService"] is True
        assert (await server.call("POST", "/robots/RB-01/in-service"))["outOfService"] is False
        refused = await server.refused("POST", "/robots/RB-01/charge", status=409)
        assert refused["reasons"][0]["code"] == "scene.no_charger"
        await server.call("POST", "/robots/RB-01/park")
        await until_event(
            server, lambda event: event["data"].get("errand", {}).get("state") == "there", kinds="robotUpdated"
        )
        assert (await server.call("POST", "/robots/RB-01/set-load", {"loadState": "loaded"}))["loadState"] == "loaded"
        await server.refused("POST", "/robots/RB-01/set-load", {"loadState": "heavy"}, status=422)
        await server.refused("POST", "/robots/RB-01/dance", status=404)


async def test_hold_all_and_clear(fleet_server: Any) -> None:
    async with fleet_server() as server:
        held = await server.call("POST", "/fleet/line/hold")
        assert held["held"] is True
        await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True})
        [reason, *_] = await server.call("GET", "/streams/stream_pick_drop/why")
        assert reason["code"] == "fleet.held"
        assert await server.call("GET", "/tasks") == []
        assert (await server.call("POST", "/fleet/line/clear"))["held"] is False
        await until_event(server, is_task("completed"), kinds="taskUpdated")
        assert (await server.refused("POST", "/fleet/nowhere/hold", status=404))["nearest"] == ["line"]


async def test_an_error_freezes_and_the_inbox_lets_it_go_on(fleet_server: Any) -> None:
    async with fleet_server() as server:
        await server.call("POST", "/robots/RB-01/faults", {"fault": "status5"})
        await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True})
        held = await until_event(server, is_task("held"), kinds="taskUpdated")
        task_id = held["data"]["taskId"]
        [decision] = await server.call("GET", "/inbox")
        assert decision["kind"] == "hold"
        assert decision["about"]["taskId"] == task_id
        assert {"resume", "abort"} <= set(decision["verbs"])
        assert (await server.call("GET", "/state"))["fleets"][0]["held"] is True
        assert (await server.call("GET", f"/tasks/{task_id}/why"))[0]["tryNext"]
        whole = await server.call("GET", "/fleet/why")
        assert task_id in {reason["about"] for reason in whole}
        await server.call("POST", f"/inbox/{decision['id']}", {"verb": "resume"})
        await server.refused("POST", f"/inbox/{decision['id']}", {"verb": "resume"}, status=409)
        await until_event(server, is_task("completed"), task=task_id)
        assert await server.call("GET", "/inbox") == []
        bad = await server.refused("POST", "/robots/RB-01/faults", {"fault": "explode"}, status=422)
        assert len(bad["problems"][0]["nearest"]) == 3


async def test_transport_on_request_is_reviewed_and_run_like_any_plan(fleet_server: Any) -> None:
    async with fleet_server(line(park=True)) as server:
        text = "move the pallet from PICK_01 to DROP_01, then send RB-01 to park"
        plan = await server.call("POST", "/plans", {"scene": "line", "text": text}, status=201)
        assert plan["decision"]["verbs"] == ["start", "cancel"]
        seen = await server.call("POST", f"/plans/{plan['id']}/preview")
        assert [row["stepId"] for row in seen["timeline"]] == ["step_1", "step_2"]
        run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
        done = await server.ended(run["runId"])
        assert done["status"] == "completed"
        assert done["steps"][0]["result"]["value"]["status"] == "completed"
        assert (await server.call("GET", "/worksites/DROP_01"))["occupancy"] == "filled"
        again = await server.call("POST", "/plans", {"scene": "line", "text": text}, status=201)
        failed = await server.call("POST", f"/plans/{again['id']}/runs", {"version": 1}, status=201)
        ended = await server.ended(failed["runId"])
        assert ended["status"] == "failed"
        assert "no pallet can be taken" in ended["steps"][0]["result"]["error"]


async def test_words_and_names_are_refused_with_what_to_do(fleet_server: Any) -> None:
    async with fleet_server() as server:
        unclear = await server.refused("POST", "/plans", {"scene": "line", "text": "do something nice"}, status=422)
        assert unclear["code"] == "intent.not_understood"
        assert unclear["understood"] == []
        wrong = await server.refused(
            "POST", "/plans", {"scene": "line", "text": "move the pallet from PICK_09 to DROP_09"}, status=422
        )
        assert [problem["about"] for problem in wrong["problems"]] == ["PICK_09", "DROP_09"]
        intent = {"steps": [{"action": "transport", "from": "PICK_01", "to": "PICK_01"}, {"action": "fly"}]}
        both = await server.refused("POST", "/plans", {"scene": "line", "intent": intent}, status=422)
        assert len(both["problems"]) == 2


async def test_telemetry_is_live_and_not_logged(fleet_server: Any) -> None:
    async with fleet_server(line("north"), line("south")) as server:
        frames: list[Any] = []
        seqs: list[int] = []
        async with (
            asyncio.timeout(PATIENCE_S),
            server.http.stream("GET", "/telemetry", params={"scene": "north"}) as answer,
        ):
            async for text in answer.aiter_lines():
                if text.startswith("data:"):
                    frames.append(json.loads(text[5:]))
                    seqs.append(await server.runtime.store.last_seq())
                if len(frames) == 20:
                    break
        assert {frame["scene"] for frame in frames} == {"north"}
        assert {"robotId", "x", "y", "phase"} <= frames[0]["robots"][0].keys()
        assert len(set(seqs)) < 10, "robots that stand still make frames and no events"
        await server.refused("GET", "/telemetry?scene=nowhere", status=404)


async def test_one_transport_does_not_wake_a_whole_fleet(serve_with: Any) -> None:
    async with serve_with(speed=50) as server:
        await server.call("PUT", "/scenes/line", line())
        text = "move the pallet from PICK_01 to DROP_01"
        plan = await server.call("POST", "/plans", {"scene": "line", "text": text}, status=201)
        told = await server.refused("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=409)
        assert told["code"] == "fleet.inactive"
        await server.call("POST", "/scenes/line/activate")
        run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
        assert (await server.ended(run["runId"]))["status"] == "completed"


async def test_an_order_that_can_do_nothing_is_a_conflict_with_its_reason(fleet_server: Any) -> None:
    async with fleet_server() as server:
        refused = await server.refused("POST", "/robots/RB-01/park", status=409)
        assert refused["code"] == "scene.no_park"
        await server.call("POST", "/robots/RB-01/hold")
        refused = await server.refused("POST", "/robots/RB-01/charge", status=409)
        assert refused["code"] == "robot.held"
        assert refused["detail"].startswith("A person holds it.")
