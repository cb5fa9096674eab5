"""The contestants of `engine.py`, one per process: `_engine_contestants.py NAME KIND SIZE --plans N --home DIR`.

Each runs one shape of no-op steps with durability on and prints one line of JSON.
"""

import argparse
import asyncio
import gc
import json
import operator
import queue
import resource
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from _contest import Figures, Stopwatch


class Shape(NamedTuple):
    """So many plans at once, each a chain of steps, or a fan of them with one step before and one after."""

    kind: str
    size: int
    plans: int = 1

    def documents(self) -> list[dict[str, Any]]:
        return [(chain_of if self.kind == "chain" else fan_of)(self.size) for _ in range(self.plans)]

    @property
    def steps(self) -> int:
        return self.plans * (self.size if self.kind == "chain" else self.size + 2)


def chain_of(size: int) -> dict[str, Any]:
    steps = [{"id": f"s{n}", "tool": "nop", "args": {"value": f"$s{n - 1}" if n else "x"}} for n in range(size)]
    return {"steps": steps}


def fan_of(size: int) -> dict[str, Any]:
    wide = [{"id": f"s{n}", "tool": "nop", "args": {"value": "$first"}} for n in range(size)]
    last = {"id": "last", "tool": "nop", "args": {}, "dependsOn": [step["id"] for step in wide]}
    return {"steps": [{"id": "first", "tool": "nop", "args": {}}, *wide, last]}


def per_step(watch: Stopwatch, shape: Shape) -> Figures:
    wall_s, cpu_s = watch.per(shape.steps)
    return {"ms": wall_s * 1000, "cpu_ms": cpu_s * 1000}


def peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# -- Beforehand ----------------------------------------------------------------------------------------------------


async def beforehand(shape: Shape, home: Path, began: float) -> Figures:
    """Real engine, real store, real tables."""
    from beforehand.adapters.sqlite.store import SqliteStore
    from beforehand.adapters.tools.registry import ToolRegistry
    from beforehand.app.clock import WallClock
    from beforehand.engine.inputs import Begin
    from beforehand.engine.state import RunState
    from beforehand.engine.tool_catalog import ToolCatalog
    from beforehand.engine.validate import plan_from
    from beforehand.loop.rows import projection
    from beforehand.loop.run_driver import RunDriver, Surroundings
    from beforehand.model.event import Event
    from beforehand.ports.tool import Tool, ToolContext, ToolSpec
    from beforehand.testing.workspace import MemoryWorkspace

    first_done: list[float] = []

    class Nop(Tool):
        spec = ToolSpec("nop", "Does nothing.", {"type": "object", "properties": {"value": {"type": "string"}}}, "pure")

        async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
            if not first_done:
                first_done.append(time.time())
            return "x"

    clock, catalog, box = WallClock(), ToolCatalog([Nop.spec]), ToolRegistry([Nop()])
    store = await SqliteStore.open(home / "log.db", project=projection(), now_ms=clock.now_ms)
    around = Surroundings(store, clock, catalog, box, MemoryWorkspace())
    validating = time.perf_counter()
    plans = [
        plan_from(document, catalog).model_copy(update={"id": f"p{n}", "task_id": f"t{n}"})
        for n, document in enumerate(shape.documents())
    ]
    validate_s = time.perf_counter() - validating

    async def one(number: int) -> None:
        plan = plans[number]
        head = {"runId": f"r{number}", "planId": plan.id, "version": 1, "status": "running"}
        about = {"runId": head["runId"], "planId": plan.id}
        run = RunState(head["runId"], plan, lambda version: plan)
        started = Event("runStarted", about, head, clock.now_ms(), owner=f"run:{run.run_id}")
        run.apply((await store.append([started]))[0])
        driver = RunDriver(run, around)
        driver.put(Begin(clock.now_ms()))
        await driver.drive()
        assert run.status == "completed", run.status

    gc.collect()  # else what loading left behind is collected in the run or before it, as chance has it
    before = peak_kb()
    watch = Stopwatch()
    await asyncio.gather(*map(one, range(len(plans))))
    result = per_step(watch, shape) | {
        "validate_s": validate_s,
        "kb_per_step": (peak_kb() - before) / shape.steps,
        "first_s": first_done[0] - began,
    }
    await store.close()
    return result


# -- a bare log ----------------------------------------------------------------------------------------------------


class BareLog:
    """One table, one writing thread, one commit for all that is queued: as little as a durable log can do."""

    def __init__(self, path: Path, *, with_room: bool) -> None:
        self.path = path
        self.with_room = with_room
        self.waiting: queue.SimpleQueue[tuple[list[tuple[bytes]], asyncio.Future[None]] | None] = queue.SimpleQueue()
        self.loop = asyncio.get_running_loop()
        self.thread = threading.Thread(target=self._write)
        self.thread.start()

    async def append(self, lines: Sequence[bytes]) -> None:
        done: asyncio.Future[None] = self.loop.create_future()
        self.waiting.put(([(line,) for line in lines], done))
        await done

    def _write(self) -> None:
        file = sqlite3.connect(self.path, isolation_level=None)
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = FULL")
        file.execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, line BLOB)")
        if self.with_room:
            from beforehand.adapters.sqlite.schema import lay_out_wal

            lay_out_wal(self.path)
        while (first := self.waiting.get()) is not None:
            batch = [first]
            while not self.waiting.empty() and (more := self.waiting.get()) is not None:
                batch.append(more)
            file.execute("BEGIN IMMEDIATE")
            for lines, _ in batch:
                file.executemany("INSERT INTO log (line) VALUES (?)", lines)
            file.execute("COMMIT")
            self.loop.call_soon_threadsafe(lambda batch=batch: [done.set_result(None) for _, done in batch])
        file.close()


