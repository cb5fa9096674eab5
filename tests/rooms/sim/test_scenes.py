"""The example fleet scenes: readable without a problem, drivable, and as big as they say."""

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.roads import Roads
from beforehand.crafts.fleet.core.scene import read_fleet

ROOT = Path(__file__).parents[3]
NAMES = ["line_pick_drop", "drive_in_lane", "cross_dock", "hall", "milk_run", "washer_shuttle", "crossing"]


def scene(name):
    return read_fleet(yaml.safe_load((ROOT / "scenes" / f"{name}.yaml").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", NAMES)
def test_every_robot_reaches_every_worksite_and_comes_back(name):
    read = scene(name)
    roads = Roads(read)
    start = read.robots[0].node_id
    assert read.name == name
    for robot in read.robots:
        assert roads.route(start, robot.node_id) is not None
    for site in read.worksites:
        assert roads.route(start, site.node_id) is not None
        assert roads.route(site.node_id, start) is not None


@pytest.mark.parametrize("name", NAMES)
def test_no_two_nodes_share_a_spot_on_the_map(name):
    spots = Counter((node.x, node.y) for node in scene(name).nodes)
    assert [spot for spot, count in spots.items() if count > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_robot_has_a_park_and_says_where_it_is(name):
    read = scene(name)
    parks = [site for site in read.worksites if site.worksite_type == "park"]
    assert len(parks) >= len(read.robots)
    assert {report.robot_id for report in SimFleet(read).advance(0)} == {robot.robot_id for robot in read.robots}


def test_the_reference_scene_is_the_specs():
    read = scene("line_pick_drop")
    sites = {site.worksite_id: site.occupancy for site in read.worksites}
    assert (sites["PICK_01"], sites["DROP_01"]) == ("filled", "empty")
    assert [(robot.robot_id, robot.load_state) for robot in read.robots] == [("RB-01", "empty")]
    assert [stream.stream_id for stream in read.streams] == ["stream_pick_drop"]


def test_the_big_scenes_are_as_big_as_they_say():
    dock, hall = scene("cross_dock"), scene("hall")
    assert (len(dock.robots), len(dock.streams), dock.has_chargers) == (10, 2, True)
    assert (len(hall.worksites), len(hall.robots), hall.has_chargers) == (200, 50, True)


@pytest.mark.parametrize("name", ["cross_dock", "hall"])
def test_the_drawn_scenes_are_as_they_are_drawn(name, tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("draw_scenes", ROOT / "scripts" / "draw_scenes.py")
    draw = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "draw_scenes", draw)
    spec.loader.exec_module(draw)
    monkeypatch.setattr(draw, "SCENES", tmp_path)
    getattr(draw, name)().write()
    drawn = (tmp_path / f"{name}.yaml").read_text(encoding="utf-8")
    assert drawn == (ROOT / "scenes" / f"{name}.yaml").read_text(encoding="utf-8")
