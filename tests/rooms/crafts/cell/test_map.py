"""The picture of a cell: everything inside it, no label over another, the way of a plan as far as it has come."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from beforehand.crafts.cell.page.cards import cell_card, way_of
from beforehand.crafts.cell.page.map import WIDTH, cell_map, in_lines, layout, place_labels

CELLS = ("weld_star", "weld_corridor", "machine_tending", "body_line")


def document(repository: Path, name: str) -> Any:
    read = yaml.safe_load((repository / "scenes" / f"{name}.yaml").read_text(encoding="utf-8"))
    read["positions"] = [place if isinstance(place, dict) else {"name": place} for place in read["positions"]]
    read["moves"] = [{"from": m[0], "to": m[1]} if isinstance(m, list) else m for m in read["moves"]]
    return read


def apart(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    return one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]


@pytest.mark.parametrize("name", CELLS)
def test_every_position_lies_inside_the_picture_and_apart_from_the_others(repository: Path, name: str) -> None:
    spots, height = layout(document(repository, name))
    assert all(0 < x < WIDTH and 0 < y < height for x, y in spots.values())
    assert len(set(spots.values())) == len(spots)


@pytest.mark.parametrize("name", CELLS)
def test_no_label_covers_another(repository: Path, name: str) -> None:
    cell = document(repository, name)
    spots, height = layout(cell)
    lines = [(spots[move["from"]], spots[move["to"]]) for move in cell["moves"]]
    boxes = place_labels(spots, lines, height)
    assert name not in ("weld_star", "weld_corridor") or len(boxes) == len(spots)
    assert [pair for pair in combinations(boxes, 2) if not apart(boxes[pair[0]], boxes[pair[1]])] == []


def test_in_a_crowd_the_label_that_matters_is_there(repository: Path) -> None:
    cell = document(repository, "body_line")
    spots, height = layout(cell)
    left_out = [name for name in spots if name not in place_labels(spots, [], height)]
    assert left_out
    assert left_out[0] in place_labels(spots, [], height, {left_out[0]})


def test_positions_without_coordinates_are_laid_out_by_their_distance() -> None:
    names = ["Home", "A", "B", "C", "Alone"]
    moves = [{"from": "Home", "to": "A"}, {"from": "Home", "to": "B"}, {"from": "B", "to": "C"}]
    spots, _ = layout({"positions": [{"name": name} for name in names], "moves": moves})
    assert len(set(spots.values())) == len(names)
    assert spots["Home"][0] < spots["A"][0] == spots["B"][0] < spots["C"][0]


@pytest.mark.parametrize("positions", [[], [{"name": "Only"}], [{"name": "One", "x": 1, "y": 1}]])
def test_a_cell_of_one_position_or_none_has_a_picture_too(positions: list[dict[str, Any]]) -> None:
    cell = {"name": "tiny", "positions": positions, "moves": []}
    shown = cell_card(cell, {"current_position": None, "current_tool": "none", "says": "It was moved by hand."}, None)
    assert "the position of the robot is not known" in shown
    assert "It was moved by hand." in shown


def test_the_way_says_how_far_a_plan_has_come() -> None:
    def move(target: str, status: str) -> dict[str, Any]:
        return {"tool": "cell.move", "args": {"target": target}, "status": status}

    weld = {"tool": "cell.routine", "args": {"target": "weld", "position": "B"}, "description": "Weld"}
    steps = [move("A", "completed"), move("B", "running"), {**weld, "status": "pending"}, move("C", "pending")]
    way = way_of({"world": {"current_position": "Home"}, "steps": steps}, "A")
    assert way.hops == {("A", "Home"): "done", ("A", "B"): "now", ("B", "C"): "ahead"}
    assert way.stops == {"B": [("Weld", "ahead")]}


def test_the_marker_stands_where_the_robot_does(repository: Path) -> None:
    cell = document(repository, "weld_star")
    spots, _ = layout(cell)
    way = way_of({"world": {}, "steps": []}, None)
    shown = cell_map(cell, "Pos_2", "Welder", way)
    x, y = spots["Pos_2"]
    assert f'data-x="{x}" data-y="{y}"' in shown
    assert "holds Welder" in shown
    assert "robot-here" not in cell_map(cell, None, "none", way)


def test_long_names_are_cut_where_a_part_ends() -> None:
    assert in_lines("Tool_Camera_Safe_Position") == ["Tool_Camera_", "Safe_Position"]
    assert in_lines("Home") == ["Home"]
    assert in_lines("Averyveryverylongname") == ["Averyveryverylongname"]
