"""Robots that are processes of their own, to be killed by a signal and started anew: several robots in each.

A robot that is started anew stands where the scene puts it, with nothing on its fork, and has forgotten its order.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.fork_server import Forked

from beforehand.adapters.robokit.checkup import BLOCK
from beforehand.crafts.fleet.core.inputs import AnswerDecision
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.model.decision import Decision

from .robokit_floor import LiveFloor

START_S = 60


@dataclass
class RobotProcess:
    command: Sequence[str]
    robots: Sequence[str]
    prints: Sequence[str]
    """What it prints when it is there, each in a line of its own."""
    begin: type[subprocess.Popen[Any]] = Forked
    """The words are those behind `beforehand`; with `subprocess.Popen` they are a program of somebody else's."""
    process: subprocess.Popen[Any] | None = None
    kills: int = 0

    async def start(self) -> None:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.process = self.begin(self.command, **pipes, start_new_session=True)
        assert self.process.stdout is not None
        missing = set(self.prints)
        async with asyncio.timeout(START_S):
            while missing:
                line = await asyncio.to_thread(self.process.stdout.readline)
                assert line, f"it ended: {' '.join(self.command)}"
                missing = {one for one in missing if one not in line}

    async def kill(self) -> None:
        """By SIGKILL: nothing is said goodbye to."""
        if self.process is not None:
            _kill_session(self.process.pid)
            await asyncio.to_thread(self.process.communicate)
            self.process = None


async def kill_all_of(process: "asyncio.subprocess.Process") -> None:
    _kill_session(process.pid)
    await process.wait()


def _kill_session(pid: int) -> None:
    """A process that leads a session, and what it started: a program may be a script that starts the real one."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


@asynccontextmanager
async def started(processes: Sequence[RobotProcess]) -> AsyncIterator[Sequence[RobotProcess]]:
    try:
        for one in processes:
            await one.start()
        yield processes
    finally:
        for one in processes:
            await one.kill()


def parted(document: Mapping[str, Any], size: int) -> Iterator[list[str]]:
    """The names of the scene's robots, so many at a time."""
    names = [robot["robotId"] for robot in document["robots"]]
    yield from (names[at : at + size] for at in range(0, len(names), size))


def robokit_processes(
    document: Mapping[str, Any], home: Path, pace: float, size: int
) -> tuple[dict[str, dict[str, int]], list[RobotProcess]]:
    """The ports of every robot, and the processes that will listen there."""
    file = home / "robokit.json"
    file.write_text(json.dumps(document))
    ports: dict[str, dict[str, int]] = {}
    made = []
    first = block_of_ports(10 * len(document["robots"]))
    for names in parted(document, size):
        command = [*_beforehand("robokit", file, names, pace, home), "--port", str(first)]
        made.append(RobotProcess(command, names, names))
        for name in names:
            ports[name] = {port: first + away for port, away in BLOCK.items()}
            first += 10
    return ports, made


def vda_processes(document: Mapping[str, Any], home: Path, pace: float, size: int) -> list[RobotProcess]:
    file = home / "vda5050.json"
    file.write_text(json.dumps(document))
    return [
        RobotProcess(_beforehand("vda5050", file, names, pace, home), names, names) for names in parted(document, size)
    ]


def _beforehand(kind: str, scene: Path, names: Sequence[str], pace: float, home: Path) -> list[str]:
    options = ["--scene", str(scene), "--speed", str(pace), "--home", str(home)]
    return ["robot", kind, *options, *(f"--robot={name}" for name in names)]


def block_of_ports(count: int) -> int:
    """So many ports in a row that nobody has, below those that the system gives to connections."""
    while True:
        first = Random().randrange(20_000, 32_000 - count)
        with ExitStack() as taken:
            try:
                for port in range(first, first + count):
                    taken.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
        return first


@dataclass
class Person:
    """Answers what the fleet asks: a lost order is redone; a pallet that vanished from a fork was carried by hand."""

    fleet: LiveFloor
    titles: list[str] = field(default_factory=list)

    async def answer_until(self, ready: Callable[[FleetState], bool]) -> None:
        while True:
            await self.fleet.until(lambda state: bool(state.decisions) or ready(state))
            if not self.fleet.state.decisions:
                return
            for decision in list(self.fleet.state.decisions.values()):
                self.titles.append(decision.title)
                await self.fleet.ask(AnswerDecision(decision.id, self._verb(decision)))

    def _verb(self, decision: Decision) -> str:
        task = self.fleet.state.tasks.get(str(decision.about.get("taskId")))
        if task is not None and task.step == "drop" and "done-by-hand" in decision.verbs:
            return "done-by-hand"
        return "redo" if "redo" in decision.verbs else decision.verbs[0]


async def kill_now_and_then(processes: Sequence[RobotProcess], kills: int, seed: int, rest_s: float) -> None:
    """Kill one process after another and start it anew a moment later."""
    random = Random(seed)
    for _ in range(kills):
        await asyncio.sleep(rest_s)
        one = random.choice(processes)
        await one.kill()
        one.kills += 1
        await asyncio.sleep(rest_s / 2)
        await one.start()
