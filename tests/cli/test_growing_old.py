"""`db archive`, `db backup`, `db restore` and `audit export`, beside a server and without one."""

import json
from typing import Any

from tests.cli.test_db import get, stop


def a_run(cli: Any, step: Any, *where: str) -> None:
    cli.plan(step("a", "wait", seconds=0), step("b", "wait", {"dependsOn": ["a"]}, seconds=0))
    cli("run", "plan.yaml", "--yes", *where, code=0)


def every_event(server: str) -> list[Any]:
    found: list[Any] = []
    while not found or found[0]["seq"] > 1:
        before = f"&before={found[0]['seq']}" if found else ""
        found = [*get(server, f"/events?limit=7{before}"), *found]
    return found


def test_archived_beside_a_server_and_without_one(cli: Any, step: Any) -> None:
    server = cli.up()
    a_run(cli, step)
    before = every_event(server)
    tried = cli("db", "archive", "--before", "2999-01-01", "--dry-run", "-o", "json", code=0).document
    done = cli("db", "archive", "--before", "2999-01-01", "-o", "json", code=0).document
    assert done["events"] >= tried["events"] > 4, "that it was asked for is an event, too"
    assert every_event(server)[: len(before)] == before
    assert len(cli.events()) < len(before), "they are out of the log itself"
    stop(cli)
    a_run(cli, step)
    told = cli("db", "archive", "--before", "2999-01-01", code=0).out
    assert " events moved into 1 file: " in told
    assert every_event(cli.up())[: len(before)] == before


def test_what_cannot_be_read_is_said_and_doctor_says_what_becomes_of_old_events(cli: Any) -> None:
    assert "no date" in cli("db", "archive", "--before", "yesterdayish", code=2).err
    assert "it is written `90d archive`" in cli("up", "--no-open", BEFOREHAND_RETENTION="sometimes", code=2).err
    checks = cli("doctor", "-o", "json", BEFOREHAND_RETENTION="90d archive").document["checks"]
    says = {one["check"]: one["says"] for one in checks}
    assert "its archive 0 B for 0 events" in says["size"]
    assert says["retention"] == "Events of what has ended are archived after 90 days; nothing is deleted."


def test_a_backup_beside_a_server_becomes_a_home_like_it(cli: Any, step: Any) -> None:
    server = cli.up("--scene", "weld_star")
    a_run(cli, step)
    cli("db", "archive", "--before", "2999-01-01", code=0)
    assert "Backed up " in cli("db", "backup", "b.tar.gz", code=0).out
    before = every_event(server)
    stop(cli)
    assert "with 1 part of the archive" in cli("db", "copy", ".beforehand", "copied", code=0).out
    restored = cli("db", "restore", "b.tar.gz", "--home", "other", "-o", "json", code=0).document
    assert restored["lastSeq"] == len(before)
    again = cli.up("--home", "other")
    assert every_event(again)[: len(before)] == before
    assert [run["status"] for run in get(again, "/state")["runs"]] == ["completed"]
    assert "only restored into an empty home" in cli("db", "restore", "b.tar.gz", "--home", "other", code=3).err


def test_the_record_is_read_beside_a_server(cli: Any, step: Any) -> None:
    assert cli("audit", "export", code=0).out == ""
    assert "There is no log" in cli("audit", "verify", code=2).err
    cli.up()
    a_run(cli, step)
    *_, line, _ = cli("audit", "export", "--from", "1d", code=0).out.splitlines()
    assert (json.loads(line)["kind"], json.loads(line)["verb"]) == ("review", "start")
    sheet = cli("audit", "export", "--format", "csv", "--to", "2999-01-01", code=0).out
    assert sheet.startswith("decisionId,kind,title,owner,")
