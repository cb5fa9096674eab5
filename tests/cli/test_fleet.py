"""Fleets from the command line: shifts in virtual time, why things stand still, and a server killed in mid-shift."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

PATIENCE_S = 60
SHAPE = {
    "tasksCompleted",
    "tasksFailed",
    "simSeconds",
    "ticks",
    "robots",
    "worksites",
    "streams",
    "invariantViolations",
}
OFFLINE = [{"atS": 5, "robotId": "RB-01", "fault": "offline", "forS": 20}]


def test_a_shift_ends_with_the_pallet_dropped_and_the_robot_parked(cli: Any) -> None:
    told = cli("fleet", "simulate", "line_pick_drop", "--until", "idle", "-o", "json", "--events", "log.jsonl", code=0)
    result = told.document
    assert set(result) == SHAPE
    assert (result["tasksCompleted"], result["tasksFailed"], result["invariantViolations"]) == (1, 0, [])
    sites = {site["worksiteId"]: site["occupancy"] for site in result["worksites"]}
    assert (sites["PICK_01"], sites["DROP_01"]) == ("empty", "filled")
    events = [json.loads(line) for line in (cli.folder / "log.jsonl").read_text().splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {"seq", "ts", "kind", "scene", "correlationId", "about", "data"} == set(events[0])
    assert {"taskCreated", "taskUpdated", "worksiteUpdated", "robotUpdated"} <= {event["kind"] for event in events}
    assert not (cli.folder / ".beforehand").exists(), "simulating makes no home"


def test_the_same_scene_gives_the_same_bytes(cli: Any) -> None:
    cli.write("faults.yaml", OFFLINE)
    words = ("fleet", "simulate", "drive_in_lane", "--for", "200", "-o", "json", "--events")
    first, second = cli(*words, "a.jsonl", code=0), cli(*words, "b.jsonl", code=0, PYTHONHASHSEED="7")
    assert first.out == second.out
    assert (cli.folder / "a.jsonl").read_bytes() == (cli.folder / "b.jsonl").read_bytes()
    assert first.document["simSeconds"] == 200
    with_faults = cli(*words, "c.jsonl", "--faults", "faults.yaml", code=3)
    assert (cli.folder / "c.jsonl").read_bytes() != (cli.folder / "a.jsonl").read_bytes(), with_faults.err


def test_a_frozen_fleet_comes_to_rest_and_is_shown(cli: Any) -> None:
    cli.write("faults.json", json.dumps([{"atS": 10, "robotId": "RB-01", "fault": "status5"}]))
    frozen = cli("fleet", "simulate", "line_pick_drop", "--faults", "faults.json", "-o", "json", code=3)
    assert "It waits for a person" in frozen.err
    held = frozen.document
    assert held["tasksCompleted"] == 0
    assert held["robots"][0]["phase"] == "error"
    table = cli("fleet", "simulate", "line_pick_drop", code=0).out
    assert "1 task completed and 0 failed" in table
    assert "RB-01" in table


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("line_pick_dro",), "line_pick_drop"),
        (("weld_star",), "kind fleet"),
        (("line_pick_drop", "--until", "friday"), "idle"),
        (("line_pick_drop", "--until", "idle", "--for", "3"), "either"),
        (("line_pick_drop", "--for", "-1"), "--for"),
        (("line_pick_drop", "--for", "nan"), "--for"),
        (("line_pick_drop", "--for", "1e30"), "--for"),
        (("line_pick_drop", "--for", "soon"), "number"),
        (("line_pick_drop", "--faults", "none.yaml"), "no file"),
        (("line_pick_drop", "--events", "no/such/folder/log"), "cannot be written"),
        (("line_pick_drop", "--events", "-", "-o", "json"), "standard output"),
        (("broken.yaml",), "worksites[0]"),
    ],
)
def test_bad_usage_of_simulate_is_a_sentence(cli: Any, words: tuple[str, ...], said: str) -> None:
    cli.write("broken.yaml", {"kind": "fleet", "name": "x", "nodes": [{"id": "A", "x": 0, "y": 0}], "worksites": [{}]})
    refused = cli("fleet", "simulate", *words, code=2)
    assert said in refused.err
    assert refused.out == ""


def test_every_problem_of_a_fault_script_is_told(cli: Any) -> None:
    cli.write("faults.yaml", [{"atS": -1, "robotId": "RB-09", "fault": "explode"}, {"fault": "offline"}])
    refused = cli("fleet", "simulate", "line_pick_drop", "--faults", "faults.yaml", code=2).err
    for words in ("RB-09", "explode", "atS", "robotId"):
        assert words in refused


def follow(url: str, what: str = "events", **query: Any) -> Iterator[dict[str, Any]]:
    with httpx2.stream("GET", f"{url}/api/v1/{what}", params=query, timeout=PATIENCE_S, trust_env=False) as answer:
        for text in answer.iter_lines():
            if text.startswith("data:"):
                yield json.loads(text[5:])


def completed(url: str, count: int, after: int = 0) -> None:
    """Wait until so many more tasks are done."""
    for event in follow(url, kinds="taskUpdated", after=after):
        count -= event["data"]["status"] == "completed"
        if count <= 0:
            return


def pallets(url: str) -> int:
    """How many pallets the fleet believes there are, on worksites and on forks."""
    state = httpx2.get(f"{url}/api/v1/state", trust_env=False, timeout=PATIENCE_S).json()
    lying = [site.get("occupancyBefore", site["occupancy"]) for site in state["worksites"]]
    return lying.count("filled") + sum(robot["loadState"] == "loaded" for robot in state["robots"])


def test_killed_in_mid_shift_no_task_is_lost_and_none_is_done_twice(cli: Any) -> None:
    url = cli.up("--scene", "cross_dock", "--speed", "40")
    before = pallets(url)
    completed(url, 4)
    for _ in range(2):
        os.kill(cli._started[-1].pid, signal.SIGKILL)
        cli._started[-1].communicate(timeout=PATIENCE_S)
        begun = len(cli.events())
        url = cli.up("--speed", "40")
        completed(url, 4, after=begun)
    assert pallets(url) == before
    cli._started[-1].terminate()
    cli._started[-1].communicate(timeout=PATIENCE_S)
    events = cli.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    created = Counter(event["data"]["taskId"] for event in events if event["kind"] == "taskCreated")
    assert set(created.values()) == {1}
    updates = [event["data"] for event in events if event["kind"] == "taskUpdated"]
    ended = Counter(data["taskId"] for data in updates if data["status"] in ("completed", "failed", "canceled"))
    assert set(ended.values()) == {1}, "a task ends once"
    numbers = sorted(int(task.rpartition("-t")[2]) for task in created)
    assert numbers == list(range(1, len(numbers) + 1)), "no number is lost or given twice"
    moved = Counter(
        (event["kind"], event["data"]["taskId"])
        for event in events
        if event["kind"] in ("palletPicked", "palletDropped")
    )
    assert set(moved.values()) == {1}, "no pallet is picked or dropped twice for a task"
    last = {data["taskId"]: data["status"] for data in updates}
    assert all(last.get(task, "created") in ("completed", "active", "created") for task in created)


def test_why_is_answered_by_the_server_and_from_the_log(cli: Any) -> None:
    assert "no log" in cli("fleet", "why", code=2).err
    url = cli.up("--scene", "line_pick_drop", "--speed", "100")
    completed(url, 1)
    for reasons in (
        cli("fleet", "why", "RB-01", "-o", "json", code=0).document,
        cli("fleet", "why", "stream_pick_drop", "-o", "json", code=0).document,
        cli("fleet", "why", "line_pick_drop-t1", "-o", "json", code=0).document,
    ):
        assert reasons
        assert {"code", "about", "says"} <= reasons[0].keys()
    assert "RB-01" in cli("fleet", "why", "RB-77", code=2).err
    httpx2.post(f"{url}/api/v1/fleet/line_pick_drop/hold", trust_env=False, timeout=PATIENCE_S).raise_for_status()
    assert "A person holds the fleet" in cli("fleet", "why", code=0).out
    cli._started[-1].terminate()
    cli._started[-1].communicate(timeout=PATIENCE_S)
    count = len(cli.events())
    left = cli("fleet", "why", "-o", "json", code=0)
    assert "fleet.held" in {reason["code"] for reason in left.document}
    assert "log" in left.err
    assert "RB-01" in cli("fleet", "why", "RB-77", code=2).err
    assert len(cli.events()) == count, "looking writes nothing"


def test_a_home_s_own_scene_is_simulated_by_name(cli: Any) -> None:
    document = cli("scene", "show", "line_pick_drop", "-o", "json").document
    document["name"] = "mine"
    cli.write("mine.yaml", document)
    cli.up("--scene", "mine.yaml", "--speed", "100")
    assert cli("fleet", "simulate", "mine", "-o", "json", code=0).document["tasksCompleted"] == 1


def test_a_transport_without_a_server_moves_its_own_pallet_only(cli: Any) -> None:
    made = cli("plan", "move the pallet from PICK_01 to DROP_01", "--scene", "line_pick_drop", "-o", "json", code=0)
    cli.write("plan.json", made.out)
    run = cli("run", "plan.json", "-o", "json", code=0, BEFOREHAND_SPEED="100").document
    assert run["status"] == "completed"
    tasks = [event["data"] for event in cli.events() if event["kind"] == "taskCreated"]
    assert len(tasks) == 1
    assert "streamId" not in tasks[0], "no stream gave out work meanwhile"
    again = cli("run", "plan.json", code=1, BEFOREHAND_SPEED="100")
    assert "PICK_01 is empty" in again.err
    url = cli.up("--speed", "100")
    stream = httpx2.get(f"{url}/api/v1/streams/stream_pick_drop", trust_env=False, timeout=PATIENCE_S).json()
    assert stream["enabled"] is True
