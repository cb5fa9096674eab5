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


@pytest.fixture
def followed() -> CellScene:
    """The star cell where more follows a weld: a wipe, a look with the camera after it, and then the way to safety."""
    document = yaml.safe_load((SCENES / "weld_star.yaml").read_text())
    document["name"] = "followed"
    weld, attach, release = document["routines"]
    for support, after in zip(weld["supported_at"], ("wipe", "wipe", "inspect"), strict=True):
        support["action_after"] = after
    attach["supported_at"][1]["action_after"] = "focus"
    release["supported_at"][0]["action_after"] = "dust"
    document["routines"] += [
        {
            "name": "wipe",
            "duration_s": 3,
            "supported_at": [{"position": "Pos_1", "action_after": "inspect"}, {"position": "Pos_2", "stabilize": 0}],
        },
        {
            "name": "inspect",
            "required_tool": "Camera",
            "duration_s": 2,
            "supported_at": [{"position": "Pos_1", "verify": "seam", "action_after": "move_safe"}, "Pos_3"],
        },
        {"name": "focus", "required_tool": "Camera", "supported_at": ["Tool_Camera_Position"]},
        {"name": "dust", "supported_at": ["Tool_Weld_Position"]},
    ]
    return read_cell(document)
