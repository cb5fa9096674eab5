"""Backups: a home in use into a file and out of it again; killed at any moment, no half one is taken for whole."""

import asyncio
import io
import json
import os
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.killing import kill_at_every_moment

from beforehand.adapters.sqlite import copying
from beforehand.app.backup import back_up
from beforehand.app.backup_file import check_backup
from beforehand.app.restore import EPOCHS, restore
from beforehand.app.runtime import open_runtime
from beforehand.app.settings import Settings, load_settings
from beforehand.app.stores import open_store
from beforehand.model.errors import BadInputError, RefusedError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import Row, Store


def project(event: Event) -> Iterable[Row]:
    yield Row("thing", str(event.data["n"] % 50), event.data)


def happened(n: int) -> Event:
    return Event("noted", {"runId": f"r{n // 10}"}, {"n": n}, n, "dock", "c", f"run:r{n // 10}")


def settings_of(home: Path, db: str | None = None, **flags: Any) -> Settings:
    return load_settings({"home": str(home), "db": db, **flags}, {}, home / "none.toml")


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Any:
    """Makes the URL of a new store, or None for the home's own."""
    if request.param == "sqlite":
        return lambda: None
    return request.getfixturevalue("postgres").new_database


async def opened(settings: Settings, **how: Any) -> Store:
    return await open_store(settings.database, **{"project": project, "now_ms": lambda: 0, **how})


async def filled(settings: Settings) -> Store:
    """A store that is led, with an archive, a snapshot and files of the home beside it."""
    store = await opened(settings)
    await store.append([happened(n) for n in range(300)])
    assert store.archive is not None
    await store.archive.move([seq for seq in range(1, 200) if seq % 9])
    await store.save_snapshot("fleet:dock", 250, {"robots": 3})
    for name, text in (("tokens.json", "[]"), ("secrets/KEY", "hush"), ("files/deep/a.plt", "x"), ("session.key", "k")):
        place = settings.home / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return store


async def contents(settings: Settings) -> dict[str, Any]:
    store = await opened(settings, lead=False)
    found = {
        "records": await store.records(limit=5000),
        "rows": await store.rows("thing"),
        "snapshot": await store.snapshot("fleet:dock"),
        "last": await store.last_seq(),
    }
    await store.close()
    return found


def files_in(home: Path) -> dict[str, str]:
    found = [path for path in home.rglob("*") if path.is_file() and "log.db" not in str(path.relative_to(home))]
    return {str(path.relative_to(home)): path.read_text() for path in found}


