"""Cells over HTTP: from words to a finished run, with everything that can stand in the way."""

import asyncio
from typing import Any

import pytest

from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.cell.core.scene import read_cell


async def planned(server: Any, text: str, **more: Any) -> Any:
    return await server.call("POST", "/plans", {"scene": "weld_star", "text": text, **more}, status=201)


async def run_to_the_end(server: Any, plan: Any) -> Any:
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": plan["version"]}, status=201)
    return await server.ended(run["runId"])


async def test_text_plan_preview_approve_run_done(cell_server: Any) -> None:
    async with cell_server() as server:
        plan = await planned(server, "weld positions 1 and 2")
        assert (plan["version"], len(plan["steps"])) == (1, 12)
        assert plan["world"] == {"current_position": "Home", "current_tool": "none"}
        assert plan["decision"]["kind"] == "review"
        assert plan["steps"][0]["goal"]["says"]
        seen = await server.call("POST", f"/plans/{plan['id']}/preview")
        assert (seen["moves"], seen["toolChanges"], seen["problems"]) == (9, 1, [])
        done = await run_to_the_end(server, plan)
        assert done["status"] == "completed"
        cell = await server.call("GET", "/cells/weld_star")
        assert {key: cell[key] for key in seen["end"]} == seen["end"]
        assert cell["active"] is True
        ids = [event["correlationId"] for event in await server.take(6, run=done["runId"])]
        assert len(set(ids)) == 1


async def test_a_plan_for_another_state_does_not_start_and_is_made_anew(cell_server: Any) -> None:
    async with cell_server() as server:
        plan = await planned(server, "weld 1")
        await server.call("PATCH", "/cells/weld_star", {"position": "Pos_3", "tool": "Welder"})
        refused = await server.refused("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=409)
        assert refused["code"] == "plan.drift"
        assert refused["difference"]["planned"] == {"current_position": "Home", "current_tool": "none"}
        assert refused["difference"]["now"] == {"current_position": "Pos_3", "current_tool": "Welder"}
        assert "regenerate" in refused["hint"]
        anew = await server.call("POST", f"/plans/{plan['id']}/regenerate", {})
        assert anew["version"] == 2
        assert anew["steps"][0]["args"]["target"] == "Safe_Pos_3"
        assert (await run_to_the_end(server, anew))["status"] == "completed"


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ({"text": "go to Pos_4"}, "cell.cannot_plan", "No path"),
        ({"text": "attach the Laser"}, "cell.cannot_plan", "Camera, Welder"),
        ({"intent": {"steps": [{"action": "attach_tool", "tool": "Laser"}]}}, "cell.cannot_plan", "Laser"),
        ({"intent": {"steps": []}}, "cell.cannot_plan", "no steps"),
        ({"text": "weld 1", "position": "Nowhere"}, "cell.cannot_plan", "Nowhere"),
        ({"text": "weld 1 or 2"}, "intent.not_understood", "or"),
        ({"text": "weld 1", "intent": {"steps": []}}, "plan.request", "either"),
        ({}, "plan.request", "either"),
    ],
)
async def test_what_cannot_be_planned_is_422_with_everything(
    cell_server: Any, body: dict[str, Any], code: str, said: str
) -> None:
    async with cell_server() as server:
        told = await server.refused("POST", "/plans", {"scene": "weld_star", **body}, status=422)
        assert told["code"] == code
        assert said in told["detail"] + str(told.get("problems", ""))
        if code == "intent.not_understood":
            assert told["understood"][0]["says"] == "tack_weld at Pos_1"
        assert await server.call("GET", "/inbox") == []


async def test_options_start_elsewhere_and_free_the_order(cell_server: Any) -> None:
    async with cell_server() as server:
        near = await planned(server, "go to Pos_1", position="Safe_Pos_1")
        assert [step["args"]["target"] for step in near["steps"]] == ["Pos_1"]
        goals = [
            {"action": "move", "position": "Pos_2"},
            {"action": "routine", "routine": "tack_weld", "position": "Pos_1"},
            {"action": "routine", "routine": "tack_weld", "position": "Pos_2"},
        ]
        body = {"scene": "weld_star", "intent": {"steps": goals}, "order": "free"}
        free = await server.call("POST", "/plans", body, status=201)
        assert free["comparison"]["stepsSaved"] > 0
        assert free["decision"]["evidence"]["comparison"] == free["comparison"]
        nothing = await server.refused("POST", "/plans", {"scene": "weld_star", "text": "go home"}, status=409)
        assert "nothing to do" in nothing["detail"]


