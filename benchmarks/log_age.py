"""What a log that has grown old costs: start-up, state, events and questions, before and after it was archived.

    python benchmarks/log_age.py [--smallest] [--events N] [--folder DIR] [--questions] [--no-archive]

A home is filled with finished runs of plans and transports of a fleet, straight through the store in big batches; the
same home is then measured twice, the second time with all its events but the newest in the archive. `--questions` also
has the tables for questions made from all events, as a server does it, and asks them what people ask. Beside that, a
part of the log is read into tables of their own in the way that is used where no other process can do it. A million
events take 0.7 GB before they are archived, and 0.3 GB more for the tables.
"""

import asyncio
import gc
import resource
import shutil
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from _live_server import live_server
from _options import Options

from beforehand.app.archiving import archive_events, holdings
from beforehand.app.crafts import load_crafts
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.search import open_tables
from beforehand.app.settings import Settings, load_settings
from beforehand.app.state import state_at, state_view
from beforehand.app.stores import give_room_back, open_store
from beforehand.crafts.rounds.questions import Question, Questions
from beforehand.model.event import Event, iso
from beforehand.model.fleet import Task
from beforehand.model.records import wire_of
from beforehand.ports.search import SearchTimeError
from beforehand.ports.store import EventFilter

STEPS = 8
EACH = 30
"""Events of one run and one transport."""
BATCH = 5_000
PEOPLE = ("ann", "bob", "carla", "dmitri", "eve")
SCENE = "hall"
NEXT = "next page"
QUESTIONS = (
    "how many steps were completed yesterday?",
    "which robot had the most failed tasks in the last 7 days?",
    "how many picks per worksite yesterday?",
    "list failed steps of yesterday",
    NEXT,
    "how long did transports take on average?",
    "how many events were recorded per hour yesterday?",
)


class Asking(NamedTuple):
    """How long a part of the log is read in the server itself, what is asked, and whether a server is asked twice."""

    gently_s: float
    questions: tuple[str, ...]
    server_of_archived: bool = True


def run_events(number: int, now: int) -> Iterator[Event]:
    """One plan from its review to its end: 20 events. Every fortieth fails in its last step."""
    plan, run, who = f"plan_{number:08d}", f"run_{number:08d}", PEOPLE[number * 7 % 31 % len(PEOPLE)]
    ids: dict[str, Any] = {"planId": plan, "taskId": plan, "runId": run}

    def event(kind: str, data: dict[str, Any], owner: str, **about: Any) -> Event:
        return Event(kind, about, data, now, correlation_id=f"c{number}", owner=owner)

    steps = [{"id": f"step_{n}", "tool": "http_get", "args": {"url": f"https://example.com/{n}"}} for n in range(STEPS)]
    made = {"id": plan, "version": 1, "name": f"Nightly check {number}", "steps": steps, "createdAt": iso(now)}
    review = {
        "id": f"{plan}-v1",
        "kind": "review",
        "owner": f"plan:{plan}",
        "title": f"Review: {made['name']} ({STEPS} steps, version 1)",
        "about": {"planId": plan, "version": 1},
        "evidence": {"steps": steps},
        "verbs": ["start", "cancel"],
        "status": "open",
        "openedAt": iso(now),
    }
    answer = {"verb": "start", "by": who, "note": "", "at": iso(now)}
    head = {"runId": run, "planId": plan, "version": 1, "startedAt": iso(now), "startedBy": who}
    yield event("planCreated", made, f"plan:{plan}", planId=plan)
    yield event("decisionAnswered", {**review, "status": "answered", "answer": answer}, f"plan:{plan}", planId=plan)
    yield event("runStarted", {**head, "status": "running"}, f"run:{run}", **ids)
    fails = number % 40 == 7
    for n in range(STEPS):
        now += 400
        told = {"stepId": f"step_{n}", "taskId": plan, "status": "running", "progress": 0, "attempt": 1}
        yield event("stepUpdated", told, f"run:{run}", **ids, stepId=f"step_{n}")
        now += 300 + number * 13 % 600
        value = f"200 OK, {number * 7919 % 100_000} bytes, tag {number * 2_654_435_761 + n & 0xFFFFFFFF:x}"
        result: dict[str, Any] = {"ok": True, "value": value, "duration": 600}
        told = {**told, "status": "completed", "progress": 100, "result": result}
        if fails and n == STEPS - 1:
            told |= {"status": "failed", "result": {"ok": False, "error": "The server did not answer in time."}}
        yield event("stepUpdated", told, f"run:{run}", **ids, stepId=f"step_{n}")
    ended: dict[str, Any] = {"status": "failed" if fails else "completed", "durationMs": STEPS * 1000}
    if fails:
        ended["summary"] = {"firstError": "The server did not answer in time."}
    yield event("runFinished", {**head, **ended}, f"run:{run}", **ids)


