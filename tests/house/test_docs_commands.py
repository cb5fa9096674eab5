"""Commands shown with their output in the documentation are run, in an empty folder, and give that output.

A line of expected output must come out; ids and times of a run are taken as they fall. `…` stands for anything left
out. What needs a live fleet is run beside a server, which stands where the page says it does.
"""

import atexit
import functools
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from tests.fork_server import forked_command

NEEDS_A_SERVER = ("beforehand up", "beforehand fleet why", "beforehand inbox answer", "beforehand robots")
LIVE = ("beforehand fleet why", "beforehand robots")
FALLS_AS_IT_WILL = (
    (re.compile(r"\b(run|plan)_[0-9a-z]{14}\b"), r"\1_ID"),
    (re.compile(r"completed after [\d.]+ m?s"), "completed after TIME"),
    (re.compile(r"[─\s]+"), " "),
)


def sessions(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each `$ command` of the indented blocks, with the lines that are shown below it."""
    for block in re.findall(r"(?:^ {4}.*\n)+", page, re.MULTILINE):
        lines = [line[4:] for line in block.splitlines()]
        starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
        for at, end in pairwise([*starts, len(lines)]):
            yield lines[at][2:], lines[at + 1 : end]


def plainly(text: str) -> str:
    for pattern, stands_for in FALLS_AS_IT_WILL:
        text = pattern.sub(stands_for, text)
    return text.strip()


def give_files(page: str, folder: Path) -> None:
    """The files the page tells its readers to write."""
    for document in re.findall(r"^```yaml\n(name: Greet\n.*?)^```", page, re.DOTALL | re.MULTILINE):
        (folder / "greet.yaml").write_text(document, encoding="utf-8")
    for intent in re.findall(r"^( {4}steps:\n(?: {6}.*\n)+)", page, re.MULTILINE):
        (folder / "mix.yaml").write_text(intent, encoding="utf-8")


@functools.cache
def folder_of_command() -> str:
    """A folder with `beforehand`, which is forked from a process that has it loaded."""
    folder = Path(tempfile.mkdtemp())
    command = folder / "beforehand"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(forked_command())} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    atexit.register(shutil.rmtree, folder)
    return str(folder)


def environment() -> dict[str, str]:
    path = os.pathsep.join([folder_of_command(), os.environ.get("PATH", os.defpath)])
    return {key: value for key, value in os.environ.items() if not key.startswith("BEFOREHAND_")} | {"PATH": path}


def run(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def assert_shown(command: str, shown: list[str], folder: Path) -> None:
    done = run(command, folder)
    came = {plainly(line) for line in (done.stdout + "\n" + done.stderr).splitlines()}
    missing = [line for line in shown if line.strip() != "…" and plainly(line) not in came]
    assert missing == [], f"$ {command}\n{done.stdout}\n{done.stderr}"


@contextmanager
def serving(folder: Path, speed: str) -> Iterator[None]:
    """A server with the line, which gives out its one task at once."""
    words = ["beforehand", "up", "--scene", "line_pick_drop", "--port", "0", "--no-open", "--speed", speed]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(words, cwd=folder, env=environment(), **quiet) as server:  # type: ignore[call-overload]
        try:
            assert server.stdout.readline().startswith("Beforehand is at")
            yield
        finally:
            server.terminate()


def until(status: str, folder: Path) -> None:
    """Wait for the line's task to be so far."""
    for _ in range(200):
        if f'"status": "{status}"' in run("beforehand tasks -o json", folder).stdout:
            return
    raise AssertionError(f"no task was {status}")


@pytest.mark.parametrize(
    ("name", "speed", "status"), [("README.md", "0.2", "active"), ("docs/fleets.md", "200", "completed")]
)
def test_what_is_shown_of_a_live_fleet_is_what_it_says(
    name: str, speed: str, status: str, repository: Path, tmp_path: Path
) -> None:
    page = (repository / name).read_text(encoding="utf-8")
    live = [(command, shown) for command, shown in sessions(page) if command.startswith(LIVE)]
    first = next(at for at, (command, _) in enumerate(live) if command == "beforehand fleet why")
    told = [item for item in live[first:] if not any("cross_dock" in line for line in item[1])]
    assert told
    with serving(tmp_path, speed):
        until(status, tmp_path)
        for command, shown in told:
            assert_shown(command, shown, tmp_path)


@pytest.mark.parametrize("name", ["README.md", "docs/cells.md", "docs/fleets.md", "docs/rounds.md"])
def test_commands_give_the_output_that_is_shown(name: str, repository: Path, tmp_path: Path) -> None:
    page = (repository / name).read_text(encoding="utf-8")
    give_files(page, tmp_path)
    (tmp_path / "examples").symlink_to(repository / "examples")
    ran = 0
    for command, shown in sessions(page):
        if command.startswith(NEEDS_A_SERVER):
            continue
        assert_shown(command, shown, tmp_path)
        ran += 1
    assert ran >= 2
