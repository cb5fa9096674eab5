"""`plan`, `check` and `preview` for scenes: the spec's examples, where planning starts, and how it is refused."""

import json
import re
from typing import Any

import pytest

WELD_BOTH = {
    "goal": "sequence",
    "steps": [
        {"action": "routine", "routine": "tack_weld", "position": "Pos_1"},
        {"action": "routine", "routine": "tack_weld", "position": "Pos_2"},
    ],
}


def move(number: int, target: str) -> dict[str, Any]:
    return {"id": number, "name": f"Move to {target}", "action": "move", "target": target}


def attach(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "name": "Attach Welder",
        "action": "routine",
        "target": "tool_attach",
        "position": "Tool_Weld_Position",
        "tool": "Welder",
        "stabilize": 1.5,
        "verify": "Welder",
    }


def weld(number: int, position: str) -> dict[str, Any]:
    return {
        "id": number,
        "name": f"Tack Weld at {position}",
        "action": "routine",
        "target": "tack_weld",
        "position": position,
        "stabilize": 1.5,
        "verify": "weld_quality_check",
    }


CORRIDOR = [
    move(1, "Safe_Pos_1"),
    move(2, "Tool_Weld_Safe_Position"),
    move(3, "Tool_Weld_Position"),
    attach(4),
    move(5, "Tool_Weld_Safe_Position"),
    move(6, "Safe_Pos_1"),
    move(7, "Pos_1"),
    weld(8, "Pos_1"),
    move(9, "Safe_Pos_1"),
    move(10, "Safe_Pos_2"),
    move(11, "Pos_2"),
    weld(12, "Pos_2"),
]
STAR = [
    move(1, "Tool_Weld_Safe_Position"),
    move(2, "Tool_Weld_Position"),
    attach(3),
    move(4, "Tool_Weld_Safe_Position"),
    move(5, "Safe_Pos_1"),
    move(6, "Pos_1"),
    weld(7, "Pos_1"),
    move(8, "Safe_Pos_1"),
    move(9, "Home"),
    move(10, "Safe_Pos_2"),
    move(11, "Pos_2"),
    weld(12, "Pos_2"),
]


@pytest.mark.parametrize(("scene", "expected"), [("weld_corridor", CORRIDOR), ("weld_star", STAR)])
def test_the_spec_s_examples_come_out_to_the_byte(cli: Any, scene: str, expected: list[dict[str, Any]]) -> None:
    wanted = json.dumps(expected, indent=2) + "\n"
    assert cli("plan", "weld position 1 and 2", "--scene", scene, "-o", "steps", code=0).out == wanted
    spoken = cli("plan", "--intent", "-", "--scene", scene, "-o", "steps", given=json.dumps(WELD_BOTH), code=0)
    assert spoken.out == wanted
    assert not (cli.folder / ".beforehand").exists(), "planning makes no home"


def test_a_plan_and_a_step_list_go_on_to_check_and_preview(cli: Any) -> None:
    plan = cli("plan", "weld 1, then go home", "--scene", "weld_star", "-o", "json", code=0)
    cli.write("plan.json", plan.out)
    assert {step["tool"] for step in plan.document["steps"]} == {"cell.move", "cell.routine"}
    assert [step["dependsOn"] for step in plan.document["steps"][:2]] == [[], ["step_1"]]
    cli.write("steps.json", cli("plan", "weld 1, then go home", "--scene", "weld_star", "-o", "steps", code=0).out)
    home = {"current_position": "Home", "current_tool": "Welder"}
    for words in (("plan.json",), ("steps.json", "--scene", "weld_star")):
        checked = cli("check", *words, "-o", "json", code=0).document
        assert checked == {"valid": True, "steps": 9, "problems": [], "end": home}
        seen = cli("preview", *words, "-o", "json", code=0).document
        assert (seen["moves"], seen["toolChanges"], seen["end"], seen["problems"]) == (7, 1, home, [])
        assert seen["durationS"] == pytest.approx(seen["timeline"][-1]["endS"])
        assert [row["stepId"] for row in seen["timeline"]] == [f"step_{n}" for n in range(1, 10)]
    assert "ends at Home with Welder" in cli("check", "plan.json", code=0).out
    assert not (cli.folder / ".beforehand").exists()


def test_check_finds_every_problem_of_a_step_list(cli: Any) -> None:
    wrong = [move(1, "Pos_1"), {**weld(3, "Pos_1"), "verify": "nothing", "colour": "red"}, move(3, "Nowhere")]
    cli.write("steps.json", json.dumps(wrong))
    found = cli("check", "steps.json", "--scene", "weld_star", "-o", "json", code=1)
    said = " ".join(problem["says"] for problem in found.document["problems"])
    for words in ("no allowed move leads from Home to Pos_1", "should be 2", "colour", "needs Welder", "Nowhere"):
        assert words in said
    assert "Nowhere" in found.document["problems"][1]["says"], "unknown names come first"
    assert "--scene" in cli("check", "steps.json", code=2).err


