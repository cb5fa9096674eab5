"""kill -9 of real processes at many points: what was done stays done, and nothing physical is done twice.

The example plug-in's tools write down each of their effects in a file, with the key of the call, so that they can be
counted. The tests wait for what the log or that file shows, and kill then.
"""

import json
import os
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.fork_server import Forked

from beforehand.testing.postgres_server import PostgresServer

PATIENCE_S = 60
Document = dict[str, Any]


class Runtime:
    """A folder with a home, the command, its log and the file of effects."""

    def __init__(self, folder: Path, database: str | None = None) -> None:
        self.folder = folder
        self._database = database
        self.effects_file = folder / "effects"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
        if database is not None:
            self.environment["BEFOREHAND_DB"] = database
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *words: str) -> "subprocess.Popen[str]":
        process = Forked(
            [*words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def finish(self, process: "subprocess.Popen[str]") -> tuple[int, str, str]:
        out, err = process.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in err, err
        return process.returncode, out, err

    def do(self, *words: str) -> tuple[int, str, str]:
        return self.finish(self.start(*words))

    def up(self) -> "subprocess.Popen[str]":
        process = self.start("up", "--no-open", "--port", "0")
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Beforehand is at")
        return process

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def plan(self, *steps: Document) -> str:
        (self.folder / "plan.json").write_text(json.dumps({"steps": steps}))
        return "plan.json"

    # -- what is on disk ---------------------------------------------------------------------------------------------

    def _ask_log(self, question: str) -> list[Any]:
        if self._database is not None:
            return ask_postgres(self._database, question)
        try:
            file = sqlite3.connect(f"file:{self.folder}/.beforehand/log.db?mode=ro", uri=True)
        except sqlite3.OperationalError:
            return []
        try:
            return [answer for (answer,) in file.execute(question)]
        except sqlite3.OperationalError:
            return []  # the process is about to make it
        finally:
            file.close()

    def events(self) -> list[Document]:
        return [json.loads(line) for line in self._ask_log("SELECT line FROM events ORDER BY seq")]

    def length(self) -> int:
        """How many events the log holds."""
        return sum(self._ask_log("SELECT COUNT(*) FROM events"))

    def updates(self, step: str | None = None) -> list[Document]:
        found = [event["data"] for event in self.events() if event["kind"] == "stepUpdated"]
        return [data for data in found if step is None or data["stepId"] == step]

    def effects(self) -> Counter[str]:
        """How often each step wrote its line."""
        if not self.effects_file.exists():
            return Counter()
        return Counter(line.split("\t")[1] for line in self.effects_file.read_text().splitlines())

    def keys(self) -> list[str]:
        return [line.split("\t")[0] for line in self.effects_file.read_text().splitlines()]

    # -- waiting and killing -----------------------------------------------------------------------------------------

    def wait_for(self, condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
        """Return once the disk shows what is waited for, or the process has ended by itself."""
        give_up = time.monotonic() + PATIENCE_S
        while not condition() and process.poll() is None:
            assert time.monotonic() < give_up, f"it never came; the log:\n{self.events()}"
            threading.Event().wait(0.02)

    def kill(self, process: "subprocess.Popen[str]") -> bool:
        """kill -9; whether it was still alive."""
        alive = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        return alive

    def kill_when(self, condition: Callable[[], bool], *words: str) -> bool:
        process = self.start(*words)
        self.wait_for(condition, process)
        return self.kill(process)

    @property
    def run_id(self) -> str:
        return next(event["about"]["runId"] for event in self.events() if event["kind"] == "runStarted")

    def resume(self, *words: str) -> tuple[int, Document]:
        code, out, err = self.do("run", "--resume", self.run_id, "-o", "json", *words)
        assert out, err
        return code, json.loads(out)

    def append(self, id: str, *needs: str, tool: str = "bench.append", **args: Any) -> Document:
        call = {"path": str(self.effects_file), "line": id, **args}
        return {"id": id, "tool": tool, "args": call, "dependsOn": list(needs)}


def ask_postgres(url: str, question: str) -> list[Any]:
    import psycopg

    try:
        with psycopg.connect(url, options="-c search_path=beforehand") as line:
            return [answer for (answer,) in line.execute(question)]
    except (psycopg.errors.UndefinedTable, psycopg.OperationalError):
        return []  # the process is about to make it, or the server is just down


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    made = Runtime(tmp_path)
    yield made
    made.close()


@pytest.fixture
def on_postgres(tmp_path: Path, durable_postgres: PostgresServer) -> Iterator[Runtime]:
    """The same on a database whose server waits for the disk."""
    made = Runtime(tmp_path, durable_postgres.new_database())
    yield made
    made.close()


def statuses(run: Document) -> dict[str, str]:
    return {step["id"]: step["status"] for step in run["steps"]}


def fourteen_steps(runtime: Runtime) -> list[Document]:
    """Two branches that meet: pure, idempotent and physical steps, which hang a little on either side of the effect."""
    blind = "bench.append_noprobe"
    return [
        {"id": "list", "tool": "list_dir", "args": {"path": "."}},
        {"id": "note", "tool": "write_file", "args": {"path": "note.txt", "content": "one"}},
        runtime.append("drill", "note", hang_s=0.05, hang="after"),
        runtime.append("bolt", "drill", tool=blind, hang_s=0.05, hang="after"),
        {"id": "read", "tool": "read_file", "args": {"path": "note.txt"}, "dependsOn": ["note"]},
        {"id": "copy", "tool": "copy_file", "args": {"from": "note.txt", "to": "copy.txt"}, "dependsOn": ["read"]},
        runtime.append("glue", "copy", hang_s=0.05, hang="before"),
        runtime.append("press", "glue", tool=blind, hang_s=0.05, hang="before"),
        {"id": "rest", "tool": "wait", "args": {"seconds": 0.05}, "dependsOn": ["press"]},
        {"id": "word", "tool": "write_file", "args": {"path": "word.txt", "content": "${read}!"}},
        runtime.append("turn", "bolt", "rest", hang_s=0.03, hang="after"),
        {"id": "count", "tool": "bench.count", "args": {"path": str(runtime.effects_file)}, "dependsOn": ["turn"]},
        {"id": "drop", "tool": "delete_file", "args": {"path": "copy.txt"}, "dependsOn": ["count"]},
        runtime.append("label", "drop", tool=blind),
    ]


PHYSICAL = ("drill", "bolt", "glue", "press", "turn", "label")


def answer_truthfully(runtime: Runtime, run: Document) -> None:
    """What a person does who goes and looks at the machine."""
    for decision in run["decisions"]:
        assert decision["kind"] == "inDoubt"
        assert decision["verbs"] == ["happened", "run-again", "abort"]
        verb = "happened" if runtime.effects()[decision["about"]["stepId"]] else "run-again"
        assert runtime.do("inbox", "answer", decision["id"], verb)[0] == 0


def carry_on(runtime: Runtime) -> Document:
    """Resume, and answer what is in doubt, until the run has ended."""
    for _ in range(len(PHYSICAL) + 1):
        code, run = runtime.resume("--yes")
        if code != 3:
            assert code == 0
            return run
        answer_truthfully(runtime, run)
    raise AssertionError("the run never ended")


def assert_nothing_was_lost_or_doubled(runtime: Runtime, run: Document) -> None:
    assert set(statuses(run).values()) == {"completed"}
    assert runtime.effects() == Counter(PHYSICAL)
    assert (runtime.folder / "word.txt").read_text() == "one!"
    assert not (runtime.folder / "copy.txt").exists()
    assert run["steps"][11]["result"]["value"] == 5
    assert_sound_log(runtime)


def assert_sound_log(runtime: Runtime) -> None:
    """Gap-free numbers, and nothing happens to a step once it has completed."""
    events = runtime.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    completed: set[str] = set()
    for data in runtime.updates():
        assert data["stepId"] not in completed, f"{data['stepId']} had completed"
        if data["status"] == "completed":
            completed.add(data["stepId"])


@pytest.mark.parametrize("point", range(3, 33, 3))
def test_killed_at_any_point_a_run_ends_as_if_it_had_not_been(runtime: Runtime, point: int) -> None:
    kill_at(runtime, point)


def kill_at(runtime: Runtime, point: int) -> None:
    runtime.plan(*fourteen_steps(runtime))
    runtime.kill_when(lambda: runtime.length() >= point, "run", "plan.json", "--yes")
    done_before = {data["stepId"] for data in runtime.updates() if data["status"] == "completed"}
    effects_before = runtime.effects()
    assert all(count == 1 for count in effects_before.values())
    run = carry_on(runtime)
    assert_nothing_was_lost_or_doubled(runtime, run)
    again = [data for data in runtime.updates() if data["stepId"] in done_before and data["status"] == "completed"]
    assert len(again) == len(done_before)


LONG = pytest.mark.soak
POINTS = [pytest.param(point, marks=() if point in (6, 18) else LONG) for point in range(3, 33, 3)]


@pytest.mark.parametrize("point", POINTS)
def test_on_postgres_killed_at_any_point_a_run_ends_as_if_it_had_not_been(on_postgres: Runtime, point: int) -> None:
    kill_at(on_postgres, point)


@pytest.mark.parametrize("point", [pytest.param(9), *(pytest.param(point, marks=LONG) for point in range(4, 33, 4))])
def test_a_database_server_killed_amid_a_run_only_holds_it_up(
    on_postgres: Runtime, durable_postgres: PostgresServer, point: int
) -> None:
    on_postgres.plan(*fourteen_steps(on_postgres))
    process = on_postgres.start("run", "plan.json", "--yes", "-o", "json")
    on_postgres.wait_for(lambda: on_postgres.length() >= point, process)
    durable_postgres.kill()
    durable_postgres.start()
    code, out, err = on_postgres.finish(process)
    assert code == 0, err
    assert_nothing_was_lost_or_doubled(on_postgres, json.loads(out))


def test_killed_again_and_again(runtime: Runtime) -> None:
    runtime.plan(*fourteen_steps(runtime))
    runtime.kill_when(lambda: runtime.length() >= 6, "run", "plan.json", "--yes")
    for _ in range(6):
        enough = runtime.length() + 4
        runtime.kill_when(lambda enough=enough: runtime.length() >= enough, "run", "--resume", runtime.run_id, "--yes")
    assert_nothing_was_lost_or_doubled(runtime, carry_on(runtime))


def test_a_server_killed_at_many_points(runtime: Runtime) -> None:
    runtime.plan(*fourteen_steps(runtime))
    server = runtime.up()
    client = runtime.start("run", "plan.json", "--yes", "-o", "json")
    runtime.wait_for(lambda: runtime.length() >= 10, client)
    runtime.kill(server)
    code, out, err = runtime.finish(client)
    assert code == 1
    assert out == ""
    assert "does not answer" in err
    assert f"run --resume {runtime.run_id}" in err
    for _ in range(2):
        enough = runtime.length() + 4
        server = runtime.up()
        runtime.wait_for(lambda enough=enough: runtime.length() >= enough or at_rest(runtime), server)
        runtime.kill(server)
    assert_nothing_was_lost_or_doubled(runtime, carry_on(runtime))


def at_rest(runtime: Runtime) -> bool:
    heads = [event["data"]["status"] for event in runtime.events() if event["kind"].startswith("run")]
    return heads[-1] in ("waiting", "completed", "failed")


# -- what became of a step that was in the air -------------------------------------------------------------------------


def test_a_machine_that_can_be_asked_says_that_it_happened(runtime: Runtime) -> None:
    runtime.plan(runtime.append("a", hang_s=600, hang="after"), runtime.append("b", "a"))
    assert runtime.kill_when(lambda: runtime.effects()["a"] == 1, "run", "plan.json")
    code, run = runtime.resume()
    assert code == 0
    assert statuses(run) == {"a": "completed", "b": "completed"}
    assert runtime.effects() == {"a": 1, "b": 1}
    assert run["steps"][0]["result"]["value"]["key"] == runtime.keys()[0]
    assert_sound_log(runtime)


def test_a_machine_that_can_be_asked_says_that_it_never_began(runtime: Runtime) -> None:
    runtime.plan(runtime.append("a", hang_s=3, hang="before"), runtime.append("b", "a"))
    assert runtime.kill_when(lambda: len(runtime.updates("a")) == 1, "run", "plan.json")
    assert runtime.effects() == {}
    code, run = runtime.resume()
    assert code == 0
    assert statuses(run) == {"a": "completed", "b": "completed"}
    assert runtime.effects() == {"a": 1, "b": 1}
    assert_sound_log(runtime)


@pytest.fixture(params=["no probe", "a probe that does not know"])
def in_doubt(runtime: Runtime, request: pytest.FixtureRequest) -> Runtime:
    """A run that was killed after an effect that nobody can ask about."""
    blind: Document = {"tool": "bench.append_noprobe"} if request.param == "no probe" else {"probe": False}
    runtime.plan(
        runtime.append("a", hang_s=600, hang="after", **blind),
        runtime.append("b", "a"),
        {"id": "beside", "tool": "wait", "args": {"seconds": 0}},
    )
    assert runtime.kill_when(lambda: runtime.effects()["a"] == 1, "run", "plan.json")
    code, run = runtime.resume("--yes")
    assert code == 3, "a person must say, whatever was approved beforehand"
    assert run["status"] == "waiting"
    assert statuses(run) == {"a": "inDoubt", "b": "pending", "beside": "completed"}
    (decision,) = run["decisions"]
    assert decision["kind"] == "inDoubt"
    assert decision["verbs"] == ["happened", "run-again", "abort"]
    assert runtime.effects() == {"a": 1}, "it is never silently run again"
    return runtime


def the_decision(runtime: Runtime) -> str:
    code, out, err = runtime.do("inbox", "list", "-o", "json")
    assert code == 0, err
    (decision,) = json.loads(out)
    return str(decision["id"])


def test_in_doubt_it_happened(in_doubt: Runtime) -> None:
    assert in_doubt.do("inbox", "answer", the_decision(in_doubt), "happened")[0] == 0
    code, run = in_doubt.resume()
    assert code == 0
    assert statuses(run) == {"a": "completed", "b": "completed", "beside": "completed"}
    assert in_doubt.effects() == {"a": 1, "b": 1}
    assert_sound_log(in_doubt)


def test_in_doubt_run_it_again(in_doubt: Runtime) -> None:
    assert in_doubt.do("inbox", "answer", the_decision(in_doubt), "run-again")[0] == 0
    assert in_doubt.effects() == {"a": 1}, "an answer by itself runs nothing"
    process = in_doubt.start("run", "--resume", in_doubt.run_id)
    in_doubt.wait_for(lambda: in_doubt.effects()["a"] == 2, process)
    assert len(set(in_doubt.keys())) == 2, "another attempt has another key"
    in_doubt.kill(process)
    code, run = in_doubt.resume()
    assert code == 3, "and it is in doubt again"
    assert statuses(run)["a"] == "inDoubt"


def test_in_doubt_abort(in_doubt: Runtime) -> None:
    assert in_doubt.do("inbox", "answer", the_decision(in_doubt), "abort")[0] == 0
    code, run = in_doubt.resume()
    assert code == 1
    assert run["status"] == "failed"
    assert statuses(run)["a"] == "failed"
    assert statuses(run)["b"] in ("blocked", "cancelled")
    assert in_doubt.effects() == {"a": 1}
    assert_sound_log(in_doubt)


def test_the_decision_outlives_another_crash(in_doubt: Runtime) -> None:
    decision = the_decision(in_doubt)
    server = in_doubt.up()
    in_doubt.kill(server)
    assert the_decision(in_doubt) == decision
    server = in_doubt.up()
    assert in_doubt.do("inbox", "answer", decision, "happened")[0] == 0
    assert in_doubt.resume()[0] == 0
    assert in_doubt.effects() == {"a": 1, "b": 1}
    in_doubt.kill(server)


# -- pure steps, approvals, two processes ----------------------------------------------------------------------------


class Website:
    """Answers only from the second request on; the first one just tells that it came."""

    def __init__(self) -> None:
        self.asked = 0
        self.first_came = threading.Event()
        self.over = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked += 1
                if site.asked == 1:
                    site.first_came.set()
                    site.over.wait(PATIENCE_S)
                    return
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def website() -> Iterator[Website]:
    site = Website()
    yield site
    site.over.set()
    site.server.shutdown()
    site.server.server_close()


def test_a_pure_step_in_the_air_runs_again(runtime: Runtime, website: Website) -> None:
    runtime.environment["BEFOREHAND_HTTP_ALLOW"] = website.host
    runtime.plan(
        {"id": "done", "tool": "write_file", "args": {"path": "a.txt", "content": "x"}},
        {"id": "ask", "tool": "http_get", "args": {"url": f"http://{website.host}/"}, "dependsOn": ["done"]},
    )
    process = runtime.start("run", "plan.json")
    assert website.first_came.wait(PATIENCE_S)
    (runtime.folder / "a.txt").unlink()
    runtime.kill(process)
    code, run = runtime.resume()
    assert code == 0
    assert website.asked == 2
    assert statuses(run) == {"done": "completed", "ask": "completed"}
    assert not (runtime.folder / "a.txt").exists(), "a completed step is never run again"
    assert_sound_log(runtime)


def test_an_approval_outlives_a_crash(runtime: Runtime) -> None:
    (runtime.folder / "old.txt").write_text("old")
    runtime.plan(
        {"id": "over", "tool": "write_file", "args": {"path": "old.txt", "content": "new"}},
        {"id": "long", "tool": "wait", "args": {"seconds": 600}},
    )
    asked = lambda: any(event["kind"] == "decisionOpened" and "stepId" in event["about"] for event in runtime.events())  # noqa: E731
    assert runtime.kill_when(asked, "run", "plan.json")
    before = the_decision(runtime)
    assert runtime.do("inbox", "answer", before, "approve")[0] == 0
    changed = lambda: any(data["status"] == "completed" for data in runtime.updates("over"))  # noqa: E731
    assert runtime.kill_when(changed, "run", "--resume", runtime.run_id)
    assert (runtime.folder / "old.txt").read_text() == "new"
    assert json.loads(runtime.do("inbox", "list", "-o", "json")[1]) == []
    assert_sound_log(runtime)


def test_two_processes_started_together_on_one_home(runtime: Runtime) -> None:
    runtime.plan(runtime.append("a", hang_s=1, hang="after"))
    both = [runtime.start("run", "plan.json", "-o", "json") for _ in range(2)]
    outcomes = sorted(runtime.finish(process)[:2] for process in both)
    codes = [code for code, _ in outcomes]
    assert codes in ([0, 0], [0, 3])
    assert runtime.effects()["a"] == codes.count(0), "who is refused has done nothing"
    assert_sound_log_of_all(runtime)


def assert_sound_log_of_all(runtime: Runtime) -> None:
    events = runtime.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


def test_a_killed_leader_leaves_the_home_free(runtime: Runtime) -> None:
    runtime.plan(runtime.append("a", hang_s=600, hang="after"))
    first = runtime.start("run", "plan.json")
    runtime.wait_for(lambda: runtime.effects()["a"] == 1, first)
    code, _, err = runtime.do("run", "plan.json")
    assert code == 3
    assert f"Process {first.pid} " in err
    runtime.kill(first)
    runtime.plan(runtime.append("b"))
    assert runtime.do("run", "plan.json")[0] == 0
    assert runtime.effects() == {"a": 1, "b": 1}, "a run touches no other run"
    assert runtime.resume()[0] == 0
    assert runtime.effects() == {"a": 1, "b": 1}
    assert_sound_log_of_all(runtime)
