"""Scenes of kind home: the given ones pass, and a bad one is told everything at once, with paths."""

from pathlib import Path
from typing import Any

import pytest
from tests.rooms.crafts.agent.homes import cabin, home, scene_of, thing

from beforehand.app.documents import read_file
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.verbs import Verb, Verbs
from beforehand.crafts.agent.core.warnings import warnings
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.model.errors import BadInputError

SCENES = Path(__file__).parents[4] / "scenes"
BED = thing("bed1", [5, 4], "sit")


def found(document: Any) -> dict[str, str]:
    with pytest.raises(BadInputError) as caught:
        read_home(document)
    return {problem.path: problem.says for problem in caught.value.problems}


def warned(document: dict[str, Any], verbs: Verbs | None = None) -> dict[str, str]:
    scene = scene_of(document)
    return {problem.path: problem.says for problem in (warnings(scene, verbs) if verbs else warnings(scene))}


@pytest.mark.parametrize(("name", "rooms", "things"), [("apartment", 4, 25), ("studio", 3, 20), ("workshop", 4, 25)])
def test_the_example_homes_pass_without_a_warning(name: str, rooms: int, things: int) -> None:
    scene = read_home(read_file(str(SCENES / f"{name}.yaml")))
    assert scene.name == name
    assert len(scene.rooms) >= rooms
    assert len(scene.objects) >= things
    assert warnings(scene) == []


@pytest.mark.parametrize("name", ["apartment", "studio", "workshop"])
def test_a_scene_survives_its_own_wire_form(name: str) -> None:
    scene = read_home(read_file(str(SCENES / f"{name}.yaml")))
    assert read_home(scene.wire()) == scene
    assert HomeScene.model_validate(scene.wire()) == scene


def test_the_contract_s_own_example_is_read() -> None:
    cup = {"name": "cup1", "on": "table1", "affords": ["take"], "twoHands": False}
    table = thing("table1", [3, 3], size=[1, 1])
    scene = scene_of(home(BED, table, cup, agent={"at": [0, 0], "facing": 0, "speedMps": 1.2}))
    assert (scene.agent.at, scene.thing("cup1").support) == ((0, 0), "table1")


def test_both_spellings_are_read() -> None:
    one = scene_of(home(thing("log1", [1, 1], "take", twoHands=True), agent={"at": [0, 0], "speedMps": 2}))
    other = scene_of(home(thing("log1", [1, 1], "take", two_hands=True), agent={"at": [0, 0], "speed_mps": 2}))
    assert one == other


