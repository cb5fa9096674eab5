"""How a plan stands before it starts: its risks in words, and everything a start would refuse now."""

from typing import Any

from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene


async def review_of(server: Any, plan: dict[str, Any], version: int | None = None) -> Any:
    return await server.call("GET", f"/plans/{plan['id']}/review" + ("" if version is None else f"?version={version}"))


async def test_a_review_names_the_steps_of_every_risk(server: Any) -> None:
    for name in ("old.txt", "older.txt"):
        (server.workspace / name).write_text("old\n")
    write = {"content": "new\n"}
    plan = await server.plan(
        server.step("fresh", "write_file", {"path": "new.txt", **write}),
        server.step("over", "write_file", {"path": "old.txt", **write}),
        server.step("out", "read_file", {"path": "../secrets.txt"}),
        server.step("ask", "ask_person", {"question": "May it?"}),
        server.step("told", "write_file", {"path": "older.txt", "content": "$ask"}),
        server.step("again", "write_file", {"path": "older.txt", **write}, dependsOn=["told"]),
        server.step("lie", "write_file", {"path": "b.txt", **write}, description="Read the file b.txt"),
    )
    shown = await review_of(server, plan)
    assert {risk["kind"]: risk["steps"] for risk in shown["risks"]} == {
        "destructive": ["over", "told", "again"],
        "outside": ["out"],
        "duration": ["ask"],
        "mismatch": ["lie"],
    }
    assert [risk["says"].split()[0] for risk in shown["risks"]] == ["3", "1", "1", "1"]
    assert shown["decision"]["id"] == f"{plan['id']}-v1"


async def test_a_review_says_when_the_world_has_changed(cell_server: Any) -> None:
    async with cell_server() as server:
        plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld at Pos_1"}, status=201)
        shown = await review_of(server, plan)
        assert shown["whyNot"] == []
        assert [risk["kind"] for risk in shown["risks"]] == ["physical"]
        await server.call("PATCH", "/cells/weld_star", {"position": "Safe_Pos_1"})
        told = (await review_of(server, plan))["whyNot"]
        assert [reason["code"] for reason in told] == ["plan.drift"]
        assert "Safe_Pos_1" in told[0]["says"]
        assert told[0]["tryNext"]


async def live(server: Any) -> list[str]:
    return [scene["name"] for scene in await server.call("GET", "/scenes") if scene["active"]]


async def test_looking_makes_no_scene_live(server: Any) -> None:
    """Only an admin makes scenes live, and a start its own; a viewer may look at everything."""
    plans = [
        await planned(server, "weld_star", "weld at Pos_1"),
        await planned(server, "apartment", "bring cup1 to table1"),
        await planned(server, "line_pick_drop", "move a pallet from PICK_01 to DROP_01"),
    ]
    seq = (await server.call("GET", "/health"))["seq"]
    await server.call("POST", "/intents", {"scene": "apartment", "text": "sit on bed1"})
    told = []
    for plan in plans:
        await server.call("POST", f"/plans/{plan['id']}/preview")
        told.append([reason["code"] for reason in (await review_of(server, plan))["whyNot"]])
    assert told == [[], [], ["fleet.inactive"]]
    assert ((await server.call("GET", "/health"))["seq"], await live(server)) == (seq, [])
    run = await server.call("POST", f"/plans/{plans[0]['id']}/runs", {"version": 1}, status=201)
    assert await live(server) == ["weld_star"]
    await server.call("POST", f"/runs/{run['runId']}/cancel")


async def planned(server: Any, scene: str, text: str) -> Any:
    await save_scene(server.runtime, None, find_document(scene), activate=False)
    return await server.call("POST", "/plans", {"scene": scene, "text": text}, status=201)


async def test_a_review_of_any_version_knows_the_latest_and_the_runs(server: Any) -> None:
    plan = await server.plan(server.step("a"))
    edits = {"edits": [{"op": "skip", "id": "a"}]}
    await server.http.patch(f"/plans/{plan['id']}", json=edits, headers={"If-Match": "1"})
    old = await review_of(server, plan, 1)
    assert (old["version"], old["latestVersion"], old["decision"]["status"]) == (1, 2, "withdrawn")
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 2}, status=201)
    assert [one["runId"] for one in (await review_of(server, plan))["runs"]] == [run["runId"]]
    await server.refused("GET", "/plans/nobody/review", status=404)
