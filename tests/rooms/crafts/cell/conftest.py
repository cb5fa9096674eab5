"""The cells these tests work in: the two of the spec, and a workshop with more to say."""

from pathlib import Path

import pytest
import yaml

from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.cell import CellScene

SCENES = Path(__file__).parents[4] / "scenes"


def scene_named(name: str) -> CellScene:
    return read_cell(yaml.safe_load((SCENES / f"{name}.yaml").read_text()))


@pytest.fixture
def star() -> CellScene:
    return scene_named("weld_star")


@pytest.fixture
def corridor() -> CellScene:
    return scene_named("weld_corridor")


@pytest.fixture
def workshop() -> CellScene:
    """The star cell with a camera to inspect with, one place to clean at, and a seam that takes three words."""
    document = yaml.safe_load((SCENES / "weld_star.yaml").read_text())
    document["name"] = "workshop"
    document["routines"] += [
        {
            "name": "inspect_seam",
            "words": ["inspect", "look at"],
            "required_tool": "Camera",
            "supported_at": ["Pos_1", "Pos_2", "Pos_3"],
        },
        {"name": "clean_tip", "words": ["clean"], "supported_at": ["Tool_Weld_Safe_Position"]},
        {"name": "spot_weld", "required_tool": "Welder", "supported_at": ["Pos_2", "Safe_Pos_3"]},
    ]
    return read_cell(document)
