"""Plans as a stranger meets them: the real command, a real server process, plain HTTP, and no import of it.

Each test is one promise about plans, tried on a plan of its own. Waiting is done on the event stream, with a bound.
"""

import http.client
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from tests.fork_server import Forked, run_forked

PATIENCE_S = 90
ENDED = ("completed", "partial", "failed", "cancelled")

Step = dict[str, Any]


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}


class Stranger:
    """Somebody with an HTTP client and the documentation."""

    def __init__(self, address: str, workspace: Path) -> None:
        self.host, _, port = address.partition(":")
        self.port = int(port)
        self.workspace = workspace

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        line = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent["Content-Type"] = "application/json"
        line.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), sent)
        answer = line.getresponse()
        text = answer.read()
        if answer.status >= 400:
            assert answer.getheader("content-type") == "application/problem+json", text
        line.close()
        return answer.status, json.loads(text)

    def events(self, query: str = "", **headers: str) -> Iterator[dict[str, Any]]:
        """The stream, event by event; waiting too long for one, or a stream that ends, fails the test."""
        line = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S)
        line.request("GET", f"/api/v1/events{query}", headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = line.getresponse()
        assert answer.status == 200
        number, deadline = "", time.monotonic() + PATIENCE_S
        try:
            while line_read := answer.readline().decode():
                field, _, value = line_read.rstrip("\n").partition(": ")
                assert time.monotonic() < deadline, "the event did not come"
                if field == "id":
                    number = value
                elif field == "data":
                    event = json.loads(value)
                    assert event["seq"] == int(number)
                    yield event
                    deadline = time.monotonic() + PATIENCE_S
            raise AssertionError("the stream ended")
        finally:
            line.close()

    def plan(self, *steps: Step, **fields: Any) -> dict[str, Any]:
        status, plan = self.call("POST", "/plans", {"plan": {"steps": list(steps), **fields}})
        assert status == 201, plan
        return plan  # type: ignore[no-any-return]

    def problems(self, *steps: Step) -> str:
        """Everything that is wrong with a plan, as one text."""
        status, told = self.call("POST", "/plans", {"plan": {"steps": list(steps)}})
        assert status == 422, told
        return "\n".join(f"{problem['path']}: {problem['says']}" for problem in told["problems"])

    def start(self, *steps: Step) -> str:
        plan = self.plan(*steps)
        status, run = self.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
        assert status == 201, run
        return str(run["runId"])

    def until(self, run_id: str, *statuses: str) -> dict[str, Any]:
        """The run once it is in one of these states; by default once it has ended or waits for a person."""
        wanted = statuses or (*ENDED, "waiting")
        status, run = self.call("GET", f"/runs/{run_id}")
        if run["status"] not in wanted:
            for event in self.events(f"?run={run_id}&kinds=runUpdated,runFinished,runAdopted"):
                if event["data"]["status"] in wanted:
                    break
            status, run = self.call("GET", f"/runs/{run_id}")
        assert status == 200
        return run  # type: ignore[no-any-return]

    def run(self, *steps: Step) -> dict[str, Any]:
        return self.until(self.start(*steps))

    def asked(self, run_id: str) -> dict[str, dict[str, Any]]:
        """The open decisions of a run, by step."""
        _, inbox = self.call("GET", "/inbox")
        return {item["about"]["stepId"]: item for item in inbox if item["about"].get("runId") == run_id}

    def answer(self, decision: dict[str, Any], verb: str, value: Any = None) -> int:
        body = {"verb": verb} if value is None else {"verb": verb, "value": value}
        return self.call("POST", f"/inbox/{decision['id']}", body)[0]

    def edit(self, plan_id: str, version: int, *edits: dict[str, Any]) -> tuple[int, Any]:
        return self.call("PATCH", f"/plans/{plan_id}", {"edits": list(edits)}, If_Match=str(version))


def write(name: str, path: str, content: Any, **fields: Any) -> Step:
    return {"id": name, "tool": "write_file", "args": {"path": path, "content": content}, **fields}


def read(name: str, path: str, **fields: Any) -> Step:
    return {"id": name, "tool": "read_file", "args": {"path": path}, **fields}


def wait(name: str, seconds: float | str = 0, **fields: Any) -> Step:
    return {"id": name, "tool": "wait", "args": {"seconds": seconds}, **fields}


def ask(name: str) -> Step:
    return {"id": name, "tool": "ask_person", "args": {"question": f"{name}?"}}


def statuses(run: dict[str, Any]) -> dict[str, str]:
    return {step["id"]: step["status"] for step in run["steps"]}


def results(run: dict[str, Any]) -> dict[str, Any]:
    return {step["id"]: step.get("result", {}) for step in run["steps"]}


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    folder = tmp_path_factory.mktemp("stranger")
    workspace = folder / "workspace"
    workspace.mkdir()
    settings = {"BEFOREHAND_WORKSPACE": str(workspace), "BEFOREHAND_HTTP_ALLOW": "127.0.0.1"}
    words = ["up", "--home", str(folder / "home"), "--port", "0", "--no-open"]
    with (folder / "log").open("wb") as log:
        server = Forked(
            words, cwd=folder, env=clean_environment() | settings, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        assert server.stdout is not None
        said = next((found for line in server.stdout if (found := re.search(r"http://([\d.]+:\d+)", line))), None)
        assert said is not None, (folder / "log").read_text()
        yield Stranger(said[1], workspace)
    finally:
        server.terminate()
        server.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def flaky() -> Iterator[str]:
    """A server that answers 503 twice on every path, then 200."""
    seen: dict[str, int] = {}

    class Flaky(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen[self.path] = seen.get(self.path, 0) + 1
            self.send_response(200 if seen[self.path] > 2 else 503)
            self.end_headers()
            self.wfile.write(str(seen[self.path]).encode())

        def log_message(self, *words: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


# -- validation ----------------------------------------------------------------------------------------------------


def test_contract_5_every_problem_is_told_at_once_with_its_path(stranger: Stranger) -> None:
    told = stranger.problems(
        {"id": "a", "tool": "writ_file", "args": {}, "dependsOn": ["b"]},
        {"id": "b", "tool": "write_file", "args": {"path": 5}, "dependsOn": ["a", "zz"]},
        write("c", "c", "$nobody.x"),
        {"tool": "wait"},
        wait("d", when="$a =="),
        wait("d"),
    )
    assert "steps[0].tool: a: Unknown tool 'writ_file'. Nearest tools: write_file" in told
    assert "steps[1].args.path" in told
    assert "'zz'" in told
    assert "$nobody.x" in told
    assert "steps[3].id" in told
    assert "steps[4].when" in told
    assert "2 steps have the id 'd'" in told
    assert "a → b → a" in told


def test_contract_5_a_reference_or_a_condition_can_close_a_circle(stranger: Stranger) -> None:
    assert "a → b → a" in stranger.problems(write("a", "a", "$b"), write("b", "b", "${a.path}"))
    assert "a → b → a" in stranger.problems(wait("a", when="$b.seconds == 1"), wait("b", dependsOn=["a"]))


# -- references and conditions -------------------------------------------------------------------------------------


def test_contract_5_references_keep_their_type_and_a_missing_part_says_what_was_there(stranger: Stranger) -> None:
    run = stranger.run(
        write("w", "references/one.txt", "1"),
        {"id": "l", "tool": "list_dir", "args": {"path": "references"}, "dependsOn": ["w"]},
        read("part", "references/${l[0]}"),
        wait("number", "$w.bytes"),
        write("text", "text", "n=${w.bytes} $$ ${l}"),
        write("missing", "missing", "$w.nothing"),
    )
    found = results(run)
    assert found["l"]["value"] == ["one.txt"]
    assert found["part"]["value"] == "1"
    assert found["number"]["value"] == {"seconds": 1}
    assert (stranger.workspace / "text").read_text() == 'n=1 $ ["one.txt"]'
    assert statuses(run)["missing"] == "failed"
    assert "bytes, path" in found["missing"]["error"]


@pytest.mark.parametrize(
    ("condition", "runs"),
    [
        ("$w.bytes == 5", True),
        ("$w.bytes != 5", False),
        ("$w.bytes < 5 or $w.bytes >= 5.0", True),
        ("$w.nothing.at.all == null", True),
        ("not ($w.path == 'when' and $w.bytes > 4)", False),
        ("$w.nothing > 3", False),
    ],
)
def test_contract_5_when(stranger: Stranger, condition: str, runs: bool) -> None:
    (stranger.workspace / "when").unlink(missing_ok=True)
    run = stranger.run(write("w", "when", "hello"), wait("x", when=condition), wait("after", dependsOn=["x"]))
    assert run["status"] == "completed"
    assert statuses(run) == {"w": "completed", "x": "completed" if runs else "skipped", "after": "completed"}


def test_contract_5_for_each_item_is_a_step_of_its_own(stranger: Stranger) -> None:
    folder = stranger.workspace / "many"
    folder.mkdir()
    for name in "pq":
        (folder / name).write_text(name.upper())
    (stranger.workspace / "none").mkdir()
    run = stranger.run(
        {"id": "names", "tool": "list_dir", "args": {"path": "many"}},
        read("each", "many/${item}", forEach="$names"),
        write("first", "first", "$each[0]"),
        {"id": "nothing", "tool": "list_dir", "args": {"path": "none"}},
        read("never", "$item", forEach="$nothing"),
        read("wrong", "$item", forEach="$first"),
    )
    found = results(run)
    assert found["each"]["value"] == ["P", "Q"]
    assert found["each[1]"]["value"] == "Q"
    assert (stranger.workspace / "first").read_text() == "P"
    assert found["never"]["value"] == []
    assert statuses(run)["wrong"] == "failed"


# -- failure -------------------------------------------------------------------------------------------------------


def test_contract_5_only_transient_faults_are_tried_again(stranger: Stranger, flaky: str) -> None:
    def get(name: str, **fields: Any) -> Step:
        return {"id": name, "tool": "http_get", "args": {"url": f"{flaky}/{name}"}, "retryDelayS": 0.01, **fields}

    run = stranger.run(get("patient"), get("hasty", retries=0), read("gone", "gone", retries=5))
    found = {step["id"]: (step["status"], step["attempt"]) for step in run["steps"]}
    assert found == {"patient": ("completed", 3), "hasty": ("failed", 1), "gone": ("failed", 1)}


def test_contract_5_a_failed_step_blocks_only_what_needs_it_and_stop_starts_nothing_new(stranger: Stranger) -> None:
    steps = [read("bad", "nowhere"), wait("needs", dependsOn=["bad"]), ask("free"), wait("later")]
    steps[3]["dependsOn"] = ["free"]
    run = stranger.run(*steps)
    assert statuses(run) == {"bad": "failed", "needs": "blocked", "free": "ready", "later": "pending"}
    assert stranger.answer(stranger.asked(run["runId"])["free"], "answer", "go") == 200
    run = stranger.until(run["runId"], *ENDED)
    assert run["status"] == "failed"
    assert statuses(run)["later"] == "completed"

    run = stranger.run(read("bad", "nowhere", critical=True), wait("slow", 0.2), wait("later", dependsOn=["slow"]))
    assert run["status"] == "failed"
    assert statuses(run) == {"bad": "failed", "slow": "completed", "later": "cancelled"}


@pytest.mark.parametrize(
    ("verb", "value", "ends"),
    [
        ("retry", {"args": {"path": "there"}}, {"a": "completed", "b": "completed"}),
        ("retry", {"path": "there"}, {"a": "completed", "b": "completed"}),
        ("skip", None, {"a": "skipped", "b": "completed"}),
        ("insert", {"steps": [write("fix", "made", "x")]}, {"fix": "completed", "a": "completed", "b": "completed"}),
        ("insert", [write("fix", "made", "x")], {"fix": "completed", "a": "completed", "b": "completed"}),
        ("abort", None, {"a": "failed", "b": "blocked"}),
    ],
)
def test_contract_5_a_failure_can_be_asked_about(stranger: Stranger, verb: str, value: Any, ends: Any) -> None:
    (stranger.workspace / "there").write_text("yes")
    (stranger.workspace / "made").unlink(missing_ok=True)
    run = stranger.run(read("a", "made", onFailure="ask"), wait("b", dependsOn=["a"]))
    decision = stranger.asked(run["runId"])["a"]
    assert decision["verbs"] == ["retry", "skip", "insert", "abort"]
    assert stranger.answer(decision, "retry", {"args": {"wrong": 1}}) == 422
    assert stranger.answer(decision, "retry", {"wrong": 1}) == 422
    assert stranger.answer(decision, "insert", {"steps": "none"}) == 422
    assert stranger.answer(decision, verb, value) == 200
    assert stranger.answer(decision, verb, value) == 409
    assert statuses(stranger.until(run["runId"], *ENDED)) == ends


def test_contract_5_steps_put_in_do_not_bring_in_edits_that_nobody_approved(stranger: Stranger) -> None:
    (stranger.workspace / "made").unlink(missing_ok=True)
    plan = stranger.plan(read("a", "made", onFailure="ask"), write("b", "reviewed", "approved", dependsOn=["a"]))
    _, run = stranger.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    run = stranger.until(run["runId"], "waiting")
    change = {"op": "edit", "id": "b", "set": {"args": {"path": "reviewed", "content": "not yet approved"}}}
    assert stranger.edit(plan["id"], 1, change)[0] == 200
    assert stranger.answer(stranger.asked(run["runId"])["a"], "insert", {"steps": [write("fix", "made", "x")]}) == 200
    assert stranger.until(run["runId"], *ENDED)["version"] == 3
    assert (stranger.workspace / "reviewed").read_text() == "approved"


# -- people --------------------------------------------------------------------------------------------------------


def test_contract_5_what_destroys_needs_approval_whether_the_plan_says_so_or_not(stranger: Stranger) -> None:
    for name in ("old", "doomed"):
        (stranger.workspace / name).write_text(name)
    run = stranger.run(
        write("over", "old", "new"),
        {"id": "del", "tool": "delete_file", "args": {"path": "doomed"}},
        write("fresh", "fresh", "x"),
        write("asked", "asked", "x", requiresApproval=True),
        wait("behind", dependsOn=["del"]),
    )
    decisions = stranger.asked(run["runId"])
    assert set(decisions) == {"over", "del", "asked"}
    assert statuses(run)["fresh"] == "completed"
    assert decisions["over"]["evidence"]["args"] == {"path": "old", "content": "new"}
    assert [stranger.answer(decisions[step], "approve") for step in ("over", "asked")] == [200, 200]
    assert stranger.answer(decisions["del"], "deny") == 200
    run = stranger.until(run["runId"], *ENDED)
    assert statuses(run) == {
        "over": "completed",
        "del": "denied",
        "fresh": "completed",
        "asked": "completed",
        "behind": "blocked",
    }
    assert run["status"] == "partial"
    assert (stranger.workspace / "old").read_text() == "new"
    assert (stranger.workspace / "doomed").exists()


def test_contract_5_an_adopted_change_is_approved_anew(stranger: Stranger) -> None:
    (stranger.workspace / "bound").write_text("old")
    plan = stranger.plan(write("a", "bound", "one"), ask("q"))
    _, run = stranger.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    run = stranger.until(run["runId"], "waiting")
    first = stranger.asked(run["runId"])["a"]
    change = {"op": "edit", "id": "a", "set": {"args": {"path": "bound", "content": "two"}}}
    assert stranger.edit(plan["id"], 1, change)[0] == 200
    assert stranger.call("POST", f"/runs/{run['runId']}/adopt", {"version": 2})[0] == 200
    assert stranger.answer(first, "approve") == 409
    run = stranger.until(run["runId"], "waiting")
    second = stranger.asked(run["runId"])["a"]
    assert second["evidence"]["args"]["content"] == "two"
    assert stranger.answer(second, "approve") == 200
    assert stranger.answer(stranger.asked(run["runId"])["q"], "answer", 7) == 200
    assert stranger.until(run["runId"], *ENDED)["version"] == 2
    assert (stranger.workspace / "bound").read_text() == "two"


def test_contract_2_edits_are_all_or_nothing_and_every_version_stays(stranger: Stranger) -> None:
    plan = stranger.plan(write("a", "e", "1"), write("b", "f", "${a.path}"), wait("c"))["id"]
    skip = {"op": "skip", "id": "c"}
    assert stranger.call("PATCH", f"/plans/{plan}", {"edits": [skip]})[0] == 428
    status, told = stranger.edit(plan, 1, skip, {"op": "remove", "id": "a"})
    assert (status, told["problems"][0]["says"]) == (422, "b depends on a, which would be removed.")
    assert stranger.call("GET", f"/plans/{plan}")[1]["version"] == 1
    assert stranger.edit(plan, 1, {"op": "move", "id": "b", "before": "a"})[0] == 422
    added = {"op": "add", "step": wait("n"), "before": "c"}
    assert stranger.edit(plan, 1, skip, added, {"op": "move", "id": "c", "before": "a"})[0] == 200
    status, told = stranger.edit(plan, 1, skip)
    assert (status, told["latestVersion"]) == (409, 2)
    assert [step["id"] for step in stranger.call("GET", f"/plans/{plan}?version=1")[1]["steps"]] == ["a", "b", "c"]
    assert [step["id"] for step in stranger.call("GET", f"/plans/{plan}")[1]["steps"]] == ["c", "a", "b", "n"]
    assert stranger.call("POST", f"/plans/{plan}/runs", {"version": 1})[0] == 409
    status, told = stranger.call("POST", f"/inbox/{plan}-v1", {"verb": "start"})
    assert (status, told["latestVersion"]) == (409, 2)
    assert stranger.call("POST", f"/plans/{plan}/runs", {"version": 2})[0] == 201
    assert stranger.call("POST", f"/plans/{plan}/runs", {"version": 2})[0] == 409


# -- the log -------------------------------------------------------------------------------------------------------


def test_contract_2_the_stream_is_gap_free_resumes_and_carries_the_request_s_id(stranger: Stranger) -> None:
    body = {"plan": {"steps": [wait("a"), wait("b", dependsOn=["a"])], "taskId": "T-1"}}
    _, plan = stranger.call("POST", "/plans", body, X_Correlation_Id="from-a-stranger")
    _, run = stranger.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    stranger.until(run["runId"], "completed")
    stranger.call("PUT", "/templates/kept", {"steps": [wait("a")]}, X_Correlation_Id="another")
    last = stranger.call("GET", "/state")[1]["seq"]
    events = list(islice(stranger.events(), last))
    assert [event["seq"] for event in events] == list(range(1, last + 1))
    assert all(event["correlationId"] for event in events)
    assert next(stranger.events("", Last_Event_ID=str(last - 3)))["seq"] == last - 2
    assert next(stranger.events(f"?after={last - 1}"))["seq"] == last
    own = [event for event in events if event["about"].get("planId") == plan["id"]]
    assert {event["correlationId"] for event in own} == {"from-a-stranger"}
    assert own[-1]["kind"] == "runFinished"
    progress = [event["data"] for event in own if event["kind"] == "stepUpdated"]
    assert [(step["taskId"], step["stepId"], step["status"]) for step in progress] == [
        ("T-1", "a", "running"),
        ("T-1", "a", "completed"),
        ("T-1", "b", "running"),
        ("T-1", "b", "completed"),
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", progress[1]["result"]["timestamp"])
    assert next(event for event in events if event["kind"] == "templateSaved")["correlationId"] == "another"


# -- the command ---------------------------------------------------------------------------------------------------


def test_contract_1_a_run_that_needs_a_person_exits_3_and_is_taken_up(tmp_path: Path) -> None:
    def command(*words: str, code: int, given: str = "") -> tuple[str, str]:
        done = run_forked(words, cwd=tmp_path, env=clean_environment(), input=given, text=True)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    (tmp_path / "kept").write_text("old")
    plan = json.dumps({"steps": [write("a", "kept", "new"), read("b", "kept", dependsOn=["a"])]})
    told, _ = command("run", "-", "-o", "json", code=3, given=plan)
    run = json.loads(told)
    assert (run["status"], (tmp_path / "kept").read_text()) == ("waiting", "old")
    command("inbox", "answer", run["decisions"][0]["id"], "approve", code=0)
    told, _ = command("run", "--resume", run["runId"], "-o", "json", code=0)
    assert results(json.loads(told))["b"]["value"] == "new"
    told, said = command(
        "run", "-", "-o", "json", code=1, given="steps: [{id: a, tool: read_file, args: {path: gone}}]"
    )
    assert json.loads(told)["status"] == "failed"
    assert "There is no file 'gone'" in said
    told, said = command("run", "-", "-o", "json", code=2, given="steps: [{id: a, tool: raed_file}]")
    assert told == ""
    assert "read_file" in said


def test_contract_1_yaml_means_what_it_looks_like(tmp_path: Path) -> None:
    lines = [f"- {{id: {name}, tool: write_file, args: {{path: {name}, content: {name}}}}}" for name in ("on", "no")]
    lines += ["- {id: time, tool: write_file, args: {path: time, content: 12:30}}"]
    lines += ["- {id: day, tool: write_file, args: {path: day, content: 2024-01-31}}"]
    words = ["run", "-", "-o", "json"]
    document = "\n".join(["steps:", *lines])
    done = run_forked(words, cwd=tmp_path, env=clean_environment(), input=document, text=True)
    assert done.returncode == 0, done.stderr
    written = {name: (tmp_path / name).read_text() for name in ("on", "no", "time", "day")}
    assert written == {"on": "on", "no": "no", "time": "12:30", "day": "2024-01-31"}
    for hostile in ("steps: !!bool maybe", "steps: !!timestamp x", "steps: !!python/name:os.system"):
        done = run_forked(["check", "-"], env=clean_environment(), input=hostile, text=True)
        assert done.returncode == 2, done.stderr
        assert "Beforehand itself" not in done.stderr
