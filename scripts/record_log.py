"""Records a log with the present code, as the fixture that later versions must still be able to read.

    python scripts/record_log.py [FILE]

A server works on an empty home for a few seconds: a weld planned, edited and carried out; a plan on files that waits
for an approval; a question and a failure that wait; a review; a template; a fleet that froze on an error, went on,
froze again and is held by a person; a session that is over and one that goes on; a question and one about its answer;
a plan that a model (a fake one, here) wrote. Run it once for every `DATA_VERSION`.
"""

import argparse
import asyncio
import gzip
import json
import os
import signal
import sqlite3
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Thread
from typing import Any

from beforehand.model.versions import DATA_VERSION
from beforehand.testing.model_replies import gives
from beforehand.testing.model_servers import FakeOpenAI

FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "logs"
PATIENCE_S = 60
GREET = {
    "name": "Greet",
    "steps": [
        {"id": "name", "tool": "read_file", "args": {"path": "name.txt"}},
        {"id": "letter", "tool": "write_file", "args": {"path": "letter.txt", "content": "Dear ${name}, welcome."}},
        {"id": "each", "tool": "read_file", "args": {"path": "$item"}, "forEach": ["name.txt", "name.txt"]},
        {"id": "tidy", "tool": "delete_file", "args": {"path": "name.txt"}, "dependsOn": ["letter", "each"]},
    ],
}
STUCK = {
    "steps": [
        {"id": "q", "tool": "ask_person", "args": {"question": "Red or blue?"}},
        {"id": "bad", "tool": "read_file", "args": {"path": "gone.txt"}},
    ]
}
WRITTEN = {
    "name": "Copy the name",
    "steps": [
        {
            "id": "read",
            "description": "Read the name.",
            "tool": "read_file",
            "args": [{"name": "path", "json_value": '"name.txt"'}],
            "depends_on": [],
            "requires_approval": False,
            "when": "",
            "on_failure": "continue",
        }
    ],
    "edge_cases": [],
    "cannot": "",
}


class Api:
    def __init__(self, url: str) -> None:
        self._url = f"{url}/api/v1"

    def __call__(self, method: str, path: str, body: Any = None, version: int | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **({"If-Match": str(version)} if version else {})}
        request = urllib.request.Request(f"{self._url}{path}", data=data, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())

    def until(self, path: str, holds: Callable[[Any], Any]) -> Any:
        """What a path says once it says so."""
        give_up = time.monotonic() + PATIENCE_S
        while not (found := holds(self("GET", path))):
            if time.monotonic() > give_up:
                raise SystemExit(f"{path} never came to what was waited for.")
            time.sleep(0.05)
        return found


