"""True path lengths: one-way edges, given lengths, the same from the small and the big search."""

import math

import pytest

from beforehand.fleet import routes as module
from beforehand.fleet.routes import Routes
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


@pytest.fixture(params=["small", "big"])
def routes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Routes:
    if request.param == "big":
        monkeypatch.setattr(module, "BIG_GRAPH", 0)
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
