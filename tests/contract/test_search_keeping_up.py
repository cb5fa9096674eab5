"""A server keeps the tables for searching up to date beside everything else: gently, and through kill -9."""

import asyncio
import contextlib
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.contract.test_search import CRAFTS, HOUR, NOW, T0, task

from beforehand.adapters.search import embedded, tables
from beforehand.adapters.search.embedded import EmbeddedSearch
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.reading_aside import read_aside
from beforehand.app.runtime import open_runtime
from beforehand.app.search import open_tables, searched
from beforehand.app.settings import load_settings
from beforehand.model.event import Event
from beforehand.ports.store import EVERYTHING, EventFilter
from beforehand.server.serve import preparing_for_questions
from beforehand.testing import MemoryStore

PATIENCE_S = 60
TASKS = 1_000


def history(tasks: int = TASKS) -> list[Event]:
    return [
        one for number in range(tasks) for one in task(number, T0 + number * 60_000, f"RB-0{number % 7}", "in", HOUR)
    ]


class Watched(MemoryStore):
    """Notes how much is read at once."""

    def __init__(self) -> None:
        super().__init__(CRAFTS.projection())
        self.limits: list[int] = []
        self.begun = asyncio.Event()

    async def events(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Event]:
        self.limits.append(limit)
        self.begun.set()
        return await super().events(after, limit, only)


def place(path: Path) -> int:
    """How far the log has been read into the tables."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as file:
            return int(file.execute("SELECT seq FROM _place").fetchone()[0])
    except (sqlite3.OperationalError, TypeError):
        return 0  # it is being made


async def test_it_reads_a_little_at_a_time_while_nobody_waits_and_hurries_when_somebody_does(tmp_path: Path) -> None:
    store = Watched()
    await store.append(history())
    search = EmbeddedSearch(store, searched(CRAFTS), now_ms=lambda: NOW, path=tmp_path / "search")
    task = asyncio.create_task(search.keep_up())
    async with asyncio.timeout(PATIENCE_S):
        await store.begun.wait()
    assert set(store.limits) == {100}
    found = await search.search("events", {"size": 0})
    assert found.total == 2 * TASKS
    assert max(store.limits) == 2_000
    await _stopped(task)
    await search.close()
    await store.close()


async def test_what_is_appended_is_read_before_anybody_asks(tmp_path: Path) -> None:
    store = Watched()
    search = EmbeddedSearch(store, searched(CRAFTS), now_ms=lambda: NOW, path=tmp_path / "search")
    task = asyncio.create_task(search.keep_up())
    for part in (history(40), history(30)):
        await store.append(part)
        await _read_so_far(tmp_path / "search", await store.last_seq())
    await _stopped(task)
    await search.close()
    assert set(store.limits) == {100}
    await store.close()


async def test_the_search_can_be_closed_while_it_reads(tmp_path: Path) -> None:
    store = Watched()
    await store.append(history())
    search = EmbeddedSearch(store, searched(CRAFTS), now_ms=lambda: NOW, path=tmp_path / "search")
    task = asyncio.create_task(search.keep_up())
    async with asyncio.timeout(PATIENCE_S):
        await store.begun.wait()
    await _stopped(task)
    async with asyncio.timeout(PATIENCE_S):
        await search.close()
    assert place(tmp_path / "search") < 2 * TASKS
    await store.close()


async def test_a_server_prepares_for_questions(tmp_path: Path) -> None:
    settings = load_settings({"home": str(tmp_path / "home")}, {}, tmp_path / "none")
    async with open_runtime(settings, with_servers=False) as runtime:
        await runtime.store.append(history(200))
        tables = tmp_path / "home" / "log.db.search"
        async with preparing_for_questions(runtime):
            await _read_so_far(tables, await runtime.store.last_seq())
        assert (await runtime.search.search("tasks", {"size": 0})).total == 200


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process reads begins early."""
    monkeypatch.setattr(embedded, "_FAR", 1_000)


@pytest.mark.usefixtures("far")
async def test_a_server_has_a_long_log_read_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings({"home": str(tmp_path / "home")}, {}, tmp_path / "none")
    async with open_runtime(settings, with_servers=False) as runtime:
        await runtime.store.append(history())
        own: list[int] = []
        take_in = tables.take_in

        def noted(*given: Any) -> None:
            own.append(given[3])
            take_in(*given)

        monkeypatch.setattr(tables, "take_in", noted)
        assert (await runtime.search.search("tasks", {"size": 0})).total == TASKS
        assert own == []
        await runtime.store.append(task(TASKS, T0, "RB-01", "in", HOUR))
        assert (await runtime.search.search("tasks", {"size": 0})).total == TASKS + 1
        assert own == [2 * TASKS]


