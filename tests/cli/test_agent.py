"""`beforehand agent`: from a file, by hand, by the policy and by a model; and a server that is killed in the middle."""

import asyncio
import json
import os
import signal
import urllib.request
from typing import Any

import pytest

from beforehand.testing.model_replies import Reply, Seen, dies, says
from beforehand.testing.model_servers import FakeOpenAI

ATTIC = """
kind: home
name: attic
bounds: [0, 0, 7, 5]
objects:
  - {name: chest1, at: [5, 2], size: [1, 1], affords: [touch, place, sit]}
  - {name: stool1, at: [2, 4], size: [0.5, 0.5], affords: [sit, touch, place]}
  - {name: lamp1, on: stool1, affords: [take]}
agent: {at: [0, 0]}
"""
BRING = """# bring the lamp
start("taking lamp1")
skip(60, wake_on=done)

stop("taking lamp1")
start("placing lamp1 on chest1")
skip(60, wake_on=done)
end()
"""


@pytest.fixture
def attic(cli: Any) -> Any:
    cli.write("attic.yaml", ATTIC)
    cli.write("bring.txt", BRING)
    return cli


def test_a_file_of_commands_gives_the_same_bytes_every_time_and_writes_no_log(attic: Any) -> None:
    words = ("agent", "run", "attic.yaml", "--commands", "bring.txt", "--goal", "bring lamp1 to chest1", "-o", "json")
    first = attic(*words, code=0)
    assert first.document["status"] == "ended"
    assert first.document["goalReached"] is True
    assert [set(step) for step in first.document["steps"]] == [{"command", "reply", "state", "atS"}] * 6
    assert attic(*words, code=0).out == first.out
    assert not (attic.folder / ".beforehand").exists()


def test_commands_that_run_out_leave_it_open_and_failures_exit_1(attic: Any) -> None:
    left = attic("agent", "run", "attic.yaml", "--commands", "-", "-o", "json", given="start(dancing)\n", code=0)
    assert left.document["status"] == "open"
    assert left.document["goalReached"] is None
    failed = attic("agent", "run", "attic.yaml", "--commands", "-", "-o", "json", given="what?\n" * 6, code=1)
    assert failed.document["status"] == "failed"
    assert "5 commands in a row" in failed.document["reason"]
    limited = attic("agent", "run", "attic.yaml", "--commands", "bring.txt", "--max-steps", "2", "-o", "json", code=1)
    assert len(limited.document["steps"]) == 2


def test_what_cannot_be_is_answered_by_a_sentence(attic: Any) -> None:
    assert "Give --commands FILE" in attic("agent", "run", "attic.yaml", code=2).err
    assert "needs a goal" in attic("agent", "run", "attic.yaml", "--policy", "--goal", " ", code=2).err
    both = ("--policy", "--model", "openai:any", "--goal", "sit on chest1")
    assert "not both" in attic("agent", "run", "attic.yaml", *both, code=2).err
    assert "There is no file" in attic("agent", "run", "attic.yaml", "--commands", "none.txt", code=2).err
    assert "kind home" in attic("agent", "run", "weld_star", "--commands", "bring.txt", code=2).err
    assert "Unknown scene" in attic("agent", "run", "atic", "--commands", "bring.txt", code=2).err
    assert "leave out" in attic("agent", "run", "attic.yaml", "--commands", "bring.txt", "--policy", code=2).err
    missing = attic("agent", "run", "attic.yaml", "--goal", "dance", code=3)
    assert "BEFOREHAND_MODEL" in missing.err
    assert not (attic.folder / ".beforehand").exists()


def test_the_policy_needs_no_model(attic: Any) -> None:
    done = attic(
        "agent", "run", "attic.yaml", "--goal", "bring the lamp to chest1", "--policy", "-o", "json", code=0
    ).document
    assert (done["status"], done["goalReached"]) == ("ended", True)
    kinds = [event["kind"] for event in attic.events()]
    assert kinds.count("commandGiven") == len(done["steps"])
    stuck = attic("agent", "run", "attic", "--goal", "take the moon", "--policy", "-o", "json", code=3)
    assert stuck.document["waitsFor"] in stuck.err
    shown = attic("inbox", "show", stuck.document["waitsFor"], code=0)
    assert "cannot be read" in shown.out


def test_steering_by_hand(attic: Any) -> None:
    done = attic("agent", "steer", "attic.yaml", given="?\nstart(sitting on stool1)\nskip(60)\nstart(flying)\n", code=0)
    assert "lamp1: on stool1" in done.out
    assert "sitting on stool1 (done, 60.0s)" in done.out
    assert "Refused." in done.out
    assert "The session has ended." in done.out, "the end of input ends it"


@pytest.mark.needs("pydantic_ai")
async def test_a_model_steers_from_the_command_line(attic: Any) -> None:
    def steer(seen: Seen) -> Reply:
        return says(
            "end()"
            if "dancing (acting, 3.0s)" in seen.last
            else "skip(3)"
            if "dancing" in seen.last
            else "start(dancing)"
        )

    async with FakeOpenAI(steer) as server:
        environment = {"BEFOREHAND_MODEL": "openai:any", "BEFOREHAND_MODEL_URL": server.url}
        words = ("agent", "run", "attic.yaml", "--goal", "dance", "--instruction", "Just dance.", "-o", "json")
        done = await asyncio.to_thread(attic, *words, code=0, **environment)
        assert [step["command"] for step in done.document["steps"]] == ["start(dancing)", "skip(3)", "end()"]
        assert done.document["goalReached"] is True
        assert "Just dance." in server.seen[0].system
        server.script = (dies(),)
        gone = await asyncio.to_thread(attic, "agent", "run", "attic", *words[3:], code=3, **environment)
        assert gone.document["status"] == "open"
        assert gone.err.startswith(gone.document["reason"]), "why nobody steers it any more is told first"


def call(url: str, path: str, body: Any = None) -> Any:
    request = urllib.request.Request(f"{url}/api/v1{path}", method="GET" if body is None else "POST")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


@pytest.mark.parametrize("clock", ["virtual", "realtime"])
def test_a_killed_server_loses_no_session_and_moves_nothing_unasked(attic: Any, clock: str) -> None:
    url = attic.up("--scene", "attic.yaml")
    session = call(url, "/sessions", {"scene": "attic", "clock": clock})
    path = f"/sessions/{session['sessionId']}"
    call(url, f"{path}/commands", {"command": "start(walking to chest1)"})
    before = call(url, f"{path}/commands", {"command": "skip(1)"})
    os.kill(attic._started[-1].pid, signal.SIGKILL)
    attic._started[-1].wait()
    url = attic.up()
    after = call(url, path)
    if clock == "virtual":
        assert after["state"] == before["state"]
        assert call(url, "/inbox") == []
        return
    [decision] = call(url, "/inbox")
    assert (decision["kind"], decision["evidence"]["wasUnderWay"]) == ("inDoubt", ["walking to chest1"])
    assert after["actions"] == []
    call(url, f"/inbox/{decision['id']}", {"verb": "resume"})
    assert call(url, path)["state"] == after["state"], "nothing is started again by itself"