@contextmanager
def model() -> Iterator[dict[str, str]]:
    """A model server that always writes the same plan, and the settings that name it."""
    loop = asyncio.new_event_loop()
    fake = FakeOpenAI(gives(WRITTEN))
    thread = Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(fake.__aenter__(), loop).result(PATIENCE_S)
    try:
        yield {"BEFOREHAND_MODEL": "openai:fake", "BEFOREHAND_MODEL_URL": fake.url, "BEFOREHAND_MODEL_KEY": "none"}
    finally:
        asyncio.run_coroutine_threadsafe(fake.__aexit__(None, None, None), loop).result(PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


@contextmanager
def server(folder: Path, settings: dict[str, str]) -> Iterator[Api]:
    command = [sys.executable, "-m", "beforehand", "up", "--no-open", "--port", "0", "--speed", "20", "--home", "home"]
    scenes = ["--scene", "weld_star", "--scene", "line_pick_drop", "--scene", "studio", "--scene", "apartment"]
    environment = {**os.environ, **settings}
    with Popen([*command, *scenes], cwd=folder, env=environment, stdout=PIPE, stderr=DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield Api(process.stdout.readline().split()[-1])
        finally:
            process.send_signal(signal.SIGINT)


def live(api: Api) -> None:
    api("POST", "/robots/RB-01/faults", {"fault": "status5"})
    weld = api("POST", "/plans", {"scene": "weld_star", "text": "weld 1 and 2"})
    first = weld["steps"][0]["id"]
    edits = [{"op": "edit", "id": first, "set": {"description": "Go"}}]
    weld = api("PATCH", f"/plans/{weld['id']}", {"edits": edits}, version=1)
    welding = start(api, weld)
    for plan in (GREET, STUCK):
        waiting = start(api, api("POST", "/plans", {"plan": plan}))
        api.until(f"/runs/{waiting}", lambda run: run["status"] == "waiting")
    api("POST", "/plans", {"scene": "line_pick_drop", "text": "bring the pallet from PICK_01 to DROP_01"})
    api("PUT", "/templates/Greet", {"plan": GREET, "parameters": {}})
    api.until(f"/runs/{welding}", lambda run: run["status"] == "completed")
    api("POST", f"/inbox/{frozen(api)['id']}", {"verb": "resume"})
    api.until("/tasks", lambda tasks: [task for task in tasks if task["status"] == "completed"])
    api("PATCH", "/worksites/DROP_01", {"occupancy": "empty"})
    api("PATCH", "/worksites/PICK_01", {"occupancy": "filled"})
    api.until("/tasks", lambda tasks: [task for task in tasks if task["status"] == "active"])
    api("POST", "/robots/RB-01/faults", {"fault": "status5"})
    frozen(api)
    api("POST", "/fleet/line_pick_drop/hold")
    sessions(api)
    questions(api)
    draft = api("POST", "/drafts", {"text": "Copy the name."})["draftId"]
    api.until(f"/drafts/{draft}", lambda found: found["status"] == "finished")


def sessions(api: Api) -> None:
    """One that a policy brings to its end, and one that a person steers and that goes on."""
    over = api("POST", "/sessions", {"scene": "studio", "goal": "bring laptop1 to bed1", "policy": True})["sessionId"]
    api.until(f"/sessions/{over}", lambda session: session["status"] == "ended")
    open_one = api("POST", "/sessions", {"scene": "apartment"})["sessionId"]
    for command in ("start(walk to table1)", "skip(2)", "start(dancing)"):
        api("POST", f"/sessions/{open_one}/commands", {"command": command})


def questions(api: Api) -> None:
    """Two that rules answer from the log, the second about the answer of the first."""
    first = asked(api, {"text": "How many runs were there today?"})
    asked(api, {"text": "And how many of them failed?", "follows": first})


def asked(api: Api, question: Any) -> str:
    name = api("POST", "/questions", question)["questionId"]
    api.until(f"/questions/{name}", lambda found: found["status"] in ("done", "failed"))
    return str(name)


def start(api: Api, plan: Any) -> str:
    return str(api("POST", f"/plans/{plan['id']}/runs", {"version": plan["version"]})["runId"])


def frozen(api: Api) -> Any:
    """The decision that a fleet waits for once its robot has reported an error."""
    return api.until("/inbox", lambda inbox: next((one for one in inbox if one["kind"] == "hold"), None))


def keep(log: Path, folder: Path, target: Path) -> None:
    """Pack the log without anything that only this machine knows."""
    with closing(sqlite3.connect(log)) as file:
        file.execute("UPDATE lead SET pid = 1, host = 'recorded', url = NULL")
        for table, column in (("events", "line"), ("rows", "body")):
            for row, text in file.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
                own = text.replace(str(folder).encode(), b"/recorded")
                file.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (own, row))
        file.commit()
        file.execute("PRAGMA journal_mode = DELETE")
        file.execute("VACUUM")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(log.read_bytes(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description="Record a log with the present code.")
    named = FIXTURES / f"version-{DATA_VERSION}.db.gz"
    parser.add_argument("file", nargs="?", type=Path, default=named, help="where to write (default: the fixture)")
    target = parser.parse_args().file
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "name.txt").write_text("Ada", encoding="utf-8")
        with model() as settings, server(folder, settings) as api:
            live(api)
        keep(folder / "home" / "log.db", folder, target)
    print(f"Recorded {target}, {target.stat().st_size} bytes.")


if __name__ == "__main__":
    main()
