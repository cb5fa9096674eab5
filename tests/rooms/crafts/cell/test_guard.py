"""Nothing reaches a cell that is not as the step needs it, whatever changed after the plan was verified."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import pause_run, resume_run, retry_step, run_document, skip_step, start_run
from beforehand.app.runtime import Runtime
from beforehand.crafts.cell.cells import Cells, read_fault
from beforehand.crafts.cell.core.guard import missed
from beforehand.crafts.cell.tools import cell_tools
from beforehand.model.errors import BadInputError, ConflictError
from beforehand.ports.tool import ProbeAnswer, ToolContext

WELD = PlanInput(scene="weld_star", text="weld 1 and 2")


async def begun(homestead: Any, runtime: Runtime, until: str, status: str = "completed") -> str:
    """A weld under way, paused once the named step stands so."""
    plan, _ = await create_plan(runtime, WELD)
    run = await start_run(runtime, plan.id, plan.version)
    await homestead.until(runtime, "stepUpdated", stepId=until, status="running")
    await pause_run(runtime, run["runId"])
    await homestead.until(runtime, "stepUpdated", stepId=until, status=status)
    return str(run["runId"])


async def drift(homestead: Any, runtime: Runtime) -> dict[str, Any]:
    await homestead.until(runtime, "decisionOpened", kind="drift")
    return next(item for item in await list_decisions(runtime) if item["kind"] == "drift")


def commands(homestead: Any) -> list[tuple[str, str]]:
    """What the robot really did: every change of its state."""
    return [(e.data["current_position"], e.data["current_tool"]) for e in homestead.events("cellStateChanged")]


async def test_a_tool_changed_by_a_person_while_paused(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        run_id = await begun(homestead, runtime, "step_6")
        await runtime.service(Cells).set_state("weld_star", None, "none")
        await resume_run(runtime, run_id)
        asked = await drift(homestead, runtime)
        assert "needs Welder; the robot holds no tool" in asked["evidence"]["says"]
        assert asked["verbs"] == ["check-again", "replan", "skip", "abort"]
        assert asked["evidence"]["difference"]["now"]["current_tool"] == "none"
        await answer_decision(runtime, asked["id"], "replan")
        await homestead.until(runtime, "runFinished", runId=run_id)
        run = await run_document(runtime, run_id)
        assert (run["status"], run["version"]) == ("completed", 2)
        assert "Attach Welder" in [step["description"] for step in run["steps"][6:]]


async def test_an_attach_that_was_skipped_does_not_weld_without_its_tool(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        run_id = await begun(homestead, runtime, "step_2")
        await skip_step(runtime, run_id, "step_3")
        await resume_run(runtime, run_id)
        asked = await drift(homestead, runtime)
        assert asked["about"]["stepId"] != "step_3"
        assert "needs Welder" in asked["evidence"]["says"]
        await answer_decision(runtime, asked["id"], "abort")
        await homestead.until(runtime, "runFinished", runId=run_id)
        assert (await run_document(runtime, run_id))["status"] == "failed"


async def test_a_skipped_move_leaves_the_next_one_unsent(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        run_id = await begun(homestead, runtime, "step_1")
        await skip_step(runtime, run_id, "step_2")
        await resume_run(runtime, run_id)
        before = commands(homestead)
        asked = await drift(homestead, runtime)
        assert asked["about"]["stepId"] == "step_3"
        assert commands(homestead) == before
        await answer_decision(runtime, asked["id"], "replan")
        await homestead.until(runtime, "runFinished", runId=run_id)
        assert (await run_document(runtime, run_id))["status"] == "completed"


async def test_put_back_as_it_was_it_goes_on(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        run_id = await begun(homestead, runtime, "step_4")
        cells = runtime.service(Cells)
        stood = await cells.state_of("weld_star")
        await cells.set_state("weld_star", "Home", None)
        await resume_run(runtime, run_id)
        asked = await drift(homestead, runtime)
        await answer_decision(runtime, asked["id"], "check-again")
        again = await drift(homestead, runtime)
        await cells.set_state("weld_star", stood.current_position, None)
        await answer_decision(runtime, again["id"], "check-again")
        await homestead.until(runtime, "runFinished", runId=run_id)
        assert (await run_document(runtime, run_id))["status"] == "completed"


async def test_other_arguments_are_verified_and_shown(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        cells = runtime.service(Cells)
        await cells.inject("weld_star", _fault("fail", "tack_weld"))
        plan, _ = await create_plan(runtime, WELD)
        run = await start_run(runtime, plan.id, plan.version)
        await homestead.until(runtime, "decisionOpened", kind="failure")
        [asked] = [item for item in await list_decisions(runtime) if item["kind"] == "failure"]
        step_id = asked["about"]["stepId"]
        for args in (
            {"target": "no_such_routine", "position": "Pos_1"},
            {"target": "tool_attach", "position": "Pos_1", "tool": "Camera"},
            {"scene": "nowhere", "target": "tack_weld", "position": "Pos_1"},
        ):
            with pytest.raises(BadInputError):
                await retry_step(runtime, run["runId"], step_id, args=args)
            with pytest.raises(BadInputError):
                await answer_decision(runtime, asked["id"], "retry", value={"args": args})
        assert [item["id"] for item in await list_decisions(runtime)] == [asked["id"]]
        args = {**asked["evidence"]["args"], "stabilize": 3}
        with pytest.raises(BadInputError):  # what the cell says of the routine there is not for a retry to change
            await answer_decision(runtime, asked["id"], "retry", value={"args": args})
        await answer_decision(runtime, asked["id"], "retry")
        await homestead.until(runtime, "runFinished", runId=run["runId"])


async def test_two_runs_from_one_state(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        plans = [(await create_plan(runtime, WELD))[0] for _ in range(2)]
        first = await start_run(runtime, plans[0].id, 1)
        await homestead.until(runtime, "stepUpdated", stepId="step_2", status="completed")
        with pytest.raises(ConflictError):
            await start_run(runtime, plans[1].id, 1)
        await homestead.until(runtime, "runFinished", runId=first["runId"])


def _fault(name: str, target: str | None = None) -> Any:
    from beforehand.crafts.cell.cells import read_fault

    return read_fault(name, target)


def move(name: str, target: str, *after: str, **more: Any) -> dict[str, Any]:
    args = {"scene": "weld_star", "target": target}
    return {"id": name, "tool": "cell.move", "args": args, "dependsOn": list(after), **more}


BESIDE = {
    "a step that failed": {"id": "other", "tool": "read_file", "args": {"path": "none.txt"}},
    "a step that runs": {"id": "other", "tool": "wait", "args": {"seconds": 86_400}},
    "a step that is asked about": {"id": "other", "tool": "ask_person", "args": {"question": "What time is it?"}},
}


async def other_step(runtime: Any, run_id: str) -> dict[str, Any]:
    [found] = [step for step in (await run_document(runtime, run_id))["steps"] if step["id"] == "other"]
    return dict(found)


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("before", [0, 1])
async def test_the_rest_is_planned_anew_whatever_stands_beside_it(homestead: Any, before: int, beside: str) -> None:
    """With nothing done on the machine yet, or one move; and another step that is none of the machine's."""
    moves = [move("a", "Safe_Pos_1"), move("b", "Pos_1", "a")]
    moves[before] = {**moves[before], "requiresApproval": True}
    async with homestead.open("weld_star") as runtime:
        plan, _ = await create_plan(runtime, PlanInput({"steps": [BESIDE[beside], *moves]}))
        run_id = (await start_run(runtime, plan.id, plan.version))["runId"]
        await homestead.until(runtime, "decisionOpened", kind="approval")
        async with asyncio.timeout(60):  # a file is looked for on the disk, in its own time
            while "failed" in beside and (await other_step(runtime, run_id))["status"] != "failed":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await runtime.service(Cells).set_state("weld_star", "Pos_3", None)
        [approval] = [item for item in await list_decisions(runtime) if item["kind"] == "approval"]
        await answer_decision(runtime, approval["id"], "approve")
        asked = await drift(homestead, runtime)
        other = await other_step(runtime, run_id)
        await answer_decision(runtime, asked["id"], "replan")
        await homestead.until(runtime, "cellStateChanged", current_position="Pos_1")
        await homestead.until(runtime, "stepUpdated", stepId="b", status="completed")
        assert (await run_document(runtime, run_id))["version"] == 2
        assert {**await other_step(runtime, run_id), "order": 0} == {**other, "order": 0}


