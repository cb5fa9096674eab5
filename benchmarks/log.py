"""How fast the log takes events, beside a bare SQLite loop that commits the same bytes with the same durability.

    python benchmarks/log.py [--smallest] [--folder DIR] [--events N] [--million]

`alone` is one chain in which every append waits for the one before: it pays one sync of the disk each. `200 at once`
are as many such chains sharing commits. The bare loop has neither threads, indexes, filters nor a leader: it is the
limit; both write into a write-ahead log with room in it. The rows of Postgres, where it is installed, are the same
chains on a server of their own that waits for its disk; the processor time is that of this process alone. `--million`
fills a log with a million events and times what a start pays for them.
"""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from _options import Options
from _parts import can_run
from pydantic_core import to_json

from beforehand.adapters.sqlite.schema import lay_out_wal
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.stores import open_store
from beforehand.model.event import Event
from beforehand.ports.store import EventFilter, Row
from beforehand.testing.postgres_server import PostgresServer, find_programs


@dataclass
class Measured:
    """What a stretch of work took: seconds on the clock and of the processors."""

    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def measured() -> Iterator[Measured]:
    took = Measured()
    wall, cpu = time.perf_counter(), time.process_time()
    yield took
    took.wall_s, took.cpu_s = time.perf_counter() - wall, time.process_time() - cpu


def project(event: Event) -> Iterable[Row]:
    """One document per event, as a step's progress makes it."""
    yield Row("step", f"{event.about['runId']}/{event.about['stepId']}", event.data, event.about["runId"])


def step_event(run: int, step: int) -> Event:
    data = {
        "stepId": f"step_{step}",
        "status": "completed",
        "progress": 100,
        "result": {"ok": True, "value": "x" * 200},
    }
    about = {"planId": f"p{run}", "runId": f"r{run}", "stepId": f"step_{step}"}
    return Event("stepUpdated", about, data, 1_700_000_000_000 + step, "dock", "c-1", f"run:r{run}")


async def chains(url: str, at_once: int, each: int) -> tuple[Measured, int]:
    """A store: so many chains of appends at once; what it took and in how many commits."""
    store = await open_store(url, project=project, now_ms=lambda: 0)
    commits: list[int] = []
    store.on_commit(lambda records: commits.append(len(records)))

    async def chain(run: int) -> None:
        for step in range(each):
            await store.append([step_event(run, step)])

    with measured() as took:
        await asyncio.gather(*(chain(run) for run in range(at_once)))
    await store.close()
    return took, len(commits)


def bare(folder: Path, together: int, commits: int) -> Measured:
    """The limit: the same bytes, already encoded, into two plain tables, one commit for so many events."""
    file = sqlite3.connect(folder / f"bare-{together}.db", isolation_level=None)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = FULL")
    file.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, line BLOB)")
    file.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, body BLOB)")
    lay_out_wal(folder / f"bare-{together}.db")
    batches = [[step_event(run, step) for run in range(together)] for step in range(commits)]
    lines = [[(to_json(event.wire()),) for event in batch] for batch in batches]
    rows = [[(row.id, to_json(row.body)) for event in batch for row in project(event)] for batch in batches]
    with measured() as took:
        for line, row in zip(lines, rows, strict=True):
            file.execute("BEGIN")
            file.executemany("INSERT INTO events (line) VALUES (?)", line)
            file.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?)", row)
            file.execute("COMMIT")
    file.close()
    return took


def show(name: str, events: int, commits: int, took: Measured) -> None:
    rate, cpu_us = events / took.wall_s, took.cpu_s / events * 1e6
    print(f"{name:<28}{events:>9,}{commits:>9,}{rate:>12,.0f}{took.wall_s / commits * 1e3:>13.2f}{cpu_us:>14.0f}")


async def compare(folder: Path, events: int, at_once: int) -> None:
    print(f"{'':<28}{'events':>9}{'commits':>9}{'events/s':>12}{'ms/commit':>13}{'CPU µs/event':>14}")
    alone = max(events // 20, 1)
    took, commits = await chains(str(folder / "store-1.db"), 1, alone)
    show("store, alone", alone, commits, took)
    show("bare loop, alone", alone, alone, bare(folder, 1, alone))
    each = max(events // at_once, 1)
    took, commits = await chains(str(folder / f"store-{at_once}.db"), at_once, each)
    show(f"store, {at_once} at once", at_once * each, commits, took)
    show(f"bare loop, {at_once} a commit", at_once * each, each, bare(folder, at_once, each))
    await compare_postgres(alone, at_once, each)


async def compare_postgres(alone: int, at_once: int, each: int) -> None:
    """The same chains on a Postgres server of their own, where its programs and the driver are installed."""
    programs = find_programs()
    if programs is None or not can_run("Postgres", "psycopg", program=programs):
        return
    server = PostgresServer(programs, durable=True)
    try:
        took, commits = await chains(server.new_database(), 1, alone)
        show("Postgres, alone", alone, commits, took)
        took, commits = await chains(server.new_database(), at_once, each)
        show(f"Postgres, {at_once} at once", at_once * each, commits, took)
    finally:
        server.close()


async def million(folder: Path, events: int) -> None:
    """Fill a large log, then time what is asked of it at a start."""
    path, chunk = folder / "million.db", 5_000
    store = await SqliteStore.open(path, project=project, now_ms=lambda: 0)
    with measured() as filling:
        for start in range(0, events, chunk):
            await store.append([step_event(n % 1000, n // 1000) for n in range(start, min(start + chunk, events))])
    await store.close()
    print(f"\n{events:,} events, {path.stat().st_size / 1e6:,.0f} MB, filled in {filling.wall_s:.1f} s")
    with measured() as opening:
        store = await SqliteStore.open(path, project=project, now_ms=lambda: 0)
        await store.last_seq()
    print(f"{'open and ask for the last number':<44}{opening.wall_s * 1e3:>10.1f} ms")
    questions: dict[str, Callable[[], object]] = {
        "the last 100 events": lambda: store.records(events - 100),
        "all of one owner": lambda: store.events(only=EventFilter(owner="run:r7")),
        "first page of a kind that never was": lambda: store.records(only=EventFilter(frozenset({"never"}))),
        "one run's documents": lambda: store.rows("step", parent="r7"),
        "the newest 50 documents": lambda: store.rows("step", limit=50, newest_first=True),
        "read every document anew from the log": store.rebuild_rows,
    }
    for name, ask in questions.items():
        with measured() as asked:
            await ask()  # type: ignore[misc]
        print(f"{name:<44}{asked.wall_s * 1e3:>10.1f} ms")
    await store.close()


def main() -> None:
    options = Options(__doc__)
    options.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    options.add_argument("--million", action="store_true", help="also fill a log with a million events")
    options.add_size("--events", 40_000, 60, "events for the busy case")
    options.add_size("--at-once", 200, 20, "chains that share commits")
    options.add_size("million_events", 1_000_000, 1_000)
    given = options.read()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        asyncio.run(compare(Path(folder), given.events, given.at_once))
        if given.million or given.smallest:
            asyncio.run(million(Path(folder), given.million_events))


if __name__ == "__main__":
    main()
