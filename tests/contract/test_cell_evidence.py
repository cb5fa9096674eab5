"""What a cell's step is worth: it counts as done only where the PLC's answer and what its robot shows both fit.

The PLC is a stranger's (`stranger_plc.py`), behind real TCP, and people lay hands on its robot at the worst moments.
What the PLC really did is in a log of its own; ours is compared with it.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.cell_site import PATIENCE_S, STEP_S, CellSite, cell_site, hurry, until
from tests.contract.stranger_plc import FIELDS, NEEDS, Command, Fate

from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import cancel_run, run_document, start_run
from beforehand.crafts.cell.cells import Cells
from beforehand.model.errors import ConflictError
from beforehand.model.event import Event

pytestmark = pytest.mark.needs("asyncua")
LOOKS = 4
WELD, ATTACH = "tack_weld", "tool_attach"
AWAY = {"current_position": "Pos_3", "current_tool": "none"}
STANDING = {"position": "Pos_1", "tool": "Welder"}
"""Where a robot stands that can weld at once."""
AT_WORK = {"current_position": "Pos_1", "current_tool": "Welder"}


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signs of life come often, so that what does not happen is soon seen."""
    monkeypatch.setattr("beforehand.adapters.opcua.link.BEAT_S", 0.1)


def once(target: str, fate: Fate) -> Callable[[Command], Fate]:
    """This becomes of the first command with that target; all others go well."""
    fates = [fate]
    return lambda command: fates.pop() if fates and command["target"] == target else Fate()


def hand_before(site: CellSite, target: str, position: str, tool: str) -> None:
    """A person acts in the moment in which the first command with that target arrives."""
    acts = [(position, tool)]

    def act(command: Command) -> None:
        if acts and command["target"] == target:
            site.plc.hand(*acts.pop())

    site.plc.before_judged = act


async def in_doubt(site: CellSite) -> dict[str, Any]:
    """The question about a step in doubt, once it is asked."""
    return dict((await site.until("decisionOpened", kind="inDoubt")).data)


async def nothing_follows(site: CellSite) -> None:
    """We go on looking, and the PLC is given no command."""
    given = len(site.plc.executed)
    for _ in range(LOOKS):
        passed = len(site.line.asked)
        await until(lambda passed=passed: len(site.line.asked) > passed, "a look")  # type: ignore[misc]
    assert len(site.plc.executed) == given


def updates(site: CellSite, step_id: str) -> list[Any]:
    events = [event.data for event in site.log.events if event.kind == "stepUpdated"]
    return [data["status"] for data in events if data["stepId"] == step_id]


async def finished(site: CellSite) -> Event:
    return await site.until("runFinished")


# -- what is done, and what only is called so -------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
async def test_a_strangers_plc_is_driven_by_the_document_alone(tmp_path: Path, version: int) -> None:
    async with cell_site(tmp_path, version=version, clock_ahead_ms=-3_600_000) as site:
        await site.start("weld 1")
        assert (await finished(site)).data["status"] == "completed"
        ends = [(fact.how, fact.position, fact.tool) for fact in site.plc.of("ended")]
        assert len(ends) == 7
        assert ends[-1] == ("done", "Pos_1", "Welder")
        assert {fact.id for fact in site.plc.of("begun")} == {command["id"] for command in site.plc.executed}


async def test_a_hand_in_the_middle_of_a_weld_leaves_it_in_doubt_and_nothing_follows(tmp_path: Path) -> None:
    async with cell_site(tmp_path, **STANDING) as site:
        site.plc.fate = once(WELD, Fate(hand=("Pos_3", "none")))
        run_id = await site.start("weld 1 and 2")
        asked = await in_doubt(site)
        step = await site.step(run_id, asked["about"]["stepId"])
        assert (step["status"], step["reason"]["code"]) == ("inDoubt", "step.contradicted")
        difference = asked["evidence"]["difference"]
        assert (difference["planned"], difference["reported"], difference["now"]) == (AT_WORK, AWAY, AWAY)
        await nothing_follows(site)
        site.plc.hand("Pos_1", "Welder")
        await site.answer(asked, "happened")
        assert (await finished(site)).data["status"] == "completed"
        assert [fact.target for fact in site.plc.of("begun")].count(WELD) == 2


