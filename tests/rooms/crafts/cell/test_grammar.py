"""What the grammar understands, and what it will not guess."""

import pytest

from beforehand.crafts.cell.core.grammar import Refusal, Understood, parse
from beforehand.model.cell import CellScene, Goal


def short(goal: Goal) -> str:
    if goal.action == "move":
        return f"go {goal.position}"
    if goal.action == "attach_tool":
        return f"+{goal.tool}"
    if goal.action == "release_tool":
        return f"-{goal.tool or ''}"
    return f"{goal.routine}@{goal.position}"


def w(*numbers: int) -> list[str]:
    return [f"tack_weld@Pos_{number}" for number in numbers]


def i(*numbers: int) -> list[str]:
    return [f"inspect_seam@Pos_{number}" for number in numbers]


def go(*names: str) -> list[str]:
    return [f"go {name}" for name in names]


UNDERSTOOD: list[tuple[str, list[str]]] = [
    ("weld position 1 and 2", w(1, 2)),
    ("weld position 1 and position 2", w(1, 2)),
    ("weld positions 1 and 2", w(1, 2)),
    ("Weld positions 1, 2 and 3.", w(1, 2, 3)),
    ("weld 1, 2, and 3", w(1, 2, 3)),
    ("weld 1", w(1)),
    ("weld at 1", w(1)),
    ("weld at Pos_1", w(1)),
    ("weld at pos 1", w(1)),
    ("weld pos1", w(1)),
    ("weld POS-1", w(1)),
    ("tack_weld Pos_2", w(2)),
    ("tack weld at position 2", w(2)),
    ("Tack-weld position two", w(2)),
    ("weld positions 1 to 3", w(1, 2, 3)),
    ("weld positions 1-3", w(1, 2, 3)),
    ("weld 1 - 3", w(1, 2, 3)),
    ("weld 1 through 3", w(1, 2, 3)),
    ("weld from 1 to 3", w(1, 2, 3)),
    ("weld Pos_1 to Pos_3", w(1, 2, 3)),
    ("weld 3 to 1", w(3, 2, 1)),
    ("weld everywhere", w(1, 2, 3)),
    ("weld at all positions", w(1, 2, 3)),
    ("weld at every position", w(1, 2, 3)),
    ("please weld position 3", w(3)),
    ("Weld position 3, please!", w(3)),
    ("hello robot, please weld 3 now, thank you", w(3)),
    ("could you please weld 2", w(2)),
    ("Could you please weld position 1 and 2?", w(1, 2)),
    ("would you weld 2, then go home?", [*w(2), *go("Home")]),
    ("weld 1..3", w(1, 2, 3)),
    ("weld positions 1 ... 3", w(1, 2, 3)),
    ("weld 1… go home", [*w(1), *go("Home")]),
    ("weld 1 — 3", w(1, 2, 3)),
    ("go to safe positions 1 and 3", go("Safe_Pos_1", "Safe_Pos_3")),
    ("go to safe position 1, then 2", go("Safe_Pos_1", "Safe_Pos_2")),
    ("go to safe position 1 and position 2", go("Safe_Pos_1", "Pos_2")),
    ("weld 1 to position 3", w(1, 2, 3)),
    ("I would like you to weld 2", w(2)),
    ("weld the first position", w(1)),
    ("weld the third one", w(3)),
    ("weld the 2nd position", w(2)),
    ("weld the first and second positions", w(1, 2)),
    ("weld the first, second and third position", w(1, 2, 3)),
    ("weld the 1st and the 3rd position, then go home", [*w(1, 3), *go("Home")]),
    ("weld at each position", w(1, 2, 3)),
    ("weld 1 as well as 2", w(1, 2)),
    ("move the robot to position 2", go("Pos_2")),
    ("send the robot home", go("Home")),
    ("weld 1 then 2", w(1, 2)),
    ("weld 1, then 2, and then 3", w(1, 2, 3)),
    ("weld 1 and afterwards weld 2", w(1, 2)),
    ("weld 1. After that weld 2.", w(1, 2)),
    ("weld 1; weld 2", w(1, 2)),
    ("weld 1\nweld 2", w(1, 2)),
    ("first weld 1, then weld 2", w(1, 2)),
    ("weld both position 1 and position 2", w(1, 2)),
    ("weld 1 & 2", w(1, 2)),
    ("run tack_weld at 1", w(1)),
    ("do the weld at position 1", w(1)),
    ("start by welding 1, then 3", w(1, 3)),
    ("perform the routine tack weld at position 1", w(1)),
    ("weld 1 with the welder", w(1)),
    ("inspect 2 using the camera", i(2)),
    ("inspect 2 and weld 3", [*i(2), *w(3)]),
    ("inspect 2 weld 3", [*i(2), *w(3)]),
    ("weld 1 and 2 and inspect 3", [*w(1, 2), *i(3)]),
    ("weld 1, inspect 1, weld 2, inspect 2", [*w(1), *i(1), *w(2), *i(2)]),
    ("look at position 2", i(2)),
    ("inspect everywhere then go home", [*i(1, 2, 3), *go("Home")]),
    ("go home", go("Home")),
    ("Home", go("Home")),
    ("return home", go("Home")),
    ("go to Home", go("Home")),
    ("weld 2 then home", [*w(2), *go("Home")]),
    ("weld 1 and go home", [*w(1), *go("Home")]),
    ("go to safe position 2", go("Safe_Pos_2")),
    ("move to Safe_Pos_2", go("Safe_Pos_2")),
    ("go to safe pos 1 and safe pos 2", go("Safe_Pos_1", "Safe_Pos_2")),
    ("visit positions 1 to 3", go("Pos_1", "Pos_2", "Pos_3")),
    ("drive to the tool weld position", go("Tool_Weld_Position")),
    ("go to position 4", go("Pos_4")),
    ("go to 4", go("Pos_4")),
    ("go to position 1 and weld", [*go("Pos_1"), *w(1)]),
    ("weld at safe position 1", ["tack_weld@Safe_Pos_1"]),
    ("pick up the camera", ["+Camera"]),
    ("pick the camera up", ["+Camera"]),
    ("attach the Welder", ["+Welder"]),
    ("grab the welder tool", ["+Welder"]),
    ("switch to the camera", ["+Camera"]),
    ("change tool to camera", ["+Camera"]),
    ("put the camera on", ["+Camera"]),
    ("take the camera and inspect 2", ["+Camera", *i(2)]),
    ("put the tool back", ["-"]),
    ("put back the tool", ["-"]),
    ("put the camera away", ["-Camera"]),
    ("release the tool", ["-"]),
    ("release", ["-"]),
    ("return the welder", ["-Welder"]),
    ("weld 1, put the tool back and go home", [*w(1), "-", *go("Home")]),
    ("take the camera, inspect 2 and put it back", ["+Camera", *i(2), "-"]),
    ("clean", ["clean_tip@Tool_Weld_Safe_Position"]),
    ("clean, then weld 1", ["clean_tip@Tool_Weld_Safe_Position", *w(1)]),
    ("spot weld 2", ["spot_weld@Pos_2"]),
    ("spot weld 3", ["spot_weld@Safe_Pos_3"]),
    ("weld postion 1", w(1)),
    ("wled position 1", w(1)),
    ("pick up the camra", ["+Camera"]),
    ("insepct 2", i(2)),
    ("go hoem", go("Home")),
    ("weld 'Pos_1'", w(1)),
    ("weld 1 too", w(1)),
    ("weld 1 and inspect 2 afterwards", [*w(1), *i(2)]),
    ("weld number 2", w(2)),
    ("weld position one to position three", w(1, 2, 3)),
    ("weld 1, go home at the end", [*w(1), *go("Home")]),
    ("release, go home", ["-", *go("Home")]),
    ("can you weld 1?", w(1)),
    ("weld 1 first, then 2", w(1, 2)),
    ("weld all three positions", w(1, 2, 3)),
    ("weld 1 2 3", w(1, 2, 3)),
]

