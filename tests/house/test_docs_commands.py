"""Commands shown with their output in the documentation are run, in an empty folder, and give that output.

A line of expected output must come out; ids and times of a run are taken as they fall. `…` stands for anything left
out. What needs a live server is left to the tests of the server.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

NEEDS_A_SERVER = ("beforehand up", "beforehand fleet why", "beforehand inbox answer")
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


@pytest.mark.parametrize("name", ["README.md", "docs/cells.md", "docs/fleets.md"])
def test_commands_give_the_output_that_is_shown(name: str, repository: Path, tmp_path: Path) -> None:
    page = (repository / name).read_text(encoding="utf-8")
    give_files(page, tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    clean = {key: value for key, value in os.environ.items() if not key.startswith("BEFOREHAND_")}
    ran = 0
    for command, shown in sessions(page):
        if command.startswith(NEEDS_A_SERVER):
            continue
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=clean | {"PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        came = {plainly(line) for line in (done.stdout + "\n" + done.stderr).splitlines()}
        missing = [line for line in shown if line.strip() != "…" and plainly(line) not in came]
        assert missing == [], f"{name}: $ {command}\n{done.stdout}\n{done.stderr}"
        ran += 1
    assert ran >= 2