async def test_what_probe_calls_done_is_not_done_while_state_shows_it_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beforehand.adapters.opcua.client.SETTLE_S", 0.3)
    async with cell_site(tmp_path, **STANDING) as site:
        site.plc.fate = once(WELD, Fate(sticks=True))
        await site.start("weld 1 and 2")
        asked = await in_doubt(site)
        difference = asked["evidence"]["difference"]
        assert (difference["reported"]["status"], difference["now"]["status"]) == ("done", "running")
        await nothing_follows(site)
        assert "completed" not in updates(site, asked["about"]["stepId"])
        await site.answer(asked, "abort")
        assert (await finished(site)).data["status"] == "failed"


@pytest.mark.parametrize("look_s", [1.0, 0.05], ids=["asked when it shows something", "asked before it shows anything"])
async def test_a_state_that_is_late_within_its_two_seconds_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look_s: float
) -> None:
    """State shows the end of a command 0.3 s after Probe, and its beginning as late."""
    monkeypatch.setattr("beforehand.adapters.opcua.client.LOOK_S", look_s)
    async with cell_site(tmp_path, lag_s=0.3, **STANDING) as site:
        run_id = await site.start("weld 1, then go home")
        await until(lambda: _over_or_asked(site), "an end")
        assert [asked["evidence"]["says"] for asked in await site.decisions()] == []
        run = await run_document(site.runtime, run_id)
        assert [step["status"] for step in run["steps"]] == ["completed"] * 3


def _over_or_asked(site: CellSite) -> bool:
    kinds = [(event.kind, event.data.get("kind")) for event in site.log.events]
    return any(kind == "runFinished" or (kind == "decisionOpened" and about != "review") for kind, about in kinds)


async def test_a_move_that_ends_where_it_began_has_failed(tmp_path: Path) -> None:
    async with cell_site(tmp_path) as site:
        site.plc.fate = once("Safe_Pos_1", Fate(stays=True))
        run_id = await site.start("go to Safe_Pos_1")
        asked = (await site.until("decisionOpened", kind="failure")).data
        assert "stands at Home" in asked["evidence"]["error"]
        assert (await site.step(run_id, "step_1"))["status"] == "failed"
        await nothing_follows(site)
        await site.answer(asked, "retry")
        assert (await finished(site)).data["status"] == "completed"
        assert len(site.plc.of("begun")) == 2


async def test_a_routine_that_says_that_it_failed_is_in_doubt(tmp_path: Path) -> None:
    async with cell_site(tmp_path, **STANDING) as site:
        site.plc.fate = once(WELD, Fate(fails=True))
        run_id = await site.start("weld 1")
        asked = await in_doubt(site)
        assert "tack_weld went wrong" in asked["evidence"]["says"]
        assert (await site.step(run_id, asked["about"]["stepId"]))["status"] == "inDoubt"
        await nothing_follows(site)
        await site.answer(asked, "run-again")
        assert (await finished(site)).data["status"] == "completed"
        welds = [(fact.what, fact.how) for fact in site.plc.truth if fact.target == WELD]
        assert welds == [("begun", ""), ("ended", "failed"), ("begun", ""), ("ended", "done")]


async def test_a_tool_change_in_which_a_hand_takes_the_tool_is_not_done(tmp_path: Path) -> None:
    async with cell_site(tmp_path) as site:
        site.plc.fate = once(ATTACH, Fate(hand=("Tool_Weld_Position", "none")))
        run_id = await site.start("attach the welder")
        asked = (await site.until("decisionOpened", kind="failure")).data
        assert "holds no tool" in asked["evidence"]["error"]
        assert (await site.step(run_id, asked["about"]["stepId"]))["status"] == "failed"
        await nothing_follows(site)


async def test_a_plc_that_falls_silent_about_positions_completes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beforehand.adapters.opcua.client.SETTLE_S", 0.3)
    async with cell_site(tmp_path, **STANDING) as site:

        def fall_silent(command: Command) -> Fate:
            site.plc.mute = command["target"] == WELD
            return Fate()

        site.plc.fate = fall_silent
        await site.start("weld 1 and 2")
        asked = await in_doubt(site)
        assert "completed" not in updates(site, asked["about"]["stepId"])
        await nothing_follows(site)


async def test_an_answer_that_names_no_place_is_no_witness_of_a_move_that_ended_elsewhere(tmp_path: Path) -> None:
    """The move was done; then somebody moved the robot. Only State shows a place, and that says nothing of the move."""
    async with cell_site(tmp_path) as site:
        site.plc.probe_names_no_place = True
        site.plc.fate = once("Safe_Pos_1", Fate(hand_after=("Safe_Pos_3", "none")))
        run_id = await site.start("go to Safe_Pos_1")
        await until(lambda: _over_or_asked(site), "a question")
        assert [(fact.how, fact.position) for fact in site.plc.of("ended")] == [("done", "Safe_Pos_1")]
        assert (await site.step(run_id, "step_1"))["status"] == "inDoubt"