def transport_events(number: int, now: int) -> Iterator[Event]:
    """A pallet brought from one place to another: 10 events. Every fiftieth is not found where it should be."""
    robot, fails = f"RB-{number % 50:02d}", number % 50 == 11
    source, target = f"PICK_{number % 37:02d}", f"DROP_{number % 23:02d}"
    task = Task(f"{SCENE}-t{number}", f"stream_{number % 6}", source, target, robot_id=robot, created_ts_ms=now)
    shown, carries = wire_of(task), {"taskId": task.task_id, "robotId": robot}

    def event(kind: str, data: dict[str, Any], **about: Any) -> Event:
        return Event(kind, about, data, now, SCENE, task.task_id, f"fleet:{SCENE}")

    def robot_in(phase: str) -> Event:
        told = {**carries, "phase": phase, "status": "online", "nodeId": source, "battery": 0.5 + number % 50 / 100}
        return event("robotUpdated", told, robotId=robot)

    def sent(key: str, place: str) -> Event:
        told = {"robotId": robot, "key": f"{task.task_id}-{key}", "command": "goTarget", "payload": {"id": place}}
        return event("commandSent", told, **carries)

    yield event("taskCreated", shown, taskId=task.task_id)
    now += 500 + number * 17 % 900
    yield sent("1", source)
    yield robot_in("moving_to_pick")
    shown |= {"status": "active", "sentTsMs": now, "phase": "moving_to_pick"}
    yield event("taskUpdated", shown, **carries)
    now += 3_000 + number * 29 % 9_000
    moved = {**carries, "worksiteId": source, "occupancy": "empty"}
    yield event("worksiteUpdated" if fails else "palletPicked", moved, worksiteId=source, **carries)
    yield robot_in("error" if fails else "moving_to_drop")
    yield sent("2", target)
    now += 4_000 + number * 31 % 9_000
    if fails:
        shown |= {"status": "failed", "errorCode": "pick.empty", "error": "There was no pallet to pick."}
    else:
        shown |= {"status": "completed", "step": "done"}
    moved = {**carries, "worksiteId": target, "occupancy": "loaded"}
    yield event("worksiteUpdated" if fails else "palletDropped", moved, worksiteId=target, **carries)
    yield event("taskUpdated", {**shown, "endedTsMs": now}, **carries)
    yield robot_in("idle")


async def fill(settings: Settings, events: int, apart_ms: int) -> float:
    crafts = load_crafts()
    store = await open_store(
        settings.database, project=crafts.projection(), upcasters=crafts.upcasters(), now_ms=lambda: 0
    )
    began, batch, number, written = time.perf_counter(), list[Event](), 0, 0
    at = round(time.time() * 1000) - events // EACH * apart_ms  # the last of it happened just now
    while written < events:
        batch += run_events(number, at)
        batch += transport_events(number, at)
        number, at = number + 1, at + apart_ms
        if len(batch) >= BATCH or written + len(batch) >= events:
            await store.append(batch)
            written, batch = written + len(batch), []
    await store.close()
    return time.perf_counter() - began


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Runtime, float]]:
    began = time.perf_counter()
    async with open_runtime(settings, with_servers=False) as runtime:
        yield runtime, time.perf_counter() - began


async def timed(act: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await act()
    return time.perf_counter() - began


class Taken(NamedTuple):
    """How long something took: on the clock, and of the processor, processes that it started and ended included."""

    wall_s: float
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.wall_s * 1000:.0f} ({self.cpu_s * 1000:.0f}) ms"


