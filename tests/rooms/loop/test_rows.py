"""The tables that HTTP reads are a cache: dropped and read anew from the log they are the same, byte for byte."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plan_changes import edit_plan
from beforehand.app.plans import create_plan
from beforehand.app.runs import adopt_version, rerun_from, start_run
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import find_document, save_scene
from beforehand.app.settings import load_settings
from beforehand.app.templates import plan_from_template, save_template
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.fleet.core.inputs import PatchStream
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.loop.rows import projection, row_in_scene
from beforehand.model.event import Event
from beforehand.ports.store import EventFilter, Row

PATIENCE_S = 90


async def ended(runtime: Runtime, run_id: str, times: int = 1) -> None:
    async with asyncio.timeout(PATIENCE_S):
        async for batch in runtime.feed.follow(0, EventFilter(run=run_id, kinds=frozenset({"runFinished"}))):
            times -= len(batch)
            if times <= 0:
                return


def step(name: str, tool: str = "wait", after: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    given = fields.pop("args", {"seconds": 0} if tool == "wait" else {})
    return {"id": name, "tool": tool, "args": given, "dependsOn": list(after), **fields}


async def live_through_everything(runtime: Runtime, folder: Path) -> None:
    """Plans, edits, items, reruns, adoptions, templates, scenes, a cell and a fleet."""
    (folder / "list.txt").write_text("x")
    steps = [step("dir", "list_dir", args={"path": "."}), step("each", after=("dir",), forEach=["a", "b"])]
    plan, _ = await create_plan(runtime, PlanInput({"name": "first", "steps": steps}))
    plan, _ = await edit_plan(runtime, plan.id, 1, [{"op": "add", "step": step("last", after=("each",))}])
    run = await start_run(runtime, plan.id, plan.version)
    await ended(runtime, run["runId"])
    await rerun_from(runtime, run["runId"], "each")
    await ended(runtime, run["runId"], times=2)
    asks = step("ask", "ask_person", args={"question": "Go on?"})
    asked, _ = await create_plan(runtime, PlanInput({"steps": [asks, step("b")]}))
    waiting = await start_run(runtime, asked.id, 1)
    again, _ = await edit_plan(runtime, asked.id, 1, [{"op": "add", "step": step("c", after=("ask",))}])
    await adopt_version(runtime, waiting["runId"], again.version)
    [question] = [one for one in await list_decisions(runtime) if one["kind"] == "question"]
    await answer_decision(runtime, question["id"], "answer", value="yes")
    await ended(runtime, waiting["runId"])
    await save_template(
        runtime, "tidy", {"parameters": {"s": {"type": "number"}}, "steps": [step("w", args={"seconds": "$params.s"})]}
    )
    left, _ = await plan_from_template(runtime, "tidy", {"s": 0})
    await edit_plan(runtime, left.id, 1, [{"op": "skip", "id": "w"}])
    await work_in_scenes(runtime)


async def work_in_scenes(runtime: Runtime) -> None:
    await save_scene(runtime, None, find_document("weld_star"), activate=True)
    await runtime.service(Cells).set_state("weld_star", "Pos_2", "none")
    welding, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="go to Pos_1"))
    await ended(runtime, (await start_run(runtime, welding.id, 1))["runId"])
    await create_plan(runtime, PlanInput(scene="weld_star", text="weld 1"))
    dock = find_document("line_pick_drop")
    dock["settings"] = {"tickS": 0.05}
    await save_scene(runtime, None, dock, activate=True)
    fleets = runtime.service(Fleets)
    async with asyncio.timeout(PATIENCE_S):
        await fleets.until("line_pick_drop", lambda state: state.completed == 1)
    await fleets.patch_stream(PatchStream("stream_pick_drop", False), None)
    await fleets.patch_worksite("DROP_01", "empty", None)


def rows(database: Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute(
            "SELECT kind, id, parent, open, ord, body FROM rows ORDER BY kind, ord, id"
        ).fetchall()
    finally:
        connection.close()


async def test_dropped_and_read_anew_the_rows_are_the_same_bytes(tmp_path: Path) -> None:
    flags = {"home": str(tmp_path / "home"), "workspace": str(tmp_path), "speed": 200.0}
    settings = load_settings(flags, {}, tmp_path / "none")
    async with open_runtime(settings, with_servers=False) as runtime:
        await live_through_everything(runtime, tmp_path)
    before = rows(tmp_path / "home" / "log.db")
    kinds = {row[0] for row in before}
    assert {"plan", "planHead", "decision", "run", "step", "expansion", "template", "scene", "cellState"} <= kinds
    assert {"task", "worksite", "robot", "stream"} <= kinds
    async with open_runtime(settings, with_servers=False) as runtime:
        await runtime.store.rebuild_rows()
    assert rows(tmp_path / "home" / "log.db") == before


def made(kind: str, data: dict[str, Any], scene: str | None = None, **about: Any) -> list[Row]:
    return list(projection()(Event(kind, about, data, 7, scene, "c1")))


def test_a_plan_is_kept_by_version_and_listed_once_with_who_planned_it() -> None:
    plan = {"id": "p1", "version": 2, "name": "tidy", "scene": "hall", "steps": [{}, {}], "origin": {"planner": "cell"}}
    version, head = made("planEdited", plan)
    assert (version.kind, version.id, version.parent, version.body) == ("plan", "p1@2", "p1", plan)
    assert not version.open
    assert (head.kind, head.id, head.open) == ("planHead", "p1", True)
    assert head.body == {
        "id": "p1", "version": 2, "name": "tidy", "scene": "hall",
        "stepCount": 2, "correlationId": "c1", "planner": "cell",
    }  # fmt: skip
    assert made("planCreated", {"id": "p1", "version": 1, "steps": []})[1].body["planner"] == "person"


@pytest.mark.parametrize(
    ("about", "scene", "parent"),
    [
        ({"runId": "r1", "planId": "p1"}, "hall", "r1"),
        ({"planId": "p1"}, "hall", "p1"),
        ({}, "hall", "hall"),
        ({}, None, ""),
    ],
)
def test_a_decision_is_found_under_what_it_is_about(about: dict[str, str], scene: str | None, parent: str) -> None:
    for status, is_open in (("open", True), ("answered", False)):
        [row] = made("decisionAnswered", {"id": "d1", "about": about, "status": status}, scene)
        assert (row.kind, row.id, row.parent, row.open) == ("decision", "d1", parent, is_open)


def test_a_run_is_open_until_it_has_ended() -> None:
    for status, is_open in (("running", True), ("paused", True), ("completed", False), ("failed", False)):
        [row] = made("runUpdated", {"runId": "r1", "planId": "p1", "status": status})
        assert (row.id, row.parent, row.open) == ("r1", "p1", is_open)


def test_a_step_over_a_list_shows_the_list_and_forgets_the_items_of_the_last_time() -> None:
    data = {"taskId": "t1", "stepId": "each", "items": ["a", "b"]}
    expansion, step, *items = made("stepExpanded", data, runId="r1")
    assert (expansion.kind, expansion.id, expansion.parent, expansion.body) == ("expansion", "r1/each", "r1", data)
    assert (step.kind, step.id, step.parent) == ("step", "r1/each", "r1")
    assert step.body == {"taskId": "t1", "stepId": "each", "status": "running"}
    assert [(row.kind, row.id, row.body) for row in items] == [
        ("step", "r1/each[0]", None),
        ("step", "r1/each[1]", None),
    ]
    [done] = made("stepUpdated", {"stepId": "each", "status": "completed"}, runId="r1")
    assert (done.kind, done.id, done.parent) == ("step", "r1/each", "r1")
    again, forgotten = made("stepUpdated", {"stepId": "each", "status": "pending", "reset": True}, runId="r1")
    assert again.body is not None
    assert (forgotten.kind, forgotten.id, forgotten.body) == ("expansion", "r1/each", None)


def test_templates_scenes_and_the_hold_are_kept_by_their_names() -> None:
    [template] = made("templateSaved", {"name": "tidy"})
    assert (template.kind, template.id) == ("template", "tidy")
    for active, is_open in ((True, True), (False, False)):
        [scene] = made("sceneSaved", {"name": "hall", "active": active})
        assert (scene.kind, scene.id, scene.open) == ("scene", "hall", is_open)
    [held], [cleared] = made("everythingHeld", {"by": "ann"}), made("everythingCleared", {})
    assert (held.kind, held.id, held.open, held.body) == ("hold", "everything", True, {"by": "ann"})
    assert (cleared.kind, cleared.id, cleared.body) == ("hold", "everything", None)


def test_a_write_with_a_key_is_remembered_until_it_is_forgotten() -> None:
    template, request = made("templateSaved", {"name": "tidy"}, requestId="k1", requestHash="h")
    assert template.kind == "template"
    assert (request.kind, request.id, request.open) == ("request", "k1", True)
    assert request.body == {"id": "k1", "content": "h", "at": 7}
    forgotten = made("requestsForgotten", {"ids": ["k1", "k2"]})
    assert [(row.kind, row.id, row.body) for row in forgotten] == [("request", "k1", None), ("request", "k2", None)]
    assert made("somethingElse", {}) == []


def test_things_of_a_scene_are_kept_under_it_and_may_be_over() -> None:
    bring = {"taskUpdated": row_in_scene("task", "taskId", lambda data: data["status"] != "done")}
    for status, is_open in (("sent", True), ("done", False)):
        [row] = projection(bring)(Event("taskUpdated", {}, {"taskId": "t1", "status": status}, 0, "hall"))
        assert (row.kind, row.id, row.parent, row.open) == ("task", "hall/t1", "hall", is_open)
    [row] = row_in_scene("site", "siteId")(Event("siteUpdated", {}, {"siteId": "A"}, 0, "hall"))
    assert row.open
