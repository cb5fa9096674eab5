"""Scenes that should be live and are not: asked about once, closed by itself, and everywhere the same reason."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from beforehand.adapters.sim.cell import open_sim_cell
from beforehand.adapters.sim.link import open_sim_link
from beforehand.app.craft import Holds, Judge, Parts
from beforehand.app.crafts import load_crafts
from beforehand.app.doctor import scenes as doctor_scenes
from beforehand.app.examples import find_document
from beforehand.app.holds import hold_everything
from beforehand.app.inbox import answer_decision, list_decisions, show_decision
from beforehand.app.intake import PlanInput
from beforehand.app.not_live import reasons
from beforehand.app.plans import create_plan
from beforehand.app.runs import cancel_run, resume_run, run_document, start_run
from beforehand.app.scenes import activate_scene, deactivate_scene, get_scene, list_scenes, save_scene
from beforehand.app.sentences import Sentences
from beforehand.app.state import state_at, state_view
from beforehand.crafts.cell import controllers
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.cell.core.scene import CONTROLLER_KINDS
from beforehand.crafts.fleet import link_kinds
from beforehand.crafts.fleet.core.check import LINK_KINDS
from beforehand.crafts.fleet.core.why import why_everything
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.model.errors import BadInputError, ConflictError, ForeignError
from beforehand.server.metrics import metrics_text
from beforehand.server.sse import Audience

SAYS = "dock is active and not live: The robot link wire failed: TypeError: the wire is cut."


class Wire:
    """What somebody's plug-in brings, and how it is with it."""

    trouble: BaseException | None = None

    def cut(self) -> None:
        self.trouble = TypeError("the wire is cut")

    def link(self, request: Any) -> Any:
        if self.trouble is not None:
            raise self.trouble
        return open_sim_link(request)

    def controller(self, request: Any) -> Any:
        if self.trouble is not None:
            raise self.trouble
        return open_sim_cell(request)

    def install(self) -> None:
        link_kinds.register_link("wire", self.link)
        controllers.register_controller("wire", self.controller)

    def uninstall(self) -> None:
        for kinds in (LINK_KINDS, CONTROLLER_KINDS):
            kinds._checks.pop("wire", None)
            kinds._addresses.pop("wire", None)
        link_kinds._FACTORIES.pop("wire", None)
        controllers._FACTORIES.pop("wire", None)


@pytest.fixture
def wire() -> Iterator[Wire]:
    found = Wire()
    found.install()
    yield found
    found.uninstall()


def dock(name: str = "dock", *, link: str = "wire", enabled: bool = True) -> dict[str, Any]:
    document = copy.deepcopy(find_document("line_pick_drop"))
    document["robots"][0]["link"] = link
    document["streams"][0]["enabled"] = enabled
    return {**document, "name": name}


def cell(controller: str = "wire") -> dict[str, Any]:
    return {**copy.deepcopy(find_document("weld_star")), "name": "weld", "controller": controller}


async def under_way(homestead: Any) -> None:
    async with homestead.open(dock(), dock("line", link="sim", enabled=False)) as runtime:
        await homestead.until(runtime, "taskUpdated", phase="moving_to_pick")


async def heads(runtime: Any) -> dict[str, Any]:
    return {head["name"]: head for head in await list_scenes(runtime)}


async def test_every_face_says_the_same_reason_and_what_is_under_way_is_held(homestead: Any, wire: Wire) -> None:
    await under_way(homestead)
    wire.cut()
    async with homestead.open() as runtime:
        shown = await heads(runtime)
        assert (shown["line"]["live"], shown["dock"]["active"], shown["dock"]["live"]) == (True, True, False)
        reason = shown["dock"]["reason"]
        assert (reason["code"], reason["about"], reason["says"]) == ("scene.not_live", "dock", SAYS)
        assert "deactivate" in reason["tryNext"]
        [decision] = await list_decisions(runtime)
        assert (decision["kind"], decision["owner"], decision["verbs"]) == (
            "not_live",
            "scene:dock",
            ["try-again", "deactivate"],
        )
        assert decision["evidence"] == {"reason": reason}
        assert decision["covers"]
        assert set(decision["effects"]) == set(decision["verbs"])
        state = await state_view(runtime, "dock")
        assert state["scenes"] == [shown["dock"]]
        [task] = state["tasks"]
        [robot] = state["robots"]
        assert (task["status"], task["error"], robot["phase"]) == ("held", SAYS, "held")
        assert SAYS in task["says"]
        assert SAYS in robot["says"]
        fleets = runtime.service(Fleets)
        assert (await fleets.tasks(None, open=True, limit=9))[0]["status"] == "held"
        assert (await fleets.task("dock-t1", None))["status"] == "held"
        assert "x" not in (await fleets.listed("robots", "dock"))[0], "nobody sees where it is"
        for name in ("dock", "RB-01", "dock-t1", "stream_pick_drop"):
            [why] = await fleets.why(name, "dock")
            assert (why.code, why.says, why.about) == ("scene.not_live", SAYS, name)
        assert SAYS in {one.says for one in await fleets.why(None)}
        assert "beforehand_scenes_not_live 1\n" in await metrics_text(runtime, Audience(), 1.0, leads=True)
        assert [one.code for one in (await reasons(runtime.store)).values()] == ["scene.not_live"]
        assert homestead.events("taskUpdated")[-1].data["status"] == "active", "what is shown as held is not logged"
        await fleets.patch_stream(_enabled("line"), "line")
        await homestead.until(runtime, "taskUpdated", taskId="line-t1", status="completed")


