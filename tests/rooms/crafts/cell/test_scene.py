"""Scenes of kind cell: the given ones pass, and a bad one is told everything at once."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from beforehand.crafts.cell.core.scene import read_cell, warnings
from beforehand.model.cell import CellScene, CellState, Move
from beforehand.model.errors import BadInputError

SCENES = Path(__file__).parents[4] / "scenes"
CELLS = ["weld_star", "weld_corridor", "machine_tending", "body_line"]


def minimal(**changes: Any) -> dict[str, Any]:
    return {"kind": "cell", "name": "small", "positions": ["A", "B"], "moves": [["A", "B"]]} | changes


def found(document: Any) -> dict[str, str]:
    with pytest.raises(BadInputError) as caught:
        read_cell(document)
    return {problem.path: problem.says for problem in caught.value.problems}


@pytest.mark.parametrize("name", CELLS)
def test_the_example_scenes_pass(name: str) -> None:
    scene = read_cell(yaml.safe_load((SCENES / f"{name}.yaml").read_text()))
    assert scene.name == name


def test_the_big_example_has_a_hundred_positions_and_six_tools() -> None:
    scene = read_cell(yaml.safe_load((SCENES / "body_line.yaml").read_text()))
    assert (len(scene.positions), len(scene.tools)) == (100, 6)
    assert warnings(scene) == []


def test_an_unreachable_position_is_a_warning(star: CellScene) -> None:
    assert [(one.path, one.says) for one in warnings(star)] == [
        ("positions[7]", "No path of allowed moves leads from Home to Pos_4.")
    ]


def test_a_scene_survives_its_own_wire_form(star: CellScene) -> None:
    assert read_cell(star.wire()) == star
    assert CellScene.model_validate(star.wire()) == star


def test_the_words_need_no_file() -> None:
    scene = CellScene(name="by_hand", moves=(Move(source="A", target="B"),), state=CellState(current_position="A"))
    assert set(found(scene.wire())) >= {"moves[0].from", "moves[0].to", "state.current_position"}


def test_both_spellings_are_read() -> None:
    routines = [
        {"name": "r", "requiredTool": "none", "durationS": 3, "supportedAt": [{"position": "A", "actionAfter": "s"}]},
        {"name": "s", "supportedAt": ["A"]},
    ]
    scene = read_cell(
        minimal(routines=routines, state={"currentPosition": "A"}, moves=[{"from": "A", "to": "B", "oneWay": True}])
    )
    assert scene.moves[0].one_way
    assert scene.routines[0].supported_at[0].action_after == "s"


def test_the_same_key_in_two_spellings_is_a_problem() -> None:
    assert (
        "twice"
        in found(minimal(moves=[{"from": "A", "to": "B", "oneWay": True, "one_way": False}]))["moves[0].one_way"]
    )


def test_state_defaults_to_home() -> None:
    assert read_cell(minimal(positions=["A", "Home"], moves=[])).state == CellState(current_position="Home")
    assert read_cell(minimal(positions=["A", {"name": "B", "role": "home"}])).state == CellState(current_position="B")
    assert read_cell(minimal()).state is None
    assert read_cell(minimal(state={"current_position": "A", "current_tool": None})).state == CellState(
        current_position="A"
    )


def test_everything_wrong_is_told_together_with_its_path() -> None:
    problems = found(
        {
            "kind": "cell",
            "positions": [
                "A",
                "A",
                {"name": "B", "x": float("nan"), "y": 1, "rolle": "safe"},
                7,
                {"name": "C", "role": "top"},
            ],
            "moves": [
                ["A", "Z"],
                ["A"],
                {"from": "A", "to": "B", "cost": -1},
                ["B", "B"],
                {"from": "A", "to": "B", "cost": float("inf")},
            ],
            "tools": [{"name": "none", "stand": "A"}, {"name": "W", "stand": "Q"}, {"name": "W"}],
            "routines": [
                {
                    "name": "r",
                    "required_tool": "V",
                    "duration_s": -2,
                    "supported_at": [{"position": "A", "stabilize": -1}],
                },
                {
                    "name": "r",
                    "words": "weld",
                    "supported_at": [{"position": "Q"}, {"position": "A"}, {"position": "A"}],
                },
            ],
            "state": {"current_position": "Q", "current_tool": "V"},
            "colour": "red",
        }
    )
    assert set(problems) == {
        "colour",
        "name",
        "positions[1].name",
        "positions[2].x",
        "positions[2].rolle",
        "positions[3].name",
        "positions[4].role",
        "moves[0].to",
        "moves[1]",
        "moves[2].cost",
        "moves[3]",
        "moves[4].cost",
        "moves[4]",
        "tools[0].name",
        "tools[1].stand",
        "tools[2].name",
        "routines[0].required_tool",
        "routines[0].duration_s",
        "routines[0].supported_at[0].stabilize",
        "routines[1].name",
        "routines[1].words",
        "routines[1].supported_at[0].position",
        "routines[1].supported_at[2].position",
        "state.current_position",
        "state.current_tool",
    }
    assert all(says.endswith(".") for says in problems.values())


def test_an_unknown_key_comes_with_the_known_ones() -> None:
    with pytest.raises(BadInputError) as caught:
        read_cell(minimal(position=[]))
    assert "positions" in caught.value.problems[0].nearest


def test_moves_that_repeat_or_contradict() -> None:
    assert "moves[1]" in found(minimal(moves=[["A", "B"], ["A", "B"]]))
    assert "moves[1]" in found(minimal(moves=[["A", "B"], {"from": "B", "to": "A", "cost": 2}]))
    same = read_cell(minimal(moves=[["A", "B"], ["B", "A"]], state={"current_position": "A"}))
    assert [one.path for one in warnings(same)] == ["moves[1]"]
    there_and_back = [{"from": "A", "to": "B", "one_way": True}, {"from": "B", "to": "A", "one_way": True, "cost": 3}]
    assert warnings(read_cell(minimal(moves=there_and_back, state={"current_position": "A"}))) == []


def test_a_controller_is_of_a_known_kind() -> None:
    assert read_cell(minimal()).controller is None
    assert read_cell(minimal(controller="sim")).controller == "sim"
    assert "Unknown controller kind 'rapid'" in found(minimal(controller="rapid"))["controller"]
    assert (
        "Unknown controller kind 'rapid'" in found(minimal(controller={"kind": "rapid", "url": "u"}))["controller.kind"]
    )
    assert "takes no options" in found(minimal(controller={"kind": "sim", "url": "u"}))["controller.url"]
    assert "kind is missing" in found(minimal(controller={"url": "u"}))["controller.kind"]


def _deep(levels: int) -> Any:
    inner: Any = "x"
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "cell",
        5,
        True,
        {},
        {None: 1},
        {"kind": ["cell"]},
        minimal(positions=None),
        minimal(positions={}),
        minimal(positions=[]),
        minimal(positions=[None, {}, [], 10**400]),
        minimal(positions=[{"name": "x" * 10_000}]),
        minimal(positions=["a\x00b", " A", ""]),
        minimal(moves=[[1, 2], [None, None], [["A"], "B"], "AB"]),
        minimal(moves=[{"from": "A", "to": "B", "cost": 10**400}]),
        minimal(moves=[{"from": "A", "to": "B", "cost": True}]),
        minimal(moves=[{"from": "A", "to": "B", "one_way": 1}]),
        minimal(tools="Welder"),
        minimal(routines=[{"name": "r", "supported_at": {"A": 1}}]),
        minimal(state=["A"]),
        minimal(speed_mps=0),
        minimal(controller=7),
        minimal(controller={"kind": {}}),
        minimal(controller={"kind": "sim", 1: 2}),
        minimal(controller={"kind": "sim", "x": _deep(5_000)}),
        minimal(controller="x" * 10_000),
        minimal(positions=_deep(5_000)),
        minimal(name=_deep(5_000)),
        minimal(positions=[f"p{n % 7}" for n in range(5_000)]),
    ],
)
def test_a_hostile_document_gets_sentences(document: Any) -> None:
    with pytest.raises(BadInputError) as caught:
        read_cell(document)
    assert caught.value.problems
    assert all(problem.says.endswith(".") and len(problem.says) < 400 for problem in caught.value.problems)


def test_warnings_about_routines_and_tools() -> None:
    scene = read_cell(
        minimal(
            state={"current_position": "A"},
            tools=[{"name": "Loose"}],
            routines=[
                {"name": "r", "words": ["go on"]},
                {"name": "s", "words": ["Go on"], "supported_at": [{"position": "A", "action_after": "move_safe"}]},
                {"name": "tool_attach", "required_tool": "Loose", "supported_at": ["A"]},
            ],
        )
    )
    assert {one.path for one in warnings(scene)} == {
        "tools[0].stand",
        "routines[0].supported_at",
        "routines[1].words",
        "routines[1].supported_at[0].action_after",
        "routines[2].required_tool",
    }
