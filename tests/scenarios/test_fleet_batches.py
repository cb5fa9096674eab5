"""Batches and shuttles, specs/fleet.md §11, and the pallet catalogue: given / when / then, on virtual time."""

from itertools import pairwise
from typing import Any

import pytest

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.inputs import AnswerDecision, PatchWorksite, RequestTransport, TaskVerb
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.crafts.fleet.core.state import initial, restore, snapshot
from beforehand.crafts.fleet.core.warnings import warnings
from beforehand.crafts.fleet.core.why import why
from beforehand.crafts.fleet.testing import Shift
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import Task


def hall(kind: str = "batch", picks: int = 3, drops: int = 3, capacity: int = 3, **params: Any) -> dict[str, Any]:
    """RB-01 at 0 m; A1, A2 … at 10, 20 … m, all filled; then B1, B2 …, all empty."""
    names = [f"A{n + 1}" for n in range(picks)] + [f"B{n + 1}" for n in range(drops)]
    if kind == "batch":
        params = {"batchSize": 3, **params}
    return {
        "kind": "fleet",
        "name": "hall",
        "nodes": [{"id": "LM", "x": 0, "y": 0}]
        + [{"id": f"AP_{name}", "x": 10 * (n + 1), "y": 0} for n, name in enumerate(names)],
        "edges": [{"from": one, "to": other} for one, other in pairwise(["LM", *(f"AP_{name}" for name in names)])],
        "worksites": [
            {
                "worksiteId": name,
                "worksiteType": "buffer",
                "entryNodeId": f"AP_{name}",
                "occupancy": "filled" if name.startswith("A") else "empty",
            }
            for name in names
        ],
        "robots": [{"robotId": "RB-01", "nodeId": "LM", "loadState": "empty", "capacity": capacity}],
        "streams": [
            {
                "streamId": "s",
                "kind": kind,
                "params": {"pickGroup": names[:picks], "dropGroup": names[picks:], **params},
            }
        ],
    }


def moves(shift: Shift) -> list[tuple[str, str, str]]:
    kinds = {"palletPicked": "pick", "palletDropped": "drop"}
    return [
        (kinds[event.kind], event.data["worksiteId"], event.data["loadState"])
        for event in shift.events
        if event.kind in kinds
    ]


def until(shift: Shift, *wanted: tuple[str, str, str]) -> None:
    """Runs until this was moved."""
    for _ in range(600):
        if [one for one in wanted if one in moves(shift)] == list(wanted):
            return
        shift.tick()
    raise AssertionError(moves(shift))


def the_task(shift: Shift) -> Task:
    return shift.state.tasks["hall-t1"]


# Batch: pickup N items before first drop


def test_fleet_11_a_batch_picks_all_before_its_first_drop() -> None:
    shift = Shift(hall())
    shift.run(400)
    assert moves(shift) == [
        ("pick", "A1", "loaded"),
        ("pick", "A2", "loaded"),
        ("pick", "A3", "loaded"),
        ("drop", "B1", "loaded"),
        ("drop", "B2", "loaded"),
        ("drop", "B3", "empty"),
    ]
    assert the_task(shift).status == "completed"
    assert [leg.state for leg in the_task(shift).legs or ()] == ["dropped"] * 3
    assert shift.check.end() == []
    assert shift.differing == {}


def test_fleet_11_all_places_of_a_batch_are_reserved_at_once() -> None:
    shift = Shift(hall())
    shift.run(2)
    assert {site.reserved_by for site in shift.state.worksites.values()} == {"hall-t1"}


def test_fleet_11_a_batch_waits_for_its_pallets_and_says_so() -> None:
    scene = hall()
    scene["worksites"][2]["occupancy"] = "empty"
    shift = Shift(scene)
    shift.run(30)
    assert shift.state.tasks == {}
    assert "waits for 3 pallets" in why(shift.state, "s", shift.now)[0].says
    shift.tick(PatchWorksite("A3", "filled"))
    shift.run(400)
    assert the_task(shift).status == "completed"


