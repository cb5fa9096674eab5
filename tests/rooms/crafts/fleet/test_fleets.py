"""The fleet craft in a runtime on virtual time: live from the log, crashed, changed, stopped by a bug."""

import copy
from typing import Any

import pytest

from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.scenes import find_document, save_scene
from beforehand.crafts.fleet.core.inputs import PatchStream
from beforehand.crafts.fleet.core.state import snapshot
from beforehand.crafts.fleet.finding import states_in_log, why_all, why_one
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.crafts.fleet.history import looked_up
from beforehand.model.errors import ConflictError, NotFoundError, UnavailableError


def line(name: str = "line", **changes: Any) -> dict[str, Any]:
    document = copy.deepcopy(find_document("line_pick_drop"))
    return {**document, "name": name, **changes}


def idle(name: str = "line") -> dict[str, Any]:
    document = line(name)
    document["streams"][0]["enabled"] = False
    return document


async def test_a_pallet_is_moved_and_the_log_alone_gives_the_state(homestead: Any) -> None:
    async with homestead.open(line()) as runtime:
        await homestead.until(runtime, "taskUpdated", status="completed")
        live = snapshot(runtime.service(Fleets).state_of("line"))
        read = await looked_up(runtime.store, "line")
        assert read is not None
        assert snapshot(read[0]) == live


@pytest.mark.parametrize("phase", ["moving_to_pick", "picking", "moving_to_drop", "dropping"])
async def test_a_restart_in_any_phase_loses_and_doubles_nothing(homestead: Any, phase: str) -> None:
    async with homestead.open(line()) as runtime:
        await homestead.until(runtime, "taskUpdated", phase=phase)
    await homestead.clock.advance(3)
    async with homestead.open() as runtime:
        await homestead.until(runtime, "taskUpdated", status="completed")
        assert len(homestead.events("taskCreated")) == 1
        assert len(homestead.events("palletPicked")) == len(homestead.events("palletDropped")) == 1
        assert await list_decisions(runtime) == []


async def test_transport_on_request_survives_a_restart(homestead: Any) -> None:
    async with homestead.open(idle()) as runtime:
        plan, _ = await create_plan(runtime, PlanInput(scene="line", text="move the pallet from PICK_01 to DROP_01"))
        from beforehand.app.runs import start_run

        run = await start_run(runtime, plan.id, 1)
        await homestead.until(runtime, "taskUpdated", phase="moving_to_drop")
    async with homestead.open() as runtime:
        await homestead.until(runtime, "runFinished", runId=run["runId"], status="completed")
        assert len(homestead.events("taskCreated")) == 1


async def test_a_changed_scene_keeps_what_lies_where_and_waits_for_open_tasks(homestead: Any) -> None:
    async with homestead.open(line()) as runtime:
        await homestead.until(runtime, "taskUpdated", phase="picking")
        with pytest.raises(ConflictError, match="under way"):
            await save_scene(runtime, None, line(settings={"tickS": 1.0}), activate=True)
        await homestead.until(runtime, "taskUpdated", status="completed")
        await save_scene(runtime, None, line(settings={"tickS": 1.0}), activate=True)
        state = runtime.service(Fleets).state_of("line")
        assert state.scene.settings.tick_s == 1.0
        assert state.worksites["DROP_01"].occupancy == "filled"
        assert state.worksites["PICK_01"].occupancy == "empty"
        await runtime.service(Fleets).patch_worksite("PICK_01", "filled", None)
        await runtime.service(Fleets).patch_worksite("DROP_01", "empty", None)
        await homestead.until(runtime, "taskCreated", taskId="line-t2")


async def test_a_scene_changed_over_a_restart_lets_its_open_tasks_end_first(homestead: Any) -> None:
    async with homestead.open(line()) as runtime:
        await homestead.until(runtime, "taskUpdated", phase="moving_to_drop")
        await save_scene(runtime, None, line(settings={"tickS": 1.0}))
    async with homestead.open() as runtime:
        assert runtime.service(Fleets).state_of("line").scene.settings.tick_s == 0.5
        await homestead.until(runtime, "taskUpdated", status="completed")
        assert len(homestead.events("taskCreated")) == 1