async def test_an_edit_that_leaves_the_graph_is_refused_and_can_be_mended(cell_server: Any) -> None:
    async with cell_server() as server:
        plan = await planned(server, "weld 1")
        edits = [{"op": "remove", "id": "step_5"}]
        broken = await server.refused("PATCH", f"/plans/{plan['id']}", {"edits": edits}, status=422, If_Match="1")
        assert broken["repair"]["steps"]
        assert "repair: true" in broken["hint"]
        assert (await server.call("GET", f"/plans/{plan['id']}"))["version"] == 1
        body = {"edits": edits, "repair": True}
        mended = await server.call("PATCH", f"/plans/{plan['id']}", body, If_Match="1")
        assert mended["version"] == 2
        seen = await server.call("POST", f"/plans/{plan['id']}/preview")
        assert seen["problems"] == []
        assert (await run_to_the_end(server, mended))["status"] == "completed"


async def test_a_failing_weld_check_is_a_doubt_and_welding_again_goes_on(cell_server: Any) -> None:
    async with cell_server() as server:
        await server.call("POST", "/cells/weld_star/faults", {"fault": "verify"})
        plan = await planned(server, "weld 1")
        run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
        decision = await server.asked(runId=run["runId"])
        assert decision["kind"] == "inDoubt", "it was begun: only a person says whether that counts"
        assert decision["verbs"] == ["happened", "run-again", "abort"]
        assert (await server.call("GET", f"/runs/{run['runId']}"))["status"] == "waiting"
        await server.call("POST", f"/inbox/{decision['id']}", {"verb": "run-again"})
        assert (await server.ended(run["runId"]))["status"] == "completed"


async def test_why_the_rest_cannot_be_planned_anew_is_told(cell_server: Any) -> None:
    async with cell_server() as server:
        plan = await planned(server, "weld 1")
        await server.call("POST", "/cells/weld_star/faults", {"fault": "fail", "target": "tool_attach"})
        run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
        failed = await server.asked(runId=run["runId"], stepId="step_3")
        await server.call("PATCH", "/cells/weld_star", {"position": "Pos_4", "tool": "Welder"})
        await server.call("POST", f"/inbox/{failed['id']}", {"verb": "skip"})
        drift = await server.asked(runId=run["runId"], stepId="step_4")
        told = await server.refused("POST", f"/inbox/{drift['id']}", {"verb": "replan"}, status=409)
        assert "Step 'step_4': No path of allowed moves leads from Pos_4" in told["detail"]
        assert "check again" in told["hint"]


WELD = {"action": "routine", "routine": "tack_weld", "position": "Pos_1"}


async def failed_weld(server: Any) -> tuple[Any, str]:
    """A run of three welds at one place whose first has failed, and the decision about it."""
    plan = await server.call("POST", "/plans", {"scene": "weld_star", "intent": {"steps": [WELD] * 3}}, status=201)
    await server.call("POST", "/cells/weld_star/faults", {"fault": "fail", "target": "tack_weld"})
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    return run, (await server.asked(runId=run["runId"], stepId="step_7"))["id"]


def out_and_back() -> dict[str, Any]:
    out = {"id": "out", "tool": "cell.move", "args": {"target": "Safe_Pos_1"}}
    return {"steps": [out, {"id": "back", "tool": "cell.move", "args": {"target": "Pos_1"}, "dependsOn": ["out"]}]}


async def test_a_step_skipped_in_a_run_still_keeps_the_others_in_order(cell_server: Any) -> None:
    """What waits for a skipped step waits for what that one waited for, so steps may still be put in before it."""
    async with cell_server() as server:
        run, decision = await failed_weld(server)
        await server.call("POST", f"/runs/{run['runId']}/steps/step_8/skip")
        await server.call("POST", f"/inbox/{decision}", {"verb": "insert", "value": out_and_back()})
        done = await server.ended(run["runId"])
        assert (done["status"], done["summary"]["skipped"]) == ("completed", 1)


