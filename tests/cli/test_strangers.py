"""Packages of strangers that go wrong in every way: the server is up, the others drive, and every face says why."""

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from tests.cli.conftest import PATIENCE_S, clean_environment

from beforehand.app.examples import find_document

POINTS = """
[beforehand.plugins]
strangers = strangers:register
leaver = leaver:register
[beforehand.crafts]
sheds = strange_craft:SHEDS
barns = strange_craft:BARNS
left = leaver:IT
[beforehand.workers]
leaver = leaver:IT
[beforehand.agent_worlds]
leaver = leaver:IT
[beforehand.agent_verbs]
leaver = leaver:IT
"""
PROGRAM = """
import sys
from beforehand.ports import foreign
foreign.START_S = 2.0
from beforehand.cli.commands import call
sys.exit(call(sys.argv[1:]))
"""
LEFT = "It tried to end the whole process (SystemExit: 0)."
LATE = "It did not start within 2 s."
FLEETS = {
    "link_breaks": "The robot link breaks failed: TypeError: the wire is cut.",
    "link_leaves": f"The robot link leaves failed: {LEFT}",
    "link_hangs": f"Opening the robot links of link_hangs failed: {LATE}",
    "link_nothing": "its factory made NoneType, which is no link.",
    "link_gone": "Unknown link kind 'gone'.",
    "stream_late": f"what drives it stopped on an error: {LEFT}",
}
OTHERS = {
    "controller_breaks": "The controller breaks failed: TypeError: the wire is cut.",
    "controller_leaves": f"The controller leaves failed: {LEFT}",
    "controller_mute": f"Making controller_mute live failed: {LEFT}",
    "shed_breaks": "Making shed_breaks live failed: TypeError: the door is stuck.",
    "shed_leaves": f"Making shed_leaves live failed: {LEFT}",
    "shed_hangs": f"Making shed_hangs live failed: {LATE}",
    "barn": f"The craft barns could not be opened: {LEFT}",
}
NOT_LIVE = {**FLEETS, **OTHERS}
SILENT = "link_silent"
"""A fleet that lives, whose link has ended: its robots are silent."""


def fleet(name: str, link: str) -> dict[str, Any]:
    document = copy.deepcopy(find_document("line_pick_drop"))
    document["robots"][0]["link"] = link
    document["settings"] = {"offlineAfterS": 0.5, "tickS": 0.1}
    document["streams"][0]["enabled"] = False
    return {**document, "name": name}


def scenes() -> list[dict[str, Any]]:
    links = [name for name in (*FLEETS, SILENT) if name.startswith("link_")]
    found = [fleet(name, name.removeprefix("link_")) for name in links]
    late = fleet("stream_late", "sim")
    late["streams"][0] |= {"kind": "late", "enabled": True}
    weld = find_document("weld_star")
    cells = [name for name in OTHERS if name.startswith("controller_")]
    found += [{**weld, "name": name, "controller": name.removeprefix("controller_")} for name in cells]
    sheds = [name for name in OTHERS if name.startswith("shed_")]
    found += [{"kind": "shed", "name": name} for name in (*sheds, "shed_dark")]
    return [*found, late, {"kind": "barn", "name": "barn"}, fleet("line", "sim")]


class House:
    """A home, and the strangers' packages beside it."""

    def __init__(self, folder: Path, packages: Path) -> None:
        self.folder = folder
        self.url = ""
        installed = folder / "packages"
        shutil.copytree(packages, installed)
        told = installed / "strangers-1.0.dist-info"
        told.mkdir()
        (told / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n", encoding="utf-8")
        (told / "entry_points.txt").write_text(POINTS, encoding="utf-8")
        path = os.pathsep.join(filter(None, [str(installed), os.environ.get("PYTHONPATH")]))
        self.environment = clean_environment() | {"PYTHONPATH": path}

    def begin(self, how: str, *words: str) -> "subprocess.Popen[str]":
        with (self.folder / "server.log").open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, "up", "--no-open", "--port", "0", "--speed", "50", *words],
                cwd=self.folder,
                env=self.environment | {"STRANGERS": how},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "Beforehand is at " in line, line + (self.folder / "server.log").read_text(encoding="utf-8")[-3000:]
        self.url = line.split()[-1]
        return process

    def call(self, *words: str, how: str = "misbehave") -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words],
            cwd=self.folder,
            env=self.environment | {"STRANGERS": how},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def get(self, path: str) -> Any:
        return self._asked("GET", path)

    def _asked(self, method: str, path: str, body: Any = None) -> Any:
        url = f"{self.url}/api/v1{path}"
        answer = httpx2.request(method, url, json=body, timeout=PATIENCE_S, trust_env=False)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def patch(self, path: str, body: Any) -> Any:
        return self._asked("PATCH", path, body)

    def answer(self, decision: str, verb: str) -> httpx2.Response:
        return self.post(f"/inbox/{decision}", {"verb": verb})

    def post(self, path: str, body: Any) -> httpx2.Response:
        return httpx2.post(f"{self.url}/api/v1{path}", json=body, timeout=PATIENCE_S, trust_env=False)

    def until(self, kind: str, /, **data: Any) -> Any:
        """The first such event in the log, waited for by following it."""
        with httpx2.stream("GET", f"{self.url}/api/v1/events?kinds={kind}", timeout=PATIENCE_S, trust_env=False) as got:
            for line in got.iter_lines():
                if line.startswith("data: "):
                    event = json.loads(line[6:])
                    if all(event["data"].get(name) == value for name, value in data.items()):
                        return event
        raise AssertionError("the stream ended")