async def test_a_hand_right_after_a_move_leaves_it_in_doubt(tmp_path: Path) -> None:
    async with cell_site(tmp_path) as site:
        site.plc.fate = once("Safe_Pos_1", Fate(hand_after=("Safe_Pos_3", "none")))
        await site.start("go to Safe_Pos_1")
        difference = (await in_doubt(site))["evidence"]["difference"]
        seen = [difference[name]["current_position"] for name in ("planned", "reported", "now")]
        assert seen == ["Safe_Pos_1", "Safe_Pos_1", "Safe_Pos_3"]
        await nothing_follows(site)


async def test_a_plc_that_forgets_in_the_middle_is_asked_about(tmp_path: Path) -> None:
    async with cell_site(tmp_path) as site:
        site.plc.takes_s = (0.2, 0.3)
        await site.start("go to Safe_Pos_1")
        await until(lambda: site.plc.busy)
        site.plc.forget()
        asked = await in_doubt(site)
        assert "forgotten its commands" in asked["evidence"]["says"]
        await nothing_follows(site)


# -- a hand in the very moment of Execute ------------------------------------------------------------------------------


async def test_version_2_refuses_what_was_checked_for_another_state(tmp_path: Path) -> None:
    async with cell_site(tmp_path, **STANDING) as site:
        hand_before(site, WELD, "Pos_1", "none")
        await site.start("weld 1")
        asked = (await site.until("decisionOpened", kind="drift")).data
        [refused] = site.plc.of("refused")
        assert (refused.how, refused.target) == ("cell.other_state", WELD)
        assert WELD not in [fact.target for fact in site.plc.of("begun")]
        assert asked["evidence"]["difference"]["planned"] == AT_WORK
        assert asked["evidence"]["difference"]["now"] == {"current_position": "Pos_1", "current_tool": "none"}
        await nothing_follows(site)
        site.plc.hand("Pos_1", "Welder")
        await site.answer(asked, "check-again")
        assert (await finished(site)).data["status"] == "completed"
        assert [fact.target for fact in site.plc.of("begun")].count(WELD) == 1


async def test_version_2_refuses_a_move_from_another_place(tmp_path: Path) -> None:
    async with cell_site(tmp_path) as site:
        hand_before(site, "Safe_Pos_1", "Tool_Weld_Safe_Position", "none")
        await site.start("go to Safe_Pos_1")
        await site.until("decisionOpened", kind="drift")
        assert [fact.how for fact in site.plc.of("refused")] == ["cell.other_state"]
        assert site.plc.of("begun") == []


async def test_version_1_begins_it_and_it_is_in_doubt(tmp_path: Path) -> None:
    async with cell_site(tmp_path, version=1, **STANDING) as site:
        hand_before(site, WELD, "Pos_1", "none")
        await site.start("weld 1 and 2")
        asked = await in_doubt(site)
        assert [fact.target for fact in site.plc.of("begun")].count(WELD) == 1
        assert site.plc.of("ended")[-1].how == "done"
        assert asked["evidence"]["code"] == "step.contradicted"
        await nothing_follows(site)


@pytest.mark.parametrize(("version", "declares"), [(1, True), (1, False), (2, True), (2, False)])
async def test_what_a_command_needs_is_sent_where_it_is_declared(tmp_path: Path, version: int, declares: bool) -> None:
    """By version 2 of the model where Execute does not say; and what follows a routine is a command of its own."""
    async with cell_site(tmp_path, version=version, declares=declares) as site:
        await site.start("attach the welder")
        assert (await finished(site)).data["status"] == "completed"
        wanted = set(FIELDS) - (set(NEEDS) if version == 1 else set())
        assert [set(command) for command in site.plc.executed] == [wanted] * 3
        assert {command["actionAfter"] for command in site.plc.executed} == {""}
        if version == 2:
            needs = [(command["needsPosition"], command["needsTool"]) for command in site.plc.executed]
            assert needs == [(fact.position, fact.tool) for fact in site.plc.of("begun")]


# -- while nothing is under way ----------------------------------------------------------------------------------------