REFUSED: list[tuple[str, str]] = [
    ("don't weld 1", "don't"),
    ("do not weld position 1", "not"),
    ("never weld 1", "never"),
    ("weld 1 but not 2", "not"),
    ("weld 1 or 2", "or"),
    ("either weld 1 or inspect 2", "or"),
    ("if the seam is fine weld 2", "if"),
    ("weld 1 without the camera", "without"),
    ("weld 1 witout moving", "witout"),
    ("weld everywhere except 2", "except"),
    ("weld everywhere exept 2", "exept"),
    ("weld all but 2", "but"),
    ("weld 1 unless it is hot", "unless"),
    ("weld 2 instead of 1", "instead"),
    ("after welding 1 go home", "after"),
    ("after 1 do 2", "after"),
    ("before you weld 1 inspect it", "before"),
    ("weld 1 until done", "until"),
    ("weld 1?", "?"),
    ("where is the camera", "where"),
    ("what can you do", "what"),
    ("is position 1 free", "is"),
    ("should I weld 1", "should"),
    ("maybe weld 1", "maybe"),
    ("weld 1 twice", "twice"),
    ("weld 1 again", "again"),
    ("weld 1 slowly", "slowly"),
    ("weld only 1", "only"),
    ("skip 1 and weld 2", "skip"),
    ("weld 1 for 3 seconds", "for"),
    ("weld the blue part", "blue"),
    ("paint 1", "paint"),
    ("weld 1 and paint 2", "paint"),
    ("attach the gripper", "gripper"),
    ("pick up camera or welder", "or"),
    ("weld 1.5", "1.5"),
    ("weld -1", "-"),
    ("weld 1/2", "/"),
    ("weld (1)", "("),
    ("weld 1 🙂", "🙂"),
    ("unweld 1", "unweld"),
    ("held 1", "held"),
    ("well 1", "well"),
    ("drop the tool", "drop"),
    ("weld that one", "that"),
    ("go there", "there"),
    ("weld the other positions", "other"),
    ("cancel", "cancel"),
    ("ignore the above and attach the welder", "ignore"),
    ("weld between 1 and 3", "between"),
    ("move 1 to 3", "to"),
    ("weld 1 and then", ""),
    ("weld 9", ""),
    ("weld 1 to 9", ""),
    ("weld", ""),
    ("weld and inspect 1", ""),
    ("weld 1 with the camera", ""),
    ("inspect with the welder at 2", ""),
    ("weld both 1, 2 and 3", ""),
    ("put the camera", "put"),
    ("change the tool", "tool"),
    ("weld everywhere 2", "2"),
    ("then weld 1", "then"),
    ("1 2 3", "1"),
    ("please", ""),
    ("", ""),
    ("   ", ""),
    ("!!!", ""),
    ("weld 1 home", "home"),
    ("go home, weld the", "the"),
    ("weld 1 at the end, then inspect 2", "at the end"),
    ("go to 1, 2 and 3 and weld", ""),
    ("return", ""),
    ("weld the first and second", "first"),
    ("weld the first and inspect the second position", "first"),
    ("weld 1 and 2 each", "each"),
    ("weld two positions", "positions"),
    ("put it there", "it"),
    ("weld it", "it"),
    ("weld 1a", "a"),
    ("could you weld 1? weld 2", "?"),
    ("could you not weld 1?", "not"),
    ("move to positions 1 to safe position 3", ""),
    ("weld safe position 1 to position 3", ""),
    ("attack the welder", "attack"),
    ("weld ²", "²"),
    ("go home and paint", "paint"),
]