def _enabled(scene: str) -> Any:
    from beforehand.crafts.fleet.core.inputs import PatchStream

    return PatchStream("stream_pick_drop", True)


async def test_a_restart_asks_no_second_time_and_another_reason_replaces_the_first(homestead: Any, wire: Wire) -> None:
    await under_way(homestead)
    wire.cut()
    async with homestead.open() as runtime:
        [first] = await list_decisions(runtime)
    async with homestead.open() as runtime:
        assert [one["id"] for one in await list_decisions(runtime)] == [first["id"]]
    wire.trouble = SystemExit(0)
    async with homestead.open() as runtime:
        [second] = await list_decisions(runtime)
        assert "It tried to end the whole process (SystemExit: 0)." in second["evidence"]["reason"]["says"]
        assert (await show_decision(runtime, first["id"]))["status"] == "withdrawn"
    assert len(homestead.events("decisionOpened")) == 2


async def test_when_the_plug_in_is_back_the_work_goes_on_and_nobody_is_asked(homestead: Any, wire: Wire) -> None:
    await under_way(homestead)
    wire.uninstall()
    async with homestead.open() as runtime:
        [decision] = await list_decisions(runtime)
        assert "Unknown link kind 'wire'" in decision["evidence"]["reason"]["says"]
        assert "install the plug-in" in decision["evidence"]["reason"]["tryNext"]
        assert [task["status"] for task in (await state_view(runtime))["tasks"]] == ["held"]
    wire.install()
    async with homestead.open() as runtime:
        assert (await show_decision(runtime, decision["id"]))["status"] == "withdrawn"
        assert (await heads(runtime))["dock"]["live"] is True
        await homestead.until(runtime, "taskUpdated", status="completed")
        assert len(homestead.events("palletPicked")) == 1
        then = await state_at(runtime, homestead.events("decisionOpened")[0].seq)
        assert [scene["live"] for scene in then["scenes"]] == [False, True], "the past knows it too"


async def test_tried_again_it_lives_or_says_why_not(homestead: Any, wire: Wire) -> None:
    await under_way(homestead)
    wire.cut()
    async with homestead.open() as runtime:
        [decision] = await list_decisions(runtime)
        with pytest.raises(ForeignError, match="the wire is cut"):
            await answer_decision(runtime, decision["id"], "try-again")
        assert [one["id"] for one in await list_decisions(runtime)] == [decision["id"]]
        wire.trouble = None
        answered = await answer_decision(runtime, decision["id"], "try-again", by="ada")
        assert (answered["status"], answered["answer"]["by"]) == ("answered", "ada")
        assert (await heads(runtime))["dock"]["live"] is True
        await homestead.until(runtime, "taskUpdated", taskId="dock-t1", status="completed")


async def test_activated_by_hand_it_lives_and_the_question_is_withdrawn(homestead: Any, wire: Wire) -> None:
    await under_way(homestead)
    wire.cut()
    async with homestead.open() as runtime:
        with pytest.raises(ForeignError):
            await activate_scene(runtime, "dock")
        wire.trouble = None
        await activate_scene(runtime, "dock")
        assert await list_decisions(runtime) == []
        assert homestead.events("decisionWithdrawn")[-1].data["why"] == "It is live."


