"""The cell craft in a runtime on virtual time: planned from the log's state, run, crashed, resumed."""

from typing import Any

import pytest

from beforehand.adapters.sim.cell_faults import CellFault
from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput, take_in
from beforehand.app.plan_changes import edit_plan, regenerate_plan
from beforehand.app.plans import create_plan, preview
from beforehand.app.runs import run_document, start_run
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.cell.core.verifier import verify
from beforehand.model.errors import BadInputError, ConflictError


def wanted(text: str, **options: Any) -> PlanInput:
    return PlanInput(scene="weld_star", text=text, options=options)


async def test_a_run_takes_as_long_and_ends_where_the_preview_says(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan, _ = await create_plan(runtime, wanted("weld 1 and 2"))
        seen = await preview(runtime, plan)
        began = runtime.now()
        run = await homestead.carried_out(runtime, plan)
        assert run["status"] == "completed"
        assert (runtime.now() - began) / 1000 == pytest.approx(seen["durationS"], abs=0.1)
        assert (await runtime.service(Cells).state_of("weld_star")).wire() == seen["end"]
        ends = [event.data["current_position"] for event in homestead.events("cellStateChanged")]
        assert ends[1:3] == ["Tool_Weld_Safe_Position", "Tool_Weld_Position"]
        assert {event.correlation_id for event in homestead.store.log if "planId" in event.about} == {
            homestead.events("planCreated")[0].correlation_id
        }


async def test_the_state_is_in_the_log_before_its_step_is_completed(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan, _ = await create_plan(runtime, wanted("go to Pos_1"))
        await homestead.carried_out(runtime, plan)
        log = homestead.store.log
        arrived = next(e.seq for e in log if e.data.get("current_position") == "Pos_1")
        done = next(
            e.seq
            for e in log
            if e.kind == "stepUpdated" and e.data["status"] == "completed" and "2" in e.data["stepId"]
        )
        assert arrived < done


async def test_after_a_crash_the_controller_is_asked_and_nothing_is_doubled(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan, _ = await create_plan(runtime, wanted("weld 1"))
        seen = await preview(runtime, plan)
        run = await start_run(runtime, plan.id, 1)
        await homestead.until(runtime, "stepUpdated", stepId="step_4", status="running")
        await homestead.clock.jump()
        written = await runtime.store.last_seq()
    await homestead.lose_after(written)
    await homestead.clock.advance(60)
    async with homestead.open() as runtime:
        await homestead.until(runtime, "runFinished", runId=run["runId"])
        assert (await run_document(runtime, run["runId"]))["status"] == "completed"
        begun = [e.data["stepId"] for e in homestead.events("stepUpdated") if e.data["status"] == "running"]
        assert sorted(begun) == sorted(set(begun))
        assert (await runtime.service(Cells).state_of("weld_star")).wire() == seen["end"]
        assert await list_decisions(runtime) == []


async def test_a_plan_for_another_state_waits_for_a_new_version(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan, _ = await create_plan(runtime, wanted("weld 1"))
        await runtime.service(Cells).set_state("weld_star", "Pos_3", "Welder")
        with pytest.raises(ConflictError) as refused:
            await start_run(runtime, plan.id, 1)
        assert refused.value.extra["difference"]["now"] == {"current_position": "Pos_3", "current_tool": "Welder"}
        anew, _ = await regenerate_plan(runtime, plan.id)
        assert (await homestead.carried_out(runtime, anew))["status"] == "completed"


async def test_a_document_keeps_the_state_it_was_made_from(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        made = (await take_in(runtime, wanted("go to Pos_1"))).plan
        await runtime.service(Cells).set_state("weld_star", "Pos_2", None)
        kept, _ = await create_plan(runtime, PlanInput(made.wire()))
        with pytest.raises(ConflictError, match="at Home holding no tool"):
            await start_run(runtime, kept.id, 1)


async def test_an_edit_that_leaves_the_graph_is_refused_with_an_offer(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plan, _ = await create_plan(runtime, wanted("weld 1"))
        edits = [{"op": "remove", "id": "step_5"}]
        with pytest.raises(BadInputError) as refused:
            await edit_plan(runtime, plan.id, 1, edits)
        assert refused.value.extra["repair"]["steps"]
        mended, _ = await edit_plan(runtime, plan.id, 1, edits, repair=True)
        assert (await homestead.carried_out(runtime, mended))["status"] == "completed"


async def test_lost_power_needs_a_person_to_say_where_the_robot_stands(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        cells = runtime.service(Cells)
        await cells.inject("weld_star", CellFault(fault="power", target="Pos_1"))
        plan, _ = await create_plan(runtime, wanted("go to Pos_1"))
        run = await start_run(runtime, plan.id, 1)
        await homestead.until(runtime, "decisionOpened", kind="inDoubt")
        with pytest.raises(BadInputError, match="position is not known"):
            await cells.state_of("weld_star")
        with pytest.raises(BadInputError) as refused:
            await create_plan(runtime, wanted("go home"))
        assert refused.value.problems[0].fixable_by == "state"
        [decision] = [one for one in await list_decisions(runtime) if one["kind"] == "inDoubt"]
        await answer_decision(runtime, decision["id"], "abort")
        await homestead.until(runtime, "runFinished", runId=run["runId"])
        await cells.set_state("weld_star", "Safe_Pos_1", "none")
        back, _ = await create_plan(runtime, wanted("go home"))
        assert [step.args["target"] for step in back.steps] == ["Home"]


async def test_a_scene_called_like_a_path_keeps_its_files_in_the_home(homestead: Any) -> None:
    document = {"kind": "cell", "name": "../../out", "positions": ["Home", "A"], "moves": [["Home", "A"]]}
    async with homestead.open(document) as runtime:
        plan, _ = await create_plan(runtime, PlanInput(scene="../../out", text="go to A"))
        assert (await homestead.carried_out(runtime, plan))["status"] == "completed"
    assert not list(homestead.folder.parent.glob("out*"))
    assert [file.parent.name for file in homestead.folder.rglob("*.json")] == ["cells"]


async def test_a_weld_is_verified_where_it_protects(homestead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On keep and at start, from words to the last step; not to learn how long something takes."""
    from beforehand.crafts.cell.core import preview as simulated

    verified: list[int] = []

    def counting(scene: Any, steps: Any, state: Any) -> Any:
        verified.append(len(list(steps)))
        return verify(scene, steps, state)

    monkeypatch.setattr(simulated, "verify", counting)
    async with homestead.open("weld_star") as runtime:
        plan, _ = await create_plan(runtime, wanted("weld 1 and 2"))
        assert verified == [12]
        assert (await homestead.carried_out(runtime, plan))["status"] == "completed"
        assert verified == [12, 12]