PROBLEMS: list[tuple[dict[str, Any], str, str]] = [
    (home(BED, furniture=[]), "furniture", "Unknown key 'furniture'"),
    (home(BED, kind="cell"), "kind", "not 'cell'"),
    (home(BED, name=""), "name", "1 to 200 printable characters"),
    (home(BED, bounds=None), "bounds", "bounds is missing"),
    (home(BED, bounds=[0, 0, 5]), "bounds", "has 3 entries"),
    (home(BED, bounds=[5, 0, 0, 5]), "bounds", "has no inside"),
    (home(BED, bounds=[0, 0, "x", 5]), "bounds[2]", "must be a number"),
    (home(BED, bounds=[0, 0, 1e9, 5]), "bounds[2]", "further than"),
    (home(BED, walls=[[0, 0]]), "walls[0][0]", "must be a point"),
    (home(BED, walls=[[[0, 0]]]), "walls[0]", "two points"),
    (home(BED, walls=[[[1, 1], [1, 1]]]), "walls[0]", "begins and ends at the same point"),
    (home(BED, walls="none"), "walls", "must be a list"),
    (home(BED, rooms=[{"name": "hall"}]), "rooms[0].bounds", "missing"),
    (home(BED, rooms=[{"name": "bed 1", "bounds": [0, 0, 1, 1]}]), "rooms[0].name", "reads the same as bed1"),
    (home(BED, rooms=[{"name": "bed1", "bounds": [0, 0, 1, 1]}]), "rooms[0].name", "reads the same as bed1"),
    (home(BED, rooms=[{"name": "a", "bounds": [0, 0, 1, 1]}] * 2), "rooms[1].name", "already given at rooms[0].name"),
    (home("bed1"), "objects[0]", "must be a mapping"),  # type: ignore[arg-type]
    (home({**BED, "colour": "red"}), "objects[0].colour", "Unknown key 'colour'"),
    (home({**BED, "name": 7}), "objects[0].name", "names are text"),
    (home({**BED, "name": "--"}), "objects[0].name", "no letter or number"),
    (home({**BED, "name": "Origin"}), "objects[0].name", "the origin of the coordinates"),
    (home({**BED, "name": "None"}), "objects[0].name", "an empty hand"),
    (home(BED, BED), "objects[1].name", "already given at objects[0].name"),
    (home(BED, {**BED, "name": "Bed 1"}), "objects[1].name", "Bed 1 reads the same as bed1"),
    (home({"name": "bed1", "affords": ["sit"]}), "objects[0]", "one of at, on and in"),
    (home({**BED, "on": "bed2"}), "objects[0]", "it has at and on"),
    (home(BED, thing("cup1", None, "take", on="bd1")), "objects[1].on", "Unknown object 'bd1'"),
    (home(thing("a", None, "take", on="b"), thing("b", None, "take", on="a")), "objects[0]", "lies on or in itself"),
    (home({**BED, "at": [50, 4]}), "objects[0].at", "stands outside the bounds"),
    (home({**BED, "size": [0, 1]}), "objects[0].size", "more than 0"),
    (home({**BED, "size": 2}), "objects[0].size", "must be [width, depth]"),
    (home({**BED, "affords": "sit"}), "objects[0].affords", "must be a list"),
    (home({**BED, "solid": "yes"}), "objects[0].solid", "true or false"),
    (home(thing("d", None, door=True, on="bed1"), BED), "objects[0]", "d is a door"),
    (home(thing("d", [1, 1], "take", door=True)), "objects[0]", "cannot be taken"),
    (home(thing("d", [1, 1], door=True), thing("cup1", None, "take", on="d")), "objects[1]", "which is a door"),
    (home(BED, agent={"at": [5, 4]}), "agent.at", "start inside bed1"),
    (home(thing("d", [1, 1], door=True, open=False), agent={"at": [1, 1]}), "agent.at", "start inside d"),
    (home(BED, agent={"at": [-1, 0]}), "agent.at", "outside the bounds"),
    (home(BED, agent={"speedMps": 0}), "agent.speedMps", "between 0.01 and 100"),
    (home(BED, agent={"radiusM": 9}), "agent.radiusM", "between 0.01 and 5"),
    (home(BED, agent={"facing": "north"}), "agent.facing", "must be a number"),
    (home(BED, agent={"legs": 2}), "agent.legs", "Unknown key 'legs'"),
]


@pytest.mark.parametrize(("document", "path", "says"), PROBLEMS)
def test_a_problem_is_told_with_its_path(document: dict[str, Any], path: str, says: str) -> None:
    problems = found(document)
    assert path in problems, problems
    assert says in problems[path]


@pytest.mark.parametrize("document", [None, [], "home", 7, {}])
def test_what_is_no_scene_at_all_is_told(document: Any) -> None:
    assert found(document)


def test_every_problem_is_told_at_once_and_unknown_names_first() -> None:
    document = home({**BED, "size": [0, 1]}, thing("cup1", None, "take", on="bd1"), bounds=[0, 0, 5], lamps=[])
    with pytest.raises(BadInputError) as caught:
        read_home(document)
    paths = [problem.path for problem in caught.value.problems]
    assert set(paths) == {"lamps", "bounds", "objects[0].size", "objects[1].on"}
    assert set(paths[:2]) == {"lamps", "objects[1].on"}


def test_a_thing_behind_a_wall_is_a_warning_and_one_behind_a_door_is_not() -> None:
    bed = thing("bed1", [8, 4], "sit")
    assert warned(home(bed, walls=[[[5, 0], [5, 8]]])) == {
        "objects[0].at": "bed1 cannot be reached from where the agent starts."
    }
    door = thing("door1", [5, 4], "open", size=[0.06, 1], door=True, open=False)
    assert warned(home(bed, door, walls=[[[5, 0], [5, 3.5]], [[5, 4.5], [5, 8]]])) == {}


def test_a_thing_that_affords_nothing_or_something_unheard_of_is_a_warning() -> None:
    told = warned(home(thing("rock1", [5, 4]), thing("hat1", [2, 2], "ware", "touch")))
    assert told["objects[0].affords"] == "rock1 affords nothing, so it is only in the way."
    assert told["objects[1].affords[0]"].startswith("Unknown affordance 'ware'.")
    assert len(told) == 2


def test_what_a_plug_in_verb_asks_for_is_no_warning() -> None:
    more = Verbs([Verb("ride", ("riding", "ride"), ("base",), "thing", ("on",), "ride")])
    hobbyhorse = home(thing("horse1", [5, 4], "ride"))
    assert list(warned(hobbyhorse)) == ["objects[0].affords[0]"]
    assert warned(hobbyhorse, more) == {}


def test_the_cabin_of_the_tests_is_a_good_home() -> None:
    assert warned(cabin()) == {}
