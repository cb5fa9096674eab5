"""What `make run` shows: plans to review, an agent's session and a question, put in once however often it starts."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_S = 60


@contextmanager
def started(repository: Path, folder: Path) -> Iterator[str]:
    """The demo, once everything of it was put in; the address of its calls."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(repository / "scripts" / "demo.py"), "--port", str(port), "--no-open"]
    with (folder / "log").open("a") as log:
        demo = subprocess.Popen([*command, "--folder", str(folder / "demo")], stdout=log, stderr=log)
    api = f"http://127.0.0.1:{port}/api/v1"
    try:
        _until(lambda: [one["status"] for one in get(api, "/questions")] == ["done"], folder / "log")
        yield api
    finally:
        demo.terminate()
        assert demo.wait(PATIENCE_S) == 0, (folder / "log").read_text()


def _until(holds: Any, log: Path) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while True:
        try:
            if holds():
                return
        except (urllib.error.URLError, ConnectionError):  # it does not listen yet
            pass
        assert time.monotonic() < give_up, log.read_text()
        time.sleep(0.1)


def get(api: str, path: str) -> Any:
    with urllib.request.urlopen(api + path, timeout=30) as answer:
        return json.load(answer)


def test_the_demo_has_something_of_everything_and_puts_it_in_once(repository: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with started(repository, tmp_path) as api:
            assert sorted(one["title"] for one in get(api, "/inbox")) == [
                "Review: Prepare release 2.0.0 (8 steps, version 1)",
                "Review: weld position 1 and 2 (12 steps, version 1)",
            ]
            [session] = get(api, "/sessions")
            assert (session["status"], session["goalReached"]) == ("open", False)
            assert "Right Hand Holding: cup1" in session["state"]
            [question] = get(api, "/questions")
            assert "RB-01" in question["answer"]
            assert {one["name"] for one in get(api, "/state")["scenes"]} >= {"weld_star", "cross_dock", "apartment"}
    assert "refused" not in (tmp_path / "log").read_text()
