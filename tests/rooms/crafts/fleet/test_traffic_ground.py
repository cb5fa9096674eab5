"""Which pieces of ground two robots may not have at once, and where robots can stand out of the way."""

from typing import Any

import pytest

from beforehand.crafts.fleet.core.routes import Routes
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.traffic.ground import Ground
from beforehand.crafts.fleet.core.traffic.resting import resting_places
from beforehand.crafts.fleet.core.traffic.searching import shortest
from beforehand.crafts.fleet.core.warnings import warnings
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene


def scene_of(places: dict[str, tuple[float, float]], edges: list[str], robots: dict[str, str], **more: Any) -> Any:
    return {
        "name": "ground",
        "nodes": [{"id": name, "x": x, "y": y} for name, (x, y) in places.items()],
        "edges": [{"from": edge.split("-")[0], "to": edge.split("-")[1]} for edge in edges],
        "robots": [{"robotId": robot, "nodeId": node, **more} for robot, node in robots.items()],
        "settings": {"trafficMode": "RESERVE"},
    }


CROSS = {"A": (-5, 0), "B": (5, 0), "C": (0, -5), "D": (0, 5), "E": (-5, 1.2), "F": (5, 1.2), "G": (5, 3.3)}
EDGES = ["A-B", "C-D", "E-F", "B-F"]


def clash(ground: Ground, one: str, other: str) -> bool:
    def piece(name: str) -> int:
        if "-" not in name:
            return ground.index[name]
        start, end = (ground.index[node] for node in name.split("-"))
        return ground.edges[min(start, end), max(start, end)]

    return piece(other) in ground.clashes(piece(one), 0, 0)


@pytest.fixture
def ground() -> Ground:
    return Ground(read_fleet(scene_of(CROSS, EDGES, {"R": "A"})))


@pytest.mark.parametrize(
    ("one", "other"),
    [("A-B", "C-D"), ("A-B", "A-B"), ("A", "A"), ("A", "E"), ("E", "A-B"), ("F", "A-B")],
)
def test_what_two_robots_may_not_have_at_once(ground: Ground, one: str, other: str) -> None:
    assert clash(ground, one, other)
    assert clash(ground, other, one)


@pytest.mark.parametrize(("one", "other"), [("A", "B"), ("C", "A-B"), ("A", "A-B"), ("A-B", "E-F"), ("G", "E-F")])
def test_what_is_far_enough_apart(ground: Ground, one: str, other: str) -> None:
    assert not clash(ground, one, other)


def test_both_directions_of_a_lane_are_one_piece() -> None:
    given = scene_of({"A": (0, 0), "B": (5, 0)}, [], {"R": "A"})
    given["edges"] = [{"from": "A", "to": "B", "oneWay": True}, {"from": "B", "to": "A", "oneWay": True}]
    assert len(Ground(read_fleet(given)).ends) == 1


def test_a_big_robot_needs_more_room_than_a_small_one() -> None:
    given = scene_of({"A": (0, 0), "B": (2.5, 0)}, ["A-B"], {"big": "A"}, lengthM=3.0)
    given["robots"].append({"robotId": "small", "nodeId": "B", "lengthM": 0.6, "widthM": 0.6})
    ground = Ground(read_fleet(given))
    big, small = ground.body_of["big"], ground.body_of["small"]
    assert ground.index["B"] in ground.clashes(ground.index["A"], big, big)
    assert ground.index["B"] not in ground.clashes(ground.index["A"], big, small)


def test_a_robot_holds_the_node_behind_it_until_its_tail_is_clear(ground: Ground) -> None:
    a, b = ground.index["A"], ground.index["B"]
    edge = ground.edges[a, b]
    assert ground.covered(a, b, (-4.5, 0.0), 0) == {a, edge, b}
    assert ground.covered(a, b, (-3.0, 0.0), 0) == {edge, b}
    assert ground.covered(a, b, (-3.0, 4.0), 0) == {a, edge, b}, "it is not where it should be, so it is not believed"
    assert ground.covered(a, None, (-5.0, 0.1), 0) == {a}


# -- resting places

LANE = {"L1": (0, 0), "L2": (6, 0), "L3": (12, 0), "P": (6, 5), "NEAR": (12, 1)}


def resting(scene: FleetScene) -> set[str]:
    ground = Ground(scene)
    return {ground.names[node] for node in resting_places(ground, scene)}


def test_a_place_beside_the_lane_is_a_resting_place_and_the_middle_of_the_lane_is_not() -> None:
    found = resting(read_fleet(scene_of(LANE, ["L1-L2", "L2-L3", "L2-P", "L3-NEAR"], {"R": "L1", "S": "P"})))
    assert {"L1", "P"} <= found
    assert "L2" not in found


def test_a_scene_without_room_is_warned_about() -> None:
    given = scene_of({"A": (0, 0), "B": (5, 0), "C": (10, 0)}, ["A-B", "B-C"], {"R": "A", "S": "C"})
    told = [problem.says for problem in warnings(read_fleet(given))]
    assert any("one more than there are robots" in says for says in told)
    given["settings"] = {}
    assert not any("one more than" in problem.says for problem in warnings(read_fleet(given)))


def test_nodes_nearer_than_a_robot_needs_are_warned_about() -> None:
    told = [
        problem.says for problem in warnings(read_fleet(scene_of(LANE, ["L3-NEAR", "L1-L2"], {"R": "L1", "S": "P"})))
    ]
    assert "L3 and NEAR are nearer than the 1.89 m that two robots need, so only one of them is used at a time." in told


# -- starts


def test_starts_that_overlap_are_a_problem_that_names_both() -> None:
    given = scene_of({"A": (0, 0), "B": (1.5, 0), "C": (9, 0)}, ["A-B", "B-C"], {"R-1": "A", "R-2": "B", "R-3": "C"})
    with pytest.raises(BadInputError) as refused:
        read_fleet(given)
    (problem,) = refused.value.problems
    assert (problem.code, problem.path) == ("scene.starts_overlap", "robots[1].nodeId")
    assert "R-1 at A and R-2 at B" in problem.says
    given["settings"]["trafficMode"] = "NONE"
    assert read_fleet(given)


def test_small_robots_may_start_where_big_ones_may_not() -> None:
    given = scene_of({"A": (0, 0), "B": (1.5, 0)}, ["A-B"], {"R": "A", "S": "B"}, lengthM=0.8, widthM=0.6)
    assert read_fleet(given)


def test_two_robots_on_one_node_are_told_once_for_each_pair() -> None:
    given = scene_of({"A": (0, 0), "B": (9, 0)}, ["A-B"], {"R": "A", "S": "A", "T": "A"})
    with pytest.raises(BadInputError) as refused:
        read_fleet(given)
    assert len(refused.value.problems) == 3


def test_a_way_over_nodes_that_lie_on_each_other_ends() -> None:
    places = {"A": (0.0, 0.0), "B": (0.0, 0.0), "C": (0.0, 0.0), "D": (20.0, 0.0)}
    scene = read_fleet(scene_of(places, ["A-B", "A-C", "C-D"], {"R1": "A"}))
    ground = Ground(scene)
    target = ground.names.index("D")
    for start in "AB":
        way = shortest(ground, Routes(scene), ground.names.index(start), target)
        assert way is not None
        assert [ground.names[node] for node in way] == [*({"A": [], "B": ["A"]}[start]), "C", "D"]