@pytest.mark.parametrize("by_inbox", [True, False])
@pytest.mark.parametrize("gone", ["kind", "craft"])
async def test_it_rests_although_what_brings_it_is_gone(homestead: Any, wire: Wire, by_inbox: bool, gone: str) -> None:
    await under_way(homestead)
    wire.uninstall()
    async with homestead.open() as runtime:
        if gone == "craft":
            del runtime.crafts["fleet"]
        [decision] = await list_decisions(runtime)
        if by_inbox:
            assert (await answer_decision(runtime, decision["id"], "deactivate"))["status"] == "answered"
        else:
            await deactivate_scene(runtime, "dock")
            assert (await show_decision(runtime, decision["id"]))["status"] == "withdrawn"
        assert await list_decisions(runtime) == []
        shown = (await heads(runtime))["dock"]
        assert (shown["active"], shown["live"], shown.get("reason")) == (False, False, None)
    async with homestead.open() as runtime:
        assert await list_decisions(runtime) == []


async def test_a_scene_whose_craft_is_gone_is_told_after_a_restart(
    homestead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with homestead.open(cell("sim")):
        pass
    known = load_crafts()
    without = type(known)({name: craft for name, craft in known.by_name.items() if name != "cell"}, known.missing)
    monkeypatch.setattr("beforehand.app.runtime.load_crafts", lambda: without)
    async with homestead.open() as runtime:
        shown = (await heads(runtime))["weld"]
        assert (shown["active"], shown["live"]) == (True, False)
        assert "No craft for scenes of kind 'cell' is installed." in shown["reason"]["says"]
        assert "Install the package" in shown["reason"]["tryNext"]
        assert [scene["live"] for scene in (await state_view(runtime))["scenes"]] == [False]
        [decision] = await list_decisions(runtime)
        await answer_decision(runtime, decision["id"], "deactivate")
        assert (await get_scene(runtime, "weld"))["active"] is False


async def test_what_was_never_live_is_refused_and_asked_about_by_nobody(homestead: Any, wire: Wire) -> None:
    wire.cut()
    async with homestead.open() as runtime:
        await save_scene(runtime, None, dock())
        with pytest.raises(ForeignError, match="the wire is cut"):
            await activate_scene(runtime, "dock")
        assert await list_decisions(runtime) == []
        assert (await heads(runtime))["dock"]["active"] is False


async def test_nothing_is_asked_of_a_fleet_that_is_not_live(homestead: Any, wire: Wire) -> None:
    await under_way(homestead)
    wire.cut()
    async with homestead.open() as runtime:
        fleets = runtime.service(Fleets)
        for asked in (
            fleets.robot_verb("RB-01", "hold", None, "dock"),
            fleets.task_verb("dock-t1", "cancel", None, None),
            fleets.patch_worksite("PICK_01", "empty", "dock"),
            fleets.patch_stream(_enabled("dock"), "dock"),
            fleets.fleet_verb("dock", "hold"),
        ):
            with pytest.raises(ConflictError) as told:
                await asked
            assert (told.value.code, told.value.says) == ("scene.not_live", SAYS)
        plan, _ = await create_plan(runtime, PlanInput(scene="dock", text="move the pallet from PICK_01 to DROP_01"))
        with pytest.raises(ConflictError, match="the wire is cut"):
            await start_run(runtime, plan.id, 1)


async def test_a_robot_of_a_gone_kind_gets_another_link_although_its_task_is_open(homestead: Any, wire: Wire) -> None:
    await under_way(homestead)
    wire.uninstall()
    async with homestead.open() as runtime:
        await save_scene(runtime, None, dock(link="sim"))
        assert (await heads(runtime))["dock"]["live"] is False, "it is saved, and not yet activated"
        await activate_scene(runtime, "dock")
        assert (await heads(runtime))["dock"]["live"] is True
        assert [one["kind"] for one in await list_decisions(runtime)] in ([], ["hold"])
        await homestead.clock.settle()
        assert len(homestead.events("taskCreated")) == 1


async def test_a_stream_kind_that_breaks_when_it_is_asked_why_spares_the_other_fleets(
    homestead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*given: Any) -> Any:
        raise SystemExit(0)

    async with homestead.open(dock(link="sim", enabled=False), dock("line", link="sim", enabled=False)) as runtime:
        await homestead.clock.settle()
        fleets = runtime.service(Fleets)
        plain = why_everything

        def asked(state: Any, now_ms: int) -> Any:
            return breaks() if state.scene.name == "dock" else plain(state, now_ms)

        monkeypatch.setattr("beforehand.crafts.fleet.core.why.why_everything", asked)
        told = {one.about: one for one in await fleets.why(None)}
        assert told["dock"].code == "foreign.failed"
        assert "Saying why things stand still in dock failed: It tried to end" in told["dock"].says
        assert "RB-01" in told


async def test_a_judge_of_somebody_elses_that_breaks_is_a_problem_of_the_plan(homestead: Any) -> None:
    async def breaks(plan: Any) -> Any:
        raise SystemExit(0)

    async with homestead.open() as runtime:
        runtime.crafts["stranger"] = Parts(judge=Judge(breaks))
        document = {"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}
        with pytest.raises(BadInputError) as told:
            await create_plan(runtime, PlanInput(document))
        [problem] = told.value.problems
        assert problem.says.startswith("Judging it by the craft stranger failed: It tried to end the whole process")


async def test_what_moves_is_held_although_a_craft_cannot_say_what_moves(homestead: Any) -> None:
    def breaks() -> Any:
        raise SystemExit(0)

    async def nothing(name: str) -> None: ...

    async with homestead.open(dock(link="sim")) as runtime:
        runtime.crafts = {"stranger": Parts(holds=Holds("shed", breaks, nothing, nothing)), **runtime.crafts}
        held = await hold_everything(runtime)
        assert [one["scene"] for one in held["what"]] == ["dock"]


def test_an_event_that_a_craft_has_no_words_for_has_some() -> None:
    def breaks(data: Any) -> str:
        raise SystemExit(0)

    assert Sentences([{"doorOpened": breaks}]).of("doorOpened", {"sceneId": "shed"}, {}) == "Door opened: shed."


async def test_held_with_everything_it_stands_still_when_it_lives_again(homestead: Any, wire: Wire) -> None:
    async with homestead.open(dock()) as runtime:
        await homestead.until(runtime, "taskUpdated", phase="moving_to_pick")
        await hold_everything(runtime)
    wire.cut()
    async with homestead.open() as runtime:
        again = await hold_everything(runtime)
        assert [one["says"] for one in again["couldNot"]] == [SAYS]
        [decision] = [one for one in await list_decisions(runtime) if one["kind"] == "not_live"]
        wire.trouble = None
        await answer_decision(runtime, decision["id"], "try-again")
        assert runtime.service(Fleets).state_of("dock").hold.person


async def test_a_run_waits_for_its_cell_and_goes_on_when_it_lives(homestead: Any, wire: Wire) -> None:
    async with homestead.open(cell()) as runtime:
        plan, _ = await create_plan(runtime, PlanInput(scene="weld", text="weld 1 and 2"))
        run = await start_run(runtime, plan.id, 1)
        await homestead.until(runtime, "stepUpdated", status="completed")
    wire.cut()
    async with homestead.open() as runtime:
        [decision] = await list_decisions(runtime)
        shown = await run_document(runtime, run["runId"])
        assert (shown["status"], shown["reason"]["code"]) == ("running", "scene.not_live")
        assert "the wire is cut" in shown["reason"]["says"]
        assert not runtime.runs.drives(run["runId"])
        [listed] = (await state_view(runtime))["runs"]
        assert (listed["says"], listed["reason"]) == (shown["reason"]["says"], shown["reason"])
        with pytest.raises(ConflictError, match="the wire is cut"):
            await resume_run(runtime, run["runId"])
        cells = runtime.service(Cells)
        assert "the wire is cut" in (await cells.document("weld"))["says"]
        assert "the wire is cut" in (await state_view(runtime))["cells"][0]["says"]
        with pytest.raises(ConflictError, match="has not ended"):
            await answer_decision(runtime, decision["id"], "deactivate")
        wire.trouble = None
        await answer_decision(runtime, decision["id"], "try-again")
        assert "reason" not in await run_document(runtime, run["runId"])
        await homestead.until(runtime, "runFinished", runId=run["runId"], status="completed")
        assert not homestead.events("decisionOpened")[2:], "the review and the scene, and no step in doubt"


async def test_a_run_that_waits_can_be_cancelled_and_the_scene_then_rests(homestead: Any, wire: Wire) -> None:
    async with homestead.open(cell()) as runtime:
        plan, _ = await create_plan(runtime, PlanInput(scene="weld", text="weld 1 and 2"))
        run = await start_run(runtime, plan.id, 1)
    wire.uninstall()
    async with homestead.open() as runtime:
        assert (await runtime.service(Cells).listed())[0]["scene"] == "weld", "the list of cells is there all the same"
        cancelled = await cancel_run(runtime, run["runId"])
        for decision in cancelled["decisions"]:
            await answer_decision(runtime, decision["id"], "abort")
        assert (await run_document(runtime, run["runId"]))["status"] in ("cancelled", "failed")
        await deactivate_scene(runtime, "weld")
        assert await list_decisions(runtime) == []


async def test_a_driver_that_stopped_on_a_bug_is_that_reason_and_no_second_decision(
    homestead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with homestead.open(dock(link="sim")) as runtime:
        await homestead.until(runtime, "taskUpdated", phase="moving_to_pick")
        monkeypatch.setattr(runtime.service(Fleets).fleet("dock").driver, "_frame", lambda: 1 / 0)
        await homestead.until(runtime, "decisionOpened", kind="bug")
        await homestead.clock.settle()
        [bug] = await list_decisions(runtime)
        shown = (await heads(runtime))["dock"]
        assert (shown["live"], shown["reason"]["code"]) == (False, "scene.not_live")
        assert "ZeroDivisionError: division by zero" in shown["reason"]["says"]
        assert bug["id"] in shown["reason"]["tryNext"]
        assert (await state_view(runtime))["tasks"][0]["status"] == "held"
        [why] = await runtime.service(Fleets).why("dock-t1")
        assert why.says == shown["reason"]["says"]
        await answer_decision(runtime, bug["id"], "leave")
        [left] = await list_decisions(runtime)
        assert (left["kind"], left["evidence"]["reason"]["says"]) == ("not_live", shown["reason"]["says"])
        assert (await heads(runtime))["dock"]["live"] is False
        await answer_decision(runtime, left["id"], "try-again")
        assert (await heads(runtime))["dock"]["live"] is True
        await homestead.until(runtime, "taskUpdated", status="completed")


async def test_a_bug_that_a_restart_mended_is_not_asked_about_any_more(
    homestead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with homestead.open(dock(link="sim", enabled=False)) as runtime:
        monkeypatch.setattr(runtime.service(Fleets).fleet("dock").driver, "_frame", lambda: 1 / 0)
        await homestead.until(runtime, "decisionOpened", kind="bug")
        assert len(await list_decisions(runtime)) == 1
    async with homestead.open() as runtime:
        assert await list_decisions(runtime) == []
        assert (await heads(runtime))["dock"]["live"] is True


async def test_what_a_plug_in_decides_inside_a_fleet_cannot_end_the_process(
    homestead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends_all() -> None:
        raise SystemExit(0)

    async with homestead.open(dock(link="sim", enabled=False), dock("line", link="sim", enabled=False)) as runtime:
        monkeypatch.setattr(runtime.service(Fleets).fleet("dock").driver._loop, "_decide", lambda given: ends_all())
        await homestead.until(runtime, "decisionOpened", kind="bug")
        shown = await heads(runtime)
        assert (shown["dock"]["live"], shown["line"]["live"]) == (False, True)
        assert "It tried to end the whole process" in shown["dock"]["reason"]["says"]


@pytest.mark.parametrize("trouble", [SystemExit(0), TypeError("the wire is cut"), None])
async def test_a_controller_that_cannot_be_asked_leaves_nothing_half_live(
    homestead: Any, wire: Wire, trouble: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd:
        close = None

        async def do(self, command: Any, progress: Any) -> Any: ...

        async def report(self) -> Any:
            raise trouble or AssertionError

    async with homestead.open(cell()):
        pass
    monkeypatch.setattr(wire, "controller", lambda request: Odd() if trouble else None)
    wire.install()
    async with homestead.open() as runtime:
        shown = (await heads(runtime))["weld"]
        assert shown["live"] is False
        assert "weld" not in runtime.service(Cells).live
        said = f"{type(trouble).__name__}: {trouble}" if trouble else "made NoneType, which is no controller"
        assert said in shown["reason"]["says"]


async def test_doctor_finds_it_where_no_server_runs(homestead: Any, wire: Wire, tmp_path: Any) -> None:
    from beforehand.app.runtime import open_runtime
    from beforehand.app.scenes import recover_scenes

    async with open_runtime(homestead.settings, with_servers=False) as runtime:
        await save_scene(runtime, None, dock(), activate=True)
        wire.cut()
        await runtime.service(Fleets).host.close()
        await recover_scenes(runtime)
    [finding] = await doctor_scenes(homestead.settings)
    assert (finding.check, finding.state, finding.says) == ("scene dock", "broken", SAYS)
    wire.uninstall()
    with pytest.raises(BadInputError):
        async with open_runtime(homestead.settings, with_servers=False) as runtime:
            await save_scene(runtime, None, dock())
