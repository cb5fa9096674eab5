"""The example craft from the command line: a craft in a package of its own is used like a built-in one."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 60
WORDS = "water bed 3 for 0.2 seconds, then bed 1 for 0.1 s"


@pytest.fixture
def scene(cli: Any, repository: Path) -> str:
    text = (repository / "examples" / "craft" / "glasshouse.yaml").read_text(encoding="utf-8")
    return str(cli.write("glasshouse.yaml", text))


def planned(cli: Any, scene: str, words: str) -> str:
    return str(cli.write("plan.json", cli("plan", words, "--scene", scene, "-o", "json", code=0).out))


def doses(cli: Any) -> dict[str, Any]:
    """What the valves remember, by the key of the call."""
    file = cli.folder / ".beforehand" / "greenhouses" / "glasshouse.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))["doses"]) if file.exists() else {}


def test_its_scene_is_checked_with_every_problem_in_its_place(cli: Any, scene: str) -> None:
    assert cli("scene", "check", scene, code=0).out == "The scene glasshouse is valid.\n"
    wrong = {
        "kind": "greenhouse",
        "name": "w",
        "tankL": -3,
        "beds": [{"number": "one"}, {"number": 2, "colour": "red"}],
    }
    told = cli("scene", "check", cli.write("wrong.yaml", wrong), "-o", "json", code=1).document
    assert {problem["path"] for problem in told["problems"]} == {"tankL", "beds[0].number", "beds[1].colour"}
    twice = {"kind": "greenhouse", "name": "w", "tankL": 3, "beds": [{"number": 1}, {"number": 1}]}
    assert "beds[1].number: Bed 1 is there already." in cli("scene", "check", cli.write("t.yaml", twice), code=1).err


def test_words_become_a_plan_that_is_checked_previewed_and_run(cli: Any, scene: str) -> None:
    plan = planned(cli, scene, WORDS)
    steps = json.loads((cli.folder / plan).read_text())["steps"]
    assert [(step["tool"], step["args"]["bed"]) for step in steps] == [("greenhouse.water", 3), ("greenhouse.water", 1)]
    assert "valid: 2 steps" in cli("check", plan, "--scene", scene, code=0).out
    shown = cli("preview", plan, "--scene", scene, "-o", "json", code=0).document
    assert shown["durationS"] == pytest.approx(0.3)
    assert not (cli.folder / ".beforehand").exists(), "Looking makes no home."
    run = cli("run", plan, "--scene", scene, "-o", "json", code=0).document
    assert [step["result"]["value"] for step in run["steps"]] == [{"bed": 3, "litres": 0.1}, {"bed": 1, "litres": 0.05}]


def test_its_command_tells_the_state(cli: Any, scene: str) -> None:
    assert cli("greenhouse", "state", scene, "-o", "json", code=0).document["tankL"] == 40
    cli("run", planned(cli, scene, WORDS), "--scene", scene, code=0)
    state = cli("greenhouse", "state", "glasshouse", "-o", "json", code=0).document
    assert state["tankL"] == pytest.approx(39.85)
    assert [bed["wateredL"] for bed in state["beds"]] == [0.05, 0, 0.1]
    assert "The tank of glasshouse holds 39.85 l." in cli("greenhouse", "state", "glasshouse", code=0).out
    assert "nowhere" in cli("greenhouse", "state", "nowhere", code=2).err


@pytest.mark.parametrize(
    "words", ["water bed 3 for 10 seconds and sing", "water everything", "bed 3 for ten seconds", ""]
)
def test_what_it_does_not_understand_it_refuses(cli: Any, scene: str, words: str) -> None:
    refused = cli("plan", words, "--scene", scene)
    assert refused.code != 0
    assert "not understood" in refused.err
    assert "water bed 3 for 10 seconds, then bed 1" in refused.err


def test_names_that_do_not_exist_are_told_with_those_that_do(cli: Any, scene: str) -> None:
    refused = cli("plan", "water bed 9 for 1 s", "--scene", scene)
    assert refused.code != 0
    assert "steps[0].args.bed: water_1: Unknown bed 9. Known beds: 1, 2, 3." in refused.err
    step = {"id": "a", "tool": "greenhouse.water", "args": {"scene": "orangery", "bed": 1, "seconds": 1}}
    told = cli("check", cli.plan(step), "--scene", scene, code=1).err
    assert "Unknown greenhouse 'orangery'. Known greenhouses: glasshouse." in told


def test_its_question_is_answered_where_no_server_runs(cli: Any, scene: str) -> None:
    thirsty = (cli.folder / scene).read_text().replace("lowL: 10", "lowL: 39.9")
    cli.write(scene, thirsty)
    cli("run", planned(cli, scene, WORDS), "--scene", scene, code=0)
    (asked,) = cli("inbox", "list", "-o", "json", code=0).document
    assert (asked["kind"], asked["owner"], asked["verbs"]) == (
        "tankLow",
        "greenhouse:glasshouse",
        ["refilled", "leave"],
    )
    cli("inbox", "answer", asked["id"], "refilled", code=0)
    assert cli("greenhouse", "state", "glasshouse", "-o", "json", code=0).document["tankL"] == 40
    assert cli("inbox", "list", "-o", "json", code=0).document == []


def test_killed_in_the_middle_a_bed_is_watered_once(cli: Any, scene: str) -> None:
    plan = planned(cli, scene, "water bed 3 for 2 seconds, then bed 1 for 0.1 seconds")
    process = cli.start("run", plan, "--scene", scene)
    deadline = time.monotonic() + PATIENCE_S
    while not doses(cli):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    (run_id,) = {event["about"]["runId"] for event in cli.events() if event["kind"] == "runStarted"}
    run = cli("run", "--resume", run_id, "-o", "json", code=0).document
    assert run["status"] == "completed"
    assert [bed for bed, _, _ in doses(cli).values()] == [3, 1]
    watered = [event["data"]["bed"] for event in cli.events() if event["kind"] == "bedWatered"]
    assert watered == [3, 1]
    assert [event["data"]["kind"] for event in cli.events() if event["kind"] == "decisionOpened"] == ["review"]
