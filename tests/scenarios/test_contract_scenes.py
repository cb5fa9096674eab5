"""Scenes, sequences and fleets as a stranger meets them: the real command, a real server, plain HTTP.

Nothing is imported from Beforehand. Waiting is done on the event stream, with a bound.
"""

import http.client
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fork_server import Forked, run_forked

PATIENCE_S = 90
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
WELD_TWICE = [{"action": "routine", "routine": "tack_weld", "position": place} for place in ("Pos_1", "Pos_2")]

CELL = """
kind: cell
name: little
positions: [Home, {name: Safe, role: safe}, {name: A_Safe, role: safe}, {name: Work, role: work}, Stand, Camera_Stand]
moves: [[Home, Safe], [Home, A_Safe], [Safe, Work], [A_Safe, Work], [Safe, Stand],
        {from: Home, to: Camera_Stand, cost: 5}, {from: Safe, to: Camera_Stand, cost: 2}]
tools: [{name: Welder, stand: Stand}, {name: Camera, stand: Camera_Stand}, {name: Lost}]
routines:
  - name: weld
    required_tool: Welder
    supported_at: [{position: Work, stabilize: 0, verify: null, action_after: move_safe}]
  - {name: look, required_tool: none, supported_at: [{position: Work}, {position: Safe}]}
  - {name: scan, supported_at: [{position: Safe, action_after: shoot}]}
  - {name: shoot, required_tool: Camera, duration_s: 1, supported_at: [{position: Safe, stabilize: 0}]}
state: {current_position: Home, current_tool: none}
"""
FLEET = """
kind: fleet
name: floor
nodes: [{id: A, x: 0, y: 0}, {id: B, x: 10, y: 0}, {id: C, x: 300, y: 0}, {id: D, x: 600, y: 0}]
edges: [{from: A, to: B}, {from: B, to: C}, {from: C, to: D}]
worksites:
  - {worksiteId: P1, worksiteType: pickup, entryNodeId: B, occupancy: empty}
  - {worksiteId: D1, worksiteType: dropoff, entryNodeId: C, occupancy: empty}
  - {worksiteId: D2, worksiteType: dropoff, entryNodeId: D, occupancy: empty}
robots: [{robotId: RB-01, nodeId: A, loadState: empty}]
streams:
  - {streamId: s1, params: {pickGroup: [P1], dropGroup: [D1, D2], dropPolicy: {commitDistanceM: 150}}}
"""