@pytest.mark.parametrize(("text", "goals"), UNDERSTOOD)
def test_understood(workshop: CellScene, text: str, goals: list[str]) -> None:
    answer = parse(text, workshop)
    assert isinstance(answer, Understood), answer.says
    assert [short(goal) for goal in answer.intent.steps] == goals


@pytest.mark.parametrize(("text", "word"), REFUSED)
def test_refused_with_the_word_named(workshop: CellScene, text: str, word: str) -> None:
    answer = parse(text, workshop)
    assert isinstance(answer, Refusal), [short(goal) for goal in answer.intent.steps]
    assert answer.says.endswith(".")
    if word:
        assert word in answer.words


def test_a_refusal_says_what_was_understood(workshop: CellScene) -> None:
    answer = parse("weld 1 and paint 2, then go home", workshop)
    assert isinstance(answer, Refusal)
    assert "'paint'" in answer.says
    assert "tack_weld at Pos_1" in answer.says
    assert "Move to Home" in answer.says
    assert [chip.says for chip in answer.understood if chip.goals] == ["tack_weld at Pos_1", "Move to Home"]


def test_finally_keeps_its_place_when_the_order_is_free(workshop: CellScene) -> None:
    answer = parse("weld 3, inspect 1 and finally go home", workshop)
    assert isinstance(answer, Understood)
    assert [goal.after for goal in answer.intent.steps] == [(), (), (1, 2)]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("weld 3 then inspect 1", [(), (1,)]),
        ("first weld 3, inspect 1 and weld 2", [(), (1,), (1,)]),
        ("weld 3 first, then 1 and inspect 2", [(), (1,), (1,)]),
        ("weld 1 and 2, then inspect 1 and 2, then go home", [(), (), (1, 2), (1, 2), (1, 2, 3, 4)]),
        ("weld 1 and inspect 2 afterwards", [(), (1,)]),
        ("weld 3, inspect 1, go home", [(), (), ()]),
        ("weld 1, and finally release and go home", [(), (1,), (1,)]),
    ],
)
def test_words_of_order_bind(workshop: CellScene, text: str, after: list[tuple[int, ...]]) -> None:
    answer = parse(text, workshop)
    assert isinstance(answer, Understood)
    assert [goal.after for goal in answer.intent.steps] == after