async def test_a_step_that_failed_once_and_drifted_when_tried_again_is_planned_anew(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        await runtime.service(Cells).inject("weld_star", read_fault("fail"))
        plan, _ = await create_plan(runtime, PlanInput({"steps": [move("a", "Safe_Pos_1"), move("b", "Pos_1", "a")]}))
        run_id = (await start_run(runtime, plan.id, plan.version))["runId"]
        await homestead.until(runtime, "runFinished", runId=run_id)
        await runtime.service(Cells).set_state("weld_star", "Pos_3", None)
        await retry_step(runtime, run_id, "a")
        asked = await drift(homestead, runtime)
        await answer_decision(runtime, asked["id"], "replan")
        await homestead.until(runtime, "runFinished", runId=run_id, status="completed")
        assert commands(homestead)[-1] == ("Pos_1", "none")


@pytest.mark.parametrize(
    ("action", "args", "position", "tool", "says"),
    [
        ("move", {"target": "B"}, "B", "none", None),
        ("move", {"target": "B"}, "A", "none", "the move to B is done, but the robot stands at A."),
        ("move", {"target": "B"}, None, "none", "the move to B is done, but nobody knows where the robot stands."),
        ("routine", {"target": "tool_attach", "tool": "Welder"}, "S", "Welder", None),
        ("routine", {"target": "tool_attach", "tool": "Welder"}, "S", "none", "done, but the robot holds no tool."),
        ("routine", {"target": "tool_release", "tool": "Welder"}, "S", "none", None),
        ("routine", {"target": "tool_release", "tool": "Welder"}, "S", "Welder", "done, but the robot holds Welder."),
        ("routine", {"target": "tack_weld", "position": "A"}, "Safe", "Welder", None),
    ],
)
def test_a_step_that_is_called_done_and_is_not_is_told(
    action: str, args: dict[str, Any], position: str | None, tool: str, says: str | None
) -> None:
    told = missed(action, args, position, tool)
    assert told is None if says is None else (told or "").endswith(says)


class Belying:
    """A controller that calls everything done and stays where it is."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    async def do(self, command: Any, progress: Any) -> Any:
        return await self._of.report()

    async def did(self, key: str) -> ProbeAnswer:
        return ProbeAnswer("happened", {"current_position": "Home", "current_tool": "none"})


async def test_a_move_that_ends_elsewhere_is_no_success(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        cell = runtime.service(Cells).live["weld_star"]
        runtime.service(Cells).live["weld_star"] = replace(cell, controller=Belying(cell.controller))
        plan, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="go to Safe_Pos_1"))
        run_id = (await start_run(runtime, plan.id, plan.version))["runId"]
        await homestead.until(runtime, "decisionOpened", kind="failure")
        (step,) = (await run_document(runtime, run_id))["steps"]
        assert step["status"] == "failed"
        assert "the move to Safe_Pos_1 is done, but the robot stands at Home" in step["result"]["error"]
        move, _ = cell_tools(runtime.service(Cells))
        context = ToolContext("k", workspace=None)  # type: ignore[arg-type]
        answer = await move.probe({"scene": "weld_star", "target": "Safe_Pos_1"}, context)
        assert (answer.state, answer.value) == ("failed", None)
