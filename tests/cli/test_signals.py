"""Ctrl-C and a termination signal end every command, whenever they come: while it loads, works, or closes.

The installed command is started for real, and gets its signal at a random moment of its life. It ends by itself, says
no traceback, leaves no process behind, and its home opens again.
"""

import asyncio
import os
import random
import re
import select
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from beforehand.app.runtime import open_runtime
from beforehand.app.settings import load_settings

from .conftest import BEFOREHAND, PATIENCE_S, clean_environment

BESIDE = 4
LOOK_S = 0.002
LOADS_S, LIVES_S = 0.3, 3.0
PLAN = """
steps:
- {id: first, tool: write_file, args: {path: begun, content: ''}}
- {id: long, tool: wait, dependsOn: [first], args: {seconds: 600}}
"""


@dataclass(frozen=True)
class Command:
    words: str
    ends_with: tuple[int, ...] = ()
    """Codes it may end with beside those of the signal: its own, or that being stopped is its regular end."""


COMMANDS = (
    Command("run plan.yaml"),
    Command("up --no-open --port 0 --scene cross_dock", (0,)),
    Command("fleet simulate cross_dock --for 2000000"),
    Command("agent steer studio"),
    Command("ask 'How do I add a token?'", (0,)),
    Command("mcp"),
    Command("mcp --http --port 0", (0,)),
    Command("db backup copy.zip", (0,)),
)
NUMBERS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Moment:
    command: Command
    number: signal.Signals
    after_s: float
    folder: Path


def moments(count: int, seed: int, folder: Path) -> Iterator[Moment]:
    """Every command with both signals in turn; one in three comes while the command is being loaded."""
    drawn = random.Random(seed)
    for place in range(count):
        after_s = drawn.uniform(0, LOADS_S) if place % 3 == 0 else drawn.uniform(LOADS_S, LIVES_S)
        number = NUMBERS[place // len(COMMANDS) % 2]
        yield Moment(COMMANDS[place % len(COMMANDS)], number, after_s, folder / str(place))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder whose home has seen a run; every command gets a copy."""
    made = tmp_path / "made"
    made.mkdir()
    (made / "plan.yaml").write_text("steps: [{id: a, tool: wait, args: {seconds: 0}}]")
    subprocess.run([BEFOREHAND, "run", "plan.yaml"], cwd=made, env=clean_environment(), check=True, capture_output=True)
    (made / "plan.yaml").write_text(PLAN)
    return made


def trouble_at(moment: Moment) -> str:
    """What went wrong with this command; nothing where it ended as it should."""
    ours, theirs = os.pipe()  # standard input stays open: its end would end some commands, too
    process = subprocess.Popen(
        [str(BEFOREHAND), *shlex.split(moment.command.words)],
        cwd=moment.folder,
        env=clean_environment(),
        stdin=ours,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while moment.number is signal.SIGINT and not (heeds_signals(process) or has_ended(process, LOOK_S)):
            pass
        if not has_ended(process, moment.after_s):
            process.send_signal(moment.number)
        _, err = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"It did not end. {process.communicate()}"
    finally:
        os.close(ours)
        os.close(theirs)
    allowed = (128 + moment.number, -moment.number, *moment.command.ends_with)
    if "Traceback" in err or process.returncode not in allowed:
        return f"It ended with {process.returncode}. {err}"
    return left_behind(moment.folder) or unopenable(moment.folder)


def has_ended(process: "subprocess.Popen[str]", within_s: float) -> bool:
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def heeds_signals(process: "subprocess.Popen[str]") -> bool:
    """Whether the command has come to its first line: a termination signal is caught. Ctrl-C before that is answered by
    Python itself, which may even lose it."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = re.search(r"SigCgt:\s*(\w+)", status)
    return caught is not None and bool(int(caught[1], 16) >> signal.SIGTERM - 1 & 1)


def left_behind(folder: Path) -> str:
    """A process that still works in the folder of a command that has ended, and does not end either."""
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit() or (entry / "cwd").readlink() != folder:
                continue
            ended = os.pidfd_open(int(entry.name))
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended meanwhile, or is somebody else's
        with os.fdopen(ended, "rb"):
            if not select.select([ended], [], [], PATIENCE_S)[0]:
                return f"It left a process behind: {command!r}"
    return ""


def unopenable(folder: Path) -> str:
    async def opened() -> None:
        settings = load_settings({"home": str(folder / ".beforehand"), "workspace": str(folder)}, {}, folder / "none")
        async with open_runtime(settings, with_servers=False) as runtime:
            await runtime.store.last_seq()

    try:
        asyncio.run(opened())
    except Exception as error:
        return f"Its home does not open again: {error!r}"
    return ""


def ended_in_time(count: int, seed: int, home: Path) -> None:
    chosen = list(moments(count, seed, home.parent))
    for moment in chosen:
        shutil.copytree(home, moment.folder)
    with ThreadPoolExecutor(BESIDE) as pool:
        told = zip(chosen, pool.map(trouble_at, chosen), strict=True)
        assert [(moment, trouble) for moment, trouble in told if trouble] == []


def test_a_signal_ends_every_command_whenever_it_comes(home: Path) -> None:
    ended_in_time(30, 1, home)


@pytest.mark.soak
def test_many_signals_end_every_command_whenever_they_come(home: Path) -> None:
    ended_in_time(300, 2, home)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_second_signal_ends_a_command_that_does_not_end(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "stubborn.py").write_text(
        "import asyncio\n"
        "from beforehand.cli.run_async import run_async\n"
        "async def stubborn():\n"
        "    while True:\n"
        "        try:\n"
        "            print('works', flush=True)\n"
        "            await asyncio.sleep(600)\n"
        "        except asyncio.CancelledError:\n"
        "            pass\n"
        "run_async(stubborn())\n"
    )
    process = subprocess.Popen(
        [BEFOREHAND.parent / "python", "stubborn.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    for _ in range(2):
        assert process.stdout.readline() == b"works\n"
        process.send_signal(number)
    assert process.communicate(timeout=PATIENCE_S) == (b"", b"Stopped.\n")
    assert process.returncode == 128 + number
