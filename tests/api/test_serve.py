"""The server as a process: it says where it is, stops cleanly with streams open, and starts only where it may."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fork_server import Forked

RUN = """
import json, sys
from beforehand.app.logs import configure_logs
from beforehand.app.settings import load_settings
from beforehand.cli.exits import Stopped
from beforehand.cli.run_async import run_async
from beforehand.model.errors import BeforehandError
from beforehand.server.serve import serve

flags = json.loads(sys.argv[1])
scenes = flags.pop("scenes", [])
configure_logs()
try:
    served = serve(load_settings(flags, {}), scenes=scenes, ready=lambda url: print(url, flush=True))
    run_async(served, log_level=None)
except Stopped:
    pass
except BeforehandError as error:
    print(type(error).__name__, error.says, error.hint, file=sys.stderr)
    sys.exit(2)
print("closed", flush=True)
"""


@contextmanager
def started(folder: Path, *, script: str = RUN, **flags: Any) -> Iterator[subprocess.Popen[str]]:
    (folder / "workspace").mkdir(exist_ok=True)
    given = {"home": str(folder / "home"), "workspace": str(folder / "workspace"), "port": 0, **flags}
    process = Forked(
        ["-c", script, json.dumps(given)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def listening(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("http://"), process.communicate()
    return url


def call(url: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/api/v1{path}", data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_with_streams_open(tmp_path: Path, number: signal.Signals) -> None:
    with started(tmp_path) as process, ExitStack() as open_streams:
        url = listening(process)
        plan = {"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 3600}}]}
        taken = call(url, "/plans", {"plan": plan})
        call(url, f"/plans/{taken['id']}/runs", {"version": 1})
        for path in ("/events", "/events?kinds=none", "/telemetry", "/live"):
            stream = open_streams.enter_context(urllib.request.urlopen(f"{url}/api/v1{path}", timeout=30))
            assert stream.status == 200
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert "closed" in out
        assert "Traceback" not in err


def test_it_says_where_it_is_and_another_on_the_same_home_says_so(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        url = listening(first)
        with started(tmp_path) as second:
            _, err = second.communicate(timeout=60)
            assert second.returncode == 2
            assert "NotLeadingError" in err
            assert url in err


def test_a_port_in_use_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with started(tmp_path, port=port) as process:
            _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"Port {port}" in err
    assert "--port" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 0), ("127.0.0.1", 70_000), ("203.0.113.7", 0)])
def test_an_address_that_cannot_be_is_a_sentence(tmp_path: Path, host: str, port: int) -> None:
    with started(tmp_path, host=host, port=port) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "BadInputError" in err


def test_open_to_other_machines_it_starts_only_with_a_token(tmp_path: Path) -> None:
    with started(tmp_path, host="0.0.0.0") as process:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "token" in err
    with started(tmp_path, host="0.0.0.0", token="s3cret") as process:
        url = listening(process)
        assert call(url, "/health")["status"] == "ok"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            call(url, "/state")


def test_a_run_is_taken_up_after_a_restart(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        url = listening(process)
        step = {"id": "a", "tool": "wait", "args": {"seconds": 0}, "requiresApproval": True}
        taken = call(url, "/plans", {"plan": {"steps": [step]}})
        run = call(url, f"/plans/{taken['id']}/runs", {"version": 1})
        process.kill()
    with started(tmp_path) as process:
        url = listening(process)
        stream = urllib.request.urlopen(f"{url}/api/v1/events", timeout=30)
        decision = next(
            event["data"]
            for event in (json.loads(line[6:]) for line in stream if line.startswith(b"data: "))
            if event["kind"] == "decisionOpened" and event["data"]["kind"] == "approval"
        )
        call(url, f"/inbox/{decision['id']}", {"verb": "approve"})
        for line in stream:
            if b'"runFinished"' in line:
                break
        assert call(url, f"/runs/{run['runId']}")["status"] == "completed"


def test_a_scene_that_cannot_be_made_live_does_not_keep_the_rest_down(tmp_path: Path) -> None:
    with started(tmp_path, scenes=["weld_star"]) as process:
        listening(process)
    broken = RUN.replace(
        "configure_logs()",
        """
configure_logs()
from beforehand.crafts.cell.cells import Cells
from beforehand.model.errors import UnavailableError
async def activate(self, name, document):
    raise UnavailableError("The graph does not answer.")
Cells.activate = activate
""",
    )
    with started(tmp_path, script=broken) as process:
        assert call(listening(process), "/health")["status"] == "ok"


def test_a_browser_is_only_opened_where_there_is_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    from beforehand.server.serve import has_screen

    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not has_screen()
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_screen()


def test_named_scenes_are_live_and_stay_so(tmp_path: Path) -> None:
    with started(tmp_path, scenes=["weld_star"]) as process:
        assert call(listening(process), "/scenes")[0]["active"] is True
    with started(tmp_path) as process:
        assert [scene["name"] for scene in call(listening(process), "/state")["scenes"]] == ["weld_star"]
