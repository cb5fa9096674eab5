"""`beforehand audit`: an edit of the log or of an export is found and named, also over a backup and a restore."""

import json
import sqlite3
from contextlib import closing
from typing import Any

from tests.cli.test_db import stop


def edited(cli: Any, statement: str, home: str = ".beforehand") -> None:
    with closing(sqlite3.connect(cli.folder / home / "log.db", isolation_level=None)) as line:
        line.execute(statement)


def a_run(cli: Any, step: Any) -> None:
    cli.plan(step("a", "wait", seconds=0), step("b", "wait", {"dependsOn": ["a"]}, seconds=0))
    cli("run", "plan.yaml", "--yes", code=0)


def test_six_edited_events_are_named(cli: Any, step: Any) -> None:
    a_run(cli, step)
    a_run(cli, step)
    whole = cli("audit", "verify", "-o", "json", code=0).document
    assert (whole["ok"], whole["begins"], whole["events"]) == (True, 1, whole["last"])
    assert f"Keep this elsewhere, to compare with next time: {whole['anchor']}" in cli("audit", "verify", code=0).out
    edited(
        cli, "UPDATE events SET line = CAST(replace(CAST(line AS TEXT), ':', ' :') AS BLOB) WHERE seq BETWEEN 2 AND 7"
    )
    found = cli("audit", "verify", code=1).err
    for seq in range(2, 8):
        assert f"Event {seq} was changed" in found
    assert "Event 8" not in found


def test_an_export_is_compared_with_the_log_and_with_its_own_hash(cli: Any, step: Any) -> None:
    a_run(cli, step)
    for form in ("jsonl", "csv"):
        made = cli("audit", "export", "--format", form, code=0)
        (cli.folder / f"then.{form}").write_bytes(made.out.encode())
        last = made.err.split()[-1]
        told = cli("audit", "verify", f"then.{form}", "--against", last, "-o", "json", code=0).document
        assert (told["ok"], told["hash"]) == (True, last)
        assert cli("audit", "verify", "-", given=made.out, code=0).out
        cli("audit", "verify", f"then.{form}", "--against", "0" * 64, code=1)
    a_run(cli, step)
    assert "It fits what it was compared with." in cli("audit", "verify", "--against", "then.jsonl", code=0).out
    text = (cli.folder / "then.jsonl").read_text()
    (cli.folder / "then.jsonl").write_text(text.replace("command line", "somebody else"))
    assert "Line 1 was changed" in cli("audit", "verify", "then.jsonl", code=1).err
    assert "nothing to compare with" in cli("audit", "verify", "--against", "then.jsonl", code=2).err
    edited(cli, "DELETE FROM events WHERE seq > 4")
    assert "The log ends with event 4" in cli("audit", "verify", "--against", "then.csv", code=1).err
    assert "is no record" in cli("audit", "verify", "plan.yaml", code=2).err
    assert "There is no file" in cli("audit", "verify", "none.csv", code=2).err


def test_what_is_done_at_the_command_line_is_in_the_record(cli: Any, step: Any) -> None:
    cli("token", "add", "root", "--role", "admin", code=0)
    cli.write("beforehand.toml", "[mcp]\n")
    cli("config", "trust", code=0)
    a_run(cli, step)
    url = cli.up()
    assert url
    kinds: list[Any] = []
    while len(kinds) < 2:
        lines = [json.loads(line) for line in cli("audit", "export", code=0).out.splitlines()]
        kinds = [(one["kind"], one["by"]) for one in lines if one["kind"] in ("tokenAdded", "fileTrusted")]
    assert sorted(kind for kind, _ in kinds) == ["fileTrusted", "tokenAdded"]
    assert all(by.startswith("command line") for _, by in kinds)
    stop(cli)


def test_a_restored_log_is_whole_and_another_generation(cli: Any, step: Any) -> None:
    a_run(cli, step)
    early = cli("audit", "verify", "-o", "json", code=0).document
    cli("db", "backup", "safe.backup", code=0)
    a_run(cli, step)
    later = cli("audit", "verify", "-o", "json", code=0).document
    cli("db", "restore", "safe.backup", "--home", "again", code=0)
    restored = ["--home", "again", "-o", "json"]
    found = cli("audit", "verify", "--against", early["anchor"], *restored, code=0).document
    assert (found["last"], [one["after"] for one in found["generations"]]) == (early["last"], [early["last"]])
    cli("run", "plan.yaml", "--yes", "--home", "again", code=0)
    assert cli("audit", "verify", "--against", early["anchor"], *restored, code=0).document["last"] > early["last"]
    assert "another generation" in cli("audit", "verify", "--against", later["anchor"], *restored, code=1).err