@pytest.mark.usefixtures("far")
async def test_what_the_other_process_leaves_when_it_is_killed_is_read_here(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "log.db", project=CRAFTS.projection(), now_ms=lambda: NOW)
    await store.append(history(10 * TASKS))
    left: list[int] = []

    async def killed_on_the_way(path: Path, layout: str) -> bool:
        reading = asyncio.create_task(read_aside(f"sqlite:///{tmp_path / 'log.db'}", path, layout))
        await _read_so_far(path, 1)
        await _stopped(reading)
        left.append(20 * TASKS - place(path))
        return False

    search = open_tables(store, CRAFTS, lambda: NOW, tmp_path / "search", killed_on_the_way)
    assert (await search.search("tasks", {"size": 0})).total == 10 * TASKS
    await search.close()
    assert len(left) == 1
    anew = open_tables(store, CRAFTS, lambda: NOW, tmp_path / "anew")
    assert (await anew.search("tasks", {"size": 0})).total == 10 * TASKS
    await anew.close()
    await store.close()
    assert _held(tmp_path / "search") == _held(tmp_path / "anew")


async def test_another_process_that_knows_other_indexes_leaves_the_tables_alone(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "log.db", project=CRAFTS.projection(), now_ms=lambda: NOW)
    await store.append(history(10))
    search = open_tables(store, CRAFTS, lambda: NOW, tmp_path / "search")
    assert (await search.search("tasks", {"size": 0})).total == 10
    await search.close()
    assert not await read_aside(f"sqlite:///{tmp_path / 'log.db'}", tmp_path / "search", "those of a plug-in")
    assert place(tmp_path / "search") == 20
    await store.close()


KEEPING_UP = """
import asyncio, sys
from pathlib import Path
from beforehand.adapters.search.embedded import EmbeddedSearch
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.crafts import load_crafts
from beforehand.app.search import searched

async def main(folder):
    crafts = load_crafts(built_in_only=True)
    store = await SqliteStore.open(folder / "log.db", project=crafts.projection(), lead=False, now_ms=lambda: 0)
    search = EmbeddedSearch(store, searched(crafts), now_ms=lambda: 0, path=folder / "search")
    await search.keep_up()

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("seed", range(2))
async def test_the_tables_survive_a_kill_at_any_instant(tmp_path: Path, seed: int) -> None:
    """Whatever is killed in the middle, tables that go on from there are those that are made in one go."""
    chance = random.Random(seed)
    store = await SqliteStore.open(tmp_path / "log.db", project=CRAFTS.projection(), now_ms=lambda: NOW)
    await store.append(history())
    last, reached = await store.last_seq(), 0
    for _ in range(5):
        at = chance.randint(reached, max(reached, last - 200))
        reached = await asyncio.to_thread(_killed_on_the_way, tmp_path, at)
    for name in ("search", "anew"):
        search = EmbeddedSearch(store, searched(CRAFTS), now_ms=lambda: NOW, path=tmp_path / name)
        assert (await search.search("tasks", {"size": 0})).total == TASKS
        await search.close()
    await store.close()
    assert _held(tmp_path / "search") == _held(tmp_path / "anew")


def _killed_on_the_way(folder: Path, at: int) -> int:
    """Start one that keeps up, kill it once it has come so far, and tell how far the tables are."""
    process = subprocess.Popen([sys.executable, "-c", KEEPING_UP, str(folder)], stderr=subprocess.PIPE, text=True)
    give_up = time.monotonic() + PATIENCE_S
    while not (folder / "search").exists() or (at and place(folder / "search") < at):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < give_up
        threading.Event().wait(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return place(folder / "search")


def _held(path: Path) -> dict[str, list[Any]]:
    """Everything in the tables, and which orders are kept of them."""
    with contextlib.closing(sqlite3.connect(path)) as file:
        orders = file.execute("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name").fetchall()
        names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {"orders": orders} | {
            name: sorted(file.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in names
        }


async def _read_so_far(path: Path, seq: int) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while place(path) < seq:
        assert time.monotonic() < give_up
        await asyncio.sleep(0.02)


async def _stopped(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
