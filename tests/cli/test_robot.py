"""`beforehand robot`: simulated robots on the wire, and a look at what speaks at an address."""

import re
import signal
import socket
from typing import Any

import pytest
from tests.contract.wire_processes import block_of_ports


@pytest.fixture
def free_port() -> int:
    """The first of ten ports that are free together."""
    return block_of_ports(10)


def test_robots_on_the_wire_print_their_links_and_can_be_looked_at(cli: Any, free_port: int) -> None:
    robots = cli.start(
        "robot", "robokit", "--scene", "line_pick_drop", "--port", str(free_port), "--held-by", "Roboshop"
    )
    assert "Put these links into the scene" in robots.stdout.readline()
    link = robots.stdout.readline()
    assert re.search(
        rf'robotId: RB-01, link: {{"kind": "robokit", "host": "127.0.0.1", "ports": {{"status": {free_port},', link
    )
    found = cli("robot", "check", f"127.0.0.1:{free_port}", "-o", "json", code=1)
    told = found.document
    assert (told["speaks"], told["headerVersion"], told["nodeId"], told["controlHeldBy"]) == (
        "robokit",
        1,
        "LM11",
        "Roboshop",
    )
    assert told["link"]["ports"]["push"] == free_port + 7
    assert told["closedPorts"] == {}
    assert told["roundTripMs"] > 0
    assert found.err == "Roboshop has control of it. Have it given back there before Beforehand drives it.\n"
    shown = cli("robot", "check", f"127.0.0.1:{free_port}", code=1)
    assert "Robokit, header version 1" in shown.out
    robots.send_signal(signal.SIGTERM)
    assert robots.wait(20) == 143


def test_nobody_there_is_a_sentence_and_exit_1(cli: Any, free_port: int) -> None:
    found = cli("robot", "check", f"127.0.0.1:{free_port}", code=1)
    assert found.out == ""
    assert found.err.startswith(f"127.0.0.1:{free_port} cannot be reached: nothing listens on this port.\n")
    assert cli("robot", "check", f"127.0.0.1:{free_port}", "-o", "json", code=1).document["speaks"] is None


def test_something_else_there_is_told_apart(cli: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        found = cli("robot", "check", f"127.0.0.1:{port}", code=1)
    assert found.err.startswith(f"Something listens at 127.0.0.1:{port}, but it does not speak Robokit.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "a b"), "'a b' is not HOST or HOST:PORT."),
        (("check", "host:99999"), "A port is a number from 1 to 65535, not 99999."),
        (("robokit", "--scene", "line_pick_drop", "--robot", "RB-9"), "Unknown robot 'RB-9' in line_pick_drop."),
        (("robokit", "--scene", "line_pick_drop", "--header", "3"), "--header takes 1 or 2, not 3."),
        (("robokit", "--scene", "line_pick_drop", "--speed", "0"), "--speed takes a number above 0"),
        (("robokit", "--scene", "line_pick_drop", "--port", "65530"), "--port 65530 leaves no room for 1 robot"),
    ],
)
def test_bad_usage_is_a_sentence(cli: Any, words: tuple[str, ...], said: str) -> None:
    assert said in cli("robot", *words, code=2).err