async def test_a_bug_stops_one_fleet_and_a_person_takes_it_up(homestead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with homestead.open(idle("north"), idle("south")) as runtime:
        fleets = runtime.service(Fleets)
        broken = fleets.fleet("north").driver
        monkeypatch.setattr(broken, "_frame", lambda: 1 / 0)
        await homestead.until(runtime, "decisionOpened", kind="bug")
        with pytest.raises(UnavailableError):
            await fleets.request("north", PatchStream("stream_pick_drop", True))
        assert (await fleets.patch_stream(PatchStream("stream_pick_drop", True), "south"))["enabled"] is True
        [decision] = await list_decisions(runtime)
        assert decision["about"] == {"scene": "north"}
        await answer_decision(runtime, decision["id"], "restart")
        await fleets.patch_stream(PatchStream("stream_pick_drop", True), "north")
        await homestead.until(runtime, "taskUpdated", status="completed", taskId="north-t1")


async def test_names_are_found_or_told(homestead: Any) -> None:
    async with homestead.open(idle("north"), idle("south")) as runtime:
        fleets = runtime.service(Fleets)
        with pytest.raises(ConflictError) as both:
            fleets.find("robots", "RB-01", None)
        assert both.value.extra["scenes"] == ["north", "south"]
        assert fleets.find("robots", "RB-01", "south").scene.name == "south"
        with pytest.raises(NotFoundError) as unknown:
            fleets.find("worksites", "PICK_1", "north")
        assert "PICK_01" in unknown.value.nearest
        with pytest.raises(NotFoundError, match="north, south"):
            fleets.find("robots", "RB-01", "east")


async def test_why_is_the_same_live_and_from_the_log(homestead: Any) -> None:
    async with homestead.open(idle()) as runtime:
        await homestead.until(runtime, "robotUpdated")
        await runtime.service(Fleets).fleet_verb("line", "hold")
        states, now = await states_in_log(runtime.store)
        assert "fleet.held" in {reason.code for reason in why_all(states, None, now)}
        told = why_one(states, "stream_pick_drop", None, now)
        assert [reason.code for reason in told] == [
            reason.code for reason in await runtime.service(Fleets).why("stream_pick_drop")
        ]
        with pytest.raises(NotFoundError):
            why_one(states, "RB-99", None, now)


async def test_why_tells_scenes_apart_and_advises_what_can_be_done_as_it_stands(homestead: Any) -> None:
    other = idle("south")
    other["robots"].append({"robotId": "RB-02", "nodeId": other["robots"][0]["nodeId"]})
    async with homestead.open(idle("north"), other) as runtime:
        await homestead.until(runtime, "robotUpdated", robotId="RB-02")
        fleets = runtime.service(Fleets)
        told = [(reason.about, reason.says, reason.try_next) for reason in await fleets.why(None)]
        off = ("It is switched off.", "Enable it: `beforehand streams enable stream_pick_drop --scene south`.")
        assert ("stream_pick_drop", f"In south: {off[0]}", off[1]) in told
        assert sum(about == "RB-01" and says.startswith("In north: ") for about, says, _ in told) == 1
        assert sum(about == "RB-01" and says.startswith("In south: ") for about, says, _ in told) == 1
        assert not any(says.startswith("In ") for about, says, _ in told if about == "RB-02")
        (one,) = await fleets.why("stream_pick_drop", "south")
        assert (one.says, one.try_next) == off


async def test_why_a_stream_is_not_answered_with_a_robot_of_its_name(homestead: Any) -> None:
    scene = idle()
    scene["streams"][0] |= {"streamId": "RB-01", "enabled": False}
    async with homestead.open(scene) as runtime:
        await homestead.until(runtime, "robotUpdated")
        fleets = runtime.service(Fleets)
        assert [reason.code for reason in await fleets.why("RB-01", kinds=("streams",))] == ["stream.disabled"]
        assert (await fleets.why("RB-01", kinds=("robots",)))[0].code == "fleet.no_work"
        assert {"stream.disabled", "fleet.no_work"} <= {reason.code for reason in await fleets.why(None)}


async def test_a_refusal_changes_nothing_and_says_why(homestead: Any) -> None:
    async with homestead.open(idle()) as runtime:
        await homestead.until(runtime, "robotUpdated")
        before = len(homestead.store.log)
        with pytest.raises(ConflictError) as refused:
            await runtime.service(Fleets).robot_verb("RB-01", "charge", None, None)
        assert refused.value.extra["reasons"][0]["code"] == "scene.no_charger"
        assert [e.kind for e in homestead.store.log[before:] if e.kind != "robotUpdated"] == []


async def started(runtime: Any, text: str) -> str:
    from beforehand.app.runs import start_run

    plan, _ = await create_plan(runtime, PlanInput(scene="line", text=text))
    return str((await start_run(runtime, plan.id, 1))["runId"])


async def test_cancelling_a_run_calls_the_forklift_off(homestead: Any) -> None:
    from beforehand.app.runs import cancel_run

    async with homestead.open(idle()) as runtime:
        run_id = await started(runtime, "move the pallet from PICK_01 to DROP_01")
        await homestead.until(runtime, "taskUpdated", phase="moving_to_pick", commandState="running")
        await cancel_run(runtime, run_id)
        await homestead.until(runtime, "taskUpdated", status="canceled")
        assert homestead.events("palletPicked") == []
        assert runtime.service(Fleets).state_of("line").worksites["PICK_01"].occupancy == "filled"


async def test_cancelling_a_run_whose_transport_no_robot_was_told_of_leaves_no_doubt(homestead: Any) -> None:
    from beforehand.app.runs import cancel_run

    async with homestead.open(idle()) as runtime:
        await homestead.until(runtime, "robotUpdated")
        await runtime.service(Fleets).robot_verb("RB-01", "hold", None, None)
        run_id = await started(runtime, "move the pallet from PICK_01 to DROP_01")
        await homestead.until(runtime, "taskCreated")
        await cancel_run(runtime, run_id)
        await homestead.until(runtime, "runFinished", runId=run_id, status="cancelled")
        assert [one["kind"] for one in await list_decisions(runtime) if one["kind"] == "inDoubt"] == []


async def test_cancelling_a_run_with_the_pallet_on_the_fork_asks_somebody_to_unload_it(homestead: Any) -> None:
    from beforehand.app.runs import cancel_run

    async with homestead.open(idle()) as runtime:
        run_id = await started(runtime, "move the pallet from PICK_01 to DROP_01")
        await homestead.until(runtime, "taskUpdated", phase="moving_to_drop", commandState="running")
        await cancel_run(runtime, run_id)
        await homestead.until(runtime, "decisionOpened", kind="hold")
        assert homestead.events("palletDropped") == []
        [decision] = [one for one in await list_decisions(runtime) if one["kind"] == "hold"]
        assert decision["verbs"] == ["unloaded", "out-of-service"]


async def test_hands_are_felt_in_the_simulated_hall(homestead: Any) -> None:
    async with homestead.open(line()) as runtime:
        fleets = runtime.service(Fleets)
        await homestead.until(runtime, "taskUpdated", phase="moving_to_pick", commandState="running")
        await fleets.task_verb("line-t1", "done-by-hand", None, None)
        with pytest.raises(ConflictError, match="by hand"):
            await fleets.task_verb("line-t1", "done-by-hand", None, None)
        await homestead.until(runtime, "taskUpdated", status="completed")
        assert len(homestead.events("palletPicked")) == len(homestead.events("palletDropped")) == 1
        assert await list_decisions(runtime) == []


async def test_what_a_person_says_is_on_the_fork_is_there_for_the_simulated_robot(homestead: Any) -> None:
    async with homestead.open(idle()) as runtime:
        fleets = runtime.service(Fleets)
        await homestead.clock.advance(2)
        await fleets.robot_verb("RB-01", "set-load", "loaded", None)
        part: Any = fleets.fleet("line").link.simulated_part("RB-01")
        assert ("robot", "RB-01") in part.fleet.pallets().values()
        await fleets.robot_verb("RB-01", "unloaded", None, None)
        assert ("robot", "RB-01") not in part.fleet.pallets().values()


async def test_snapshots_of_a_fleet_are_kept(homestead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beforehand.loop.loop.SNAPSHOT_EVERY", 10)
    async with homestead.open(line()) as runtime:
        await homestead.until(runtime, "taskUpdated", status="completed")
        kept = await runtime.store.snapshot("fleet:line")
        assert kept is not None
        assert kept[0] > 10
    written = len(homestead.store.log)
    async with homestead.open() as runtime:
        last = await runtime.store.snapshot("fleet:line")
        assert last is not None
        assert last[0] <= written
        assert last[1]["worksites"][1]["occupancy"] == "filled", "closing keeps the last state"
