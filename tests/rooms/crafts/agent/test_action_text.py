"""Actions in words: what is clear is read, what is not is refused with the nearest it could be."""

import pytest
from tests.rooms.crafts.agent.action_corpus import STUDY, STUDY_SCENE, YARD, YARD_SCENE
from tests.rooms.crafts.agent.homes import body_of, scene_of

from beforehand.crafts.agent.core.action_text import LONGEST_TEXT, Action, read_action
from beforehand.crafts.agent.core.names import NotRead
from beforehand.crafts.agent.core.verbs import VERBS
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.ports.body import Refused

SCENES = {"study": scene_of(STUDY_SCENE), "yard": scene_of(YARD_SCENE)}


def read_in(scene: HomeScene, text: str) -> str:
    try:
        return shown(read_action(text, scene, VERBS))
    except NotRead as refused:
        codes = dict.fromkeys(problem.code.removeprefix("action.") for problem in refused.problems)
        return f"XX {' '.join(codes)}"


def shown(action: Action) -> str:
    between = f"|{action.relation}|" if action.verb.place else "|from|"
    parts = [action.verb.name, action.thing, action.other and f"{between} {action.other}"]
    parts += [action.room and f"[{action.room}]", action.point and f"({action.point[0]:g}, {action.point[1]:g})"]
    parts += [action.side and f"<{action.side}>", None if action.distance_m is None else f"{action.distance_m:g} m"]
    return " ".join(part for part in (*parts, action.manner and f"~{action.manner}") if part)


def refused(text: str) -> NotRead:
    with pytest.raises(NotRead) as caught:
        read_action(text, SCENES["study"], VERBS)
    return caught.value


@pytest.mark.parametrize(
    ("scene", "text", "means"),
    [("study", *row) for row in STUDY] + [("yard", *row) for row in YARD],
)
def test_a_text_means_what_it_says_or_is_refused(scene: str, text: str, means: str) -> None:
    assert read_in(SCENES[scene], text) == means


def test_the_corpus_is_as_large_as_was_promised() -> None:
    assert len({text for text, _ in (*STUDY, *YARD)}) >= 200


def test_an_unknown_verb_is_told_with_the_nearest_ones() -> None:
    problem = refused("siting on bed1").problems[0]
    assert problem.nearest[0] == "sitting"
    assert "'siting' is not a verb of this body" in problem.says


def test_an_unknown_object_is_told_with_the_nearest_ones() -> None:
    problem = refused("sitting on bedd1").problems[0]
    assert problem.nearest[0] == "bed1"
    assert problem.says.startswith("Unknown object 'bedd1'. Nearest objects: bed1")


def test_a_room_is_among_the_nearest_where_one_could_go_or_look() -> None:
    for text in ("walking to parlor", "looking at parlor"):
        refusal = body_of().start(text)
        assert isinstance(refusal, Refused)
        assert "parlour" in refusal.reasons[0].says
    refusal = body_of().start("sitting on parlor")
    assert isinstance(refusal, Refused)
    assert "parlour" not in refusal.reasons[0].says


def test_a_letter_at_the_end_of_a_name_is_no_article() -> None:
    boxes = [{"name": name, "at": [1, 1], "affords": ["take"]} for name in ("box a", "box b", "box")]
    scene = scene_of({"name": "boxes", "bounds": [0, 0, 9, 9], "objects": boxes})
    assert [read_in(scene, f"taking the {box['name']}") for box in boxes] == ["take box a", "take box b", "take box"]


def test_both_unknown_names_are_told() -> None:
    assert [problem.about for problem in refused("placing cupp on tabel").problems] == ["cupp", "tabel"]


def test_a_kind_of_which_there_are_several_is_told_with_all_of_them() -> None:
    assert refused("sitting on table").problems[0].nearest == ("table1", "table2", "table11")


def test_two_readings_are_both_told() -> None:
    scene = scene_of(
        {
            "name": "twice",
            "bounds": [0, 0, 9, 9],
            "objects": [
                {"name": name, "at": [1, 1], "affords": ["touch"]} for name in ("a1", "a1 on b1", "b1 on c1", "c1")
            ],
        }
    )
    with pytest.raises(NotRead) as caught:
        read_action("placing a1 on b1 on c1", scene, VERBS)
    nearest = caught.value.problems[0].nearest
    assert nearest == ('placing "a1 on b1" on "c1"', 'placing "a1" on "b1 on c1"')
    assert [read_in(scene, text) for text in nearest] == ["place a1 on b1 |on| c1", "place a1 |on| b1 on c1"]


@pytest.mark.parametrize("length", [LONGEST_TEXT + 1, 200_000])
def test_a_very_long_text_is_refused_and_not_cut(length: int) -> None:
    assert [problem.code for problem in refused("saying " + "a" * length).problems] == ["action.too_long"]


def test_a_long_text_is_read_in_no_time() -> None:
    text = "standing " + "on the right of " * 100 + "table1"
    assert read_in(SCENES["study"], text).startswith("XX")
    assert read_in(SCENES["study"], "taking " + "cup1 on " * 200 + "table1").startswith("XX")
    assert read_in(SCENES["study"], "dancing " + "happily " * 200).startswith("dance")


@pytest.mark.parametrize("text", ["", " ", ".", "!!!", "\n"])
def test_nothing_is_no_action(text: str) -> None:
    assert refused(text).problems[0].code == "action.empty"


def test_control_characters_are_refused_and_lines_are_joined() -> None:
    assert refused("saying \x1b[31mhello").problems[0].code == "action.unreadable"
    begun = body_of().start("saying\nhello")
    assert isinstance(begun, tuple)
    assert len(begun[0].state_text().splitlines()) == 4
