"""Runs over HTTP: followed to the end, paused, cancelled, steered by the step, adopted; templates and the inbox."""

import asyncio
from typing import Any


async def test_a_run_goes_to_its_end(server: Any) -> None:
    run = await server.start(server.step("a"), server.step("b", dependsOn=["a"]), name="Short")
    assert {"runId", "planId", "version", "status", "steps"} <= run.keys()
    done = await server.ended(run["runId"])
    assert done["status"] == "completed"
    assert done["durationMs"] >= 0
    assert [step["status"] for step in done["steps"]] == ["completed", "completed"]
    assert done["steps"][0]["result"]["ok"] is True
    assert [head["runId"] for head in await server.call("GET", "/runs")] == [run["runId"]]
    assert await server.call("GET", "/runs?open=true") == []


async def test_a_step_waits_for_approval_and_goes_on(server: Any) -> None:
    run = await server.start(server.step("a", requiresApproval=True))
    decision = await server.asked(runId=run["runId"])
    assert decision["kind"] == "approval"
    assert (await server.call("GET", f"/inbox/{decision['id']}"))["status"] == "open"
    answered = await server.call("POST", f"/inbox/{decision['id']}", {"verb": "approve", "note": "fine"})
    assert answered["status"] == "answered"
    assert answered["answer"]["verb"] == "approve"
    assert (await server.ended(run["runId"]))["status"] == "completed"
    told = await server.refused("POST", f"/inbox/{decision['id']}", {"verb": "approve"}, status=409)
    assert told["status"] == 409


async def test_of_many_answers_at_once_one_counts(server: Any) -> None:
    run = await server.start(server.step("a", requiresApproval=True))
    decision = await server.asked(runId=run["runId"])
    verbs = ["approve", "deny"] * 3
    answers = await asyncio.gather(
        *(server.http.post(f"/inbox/{decision['id']}", json={"verb": verb}) for verb in verbs)
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]


