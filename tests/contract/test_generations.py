"""Which log this is: one identity for its whole life, and another generation whenever it may stand beside another log
that shares its past, so that no key is ever sent by both.

A log is put back and copied as people do it: with our commands, and with `cp`, `createdb` and an editor.
"""

import shutil
from pathlib import Path

import psycopg
import pytest
from tests.contract.test_log_versions import LOGS, unpacked

from beforehand.app.backup import back_up
from beforehand.app.restore import restore
from beforehand.app.runtime import open_runtime
from beforehand.app.settings import Settings, load_settings
from beforehand.app.stores import copy_store, open_reading
from beforehand.model.log_identity import LogIdentity
from beforehand.testing.postgres_server import PostgresServer

ALL = ("", "-wal", "-shm")


def settings_of(home: Path, db: str | None = None) -> Settings:
    return load_settings({"home": str(home), "db": db}, {}, home / "none.toml")


async def led(settings: Settings, events: int = 1) -> LogIdentity:
    """Somebody leads the log for a while, writes some events and goes."""
    async with open_runtime(settings, with_servers=False) as runtime:
        for number in range(events):
            await runtime.log("noted", {"n": number}, owner="notes")
        return runtime.identity


async def shown(settings: Settings) -> LogIdentity | None:
    async with open_reading(settings.database) as store:
        return await store.identity()


def assert_another_generation(now: LogIdentity, before: LogIdentity) -> None:
    assert now.id == before.id
    assert now.generation != before.generation
    assert not now.owns(before.key("dock-t1:pick:1"))
    assert now.owns(now.key("dock-t1:pick:1"))


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    in_database = request.param == "postgres"
    return settings_of(tmp_path / "home", request.getfixturevalue("postgres").new_database() if in_database else None)


async def test_a_log_is_the_same_from_start_to_start(settings: Settings) -> None:
    first = await led(settings)
    assert await shown(settings) == first
    assert await led(settings) == first
    assert first.owns(first.key("dock-t1:pick:1"))
    assert not first.owns("dock-t1:pick:1"), "a log that begins now has never sent a key without its name"


async def test_a_restored_log_is_another_generation(settings: Settings, tmp_path: Path) -> None:
    first = await led(settings)
    await back_up(settings, tmp_path / "backup")
    assert await led(settings) == first, "the log that was copied goes on as the one it is"
    target = settings_of(tmp_path / "restored")
    await restore(target, tmp_path / "backup")
    second = await led(target)
    assert_another_generation(second, first)
    assert await led(target) == second
    third = settings_of(tmp_path / "again")
    await restore(third, tmp_path / "backup")
    assert_another_generation(await led(third), second)


async def test_a_copied_log_is_another_generation(settings: Settings, tmp_path: Path) -> None:
    first = await led(settings)
    target = settings_of(tmp_path / "copied")
    target.home.mkdir()
    await copy_store(settings.database, target.database)
    assert_another_generation(await led(target), first)
    assert await led(settings) == first


# -- a file ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def log_files(home: Path) -> list[Path]:
    return [path for end in ALL if (path := home / f"log.db{end}").exists()]


async def test_a_home_that_is_copied_file_by_file_is_another_generation(home: Path, tmp_path: Path) -> None:
    first = await led(settings_of(home))
    shutil.copytree(home, tmp_path / "twin")
    twin = await led(settings_of(tmp_path / "twin"))
    assert_another_generation(twin, first)
    assert await led(settings_of(home)) == first
    assert await led(settings_of(tmp_path / "twin")) == twin


async def test_a_home_that_is_renamed_stays_what_it_is(home: Path, tmp_path: Path) -> None:
    first = await led(settings_of(home))
    shutil.move(home, tmp_path / "moved")
    assert await led(settings_of(tmp_path / "moved")) == first


async def test_a_log_that_is_put_back_into_its_own_files_is_another_generation(home: Path, tmp_path: Path) -> None:
    first = await led(settings_of(home), 3)
    for file in log_files(home):
        shutil.copyfile(file, tmp_path / file.name)
    assert await led(settings_of(home), 3) == first
    for file in log_files(home):
        file.write_bytes((tmp_path / file.name).read_bytes())
    second = await led(settings_of(home))
    assert_another_generation(second, first)
    assert await led(settings_of(home)) == second


async def test_a_log_without_its_mark_may_have_lost_its_end(home: Path) -> None:
    first = await led(settings_of(home))
    (home / "log.db.mark").unlink()
    second = await led(settings_of(home))
    assert_another_generation(second, first)
    (home / "log.db.mark").write_bytes(b"\xff\x00 nobody can read this")
    assert_another_generation(await led(settings_of(home)), second)


@pytest.mark.parametrize("recorded", LOGS, ids=lambda path: path.name.removesuffix(".db.gz"))
async def test_a_log_of_an_older_version_still_owns_the_keys_it_sent(recorded: Path, tmp_path: Path) -> None:
    home = unpacked(recorded, tmp_path).parent
    log = await led(settings_of(home))
    assert log.owns("dock-t1:pick:1")
    assert log.owns(log.key("dock-t2:pick:1"))
    assert await led(settings_of(home)) == log
    (home / "log.db.mark").unlink()
    assert not (await led(settings_of(home))).owns("dock-t1:pick:1"), "nobody knows which log sent it"


# -- a database -----------------------------------------------------------------------------------------------------


@pytest.fixture
def in_database(postgres: PostgresServer, tmp_path: Path) -> Settings:
    return settings_of(tmp_path / "home", postgres.new_database())


async def test_a_database_that_lost_its_last_events_holds_another_generation(in_database: Settings) -> None:
    first = await led(in_database, 5)
    with psycopg.connect(in_database.database) as line:
        line.execute("DELETE FROM events WHERE seq > 2")
    second = await led(in_database)
    assert_another_generation(second, first)
    assert await led(in_database) == second


async def test_a_copy_of_a_database_is_another_generation(
    in_database: Settings, postgres: PostgresServer, tmp_path: Path
) -> None:
    first = await led(in_database)
    name = in_database.database.rpartition("/")[2].partition("?")[0]
    with psycopg.connect(in_database.database.replace(f"/{name}", "/postgres"), autocommit=True) as line:
        line.execute(f'CREATE DATABASE "{name}_twin" TEMPLATE "{name}"')
    twin = settings_of(tmp_path / "twin", in_database.database.replace(f"/{name}", f"/{name}_twin"))
    assert_another_generation(await led(twin), first)
    assert await led(in_database) == first


async def test_a_server_without_the_home_of_the_last_leader_goes_on_as_the_same_log(
    in_database: Settings, tmp_path: Path
) -> None:
    """The mark lies in the home of whoever led: that another home has none, or an old one, says nothing."""
    first = await led(in_database)
    other = settings_of(tmp_path / "other", in_database.database)
    assert await led(other) == first
    assert await led(in_database) == first
