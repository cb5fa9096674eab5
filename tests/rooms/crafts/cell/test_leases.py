"""A cell is held by one run at a time, from its start until nothing is left to do there."""

import asyncio
from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import cancel_run, pause_run, release_run, resume_run, run_document, start_run
from beforehand.app.runtime import Runtime
from beforehand.model.errors import ConflictError

WELD = PlanInput(scene="weld_star", text="weld 1 and 2")
CELL = "cell:weld_star"


async def paused(homestead: Any, runtime: Runtime) -> str:
    plan, _ = await create_plan(runtime, WELD)
    run = await start_run(runtime, plan.id, plan.version)
    await homestead.until(runtime, "stepUpdated", stepId="step_1", status="running")
    await pause_run(runtime, run["runId"])
    await homestead.until(runtime, "stepUpdated", stepId="step_1", status="completed")
    return str(run["runId"])


async def test_six_plans_started_at_once_run_once(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plans = [(await create_plan(runtime, WELD))[0] for _ in range(6)]
        starts = (start_run(runtime, plan.id, plan.version) for plan in plans)
        ends = await asyncio.gather(*starts, return_exceptions=True)
        [run] = [end for end in ends if isinstance(end, dict)]
        refused = [end for end in ends if isinstance(end, ConflictError)]
        assert len(refused) == 5
        assert {error.code for error in refused} == {"machine.held"}
        assert refused[0].extra["held"][0]["runId"] == run["runId"]
        assert run["machines"] == [CELL]
        await homestead.until(runtime, "runFinished", runId=run["runId"])
        assert "machines" not in await run_document(runtime, run["runId"])
        reviews = [item for item in await list_decisions(runtime) if item["kind"] == "review"]
        assert len(reviews) == 5


async def test_a_paused_run_keeps_its_cell_until_it_gives_it_back(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        first = await paused(homestead, runtime)
        other, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="go home"))
        with pytest.raises(ConflictError) as refused:
            await start_run(runtime, other.id, other.version)
        assert refused.value.code == "machine.held"
        assert "machines" not in await release_run(runtime, first)
        run = await start_run(runtime, other.id, other.version)
        with pytest.raises(ConflictError, match=run["runId"]):
            await resume_run(runtime, first)
        await homestead.until(runtime, "runFinished", runId=run["runId"])
        await resume_run(runtime, first)
        await homestead.until(runtime, "decisionOpened", kind="drift")
        assert (await run_document(runtime, first))["machines"] == [CELL]
        await cancel_run(runtime, first)
        assert (await run_document(runtime, first)).get("machines") is None


async def test_a_cell_that_has_moved_under_another_run_is_held_before_it_is_drift(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        early, _ = await create_plan(runtime, WELD)
        first = await paused(homestead, runtime)
        with pytest.raises(ConflictError, match=first) as refused:
            await start_run(runtime, early.id, early.version)
        assert refused.value.code == "machine.held"
        await cancel_run(runtime, first)
        with pytest.raises(ConflictError) as refused:
            await start_run(runtime, early.id, early.version)
        assert refused.value.code == "plan.drift"


async def test_only_a_run_at_rest_gives_back(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan, _ = await create_plan(runtime, WELD)
        run = await start_run(runtime, plan.id, plan.version)
        await homestead.until(runtime, "stepUpdated", stepId="step_1", status="running")
        with pytest.raises(ConflictError, match="nothing is in flight"):
            await release_run(runtime, run["runId"])


async def test_a_machine_known_only_later_is_asked_about_when_it_is_held(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        steps = [
            {"id": "which", "tool": "ask_person", "args": {"question": "Which cell?"}},
            {"id": "move", "tool": "cell.move", "args": {"scene": "$which", "target": "Safe_Pos_1"}},
        ]
        plan, _ = await create_plan(runtime, PlanInput({"steps": steps}))
        late = await start_run(runtime, plan.id, plan.version)
        assert "machines" not in late
        first = await paused(homestead, runtime)
        [question] = [item for item in await list_decisions(runtime) if item["kind"] == "question"]
        await answer_decision(runtime, question["id"], "answer", value="weld_star")
        asked = await homestead.until(runtime, "decisionOpened", kind="machineHeld")
        assert asked.data["evidence"]["heldBy"]["runId"] == first
        await answer_decision(runtime, asked.data["id"], "skip")
        await homestead.until(runtime, "runFinished", runId=late["runId"])


async def test_a_restart_forgets_no_lease(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        first = await paused(homestead, runtime)
    async with homestead.open() as runtime:
        other, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="go home"))
        with pytest.raises(ConflictError, match=first):
            await start_run(runtime, other.id, other.version)


async def test_a_cell_is_given_back_when_nothing_is_left_to_do_there_though_the_run_goes_on(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        steps = [
            {"id": "move", "tool": "cell.move", "args": {"scene": "weld_star", "target": "Safe_Pos_1"}},
            {"id": "ask", "tool": "ask_person", "args": {"question": "Was it right?"}, "dependsOn": ["move"]},
        ]
        plan, _ = await create_plan(runtime, PlanInput({"steps": steps}))
        first = await start_run(runtime, plan.id, plan.version)
        assert first["machines"] == [CELL]
        await homestead.until(runtime, "decisionOpened", kind="question")
        assert "machines" not in await run_document(runtime, first["runId"])
        other, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="go home"))
        run = await start_run(runtime, other.id, other.version)
        await homestead.until(runtime, "runFinished", runId=run["runId"])
