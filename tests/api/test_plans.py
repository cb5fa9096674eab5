"""Plans over HTTP: taken in, read in every version, edited under If-Match, compared, previewed, started once."""

import asyncio
from typing import Any

import pytest


async def test_a_plan_is_taken_in_with_its_review(server: Any) -> None:
    document = {"id": "mine", "version": 7, "name": "Two", "steps": [server.step("a"), server.step("b")]}
    answer = await server.http.post("/plans", json={"plan": document})
    plan = answer.json()
    assert answer.status_code == 201
    assert answer.headers["etag"] == '"1"'
    assert plan["version"] == 1
    assert plan["id"] != "mine"
    assert [step["id"] for step in plan["steps"]] == ["a", "b"]
    assert plan["decision"]["kind"] == "review"
    assert plan["decision"]["verbs"] == ["start", "cancel"]
    assert await server.call("GET", "/inbox") == [plan["decision"]]
    assert [head["id"] for head in await server.call("GET", "/plans")] == [plan["id"]]


async def test_every_problem_of_a_plan_is_told_at_once(server: Any) -> None:
    steps = [
        server.step("a", "no_such_tool"),
        server.step("b", args={"seconds": "long"}),
        server.step("b", dependsOn=["nobody"]),
    ]
    told = await server.refused("POST", "/plans", {"plan": {"steps": steps}}, status=422)
    assert len(told["problems"]) >= 4
    assert all(problem["says"] and problem["path"] for problem in told["problems"])
    assert await server.call("GET", "/inbox") == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"plan": None},
        {"plan": []},
        {"plan": "text"},
        {"plan": {}},
        {"plan": {"steps": "none"}},
        {"text": "weld it"},
        {"scene": "cell"},
        {"scene": "cell", "text": "a", "intent": {}},
        {"plan": {"steps": [{"id": "a", "tool": "wait"}]}, "text": "and this"},
        {"plan": {"steps": [{"id": "a", "tool": "wait"}]}, "surprise": 1},
        [],
        "plan",
        5,
    ],
)
async def test_what_is_no_plan_is_refused_with_a_sentence(server: Any, body: Any) -> None:
    await server.refused("POST", "/plans", body, status=422)


async def test_planning_for_an_unknown_scene_names_the_known_ones(server: Any) -> None:
    told = await server.refused("POST", "/plans", {"scene": "nowhere", "text": "weld"}, status=422)
    assert told["code"] == "scene.unknown"


async def test_every_version_stays_readable(server: Any) -> None:
    plan = await server.plan(server.step("a"), server.step("b"))
    path = f"/plans/{plan['id']}"
    edits = {"edits": [{"op": "skip", "id": "b"}]}
    answer = await server.http.patch(path, json=edits, headers={"If-Match": "1"})
    assert answer.status_code == 200
    assert answer.headers["etag"] == '"2"'
    assert answer.json()["version"] == 2
    assert answer.json()["decision"]["about"]["version"] == 2
    assert (await server.call("GET", f"{path}?version=1"))["steps"][1]["status"] == "pending"
    assert (await server.call("GET", path))["steps"][1]["status"] == "skipped"
    versions = await server.call("GET", f"{path}/versions")
    assert [(one["version"], one["latest"]) for one in versions] == [(1, False), (2, True)]
    assert versions[1]["changes"]
    compared = await server.call("GET", f"{path}/difference?from=1&to=2")
    assert compared["changes"] == versions[1]["changes"]
    await server.refused("GET", f"{path}?version=3", status=404)
    await server.refused("GET", f"{path}?version=0", status=422)
    await server.refused("GET", f"{path}?version=x", status=422)
    await server.refused("GET", f"{path}/difference?from=1", status=422)


@pytest.mark.parametrize("header", ["1", '"1"', 'W/"1"'])
async def test_if_match_is_read_in_every_spelling(server: Any, header: str) -> None:
    plan = await server.plan(server.step("a"))
    edits = {"edits": [{"op": "edit", "id": "a", "set": {"description": "Wait"}}]}
    assert (await server.call("PATCH", f"/plans/{plan['id']}", edits, If_Match=header))["version"] == 2


