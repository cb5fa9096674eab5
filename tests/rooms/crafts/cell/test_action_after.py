"""What may not follow a routine: each is a problem of the scene, said where it stands, however big the scene is."""

import time
from itertools import pairwise
from typing import Any

import pytest

from beforehand.crafts.cell.core.builder import build
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.core.verifier import verify
from beforehand.model.cell import CellState
from beforehand.model.errors import BadInputError

LINEAR_S = 10
"""Far above what the big scenes take, far below what they would take if the work grew with the square."""


def cell(*routines: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A bench with a torch and a saw in reach, and a yard from which no move leads back."""
    return {
        "kind": "cell",
        "name": "bench",
        "positions": ["Bench", "Rack", "Shelf", "Yard", {"name": "Dock", "role": "safe"}],
        "moves": [["Bench", "Rack"], ["Bench", "Shelf"], {"from": "Bench", "to": "Yard", "one_way": True}],
        "tools": [
            {"name": "Torch", "stand": "Rack"},
            {"name": "Saw", "stand": "Shelf"},
            {"name": "Drill", "stand": "Yard"},
            {"name": "Lost"},
        ],
        "routines": list(routines),
    } | changes


def routine(name: str, tool: str | None = None, **after: str | None) -> dict[str, Any]:
    """A routine with the positions where it runs, each with what follows it there."""
    supports = [{"position": place, "action_after": following} for place, following in after.items()]
    return {"name": name, "required_tool": tool, "supported_at": supports}


def found(*routines: dict[str, Any], **changes: Any) -> list[tuple[str, str]]:
    with pytest.raises(BadInputError) as caught:
        read_cell(cell(*routines, **changes))
    assert {problem.code for problem in caught.value.problems} <= {"scene.action_after", "scene.more"}
    return [(problem.path, problem.says) for problem in caught.value.problems]


def test_what_can_follow_is_no_problem() -> None:
    read_cell(
        cell(
            routine("weld", "Torch", Bench="wipe"),
            routine("wipe", None, Bench="cut", Rack=None),
            routine("cut", "Saw", Bench=None),
            routine("tool_attach", None, Rack="heat", Shelf="wipe_saw"),
            routine("heat", "Torch", Rack="wipe"),
            routine("wipe_saw", None, Shelf=None),
            routine("tool_release", None, Rack="wipe"),
        )
    )


def test_a_chain_that_comes_back_to_itself_is_told_once() -> None:
    at_inspect = found(
        routine("weld", None, Bench="wipe"),
        routine("inspect", None, Bench="wipe"),
        routine("wipe", None, Bench="inspect"),
        routine("grind", None, Bench="inspect"),
    )
    says = "At Bench this would go on for ever: inspect -> wipe -> inspect. Remove one of these action_after."
    assert at_inspect == [("routines[1].supported_at[0].action_after", says)]


def test_a_routine_that_would_follow_itself_is_told_at_every_position() -> None:
    says = [text for _, text in found(routine("wipe", None, Bench="wipe", Rack="wipe"))]
    assert says == [
        f"At {place} this would go on for ever: wipe -> wipe. Remove one of these action_after."
        for place in ("Bench", "Rack")
    ]


def test_the_same_two_routines_may_follow_each_other_at_different_positions() -> None:
    read_cell(cell(routine("weld", None, Bench="wipe", Rack=None), routine("wipe", None, Bench=None, Rack="weld")))


@pytest.mark.parametrize("change", ["tool_attach", "tool_release"])
def test_a_tool_change_cannot_follow(change: str) -> None:
    ((path, says),) = found(routine("weld", None, Rack=change), routine(change, None, Rack=None))
    assert path == "routines[0].supported_at[0].action_after"
    assert says.startswith(f"{change} cannot follow weld: a plan changes tools by itself")


@pytest.mark.parametrize(
    ("before", "follower", "says"),
    [
        (None, "Lost", "dig cannot follow weld at Bench: it needs Lost, and the tool Lost has no stand. Give it one"),
        ("Lost", "Saw", "dig cannot follow weld at Bench: it needs Saw, and the tool Lost has no stand. Give it one"),
        (None, "Drill", "and no moves lead from Bench to Yard, where Drill hangs, and back again."),
        ("Drill", "Saw", "and no moves lead from Bench to Yard, where Drill hangs, and back again."),
    ],
)
def test_a_follower_whose_tool_cannot_be_changed_on_the_way(before: str | None, follower: str, says: str) -> None:
    ((path, told),) = found(routine("weld", before, Bench="dig"), routine("dig", follower, Bench=None))
    assert path == "routines[0].supported_at[0].action_after"
    assert says in told
    assert told.endswith(", or remove this action_after.")


def test_a_tool_that_is_on_already_needs_no_way() -> None:
    read_cell(cell(routine("dig", "Drill", Bench="clear"), routine("clear", "Drill", Bench=None)))


def test_the_way_back_begins_where_the_tool_change_ends() -> None:
    """The move to safety after the attach leads off to where no move leads back from."""
    routines = (
        routine("look", None, Bench="weld"),
        routine("weld", "Torch", Bench=None),
        routine("tool_attach", None, Rack="check"),
        routine("check", None, Rack="move_safe"),
    )
    off = {"from": "Rack", "to": "Dock", "one_way": True}
    ((path, says),) = found(*routines, moves=[["Bench", "Rack"], off])
    assert path == "routines[0].supported_at[0].action_after"
    assert "no moves lead from Bench to Rack, where Torch hangs, and back again" in says
    read_cell(cell(*routines, moves=[["Bench", "Rack"], off, ["Dock", "Bench"]]))


def test_what_was_put_down_is_not_taken_again() -> None:
    ((path, says),) = found(
        routine("tool_release", None, Rack="wipe"),
        routine("wipe", None, Rack="heat"),
        routine("heat", "Torch", Rack=None),
    )
    assert path == "routines[1].supported_at[0].action_after"
    assert says == (
        "At the stand Rack, tool_release -> wipe -> heat: heat needs Torch, so what was just put down would be taken "
        "again. Let only follow what needs no tool."
    )


@pytest.mark.parametrize(("tool", "both"), [("Saw", False), ("Torch", True)])
def test_what_was_taken_is_not_put_down_again(tool: str, both: bool) -> None:
    """Another tool's routine behind an attach, or one for a tool that is not the only one at the stand."""
    tools = [{"name": "Torch", "stand": "Rack"}, {"name": "Saw", "stand": "Rack" if both else "Shelf"}]
    ((path, says),) = found(routine("tool_attach", None, Rack="heat"), routine("heat", tool, Rack=None), tools=tools)
    assert path == "routines[0].supported_at[0].action_after"
    assert f"heat needs {tool}, so what was just taken would be put down again." in says


def test_a_place_where_no_tool_hangs_has_no_tool_changes() -> None:
    read_cell(cell(routine("tool_release", None, Bench="heat"), routine("heat", "Torch", Bench=None)))


def chain(count: int, last: str | None, tools: tuple[str | None, ...] = (None,)) -> list[dict[str, Any]]:
    return [
        routine(f"r{at}", tools[at % len(tools)], Bench=f"r{at + 1}" if at + 1 < count else last) for at in range(count)
    ]


@pytest.mark.parametrize("tools", [(None,), (None, "Torch", "Saw")])
def test_many_supports_are_read_in_linear_time(tools: tuple[str | None, ...]) -> None:
    before = time.process_time()
    read_cell(cell(*chain(20_000, None, tools)))
    assert time.process_time() - before < LINEAR_S


def test_a_long_cycle_is_told_in_a_short_sentence() -> None:
    before = time.process_time()
    ((path, says),) = found(*chain(20_000, "r0"))
    assert time.process_time() - before < LINEAR_S
    assert path == "routines[0].supported_at[0].action_after"
    assert says == (
        "At Bench this would go on for ever: r0 -> r1 -> r2 -> r3 -> r4 -> r5 -> ... -> r0. "
        "Remove one of these action_after."
    )


def test_many_wrong_ways_in_a_big_scene_are_told_in_linear_time() -> None:
    """A long line of positions, one way only: from none of them a tool can be fetched and brought back."""
    count = 10_000
    names = [f"P{at}" for at in range(count)]
    moves = [{"from": a, "to": b, "one_way": True} for a, b in pairwise(names)]
    after: dict[str, str | None] = dict.fromkeys(names, "weld")
    before = time.process_time()
    told = found(
        routine("look", None, **after),
        routine("weld", "Torch", **dict.fromkeys(names)),
        positions=names,
        moves=moves,
        tools=[{"name": "Torch", "stand": names[-1]}],
    )
    assert time.process_time() - before < LINEAR_S
    assert told[-1] == ("", "There are more than 500 problems.")


def test_a_long_chain_is_planned_and_verified_step_by_step() -> None:
    scene = read_cell(cell(*chain(5_000, None)))
    state = CellState(current_position="Bench")
    made = build(scene, {"steps": [{"action": "routine", "routine": "r0", "position": "Bench"}]}, state)
    assert [step.target for step in made.steps] == [f"r{at}" for at in range(5_000)]
    assert verify(scene, made.wire(), state).ok