def test_fleet_5_no_robot_gets_more_than_it_carries() -> None:
    shift = Shift(hall(capacity=2))
    shift.run(60)
    assert shift.state.tasks == {}
    reason = why(shift.state, "RB-01", shift.now)[0]
    assert (reason.code, "2 pallets at once" in reason.says) == ("robot.capacity", True)
    odd = [one.path for one in warnings(read_fleet(hall(capacity=2)))]
    assert "streams[0].params.batchSize" in odd
    result = simulate(read_fleet(hall(capacity=2)), SimFleet(read_fleet(hall(capacity=2))))
    assert result.ended == "idle"


def test_fleet_11_a_batch_that_may_be_smaller_is_made_as_big_as_a_robot_carries() -> None:
    shift = Shift(hall(capacity=2, partial=True))
    shift.run(600)
    assert [kind for kind, *_ in moves(shift)] == ["pick", "pick", "drop", "drop", "pick", "drop"]
    assert [site for _, site, _ in moves(shift)[:2]] == ["A1", "A2"]


@pytest.mark.parametrize("dispatch", ["nearest", "first", "optimal"])
def test_fleet_11_several_batches_at_once(dispatch: str) -> None:
    scene = hall(picks=6, drops=6, capacity=2, batchSize=2)
    scene["robots"].append({"robotId": "RB-02", "nodeId": "LM", "loadState": "empty", "capacity": 2})
    scene["robots"].append({"robotId": "RB-03", "nodeId": "LM", "loadState": "empty"})
    scene["settings"] = {"dispatch": dispatch}
    read = read_fleet(scene)
    result = simulate(read, SimFleet(read))
    assert (result.state.completed, result.ended, result.violations) == (3, "idle", [])
    assert {task.robot_id for task in result.state.tasks.values()} == {"RB-01", "RB-02"}


@pytest.mark.parametrize("sim", [SimSettings(load_sensor=True), SimSettings(task_ids=True), SimSettings()])
def test_fleet_11_a_batch_with_every_kind_of_robot(sim: SimSettings) -> None:
    scene = read_fleet(hall())
    result = simulate(scene, SimFleet(scene, [FaultSpec(at_s=0.0, robot_id="RB-01", fault="status6")], sim))
    assert (result.state.completed, result.violations) == (1, [])


def test_fleet_6_8_a_place_that_changes_leaves_the_batch() -> None:
    shift = Shift(hall(partial=True))
    until(shift, ("pick", "A1", "loaded"))
    shift.tick(PatchWorksite("A3", "empty"))
    assert [leg.source_id for leg in the_task(shift).legs or ()] == ["A1", "A2"]
    assert shift.state.worksites["B3"].occupancy == "empty"
    shift.run(400)
    assert the_task(shift).status == "completed"
    assert shift.check.end() == []


def test_fleet_6_8_the_pallet_the_robot_drives_to_may_go_too() -> None:
    shift = Shift(hall())
    until(shift, ("pick", "A1", "loaded"))
    shift.run(2)
    shift.tick(PatchWorksite("A2", "empty"))
    shift.run(400)
    assert moves(shift) == [
        ("pick", "A1", "loaded"),
        ("pick", "A3", "loaded"),
        ("drop", "B1", "loaded"),
        ("drop", "B3", "empty"),
    ]
    assert the_task(shift).status == "completed"
    assert shift.check.end() == []


def test_fleet_6_8_a_drop_that_is_taken_is_changed_for_another() -> None:
    shift = Shift(hall(drops=4))
    until(shift, ("pick", "A3", "loaded"))
    shift.tick(PatchWorksite("B2", "filled"))
    shift.run(400)
    assert [place for step, place, _ in moves(shift) if step == "drop"] == ["B1", "B4", "B3"]
    assert shift.check.end() == []