async def test_an_edit_without_its_version_is_refused(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    edits = {"edits": [{"op": "skip", "id": "a"}]}
    assert "If-Match" in (await server.refused("PATCH", f"/plans/{plan['id']}", edits, status=428))["detail"]
    for header in ("*", "", "one", "1, 2", '"1', "-1", "1.0", "٣"):
        answer = await server.http.patch(f"/plans/{plan['id']}", json=edits, headers=[(b"If-Match", header.encode())])
        server.problem(answer, 422)


async def test_a_stale_edit_shows_what_changed(server: Any) -> None:
    plan = await server.plan(server.step("a"), server.step("b"))
    path = f"/plans/{plan['id']}"
    await server.call("PATCH", path, {"edits": [{"op": "remove", "id": "b"}]}, If_Match="1")
    told = await server.refused("PATCH", path, {"edits": [{"op": "skip", "id": "a"}]}, status=409, If_Match="1")
    assert told["latestVersion"] == 2
    assert told["changes"]


async def test_edits_are_all_or_nothing_and_name_the_broken_dependency(server: Any) -> None:
    plan = await server.plan(server.step("a"), server.step("b", dependsOn=["a"]))
    path = f"/plans/{plan['id']}"
    edits = [{"op": "edit", "id": "b", "set": {"description": "later"}}, {"op": "move", "id": "b", "before": "a"}]
    told = await server.refused("PATCH", path, {"edits": edits}, status=422, If_Match="1")
    assert "a" in told["detail"]
    assert "b" in told["detail"]
    assert (await server.call("GET", path))["version"] == 1
    for wrong in ([{"op": "dance", "id": "a"}], ["skip"], [{}], [{"op": "skip", "id": "zz"}]):
        await server.refused("PATCH", path, {"edits": wrong}, status=422, If_Match="1")
    await server.refused("PATCH", path, {"edits": "all"}, status=422, If_Match="1")


async def test_one_of_two_edits_at_the_same_time_wins(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    bodies = [{"edits": [{"op": "edit", "id": "a", "set": {"description": str(n)}}]} for n in range(5)]
    answers = await asyncio.gather(
        *(server.http.patch(f"/plans/{plan['id']}", json=body, headers={"If-Match": "1"}) for body in bodies)
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]


async def test_a_preview_shows_the_diff_and_does_nothing(server: Any) -> None:
    write = server.step("w", "write_file", {"path": "new.txt", "content": "hello\n"})
    plan = await server.plan(write)
    shown = await server.call("POST", f"/plans/{plan['id']}/preview")
    assert {"durationS", "moves", "toolChanges", "timeline", "end", "problems"} <= shown.keys()
    assert shown["timeline"][0]["stepId"] == "w"
    assert "+hello" in shown["timeline"][0]["diff"]
    assert not (server.workspace / "new.txt").exists()
    await server.refused("POST", f"/plans/{plan['id']}/preview", {"version": 9}, status=404)


async def test_a_plan_written_by_hand_cannot_be_made_anew(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    await server.refused("POST", f"/plans/{plan['id']}/regenerate", {"note": "shorter"}, status=409)


async def test_starting_twice_makes_one_run(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    path = f"/plans/{plan['id']}/runs"
    answers = await asyncio.gather(*(server.http.post(path, json={"version": 1}) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]
    assert len(await server.call("GET", "/runs")) == 1
    started = next(answer.json() for answer in answers if answer.status_code == 201)
    refused = next(answer.json() for answer in answers if answer.status_code == 409)
    assert refused["runId"] == started["runId"]


async def test_only_the_latest_version_starts(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    path = f"/plans/{plan['id']}"
    await server.call("PATCH", path, {"edits": [{"op": "skip", "id": "a"}]}, If_Match="1")
    assert (await server.refused("POST", f"{path}/runs", {"version": 1}, status=409))["latestVersion"] == 2
    for body in ({}, {"version": "2"}, {"version": True}, {"version": 0}, {"version": 2.5}, {"version": None}):
        await server.refused("POST", f"{path}/runs", body, status=422)
    await server.call("POST", f"{path}/runs", {"version": 2}, status=201)


async def test_an_unknown_plan_is_not_found_whatever_is_asked_of_it(server: Any) -> None:
    await server.refused("GET", "/plans/none", status=404)
    await server.refused("GET", "/plans/none/versions", status=404)
    await server.refused("PATCH", "/plans/none", {"edits": []}, status=404, If_Match="1")
    await server.refused("POST", "/plans/none/runs", {"version": 1}, status=404)
    await server.refused("POST", "/plans/none/preview", status=404)
    await server.refused("POST", "/plans/none/regenerate", status=404)


async def test_a_plan_may_name_its_workspace(server: Any, tmp_path: Any) -> None:
    (tmp_path / "elsewhere").mkdir()
    write = server.step("w", "write_file", {"path": "x.txt", "content": "x"})
    body = {"plan": {"steps": [write]}, "workspace": str(tmp_path / "elsewhere")}
    plan = await server.call("POST", "/plans", body, status=201)
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    assert (await server.ended(run["runId"]))["status"] == "completed"
    assert (tmp_path / "elsewhere" / "x.txt").read_text() == "x"
    for folder in ("/no/such/folder", "nul\0byte", 5):
        await server.refused("POST", "/plans", {**body, "workspace": folder}, status=422)
