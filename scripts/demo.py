"""Starts Beforehand with its demo, as `make run` does.

The first time a folder `demo/` is made: a workspace, and a home that remembers. The server starts on it with the demo
scenes; then, once, there is something to look at: two plans in the inbox for review (eight steps on files, and a weld
for the cell), a session of an agent who has taken a cup and is on the way with it, and a question that was answered.
No model is needed for any of it. Delete `demo/` to begin anew.
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
SCENES = ("weld_star", "cross_dock", "apartment")
SESSION = {"scene": "apartment", "goal": "bring cup1 to shelf1"}
COMMANDS = (
    'start("taking cup1 from table1")',
    "skip(30, wake_on=done)",
    'stop("taking cup1 from table1")',
    'start("placing cup1 on shelf1")',
    "skip(1)",
)
QUESTION = {"text": "how many tasks per robot today?"}
PATIENCE_S = 60
SOME_TASKS, TASKS_WITHIN_S = 3, 10


def prepare(demo: Path) -> None:
    """Copy the example's workspace, once: what a person has changed in it since stays."""
    if not (demo / "workspace").exists():
        shutil.copytree(EXAMPLE / "workspace", demo / "workspace")


def server_command(demo: Path, host: str, port: int, flags: list[str]) -> list[str]:
    scenes = [name for name in SCENES if (ROOT / "scenes" / f"{name}.yaml").exists()]
    named = [part for name in scenes for part in ("--scene", name)]
    program = str(Path(sys.executable).parent / "beforehand")
    return [program, "up", "--home", str(demo / ".beforehand"), "--host", host, "--port", str(port), *named, *flags]


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


def put_in(base: str, demo: Path) -> None:
    """Everything there is to look at, each once per demo folder."""
    for what, put in (("plan", put_plans_in), ("session", begin_session), ("question", ask_question)):
        mark = demo / f".{what}-put-in"
        if mark.exists():
            continue
        try:
            put(base)
        except urllib.error.HTTPError as refused:
            print(f"The demo's {what} was refused: {refused.read().decode(errors='replace')}", file=sys.stderr)
        mark.touch()


def put_plans_in(base: str) -> None:
    import yaml

    plan = yaml.safe_load((EXAMPLE / "plan.yaml").read_text(encoding="utf-8"))
    for body in ({"plan": plan}, {"scene": "weld_star", "text": "weld position 1 and 2"}):
        call(base, "/plans", body)


def begin_session(base: str) -> None:
    """Begin an agent's errand and leave it open, for a person to go on with."""
    session = call(base, "/sessions", SESSION)["sessionId"]
    for command in COMMANDS:
        call(base, f"/sessions/{session}/commands", {"command": command})


def ask_question(base: str) -> None:
    """Ask about the fleet's tasks, once there are some."""
    give_up = time.monotonic() + TASKS_WITHIN_S
    while len(call(base, f"/tasks?limit={SOME_TASKS}")) < SOME_TASKS and time.monotonic() < give_up:
        time.sleep(0.2)
    call(base, "/questions", QUESTION)


def main() -> int:
    parser = argparse.ArgumentParser(description="Start Beforehand with its demo.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8700)
    parser.add_argument("--folder", type=Path, default=ROOT / "demo")
    options, flags = parser.parse_known_args()
    demo = options.folder.resolve()
    prepare(demo)
    # File tools work inside the folder the server is started in.
    server = subprocess.Popen(server_command(demo, options.host, options.port, flags), cwd=demo / "workspace")
    # Ctrl-C reaches the server by itself; a plain kill of this process is handed on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    base = f"http://{options.host}:{options.port}"
    if wait_until_up(base, server):
        put_in(base, demo)
    code = server.wait()
    return 0 if code in (-signal.SIGTERM, -signal.SIGINT) else code


if __name__ == "__main__":
    sys.exit(main())
