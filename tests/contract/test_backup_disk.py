"""Backups of a disk that is full, damaged or changing: it is said, nothing is left behind, and the log is saved."""

import asyncio
import json
import random
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.contract.test_backup import contents, database, files_in, filled, opened, settings_of

from beforehand.adapters.sqlite.schema import VERSION
from beforehand.app import restore as restoring
from beforehand.app.backup import back_up
from beforehand.app.high_water import settle_identity
from beforehand.app.private_files import write_private
from beforehand.app.restore import restore
from beforehand.app.settings import Settings, load_settings
from beforehand.app.stores import copy_store
from beforehand.model.errors import BadInputError, RefusedError, UnavailableError
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity

__all__ = ["database"]
FULL = SimpleNamespace(total=1, used=1, free=0)
SIZES = range(200, 12_000, 1000)
Disk = Callable[[int], Path]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """`disk(500)`: an empty folder on a disk of 500 KiB."""
    place = tmp_path / "disk"
    place.mkdir()

    def mounted(kib: int) -> Path:
        unmount()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(place)], check=True)
        return place

    def unmount() -> None:
        if place.is_mount():
            subprocess.run(["umount", "-l", str(place)], check=True)

    yield mounted
    unmount()


async def refusal(doing: Awaitable[Any]) -> str:
    """What is said of a full disk; empty where it went well."""
    try:
        await doing
    except UnavailableError as error:
        if error.code != "backup.full":
            raise
        return error.says
    return ""


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def enlarge(place: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)


async def large(settings: Settings) -> None:
    """A log that does not become much smaller in a backup."""
    store = await filled(settings)
    noise = random.Random(1)
    for begin in range(300, 2300, 200):
        numbers = range(begin, begin + 200)
        data = [{"n": n, "noise": noise.randbytes(300).hex()} for n in numbers]
        await store.append([Event("noted", {}, one, one["n"], "dock", "c", "run:r") for one in data])
    await store.close()