def test_a_preview_shows_what_would_go_wrong(cli: Any) -> None:
    cli.write("steps.json", json.dumps([move(1, "Pos_1")]))
    seen = cli("preview", "steps.json", "--scene", "weld_star", "-o", "json", code=1)
    assert "no allowed move leads from Home to Pos_1" in seen.document["problems"][0]["says"]
    assert seen.document["moves"] == 1
    cli("check", "steps.json", "--scene", "weld_star", "--position", "Safe_Pos_1", code=0)


def test_planning_starts_from_flags_then_the_log_then_the_file(cli: Any) -> None:
    first = ("plan", "go to Pos_2", "--scene", "weld_star", "-o", "steps")
    assert [step["target"] for step in cli(*first).document] == ["Safe_Pos_2", "Pos_2"]
    cli("cell", "set", "weld_star", "--position", "Pos_1", code=0)
    said = len(cli.events())
    assert [step["target"] for step in cli(*first).document][:2] == ["Safe_Pos_1", "Home"]
    assert [step["target"] for step in cli(*first, "--position", "Safe_Pos_2").document] == ["Pos_2"]
    copy = cli.write("mine.yaml", cli("scene", "show", "weld_star", "-o", "json").document)
    of_the_file = cli("plan", "go to Pos_2", "--scene", copy, "-o", "steps").document
    assert of_the_file[0]["target"] == "Safe_Pos_1", "a file of the same name is the same cell"
    assert len(cli.events()) == said, "planning writes nothing to the log"


def test_a_robot_nobody_placed_is_asked_for_once(cli: Any, tmp_path: Any) -> None:
    scene = tmp_path / "nowhere.json"
    scene.write_text(json.dumps({"kind": "cell", "name": "nowhere", "positions": ["A", "B"], "moves": [["A", "B"]]}))
    told = cli("plan", "go to B", "--scene", str(scene), code=2).err
    assert told.strip() == (
        "The scene does not say where the robot stands. "
        "Give --position for this once, or set it: `beforehand cell set nowhere --position P --tool T`."
    )
    assert (
        cli("plan", "go to B", "--scene", str(scene), "--position", "A", "-o", "steps", code=0).document[0]["id"] == 1
    )


def test_what_is_so_already_is_a_note_and_no_step(cli: Any) -> None:
    intent = {"steps": [{"action": "attach_tool", "tool": "Welder"}]}
    words = ("--scene", "weld_star", "--position", "Tool_Weld_Position", "--tool", "Welder")
    made = cli("plan", "--intent", "-", *words, "-o", "json", given=json.dumps(intent), code=0).document
    assert made["steps"] == []
    assert "Welder" in made["notes"][0]
    assert cli("plan", "--intent", "-", *words, "-o", "steps", given=json.dumps(intent), code=0).document == []


def test_what_was_corrected_is_a_note_on_the_plan(cli: Any) -> None:
    made = cli("plan", "weld postion 1, then pick up the camra", "--scene", "weld_star", "-o", "json", code=0).document
    assert made["notes"] == ["'postion' was read as 'position'.", "'camra' was read as 'camera'."]
    assert "'camra' was read as 'camera'." in cli("plan", "take the camra", "--scene", "weld_star", code=0).out
    assert "notes" not in cli("plan", "weld position 1", "--scene", "weld_star", "-o", "json", code=0).document


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("actually weld 1", 3, "'actually'"),
        ("weld 1, actually 2", 3, "'actually'"),
        ("Finally go home, weld 1 and 2", 3, "'Finally' does not fit the order"),
        ("go to 3 through 2", 3, "'through'"),
        ("go to the safe position", 3, "Safe_Pos_1, Safe_Pos_2"),
        ("go to injection 1", 2, "Unknown position 'injection 1'"),
        ("weld station 1", 2, "Unknown position 'station 1'"),
    ],
)
def test_text_that_is_not_guessed_and_names_nobody_knows(cli: Any, text: str, code: int, says: str) -> None:
    assert says in cli("plan", text, "--scene", "weld_star", code=code).err


