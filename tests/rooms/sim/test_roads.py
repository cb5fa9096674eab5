"""A robot's own way: shortest, one-way edges kept, the same every time, in small graphs and big ones, scipy or not."""

from math import inf

import pytest

from beforehand.adapters.sim import roads as roads_module
from beforehand.adapters.sim.roads import Roads
from beforehand.model.fleet import FleetScene


def grid(size: int) -> FleetScene:
    """A square grid with two steps between neighbours' names, so that most pairs have many shortest ways."""
    nodes = [{"id": f"N{x}{y}", "x": x, "y": y} for x in range(size) for y in range(size)]
    across = [{"from": f"N{x}{y}", "to": f"N{x + 1}{y}"} for x in range(size - 1) for y in range(size)]
    up = [{"from": f"N{x}{y}", "to": f"N{x}{y + 1}"} for x in range(size) for y in range(size - 1)]
    return FleetScene.model_validate({"name": "grid", "nodes": nodes, "edges": up + across})


@pytest.fixture(params=["small", "big", "big without scipy"])
def scene_roads(request, monkeypatch):
    if request.param != "small":
        monkeypatch.setattr(roads_module, "_BIG", 0)
    if request.param == "big without scipy":
        request.getfixturevalue("without_scipy")
    return Roads


def test_of_equally_short_ways_the_smallest_names_are_taken(scene_roads):
    roads = scene_roads(grid(4))
    assert roads.route("N00", "N22") == ["N01", "N02", "N12", "N22"]
    assert roads.distance("N00", "N22") == 4
    assert roads.route("N22", "N00") == ["N12", "N02", "N01", "N00"]
    assert roads.route("N11", "N11") == []


def test_one_way_edges_are_driven_one_way_and_given_lengths_count(scene_roads):
    scene = FleetScene.model_validate(
        {
            "name": "lengths",
            "nodes": [{"id": name, "x": x, "y": 0} for x, name in enumerate("ABCD")],
            "edges": [
                {"from": "A", "to": "B", "oneWay": True},
                {"from": "B", "to": "C"},
                {"from": "C", "to": "A", "oneWay": True, "lengthM": 0.5},
                {"from": "A", "to": "C", "oneWay": True, "lengthM": 30},
                {"from": "B", "to": "C", "lengthM": 7},
            ],
        }
    )
    roads = scene_roads(scene)
    assert roads.route("A", "C") == ["B", "C"]
    assert roads.route("B", "A") == ["C", "A"]
    assert roads.distance("B", "A") == 1.5
    assert roads.route("A", "D") is None
    assert roads.distance("A", "D") == inf
    assert roads.road("B", "C").length_m == 1
    assert roads.road("B", "A") is None


def test_only_the_targets_used_last_are_kept(monkeypatch):
    monkeypatch.setattr(roads_module, "_KEPT", 2)
    roads = Roads(grid(3))
    lengths = [roads.distance("N00", f"N{x}{y}") for x in range(3) for y in range(3)]
    assert lengths == [0, 1, 2, 1, 2, 3, 2, 3, 4]
    assert len(roads._distances) == 2