@pytest.mark.needs("tmpfs")
async def test_a_full_disk_is_said_and_nothing_is_left_of_a_restore(disk: Disk, tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home")
    await large(settings)
    await back_up(settings, tmp_path / "b.tar.gz")
    before, refused = await contents(settings), 0
    for size in SIZES:
        place = disk(size)
        target = settings_of(place / "new")
        if says := await refusal(restore(target, tmp_path / "b.tar.gz")):
            assert "no space left in" in says
            assert "nothing was changed" in says
            assert names_in(place) == []
            refused += 1
            enlarge(place)
            if refused % 3 == 0:
                await restore(target, tmp_path / "b.tar.gz")
        else:
            enlarge(place)
        if target.home.exists():
            assert await contents(target) == before
    assert 3 < refused < len(SIZES)


@pytest.mark.needs("tmpfs")
async def test_a_full_disk_is_said_and_no_half_backup_has_its_name(disk: Disk, tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home")
    await large(settings)
    refused = 0
    for size in SIZES:
        place = disk(size)
        if says := await refusal(back_up(settings, place / "b.tar.gz")):
            assert "no space left to write the backup" in says
            assert names_in(place) == []
            refused += 1
        else:
            assert names_in(place) == ["b.tar.gz"]
            if size == SIZES[-1]:
                await restore(settings_of(tmp_path / "new"), place / "b.tar.gz")
    assert 1 < refused < len(SIZES)


@pytest.mark.needs("tmpfs")
async def test_a_full_disk_leaves_nothing_of_a_copied_log(disk: Disk, tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home")
    await large(settings)
    for size in (500, 2000, 4000):
        place = disk(size)
        with pytest.raises(UnavailableError, match="no space left"):
            await copy_store(settings.database, str(place / "log.db"))
        assert names_in(place) == []


async def test_what_comes_in_the_way_at_the_end_is_said_and_can_be_cleared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings, target = settings_of(tmp_path / "home"), settings_of(tmp_path / "new")
    await (await filled(settings)).close()
    await back_up(settings, tmp_path / "b.tar.gz")

    async def copied_beside_somebody(*given: Any, **named: Any) -> Any:
        done = await copy_store(*given, **named)
        (target.home / "tokens.json").write_text("somebody's")
        return done

    with monkeypatch.context() as patched:
        patched.setattr(restoring, "copy_store", copied_beside_somebody)
        with pytest.raises(UnavailableError, match=r"tokens\.json: File exists; .*new is half restored and"):
            await restore(target, tmp_path / "b.tar.gz")
    assert (target.home / "tokens.json").read_text() == "somebody's"
    with pytest.raises(UnavailableError, match="was begun and has not ended"):
        await back_up(target, tmp_path / "half.tar.gz")
    (target.home / "tokens.json").unlink()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: FULL)
    with pytest.raises(UnavailableError, match=r"It needs .* there, and 0 B are free; nothing was changed"):
        await restore(settings_of(tmp_path / "other"), tmp_path / "b.tar.gz")
    await restore(target, tmp_path / "b.tar.gz")
    assert files_in(target.home) == {"tokens.json": "[]", "files/deep/a.plt": "x"}
    assert await contents(target) == await contents(settings)


# --- damage


def damage(log: Path, table: str) -> None:
    """Overwrite the first page of a table or an index."""
    with closing(sqlite3.connect(log)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with log.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xee" * size)


@pytest.mark.parametrize("table", ["rows", "rows_kind", "snapshots", "spans", "versions"])
async def test_what_is_made_from_the_log_keeps_nobody_from_saving_it(table: str, tmp_path: Path) -> None:
    settings, target = settings_of(tmp_path / "home"), settings_of(tmp_path / "new")
    await (await filled(settings)).close()
    before = await contents(settings)
    damage(settings.home / "log.db", table)
    await back_up(settings, tmp_path / "b.tar.gz")
    await restore(target, tmp_path / "b.tar.gz")
    await (await opened(target)).close()
    after = await contents(target)
    assert (after["records"], after["rows"]) == (before["records"], before["rows"])


async def test_a_damaged_log_is_not_backed_up_as_if_it_were_whole(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home")
    await (await filled(settings)).close()
    whole = (settings.home / "log.db").read_bytes()
    damage(settings.home / "log.db", "events")
    with pytest.raises(UnavailableError, match=r"log\.db is damaged"):
        await back_up(settings, tmp_path / "b.tar.gz")
    (settings.home / "log.db").write_bytes(whole)
    with closing(sqlite3.connect(settings.home / "log.db")) as connection, connection:
        connection.execute("DELETE FROM events WHERE seq = 250")
    with pytest.raises(UnavailableError, match="could not be restored: its log has no event 250"):
        await back_up(settings, tmp_path / "b.tar.gz")
    assert names_in(tmp_path) == ["home"]


async def test_a_log_of_an_older_layout_is_backed_up_with_its_archive(tmp_path: Path) -> None:
    settings, target = settings_of(tmp_path / "home"), settings_of(tmp_path / "new")
    await (await filled(settings)).close()
    before = await contents(settings)
    with closing(sqlite3.connect(settings.home / "log.db")) as connection, connection:
        connection.execute("DROP TABLE chain_marks")
        connection.execute("ALTER TABLE events DROP COLUMN chain")
        connection.execute("UPDATE schema_version SET version = ?", (VERSION - 1,))
    made = await back_up(settings, tmp_path / "b.tar.gz")
    assert sum(".archive/" in name for name in made["files"]) == 1
    await restore(target, tmp_path / "b.tar.gz")
    assert await contents(target) == before


# --- what is where


async def test_what_lies_where_the_backup_is_made_is_nobody_elses(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home")
    await (await filled(settings)).close()
    mine = tmp_path / "b.tar.gz.new" / "mine"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(RefusedError, match="no backup left it behind"):
        await back_up(settings, tmp_path / "b.tar.gz")
    assert mine.read_text() == "mine"
    with pytest.raises(BadInputError, match="lies in the home that is to be backed up"):
        await back_up(settings, settings.home / "b.tar.gz")
    (settings.home / "odd\nname").write_text("x")
    with pytest.raises(BadInputError, match="characters that no name may have"):
        await back_up(settings, tmp_path / "c.tar.gz")


async def test_a_settings_file_in_the_home_is_as_secret_as_any(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home")
    await (await filled(settings)).close()
    config = settings.home / "beforehand.toml"
    config.write_text('token = "abc"\n')
    for number, at in enumerate((settings, load_settings({"home": str(settings.home)}, {}, config))):
        made = await back_up(at, tmp_path / f"{number}.tar.gz")
        assert not any("beforehand.toml" in name for name in made["files"])
        assert any("beforehand.toml (it holds a password or token)" in name for name in made["leftOut"])


async def test_every_way_to_put_a_log_back_draws_a_generation(database: Any, tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home", database())
    first = await identity_of(settings)
    await back_up(settings, tmp_path / "b.tar.gz")
    seen = {first.generation}
    one, two = settings_of(tmp_path / "one", database()), settings_of(tmp_path / "two", database())
    (tmp_path / "two").mkdir()
    for name in ("log.mark", "log.db.mark"):  # what a log that was taken away left behind
        (tmp_path / "two" / name).write_text(f"{first} {9:020d}\n")
    copied = settings_of(tmp_path / "copied", database())
    for target in (one, two, copied):
        if target is copied:
            await copy_store(settings.database, target.database)
        else:
            await restore(target, tmp_path / "b.tar.gz")
        now = await identity_of(target)
        assert now.id == first.id
        assert not now.owns(first.key("dock-t1"))
        assert now.generation not in seen
        assert await identity_of(target) == now, "and it keeps it"
        seen.add(now.generation)
    assert await identity_of(settings) == first, "what is backed up and copied stays what it is"


async def identity_of(settings: Settings) -> LogIdentity:
    """What the log becomes when it is led."""
    settings.home.mkdir(parents=True, exist_ok=True)
    store = await opened(settings)
    if not await store.last_seq():
        await store.append([Event("noted", {}, {"n": 1}, 1, None, "c", "run:r")])
    identity, mark = await settle_identity(store, settings.home)
    await store.close()
    if mark is not None:
        mark.close()
    return identity


# --- what changes meanwhile


def change_files(home: Path, over: threading.Event) -> None:
    """Files that change, come and go as those of a server do; a list names only files that are there."""
    number, listed = 0, []
    while not over.is_set():
        number += 1
        write_private(home / "robots" / "dock.json", json.dumps([number] * (number % 500 + 1)).encode(), durable=False)
        if number < 200:
            write_private(home / "files" / f"{number:06d}", b"one", durable=False)
            listed.append(f"{number:06d}")
        write_private(home / "files" / "index.json", json.dumps(listed).encode(), durable=False)
        write_private(home / "robots" / "passing.json", b"[]", durable=False)
        (home / "robots" / "passing.json").unlink()


async def test_files_that_change_meanwhile_are_whole_in_the_backup(tmp_path: Path) -> None:
    settings, over = settings_of(tmp_path / "home"), threading.Event()
    await (await filled(settings)).close()
    write_private(settings.home / "files" / "index.json", b"[]")
    write_private(settings.home / "robots" / "dock.json", b"[0]")
    changing = asyncio.create_task(asyncio.to_thread(change_files, settings.home, over))
    try:
        await back_up_meanwhile(settings, tmp_path)
    finally:
        over.set()
        await changing


async def back_up_meanwhile(settings: Settings, tmp_path: Path) -> None:
    for number in range(4):
        target = settings_of(tmp_path / f"new{number}")
        await back_up(settings, tmp_path / f"{number}.tar.gz")
        await restore(target, tmp_path / f"{number}.tar.gz")
        numbers = json.loads((target.home / "robots" / "dock.json").read_text())
        assert len(numbers) == numbers[0] % 500 + 1
        for name in json.loads((target.home / "files" / "index.json").read_text()):
            assert (target.home / "files" / name).read_bytes() == b"one"


async def test_what_is_archived_and_deleted_meanwhile_is_in_the_backup_or_was_deleted(
    database: Any, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path / "home", database())
    store = await opened(settings)
    await store.append([Event("noted", {}, {"n": n}, n, "dock", "c", "run:r") for n in range(1200)])
    archive, before = store.archive, await store.records(limit=5000)
    assert archive is not None

    async def grow_old() -> None:
        for begin in range(1, 1100, 100):
            part = await archive.move(list(range(begin, begin + 100)))
            if begin % 300 == 1:
                await archive.delete(part, [], 1)

    growing, number = asyncio.create_task(grow_old()), 0
    while number < 2 or not growing.done():
        number += 1
        target = settings_of(tmp_path / f"new{number}")
        made = await back_up(settings, tmp_path / f"{number}.tar.gz")
        await restore(target, tmp_path / f"{number}.tar.gz")
        found = (await contents(target))["records"]
        assert (found[-1].seq, made["lastSeq"]) == (1200, 1200)
        assert [one for one in found if one.seq % 300 not in range(1, 101)] == [
            one for one in before if one.seq % 300 not in range(1, 101)
        ]
    await growing
    await store.close()


async def test_of_two_at_once_one_is_refused_and_nothing_is_mixed(tmp_path: Path) -> None:
    settings, target = settings_of(tmp_path / "home"), settings_of(tmp_path / "new")
    await (await filled(settings)).close()
    made = await asyncio.gather(*(back_up(settings, tmp_path / "b.tar.gz") for _ in range(3)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in made) == ["RefusedError", "RefusedError", "dict"]
    put_back = await asyncio.gather(*(restore(target, tmp_path / "b.tar.gz") for _ in range(3)), return_exceptions=True)
    assert [type(one).__name__ for one in put_back].count("dict") == 1, put_back
    assert all(isinstance(one, dict | RefusedError) for one in put_back), put_back
    assert names_in(tmp_path) == ["b.tar.gz", "home", "new"]
    assert not (target.home / "restoring").exists()
    assert await contents(target) == await contents(settings)