def _cpu_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@contextmanager
def taking() -> Iterator[list[Taken]]:
    taken: list[Taken] = []
    began, cpu = time.perf_counter(), _cpu_s()
    yield taken
    taken.append(Taken(time.perf_counter() - began, _cpu_s() - cpu))


async def measure(settings: Settings, asking: Asking | None) -> dict[str, str]:
    async with opened(settings) as (runtime, start_s):
        store = runtime.store
        held = await holdings(store)
        last = held["events"]
        old_run, place = EventFilter(owner=f"run:run_{last // EACH // 3:08d}"), last // 2
        early = min(last // 20, 25_000)
        found = {
            "log": f"{held['bytes'] / 1e6:.0f} MB",
            "archive": f"{held['archive']['bytes'] / 1e6:.1f} MB",
            "start-up": f"{start_s:.2f} s",
            "GET /state": _ms(await timed(lambda: state_view(runtime))),
            "newest 100 events": _ms(await timed(lambda: store.last_records(limit=100))),
            "500 events of the middle": _ms(await timed(lambda: store.records(after=place, limit=500))),
            "the next 500": _ms(await timed(lambda: store.records(after=place + 500, limit=500))),
            "one old run replayed": _ms(await timed(lambda: store.events(limit=1000, only=old_run))),
            "GET /state?at= of the first 25,000 at most": f"{await timed(lambda: state_at(runtime, early)):.1f} s",
        }
        if asking is not None:
            found |= await questions_cost(runtime, last, asking)
    return found


async def questions_cost(runtime: Runtime, last: int, asking: Asking) -> dict[str, str]:
    """Making the tables, and each question twice: wall (CPU)."""
    gently_s = await _gently(runtime, asking.gently_s)
    with taking() as made, late() as ticks:
        await _until_read(runtime)
    tables = runtime.settings.home / "log.db.search"
    found = {
        "making the tables": f"{made[0].wall_s:.0f} ({made[0].cpu_s:.0f}) s",
        "  per event": f"{made[0].wall_s / last * 1e6:.0f} ({made[0].cpu_s / last * 1e6:.0f}) us",
        "  per event, in the server itself": f"{gently_s * 1e6:.0f} us",
        "  meanwhile the loop was late, p99": _ms(sorted(ticks)[len(ticks) * 99 // 100]),
        "the tables": f"{tables.stat().st_size / 1e6:.0f} MB",
    }
    before = None
    for text in asking.questions:
        costs = []
        for _ in range(2):
            with taking() as taken:
                answer = await asked(runtime, text, before if text == NEXT else None)
            assert answer["status"] == "done", answer
            assert "no such" not in answer["answer"], (text, answer["answer"])
            costs.append(str(taken[0]))
        before = answer["questionId"]
        found[text] = ", ".join(costs)
    return found


async def asked(runtime: Runtime, text: str, follows: str | None) -> dict[str, Any]:
    """A question as `beforehand ask` asks it, and what became of it."""
    questions = runtime.service(Questions)
    appended = asyncio.Event()
    take_off = runtime.store.on_commit(lambda records: appended.set())
    try:
        question = await questions.ask(Question(text, follows=follows, by="benchmark"))
        while True:
            appended.clear()
            shown = await questions.show(question.question_id)
            if shown["status"] in ("done", "failed") or shown.get("waitsFor"):
                return dict(shown)
            await appended.wait()
    finally:
        take_off()


async def _gently(runtime: Runtime, for_s: float) -> float:
    """Seconds per event where the server reads the log itself, a little at a time; measured on a part of it."""
    with tempfile.TemporaryDirectory(dir=runtime.settings.home) as folder:
        path = Path(folder) / "search"
        search = open_tables(runtime.store, load_crafts(), runtime.now, path)
        began, read = time.perf_counter(), 0
        reading = asyncio.create_task(search.keep_up())
        while not read and not reading.done():  # on a busy machine a short time may pass before the first is read
            await asyncio.sleep(for_s)
            took, read = time.perf_counter() - began, _read_so_far(path)
        reading.cancel()
        await asyncio.wait({reading})
        await search.close()
        return took / max(read, 1)


def _read_so_far(tables: Path) -> int:
    if not tables.exists():
        return 0
    with closing(sqlite3.connect(tables)) as file:
        if not file.execute("SELECT 1 FROM sqlite_master WHERE name = '_place'").fetchone():
            return 0
        return int((file.execute("SELECT seq FROM _place").fetchone() or (0,))[0])


@contextmanager
def late() -> Iterator[list[float]]:
    """How late the event loop was whenever it was to do something."""
    ticks = [0.0]  # what is over at once is never late

    async def tick() -> None:
        while True:
            due = time.perf_counter() + 0.01
            await asyncio.sleep(0.01)
            ticks.append(time.perf_counter() - due)

    ticking = asyncio.create_task(tick())
    try:
        yield ticks
    finally:
        ticking.cancel()


async def _until_read(runtime: Runtime) -> None:
    while True:
        try:
            await runtime.search.search("runs", {"size": 0})
            return
        except SearchTimeError:
            continue


async def server_costs(settings: Settings) -> dict[str, str]:
    """`beforehand up` over the same home, with its tables there."""
    began = time.perf_counter()
    async with (
        live_server(settings.home) as url,
        httpx2.AsyncClient(base_url=f"{url}/api/v1", trust_env=False) as http,
    ):
        await _answered(http, "/health")
        found = {"up answers after": f"{time.perf_counter() - began:.1f} s"}
        for turn in ("first", "then"):
            took = await timed(lambda: _answered(http, "/state"))
            found[f"up: GET /state, {turn}"] = _ms(took)
    return found


async def _answered(http: httpx2.AsyncClient, path: str) -> None:
    (await http.get(path)).raise_for_status()


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


async def grow_old(folder: Path, events: int, apart_ms: int, asking: Asking | None, with_archive: bool) -> None:
    settings = load_settings({"home": str(folder / "home")}, {}, folder / "none")
    print(f"{events:,} events written in {await fill(settings, events, apart_ms):.0f} s")
    fresh = await measure(settings, asking)
    if asking is not None:
        fresh |= await server_costs(settings)
    old = await archived(settings, asking) if with_archive else {}
    width, wide = max(map(len, fresh)), max(map(len, fresh.values()))
    print(f"{'':{width}}  {'in the log':>{wide}}  {'archived' if old else '':>{wide}}")
    for name, before in fresh.items():
        print(f"{name:{width}}  {before:>{wide}}  {old.get(name, ''):>{wide}}")


async def archived(settings: Settings, asking: Asking | None) -> dict[str, str]:
    """The same with all but the newest events in the archive, the tables made anew from there."""
    async with opened(settings) as (runtime, _):
        began = time.perf_counter()
        done = await archive_events(runtime, 2**42)
    await give_room_back(settings.database)
    took = time.perf_counter() - began
    print(
        f"{done['events']:,} of them archived in {took:.0f} s: {done['rawBytes'] / 1e6:.0f} MB"
        f" became {done['bytes'] / 1e6:.1f} MB in {done['parts']} files\n"
    )
    for end in ("", "-wal", "-shm"):
        (settings.home / f"log.db.search{end}").unlink(missing_ok=True)
    found = await measure(settings, asking)
    if asking is not None and asking.server_of_archived:
        found |= await server_costs(settings)
    return found


def main() -> None:
    options = Options(__doc__)
    options.add_size("--events", 200_000, 3_600, "how many events; ten million need 10 GB of disk")
    # Few events are far apart, so that something of everything that is asked for happened yesterday, whatever the hour.
    options.add_size("apart_ms", 10_000, 2_070_000)
    few = tuple(text for text in QUESTIONS if text != NEXT)  # they have no next page
    options.add_size("asking", Asking(10.0, QUESTIONS), Asking(0.2, few, server_of_archived=False))
    options.add_argument("--folder", type=Path, help="where to make the home; a temporary folder by default")
    options.add_argument("--questions", action="store_true", help="also make and ask the tables for questions")
    options.add_argument("--no-archive", action="store_true", help="leave out what is measured after archiving")
    given = options.read()
    gc.set_threshold(20_000, 20, 20)  # as the command line has it
    asking = given.asking if given.questions or given.smallest else None
    folder = Path(tempfile.mkdtemp(prefix="log-age-", dir=given.folder))
    try:
        asyncio.run(grow_old(folder, given.events, given.apart_ms, asking, not given.no_archive))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
