"""The command in a process, a folder and a home of its own.

`cli` forks it from a process that has it loaded; `installed` starts the installed command, for tests of the start.
"""

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fork_server import Forked, run_forked

from beforehand.testing.model_http import FakeServer

BEFOREHAND = Path(sys.executable).parent / "beforehand"
PATIENCE_S = 60


def clean_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
    return kept | {"BROWSER": "true", "NO_COLOR": "", "COLUMNS": "100"}


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)


class Cli:
    """`cli("run", "plan.yaml")` in `cli.folder`; no outcome may ever hold a traceback."""

    def __init__(self, folder: Path, *, installed: bool = False) -> None:
        self.folder = folder
        self._installed = installed
        self.environment = clean_environment()
        self._started: list[subprocess.Popen[str]] = []

    def __call__(self, *words: str, given: str | bytes = b"", code: int | None = None, **environment: str) -> Outcome:
        raw = given.encode() if isinstance(given, str) else given
        options: dict[str, Any] = {"cwd": self.folder, "env": self.environment | environment, "timeout": PATIENCE_S}
        if self._installed:
            done = subprocess.run([str(BEFOREHAND), *words], input=raw, capture_output=True, **options)
        else:
            done = run_forked(words, input=raw, **options)
        outcome = Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in outcome.out + outcome.err, outcome.err
        if code is not None:
            assert outcome.code == code, f"exit {outcome.code}\n{outcome.out}\n{outcome.err}"
        if code:
            assert outcome.err.strip(), "an exit code other than 0 comes with a sentence"
        return outcome

    def start(
        self, *words: str, stdin: int = subprocess.DEVNULL, stderr: Any = subprocess.PIPE, **environment: str
    ) -> "subprocess.Popen[str]":
        """The command beside the test; it is ended with the test."""
        start, command = (subprocess.Popen, [str(BEFOREHAND), *words]) if self._installed else (Forked, [*words])
        process = start(
            command,
            cwd=self.folder,
            env=self.environment | environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        self._started.append(process)
        return process

    def up(self, *words: str, **environment: str) -> str:
        """A server on a free port; its URL. It logs to a file: a pipe that nobody empties would hold it up."""
        with tempfile.TemporaryFile() as log:
            process = self.start("up", "--no-open", "--port", "0", *words, stderr=log, **environment)
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("Beforehand is at http://"), os.pread(log.fileno(), 10_000, 0).decode()
        return first.split()[-1]

    def end_all(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=PATIENCE_S)

    def write(self, name: str, document: Any) -> str:
        """A file in the folder: text as it is, anything else as YAML."""
        text = document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False)
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def plan(self, *steps: dict[str, Any], name: str = "plan.yaml", **more: Any) -> str:
        return self.write(name, {"steps": list(steps), **more})

    def events(self) -> list[dict[str, Any]]:
        """The home's log, read from its file."""
        import sqlite3

        connection = sqlite3.connect(self.folder / ".beforehand" / "log.db")
        try:
            return [json.loads(line) for (line,) in connection.execute("SELECT line FROM events ORDER BY seq")]
        finally:
            connection.close()


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    made = Cli(tmp_path)
    yield made
    made.end_all()


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Cli]:
    """The installed command, started as a shell starts it."""
    made = Cli(tmp_path, installed=True)
    yield made
    made.end_all()


@pytest.fixture
def step() -> Callable[..., dict[str, Any]]:
    """`step("a", "wait", seconds=0)`: one step of a plan; fields of the step itself go into `also`."""

    def made(id: str, tool: str, also: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
        return {"id": id, "tool": tool, "args": args, **(also or {})}

    return made


ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")


class Terminal:
    """A program whose terminal the test holds: it reads until some words come, and types."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self.seen = ""

    def until(self, words: str) -> str:
        """Everything shown up to these words, and what came before them is forgotten."""
        while words not in self.seen:
            part = self._read()
            assert part, f"{words!r} never came; seen:\n{self.seen}"
            self.seen += ESCAPES.sub("", part.decode(errors="replace"))
        before, self.seen = self.seen.split(words, 1)
        return before + words

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, 65536)
        except OSError:
            return b""  # the other side has closed

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def rest(self) -> str:
        while part := self._read():
            self.seen += ESCAPES.sub("", part.decode(errors="replace"))
        return self.seen


@pytest.fixture
def terminal(cli: Cli) -> Iterator[Callable[..., Terminal]]:
    opened: list[tuple[subprocess.Popen[bytes], int]] = []

    def at(*words: str) -> Terminal:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "beforehand"), *words],
            cwd=cli.folder,
            env=cli.environment | {"TERM": "xterm"},
            stdin=theirs,
            stdout=subprocess.PIPE if "json" in words else theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        opened.append((process, ours))
        return Terminal(process, ours)

    yield at
    for process, descriptor in opened:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        os.close(descriptor)


@contextmanager
def beside(fake: FakeServer) -> Iterator[asyncio.AbstractEventLoop]:
    """A fake provider in a thread of its own, since a command is waited for; its event loop."""
    loop, began, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with fake:
            began.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    began.wait(30)
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
        loop.close()