async def test_only_a_decisions_own_verbs_answer_it(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    path = f"/inbox/{plan['decision']['id']}"
    assert (await server.refused("POST", path, {"verb": "approve"}, status=422))["nearest"] == ["cancel", "start"]
    for body in ({}, {"verb": 5}, {"verb": None}, {"verb": "start", "extra": 1}):
        await server.refused("POST", path, body, status=422)
    await server.refused("POST", "/inbox/none", {"verb": "start"}, status=404)
    await server.refused("GET", "/inbox/none", status=404)


async def test_a_review_can_be_answered_in_the_inbox(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    await server.call("POST", f"/inbox/{plan['decision']['id']}", {"verb": "start"})
    (run,) = await server.call("GET", "/runs")
    assert (await server.ended(run["runId"]))["status"] == "completed"
    put_away = await server.plan(server.step("a"))
    await server.call("POST", f"/inbox/{put_away['decision']['id']}", {"verb": "cancel"})
    await server.refused("POST", f"/plans/{put_away['id']}/runs", {"version": 1}, status=409)


async def test_a_question_takes_a_value(server: Any) -> None:
    run = await server.start(server.step("q", "ask_person", {"question": "Which colour?"}))
    decision = await server.asked(runId=run["runId"])
    await server.refused("POST", f"/inbox/{decision['id']}", {"verb": "answer"}, status=422)
    await server.call("POST", f"/inbox/{decision['id']}", {"verb": "answer", "value": {"name": "blue"}})
    assert (await server.ended(run["runId"]))["steps"][0]["result"]["value"] == {"name": "blue"}


async def test_a_run_is_paused_resumed_and_cancelled(server: Any) -> None:
    run = await server.start(server.step("a", requiresApproval=True))
    path = f"/runs/{run['runId']}"
    await server.asked(runId=run["runId"])
    assert (await server.call("POST", f"{path}/pause"))["status"] == "paused"
    assert (await server.call("POST", f"{path}/resume"))["status"] in ("running", "waiting")
    assert (await server.call("POST", f"{path}/cancel"))["status"] == "cancelled"
    for verb in ("pause", "resume", "cancel"):
        await server.refused("POST", f"{path}/{verb}", status=409)
        await server.refused("POST", f"/runs/none/{verb}", status=404)
    await server.refused("POST", f"{path}/explode", status=404)
    await server.refused("GET", f"{path}/pause", status=405)


async def test_a_failed_step_is_tried_again_with_other_arguments(server: Any) -> None:
    (server.workspace / "there.txt").write_text("here")
    run = await server.start(server.step("r", "read_file", {"path": "missing.txt"}, retries=0), server.step("b"))
    failed = await server.ended(run["runId"])
    assert failed["status"] == "failed"
    path = f"/runs/{run['runId']}/steps"
    await server.call("POST", f"{path}/r/retry", {"args": {"path": "there.txt"}})
    async for event in server.events(run=run["runId"], after=0):
        if event["kind"] == "runFinished" and event["data"]["status"] == "completed":
            break
    assert (await server.call("GET", f"/runs/{run['runId']}"))["steps"][0]["result"]["value"] == "here"
    told = await server.refused("POST", f"{path}/nobody/retry", status=404)
    assert set(told["nearest"]) == {"r", "b"}
    await server.refused("POST", f"{path}/r/retry", {"args": "x"}, status=422)


async def test_a_step_is_skipped_and_a_part_run_again(server: Any) -> None:
    run = await server.start(server.step("a", requiresApproval=True), server.step("b"))
    await server.asked(runId=run["runId"])
    path = f"/runs/{run['runId']}/steps"
    await server.call("POST", f"{path}/a/skip")
    done = await server.ended(run["runId"])
    assert [step["status"] for step in done["steps"]] == ["skipped", "completed"]
    await server.call("POST", f"{path}/b/rerun")
    finished = [e async for e in _until_finished_twice(server, run["runId"])]
    assert finished[-1]["data"]["status"] == "completed"
    await server.refused("POST", f"{path}/zz/skip", status=404)
    await server.refused("POST", f"{path}/zz/rerun", status=404)


async def _until_finished_twice(server: Any, run_id: str) -> Any:
    count = 0
    async for event in server.events(run=run_id):
        if event["kind"] == "runFinished":
            yield event
            count += 1
            if count == 2:
                return


async def test_a_running_plan_is_edited_and_adopted(server: Any) -> None:
    run = await server.start(server.step("a", requiresApproval=True), server.step("b", dependsOn=["a"]))
    decision = await server.asked(runId=run["runId"])
    plan_path = f"/plans/{run['planId']}"
    edits = {"edits": [{"op": "add", "step": server.step("c", dependsOn=["b"])}]}
    edited = await server.call("PATCH", plan_path, edits, If_Match="1")
    assert edited["decision"]["verbs"] == ["adopt", "cancel"]
    adopted = await server.call("POST", f"/runs/{run['runId']}/adopt", {"version": 2})
    assert adopted["version"] == 2
    await server.refused("POST", f"/runs/{run['runId']}/adopt", {"version": 1}, status=409)
    await server.refused("POST", f"/runs/{run['runId']}/adopt", {}, status=422)
    still_open = [one["id"] for one in await server.call("GET", "/inbox")]
    assert still_open == [decision["id"]]
    await server.call("POST", f"/inbox/{decision['id']}", {"verb": "approve"})
    assert [step["id"] for step in (await server.ended(run["runId"]))["steps"]] == ["a", "b", "c"]


async def test_an_approval_that_a_new_version_took_back_is_refused_with_what_changed(server: Any) -> None:
    run = await server.start(server.step("a", requiresApproval=True), server.step("b", dependsOn=["a"]))
    decision = await server.asked(runId=run["runId"])
    edits = [{"op": "edit", "id": name, "set": {"args": {"seconds": 0.01}}} for name in ("a", "b")]
    await server.call("PATCH", f"/plans/{run['planId']}", {"edits": edits}, If_Match="1")
    await server.call("POST", f"/runs/{run['runId']}/adopt", {"version": 2})
    told = await server.refused("POST", f"/inbox/{decision['id']}", {"verb": "approve"}, status=409)
    assert told["latestVersion"] == 2
    assert [(change["id"], change["fields"]["args"]["to"]) for change in told["changes"]] == [("a", {"seconds": 0.01})]


async def test_templates_are_kept_listed_and_filled_in(server: Any) -> None:
    write = server.step("w", "write_file", {"path": "out.txt", "content": "$params.word"})
    document = {"plan": {"steps": [write]}, "parameters": {"word": "string"}}
    saved = await server.call("PUT", "/templates/greet", document)
    assert saved["parameters"]["word"]["type"] == "string"
    assert [one["name"] for one in await server.call("GET", "/templates")] == ["greet"]
    assert (await server.call("GET", "/templates/greet"))["name"] == "greet"
    plan = await server.call("POST", "/templates/greet/plans", {"parameters": {"word": "hi"}}, status=201)
    assert plan["steps"][0]["args"]["content"] == "hi"
    assert plan["decision"]["verbs"] == ["start", "cancel"]
    await server.refused("POST", "/templates/greet/plans", {"parameters": {}}, status=422)
    await server.refused("POST", "/templates/greet/plans", {"parameters": [1]}, status=422)
    await server.refused("POST", "/templates/none/plans", {"parameters": {}}, status=404)
    await server.refused("GET", "/templates/none", status=404)
    await server.refused("PUT", "/templates/bad", {"plan": 5}, status=422)
    await server.refused("PUT", "/templates/..%2Fup", document, status=404)
    await server.refused("PUT", "/templates/a%20b", document, status=422)


async def test_state_tools_health_and_metrics(server: Any) -> None:
    await server.plan(server.step("a"))
    state = await server.call("GET", "/state")
    lists = ("scenes", "robots", "worksites", "streams", "tasks", "runs", "sessions", "decisions")
    assert all(isinstance(state[name], list) for name in lists)
    assert state["seq"] == 2
    assert len(state["decisions"]) == 1
    await server.refused("GET", "/state?scene=nowhere", status=404)
    tools = {tool["name"]: tool for tool in await server.call("GET", "/tools")}
    assert tools["write_file"]["effect"] == "idempotent"
    assert tools["read_file"]["inputSchema"]["properties"]["path"]
    health = await server.call("GET", "/health")
    assert health["status"] == "ok"
    assert health["seq"] == 2
    metrics = (await server.http.get("/metrics")).text
    assert "beforehand_events_total 2\n" in metrics
    assert 'beforehand_open_decisions{kind="review"} 1\n' in metrics


async def test_scenes_are_kept_and_made_live(server: Any) -> None:
    scene = {
        "kind": "cell",
        "name": "tiny",
        "positions": ["Home", "Work"],
        "moves": [["Home", "Work"]],
        "tools": [],
        "routines": [],
        "state": {"current_position": "Home", "current_tool": "none"},
    }
    assert (await server.call("PUT", "/scenes/tiny", scene))["active"] is False
    assert (await server.call("GET", "/scenes/tiny"))["document"]["name"] == "tiny"
    assert (await server.call("POST", "/scenes/tiny/activate"))["active"] is True
    assert [(one["name"], one["active"]) for one in await server.call("GET", "/scenes")] == [("tiny", True)]
    assert (await server.call("GET", "/state?scene=tiny"))["scenes"][0]["name"] == "tiny"
    await server.refused("PUT", "/scenes/other", scene, status=422)
    await server.refused("PUT", "/scenes/tiny", {**scene, "moves": [["Home", "Nowhere"]], "more": 1}, status=422)
    await server.refused("PUT", "/scenes/tiny", {"kind": "garden"}, status=422)
    await server.refused("POST", "/scenes/none/activate", status=404)
    await server.refused("GET", "/scenes/none", status=404)
    intent = {"goal": "go", "steps": [{"action": "move", "position": "Work"}]}
    plan = await server.call("POST", "/plans", {"scene": "tiny", "intent": intent}, status=201)
    assert plan["scene"] == "tiny"
    again = await server.call("POST", f"/plans/{plan['id']}/regenerate", {"note": "once more"})
    assert again["version"] == 2