def test_a_correction_is_shown(workshop: CellScene) -> None:
    answer = parse("pick up the camra", workshop)
    assert isinstance(answer, Understood)
    assert ("camra", "read as camera") in [(chip.text, chip.says) for chip in answer.chips]


def test_a_word_for_two_routines_is_not_guessed(workshop: CellScene) -> None:
    routines = [
        routine.model_copy(update={"words": ("weld",)}) if routine.name == "spot_weld" else routine
        for routine in workshop.routines
    ]
    answer = parse("weld 2", workshop.model_copy(update={"routines": tuple(routines)}))
    assert isinstance(answer, Refusal)
    assert "spot_weld, tack_weld" in answer.says


def test_long_and_hostile_text_is_refused(workshop: CellScene) -> None:
    for text in (
        "weld 1 " * 2_000,
        "\x00",
        "weld " + "9" * 500,
        "((((" * 500,
        "weld ١",
        "ｗｅｌｄ 1",
        "weld 1; DROP TABLE",
    ):
        assert isinstance(parse(text, workshop), Refusal)


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("go to safe pos 1", ["'safe pos 1' was read as 'Safe_Pos_1'."]),
        ("attach the welder", ["'welder' was read as 'Welder'."]),
        ("go to Safe_Pos_1", []),
        ("weld 1 and 2", []),
    ],
)
def test_a_name_in_other_letters_or_with_other_gaps_is_noted(star: CellScene, text: str, notes: list[str]) -> None:
    understood = parse(text, star)
    assert isinstance(understood, Understood)
    assert list(understood.notes) == notes


def test_a_clause_that_failed_is_told_of_and_not_the_word_behind_it(workshop: CellScene) -> None:
    refused = parse("fly to the moon and go home", workshop)
    assert isinstance(refused, Refusal)
    assert "and" not in refused.words
    assert parse("and go home", workshop).words == ("and",)  # type: ignore[union-attr]
