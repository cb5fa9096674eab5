"""Which world a home scene is opened in, and what it may say about it."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from beforehand.crafts.agent import worlds
from beforehand.crafts.agent.core.home_body import HomeBody, home_body
from beforehand.crafts.agent.core.scene import WORLD_KINDS, read_home
from beforehand.crafts.agent.worlds import load_worlds, open_world
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.reason import Problem
from beforehand.ports.agent_worlds import WorldKind, WorldRequest
from beforehand.ports.body import Body

HOME = {"kind": "home", "name": "room", "bounds": [0, 0, 4, 4]}
MISSION = {"kind": "minigrid", "mission": "BabyAI-GoToLocal-v0", "seed": 3}
ASKED: list[WorldRequest] = []


def open_garden(request: WorldRequest) -> Body:
    ASKED.append(request)
    return home_body(read_home({**HOME, "name": "garden"}))


def check_garden(options: Any) -> list[Problem]:
    return [] if options.get("trees") else [Problem(code="garden.bare", about="", says="No trees.", path="trees")]


GARDEN = WorldKind(open_garden, check_garden)
NOT_A_WORLD = "a picture of one"


@pytest.fixture
def plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        EntryPoint(name, f"{__name__}:{attribute}", worlds.GROUP)
        for name, attribute in (("broken", "NO_SUCH_NAME"), ("garden", "GARDEN"), ("painted", "NOT_A_WORLD"))
    ]
    monkeypatch.setattr(worlds, "entry_points", lambda group: found if group == worlds.GROUP else [])
    monkeypatch.setattr(EntryPoint, "load", lambda entry: globals()[entry.attr])
    monkeypatch.setattr(worlds, "_WORLDS", dict(worlds._WORLDS))
    monkeypatch.setattr(WORLD_KINDS, "_checks", dict(WORLD_KINDS._checks))


def problems(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(BadInputError) as told:
        read_home(document)
    return {problem.path: problem.says for problem in told.value.problems}


@pytest.mark.parametrize("world", [None, "sim", {"kind": "sim"}])
def test_a_home_is_opened_in_our_own_world(world: Any) -> None:
    scene = read_home({**HOME, "world": world})
    assert isinstance(open_world(scene), HomeBody)


def test_a_scene_of_another_world_says_nothing_else() -> None:
    scene = read_home({"kind": "home", "name": "m", "world": MISSION})
    assert scene.wire() == {"kind": "home", "name": "m", "world": MISSION}
    assert read_home(scene.wire()) == scene
    told = problems({**HOME, "world": MISSION, "objects": [{"name": "cup1", "at": [1, 1]}]})
    assert set(told) == {"bounds", "objects"}


def test_a_scene_without_bounds_needs_another_world() -> None:
    assert "bounds is missing" in problems({"kind": "home", "name": "m"})["bounds"]
    told = problems({"kind": "home", "name": "m", "world": "mars"})
    assert told["world"] == "Unknown world kind 'mars'. Known world kinds: minigrid, sim."


def test_everything_wrong_with_a_mission_is_told_with_its_place() -> None:
    told = problems({"kind": "home", "name": "m", "world": {"kind": "minigrid", "mission": "Chess", "seed": "x"}})
    assert set(told) == {"world.mission", "world.seed"}


@pytest.mark.needs("minigrid")
def test_a_mission_is_opened_and_found_again() -> None:
    scene = read_home({"kind": "home", "name": "m", "world": MISSION})
    body = open_world(scene, goal="go to the red key")
    body.start("walking to red key")
    body.passed(400)
    assert body.goal_reached() is True
    assert open_world(scene, world=body.wire()).frame()["x"] == body.frame()["x"]


def test_a_missing_package_is_named_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beforehand.adapters.minigrid.missions.find_spec", lambda name: None)
    scene = read_home({"kind": "home", "name": "m", "world": MISSION})
    with pytest.raises(UnavailableError) as told:
        open_world(scene)
    assert "pip install '.[minigrid]'" in told.value.hint


def test_other_packages_bring_worlds_and_a_broken_one_spares_the_rest(plug_ins: None) -> None:
    reasons = load_worlds()
    assert [reason.about for reason in reasons] == ["broken", "painted"]
    assert "KeyError" in reasons[0].says
    assert "is not a WorldKind" in reasons[1].says
    told = problems({"kind": "home", "name": "g", "world": "garden"})
    assert told == {"world.trees": "No trees."}
    scene = read_home({"kind": "home", "name": "g", "world": {"kind": "garden", "trees": 3}})
    assert open_world(scene, world={"left": True}, goal="rest").tick == 0
    assert ASKED[-1] == WorldRequest("g", {"trees": 3}, {"left": True}, "rest")
