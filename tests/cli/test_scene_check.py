"""`scene list`, `show` and `check` for both kinds: every problem with its place, and what is only odd."""

from typing import Any

import pytest

BAD_CELL = {
    "kind": "cell",
    "name": "bad",
    "positions": ["Home", "Home", {"name": "A", "x": "far"}],
    "moves": [["Home", "Nowhere"]],
    "tools": [{"name": "Welder", "stand": "Elsewhere"}],
    "routines": [{"name": "weld", "required_tool": "Hammer", "supported_at": [{"position": "Moon"}]}],
    "colour": "red",
}
BAD_FLEET = {
    "kind": "fleet",
    "name": "bad",
    "nodes": [{"id": "A", "x": 0, "y": 0}, {"id": "A", "x": 1, "y": 1}, {"id": "B", "x": 9, "y": 9}],
    "edges": [{"from": "A", "to": "Z"}],
    "worksites": [{"worksiteId": "P", "worksiteType": "pickup", "entryNodeId": "Y"}],
    "robots": [{"robotId": "R", "nodeId": "A", "battery": 7, "link": "carrier"}],
    "settings": {"tickS": -1, "tempo": 3},
}


def test_the_examples_are_listed_and_valid(cli: Any) -> None:
    kinds = {row["name"]: row["kind"] for row in cli("scene", "list", "-o", "json", code=0).document}
    assert kinds["weld_star"] == "cell"
    assert kinds["cross_dock"] == "fleet"
    for name in ("machine_tending", "cross_dock"):
        checked = cli("scene", "check", name, "-o", "json", code=0).document
        assert checked == {"valid": True, "name": name, "problems": [], "warnings": []}
    assert cli("scene", "show", "hall", "-o", "json", code=0).document["kind"] == "fleet"


@pytest.mark.parametrize(
    ("document", "paths"),
    [
        (BAD_CELL, ["positions[1]", "positions[2].x", "moves[0]", "tools[0].stand", "routines[0]", "colour"]),
        (BAD_FLEET, ["nodes[1]", "edges[0].to", "worksites[0]", "robots[0].battery", "robots[0].link", "settings.t"]),
    ],
)
def test_every_problem_has_its_path(cli: Any, document: dict[str, Any], paths: list[str]) -> None:
    cli.write("bad.yaml", document)
    checked = cli("scene", "check", "bad.yaml", "-o", "json", code=1)
    found = [problem["path"] for problem in checked.document["problems"]]
    for path in paths:
        assert any(one.startswith(path) for one in found), (path, found)
        assert path in checked.err


def test_what_is_only_odd_is_told_and_valid(cli: Any) -> None:
    cell = cli("scene", "check", "weld_star", "-o", "json", code=0).document
    assert "Pos_4" in cell["warnings"][0]["says"]
    fleet = cli("scene", "show", "line_pick_drop", "-o", "json").document
    del fleet["worksites"][1]["occupancy"]
    cli.write("odd.yaml", {**fleet, "robots": []})
    odd = cli("scene", "check", "odd.yaml", code=0)
    assert "is valid" in odd.out
    assert "no robots" in odd.err
    assert "worksites[1].occupancy" in odd.err


@pytest.mark.parametrize(
    ("text", "said"),
    [("kind: zeppelin\n", "cell, fleet"), ("[1, 2]\n", "kind"), ("kind: [\n", "neither JSON nor YAML"), ("", "empty")],
)
def test_what_is_no_scene_at_all(cli: Any, text: str, said: str) -> None:
    cli.write("odd.yaml", text)
    refused = cli("scene", "check", "odd.yaml")
    assert refused.code in (1, 2)
    assert said in refused.err