async def test_an_idle_robot_that_is_moved_by_hand_is_shown_and_an_old_plan_does_not_start(tmp_path: Path) -> None:
    async with cell_site(tmp_path) as site:
        plan, _ = await create_plan(site.runtime, PlanInput(scene="weld_star", text="weld 1"))
        cells = site.runtime.service(Cells)
        site.plc.hand("Pos_3", "Camera")
        async with asyncio.timeout(10):  # a second, where the machine has time for it
            await site.until("cellStateChanged", current_position="Pos_3", current_tool="Camera")
        shown = await cells.document("weld_star")
        assert (shown["current_position"], shown["current_tool"]) == ("Pos_3", "Camera")
        with pytest.raises(ConflictError) as refused:
            await start_run(site.runtime, plan.id, plan.version)
        assert refused.value.code == "plan.drift"
        assert site.plc.executed == []


async def test_a_start_in_the_moment_of_the_hand_is_refused_too(tmp_path: Path) -> None:
    async with cell_site(tmp_path) as site:
        plan, _ = await create_plan(site.runtime, PlanInput(scene="weld_star", text="weld 1"))
        site.plc.hand("Safe_Pos_3", "none")
        await until(lambda: site.plc.showing("position") == "Safe_Pos_3")
        with pytest.raises(ConflictError) as refused:
            await start_run(site.runtime, plan.id, plan.version)
        assert refused.value.code == "plan.drift"
        assert site.plc.executed == []


async def test_a_controller_that_answers_no_more_is_not_shown_as_if_it_were_seen_now(tmp_path: Path) -> None:
    async with cell_site(tmp_path) as site:
        await shown_where(site, lambda says: says == "")
        site.freeze()
        shown = await shown_where(site, lambda says: "answer" in says)
        assert shown["current_position"] == "Home", "where it was seen last"
        assert "answer" in (await site.runtime.service(Cells).document("weld_star"))["says"]


async def shown_where(site: CellSite, fits: Callable[[str], bool]) -> dict[str, Any]:
    """The cell as `GET /state` shows it, once what it says of itself fits."""
    for _ in range(round(PATIENCE_S / STEP_S)):
        [shown] = (await site.runtime.service(Cells).state("weld_star"))["cells"]
        if fits(shown.get("says", "")):
            return shown
        await asyncio.sleep(STEP_S)
    pytest.fail("This was never said.")


# -- nobody answers, and nobody is there -------------------------------------------------------------------------------


async def test_a_cancel_that_nobody_confirms_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    async with cell_site(tmp_path) as site:
        site.plc.takes_s = (20.0, 20.0)
        run_id = await site.start("go to Safe_Pos_1")
        await until(lambda: site.plc.busy)
        site.freeze()
        await cancel_run(site.runtime, run_id)
        asked = await in_doubt(site)
        assert "not confirmed" in asked["evidence"]["says"]
        assert (await site.step(run_id, "step_1"))["status"] == "inDoubt"
        run = await run_document(site.runtime, run_id)
        told = json.dumps([run, await site.decisions(), [event.wire() for event in site.log.events]])
        assert "It was stopped" not in told


@pytest.mark.parametrize("late", [False, True], ids=["in the weld", "after the weld"])
async def test_a_hand_while_our_process_is_dead_leaves_the_weld_in_doubt(tmp_path: Path, late: bool) -> None:
    async with cell_site(tmp_path, **STANDING) as site:
        site.plc.takes_s = (0.15, 0.2)
        run_id = await site.start("weld 1 and 2")
        await until(lambda: any(fact.target == WELD for fact in site.plc.of("begun")))
        await site.kill()
        if late:
            await site.plc.idle()
        site.plc.hand("Pos_3", "none")
        await site.plc.idle()
        assert site.plc.of("ended")[-1].how == "done"
        await site.open()
        asked = await in_doubt(site)
        step_id = asked["about"]["stepId"]
        assert asked["evidence"]["difference"]["planned"] == AT_WORK
        assert asked["evidence"]["difference"]["reported"] == (AT_WORK if late else AWAY)
        assert asked["evidence"]["difference"]["now"] == AWAY
        assert (await site.step(run_id, step_id))["status"] == "inDoubt"
        assert "completed" not in updates(site, step_id)
        await nothing_follows(site)


async def test_a_weld_that_was_done_while_our_process_was_dead_is_completed_once(tmp_path: Path) -> None:
    async with cell_site(tmp_path, **STANDING) as site:
        site.plc.takes_s = (0.15, 0.2)
        await site.start("weld 1")
        await until(lambda: any(fact.target == WELD for fact in site.plc.of("begun")))
        await site.kill()
        await site.plc.idle()
        await site.open()
        assert (await finished(site)).data["status"] == "completed"
        assert [fact.target for fact in site.plc.of("begun")].count(WELD) == 1
