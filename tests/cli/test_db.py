"""The store from the command line: a server on Postgres, its tables, and a log copied there and back."""

import json
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from beforehand.adapters.postgres.schema import newest
from beforehand.testing.postgres_server import PASSWORD, PostgresServer

PATIENCE_S = 60
Document = dict[str, Any]
KEPT = ("robotId", "phase", "loadState", "errands", "held", "paused", "outOfService", "nodeId", "scene")
"""What is remembered of a robot; the rest it tells anew when a server starts."""


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


def get(server: str, path: str) -> Any:
    answer = httpx2.get(f"{server}/api/v1{path}", timeout=PATIENCE_S, trust_env=False)
    assert answer.status_code == 200, answer.text
    return answer.json()


def until(look: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not look():
        assert time.monotonic() < give_up
        time.sleep(0.1)


def stop(cli: Any) -> None:
    """End the servers the way a person does, and wait for them."""
    for process in cli._started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)


def a_plan(cli: Any, step: Any) -> str:
    return str(
        cli.plan(
            step("note", "write_file", path="note.txt", content="one"),
            step("read", "read_file", {"dependsOn": ["note"]}, path="note.txt"),
        )
    )


def shift_of_a_fleet(cli: Any, *where: str) -> None:
    """A server that carries out one plan and a fleet's whole work, and is stopped then."""
    server = cli.up("--scene", "line_pick_drop", "--speed", "50", *where)
    until(lambda: is_at_rest(get(server, "/state")))
    done = cli("run", "plan.yaml", "--yes", "-o", "json", *where, code=0).document
    assert done["status"] == "completed"
    stop(cli)


def is_at_rest(state: Document) -> bool:
    """The one pallet there is has been moved, and the robot stands where it parks."""
    (robot,) = state["robots"]
    return not state["tasks"] and (robot["errand"] or {}).get("state") == "there"


def test_a_plan_and_a_fleet_over_postgres(cli: Any, step: Any, url: str, postgres: PostgresServer) -> None:
    a_plan(cli, step)
    shift_of_a_fleet(cli, "--db", url)
    assert not (cli.folder / ".beforehand" / "log.db").exists()
    runs = cli("runs", "list", "-o", "json", BEFOREHAND_DB=url, code=0).document
    assert [run["status"] for run in runs] == ["completed"]
    server = cli.up("--db", url)
    lines = postgres.tell(
        "SELECT convert_from(line, 'UTF8') FROM beforehand.events ORDER BY seq", url.rpartition("/")[2]
    )
    events = [json.loads(line) for line in lines.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {"runStarted", "taskCreated", "taskUpdated"} <= {event["kind"] for event in events}
    second = cli.start("up", "--no-open", "--port", "0", "--db", url)
    told = [second.stdout.readline() for _ in range(2)]
    assert f"leads at {server}; this server stands by." in told[1]


def state_without_time(cli: Any, *where: str) -> Document:
    """What a server that has just been started says of everything, but for what its robots tell from then on."""
    server = cli.up(*where)
    until(lambda: all(robot["status"] == "online" for robot in get(server, "/state")["robots"]))
    state: Document = get(server, "/state")
    stop(cli)
    state["robots"] = [{field: robot[field] for field in KEPT} for robot in state["robots"]]
    return state


def test_copied_there_and_back_nothing_is_lost(cli: Any, step: Any, url: str, tmp_path: Path) -> None:
    a_plan(cli, step)
    shift_of_a_fleet(cli)
    there = cli("db", "copy", ".beforehand", url, "-o", "json", code=0).document
    assert there["copied"]["events"] == len(cli.events())
    back = cli("db", "copy", url, "back", code=0)
    assert f"Copied {len(cli.events())} events" in back.out
    assert tables(tmp_path / "back" / "log.db") == tables(tmp_path / ".beforehand" / "log.db")
    # Simulated robots remember by themselves where they stand, as real ones do.
    shutil.copytree(tmp_path / ".beforehand" / "robots", tmp_path / "back" / "robots")
    states = [state_without_time(cli, *where) for where in ((), ("--db", url), ("--home", "back"))]
    seqs = [state.pop("seq") for state in states]
    assert len(set(seqs)) == 1
    for state in states[1:]:
        for name, items in state.items():
            assert items == states[0][name], name


def tables(path: Path) -> list[Any]:
    import sqlite3

    file = sqlite3.connect(path)
    try:
        asked = {
            "events": "seq, ts, kind, scene, owner, run_id, task_id, line, version",
            "rows": "kind, id, parent, open, body, ord",
            "snapshots": "owner, seq, body",
            "versions": "name, version, since",
            "spans": "axis, name, span",
            "lead": "epoch",
        }
        return [
            file.execute(f"SELECT {what} FROM {name} ORDER BY 1, 2 LIMIT -1").fetchall()
            if name != "lead"
            else file.execute("SELECT epoch FROM lead").fetchall()
            for name, what in asked.items()
        ]
    finally:
        file.close()


def test_copying_is_refused_where_it_would_harm(cli: Any, step: Any, url: str) -> None:
    a_plan(cli, step)
    nothing = cli("db", "copy", "nowhere", url, code=2)
    assert "There is no log at" in nothing.err
    assert not (cli.folder / "nowhere").exists()
    cli("run", "plan.yaml", "--yes", code=0)
    cli("db", "copy", ".beforehand", url, code=0)
    for words in ((".beforehand", url), (url, ".beforehand")):
        assert "holds something already; nothing was copied" in cli("db", "copy", *words, code=3).err
    assert "in memory" in cli("db", "copy", "memory:", url, code=2).err
    server = cli.up("--db", url)
    for words in ((url, "fresh"), (".beforehand", url)):
        assert "leads the log" in (refused := cli("db", "copy", *words, code=3).err)
        assert server in refused
    assert server in cli("db", "migrate", "--db", url, code=3).err


def test_migrate_makes_the_tables_once(cli: Any, url: str) -> None:
    made = cli("db", "migrate", "--db", url, code=0).out
    assert f"were made, in version {newest()}" in made
    assert f"of version {newest()} already" in cli("db", "migrate", "--db", url, code=0).out
    told = cli("db", "migrate", "-o", "json", BEFOREHAND_DB=url, code=0).document
    assert (told["before"], told["version"]) == (newest(), newest())
    assert "were made" in cli("db", "migrate", "--home", "here", code=0).out


def test_doctor_and_settings_say_which_store_and_no_password(cli: Any, postgres: PostgresServer, url: str) -> None:
    name = url.rpartition("/")[2]
    secret = postgres.url(name, user="locked", password=PASSWORD)
    checks = {check["check"]: check for check in json.loads(cli("doctor", "-o", "json", "--db", secret).out)["checks"]}
    assert f"/{name}" in checks["postgres"]["says"]
    shown = cli("config", "show", "-o", "json", "--db", secret, code=0).out
    assert f"/{name}" in shown
    wrong = cli(
        "up", "--no-open", "--port", "0", "--db", postgres.url(name, user="locked", password="wrong-one"), code=2
    )
    assert "refuses the user name or the password" in wrong.err
    nobody = cli("doctor", "-o", "json", "--db", postgres.url(name, port=1), code=1).document
    assert any("does not answer" in check["says"] for check in nobody["checks"])
    said = [shown, json.dumps(checks), wrong.err, wrong.out]
    assert PASSWORD not in "".join(said).replace("(hidden)", "")
    assert "wrong-one" not in "".join(said)
