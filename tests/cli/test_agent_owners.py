"""Commands that steer and die: on Ctrl-C, a termination signal, a lost terminal or a kill the body is free again."""

import asyncio
import os
import pty
import signal
import subprocess
import time
from typing import Any

import pytest
from tests.cli.conftest import BEFOREHAND, PATIENCE_S, Terminal
from tests.cli.test_agent import ATTIC

from beforehand.testing.model_replies import Reply, Seen, says, stalls
from beforehand.testing.model_servers import FakeOpenAI

WALK = "start(walking to chest1)\n"


@pytest.fixture
def attic(cli: Any) -> Any:
    cli.write("attic.yaml", ATTIC)
    return cli


def steering(attic: Any, *words: str) -> Any:
    """A command that steers, in the middle of an action."""
    process = attic.start("agent", "steer", "attic.yaml", *words, stdin=subprocess.PIPE)
    process.stdin.write(WALK)
    process.stdin.flush()
    told(process, "Started walking to chest1.")
    return process


def told(process: Any, words: str) -> None:
    while words not in (line := process.stdout.readline()):
        assert line, process.stderr.read()


def ended(attic: Any) -> Any:
    """The only session once it is over; each look is a command of its own, which settles what it finds."""
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        [session] = attic("agent", "list", "--all", "-o", "json", code=0).document
        if session["status"] != "open":
            return session
    raise AssertionError(f"it never ended: {session}")


def is_free(attic: Any) -> None:
    assert attic("agent", "list", "-o", "json", code=0).document == []
    attic("agent", "steer", "attic", given="skip(1)\n", code=0)


@pytest.mark.parametrize(
    ("number", "served"),
    [
        (signal.SIGINT, True),
        (signal.SIGTERM, False),
        (signal.SIGHUP, True),
        pytest.param(signal.SIGINT, False, marks=pytest.mark.soak),
        pytest.param(signal.SIGTERM, True, marks=pytest.mark.soak),
        pytest.param(signal.SIGHUP, False, marks=pytest.mark.soak),
    ],
)
def test_a_command_that_is_told_to_stop_ends_its_session_in_order(attic: Any, number: Any, served: bool) -> None:
    if served:
        attic.up()
    process = steering(attic)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number
    assert "its body is free. Cancelled: walking to chest1." in err
    session = ended(attic)
    assert (session["status"], session["actions"]) == ("ended", [])
    assert session["reason"].endswith(": its command was stopped.")
    is_free(attic)


@pytest.mark.parametrize("served", [True, False], ids=["served", "alone"])
def test_a_command_that_is_killed_loses_its_session(attic: Any, served: bool) -> None:
    if served:
        attic.up()
    process = steering(attic, "--lease", "1")
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    session = ended(attic)
    assert (session["status"], session["actions"]) == ("ended", [])
    assert session["reason"].startswith("The command that steered it has ")
    is_free(attic)


def test_a_terminal_that_is_lost_ends_its_session(attic: Any) -> None:
    ours, theirs = pty.openpty()
    words = [str(BEFOREHAND), "agent", "steer", "attic.yaml"]
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen(words, cwd=attic.folder, env=attic.environment, start_new_session=True, **streams) as process:  # type: ignore[call-overload]
        os.close(theirs)
        terminal = Terminal(process, ours)
        terminal.until("> ")
        terminal.type(WALK)
        terminal.until("Started walking")
        os.close(ours)
        process.wait(PATIENCE_S)
    assert ended(attic)["actions"] == []
    is_free(attic)


@pytest.mark.needs("pydantic_ai")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_model_stops_with_the_command_that_had_it_steer(attic: Any, number: Any) -> None:
    never = asyncio.Event()

    def steer(seen: Seen) -> Reply:
        return stalls(never) if "dancing" in seen.last else says("start(dancing)")

    async with FakeOpenAI(steer) as server:
        environment = {"BEFOREHAND_MODEL": "openai:any", "BEFOREHAND_MODEL_URL": server.url}
        words = ("agent", "run", "attic.yaml", "--goal", "dance", "--no-pictures")
        process = attic.start(*words, **environment)
        await asyncio.to_thread(told, process, "Started dancing.")
        process.send_signal(number)
        await asyncio.to_thread(process.communicate, timeout=PATIENCE_S)
        session = await asyncio.to_thread(ended, attic)
        assert (session["status"], session["actions"]) == ("ended", [])
        assert (await asyncio.to_thread(attic, "inbox", "list", "-o", "json", code=0)).document == []
        never.set()


def test_whoever_is_taken_over_is_told_and_leaves_the_session_alone(attic: Any) -> None:
    attic.up()
    process = steering(attic, "--lease", "3")
    [session] = attic("agent", "list", "-o", "json", code=0).document
    named = session["sessionId"]
    taken = attic("agent", "take-over", named, given="skip(1)\nend()\n", code=0)
    assert "walking to chest1 (moving, 1.0s)" in taken.out, "it goes on as it was"
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    assert any(told in err for told in ("has taken this session over", "is over", "steers the session")), err
    shown = attic("agent", "show", named, "-o", "json", code=0).document
    assert (shown["status"], shown.get("reason", ""), shown["turn"]) == ("ended", "", 1), "it was ended by end()"


def test_sessions_are_listed_ended_and_bodies_put_back_from_the_command_line(attic: Any) -> None:
    assert attic("agent", "list", code=0).out == "No session holds a body.\n"
    assert "There is no log" in attic("agent", "end", "nobody", code=2).err
    url = attic.up("--scene", "attic.yaml")
    from tests.cli.test_agent import call

    named = call(url, "/sessions", {"scene": "attic"})["sessionId"]
    call(url, f"/sessions/{named}/commands", {"command": "start(taking lamp1)"})
    call(url, f"/sessions/{named}/commands", {"command": "skip(60)"})
    assert f"agent end {named}" in attic("agent", "steer", "attic", code=3).err
    attic._started[-1].kill()
    attic._started[-1].wait()
    assert "open, driven by nobody" in attic("agent", "list", code=0).out
    assert "lamp1" in attic("agent", "show", named, code=0).out
    assert "held by" in attic("agent", "reset", "attic", code=3).err
    assert "Unknown session" in attic("agent", "show", "nobody", code=2).err
    done = attic("agent", "end", named, code=0)
    assert "Cancelled: taking lamp1 from stool1." in done.out or "Cancelled: taking lamp1." in done.out
    assert "is over" in attic("agent", "end", named, code=3).err
    assert "No server runs" in attic("agent", "resume", named, code=3).err
    assert "origin (0, 0)" in attic("agent", "reset", "attic", code=0).out
    looked = attic("agent", "steer", "attic", given="?\n", code=0)
    assert "lamp1: on stool1" in looked.out
