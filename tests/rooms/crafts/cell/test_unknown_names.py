"""Names a cell does not have, told apart from sentences nobody understands."""

import pytest

from beforehand.crafts.cell.core.grammar import Refusal, parse
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.core.unknown_names import unknown_names_in
from beforehand.model.cell import CellScene


@pytest.fixture(scope="module")
def scene() -> CellScene:
    return read_cell(
        {
            "kind": "cell",
            "name": "little",
            "positions": ["Home", "Pos_1", "Pos_2", "Stand"],
            "moves": [["Home", "Pos_1"], ["Home", "Pos_2"], ["Home", "Stand"]],
            "tools": [{"name": "Welder", "stand": "Stand"}],
            "routines": [
                {
                    "name": "tack_weld",
                    "words": ["weld"],
                    "required_tool": "Welder",
                    "supported_at": [{"position": "Pos_1"}],
                }
            ],
        }
    )


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("weld position 9", ["position"]),
        ("weld Pos_9", ["position"]),
        ("go to Nowhere", ["position"]),
        ("go to Station_X", ["position"]),
        ("attach the Laser", ["tool"]),
        ("put the laser back", ["tool"]),
        ("run grinding at Pos_1", ["routine"]),
        ("polish Pos_1", ["routine"]),
        ("weld 1, then polish Pos_1 and attach the Laser", ["routine", "tool"]),
    ],
)
def test_a_name_nobody_has(scene: CellScene, text: str, kinds: list[str]) -> None:
    refused = parse(text, scene)
    assert isinstance(refused, Refusal)
    found = unknown_names_in(text, scene, refused)
    assert [problem.code for problem in found] == [f"cell.unknown_{kind}" for kind in kinds]
    assert all(problem.nearest and problem.fixable_by == "user" for problem in found)


@pytest.mark.parametrize(
    "text",
    [
        "don't weld 1",
        "weld Pos_9 or Pos_1",
        "weld it",
        "make me a coffee",
        "is Pos_9 free?",
        "if so go to Mars",
        "",
    ],
)
def test_what_is_only_unclear_names_nobody(scene: CellScene, text: str) -> None:
    refused = parse(text, scene)
    assert isinstance(refused, Refusal)
    assert unknown_names_in(text, scene, refused) == []


def test_who_can_mend_it_is_written_as_the_sequence_spec_writes(star: CellScene) -> None:
    text = "attach the gripper"
    refusal = parse(text, star)
    assert isinstance(refusal, Refusal)
    assert [problem.wire()["fixable_by"] for problem in unknown_names_in(text, star, refusal)] == ["user"]
