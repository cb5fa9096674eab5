"""A cell that is told to stop, that fails while nobody looks, and that falls silent: told as it is."""

import asyncio
from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import cancel_run, retry_step, run_document, skip_step, start_run
from beforehand.app.runtime import Runtime
from beforehand.crafts.cell.cells import Cells, read_fault
from beforehand.model.errors import ConflictError

WELD = PlanInput(scene="weld_star", text="weld 1 and 2")


async def started(runtime: Runtime) -> str:
    plan, _ = await create_plan(runtime, WELD)
    return str((await start_run(runtime, plan.id, plan.version))["runId"])


def step(run: dict[str, Any], name: str) -> dict[str, Any]:
    return next(item for item in run["steps"] if item["id"] == name)


async def test_a_move_under_way_when_the_run_is_cancelled_has_happened(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        run_id = await started(runtime)
        await homestead.until(runtime, "stepUpdated", stepId="step_1", status="running")
        cancelling = asyncio.ensure_future(cancel_run(runtime, run_id))
        await homestead.until(runtime, "stepUpdated", stepId="step_1", stopping="cancel")
        assert step(await run_document(runtime, run_id), "step_1")["stopping"] is True
        await homestead.until(runtime, "runFinished", runId=run_id)
        run = await cancelling
        run = await run_document(runtime, run_id)
        assert run["status"] == "cancelled"
        assert step(run, "step_1")["status"] == "completed"
        assert "stopping" not in step(run, "step_1")
        state = await runtime.service(Cells).state_of("weld_star")
        assert state.current_position == step(run, "step_1")["args"]["target"]


async def test_a_weld_stopped_in_the_middle_is_in_doubt_and_not_done_twice(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        run_id = await started(runtime)
        welding = "step_7"
        await homestead.until(runtime, "stepUpdated", stepId=welding, status="running")
        await skip_step(runtime, run_id, welding)
        await homestead.until(runtime, "stepUpdated", stepId=welding, status="inDoubt")
        with pytest.raises(ConflictError):
            await retry_step(runtime, run_id, welding)
        [asked] = [item for item in await list_decisions(runtime) if item["kind"] == "inDoubt"]
        assert "stopped in the middle" in asked["evidence"]["says"]
        await answer_decision(runtime, asked["id"], "happened")
        await homestead.until(runtime, "runFinished", runId=run_id)
        assert (await run_document(runtime, run_id))["status"] == "completed"


async def test_a_crash_does_not_hide_a_failed_check(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        await runtime.service(Cells).inject("weld_star", read_fault("verify", "tack_weld"))
        await started(runtime)
        begun = await homestead.until(runtime, "stepUpdated", stepId="step_7", status="running")
    await homestead.lose_after(begun.seq)
    async with homestead.open() as runtime:
        await homestead.until(runtime, "stepUpdated", stepId="step_7", status="inDoubt")
        [asked] = [item for item in await list_decisions(runtime) if item["kind"] == "inDoubt"]
        assert asked["evidence"]["says"].endswith("was not passed at Pos_1.")
        assert asked["about"]["stepId"] == "step_7"


async def test_a_stalled_move_is_asked_about_and_can_be_stopped(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        await runtime.service(Cells).inject("weld_star", read_fault("stall"))
        run_id = await started(runtime)
        asked = await homestead.until(runtime, "decisionOpened", kind="silent")
        assert asked.data["about"]["stepId"] == "step_1"
        await skip_step(runtime, run_id, "step_1")
        await homestead.until(runtime, "stepUpdated", stepId="step_1", status="inDoubt")
        assert [item["kind"] for item in await list_decisions(runtime)] == ["inDoubt"]


async def test_a_skip_after_a_crash_waits_for_the_robot_that_goes_on(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        run_id = await started(runtime)
        begun = await homestead.until(runtime, "stepUpdated", stepId="step_1", status="running")
    await homestead.lose_after(begun.seq)
    async with homestead.open() as runtime:
        await skip_step(runtime, run_id, "step_1")
        assert step(await run_document(runtime, run_id), "step_1")["stopping"] is True
        with pytest.raises(ConflictError, match="moving the robot"):
            await runtime.service(Cells).set_state("weld_star", "Home", None)
        await homestead.until(runtime, "stepUpdated", stepId="step_1", status="completed")
        assert not homestead.events("decisionOpened")[1:]


async def test_a_weld_is_told_to_stop_again_when_the_process_died_meanwhile(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        run_id = await started(runtime)
        await homestead.until(runtime, "stepUpdated", stepId="step_7", status="running")
        cancelling = asyncio.ensure_future(cancel_run(runtime, run_id))
        told = await homestead.until(runtime, "stepUpdated", stepId="step_7", stopping="cancel")
        cancelling.cancel()
    await homestead.lose_after(told.seq)
    async with homestead.open() as runtime:
        await homestead.until(runtime, "stepUpdated", stepId="step_7", status="inDoubt")
        [asked] = [item for item in await list_decisions(runtime) if item["kind"] == "inDoubt"]
        assert "stopped in the middle" in asked["evidence"]["says"]


async def test_nobody_says_where_a_robot_stands_that_a_plan_over_more_than_its_cell_moves(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        steps = [
            {"id": "which", "tool": "ask_person", "args": {"question": "Which cell?"}},
            {"id": "move", "tool": "cell.move", "args": {"scene": "$which", "target": "Safe_Pos_1"}},
        ]
        plan, _ = await create_plan(runtime, PlanInput({"steps": steps}))
        await start_run(runtime, plan.id, plan.version)
        asked = await homestead.until(runtime, "decisionOpened", kind="question")
        await answer_decision(runtime, asked.data["id"], "answer", value="weld_star")
        await homestead.until(runtime, "stepUpdated", stepId="move", status="running")
        with pytest.raises(ConflictError, match=r"move of the run .* is moving the robot now"):
            await runtime.service(Cells).set_state("weld_star", "Home", None)
