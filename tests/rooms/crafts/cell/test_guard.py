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
from beforehand.crafts.cell.core.guard import Situation, contract_of, verdict
from beforehand.crafts.cell.tools import cell_tools
from beforehand.model.cell import CellScene, Routine
from beforehand.model.errors import BadInputError, ConflictError, Fault, InDoubtError
from beforehand.ports.cell import OTHER_STATE, CellReport
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


WELD_AT_A = {"target": "tack_weld", "position": "A"}
GO_TO_B = {"target": "B"}
TAKE = {"target": "tool_attach", "position": "S", "tool": "Welder"}
PUT_DOWN = {"target": "tool_release", "position": "S", "tool": "Welder"}
LINE = CellScene(
    name="line",
    routines=(Routine(name="tack_weld", required_tool="Welder"), Routine(name="wipe")),
)


def judged(args: dict[str, Any], claim: Any, reported: Any, now: Any, *, held: str = "Welder") -> Any:
    """The verdict on one step that began at A; a situation is a place and a tool."""
    action = "routine" if "position" in args else "move"
    contract = contract_of(LINE, action, args, Situation("A", held))
    seen = [None if one is None else Situation(*one) for one in (reported, now)]
    return verdict(contract, claim, "It says so.", *seen)


@pytest.mark.parametrize(
    ("args", "reported", "now", "end"),
    [
        (GO_TO_B, ("B", "Welder"), ("B", "Welder"), "done"),
        (GO_TO_B, ("B", "Welder"), None, "done"),
        (GO_TO_B, ("B", "none"), ("B", "none"), "done"),
        (GO_TO_B, ("A", "Welder"), ("A", "Welder"), "failed"),
        (GO_TO_B, ("C", "Welder"), ("C", "Welder"), "failed"),
        (GO_TO_B, ("A", "Welder"), ("B", "Welder"), "doubt"),
        (GO_TO_B, ("B", "Welder"), ("A", "Welder"), "doubt"),
        (GO_TO_B, (None, "Welder"), (None, "Welder"), "doubt"),
        (GO_TO_B, ("B", "Welder"), (None, "Welder"), "doubt"),
        (GO_TO_B, None, None, "doubt"),
        (TAKE, ("S", "Welder"), ("S", "Welder"), "done"),
        (TAKE, ("S", "none"), ("S", "none"), "failed"),
        (TAKE, ("S", "Camera"), ("S", "Camera"), "failed"),
        (TAKE, ("A", "Welder"), ("A", "Welder"), "doubt"),
        (TAKE, ("S", "Welder"), ("S", "none"), "doubt"),
        (PUT_DOWN, ("S", "none"), ("S", "none"), "done"),
        (PUT_DOWN, ("S", "Welder"), ("S", "Welder"), "failed"),
        (PUT_DOWN, ("B", "none"), ("B", "none"), "doubt"),
        (WELD_AT_A, ("A", "Welder"), ("A", "Welder"), "done"),
        (WELD_AT_A, ("Pos_3", "none"), ("Pos_3", "none"), "doubt"),
        (WELD_AT_A, ("A", "none"), ("A", "none"), "doubt"),
        (WELD_AT_A, ("B", "Welder"), ("B", "Welder"), "doubt"),
        (WELD_AT_A, ("A", "Welder"), ("A", "none"), "doubt"),
        (WELD_AT_A, ("A", "Welder"), None, "done"),
    ],
)
def test_what_is_called_done_counts_only_where_answer_and_state_fit(
    args: dict[str, Any], reported: Any, now: Any, end: str
) -> None:
    found = judged(args, "done", reported, now)
    assert found.end == end
    if end == "doubt" and (reported or now):
        assert found.difference["planned"]
        assert found.difference.get("reported", {}).get("current_position") == (reported or [None])[0]
        assert found.difference.get("now", {}).get("current_tool") == (now or [None, None])[1]
        assert "should leave the robot" in found.says


@pytest.mark.parametrize(
    ("args", "claim", "now", "end", "differs"),
    [
        (GO_TO_B, "failed", ("A", "Welder"), "failed", False),
        (GO_TO_B, "failed", ("B", "Welder"), "doubt", True),
        (GO_TO_B, "failed", (None, "Welder"), "doubt", False),
        (GO_TO_B, "failed", None, "doubt", False),
        (GO_TO_B, "unknown", ("A", "Welder"), "doubt", False),
        (GO_TO_B, "unknown", ("B", "Welder"), "doubt", False),
        (WELD_AT_A, "unknown", ("B", "none"), "doubt", False),
        (TAKE, "failed", ("S", "none"), "failed", False),
        (TAKE, "failed", ("S", "Welder"), "doubt", True),
        (WELD_AT_A, "failed", ("A", "Welder"), "doubt", False),
        (WELD_AT_A, "failed", ("A", "none"), "doubt", True),
        (WELD_AT_A, "unknown", ("A", "Welder"), "doubt", False),
    ],
)
def test_what_is_called_failed_has_failed_only_where_it_visibly_ended_elsewhere(
    args: dict[str, Any], claim: Any, now: Any, end: str, differs: bool
) -> None:
    found = judged(args, claim, None, now)
    assert (found.end, found.difference is not None) == (end, differs)
    assert found.says.startswith("It says so.")


def test_a_routine_that_works_with_any_tool_leaves_on_what_was_on() -> None:
    wipe = {"target": "wipe", "position": "A"}
    assert judged(wipe, "done", ("A", "Camera"), ("A", "Camera"), held="Camera").end == "done"
    assert judged(wipe, "done", ("A", "none"), ("A", "none"), held="Camera").end == "doubt"
    unknown = contract_of(LINE, "routine", wipe, Situation(None, None))
    assert verdict(unknown, "done", "", None, Situation("A", "none")).end == "done", "nobody knows what it held"


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


