"""Plain clauses over cells with awkward names: what is said is what is read, or it is refused; never something else."""

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rooms.crafts.cell.test_text_corpus import answer

from beforehand.crafts.cell.core.grammar import Grammar
from beforehand.crafts.cell.core.scene import read_cell

PLACES = [
    "Pos_1",
    "Pos_2",
    "Pos1",
    "P2",
    "A",
    "A1",
    "A-1",
    "1A",
    "2",
    "In",
    "Out",
    "Up",
    "Back",
    "Return",
    "Next",
    "Station",
    "Station_A",
    "Load",
    "Load_1",
    "Unload_1",
    "Weld_1",
    "Weld_Pos_1",
    "Paint",
    "Paint_2",
    "Home_1",
    "Home_Station",
    "Tool_1",
    "Bin_A",
    "Bin_A_2",
    "Both",
    "All_Parts",
    "OK",
    "OK_1",
    "Not_Used",
    "Rest_Pos",
    "Take_1",
    "Release_1",
    "Second_Station",
    "Last_Pos",
    "Number_1",
    "Zone.1",
    "Z1.2",
    "Line-2-A",
    "DockThree",
    "Dock2",
    "Three",
    "Spot_5",
    "Place_4",
    "工位1",
]
TOOLS = [
    "Welder",
    "Tool_1",
    "Tool_2",
    "Gripper_A",
    "Gripper_2",
    "2F-85",
    "Weld_Gun",
    "Pick_Tool",
    "Take_Off",
    "Release_Pin",
    "A",
    "None_Such",
    "Hand",
]
ROUTINES = [
    "weld",
    "tack_weld",
    "inspect",
    "load",
    "unload",
    "paint",
    "move_part",
    "return_part",
    "home_axis",
    "release_part",
    "go_around",
]
SPELLINGS = (str, str.upper, lambda name: re.sub("_", " ", name).lower(), lambda name: name.replace("_", "-"))


@st.composite
def cells(draw: st.DrawFn) -> dict[str, Any]:
    places = draw(st.lists(st.sampled_from(PLACES), min_size=3, max_size=8, unique=True))
    tools = draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=3, unique=True))
    routines = draw(st.lists(st.sampled_from(ROUTINES), min_size=1, max_size=4, unique=True))
    return {
        "kind": "cell",
        "name": "awkward",
        "positions": [{"name": "Home", "role": "home"}, *places],
        "moves": [["Home", place] for place in places],
        "tools": [{"name": tool, "stand": places[0]} for tool in tools],
        "routines": [{"name": name, "supported_at": places} for name in routines],
    }


@st.composite
def clauses(draw: st.DrawFn, cell: dict[str, Any]) -> tuple[str, list[str]]:
    """A clause with one or two different places or a tool, and the goals it names."""
    spelled = draw(st.sampled_from(SPELLINGS))
    names = cell["positions"][1:]
    places = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    told = draw(st.sampled_from([" and ", ", "])).join(map(spelled, places))
    routine = draw(st.sampled_from(cell["routines"]))["name"]
    tool = draw(st.sampled_from(cell["tools"]))["name"]
    return draw(
        st.sampled_from(
            [
                (f"go to {told}", [f"> {place}" for place in places]),
                (f"drive to the {told}", [f"> {place}" for place in places]),
                (f"{routine} at {told}", [f"{routine} {place}" for place in places]),
                (f"attach {spelled(tool)}", [f"+{tool}"]),
                (f"release the {spelled(tool)}", [f"-{tool}"]),
            ]
        )
    )


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_plain_clauses_are_never_read_as_anything_else(data: st.DataObject) -> None:
    cell = data.draw(cells())
    first, goals = data.draw(clauses(cell))
    second, more = data.draw(clauses(cell))
    text = f"{first}, then {second}"
    found = answer(Grammar(read_cell(cell)), text)
    assert found in ("refused", "unknown", "; ".join([*goals, f"| {more[0]}", *more[1:]])), text


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_place_as_it_is_written_is_always_understood(data: st.DataObject) -> None:
    cell = data.draw(cells())
    place = data.draw(st.sampled_from(cell["positions"][1:]))
    assert answer(Grammar(read_cell(cell)), f"go to {place}") == f"> {place}"