async def test_a_backup_of_a_home_in_use_is_that_home_again(database: Any, tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home", database())
    store = await filled(settings)
    before = await contents(settings)
    writing = asyncio.create_task(store.append([happened(n) for n in range(300, 2000)]))
    made = await back_up(settings, tmp_path / "b.tar.gz")
    await writing
    leader = await store.leader()
    await store.close()
    assert made["lastSeq"] in (300, 2000), "one instant"
    assert made["leftOut"] == ["secrets/KEY", "session.key"]
    assert (tmp_path / "b.tar.gz").stat().st_mode & 0o777 == 0o600
    for target in (settings_of(tmp_path / "one"), settings_of(tmp_path / "two", database())):
        await restore(target, tmp_path / "b.tar.gz")
        now = await contents(target)
        assert now["records"][:300] == before["records"]
        assert now["snapshot"] == before["snapshot"]
        assert now["last"] == made["lastSeq"]
        assert files_in(target.home) == {"tokens.json": "[]", "files/deep/a.plt": "x"}
        again = await opened(target)
        now_leads = await again.leader()
        assert leader is not None
        assert now_leads is not None
        assert now_leads.epoch > leader.epoch + EPOCHS - 1
        await again.append([happened(1)])
        assert await again.last_seq() == made["lastSeq"] + 1
        await again.close()


async def test_secrets_go_along_only_when_told_to(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home")
    await (await filled(settings)).close()
    made = await back_up(settings, tmp_path / "b.tar.gz", with_secrets=True)
    assert made["leftOut"] == []
    await restore(settings_of(tmp_path / "new"), tmp_path / "b.tar.gz")
    assert files_in(tmp_path / "new")["secrets/KEY"] == "hush"
    assert (tmp_path / "new" / "secrets" / "KEY").stat().st_mode & 0o777 == 0o600


async def test_a_settings_file_with_a_password_is_a_secret(tmp_path: Path) -> None:
    config = tmp_path / "beforehand.toml"
    for text, left in (("port = 8701\n", False), ('token = "abc"\n', True), ('search = "http://a:b@c"\n', True)):
        config.write_text(text)
        settings = load_settings({"home": str(tmp_path / "home")}, {}, config)
        if not (tmp_path / "home").exists():
            await (await filled(settings)).close()
        target = tmp_path / f"{left}{len(text)}.tar.gz"
        made = await back_up(settings, target)
        assert any("beforehand.toml" in name for name in made["leftOut"]) is left
        assert ("settings/beforehand.toml" in made["files"]) is not left


async def test_what_is_in_the_way_or_not_whole_is_refused_and_nothing_changed(database: Any, tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "home", database())
    await (await filled(settings)).close()
    backup = tmp_path / "b.tar.gz"
    await back_up(settings, backup)
    with pytest.raises(RefusedError, match="is there already"):
        await back_up(settings, backup)
    with pytest.raises(RefusedError, match="only restored into an empty home"):
        await restore(settings, backup)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "tokens.json").write_text("mine")
    with pytest.raises(RefusedError, match=r"tokens\.json is there already"):
        await restore(settings_of(tmp_path / "half"), backup)
    whole = backup.read_bytes()
    for wrong in (b"", b"no tar", whole[:-200], whole[: len(whole) // 2], tampered(tmp_path, whole)):
        (tmp_path / "wrong").write_bytes(wrong)
        with pytest.raises(BadInputError, match="cannot be restored"):
            await restore(settings_of(tmp_path / "new"), tmp_path / "wrong")
        assert not (tmp_path / "new").exists()
    with pytest.raises(BadInputError, match="cannot be opened"):
        await restore(settings_of(tmp_path / "new"), tmp_path / "missing")
    with pytest.raises(UnavailableError):
        await back_up(settings_of(tmp_path / "empty"), tmp_path / "c.tar.gz")
    assert not (tmp_path / "c.tar.gz").exists()


def tampered(folder: Path, whole: bytes) -> bytes:
    """The same backup with one file that is another."""
    (folder / "whole").write_bytes(whole)
    with tarfile.open(folder / "whole") as old, tarfile.open(folder / "other", "w:gz") as new:
        for member in old:
            content = old.extractfile(member)
            assert content is not None
            data = content.read()
            if member.name == "home/tokens.json":
                data = b"{}"
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return (folder / "other").read_bytes()


# --- kill -9

MOMENTS = (
    (os, "fsync"),
    (os, "link"),
    (os, "mkdir"),
    (Path, "replace"),
    (tarfile.TarFile, "addfile"),
    (copying, "write_rows"),
    (shutil, "rmtree"),
)


async def do(act: str, home: str, db: str, file: str) -> None:
    settings = settings_of(Path(home), db or None)
    await (back_up if act == "backup" else restore)(settings, Path(file))


async def check(act: str, home: str, db: str, file: str, *, ended: bool) -> None:
    """A backup under its name is whole; a home that is half restored says so, is led by nobody, and can be restored."""
    if act == "backup":
        check_whole(Path(file), ended)
        return
    settings = settings_of(Path(home), db or None)
    if is_half_restored(settings.home, ended):
        with pytest.raises(UnavailableError, match=r"Restoring a backup into .* was begun and has not ended"):
            async with open_runtime(settings):
                pass
    if not db and not ended:
        await check_again(settings, Path(file))


def check_whole(file: Path, ended: bool) -> None:
    assert not ended or file.exists()
    assert not file.exists() or check_backup(file).lastSeq == 300
    if not ended:
        file.unlink(missing_ok=True)  # it may have come to its end, and only the tidying up was missing


def is_half_restored(home: Path, ended: bool) -> bool:
    half = (home / "restoring").exists()
    assert half is not ended or not home.exists() or not list(home.iterdir()) or is_restored(home)
    return half


def is_restored(home: Path) -> bool:
    return set(files_in(home)) == {"tokens.json", "files/deep/a.plt"} and (home / "log.db").exists()


async def check_again(settings: Settings, file: Path) -> None:
    """Restoring again makes it whole; the next one that is killed finds an empty home."""
    if not is_restored(settings.home) or (settings.home / "restoring").exists():
        await restore(settings, file)
    assert is_restored(settings.home)
    assert (await contents(settings))["last"] == 300
    shutil.rmtree(settings.home)


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgres", marks=pytest.mark.soak)], indirect=True)
@pytest.mark.parametrize("act", ["backup", "restore"])
async def test_killed_at_any_moment_and_done_again(database: Any, tmp_path: Path, act: str) -> None:
    settings = settings_of(tmp_path / "home", database())
    await (await filled(settings)).close()
    before = await contents(settings)
    target = settings_of(tmp_path / "new", database())
    whole = tmp_path / "whole.tar.gz"
    if act == "restore":
        await back_up(settings, whole)
    at = settings if act == "backup" else target
    words = (act, str(at.home), at.values["db"] or "", str(whole))
    assert 8 < await kill_at_every_moment(__file__, 160, *words) < 159
    if act == "backup":
        assert not (tmp_path / "whole.tar.gz.new").exists()
        await restore(target, whole)
    assert await contents(target) == before
    with pytest.raises(RefusedError):
        await restore(target, whole)


def test_the_manifest_comes_first_and_reads_well(tmp_path: Path) -> None:
    async def make() -> None:
        settings = settings_of(tmp_path / "home")
        await (await filled(settings)).close()
        await back_up(settings, tmp_path / "b.tar.gz")

    asyncio.run(make())
    with tarfile.open(tmp_path / "b.tar.gz") as tar:
        first = tar.next()
        assert first is not None
        content = tar.extractfile(first)
        assert content is not None
        told = json.loads(content.read())
    assert told["format"] == "beforehand-backup-1"
    assert {name.split("/")[0] for name in told["files"]} == {"log", "home"}
    assert not any(name.endswith(("-wal", ".search", ".lock")) for name in told["files"])