async def test_what_is_wrong_with_steps_put_in_has_its_place_in_the_plan_and_offers_nothing_that_cannot_be_taken(
    cell_server: Any,
) -> None:
    async with cell_server() as server:
        _, decision = await failed_weld(server)
        [out, _] = out_and_back()["steps"]
        body = {"verb": "insert", "value": {"steps": [out]}}
        told = await server.refused("POST", f"/inbox/{decision}", body, status=422)
        assert told["problems"][0]["path"] == "steps[7]"
        assert "repair" not in told["hint"]


async def test_a_stalled_move_can_be_cancelled_and_the_robot_is_not_set_meanwhile(cell_server: Any) -> None:
    async with cell_server() as server:
        await server.call("POST", "/cells/weld_star/faults", {"fault": "stall", "target": "Safe_Pos_1"})
        plan = await planned(server, "go to Pos_1")
        run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
        async for event in server.events(run=run["runId"], kinds="stepUpdated"):
            if event["data"]["status"] == "running":
                break
        busy = await server.refused("PATCH", "/cells/weld_star", {"position": "Home"}, status=409)
        assert "step_1" in busy["detail"]


async def test_step_lists_are_taken_in_for_a_scene(cell_server: Any) -> None:
    async with cell_server() as server:
        steps = [
            {"id": 1, "name": "Move to Safe_Pos_1", "action": "move", "target": "Safe_Pos_1"},
            {"id": 2, "name": "Move to Pos_1", "action": "move", "target": "Pos_1"},
        ]
        plan = await server.call("POST", "/plans", {"scene": "weld_star", "plan": steps}, status=201)
        assert [step["tool"] for step in plan["steps"]] == ["cell.move", "cell.move"]
        assert (await run_to_the_end(server, plan))["status"] == "completed"
        there = [{**steps[1], "id": 1}]
        wrong = await server.refused("POST", "/plans", {"scene": "weld_star", "plan": there}, status=422)
        assert "no allowed move leads from Pos_1" in wrong["problems"][0]["says"]


async def test_cells_are_listed_set_and_refused(cell_server: Any) -> None:
    async with cell_server() as server:
        [cell] = await server.call("GET", "/cells")
        assert (cell["scene"], cell["current_position"], cell["current_tool"]) == ("weld_star", "Home", "none")
        moved = await server.call("PATCH", "/cells/weld_star", {"position": "Pos_1"})
        assert moved["current_position"] == "Pos_1"
        assert (await server.refused("PATCH", "/cells/weld_star", {"position": "Nix"}, status=422))["nearest"]
        await server.refused("PATCH", "/cells/weld_star", {}, status=422)
        await server.refused("PATCH", "/cells/weld_star", {"position": 7}, status=422)
        for field in ("position", "tool"):
            blank = await server.refused("PATCH", "/cells/weld_star", {field: ""}, status=422)
            assert blank["detail"].startswith(f"Unknown {field} ''.")
            body = {"scene": "weld_star", "text": "go to Pos_2", field: ""}
            assert (await server.refused("POST", "/plans", body, status=422))["code"] == "cell.cannot_plan"
        assert (await server.refused("GET", "/cells/weld_sta", status=404))["nearest"] == ["weld_star"]
        faults = await server.refused("POST", "/cells/weld_star/faults", {"fault": "explode"}, status=422)
        assert "verify" in faults["nearest"]
        never = {"fault": "verify", "target": "tool_attach"}
        told = await server.refused("POST", "/cells/weld_star/faults", never, status=422)
        assert told["nearest"] == ["Pos_1", "Pos_2", "Pos_3", "tack_weld"]
        await server.call("POST", "/cells/weld_star/faults", {"fault": "verify", "target": "Pos_2"})
        state = await server.call("GET", "/state")
        assert state["cells"][0]["current_position"] == "Pos_1"


async def test_a_cell_that_is_only_kept_is_made_live_by_its_first_run(serve_with: Any) -> None:
    async with serve_with(speed=500) as server:
        document = find_document("weld_star")
        kept = await server.call("PUT", "/scenes/weld_star", document)
        assert kept["active"] is False
        plan = await planned(server, "go to Pos_1")
        assert (await run_to_the_end(server, plan))["status"] == "completed"
        assert (await server.call("GET", "/cells/weld_star"))["active"] is True