def test_free_order_says_what_it_saved(cli: Any) -> None:
    goals = [
        {"action": "move", "position": "Pos_2"},
        {"action": "routine", "routine": "tack_weld", "position": "Pos_1"},
        {"action": "routine", "routine": "tack_weld", "position": "Pos_2"},
    ]
    intent = json.dumps({"steps": goals})
    given = cli("plan", "--intent", "-", "--scene", "weld_star", "-o", "json", given=intent, code=0).document
    free = cli("plan", "--intent", "-", "--scene", "weld_star", "--order", "free", "-o", "json", given=intent).document
    assert len(free["steps"]) < len(given["steps"])
    assert free["comparison"]["stepsSaved"] == len(given["steps"]) - len(free["steps"])
    assert free["comparison"]["given"] == [step["description"] for step in given["steps"]]
    table = cli("plan", "--intent", "-", "--scene", "weld_star", "--order", "free", given=intent, code=0).out
    assert "fewer than as given" in table


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("go to Pos_4", 2, "No path of allowed moves leads from Home to Pos_4"),
        ("weld Pos_9", 2, "Pos_4"),
        ("attach the Laser", 2, "Camera, Welder"),
        ("polish Pos_1", 2, "tack_weld"),
        ("go to Nowhere", 2, "Unknown position 'Nowhere'"),
        ("don't weld 1", 3, "don't"),
        ("weld 1 or 2", 3, "Understood: tack_weld at Pos_1"),
        ("if it rains weld 1", 3, "rains"),
        ("make me a coffee", 3, "coffee"),
        ("", 3, "nothing to do"),
    ],
)
def test_what_cannot_be_planned_is_told_apart_from_what_is_not_understood(
    cli: Any, text: str, code: int, said: str
) -> None:
    refused = cli("plan", text, "--scene", "weld_star", "-o", "json", code=code)
    assert refused.out == ""
    assert said in refused.err


def test_every_problem_of_an_intent_at_once(cli: Any) -> None:
    goals = [
        {"action": "routine", "routine": "tack_weld", "position": "Pos_4"},
        {"action": "attach_tool", "tool": "Laser"},
        {"action": "move", "position": "Nowhere"},
    ]
    refused = cli("plan", "--intent", "-", "--scene", "weld_star", given=json.dumps({"steps": goals}), code=2)
    lines = refused.err.splitlines()
    assert re.match(r"There are \d problems:", lines[0])
    assert "Laser" in lines[1] + lines[2]
    assert "Nowhere" in lines[1] + lines[2]
    assert "not supported at Pos_4" in refused.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("plan", "weld 1"), "--scene"),
        (("plan", "--scene", "weld_star"), "--intent"),
        (("plan", "weld 1", "--intent", "-", "--scene", "weld_star"), "either in words"),
        (("plan", "weld 1", "--scene", "weld_sta"), "weld_star"),
        (("plan", "weld 1", "--scene", "nowhere.yaml"), "no file"),
        (("plan", "weld 1", "--scene", "weld_star", "--position", "Hom"), "Home"),
        (("plan", "weld 1", "--scene", "weld_star", "--tool", "Hammer"), "Camera, Welder"),
        (("plan", "weld 1", "--scene", "weld_star", "--order", "best"), "given"),
        (("plan", "weld 1", "--scene", "weld_star", "-o", "yaml"), "steps"),
    ],
)
def test_bad_usage_of_plan_is_a_sentence(cli: Any, words: tuple[str, ...], said: str) -> None:
    assert said in cli(*words, given="{}", code=2).err


def test_transport_on_request_is_a_plan(cli: Any) -> None:
    text = "move the pallet from PICK_01 to DROP_01, then send RB-01 to park"
    made = cli("plan", text, "--scene", "line_pick_drop", "-o", "json", code=0).document
    assert [step["tool"] for step in made["steps"]] == ["fleet.transport", "fleet.park"]
    assert made["steps"][0]["args"] == {"scene": "line_pick_drop", "from": "PICK_01", "to": "DROP_01"}
    cli.write("plan.json", json.dumps(made))
    assert cli("check", "plan.json", "-o", "json", code=0).document["valid"] is True
    unknown = cli("plan", "move the pallet from PICK_07 to DROP_01", "--scene", "line_pick_drop", code=2)
    assert "PICK_01" in unknown.err
    assert cli("plan", "move a pallet somewhere", "--scene", "line_pick_drop", code=3).err


def test_a_model_that_nobody_would_ask_is_refused(cli: Any) -> None:
    told = cli("plan", "move a pallet", "--scene", "line_pick_drop", "--model", "configured", code=2).err
    assert "asks no model" in told
    assert "beforehand draft" in told


def test_a_state_to_start_from_is_refused_where_it_would_do_nothing(cli: Any) -> None:
    told = cli("plan", "sit on bed1", "--scene", "apartment", "--position", "Home", code=2).err
    assert "begin at its present state, so position would do nothing" in told
