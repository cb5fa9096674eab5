"""The tables that HTTP reads are a cache: dropped and read anew from the log they are the same, byte for byte."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

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
from beforehand.ports.store import EventFilter

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