def test_fleet_6_8_a_carried_pallet_without_a_place_is_asked_about() -> None:
    shift = Shift(hall())
    until(shift, ("pick", "A3", "loaded"))
    shift.tick(PatchWorksite("B3", "filled"))
    assert the_task(shift).status == "held"
    assert "B3" in (the_task(shift).error or "")
    (asked,) = shift.state.decisions.values()
    assert asked.verbs == ("resume", "redo", "done-by-hand", "abort")
    (reason,) = why(shift.state, "hall-t1", shift.now)
    assert reason.try_next == "Answer it in the inbox: resume, redo, done-by-hand or abort."


def test_fleet_6_8_no_robot_is_sent_to_drop_where_a_pallet_stands_whoever_resumed_it() -> None:
    shift = Shift(hall())
    until(shift, ("pick", "A3", "loaded"))
    shift.tick(PatchWorksite("B3", "filled"))
    (asked,) = shift.state.decisions.values()
    assert shift.tick(AnswerDecision(asked.id, "resume")) == ()
    shift.run(400)
    assert [place for step, place, _ in moves(shift) if step == "drop"] == ["B1", "B2"]
    assert the_task(shift).status == "held"
    (asked,) = shift.state.decisions.values()
    assert "B3 is filled now" in asked.title
    shift.tick(PatchWorksite("B3", "empty"))
    shift.tick(AnswerDecision(asked.id, "resume"))
    shift.run(400)
    assert the_task(shift).status == "completed"
    assert shift.check.end() == []


def test_fleet_6_8_the_inbox_says_why_a_task_is_held_now() -> None:
    shift = Shift(hall())
    until(shift, ("pick", "A3", "loaded"))
    shift.tick(PatchWorksite("B2", "filled"))
    (first,) = shift.state.decisions.values()
    shift.tick(PatchWorksite("B3", "filled"))
    (second,) = shift.state.decisions.values()
    assert ("B2 is filled" in first.title, "B3 is filled" in second.title) == (True, True)
    told = [event.kind for event in shift.events if event.about.get("decisionId") == first.id]
    assert told == ["decisionOpened", "decisionWithdrawn"]


def test_fleet_6_8_a_batch_is_not_let_go_with_pallets_on_the_fork() -> None:
    shift = Shift(hall())
    until(shift, ("pick", "A1", "loaded"))
    shift.run(1)
    (refused,) = shift.tick(TaskVerb("hall-t1", "cancel"))
    assert refused.code == "task.loaded"
    (refused,) = shift.tick(TaskVerb("hall-t1", "abort", "B3"))
    assert refused.code == "task.picking"
    shift.tick(TaskVerb("hall-t1", "abort"))
    shift.run(60)
    assert (the_task(shift).status, shift.state.robots["RB-01"].load_state) == ("failed", "loaded")
    assert {site.reserved_by for site in shift.state.worksites.values()} == {None}
    (asked,) = shift.state.decisions.values()
    shift.tick(AnswerDecision(asked.id, "unloaded"))
    assert shift.state.robots["RB-01"].load_state == "empty"
    assert shift.check.end() == []


def test_fleet_6_8_a_failed_pick_in_a_batch_is_done_by_hand() -> None:
    shift = Shift(hall(), faults=[FaultSpec(at_s=20.0, robot_id="RB-01", fault="status5")])
    shift.run(90)
    task = the_task(shift)
    assert task.status == "held"
    shift.tick(TaskVerb("hall-t1", "redo"))
    shift.run(400)
    assert the_task(shift).status == "completed"
    assert shift.check.end() == []


def test_a_batch_is_kept_in_a_snapshot() -> None:
    shift = Shift(hall())
    until(shift, ("pick", "A2", "loaded"))
    again = restore(shift.scene, snapshot(shift.state))
    assert again.tasks == shift.state.tasks
    assert snapshot(again) == snapshot(shift.state)


def test_a_batch_in_a_lane_or_bigger_than_its_groups_is_a_problem_of_the_scene() -> None:
    with pytest.raises(BadInputError) as caught:
        read_fleet(hall(batchSize=4, dropPolicy={"accessRule": "preceding_empty"}))
    assert {problem.path for problem in caught.value.problems} == {
        "streams[0].params.batchSize",
        "streams[0].params.dropPolicy.accessRule",
    }