def end(process: "subprocess.Popen[str]") -> str:
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    return str(out)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Iterator[House]:
    """Everything lived; then the strangers began to misbehave, and the server was started again."""
    made = House(tmp_path_factory.mktemp("house"), repository / "tests" / "fixtures" / "strangers")
    files = []
    for scene in scenes():
        (made.folder / f"{scene['name']}.yaml").write_text(yaml.safe_dump(scene), encoding="utf-8")
        files += ["--scene", f"{scene['name']}.yaml"]
    before = made.begin("behave", *files)
    shown = made.get("/scenes")
    end(before)
    assert {scene["name"] for scene in shown if scene["live"]} == {scene["name"] for scene in scenes()}
    process = made.begin("misbehave")
    made.until("decisionOpened", kind="bug", owner="bug:fleet:stream_late")
    yield made
    if process.poll() is None:
        end(process)


@pytest.mark.parametrize("name", NOT_LIVE)
def test_every_face_says_the_same_reason(house: House, name: str) -> None:
    shown = house.get(f"/scenes/{name}")
    assert (shown["active"], shown["live"]) == (True, False)
    says = shown["reason"]["says"]
    assert NOT_LIVE[name] in says
    assert says.startswith(f"{name} is active and not live: ")
    assert shown["reason"]["tryNext"]
    [decision] = [one for one in house.get("/inbox") if one["about"] == {"scene": name}]
    assert decision["kind"] == ("bug" if name == "stream_late" else "not_live")
    [finding] = [one for one in house.get("/doctor")["checks"] if one["check"] == f"scene {name}"]
    assert (finding["state"], finding["says"]) == ("broken", says)
    [head] = [one for one in house.get("/state")["scenes"] if one["name"] == name]
    assert (head["live"], head["reason"]["says"]) == (False, says)
    if name in FLEETS:
        assert {one["says"] for one in house.get(f"/robots/RB-01/why?scene={name}")} == {says}
        assert says in {one["says"] for one in house.get("/fleet/why")}
        assert [one["scene"] for one in house.get(f"/robots?scene={name}")] == [name]


def test_the_others_drive(house: House) -> None:
    house.patch("/streams/stream_pick_drop?scene=line", {"enabled": True})
    assert house.until("taskUpdated", taskId="line-t1", status="completed")
    assert house.get("/scenes/line")["live"] is True


def test_nothing_is_tried_in_a_fleet_that_is_not_live(house: House) -> None:
    answer = house.post("/streams/stream_pick_drop/dry-run?scene=stream_late", {})
    assert (answer.status_code, answer.json()["code"]) == (409, "scene.not_live"), answer.text


def test_a_link_that_ends_leaves_its_robot_silent_and_its_fleet_live(house: House) -> None:
    house.until("robotUpdated", robotId="RB-01", status="offline")
    assert house.get(f"/scenes/{SILENT}")["live"] is True


def test_a_craft_that_cannot_say_what_is_in_its_scene_spares_the_rest(house: House) -> None:
    state = house.get("/state")
    [dark] = [one for one in state["scenes"] if one["name"] == "shed_dark"]
    assert (dark["live"], LEFT in dark["reason"]["says"]) == (False, True)
    assert {"link_breaks", "line"} <= {one["scene"] for one in state["robots"]}


def test_what_could_not_be_loaded_or_begun_is_told_and_counted(house: House) -> None:
    missing = {one["about"]: one["says"] for one in house.get("/plugins")["missing"]}
    assert {"leaver", "left", "barns", "sheds"} <= set(missing)
    assert all(LEFT in says for says in missing.values()), missing
    metrics = httpx2.get(f"{house.url}/api/v1/metrics", timeout=PATIENCE_S, trust_env=False).text
    assert f"beforehand_scenes_not_live {len(NOT_LIVE)}\n" in metrics


def test_tried_again_it_says_why_not_and_it_rests_whatever_its_craft_says(house: House) -> None:
    [decision] = [one for one in house.get("/inbox") if one["about"] == {"scene": "shed_leaves"}]
    refused = house.answer(decision["id"], "try-again")
    assert (refused.status_code, refused.json()["code"]) == (409, "foreign.failed")
    assert LEFT in refused.json()["detail"]
    answered = house.answer(decision["id"], "deactivate")
    assert answered.json()["status"] == "answered", answered.text
    assert house.get("/scenes/shed_leaves")["active"] is False


def test_commands_never_end_without_a_word(house: House, tmp_path: Path) -> None:
    (house.folder / "bad.json").write_text('{"steps": [{"id": "a", "tool": "no_such"}]}', encoding="utf-8")
    (house.folder / "good.json").write_text(
        '{"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}', encoding="utf-8"
    )
    checked = house.call("check", "bad.json", "--home", str(tmp_path / "other"))
    assert (checked.returncode, "Unknown tool 'no_such'" in checked.stderr) == (1, True)
    ran = house.call("run", "good.json", "--home", str(tmp_path / "other"), "-o", "json")
    assert (ran.returncode, json.loads(ran.stdout)["status"]) == (0, "completed")
    assert LEFT in ran.stderr
    listed = json.loads(house.call("scene", "list", "-o", "json").stdout)
    assert {one["name"] for one in listed if one.get("live") is False and one["active"]} >= {"link_breaks", "barn"}