async def bare(shape: Shape, home: Path, began: float, *, with_room: bool = False) -> Figures:
    """The very events of a run of the engine, appended in the same order and with the same waits."""
    from beforehand.adapters.sqlite.store import SqliteStore
    from beforehand.ports.store import EventFilter

    appends: dict[str, list[int]] = {}
    original = SqliteStore.append

    async def watched(self: SqliteStore, events: Sequence[Any]) -> Any:
        appends.setdefault(events[0].owner, []).append(len(events))
        return await original(self, events)

    SqliteStore.append = watched  # type: ignore[method-assign]
    await beforehand(shape, home, began)
    SqliteStore.append = original  # type: ignore[method-assign]
    store = await SqliteStore.open(home / "log.db", project=lambda event: (), lead=False, now_ms=lambda: 0)
    lines = {
        owner: [record.line for record in await store.records(limit=10**6, only=EventFilter(owner=owner))]
        for owner in appends
    }
    await store.close()
    log = BareLog(home / "bare.db", with_room=with_room)
    await log.append([b"warm"])

    async def one(owner: str) -> None:
        at = 0
        for count in appends[owner]:
            await log.append(lines[owner][at : at + count])
            at += count

    watch = Stopwatch()
    await asyncio.gather(*map(one, appends))
    result = per_step(watch, shape)
    log.waiting.put(None)
    log.thread.join()
    return result


# -- peers ---------------------------------------------------------------------------------------------------------


class Values(TypedDict):
    values: Annotated[list[str], operator.add]


async def langgraph(shape: Shape, home: Path, began: float) -> Figures:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph

    async def nop(state: Values) -> dict[str, Any]:
        return {"values": ["x"]}

    def graph_of(document: Mapping[str, Any]) -> Any:
        graph = StateGraph(Values)
        names = [step["id"] for step in document["steps"]]
        for name in names:
            graph.add_node(name, nop)
        if shape.kind == "fan":
            graph.add_edge(START, "first")
            for name in names[1:-1]:
                graph.add_edge("first", name)
            graph.add_edge(names[1:-1], "last")
        else:
            for before, after in zip([START, *names[:-1]], names, strict=True):
                graph.add_edge(before, after)
        graph.add_edge(names[-1], END)
        return graph

    async with AsyncSqliteSaver.from_conn_string(str(home / "langgraph.db")) as saver:
        await saver.setup()
        await saver.conn.execute("PRAGMA synchronous = FULL")
        graph = graph_of(shape.documents()[0]).compile(checkpointer=saver)
        watch = Stopwatch()
        await asyncio.gather(
            *(
                graph.ainvoke(
                    {"values": []},
                    {"configurable": {"thread_id": str(number)}, "recursion_limit": 10_000},
                    durability="sync",
                )
                for number in range(shape.plans)
            )
        )
        return per_step(watch, shape)


async def dbos(shape: Shape, home: Path, began: float) -> Figures:
    from dbos import DBOS

    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{home / 'dbos.db'}",
            "run_admin_server": False,
            "log_level": "ERROR",
        }
    )

    @DBOS.step()
    async def nop(number: int) -> str:
        return "x"

    @DBOS.workflow()
    async def chain(length: int) -> str:
        for number in range(length):
            await nop(number)
        return "done"

    @DBOS.workflow()
    async def fan(width: int) -> str:
        await nop(0)
        await asyncio.gather(*(nop(number) for number in range(width)))
        return await nop(1)

    DBOS.launch()
    try:
        plan = chain if shape.kind == "chain" else fan
        watch = Stopwatch()
        if shape.plans > 1:
            handles = [await DBOS.start_workflow_async(plan, shape.size) for _ in range(shape.plans)]
            await asyncio.gather(*(handle.get_result() for handle in handles))
        else:
            await plan(shape.size)
        return per_step(watch, shape)
    finally:
        DBOS.destroy()


RUNS: dict[str, Callable[..., Coroutine[Any, Any, Figures]]] = {
    "beforehand": beforehand,
    "bare": bare,
    "bare-with-room": partial(bare, with_room=True),
    "langgraph": langgraph,
    "dbos": dbos,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=RUNS)
    parser.add_argument("kind", choices=["chain", "fan"])
    parser.add_argument("size", type=int)
    parser.add_argument("--plans", type=int, default=1)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--began", type=float, default=time.time())
    given = parser.parse_args()
    shape = Shape(given.kind, given.size, given.plans)
    print(json.dumps(asyncio.run(RUNS[given.name](shape, given.home, given.began))))


if __name__ == "__main__":
    main()
