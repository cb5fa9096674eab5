"""A name that stands in a sentence as the scene writes it is certain, however alike, odd or verb-like it is."""

from typing import Any

import pytest
from tests.rooms.crafts.cell.test_text_corpus import answer, phrases
from tests.rooms.crafts.cell.text_corpus import star

from beforehand.crafts.cell.core.grammar import Grammar
from beforehand.crafts.cell.core.scene import read_cell

TWINS = star(
    "twins",
    ["P1", "P01", "Dock_A", "DockA", "Home_2", "Cell.1", "Zone/3", "Bin_7", "Spare", "A1", "Z1.2", "In", "Next"],
    tools=[
        {"name": "Tool_2", "stand": "Spare"},
        {"name": "Gripper 2F-85", "stand": "Bin_7"},
        {"name": "A", "stand": "Home_2"},
    ],
    routines=[{"name": "drill", "required_tool": "Tool_2", "supported_at": ["P1", "P01"]}],
)
IN_TWINS = """
drill P1 => drill P1
drill P01, then P1 => drill P01; | drill P1
drill P1 with tool 2 => drill P1
drill p1 => refused
drill p1 and p01 => refused
go to dock a => refused
go to home 2 => > Home_2
go home => > Home
go to Home => > Home
go to cell 1 => > Cell.1
go to cell.1 => > Cell.1
go to Cell.3 => unknown
go to Home_2 and Cell.1, then Zone/3 => > Home_2; > Cell.1; | > Zone/3
attach tool 2 => +Tool_2
release tool 2 => -Tool_2
release the tool 2 => -Tool_2
release the tool => -
attach tool 85 => refused
visit all spots => refused
take the tool => refused
attach gripper => +Gripper 2F-85
Spare => refused
gO tO sPARE, dRILL at P1 => > Spare; drill P1
go to dOCK a => refused
release A => -A
release the A and go home => -A; > Home
attach the A, go to the A1 => +A; > A1
go to the A1 and In => > A1; > In
go to Spare, Next and go home => refused
go to Next => > Next
go to Z1.2 or Spare => refused
go to the Z1.2, drill => refused
"""

DOCKS = star(
    "docks",
    ["Load_1", "Load_2", "Wash", "Dock_1", "Pos_1", "Pos_2", "Not_OK_Bin", "No_Go", "Both_Sides", "Return_Bay"],
    tools=[{"name": "Hold_Clamp", "stand": "Pos_2"}],
    routines=[
        {"name": "load", "supported_at": ["Load_1", "Load_2"]},
        {"name": "dock", "supported_at": ["Dock_1"]},
        {"name": "wash", "supported_at": ["Wash", "Pos_1"]},
        {"name": "weld", "supported_at": ["Pos_1", "Load_1", "Load_2"]},
    ],
)
IN_DOCKS = """
go to Load_1 and Load_2 => > Load_1; > Load_2
go to Load_1-2 => > Load_1; > Load_2
weld Load_1 and Load_2 => weld Load_1; weld Load_2
load Load_1 and 2 => load Load_1; load Load_2
dock Dock_1, load Load_1 => dock Dock_1; load Load_1
load 1 and load 2 => load Load_1; load Load_2
go to load 1 and load 2 => refused
go to load 1, then load 2 => refused
weld pos 1 and load 1 => refused
weld pos 1 and load at load 1 => weld Pos_1; load Load_1
weld load 1 and dock at dock 1 => weld Load_1; dock Dock_1
go to load 1 and load => > Load_1; load Load_1
go to Dock_1 and Wash => refused
go to Dock_1 and wash at Pos_1 => > Dock_1; wash Pos_1
go to Wash and wash => > Wash; wash Wash
weld Pos_1, then go to Wash => weld Pos_1; | > Wash
go to not ok bin => refused
release Hold_Clamp or not => refused
release Hold_Clamp, then dance => refused
go to Not_OK_Bin, No_Go => > Not_OK_Bin; > No_Go
go to Both_Sides => > Both_Sides
Pos_1 => refused
pos 1 and pos 2 => refused
"""

CELLS = ((TWINS, IN_TWINS), (DOCKS, IN_DOCKS))
each_cell = pytest.mark.parametrize(("document", "lines"), CELLS, ids=[document["name"] for document, _ in CELLS])


@each_cell
def test_each_phrase_is_read_as_labelled(document: dict[str, Any], lines: str) -> None:
    grammar = Grammar(read_cell(document))
    wrong = [(text, label, found) for text, label in phrases(lines) if (found := answer(grammar, text)) != label]
    assert wrong == []


@each_cell
def test_every_name_as_it_is_written_means_itself(document: dict[str, Any], lines: str) -> None:
    grammar = Grammar(read_cell(document))
    for place in document["positions"][1:]:
        assert answer(grammar, f"go to {place}") == f"> {place}"
        assert answer(grammar, f'first go home, then move to "{place}".') == f"> Home; | > {place}"
    for name in (tool["name"] for tool in document["tools"]):
        assert answer(grammar, f"attach {name} and release {name}") == f"+{name}; -{name}"