class Overruled:
    """A controller whose robot is set elsewhere, without its tool, in the middle of a weld; it says so and "done"."""

    def __init__(self, of: Any) -> None:
        self._of = of
        self.told: list[Any] = []
        self.other_state = 0
        """So many commands are refused because the robot is not as they need it."""
        self.answers: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    async def do(self, command: Any, progress: Any) -> Any:
        self.told.append(command)
        if self.other_state:
            self.other_state -= 1
            raise Fault("The robot stands elsewhere.", code=OTHER_STATE, untouched=True)
        report = await self._of.do(command, progress)
        if command.target == "tack_weld":
            if isinstance(self.answers, Exception):
                raise self.answers
            await self._of.place("Pos_3", "none")
            return CellReport("Pos_3", "none")
        return report


def overruled(runtime: Runtime) -> Overruled:
    cells = runtime.service(Cells)
    cell = cells.live["weld_star"]
    controller = Overruled(cell.controller)
    cells.live["weld_star"] = replace(cell, controller=controller)  # type: ignore[arg-type]
    return controller


async def weld_of(homestead: Any, runtime: Runtime) -> dict[str, Any]:
    """The weld of a run, in doubt, and what is asked about it."""
    plan, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="weld 1"))
    run_id = (await start_run(runtime, plan.id, plan.version))["runId"]
    await homestead.until(runtime, "stepUpdated", stepId="step_7", status="inDoubt")
    run = await run_document(runtime, run_id)
    [asked] = run["decisions"]
    step = next(one for one in run["steps"] if one["id"] == "step_7")
    return {"reason": step["reason"], **asked}


async def test_a_weld_whose_own_answer_says_elsewhere_and_without_a_tool_is_in_doubt(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        overruled(runtime)
        asked = await weld_of(homestead, runtime)
        assert (asked["kind"], asked["reason"]["code"]) == ("inDoubt", "step.contradicted")
        elsewhere = {"current_position": "Pos_3", "current_tool": "none"}
        difference = asked["evidence"]["difference"]
        assert difference["planned"] == {"current_position": "Pos_1", "current_tool": "Welder"}
        assert (difference["reported"], difference["now"]) == (elsewhere, elsewhere)
        assert asked["evidence"]["code"] == "step.contradicted"
        assert "should leave the robot at Pos_1 with Welder" in asked["evidence"]["says"]
        assert asked["verbs"] == ["happened", "run-again", "abort"]


async def test_a_controller_that_contradicts_itself_is_believed_of_neither(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        said = {"reported": {"status": "done"}, "now": {"status": "running"}, "says": ["Both."]}
        overruled(runtime).answers = InDoubtError("Probe says done, State says running.", said)
        asked = await weld_of(homestead, runtime)
        assert (asked["reason"]["code"], asked["evidence"]["difference"]) == ("step.contradicted", said)


async def test_a_doubt_without_a_contradiction_has_no_difference(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        overruled(runtime).answers = InDoubtError("It was cut off.")
        asked = await weld_of(homestead, runtime)
        assert asked["reason"]["code"] == "step.in_doubt"
        assert "difference" not in asked["evidence"]


async def test_every_command_says_for_which_state_it_was_checked(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        controller = overruled(runtime)
        await weld_of(homestead, runtime)
        needs = [(one.target, one.needs_position, one.needs_tool) for one in controller.told]
        assert needs == [
            ("Tool_Weld_Safe_Position", "Home", "none"),
            ("Tool_Weld_Position", "Tool_Weld_Safe_Position", "none"),
            ("tool_attach", "Tool_Weld_Position", "none"),
            ("Tool_Weld_Safe_Position", "Tool_Weld_Position", "Welder"),
            ("Safe_Pos_1", "Tool_Weld_Safe_Position", "Welder"),
            ("Pos_1", "Safe_Pos_1", "Welder"),
            ("tack_weld", "Pos_1", "Welder"),
        ]


async def test_a_controller_that_finds_another_state_has_done_nothing_and_the_step_waits(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        controller = overruled(runtime)
        controller.other_state = 1
        plan, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="go to Safe_Pos_1"))
        run_id = (await start_run(runtime, plan.id, plan.version))["runId"]
        asked = await drift(homestead, runtime)
        assert "refused it and has done nothing: The robot stands elsewhere." in asked["evidence"]["says"]
        assert asked["evidence"]["difference"]["planned"] == {"current_position": "Home", "current_tool": "none"}
        await answer_decision(runtime, asked["id"], "check-again")
        await homestead.until(runtime, "runFinished", runId=run_id, status="completed")
        assert len(controller.told) == 2


async def test_what_became_of_a_weld_is_judged_by_its_needs_after_a_crash_too(homestead: Any) -> None:
    async with homestead.open("weld_star") as runtime:
        cells = runtime.service(Cells)
        cell = cells.live["weld_star"]
        happened = ProbeAnswer("happened", {"current_position": "Pos_1", "current_tool": "Welder"})

        class Finished(Belying):
            async def did(self, key: str) -> ProbeAnswer:
                return happened

        cells.live["weld_star"] = replace(cell, controller=Finished(cell.controller))  # type: ignore[arg-type]
        _, routine = cell_tools(cells)
        context = ToolContext("k", workspace=None)  # type: ignore[arg-type]
        args = {"scene": "weld_star", "target": "tack_weld", "position": "Pos_1"}
        await cell.controller.place("Pos_1", "Welder")
        assert await routine.probe(args, context) == happened
        await cell.controller.place("Pos_1", "none")
        answer = await routine.probe(args, context)
        assert answer.state == "unknown"
        assert (answer.difference or {})["now"] == {"current_position": "Pos_1", "current_tool": "none"}
