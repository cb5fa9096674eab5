"""Every call of the schema is tried by schemathesis with what its schema allows and what it does not.

Whatever is asked, the answer is one that the schema declares, of its type and shape; server-sent events included. The
calls come from the server's own schema, so a new one is tried without being named here.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.fork_server import Forked

pytestmark = pytest.mark.needs("schemathesis")

SCENES = ("weld_star", "cross_dock", "studio")
RUN = """
import asyncio, sys
from beforehand.app.settings import load_settings
from beforehand.server.serve import serve

home, workspace, *scenes = sys.argv[1:]
flags = {"home": home, "workspace": workspace, "port": 0, "token": "the-token-of-these-tests"}
asyncio.run(serve(load_settings(flags, {}), scenes=scenes, ready=lambda url: print(url, flush=True)))
"""
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")
TOKEN = "the-token-of-these-tests"
"""Tokens are among what is made and revoked, so whoever tries the calls needs one of the settings."""
STREAM_S, PATIENCE_S = "1", "60"
"""How long a stream is listened to, what came by then is judged; and how long any other answer may take."""


@pytest.fixture
def api(tmp_path: Path) -> Iterator[str]:
    """A server with the demo's scenes, a plan under review, one under way, and a template."""
    (tmp_path / "workspace").mkdir()
    given = [str(tmp_path / "home"), str(tmp_path / "workspace"), *SCENES]
    with (tmp_path / "log").open("w") as log:
        server = Forked(["-c", RUN, *given], stdout=subprocess.PIPE, stderr=log, text=True)
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        assert url, (tmp_path / "log").read_text()
        _fill(f"{url}/api/v1")
        yield f"{url}/api/v1"
    finally:
        server.terminate()
        server.wait(30)


def _fill(api: str) -> None:
    for _ in range(2):
        plan = _call("POST", f"{api}/plans", {"scene": "weld_star", "text": "weld 1 and 2"})
    _call("POST", f"{api}/plans/{plan['id']}/runs", {"version": 1})
    _call("POST", f"{api}/sessions", {"scene": "studio"})
    steps = [{"id": "step_1", "tool": "wait", "args": {"seconds": "$params.s"}}]
    template = {"parameters": {"s": {"type": "number"}}, "plan": {"steps": steps}}
    _call("PUT", f"{api}/templates/pause", template)


def _call(method: str, url: str, body: Any) -> Any:
    request = urllib.request.Request(
        url,
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def _try_every_call(api: str, examples: int) -> None:
    """The streams apart from the rest and beside it: they never end, so they are given up soon."""
    names = _operations(api)
    streams = [part for name, streams in names.items() if streams for part in ("--include-operation-id", name)]
    others = [part.replace("include", "exclude") for part in streams]
    with ThreadPoolExecutor() as pool:
        listened = pool.submit(_tried, api, examples, [*streams, "--request-timeout", STREAM_S])
        assert _tried(api, examples, [*others, "--request-timeout", PATIENCE_S]) == len(names) - len(streams) // 2
        assert listened.result() == len(streams) // 2


def _operations(api: str) -> dict[str, bool]:
    """Every call of the schema, and whether it answers with a stream."""
    request = urllib.request.Request(f"{api}/openapi.json", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        paths = json.load(answer)["paths"]
    calls = [call for methods in paths.values() for call in methods.values()]
    return {call["operationId"]: "text/event-stream" in json.dumps(call["responses"]) for call in calls}


def _tried(api: str, examples: int, which: list[str]) -> int:
    """How many calls were tried; AssertionError with the whole report where an answer was not a declared one."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{api}/openapi.json", "--no-color", "--no-shrink"]
    command += ["-n", str(examples), "--seed", "1", "--generation-database", "none", "--warnings", "off", "-w", "1"]
    command += ["--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing", "--continue-on-failure"]
    command += ["--suppress-health-check", "all", "-H", f"Authorization: Bearer {TOKEN}", *which]
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    hooks = {
        "SCHEMATHESIS_HOOKS": "tests.api.known_names",
        "BEFOREHAND_TESTED": api,
        "TESTED_WITH": TOKEN,
        "PYTHONPATH": paths,
    }
    with tempfile.TemporaryDirectory() as folder:  # it keeps what it found where it is started
        environment = {**os.environ, **hooks}
        tried = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stdout[-20_000:] + tried.stderr[-5_000:]
    [count] = re.findall(r"Tested: (\d+)", tried.stdout)
    return int(count)


def test_every_call_gives_only_what_it_declares(api: str) -> None:
    _try_every_call(api, 4)


@pytest.mark.soak
def test_every_call_gives_only_what_it_declares_however_long_it_is_tried(api: str) -> None:
    _try_every_call(api, 200)
