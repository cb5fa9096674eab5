"""How fast questions to the past are answered over a large log.

    python benchmarks/rounds.py [--smallest] [--folder DIR] [--events N]

A log of a million events is filled and read into the tables for searching; then every question is asked several times.
The same counts over the log itself, by SQLite without those tables, are beside them.
"""

import asyncio
import sqlite3
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from _options import Options

from beforehand.adapters.search.embedded import EmbeddedSearch
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.crafts import load_crafts
from beforehand.app.search import searched
from beforehand.model.event import Event

START = 1_790_000_000_000
CHUNK = 5_000
KINDS = (
    ("taskUpdated",) * 8 + ("robotUpdated",) * 6 + ("commandSent",) * 3 + ("palletPicked", "palletDropped", "fleetHeld")
)


def event(number: int) -> Event:
    kind, robot = KINDS[number % len(KINDS)], f"RB-{number % 50:02}"
    about = {"robotId": robot, "worksiteId": f"PICK_{number % 40:02}"}
    task = f"hall-t{number // 20}"
    data: dict[str, Any] = {"taskId": task, "robotId": robot, "worksiteId": about["worksiteId"], "phase": "idle"}
    if kind == "taskUpdated":
        data |= {"sourceId": "PICK_01", "targetId": "DROP_01", "status": "active", "createdTsMs": START, "step": "pick"}
    return Event(kind, {**about, "taskId": task}, data, START + number * 2_592, "hall", "c", "fleet:hall")


QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "count of a rare kind": ("events", {"query": {"term": {"kind": "fleetHeld"}}, "size": 0}),
    "count of a kind in one day": (
        "events",
        {
            "query": {
                "bool": {
                    "filter": [
                        {"term": {"kind": "palletPicked"}},
                        {"range": {"ts": {"gte": START, "lt": START + 86_400_000}}},
                    ]
                }
            },
            "size": 0,
        },
    ),
    "count of everything in one hour": (
        "events",
        {"query": {"range": {"ts": {"gte": START, "lt": START + 3_600_000}}}, "size": 0},
    ),
    "a kind per hour over the month": (
        "events",
        {
            "query": {"term": {"kind": "palletPicked"}},
            "size": 0,
            "aggs": {"a": {"date_histogram": {"field": "ts", "calendar_interval": "hour"}}},
        },
    ),
    "count of the commonest kind": ("events", {"query": {"term": {"kind": "taskUpdated"}}, "size": 0}),
    "count of everything in half the month": (
        "events",
        {"query": {"range": {"ts": {"gte": START, "lt": START + 15 * 86_400_000}}}, "size": 0},
    ),
    "the commonest kind per hour": (
        "events",
        {
            "query": {"term": {"kind": "taskUpdated"}},
            "size": 0,
            "aggs": {"a": {"date_histogram": {"field": "ts", "calendar_interval": "hour"}}},
        },
    ),
    "everything per day": (
        "events",
        {"size": 0, "aggs": {"a": {"date_histogram": {"field": "ts", "calendar_interval": "day"}}}},
    ),
    "a kind per 10 minutes of one day": (
        "events",
        {
            "query": {
                "bool": {
                    "filter": [
                        {"term": {"kind": "taskUpdated"}},
                        {"range": {"ts": {"gte": START, "lt": START + 86_400_000}}},
                    ]
                }
            },
            "size": 0,
            "aggs": {"a": {"date_histogram": {"field": "ts", "fixed_interval": "10m"}}},
        },
    ),
    "picks per worksite": (
        "handlings",
        {"query": {"term": {"operation": "pick"}}, "size": 0, "aggs": {"a": {"terms": {"field": "worksiteId"}}}},
    ),
    "the newest 10 of a kind": ("events", {"query": {"term": {"kind": "commandSent"}}, "sort": [{"ts": "desc"}]}),
    "count of one robot in one day": (
        "events",
        {
            "query": {
                "bool": {
                    "filter": [
                        {"term": {"about.robotId": "RB-07"}},
                        {"range": {"ts": {"gte": START, "lt": START + 86_400_000}}},
                    ]
                }
            },
            "size": 0,
        },
    ),
    "count of one robot, all of the log": ("events", {"query": {"term": {"about.robotId": "RB-07"}}, "size": 0}),
}


async def measure(folder: Path, events: int, asked: int) -> None:
    crafts = load_crafts(built_in_only=True)
    store = await SqliteStore.open(folder / "log.db", project=lambda event: (), now_ms=lambda: START)
    for start in range(0, events, CHUNK):
        await store.append([event(number) for number in range(start, min(start + CHUNK, events))])
    search = EmbeddedSearch(
        store, searched(crafts), now_ms=lambda: START, path=folder / "log.db.search", longest_s=60, wait_s=3600
    )
    began = time.perf_counter()
    await search.search("events", {"size": 0})
    took = time.perf_counter() - began
    sizes = [(folder / name).stat().st_size / 1e6 for name in ("log.db", "log.db.search")]
    print(f"{events:,} events, log {sizes[0]:,.0f} MB, tables {sizes[1]:,.0f} MB, read in {took:.1f} s\n")
    print(f"{'':<40}{'found':>10}{f'ms, median of {asked}':>18}")
    for name, (index, body) in QUESTIONS.items():
        times = []
        for _ in range(asked):
            began = time.perf_counter()
            found = await search.search(index, body)
            times.append(time.perf_counter() - began)
        print(f"{name:<40}{found.total:>10,}{median(times) * 1e3:>18.2f}")
    await search.close()
    await store.close()
    began = time.perf_counter()
    with sqlite3.connect(folder / "log.db") as log:
        (count,) = log.execute("SELECT COUNT(*) FROM events WHERE kind = 'fleetHeld'").fetchone()
    print(f"{'count of a rare kind, by the log alone':<40}{count:>10,}{(time.perf_counter() - began) * 1e3:>18.2f}")


def main() -> None:
    options = Options(__doc__)
    options.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    options.add_size("--events", 1_000_000, 2_000)
    options.add_size("--times", 10, 1, "how often each question is asked")
    given = options.read()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        asyncio.run(measure(Path(folder), given.events, given.times))


if __name__ == "__main__":
    main()
