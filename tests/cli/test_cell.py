"""Cells from the command line: state, faults, and the whole way from words to a finished run, crashes included."""

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

FAST = {"BEFOREHAND_SPEED": "100"}
PATIENCE_S = 60


def planned(cli: Any, text: str, *words: str, scene: str = "weld_star") -> str:
    """A plan's file for what was asked."""
    made = cli("plan", text, "--scene", scene, "-o", "json", *words, code=0)
    return str(cli.write("plan.json", made.out))


def follow(url: str, what: str = "events", **query: Any) -> Iterator[dict[str, Any]]:
    """The server's log as it grows, or its live frames."""
    timeout = httpx2.Timeout(PATIENCE_S, read=PATIENCE_S)
    with httpx2.stream("GET", f"{url}/api/v1/{what}", params=query, timeout=timeout, trust_env=False) as answer:
        for text in answer.iter_lines():
            if text.startswith("data:"):
                yield json.loads(text[5:])


def started(event: dict[str, Any], step_id: str) -> bool:
    data = event["data"]
    return bool(event["kind"] == "stepUpdated" and data["stepId"] == step_id and data["status"] == "running")


def pairwise_back(items: list[Any]) -> list[tuple[Any, Any]]:
    """Each item with the one before it."""
    return list(zip(items, [None, *items], strict=False))


def kill(process: Any) -> None:
    """The plug is pulled: nothing is tidied up."""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)


def test_state_is_told_set_and_refused(cli: Any) -> None:
    began = {"scene": "weld_star", "current_position": "Home", "current_tool": "none"}
    assert cli("cell", "state", "weld_star", "-o", "json", code=0).document == began
    assert "at Home and holds no tool" in cli("cell", "state", "weld_star", code=0).out
    assert not (cli.folder / ".beforehand").exists()
    for words, said in (
        (("set", "weld_star", "--position", "Hom"), "Home"),
        (("set", "weld_star", "--tool", "Hammer"), "Camera, Welder"),
        (("set", "weld_star"), "--position"),
        (("state", "weld_sta"), "weld_star"),
        (("state", "cross_dock"), "cross_dock is a scene of kind fleet, not cell."),
        (("fault", "weld_star", "explode"), "tool_missing"),
        (("fault", "weld_star", "fail", "--target", "Pos_77"), "Pos_"),
    ):
        assert said in cli("cell", *words, code=2).err
    moved = cli("cell", "set", "weld_star", "--position", "Pos_1", "--tool", "Welder", "-o", "json", code=0).document
    assert (moved["current_position"], moved["current_tool"]) == ("Pos_1", "Welder")
    assert "at Pos_1 and holds Welder" in cli("cell", "state", "weld_star", code=0).out


def test_from_words_to_done_ends_where_the_preview_said(cli: Any) -> None:
    plan = planned(cli, "weld 1 and 2")
    end = cli("preview", plan, "-o", "json", code=0).document["end"]
    run = cli("run", plan, "-o", "json", code=0, **FAST).document
    assert [step["status"] for step in run["steps"]] == ["completed"] * 12
    now = cli("cell", "state", "weld_star", "-o", "json").document
    assert {key: now[key] for key in end} == end
    kinds = {event["correlationId"] for event in cli.events() if event["about"].get("planId")}
    assert len(kinds) == 1, "one correlation id from the plan to the last event"
    again = cli("run", plan, code=3, **FAST)
    assert "planned with the robot at Home holding no tool" in again.err
    assert "now the robot is at Pos_2 holding Welder" in again.err
    anew = planned(cli, "go home")
    assert cli("run", anew, code=0, **FAST)


def test_a_step_list_runs_and_one_that_leaves_the_graph_does_not(cli: Any) -> None:
    steps = cli("plan", "go to Pos_3", "--scene", "weld_corridor", "-o", "steps").document
    cli.write("steps.json", json.dumps(steps))
    assert (
        cli("run", "steps.json", "--scene", "weld_corridor", "-o", "json", code=0, **FAST).document["status"]
        == "completed"
    )
    refused = cli("run", "steps.json", "--scene", "weld_corridor", code=2, **FAST)
    assert "no allowed move leads from Pos_3" in refused.err
    assert [event["kind"] for event in cli.events()].count("runStarted") == 1