async def test_a_refused_start_leaves_a_resting_cell_at_rest(cell_server: Any) -> None:
    async with cell_server() as server:
        plan = await planned(server, "go to Pos_1", position="Pos_3")
        await server.call("POST", "/scenes/weld_star/deactivate")
        assert (await server.refused("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=409))["difference"]
        assert (await server.call("GET", "/cells/weld_star"))["active"] is False
        assert (await run_to_the_end(server, await planned(server, "go to Pos_1")))["status"] == "completed"


async def test_every_cell_that_a_plan_s_steps_name_is_made_live_by_its_start(cell_server: Any) -> None:
    async with cell_server() as server:
        await save_scene(server.runtime, None, find_document("weld_corridor"))
        await server.call("POST", "/scenes/weld_star/deactivate")
        both = ("weld_star", "weld_corridor")
        steps = [{"id": name, "tool": "cell.move", "args": {"scene": name, "target": "Safe_Pos_1"}} for name in both]
        plan = await server.plan(*steps)
        assert [cell["active"] for cell in await server.call("GET", "/cells")] == [False, False]
        assert (await run_to_the_end(server, plan))["status"] == "completed"


async def test_a_scene_of_another_kind_is_told_as_what_it_is(cell_server: Any) -> None:
    async with cell_server() as server:
        for name in ("apartment", "line_pick_drop"):
            await save_scene(server.runtime, None, find_document(name))
        told = await server.refused("GET", "/cells/apartment", status=404)
        assert told["detail"] == "apartment is a scene of kind home, not cell. Scenes of kind cell: weld_star."
        go = {"id": "go", "tool": "cell.move", "args": {"scene": "line_pick_drop", "target": "Home"}}
        bring = {"id": "bring", "tool": "fleet.transport", "args": {"scene": "weld_star", "from": "A", "to": "B"}}
        sit = {"id": "sit", "tool": "agent.errand", "args": {"scene": "weld_star", "goal": "sit on bed1"}}
        told = await server.refused("POST", "/plans", {"plan": {"steps": [go, bring, sit]}}, status=422)
        says = " ".join(problem["says"] for problem in told["problems"])
        assert "line_pick_drop is a scene of kind fleet, not cell." in says
        assert "weld_star is a scene of kind cell, not fleet. Scenes of kind fleet: line_pick_drop." in says
        assert "weld_star is a scene of kind cell, not home. Scenes of kind home: apartment." in says
        told = await server.refused("POST", "/sessions", {"scene": "weld_star"}, status=404)
        assert "is a scene of kind cell, not home" in told["detail"]


async def test_a_live_cell_keeps_its_controller_when_it_is_activated_again(cell_server: Any) -> None:
    async with cell_server() as server:
        before = server.runtime.service(Cells).live["weld_star"].controller
        await server.call("POST", "/scenes/weld_star/activate")
        assert server.runtime.service(Cells).live["weld_star"].controller is before
        await server.call("POST", "/cells/weld_star/faults", {"fault": "stall"})
        plan = await planned(server, "go to Pos_1")
        run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
        async for event in server.events(run=run["runId"], kinds="stepUpdated"):
            if event["data"]["status"] == "running":
                break
        changed = {**find_document("weld_star"), "speed_mps": 3}
        await server.call("PUT", "/scenes/weld_star", changed)
        await server.refused("POST", "/scenes/weld_star/activate", status=409)


async def test_the_state_of_a_scene_has_its_decisions_only(cell_server: Any) -> None:
    async with cell_server() as server:
        await save_scene(server.runtime, None, find_document("weld_corridor"), activate=True)
        mine = await planned(server, "go to Pos_1")
        await server.call("POST", "/plans", {"scene": "weld_corridor", "text": "go to Pos_1"}, status=201)
        state = await server.call("GET", "/state?scene=weld_star")
        assert [decision["about"]["planId"] for decision in state["decisions"]] == [mine["id"]]
        assert [cell["scene"] for cell in state["cells"]] == ["weld_star"]
        assert len((await server.call("GET", "/state"))["decisions"]) == 2


async def test_no_cell_step_gets_past_the_verifier(cell_server: Any) -> None:
    async with cell_server() as server:
        leap = {"id": "leap", "tool": "cell.move", "args": {"scene": "weld_star", "target": "Pos_1"}}
        told = await server.refused("POST", "/plans", {"plan": {"steps": [leap]}}, status=422)
        assert "no allowed move leads from Home to Pos_1" in told["problems"][0]["says"]
        lost = {"id": "lost", "tool": "cell.move", "args": {"target": "Safe_Pos_1"}}
        told = await server.refused("POST", "/plans", {"plan": {"steps": [lost]}}, status=422)
        assert told["problems"][0]["nearest"] == ["weld_star"]
        plain = await server.plan(server.step("wait"))
        edits = {"edits": [{"op": "add", "step": leap}]}
        await server.refused("PATCH", f"/plans/{plain['id']}", edits, status=422, If_Match="1")
        stray = {**leap, "args": {"scene": "nowhere", "target": "Pos_1"}}
        await server.refused(
            "PATCH", f"/plans/{plain['id']}", {"edits": [{"op": "add", "step": stray}]}, status=422, If_Match="1"
        )


async def test_a_cell_s_steps_inside_a_bigger_plan(cell_server: Any) -> None:
    async with cell_server() as server:
        go = {"id": "go", "tool": "cell.move", "args": {"scene": "weld_star", "target": "Safe_Pos_1"}}
        back = {"id": "back", "tool": "cell.move", "args": {"target": "Home"}, "dependsOn": ["rest"]}
        plan = await server.plan(go, server.step("rest", dependsOn=["go"]), back)
        assert plan["scene"] == "weld_star"
        assert (await run_to_the_end(server, plan))["status"] == "completed"
        seen = await server.call("POST", f"/plans/{plan['id']}/preview")
        assert seen["problems"] == []


async def test_a_scene_keeps_its_kind(cell_server: Any) -> None:
    async with cell_server() as server:
        other = {"kind": "fleet", "name": "weld_star", "nodes": [{"id": "A", "x": 0, "y": 0}]}
        told = await server.refused("PUT", "/scenes/weld_star", other, status=409)
        assert "another name" in told["hint"]


@pytest.mark.needs("asyncua")
@pytest.mark.parametrize("version", [1, 2])
async def test_a_robot_moved_by_hand_is_seen_and_doctor_says_what_its_controller_cannot_refuse(
    serve_with: Any, version: int
) -> None:
    from tests.contract.plcs import running_plc

    scene = find_document("weld_star")
    async with running_plc(read_cell(scene), version=version) as plc, serve_with() as server:
        wired = {**scene, "controller": {"kind": "opcua", "url": plc.url}}
        await save_scene(server.runtime, None, wired, activate=True)
        plan = await planned(server, "weld 1")
        began = asyncio.get_running_loop().time()
        await plc._cell.place("Pos_3", "Welder")
        while (cell := await server.call("GET", "/cells/weld_star"))["current_position"] != "Pos_3":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert cell["current_tool"] == "Welder"
        assert asyncio.get_running_loop().time() - began < 10, "a second where the machine has time for it"
        refused = await server.refused("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=409)
        assert refused["code"] == "plan.drift"
        assert plc.taken == []
        [found] = [one for one in (await server.call("GET", "/doctor"))["checks"] if one["check"] == "cell weld_star"]
        assert found["state"] == "ok"
        assert f"version {version} of the information model" in found["says"]
        assert ("cannot refuse" in found["says"]) is (version == 1)
        await plc.stop()
        await server.call("POST", "/scenes/weld_star/deactivate")
        checks = (await server.call("GET", "/doctor"))["checks"]
        assert not [one for one in checks if one["check"].startswith("cell ")]


@pytest.mark.needs("asyncua")
async def test_doctor_tells_of_a_controller_that_does_not_answer(serve_with: Any) -> None:
    scene = {**find_document("weld_star"), "controller": {"kind": "opcua", "url": "opc.tcp://127.0.0.1:9"}}
    async with serve_with() as server:
        await save_scene(server.runtime, None, scene, activate=True)
        doctor = await server.call("GET", "/doctor")
        [found] = [one for one in doctor["checks"] if one["check"] == "cell weld_star"]
        assert found["state"] == "missing"
        assert "nothing listens on this port" in found["says"]
        shown = await server.call("GET", "/cells/weld_star")
        assert "does not answer" in shown["says"]
