"""A weld cell over OPC UA from words to done, with a simulated PLC in a process of its own, and kill -9 of it."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

pytestmark = pytest.mark.needs("asyncua")
STAR = Path(__file__).parents[2] / "scenes" / "weld_star.yaml"
PATIENCE_S = 60
WIRED = ("--scene", "wired.yaml")
FAST = {"BEFOREHAND_SPEED": "50"}


class Plc:
    """`beforehand robot opcua` on one port, started again and again."""

    def __init__(self, cli: Any) -> None:
        self.cli = cli
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        document = yaml.safe_load(STAR.read_text())
        self.url = f"opc.tcp://127.0.0.1:{self.port}"
        cli.write("wired.yaml", {**document, "name": "wired", "controller": {"kind": "opcua", "url": self.url}})

    def start(self, *words: str) -> None:
        self.process = self.cli.start("robot", "opcua", "--scene", "wired.yaml", "--port", str(self.port), *words)
        lines = [self.process.stdout.readline() for _ in range(2)]
        assert lines[1] == f'controller: {{kind: opcua, url: "{self.url}"}}\n', self.process.stderr.read()

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=PATIENCE_S)


@pytest.fixture
def plc(cli: Any) -> Plc:
    return Plc(cli)


def planned(cli: Any, text: str, scene: str) -> str:
    return str(cli.write(f"{scene}.json", cli("plan", text, "--scene", scene, "-o", "json", code=0).out))


def ends(run: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """How every step ended, without the times."""
    return [(step["id"], step["status"], step["result"]["value"]) for step in run["steps"]]


def places(cli: Any, scene: str) -> list[tuple[str, str]]:
    """Where the robot was seen standing, and with what, one after the other."""
    seen = [event["data"] for event in cli.events() if event["kind"] == "cellStateChanged" and event["scene"] == scene]
    stands = [(data["current_position"], data["current_tool"]) for data in seen if data["current_position"]]
    return [place for place, before in zip(stands, [None, *stands], strict=False) if place != before]


def follow(url: str, **query: Any) -> Iterator[dict[str, Any]]:
    timeout = httpx2.Timeout(PATIENCE_S)
    with httpx2.stream("GET", f"{url}/api/v1/events", params=query, timeout=timeout, trust_env=False) as answer:
        for text in answer.iter_lines():
            if text.startswith("data:"):
                yield json.loads(text[5:])


def wait_for(url: str, kind: str, /, **data: Any) -> dict[str, Any]:
    for event in follow(url, after=0, kinds=kind):
        if all(event["data"].get(name) == value for name, value in data.items()):
            return event
    raise AssertionError(f"no {kind} came")


def test_the_weld_plan_runs_over_opc_ua_as_it_does_simulated(cli: Any, plc: Plc) -> None:
    plc.start("--speed", "50")
    wired = planned(cli, "weld 1 and 2", "wired.yaml")
    live = cli("run", wired, *WIRED, "-o", "json", code=0).document
    simulated = cli("run", planned(cli, "weld 1 and 2", "weld_star"), "-o", "json", code=0, **FAST).document
    assert [step["status"] for step in live["steps"]] == ["completed"] * 12
    assert ends(live) == ends(simulated)
    assert places(cli, "wired") == places(cli, "weld_star")
    end = cli("preview", wired, "-o", "json").document["end"]
    now = cli("cell", "state", "wired", "-o", "json").document
    assert {key: now[key] for key in end} == end


def test_faults_of_the_plc_are_asked_about_as_those_of_the_simulator(cli: Any, plc: Plc) -> None:
    plc.start("--speed", "50", "--fault", "verify:tack_weld", "--fault", "fail:Home")
    run = cli("run", planned(cli, "weld 1, then go home", "wired.yaml"), *WIRED, "-o", "json", code=3).document
    [asked] = run["decisions"]
    assert "weld_quality_check was not passed at Pos_1" in json.dumps(asked["evidence"])
    assert "is not simulated" in cli("cell", "fault", "wired", "fail", code=3).err
    assert asked["kind"] == "inDoubt", "it was begun, so nobody but a person says whether that counts"
    cli("inbox", "answer", asked["id"], "run-again", code=0)
    run = cli("run", "--resume", run["runId"], "-o", "json", code=3).document
    [asked] = run["decisions"]
    assert "reports an error on Home" in json.dumps(asked["evidence"])
    cli("inbox", "answer", asked["id"], "retry", code=0)
    assert cli("run", "--resume", run["runId"], "-o", "json", code=0).document["status"] == "completed"


@pytest.mark.parametrize("keeps", [True, False], ids=["with memory", "without memory"])
def test_a_plc_killed_in_the_middle_of_a_move_and_started_again(cli: Any, plc: Plc, keeps: bool) -> None:
    memory = ("--keep", "plc.json") if keeps else ()
    plc.start("--speed", "0.5", *memory)
    url = cli.up("--scene", "wired.yaml")
    plan = planned(cli, "go to Safe_Pos_1", "wired.yaml")
    running = cli.start("run", plan, "-o", "json")
    moving = wait_for(url, "stepUpdated", stepId="step_1", status="running")
    with httpx2.Client(base_url=f"{url}/api/v1", trust_env=False, timeout=PATIENCE_S) as http:
        while http.get("/cells/wired").json()["current_position"] == "Home" and not plc_has_begun(plc.url):
            pass
        plc.kill()
        plc.start("--speed", "20", *memory)
        if not keeps:
            asked = wait_for(url, "decisionOpened", kind="inDoubt")["data"]
            assert "forgotten its commands" in asked["evidence"]["says"]
            assert asked["verbs"] == ["happened", "run-again", "abort"]
            http.post(f"/inbox/{asked['id']}", json={"verb": "run-again"}).raise_for_status()
    finished = wait_for(url, "runFinished", runId=moving["about"]["runId"])
    assert finished["data"]["status"] == "completed"
    running.communicate(timeout=PATIENCE_S)
    begun = [
        event["data"]["attempt"]
        for event in cli.events()
        if event["kind"] == "stepUpdated" and event["data"]["status"] == "running" and "attempt" in event["data"]
    ]
    assert sorted(set(begun)) == ([1] if keeps else [1, 2])
    if keeps:
        done = json.loads((cli.folder / "plc.cell.json").read_text())["done"]
        assert list(done.values()) == [{"current_position": "Safe_Pos_1", "current_tool": "none"}]


def plc_has_begun(url: str) -> bool:
    """Whether the PLC says that it is at a command."""
    import asyncio

    from beforehand.adapters.opcua.link import Link
    from beforehand.adapters.opcua.options import Access

    async def look() -> bool:
        async def nothing() -> None: ...

        link = Link(lambda: Access(url), url, nothing)
        try:
            return (await link.state()).busy
        finally:
            await link.close()

    return asyncio.run(look())


def test_usage_is_told_in_sentences(cli: Any, plc: Plc) -> None:
    assert "opcua" in cli("robot", "--help", code=0).out
    assert "tool_missing" in cli("robot", "opcua", "--scene", "wired.yaml", "--fault", "explode", code=2).err
    assert "weld_star" in cli("robot", "opcua", "--scene", "weld_sta", code=2).err
    assert "more than 0" in cli("robot", "opcua", "--scene", "wired.yaml", "--speed", "0", code=2).err
    refused = cli("run", planned(cli, "go to Pos_1", "wired.yaml"), *WIRED, code=3)
    assert "does not answer" in refused.err