def test_a_failing_weld_check_asks_and_welding_again_goes_on(cli: Any) -> None:
    plan = planned(cli, "weld 1")
    cli("cell", "fault", "weld_star", "verify", "--target", "tack_weld", code=0, **FAST)
    waiting = cli("run", plan, "-o", "json", code=3, **FAST)
    run = waiting.document
    assert run["status"] == "waiting"
    [decision] = run["decisions"]
    assert decision["verbs"] == ["happened", "run-again", "abort"]
    assert "weld_quality_check was not passed at Pos_1" in json.dumps(decision["evidence"])
    assert "inbox answer" in waiting.err
    cli("inbox", "answer", decision["id"], "run-again", code=0, **FAST)
    done = cli("run", "--resume", run["runId"], "-o", "json", code=0, **FAST).document
    assert done["status"] == "completed"
    welds = [e for e in cli.events() if started(e, "step_7")]
    assert len(welds) == 2, "once and once more, because a person said so"


def test_a_missing_tool_is_a_decision_before_anything_is_attached(cli: Any) -> None:
    plan = planned(cli, "attach the welder")
    cli("cell", "fault", "weld_star", "tool_missing", code=0, **FAST)
    run = cli("run", plan, "-o", "json", code=3, **FAST).document
    assert "not in its stand" in json.dumps(run["decisions"])
    assert cli("cell", "state", "weld_star", "-o", "json").document["current_tool"] == "none"


def test_lost_power_leaves_the_position_unknown_until_a_person_says_it(cli: Any) -> None:
    plan = planned(cli, "go to Pos_1")
    cli("cell", "fault", "weld_star", "power", "--target", "Pos_1", code=0, **FAST)
    run = cli("run", plan, "-o", "json", code=3, **FAST).document
    assert "Power was lost" in json.dumps(run["decisions"])
    assert "robot's position is not known" in cli("cell", "state", "weld_star").out
    assert "beforehand cell set weld_star" in cli("plan", "go home", "--scene", "weld_star", code=2).err
    cli("inbox", "answer", run["decisions"][0]["id"], "abort", code=0, **FAST)
    cli("run", "--resume", run["runId"], code=1, **FAST)
    cli("cell", "set", "weld_star", "--position", "Safe_Pos_1", code=0, **FAST)
    assert cli("plan", "go home", "--scene", "weld_star", "-o", "steps", code=0).document[0]["target"] == "Home"


@pytest.mark.parametrize("speed", ["20"])
def test_killed_in_the_middle_of_a_move_nothing_is_done_twice(cli: Any, speed: str) -> None:
    plan = planned(cli, "weld 1 and 2")
    end = cli("preview", plan, "-o", "json").document["end"]
    url = cli.up("--scene", "weld_star", "--speed", speed)
    server = cli._started[-1]
    running = cli.start("run", plan, "-o", "json")
    run_id = ""
    for frame in follow(url, "telemetry"):
        if frame.get("stepId") == "step_5":  # the controller has begun it
            run_id = frame["runId"]
            break
    kill(server)
    running.communicate(timeout=PATIENCE_S)
    assert running.returncode != 0
    again = cli.up("--speed", speed)
    for event in follow(again, run=run_id, kinds="runFinished"):
        assert event["data"]["status"] == "completed"
        break
    events = cli.events()
    for number in range(1, 13):
        assert sum(started(event, f"step_{number}") for event in events) == 1, f"step_{number} was begun once"
    places = [event["data"]["current_position"] for event in events if event["kind"] == "cellStateChanged"]
    way = ["Tool_Weld_Position", "Tool_Weld_Safe_Position", "Safe_Pos_1", "Pos_1", "Safe_Pos_1", "Home", "Safe_Pos_2"]
    assert [place for place, before in pairwise_back(places) if place != before][-8:] == [*way, "Pos_2"]
    now = cli("cell", "state", "weld_star", "-o", "json").document
    assert {key: now[key] for key in end} == end
    with httpx2.Client(base_url=f"{again}/api/v1", trust_env=False) as http:
        assert http.get("/cells/weld_star").json()["current_position"] == "Pos_2"
        assert http.get("/inbox").json() == []


def test_the_server_that_leads_does_it_all(cli: Any) -> None:
    url = cli.up("--speed", "100")
    plan = planned(cli, "go to Pos_1")
    handed = cli("run", plan, "-o", "json", code=0)
    assert url in handed.err
    assert handed.document["status"] == "completed"
    cli("cell", "set", "weld_star", "--position", "Home", code=0)
    cli("cell", "fault", "weld_star", "fail", code=0)
    assert cli("run", plan, "-o", "json", code=3).document["status"] == "waiting"
    steps = cli("plan", "go to Pos_1", "--scene", "weld_corridor", "-o", "steps").document
    cli.write("steps.json", json.dumps(steps))
    assert (
        cli("run", "steps.json", "--scene", "weld_corridor", "-o", "json", code=0).document["scene"] == "weld_corridor"
    )
