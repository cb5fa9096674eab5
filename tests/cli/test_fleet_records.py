"""`beforehand tasks`, `robots`, `streams` and `worksites`: looked at and steered, with a server and without one."""

from typing import Any

import httpx2
import pytest

SCENES = ("--scene", "line_pick_drop", "--scene", "cross_dock")
HELD_UP = ("--speed", "0.2")
"""So slow that nothing arrives while a test looks, and not so slow that the robots count as silent."""


def stop(cli: Any) -> None:
    cli._started[-1].terminate()
    cli._started[-1].communicate(timeout=60)


def tasked(cli: Any) -> str:
    """The id of the one task of the line, once it is there."""
    while not (found := cli("tasks", "list", "--scene", "line_pick_drop", "-o", "json", code=0).document):
        pass
    return str(found[0]["taskId"])


def test_without_a_home_everything_says_so(cli: Any) -> None:
    for words in (("tasks",), ("robots", "why", "RB-01"), ("streams", "enable", "s"), ("worksites", "list")):
        assert "There is no log at" in cli(*words, code=2).err
    assert not (cli.folder / ".beforehand").exists()


def test_robots_are_listed_shown_explained_and_steered(cli: Any) -> None:
    url = cli.up(*SCENES, *HELD_UP)
    both = cli("robots", code=0).out
    assert both.splitlines()[0].split() == ["robot", "what", "it", "does", "at", "battery", "fork", "task", "scene"]
    line = ("--scene", "line_pick_drop")
    at_server = httpx2.get(f"{url}/api/v1/robots?scene=line_pick_drop", trust_env=False, timeout=60).json()
    assert [robot["robotId"] for robot in cli("robots", "list", *line, "-o", "json", code=0).document] == ["RB-01"]
    assert cli("robots", "show", "RB-01", *line, "-o", "json", code=0).document.keys() == at_server[0].keys()
    assert cli("robots", "hold", "RB-01", *line, code=0).out == "RB-01 is held by a person.\n"
    assert "A person holds RB-01" in cli("robots", "why", "RB-01", *line, code=0).out
    assert cli("robots", "release", "RB-01", *line, "-o", "json", code=0).document["held"] is False
    assert "is in several scenes: line_pick_drop, cross_dock" in cli("robots", "park", "RB-01", code=3).err
    assert "Known robots: RB-01." in cli("robots", "hold", "RB-1", *line, code=2).err
    assert "works on line_pick_drop-t1" in cli("robots", "set-load", "RB-01", "empty", *line, code=3).err
    assert "empty, loaded" in cli("robots", "set-load", "RB-01", "full", *line, code=2).err
    assert cli("robots", "out-of-service", "RB-01", *line, "-o", "json", code=0).document["outOfService"] is True


def test_options_before_the_command_of_a_group_count_for_it(cli: Any) -> None:
    cli.up(*SCENES, *HELD_UP)
    told = cli("robots", "--scene", "line_pick_drop", "-o", "json", "list", code=0).document
    assert [robot["scene"] for robot in told] == ["line_pick_drop"]
    assert cli("runs", "-o", "json", "list", code=0).document == []
    assert cli("inbox", "-o", "json", "list", code=0).document == []


def test_tasks_are_listed_shown_explained_and_steered(cli: Any) -> None:
    cli.up(*SCENES, *HELD_UP)
    task = tasked(cli)
    assert "takes a pallet from PICK_01 to DROP_01" in cli("tasks", "show", task, code=0).out
    assert cli("tasks", "why", task, "-o", "json", code=0).document[0]["about"] == task
    assert f"Nearest tasks: {task}" in cli("tasks", "resume", f"{task}9", code=2).err
    assert "drop, pick" in cli("tasks", "done-by-hand", task, "--value", "lunch", code=2).err
    assert "nothing to drop at DROP_01" in cli("tasks", "abort", task, "--value", "DROP_01", code=3).err
    assert "'' is not an id" in cli("tasks", "abort", "", code=2).err
    assert "'../health' is not an id" in cli("tasks", "abort", "../health", code=2).err
    assert "which is cancelled then." in cli("tasks", "cancel", task, code=0).out
    assert cli("tasks", "list", "--open", "--scene", "cross_dock", code=0).out.count("cross_dock-t") >= 1
    assert "Unknown active fleet 'nowhere'" in cli("tasks", "--scene", "nowhere", code=2).err


def test_streams_and_worksites_are_set(cli: Any) -> None:
    cli.up("--scene", "line_pick_drop", *HELD_UP)
    assert cli("streams", "disable", "stream_pick_drop", code=0).out == "The stream stream_pick_drop is switched off.\n"
    assert cli("streams", "show", "stream_pick_drop", "-o", "json", code=0).document["enabled"] is False
    assert "It is switched off." in cli("streams", "why", "stream_pick_drop", code=0).out
    assert cli("streams", "enable", "stream_pick_drop", code=0).out == "The stream stream_pick_drop is switched on.\n"
    assert "stream_pick_drop" in cli("streams", "enable", "stream_pick", code=2).err
    tasked(cli)
    corrected = cli("worksites", "set", "PICK_01", "filled", code=0).out
    assert corrected == "PICK_01 is filled, and reserved by line_pick_drop-t1.\n"
    assert "empty, filled, unknown" in cli("worksites", "set", "PICK_01", "full", code=2).err
    assert cli("worksites", "show", "DROP_01", "-o", "json", code=0).document["occupancyBefore"] == "empty"
    assert cli("fleet", "hold", "line_pick_drop", code=0).out == "line_pick_drop is held.\n"
    assert cli("fleet", "clear", "line_pick_drop", "-o", "json", code=0).document["held"] is False


def test_without_a_server_the_log_is_shown_and_nothing_is_asked_of_robots(cli: Any) -> None:
    cli.up("--scene", "line_pick_drop", *HELD_UP)
    task = tasked(cli)
    live = {kind: cli(kind, "-o", "json", code=0).document for kind in ("tasks", "robots", "streams", "worksites")}
    stop(cli)
    before = len(cli.events())
    for kind, shown in live.items():
        left = cli(kind, "-o", "json", code=0)
        assert [item.keys() for item in left.document] == [item.keys() for item in shown]
        assert "No server runs on this home" in left.err
    assert cli("tasks", "show", task, "-o", "json", code=0).document["taskId"] == task
    assert "Known robots: RB-01." in cli("robots", "show", "RB-7", code=2).err
    for words in (
        ("robots", "hold", "RB-01"),
        ("tasks", "abort", task),
        ("streams", "disable", "stream_pick_drop"),
        ("worksites", "set", "PICK_01", "empty"),
        ("fleet", "hold", "line_pick_drop"),
    ):
        refused = cli(*words, code=3)
        assert "No server runs on this home" in refused.err
        assert "beforehand up" in refused.err
    assert len(cli.events()) == before, "looking writes nothing"


@pytest.mark.parametrize("group", ["tasks", "robots", "streams", "worksites"])
def test_each_verb_of_the_table_is_a_command(cli: Any, group: str) -> None:
    from beforehand.crafts.fleet.verbs import ROBOT_VERBS, STREAM_VERBS, TASK_VERBS

    verbs = {"tasks": TASK_VERBS, "robots": ROBOT_VERBS, "streams": STREAM_VERBS, "worksites": {"set": ""}}[group]
    told = cli(group, "--help", code=0).out
    assert [verb for verb in ("list", "show", *verbs) if f"\n  {verb} " not in told] == []
