"""Who gets what: parts of the map, priorities out of all proportion, and the memory of what streams had to offer."""

from typing import Any

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.dispatch import FRUITLESS
from beforehand.crafts.fleet.core.eligibility import Offer
from beforehand.crafts.fleet.core.inputs import PatchWorksite, RequestTransport, RobotVerb
from beforehand.crafts.fleet.core.matching import LATE_M, best_matching
from beforehand.crafts.fleet.core.work_queue import Queue
from beforehand.crafts.fleet.testing import Shift


def site(name: str, node: str, occupancy: str, kind: str = "buffer") -> dict[str, Any]:
    return {"worksiteId": name, "worksiteType": kind, "entryNodeId": node, "occupancy": occupancy}


def row(**more: Any) -> dict[str, Any]:
    """A row of four places with a pallet at either end, and a charger."""
    return {
        "name": "row",
        "nodes": [{"id": f"N{n}", "x": 5 * n, "y": 0} for n in range(5)],
        "edges": [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(4)],
        "worksites": [
            site("A", "N0", "filled"),
            site("B", "N1", "empty"),
            site("C", "N2", "empty"),
            site("D", "N3", "filled"),
            site("E", "N4", "empty", "charger"),
        ],
        "robots": [{"robotId": "RB-01", "nodeId": "N0", "loadState": "empty"}],
        "streams": [
            {"streamId": "left", "params": {"pickGroup": ["A"], "dropGroup": ["B"]}},
            {"streamId": "right", "params": {"pickGroup": ["D"], "dropGroup": ["C"]}},
        ],
        **more,
    }


def test_work_in_another_part_of_the_map_does_not_stand_in_line() -> None:
    count = FRUITLESS + 50
    far = [{"id": f"F{n}", "x": 100 + n, "y": 50} for n in range(2 * count)]
    places = [site(f"P{n}", f"F{n}", "filled") for n in range(count)]
    places += [site(f"Q{n}", f"F{count + n}", "empty") for n in range(count)]
    streams = [
        {
            "streamId": "far",
            "priority": 100,
            "params": {"pickGroup": [f"P{n}" for n in range(count)], "dropGroup": [f"Q{n}" for n in range(count)]},
        }
    ]
    scene = row()
    scene["nodes"] += far
    scene["edges"] += [{"from": f"F{n}", "to": f"F{n + 1}"} for n in range(2 * count - 1)]
    scene["worksites"] = scene["worksites"][:4] + places
    scene["streams"] += streams
    scene["robots"] += [{"robotId": "RB-99", "nodeId": "F0", "loadState": "empty"}]
    for dispatch in ("nearest", "first", "optimal"):
        shift = Shift({**scene, "settings": {"dispatch": dispatch}})
        shift.run(2)
        assert shift.robot("RB-01").task_id is not None, dispatch
        assert shift.robot("RB-99").task_id is not None, dispatch


def heavy(count: int, light: int) -> dict[str, Any]:
    """Many pallets of a type that no robot may carry, and after them in the list some that it may."""
    kinds = ["heavy"] * count + ["light"] * light
    places = range(len(kinds))
    return {
        "name": "heavy",
        "nodes": [{"id": f"N{n}", "x": n, "y": 0} for n in range(len(kinds) + light)],
        "edges": [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(len(kinds) + light - 1)],
        "pallets": [{"palletType": kind, "lengthM": 1.2, "widthM": 0.8} for kind in ("heavy", "light")],
        "worksites": [
            *({**site(f"P{n}", f"N{n}", "filled"), "palletType": kinds[n]} for n in places),
            *(site(f"Q{n}", f"N{len(kinds) + n}", "empty") for n in range(light)),
        ],
        "robots": [
            {"robotId": f"RB-0{n}", "nodeId": "N0", "loadState": "empty", "palletTypes": ["light"], "speedMps": 100}
            for n in (1, 2)
        ],
        "streams": [
            {
                "streamId": "out",
                "params": {"pickGroup": [f"P{n}" for n in places], "dropGroup": [f"Q{n}" for n in range(light)]},
            }
        ],
    }


def test_work_behind_more_than_a_tick_can_look_at_in_vain_has_its_turn() -> None:
    for dispatch in ("nearest", "first", "optimal"):
        shift = Shift({**heavy(2 * FRUITLESS + 10, 2), "settings": {"dispatch": dispatch}})
        shift.run(3)
        assert {task.source_id for task in shift.state.tasks.values()} == {f"P{2 * FRUITLESS + n}" for n in (10, 11)}


