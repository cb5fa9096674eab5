"""The sequence spec, section by section, on its two cells and on small ones made for a point."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from beforehand.crafts.cell.core.builder import Sequence, build
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.cell import CellScene, CellState
from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem

SCENES = Path(__file__).parents[2] / "scenes"
WELD_1_AND_2 = {
    "goal": "sequence",
    "steps": [
        {"action": "routine", "routine": "tack_weld", "position": "Pos_1"},
        {"action": "routine", "routine": "tack_weld", "position": "Pos_2"},
    ],
}


def scene(name: str, **changes: Any) -> CellScene:
    return read_cell(yaml.safe_load((SCENES / f"{name}.yaml").read_text()) | changes)


def plan(cell: CellScene, *steps: dict[str, Any], position: str = "Home", tool: str = "none") -> Sequence:
    return build(
        cell, {"goal": "sequence", "steps": list(steps)}, CellState(current_position=position, current_tool=tool)
    )


def problems(cell: CellScene, *steps: dict[str, Any], position: str = "Home", tool: str = "none") -> list[Problem]:
    with pytest.raises(BadInputError) as caught:
        plan(cell, *steps, position=position, tool=tool)
    return list(caught.value.problems)


def targets(sequence: Sequence) -> list[str]:
    return [step.target for step in sequence.steps]


def weld(position: str | None) -> dict[str, Any]:
    return {"action": "routine", "routine": "tack_weld"} | ({"position": position} if position else {})


def go(position: str) -> dict[str, Any]:
    return {"action": "move", "position": position}


def test_sequence_output_section_to_the_byte() -> None:
    cell = scene("weld_corridor")
    made = build(cell, WELD_1_AND_2, cell.state or CellState(current_position="Home"))
    move = '{"id": %d, "name": "Move to %s", "action": "move", "target": "%s"}'
    weld_at = (
        '{"id": %d, "name": "Tack Weld at %s", "action": "routine", "target": "tack_weld", '
        '"position": "%s", "stabilize": 1.5, "verify": "weld_quality_check"}'
    )
    expected = [
        move % (1, "Safe_Pos_1", "Safe_Pos_1"),
        move % (2, "Tool_Weld_Safe_Position", "Tool_Weld_Safe_Position"),
        move % (3, "Tool_Weld_Position", "Tool_Weld_Position"),
        '{"id": 4, "name": "Attach Welder", "action": "routine", "target": "tool_attach", '
        '"position": "Tool_Weld_Position", "tool": "Welder", "stabilize": 1.5, "verify": "Welder"}',
        move % (5, "Tool_Weld_Safe_Position", "Tool_Weld_Safe_Position"),
        move % (6, "Safe_Pos_1", "Safe_Pos_1"),
        move % (7, "Pos_1", "Pos_1"),
        weld_at % (8, "Pos_1", "Pos_1"),
        move % (9, "Safe_Pos_1", "Safe_Pos_1"),
        move % (10, "Safe_Pos_2", "Safe_Pos_2"),
        move % (11, "Pos_2", "Pos_2"),
        weld_at % (12, "Pos_2", "Pos_2"),
    ]
    assert [json.dumps(step) for step in made.wire()] == expected
    assert (len(made.goals), len(made.steps)) == (2, 12)
    assert made.goal_of == (1,) * 8 + (2,) * 4


def test_sequence_complete_example() -> None:
    cell = scene("weld_star")
    made = build(cell, WELD_1_AND_2, cell.state or CellState(current_position="Home"))
    assert targets(made) == [
        "Tool_Weld_Safe_Position",
        "Tool_Weld_Position",
        "tool_attach",
        "Tool_Weld_Safe_Position",
        "Safe_Pos_1",
        "Pos_1",
        "tack_weld",
        "Safe_Pos_1",
        "Home",
        "Safe_Pos_2",
        "Pos_2",
        "tack_weld",
    ]
    assert [step.id for step in made.steps] == list(range(1, 13))
    assert made.end == CellState(current_position="Pos_2", current_tool="Welder")


def test_sequence_state_is_simulated_after_every_step() -> None:
    made = plan(scene("weld_star"), weld("Pos_1"))
    assert [(state.current_position, state.current_tool) for state in made.states] == [
        ("Tool_Weld_Safe_Position", "none"),
        ("Tool_Weld_Position", "none"),
        ("Tool_Weld_Position", "Welder"),
        ("Tool_Weld_Safe_Position", "Welder"),
        ("Safe_Pos_1", "Welder"),
        ("Pos_1", "Welder"),
        ("Pos_1", "Welder"),
    ]


def test_sequence_tool_change_is_release_then_attach_for_a_routine() -> None:
    made = plan(scene("weld_star"), weld("Pos_1"), tool="Camera")
    routines = [(step.target, step.tool) for step in made.steps if step.action == "routine"]
    assert routines == [("tool_release", "Camera"), ("tool_attach", "Welder"), ("tack_weld", None)]
    assert made.steps[2].wire() == {
        "id": 3,
        "name": "Release Camera",
        "action": "routine",
        "target": "tool_release",
        "position": "Tool_Camera_Position",
        "tool": "Camera",
        "stabilize": 1.0,
        "verify": "Camera",
    }


def test_sequence_tool_change_is_release_then_attach_for_attach_tool_too() -> None:
    made = plan(scene("weld_star"), {"action": "attach_tool", "tool": "Camera"}, tool="Welder")
    assert [step.tool for step in made.steps if step.action == "routine"] == ["Welder", "Camera"]
    assert made.end.current_tool == "Camera"


def test_sequence_attaching_what_is_held_adds_a_note_and_no_step() -> None:
    made = plan(scene("weld_star"), {"action": "attach_tool", "tool": "Welder"}, tool="Welder")
    assert made.steps == ()
    assert [note.code for note in made.notes] == ["cell.already_held"]


def test_sequence_releasing_none_adds_a_note_and_no_step() -> None:
    made = plan(scene("weld_star"), {"action": "release_tool"}, go("Safe_Pos_2"))
    assert targets(made) == ["Safe_Pos_2"]
    assert [note.code for note in made.notes] == ["cell.nothing_held"]


def test_sequence_move_to_where_it_is_adds_no_step() -> None:
    assert plan(scene("weld_star"), go("Home")).steps == ()


def test_sequence_simple_movement() -> None:
    made = plan(scene("weld_star"), go("Safe_Pos_2"), position="Pos_1")
    assert targets(made) == ["Safe_Pos_1", "Home", "Safe_Pos_2"]


@pytest.mark.parametrize(
    "step",
    [
        {"action": "attach_tool", "tool": "Camera"},
        {"action": "routine", "routine": "tool_attach", "tool": "Camera"},
        {"action": "routine", "routine": "tool_attach", "position": "Tool_Camera_Position"},
        {"action": "routine", "routine": "tool_attach", "position": "Tool_Camera_Position", "tool": "Camera"},
    ],
)
def test_sequence_tool_attach_as_a_routine_is_attach_tool(step: dict[str, Any]) -> None:
    made = plan(scene("weld_star"), step)
    assert targets(made) == ["Tool_Camera_Safe_Position", "Tool_Camera_Position", "tool_attach"]
    assert made.steps[-1].tool == "Camera"


@pytest.mark.parametrize(
    "step",
    [
        {"action": "release_tool"},
        {"action": "release_tool", "tool": "Welder"},
        {"action": "routine", "routine": "tool_release"},
        {"action": "routine", "routine": "tool_release", "position": "Tool_Weld_Position"},
    ],
)
def test_sequence_tool_release_as_a_routine_is_release_tool(step: dict[str, Any]) -> None:
    made = plan(scene("weld_star"), step, tool="Welder")
    assert made.steps[-1].name == "Release Welder"
    assert made.end == CellState(current_position="Tool_Weld_Position")


def test_sequence_releasing_a_tool_that_is_not_the_one_held_is_an_error() -> None:
    (found,) = problems(scene("weld_star"), {"action": "release_tool", "tool": "Welder"}, tool="Camera")
    assert (found.code, found.fixable_by) == ("cell.not_held", "user")


def _three_routines(**extra: Any) -> CellScene:
    support = {"position": "B"} | extra
    return read_cell(
        {
            "kind": "cell",
            "name": "small",
            "positions": ["A", "B", {"name": "Y_safe", "role": "safe"}, {"name": "X_safe", "role": "safe"}, "C"],
            "moves": [["A", "B"], ["B", "Y_safe"], ["B", "X_safe"], {"from": "B", "to": "C", "one_way": True}],
            "tools": [{"name": "Pen", "stand": "C"}, {"name": "Lost"}],
            "routines": [
                {"name": "draw", "supported_at": [support]},
                {"name": "dot", "required_tool": "none", "supported_at": ["B", "A"]},
                {"name": "seek", "required_tool": "Lost", "supported_at": ["A"]},
            ],
            "state": {"current_position": "A"},
        }
    )


def test_sequence_metadata_zero_is_kept_and_null_left_out() -> None:
    cell = _three_routines(stabilize=0, verify=None, action_after=None)
    made = plan(cell, {"action": "routine", "routine": "draw", "position": "B"}, position="A")
    assert json.dumps(made.wire()[-1]) == (
        '{"id": 2, "name": "Draw at B", "action": "routine", "target": "draw", "position": "B", "stabilize": 0}'
    )


@pytest.mark.parametrize("routine", ["draw", "dot"])
def test_sequence_routine_without_a_required_tool_lets_any_stay_on(routine: str) -> None:
    made = plan(_three_routines(), {"action": "routine", "routine": routine, "position": "B"}, position="A", tool="Pen")
    assert targets(made) == ["B", routine]
    assert made.end.current_tool == "Pen"


def test_sequence_routine_without_a_position_uses_its_only_one() -> None:
    made = plan(_three_routines(), {"action": "routine", "routine": "draw"}, position="A")
    assert made.steps[-1].position == "B"


def test_sequence_routine_without_a_position_lists_several() -> None:
    (found,) = problems(scene("weld_star"), weld(None))
    assert found.nearest == ("Pos_1", "Pos_2", "Pos_3")
    assert all(name in found.says for name in found.nearest)
    assert found.fixable_by == "user"


def test_sequence_move_safe_is_followed_by_its_move() -> None:
    cell = _three_routines(action_after="move_safe")
    made = plan(cell, {"action": "routine", "routine": "draw"}, go("A"), position="A")
    assert targets(made) == ["B", "draw", "X_safe", "B", "A"]
    assert made.steps[1].action_after == "move_safe"
    assert made.steps[2].name == "Move to X_safe"
    assert made.goal_of == (1, 1, 1, 2, 2)


def test_sequence_move_safe_without_a_safe_neighbour_is_an_error() -> None:
    cell = _three_routines(action_after="move_safe")
    plain = tuple(place.model_copy(update={"role": None}) for place in cell.positions)
    (found,) = problems(
        cell.model_copy(update={"positions": plain}), {"action": "routine", "routine": "draw"}, position="A"
    )
    assert (found.code, found.fixable_by) == ("cell.no_safe_place", "graph")


def test_sequence_a_routine_as_action_after_is_the_next_step() -> None:
    made = plan(_three_routines(action_after="dot"), {"action": "routine", "routine": "draw"}, position="A")
    assert json.dumps(made.wire()[1:]) == (
        '[{"id": 2, "name": "Draw at B", "action": "routine", "target": "draw", "position": "B", '
        '"action_after": "dot"}, {"id": 3, "name": "Dot at B", "action": "routine", "target": "dot", "position": "B"}]'
    )
    assert made.goal_of == (1, 1, 1)


def test_sequence_an_action_after_that_would_follow_itself_is_an_error() -> None:
    with pytest.raises(BadInputError) as refused:
        _three_routines(action_after="draw")
    (found,) = refused.value.problems
    assert (found.path, found.code) == ("routines[0].supported_at[0].action_after", "scene.action_after")
    assert "draw -> draw" in found.says


@pytest.mark.parametrize("after", ["blow_off", "seek", "MOVE_SAFE"])
def test_sequence_an_action_after_that_does_not_run_there_is_an_error_that_lists_those_that_do(after: str) -> None:
    with pytest.raises(BadInputError) as refused:
        _three_routines(action_after=after)
    (found,) = refused.value.problems
    assert (found.path, found.code) == ("routines[0].supported_at[0].action_after", "scene.unknown_action_after")
    assert found.says == f"Unknown action_after {after!r} in B. Known actions there: dot, draw, move_safe."


def test_sequence_one_way_moves_are_honoured() -> None:
    assert targets(plan(_three_routines(), go("C"), position="A")) == ["B", "C"]
    (found,) = problems(_three_routines(), go("A"), position="C")
    assert (found.code, found.fixable_by) == ("cell.no_path", "graph")


def test_sequence_tool_without_a_stand_is_an_error() -> None:
    (found,) = problems(_three_routines(), {"action": "routine", "routine": "seek"}, position="A")
    assert (found.code, found.fixable_by, found.nearest) == ("cell.no_stand", "graph", ("Pen",))


def test_sequence_error_scenarios_all_at_once_unknown_names_first() -> None:
    found = problems(
        scene("weld_star"),
        go("Pos_4"),
        weld("Safe_Pos_1"),
        {"action": "attach_tool", "tool": "Gripper"},
        {"action": "routine", "routine": "tack_wled", "position": "Pos_9"},
        weld("Pos_2"),
    )
    assert [(one.code, one.path, one.fixable_by) for one in found] == [
        ("cell.unknown_tool", "steps[2].tool", "user"),
        ("cell.unknown_position", "steps[3].position", "user"),
        ("cell.unknown_routine", "steps[3].routine", "user"),
        ("cell.unsupported", "steps[1].position", "user"),
        ("cell.no_path", "steps[0]", "graph"),
    ]
    assert found[0].nearest == ("Camera", "Welder")
    assert "tack_weld" in found[2].nearest
    assert found[3].nearest == ("Pos_1", "Pos_2", "Pos_3")


def test_sequence_everything_wrong_with_one_goal_is_told() -> None:
    found = problems(scene("weld_star"), weld("Pos_4"))
    assert [(one.code, one.fixable_by) for one in found] == [("cell.unsupported", "user"), ("cell.no_path", "graph")]
    found = problems(_three_routines(), {"action": "routine", "routine": "seek", "position": "Q"}, position="A")
    assert [one.code for one in found] == ["cell.unknown_position", "cell.no_stand"]


def test_sequence_more_than_ten_names_offer_the_three_nearest() -> None:
    (found,) = problems(scene("weld_star"), go("Pos_11"))
    assert len(found.nearest) == 3
    assert "Pos_1" in found.nearest


def test_sequence_a_wrong_state_is_the_states_fault() -> None:
    found = problems(scene("weld_star"), weld("Pos_1"), go("Pos_4"), position="Nowhere", tool="Hammer")
    assert {(one.code, one.fixable_by) for one in found[:2]} == {
        ("cell.unknown_position", "state"),
        ("cell.unknown_tool", "state"),
    }


@pytest.mark.parametrize(
    "intent",
    [
        None,
        3,
        "weld",
        {},
        {"goal": "sequence"},
        {"steps": []},
        {"steps": [None]},
        {"steps": [{}]},
        {"steps": [{"action": "fly"}]},
        {"steps": [{"action": "move"}]},
        {"steps": [{"action": "move", "position": 3}]},
        {"steps": [{"action": "move", "position": "Home", "speed": 3}]},
        {"steps": [{"action": "move", "position": "Home", "tool": "Welder"}]},
        {"steps": [{"action": "attach_tool"}]},
        {"steps": [{"action": "attach_tool", "tool": "none"}]},
        {"steps": [{"action": ["move"], "position": {}}]},
        {"steps": [{"action": "routine"}]},
        {"steps": [weld("Pos_1") | {"tool": "Camera"}]},
        {"steps": [weld("Pos_1") | {"after": [1]}]},
        {"steps": [weld("Pos_1") | {"after": [2]}, weld("Pos_2")]},
        {"steps": [weld("Pos_1") | {"after": ["x"]}]},
    ],
)
def test_sequence_a_bad_intent_is_an_error_and_never_an_empty_plan(intent: Any) -> None:
    cell = scene("weld_star")
    with pytest.raises(BadInputError) as caught:
        build(cell, intent, CellState(current_position="Home"))
    assert caught.value.problems
    assert all(one.says.endswith(".") and one.fixable_by == "user" for one in caught.value.problems)


def test_sequence_ties_go_to_the_smallest_names() -> None:
    cell = read_cell(
        {
            "kind": "cell",
            "name": "ties",
            "positions": ["S", "a2", "a10", "B", "T", "M"],
            "moves": [["S", "a2"], ["S", "a10"], ["S", "B"], ["a2", "T"], ["a10", "T"], ["B", "T"]],
            "state": {"current_position": "S"},
        }
    )
    assert targets(plan(cell, go("T"), position="S")) == ["B", "T"]  # plain string order: capitals first


def test_sequence_costs_come_before_moves_and_decimals_tie_exactly() -> None:
    def cell(direct: float) -> CellScene:
        moves = [
            {"from": "S", "to": "A", "cost": 0.1},
            {"from": "A", "to": "T", "cost": 0.2},
            {"from": "S", "to": "T", "cost": direct},
        ]
        document = {"kind": "cell", "name": "costs", "positions": ["S", "A", "T"], "moves": moves}
        return read_cell(document | {"state": {"current_position": "S"}})

    assert targets(plan(cell(0.3), go("T"), position="S")) == ["T"]  # equal cost, fewer moves
    assert targets(plan(cell(0.31), go("T"), position="S")) == ["A", "T"]
