"""Backups beside a server whose fleet drives: every one that exits 0 can be restored, whatever else goes on."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_db import get, stop, until

from beforehand.app.stores import open_reading


def records_of(home: Path) -> list[Any]:
    async def read() -> list[Any]:
        async with open_reading(f"sqlite:///{home / 'log.db'}") as store:
            found: list[Any] = []
            while some := await store.records(after=found[-1].seq if found else 0):
                found += some
            return found

    return asyncio.run(read())


def backed_up_and_restored(cli: Any, name: str) -> list[Any]:
    cli("db", "backup", f"{name}.tar.gz", code=0)
    cli("db", "restore", f"{name}.tar.gz", "--home", name, code=0)
    robots = json.loads((cli.folder / name / "robots" / "cross_dock.json").read_text())
    assert robots, "what the robots' link keeps came along, and is whole"
    return records_of(cli.folder / name)


def back_up_again_and_again(cli: Any, times: int) -> None:
    server = cli.up("--scene", "cross_dock", "--speed", "20")
    until(lambda: get(server, "/state")["seq"] > 40)
    kept = []
    for number in range(times):
        archiving = cli.start("db", "archive", "--before", "2999-01-01") if number % 2 else None
        kept.append(backed_up_and_restored(cli, f"b{number}"))
        if archiving is not None:
            assert archiving.wait(60) == 0, archiving.communicate()
        if number:
            shutil.rmtree(cli.folder / f"b{number}")
    first = get(server, "/health")["log"]
    stop(cli)
    whole = records_of(cli.folder / ".beforehand")
    assert len(kept[-1]) > 40
    for found in kept:
        assert found == whole[: len(found)]
    restored = get(cli.up("--home", "b0"), "/health")["log"]
    assert restored["identity"] == first["identity"]
    assert restored["generation"] != first["generation"]


def test_every_backup_beside_a_moving_fleet_can_be_restored(cli: Any) -> None:
    back_up_again_and_again(cli, 4)


@pytest.mark.soak
def test_hundreds_of_backups_beside_a_moving_fleet_can_be_restored(cli: Any) -> None:
    back_up_again_and_again(cli, 200)


def test_damaged_tables_for_questions_keep_nobody_from_the_log(cli: Any) -> None:
    server = cli.up("--scene", "weld_star")
    cli("ask", "how many plans were made?")
    stop(cli)
    search = cli.folder / ".beforehand" / "log.db.search"
    assert server
    for number, spoil in enumerate((_garbage, _torn, _folder, _link_to_nowhere)):
        spoil(search)
        cli("db", "backup", f"{number}.tar.gz", code=0)
        cli("db", "restore", f"{number}.tar.gz", "--home", f"r{number}", code=0)
        assert get(cli.up(), "/health")["status"] == "ok"
        stop(cli)


def _garbage(file: Path) -> None:
    _gone(file)
    file.write_bytes(os.urandom(20_000))


def _torn(file: Path) -> None:
    _gone(file)
    file.write_bytes(b"SQLite format 3\0" + bytes(100))


def _folder(file: Path) -> None:
    _gone(file)
    file.mkdir()
    (file / "x").write_text("x")


def _link_to_nowhere(file: Path) -> None:
    _gone(file)
    file.symlink_to(file.parent / "nowhere" / "at" / "all")


def _gone(file: Path) -> None:
    for path in file.parent.glob("log.db.search*"):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