def test_a_robot_that_comes_free_is_tried_with_work_that_was_passed_over() -> None:
    for dispatch in ("nearest", "first", "optimal"):
        scene = {**heavy(3 * FRUITLESS, 2), "settings": {"dispatch": dispatch}}
        scene["robots"][1] |= {"palletTypes": ["heavy"]}
        shift = Shift(scene)
        shift.tick(RobotVerb("RB-02", "hold"))
        shift.tick()
        assert shift.robot("RB-01").task_id is None, dispatch
        shift.tick(RobotVerb("RB-02", "release"))
        assert shift.robot("RB-02").task_id is not None, dispatch
        assert shift.state.tasks[str(shift.robot("RB-02").task_id)].source_id == "P0", dispatch


def matched(priorities: dict[str, float], waited_s: dict[str, float]) -> str:
    """Which of the two pallets the one robot gets; it stands at A."""
    shift = Shift(row(settings={"dispatch": "optimal"}))
    shift.tick()
    board = Board(shift.state, (), 10**7)
    offers = [
        Offer(None, source, target, 10**7 - round(1000 * waited_s[source]), priorities[source], None, None)
        for source, target in (("A", "B"), ("D", "C"))
    ]
    (offer, robot_id), *more = best_matching(board, ["RB-01"], offers)
    assert (robot_id, more) == ("RB-01", [])
    return offer.source_id


def test_optimal_weighs_priority_against_metres_and_lateness_against_nothing() -> None:
    assert matched({"A": 0, "D": 0}, {"A": 0, "D": 0}) == "A"
    assert matched({"A": 0, "D": 1}, {"A": 0, "D": 0}) == "D"
    assert matched({"A": 1e7, "D": 0}, {"A": 0, "D": 600}) == "D"
    assert matched({"A": 1e7, "D": -1e7}, {"A": 700, "D": 900}) == "D"
    assert matched({"A": -1e7, "D": -1e7}, {"A": 0, "D": 0}) == "A"
    assert LATE_M > 1e5


def test_what_streams_had_to_offer_is_remembered_until_one_of_their_places_changes() -> None:
    shift = Shift(row(robots=[{"robotId": f"RB-0{n}", "nodeId": "N0", "loadState": "empty"} for n in (1, 2, 3)]))
    shift.run(2)
    assert len(shift.state.open_tasks) == 2
    assert shift.state.firsts == {"left": None, "right": None}
    shift.until(lambda: not shift.state.open_tasks)
    shift.tick(PatchWorksite("D", "filled"))
    assert "right" not in shift.state.firsts
    shift.tick(PatchWorksite("C", "empty"))
    assert [task.source_id for task in shift.state.tasks.values()].count("D") == 2


def test_a_threshold_that_another_stream_reaches_in_the_same_tick_is_reached() -> None:
    full = {"streamId": "full", "kind": "replenish", "params": {"pickGroup": ["D"], "dropGroup": ["C", "B"]}}
    first = {"streamId": "first", "priority": 1, "params": {"pickGroup": ["A"], "dropGroup": ["B"]}}
    robots = [{"robotId": f"RB-0{n}", "nodeId": "N0", "loadState": "empty"} for n in (1, 2)]
    for dispatch in ("nearest", "first", "optimal"):
        shift = Shift(row(robots=robots, streams=[full, first], settings={"dispatch": dispatch}))
        shift.run(2)
        assert [task.stream_id for task in shift.state.tasks.values()] == ["first"], dispatch


def test_a_closed_queue_lets_go_of_what_it_drew() -> None:
    shift = Shift(row())
    shift.tick()
    queue = Queue(Board(shift.state, (), shift.now))
    assert next(iter(queue)) is not None
    queue.close()
    assert list(queue) == []


def test_pallets_neither_stand_on_chargers_nor_are_asked_for_there() -> None:
    shift = Shift(row(streams=[]))
    (refused,) = shift.tick(PatchWorksite("E", "filled"))
    assert (refused.code, refused.about) == ("worksite.occupancy", "E")
    assert "charger" in refused.says
    assert shift.tick(PatchWorksite("E", "unknown")) == ()
    (refused,) = shift.tick(RequestTransport("E", "B"))
    assert refused.code == "worksite.not_filled"