# Shuttle: fixed shuttle between two nodes


def test_fleet_11_a_shuttle_leaves_what_it_brought_until_somebody_says_more() -> None:
    shift = Shift(hall("shuttle", picks=1, drops=1))
    shift.run(200)
    assert moves(shift) == [("pick", "A1", "loaded"), ("drop", "B1", "empty")]
    assert shift.state.worksites["B1"].brought_by == "s"
    assert "brought what stands on B1" in why(shift.state, "s", shift.now)[0].says
    shift.tick(PatchWorksite("B1", "filled"))
    shift.run(200)
    assert moves(shift)[2:] == [("pick", "B1", "loaded"), ("drop", "A1", "empty")]
    assert shift.check.end() == []


def test_fleet_11_a_shuttle_one_way_never_goes_back() -> None:
    shift = Shift(hall("shuttle", picks=1, drops=1, bothWays=False))
    shift.run(200)
    shift.tick(PatchWorksite("B1", "filled"))
    shift.run(200)
    assert len(moves(shift)) == 2


def test_fleet_11_a_shuttle_has_two_ends() -> None:
    with pytest.raises(BadInputError):
        read_fleet(hall("shuttle", picks=2, drops=1))


# The catalogue


def typed(*robots: dict[str, Any], **more: Any) -> dict[str, Any]:
    scene = hall("pickDrop", picks=2, drops=2)
    scene["pallets"] = [
        {"palletType": "EPAL", "lengthM": 1.2, "widthM": 0.8, "weightKg": 1000, "recfile": "plt/p0001.plt"},
        {"palletType": "CHEP", "lengthM": 1.2, "widthM": 1.0, "weightKg": 400},
    ]
    for site, kind in zip(scene["worksites"], ("EPAL", "CHEP", None, None), strict=True):
        if kind is not None:
            site["palletType"] = kind
    scene["robots"] = [
        {"robotId": f"RB-{n + 1:02}", "nodeId": "LM", "loadState": "empty", **robot} for n, robot in enumerate(robots)
    ]
    return scene | more


def test_a_robot_gets_only_pallets_it_may_carry() -> None:
    shift = Shift(typed({"palletTypes": ["CHEP"]}, {"palletTypes": ["EPAL"]}))
    shift.run(200)
    assert {(task.source_id, task.robot_id) for task in shift.state.tasks.values()} == {
        ("A1", "RB-02"),
        ("A2", "RB-01"),
    }


def test_what_no_robot_may_carry_stays_and_is_explained() -> None:
    scene = typed({"palletTypes": ["CHEP"]})
    shift = Shift(scene)
    shift.run(300)
    assert [task.source_id for task in shift.state.tasks.values()] == ["A2"]
    reason = why(shift.state, "RB-01", shift.now)[0]
    assert (reason.code, reason.says) == (
        "robot.pallet_type",
        "A1 holds pallets of type EPAL, and it may carry CHEP.",
    )
    assert any("EPAL" in one.says for one in warnings(read_fleet(scene)))
    assert simulate(read_fleet(scene), SimFleet(read_fleet(scene))).ended == "idle"


def test_a_pallet_too_heavy_is_left_to_a_stronger_robot() -> None:
    shift = Shift(typed({"maxLoadKg": 500}))
    shift.run(300)
    assert [task.source_id for task in shift.state.tasks.values()] == ["A2"]
    assert why(shift.state, "RB-01", shift.now)[0].code == "robot.too_heavy"