def beforehand(*words: str, given: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run_forked(words, input=given, text=True, env=ENVIRONMENT, cwd=cwd, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("scenes")
    (made / "little.yaml").write_text(CELL)
    (made / "floor.yaml").write_text(FLEET)
    (made / "floor_too.yaml").write_text(FLEET.replace("name: floor", "name: floor_too").replace("RB-01", "RB-02"))
    return made


# -- cells from the command line --


def steps_of(folder: Path, goals: Any, *words: str, scene: str = "little.yaml") -> list[dict[str, Any]]:
    asked = ["plan", "--scene", scene, "--intent", "-", "-o", "steps", *words]
    done = beforehand(*asked, given=json.dumps({"goal": "sequence", "steps": goals}), cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_section_4_zero_is_kept_null_left_out_and_move_safe_is_a_step(folder: Path) -> None:
    steps = steps_of(folder, [{"action": "routine", "routine": "weld"}])
    assert [step["name"] for step in steps[-2:]] == ["Weld at Work", "Move to A_Safe"]
    assert steps[-2] == {
        "id": len(steps) - 1,
        "name": "Weld at Work",
        "action": "routine",
        "target": "weld",
        "position": "Work",
        "stabilize": 0,
        "action_after": "move_safe",
    }


def test_section_4_a_routine_after_a_routine_is_a_step_with_its_own_tool_change(folder: Path) -> None:
    steps = steps_of(folder, [{"action": "routine", "routine": "scan"}])
    assert [(step["id"], step["name"]) for step in steps] == [
        (1, "Move to Safe"),
        (2, "Scan at Safe"),
        (3, "Move to Camera_Stand"),
        (4, "Attach Camera"),
        (5, "Move to Safe"),
        (6, "Shoot at Safe"),
    ]
    assert [step.get("action_after") for step in steps] == [None, "shoot", None, None, None, None]
    assert steps[-1]["stabilize"] == 0
    (folder / "scan.json").write_text(json.dumps(steps))
    assert beforehand("check", "scan.json", "--scene", "little.yaml", cwd=folder).returncode == 0
    (folder / "short.json").write_text(json.dumps(steps[:-1]))
    short = beforehand("check", "short.json", "--scene", "little.yaml", cwd=folder)
    assert short.returncode == 1
    assert "Shoot at Safe follows step 2 (Scan at Safe)" in short.stdout + short.stderr


def test_section_4_an_action_after_that_goes_on_for_ever_is_a_problem_of_the_scene(folder: Path) -> None:
    scene = CELL.replace("stabilize: 0}]}", "stabilize: 0, action_after: scan}]}").replace("little", "endless")
    (folder / "endless.yaml").write_text(scene)
    done = beforehand("scene", "check", "endless.yaml", cwd=folder)
    assert done.returncode == 1
    assert "scan -> shoot -> scan" in done.stdout + done.stderr


def test_section_4_least_cost_then_fewest_moves_then_names(folder: Path) -> None:
    to_the_camera = steps_of(folder, [{"action": "attach_tool", "tool": "Camera"}])
    assert [step["target"] for step in to_the_camera] == ["Safe", "Camera_Stand", "tool_attach"]
    to_work = steps_of(folder, [{"action": "move", "position": "Work"}])
    assert [step["target"] for step in to_work] == ["A_Safe", "Work"]


def test_section_4_release_then_attach_whoever_asked(folder: Path) -> None:
    goals = [{"action": "routine", "routine": "tool_attach", "tool": "Welder"}]
    steps = steps_of(folder, goals, "--position", "Camera_Stand", "--tool", "Camera")
    assert [step["name"] for step in steps] == ["Release Camera", "Move to Safe", "Move to Stand", "Attach Welder"]


def test_section_4_the_position_alone_is_enough_where_the_scene_says_no_state(folder: Path) -> None:
    (folder / "stateless.yaml").write_text("kind: cell\nname: stateless\npositions: [A, B]\nmoves: [[A, B]]\n")
    steps = steps_of(folder, [{"action": "move", "position": "B"}], "--position", "A", scene="stateless.yaml")
    assert [step["target"] for step in steps] == ["B"]


def test_section_4_every_error_of_an_intent_at_once(folder: Path) -> None:
    goals = [
        {"action": "routine", "routine": "weld", "position": "Safe"},
        {"action": "attach_tool", "tool": "Lost"},
        {"action": "move", "position": "Mars"},
        {"action": "routine", "routine": "look"},
    ]
    done = beforehand("plan", "--scene", "little.yaml", "--intent", "-", given=json.dumps({"steps": goals}), cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    told = done.stderr.splitlines()
    assert "Unknown position 'Mars'" in told[1]
    for words in ("weld is not supported at Safe", "Lost has no stand", "several positions: Safe, Work"):
        assert words in done.stderr


@pytest.mark.parametrize("scene", ["weld_star", "weld_corridor"])
def test_section_4_the_specs_plan_is_valid_with_and_without_its_names(folder: Path, scene: str) -> None:
    steps = steps_of(folder, WELD_TWICE, scene=scene)
    assert len(steps) == 12
    nameless = [{key: value for key, value in step.items() if key != "name"} for step in steps]
    for given in (steps, nameless):
        done = beforehand("check", "-", "--scene", scene, given=json.dumps(given), cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "ends at Pos_2 with Welder" in done.stdout


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Could you please weld positions 1..3, and afterwards go home?", 0),
        ("go to safe positions 1 and 3", 0),
        ("weld position 1 or 2", 3),
        ("do not weld position 1", 3),
        ("weld position 1 if it is free", 3),
        ("weld position 9", 2),
        ("attach the gripper", 2),
        ("go to position 4", 2),
    ],
)
def test_section_4_text_is_understood_or_refused(folder: Path, text: str, code: int) -> None:
    done = beforehand("plan", text, "--scene", "weld_star", "-o", "steps", cwd=folder)
    assert done.returncode == code, done.stderr
    assert bool(done.stdout) == (code == 0)


def test_section_3_every_fault_of_a_scene_at_once_with_its_path(folder: Path) -> None:
    scene = (
        CELL.replace("[Home, Safe]", "[Home, Mars]").replace("cost: 5", "cost: .inf").replace("role: work", "role: x")
    )
    done = beforehand("scene", "check", "-", given=scene + "colour: red\n", cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    for place in ("colour", "positions[3].role", "moves[0].to", "moves[5].cost"):
        assert f"\n{place}: " in done.stderr


# -- fleets from the command line --


def test_section_6_the_reference_scene_gives_the_same_bytes_twice(folder: Path) -> None:
    told = []
    for number in (1, 2):
        log = folder / f"log{number}.jsonl"
        done = beforehand("fleet", "simulate", "line_pick_drop", "--events", str(log), "-o", "json", cwd=folder)
        assert done.returncode == 0, done.stderr
        told.append((done.stdout, log.read_bytes()))
    assert told[0] == told[1]
    result = json.loads(told[0][0])
    assert (result["tasksCompleted"], result["tasksFailed"], result["invariantViolations"]) == (1, 0, [])
    events = [json.loads(line) for line in told[0][1].splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {"taskCreated", "taskUpdated", "worksiteUpdated", "robotUpdated"} <= {event["kind"] for event in events}


# -- over HTTP --


class Stranger:
    def __init__(self, address: str) -> None:
        self.address = address

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        line = http.client.HTTPConnection(self.address, timeout=PATIENCE_S)
        sent = {name.replace("_", "-"): value for name, value in headers.items()} | {"Content-Type": "application/json"}
        line.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), sent)
        answer = line.getresponse()
        text = answer.read()
        line.close()
        return answer.status, json.loads(text)

    def events(self, query: str) -> Iterator[dict[str, Any]]:
        line = http.client.HTTPConnection(self.address, timeout=PATIENCE_S)
        line.request("GET", f"/api/v1/events{query}")
        answer, deadline = line.getresponse(), time.monotonic() + PATIENCE_S
        try:
            while read := answer.readline().decode():
                assert time.monotonic() < deadline, "the event did not come"
                if read.startswith("data: "):
                    yield json.loads(read[6:])
            raise AssertionError("the stream ended")
        finally:
            line.close()

    def task(self, after: int, **wanted: Any) -> dict[str, Any]:
        """What a task of the floor is told to be, once it is so."""
        for event in self.events(f"?after={after}&kinds=taskCreated,taskUpdated&scene=floor"):
            data: dict[str, Any] = event["data"]
            if all(data.get(key) == value for key, value in wanted.items()):
                return data
        raise AssertionError


@pytest.fixture(scope="module")
def stranger(folder: Path) -> Iterator[Stranger]:
    scenes = [word for name in ("little", "floor", "floor_too") for word in ("--scene", str(folder / f"{name}.yaml"))]
    words = ["up", "--port", "0", "--no-open", "--speed", "50", "--home", str(folder / "home"), *scenes]
    with Forked(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT) as up:
        assert up.stdout is not None
        found = next(found for line in up.stdout if (found := re.search(r"http://([\d.:]+\d)", line.decode())))
        yield Stranger(found.group(1))
        up.terminate()
        up.stdout.read()


def test_section_4_problems_say_who_can_mend_them(stranger: Stranger) -> None:
    goals = [{"action": "move", "position": "Mars"}, {"action": "attach_tool", "tool": "Lost"}]
    status, told = stranger.call("POST", "/plans", {"scene": "little", "intent": {"steps": goals}})
    assert status == 422
    assert [(problem["code"], problem["fixable_by"]) for problem in told["problems"]] == [
        ("cell.unknown_position", "user"),
        ("cell.no_stand", "graph"),
    ]


def test_section_5_a_skipped_weld_leaves_the_robot_its_turn(stranger: Stranger) -> None:
    goals = [{"action": "routine", "routine": "look", "position": place} for place in ("Work", "Safe")]
    _, plan = stranger.call("POST", "/plans", {"scene": "little", "intent": {"steps": goals}})
    looks = [step["id"] for step in plan["steps"] if step["tool"] == "cell.routine"]
    edit = {"edits": [{"op": "skip", "id": looks[0]}]}
    status, edited = stranger.call("PATCH", f"/plans/{plan['id']}", edit, If_Match="1")
    assert (status, edited["version"]) == (200, 2)
    assert edited["estimatedDuration"] <= plan["estimatedDuration"]
    _, run = stranger.call("POST", f"/plans/{plan['id']}/runs", {"version": 2})
    for event in stranger.events(f"?run={run['runId']}&kinds=runUpdated,runFinished,decisionOpened"):
        assert event["kind"] != "decisionOpened", event
        if event["kind"] == "runFinished":
            break
    assert event["data"]["status"] == "completed"
    assert stranger.call("GET", "/state?scene=little")[1]["cells"][0]["current_position"] == "Safe"


def test_section_2_an_id_in_several_scenes_needs_the_scene(stranger: Stranger) -> None:
    status, told = stranger.call("PATCH", "/worksites/D1", {"occupancy": "empty"})
    assert (status, told["code"]) == (409, "fleet.ambiguous")
    assert "floor, floor_too" in told["detail"]


def test_section_6_a_reserved_place_is_corrected_and_the_task_retargets_then_is_held(stranger: Stranger) -> None:
    _, before = stranger.call("GET", "/state")
    assert stranger.call("PATCH", "/worksites/P1?scene=floor", {"occupancy": "filled"})[0] == 200
    task = stranger.task(before["seq"], status="active", step="drop")
    assert task["targetId"] == "D1"
    _, site = stranger.call("GET", "/worksites/D1?scene=floor")
    assert (site["occupancy"], site["occupancyBefore"], site["reservedBy"]) == ("reserved", "empty", task["taskId"])
    stranger.call("PATCH", "/worksites/D1?scene=floor", {"occupancy": "filled"})
    assert stranger.task(before["seq"], targetId="D2", committed=True)["taskId"] == task["taskId"]
    assert stranger.call("GET", "/worksites/D1?scene=floor")[1]["occupancy"] == "filled"
    stranger.call("PATCH", "/worksites/D2?scene=floor", {"occupancy": "filled"})
    held = stranger.task(before["seq"], status="held")
    (decision,) = [one for one in stranger.call("GET", "/inbox")[1] if one["about"].get("taskId") == held["taskId"]]
    assert {"resume", "abort"} <= set(decision["verbs"])
    stranger.call("PATCH", "/worksites/D2?scene=floor", {"occupancy": "empty"})
    assert stranger.call("POST", f"/inbox/{decision['id']}", {"verb": "resume"})[0] == 200
    assert stranger.call("POST", f"/inbox/{decision['id']}", {"verb": "resume"})[0] == 409
    assert stranger.task(before["seq"], status="completed")["targetId"] == "D2"
    assert stranger.call("GET", "/worksites/D2?scene=floor")[1]["occupancy"] == "filled"
