"""`scene import` and `scene file`: a map becomes a scene that passes the check; files are kept for scenes to name."""

from pathlib import Path
from typing import Any

MAPS = Path(__file__).parents[1] / "fixtures" / "maps"


def test_a_map_becomes_a_scene_that_passes_the_check(cli: Any) -> None:
    done = cli("scene", "import", str(MAPS / "plant-6.xml"), "-o", "plant.yaml", code=0)
    assert "Small plant six is in plant.yaml: 7 nodes, 5 worksites, 2 robots." in done.out
    assert "model.block[0]: The block Crossing is not carried over" in done.err
    assert cli("scene", "check", "plant.yaml", "-o", "json", code=0).document["valid"]
    assert cli("fleet", "simulate", "plant.yaml", "-o", "json", code=0).document["invariantViolations"] == []


def test_to_standard_output_it_is_the_scene_and_nothing_else(cli: Any) -> None:
    done = cli("scene", "import", str(MAPS / "grid.map"), "--starts", str(MAPS / "grid.scen"), "--name", "yard", code=0)
    checked = cli("scene", "check", "-", "-o", "json", given=done.out, code=0).document
    assert (checked["valid"], checked["name"]) == (True, "yard")


def test_what_is_no_map_ends_with_2_and_a_sentence(cli: Any) -> None:
    refused = cli("scene", "import", "-", given="hello", code=2)
    assert "standard input is not a map of a known kind." in refused.err
    refused = cli("scene", "import", str(MAPS / "grid.map"), "--kind", "opentsc", code=2)
    assert "opentcs" in refused.err
    assert "cannot be written" in cli("scene", "import", str(MAPS / "grid.map"), "-o", "none/x.yaml", code=2).err


def test_files_are_kept_in_the_home_for_scenes_to_name(cli: Any) -> None:
    assert "keeps no files" in cli("scene", "file", "list", code=0).out
    plt, fork = cli.write("p0001.plt", {"length": 1.2}), cli.write("ft16.json", {"maxHeightM": 1.6})
    assert "plt/p0001.plt is kept" in cli("scene", "file", "add", plt, code=0).out
    kept = cli("scene", "file", "add", fork, "--name", "fork/ft16.json", "-o", "json", code=0).document
    assert kept["form"] == "fork profile"
    listed = cli("scene", "file", "list", "-o", "json", code=0).document
    assert [one["name"] for one in listed] == ["fork/ft16.json", "plt/p0001.plt"]
    assert [event["data"]["name"] for event in cli.events() if event["kind"] == "sceneFileSaved"] == [
        "plt/p0001.plt",
        "fork/ft16.json",
    ]
    assert "maxHeightM" in cli("scene", "file", "add", plt, "--name", "fork/bad.json", code=2).err
    scene = cli("scene", "show", "line_pick_drop", "-o", "json", code=0).document
    scene["robots"][0]["forkProfile"] = "fork/ft61.json"
    refused = cli("scene", "check", cli.write("mine.yaml", scene), code=1)
    assert "fork/ft16.json" in refused.err
