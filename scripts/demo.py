"""Starts Beforehand with its demo, as `make run` does.

The first time a folder `demo/` is made: a workspace, and a home that remembers. The server starts on it with the demo
scenes, and two plans are put into the inbox for review: eight steps on files, and a weld for the cell.
Delete `demo/` to begin anew.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "demo"
DEMO = ROOT / "demo"
PUT_IN = DEMO / ".plan-put-in"
SCENES = ("weld_star", "cross_dock")
PATIENCE_S = 60


def prepare() -> None:
    """Copy the example's workspace, once: what a person has changed in it since stays."""
    if not (DEMO / "workspace").exists():
        shutil.copytree(EXAMPLE / "workspace", DEMO / "workspace")


def server_command(host: str, port: int, flags: list[str]) -> list[str]:
    scenes = [name for name in SCENES if (ROOT / "scenes" / f"{name}.yaml").exists()]
    named = [part for name in scenes for part in ("--scene", name)]
    program = str(Path(sys.executable).parent / "beforehand")
    return [program, "up", "--home", str(DEMO / ".beforehand"), "--host", host, "--port", str(port), *named, *flags]


def call(base: str, path: str, body: dict[str, Any] | None = None) -> Any:
    headers = {"Content-Type": "application/json"}
    if token := os.environ.get("BEFOREHAND_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{base}/api/v1{path}", data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read())


def wait_until_up(base: str, server: subprocess.Popen[bytes]) -> bool:
    give_up = time.monotonic() + PATIENCE_S
    while server.poll() is None and time.monotonic() < give_up:
        try:
            call(base, "/health")
        except (OSError, ValueError):
            time.sleep(0.1)
        else:
            return server.poll() is None
    return False


def put_plans_in(base: str) -> None:
    """Hand the demo's plans in for review, once per demo folder: a weld for the cell, and eight steps on files."""
    if PUT_IN.exists():
        return
    import yaml

    plan = yaml.safe_load((EXAMPLE / "plan.yaml").read_text(encoding="utf-8"))
    for body in ({"plan": plan}, {"scene": "weld_star", "text": "weld position 1 and 2"}):
        try:
            call(base, "/plans", body)
        except urllib.error.HTTPError as refused:
            print(f"A plan of the demo was refused: {refused.read().decode(errors='replace')}", file=sys.stderr)
    PUT_IN.touch()


def main() -> int:
    parser = argparse.ArgumentParser(description="Start Beforehand with its demo.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8700)
    options, flags = parser.parse_known_args()
    prepare()
    # File tools work inside the folder the server is started in.
    server = subprocess.Popen(server_command(options.host, options.port, flags), cwd=DEMO / "workspace")
    # Ctrl-C reaches the server by itself; a plain kill of this process is handed on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    base = f"http://{options.host}:{options.port}"
    if wait_until_up(base, server):
        put_plans_in(base)
    code = server.wait()
    return 0 if code in (-signal.SIGTERM, -signal.SIGINT) else code


if __name__ == "__main__":
    sys.exit(main())