@pytest.mark.parametrize("dispatch", ["nearest", "first", "optimal"])
@pytest.mark.parametrize(("kind", "params"), [("pickDrop", {}), ("roundRobin", {}), ("replenish", {"threshold": 1})])
def test_a_pallet_that_no_robot_may_carry_does_not_keep_the_next_one_from_the_only_place(
    kind: str, params: dict[str, Any], dispatch: str
) -> None:
    scene = typed({"palletTypes": ["CHEP"]}, {"palletTypes": ["CHEP"]}, settings={"dispatch": dispatch})
    stream = {"pickGroup": ["A1", "A2"], "dropGroup": ["B1"], **params}
    scene["streams"] = [{"streamId": "s", "kind": kind, "params": stream}]
    shift = Shift(scene)
    shift.run(1)
    assert [(task.source_id, task.target_id) for task in shift.state.tasks.values()] == [("A2", "B1")]


def test_a_batch_leaves_out_what_no_robot_may_carry() -> None:
    scene = hall(picks=3, drops=2, batchSize=2)
    scene["pallets"] = [{"palletType": "EPAL", "lengthM": 1.2, "widthM": 0.8, "weightKg": 1000}]
    scene["worksites"][0]["palletType"] = "EPAL"
    scene["robots"][0]["maxLoadKg"] = 500
    shift = Shift(scene)
    shift.run(1)
    assert [leg.source_id for leg in the_task(shift).legs or ()] == ["A2", "A3"]


@pytest.mark.parametrize("kind", ["pickDrop", "batch"])
def test_a_stream_says_that_no_robot_may_take_its_pallets(kind: str) -> None:
    scene = typed({"palletTypes": []})
    scene["worksites"][1]["palletType"] = "EPAL"
    if kind == "batch":
        scene["streams"][0] |= {"kind": kind, "params": {**scene["streams"][0]["params"], "batchSize": 2}}
    shift = Shift(scene)
    shift.run(2)
    reasons = why(shift.state, "s", shift.now)
    assert reasons[0].code == "stream.no_robot"
    assert reasons[1].code == ("robot.capacity" if kind == "batch" else "robot.pallet_type")


def test_the_catalogue_gives_the_recognition_file() -> None:
    scene = typed({})
    scene["streams"][0]["params"] |= {"pickGroup": ["A1"], "pickParams": {"recognize": True}}
    shift = Shift(scene)
    shift.run(2)
    assert shift.commands[0].payload["recfile"] == "plt/p0001.plt"  # type: ignore[union-attr]


def test_a_place_takes_one_type() -> None:
    scene = typed({})
    scene["worksites"][2]["palletType"] = "CHEP"
    with pytest.raises(BadInputError) as caught:
        read_fleet(scene)
    assert [(one.code, one.path) for one in caught.value.problems] == [
        ("scene.pallet_type", "streams[0].params.dropGroup[0]")
    ]
    shift = Shift(scene | {"streams": []})
    shift.tick()
    (refused,) = shift.tick(RequestTransport("A1", "B1"))
    assert refused.code == "worksite.pallet_type"


def test_unknown_types_and_files_are_problems_with_the_nearest_names() -> None:
    scene = typed({"palletTypes": ["EPAAL"], "forkProfile": "fork/ft61.json"})
    scene["streams"][0]["params"]["pickParams"] = {"recfile": "plt/p0010.plt", "end_height": 3.0}
    files = {"plt/p0001.plt": {"length": 1.2}, "fork/ft16.json": {"maxHeightM": 1.6}}
    with pytest.raises(BadInputError) as caught:
        read_fleet(scene, files)
    found = {one.path: one.nearest for one in caught.value.problems}
    assert found == {
        "robots[0].palletTypes[0]": ("CHEP", "EPAL"),
        "robots[0].forkProfile": ("fork/ft16.json",),
        "streams[0].params.pickParams.recfile": ("plt/p0001.plt",),
    }
    scene["robots"][0] |= {"palletTypes": ["EPAL"], "forkProfile": "fork/ft16.json"}
    scene["streams"][0]["params"]["pickParams"]["recfile"] = "plt/p0001.plt"
    with pytest.raises(BadInputError) as caught:
        read_fleet(scene, files)
    assert [one.path for one in caught.value.problems] == ["streams[0].params.pickParams.end_height"]
    assert initial(read_fleet(scene)).pallets.keys() == {"EPAL", "CHEP"}
