"""True path lengths: one-way edges, given lengths, the same from the small and the big search, scipy or not."""

import math
import random
from typing import Any

import pytest

from beforehand.crafts.fleet.core import routes as module
from beforehand.crafts.fleet.core.routes import Routes
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.fleet import Edge, FleetScene, Node, WorksiteSpec


def scene() -> FleetScene:
    nodes = tuple(Node(id=name, x=float(x), y=0.0) for x, name in enumerate("ABCD"))
    edges = (
        Edge.model_validate({"from": "A", "to": "B"}),
        Edge.model_validate({"from": "B", "to": "C", "oneWay": True}),
        Edge.model_validate({"from": "C", "to": "D", "lengthM": 10}),
    )
    chargers = (WorksiteSpec(worksite_id="C1", worksite_type="charger", entry_node_id="A"),)
    return FleetScene(name="s", nodes=nodes, edges=edges, worksites=chargers)


@pytest.fixture(params=["small", "big", "big without scipy"])
def routes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Routes:
    if request.param != "small":
        monkeypatch.setattr(module, "BIG_GRAPH", 0)
    if request.param == "big without scipy":
        request.getfixturevalue("without_scipy")
    return Routes(scene())


def test_lengths_follow_the_edges(routes: Routes) -> None:
    assert routes.between("A", "D") == pytest.approx(12)
    assert routes.between("D", "C") == pytest.approx(10)
    assert routes.between("C", "B") == math.inf
    assert routes.between("B", "B") == 0


def test_rows_from_and_to_agree(routes: Routes) -> None:
    for start in "ABCD":
        for end in "ABCD":
            out = float(routes.out_of(routes.index[start])[routes.index[end]])
            assert out == pytest.approx(float(routes.to(end)[routes.index[start]]))


def test_a_robot_between_two_nodes_goes_on_to_the_next(routes: Routes) -> None:
    assert routes.left("B", "C", 1.25, 0.0, "D") == pytest.approx(0.75 + 10)
    assert routes.left("B", "C", 1.25, 0.0, "B") == math.inf


def test_the_nearest_charger(routes: Routes) -> None:
    assert routes.to_charger("B") == pytest.approx(1)
    assert routes.to_charger("C") == math.inf


def untidy_hall(seed: int) -> FleetScene:
    """Edges here and there, some one-way, some between two nodes on one spot."""
    draw = random.Random(seed)
    names = [f"N{number}" for number in range(60)]
    nodes = [{"id": name, "x": draw.choice([0, 0.1, 7.3]), "y": draw.choice([0, 0.2])} for name in names]
    edges: list[dict[str, Any]] = []
    for _ in range(110):
        start, end = draw.sample(names, 2)
        length = {"lengthM": draw.uniform(0.1, 9)} if draw.random() < 0.4 else {}
        edges.append({"from": start, "to": end, "oneWay": draw.random() < 0.3, **length})
    return FleetScene.model_validate({"name": "untidy", "nodes": nodes, "edges": edges})


@pytest.mark.parametrize("seed", range(5))
def test_every_search_gives_the_same_number_to_the_last_bit(
    seed: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows() -> list[list[float]]:
        routes = Routes(untidy_hall(seed))
        return [list(routes.to(name)) + list(routes.out_of(number)) for name, number in routes.index.items()]

    small = rows()
    monkeypatch.setattr(module, "BIG_GRAPH", 0)
    assert rows() == small
    request.getfixturevalue("without_scipy")
    assert rows() == small


def test_a_way_there_and_back_is_as_long_and_parts_of_a_map_are_told_apart() -> None:
    nodes = [{"id": name, "x": x, "y": 0} for x, name in enumerate("ABCDE")]
    two_ways = [{"from": "A", "to": "B"}, {"from": "B", "to": "C", "lengthM": 7.5}, {"from": "D", "to": "E"}]
    routes = Routes(read_fleet({"name": "parts", "nodes": nodes, "edges": two_ways}))
    assert routes.between("A", "C") == routes.between("C", "A") == 8.5
    assert routes.joined("A", "C")
    assert not routes.joined("A", "D")
    assert routes.part("A") == routes.part("C") != routes.part("D") == routes.part("E")


def test_where_a_way_is_one_way_the_parts_are_not_enough() -> None:
    nodes = [{"id": name, "x": x, "y": 0} for x, name in enumerate("ABC")]
    edges = [{"from": "A", "to": "B", "oneWay": True}, {"from": "B", "to": "C"}]
    routes = Routes(read_fleet({"name": "one way", "nodes": nodes, "edges": edges}))
    assert routes.part("A") == routes.part("C")
    assert (routes.joined("A", "C"), routes.joined("C", "A")) == (True, False)
    assert routes.between("C", "A") == math.inf
