"""What a step costs on one machine and on several: local on SQLite and on Postgres, and on Temporal.

    python benchmarks/scale.py [--smallest] [--rounds N] [--folder DIR]

Every step is a call of `wait` for no time at all: only the engine is measured. `one after the other` is one plan whose
steps wait for each other; `at once` are many plans of a few steps. Temporal has one, two and three worker
processes; beside each stands a bare Temporal workflow of the same activities on as many workers, with the same time
limits, that keeps no log. The limit for ours is 1.3 times the bare one. All contestants take turns, and the best of the
rounds counts. The processor time is of every process that takes part, the Temporal server among them, but not Postgres.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from _options import Options
from _parts import can_run

from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import run_document, start_run
from beforehand.app.runtime import open_runtime
from beforehand.app.settings import load_settings
from beforehand.testing.postgres_server import PostgresServer, find_programs
from beforehand.testing.temporal_server import TemporalServer, find_temporal

TICKS = os.sysconf("SC_CLK_TCK")
Run = Callable[[int], Awaitable[None]]
"""Carries out one plan of so many steps."""
Contest = Callable[[Path], Awaitable["Costs"]]


@dataclass(frozen=True, slots=True)
class Work:
    """How many steps one plan has, and how many plans of how many steps go on at once."""

    one_by_one: int
    plans: int
    each: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Per step: milliseconds on the clock and of the processors."""

    ms: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Costs:
    one_by_one: Cost
    at_once: Cost


def cpu_s(pids: list[int]) -> float:
    """Processor time of processes so far."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


async def cost(steps: int, work: Awaitable[object], pids: list[int]) -> Cost:
    wall, cpu = time.perf_counter(), cpu_s(pids)
    await work
    wall, cpu = time.perf_counter() - wall, cpu_s(pids) - cpu
    return Cost(wall * 1000 / steps, cpu * 1000 / steps)


async def costs(work: Work, run: Run, pids: list[int]) -> Costs:
    await run(2)  # the first plan of a process pays for imports
    one_by_one = await cost(work.one_by_one, run(work.one_by_one), pids)
    together = asyncio.gather(*(run(work.each) for _ in range(work.plans)))
    at_once = await cost(work.plans * work.each, together, pids)
    return Costs(one_by_one, at_once)


# -- contestants -----------------------------------------------------------------------------------------------------


@contextmanager
def workers(count: int, *command: str) -> Iterator[list[int]]:
    """Worker processes that have said that they work."""
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("Working")
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.kill()
            process.communicate()


@asynccontextmanager
async def beforehand(folder: Path, **flags: str) -> AsyncIterator[Run]:
    settings = load_settings({"home": str(folder / "home"), "workspace": str(folder), **flags}, {}, folder / "none")
    async with open_runtime(settings) as runtime:

        async def run(steps: int) -> None:
            document = {"steps": [step(at) for at in range(steps)]}
            plan, _ = await create_plan(runtime, PlanInput(document=document))
            run_id = (await start_run(runtime, plan.id, plan.version))["runId"]
            await runtime.runs.wait(run_id)
            assert (await run_document(runtime, run_id))["status"] == "completed"

        yield run


def step(at: int) -> dict[str, object]:
    needs = [f"s{at - 1}"] if at else []
    return {"id": f"s{at}", "tool": "wait", "args": {"seconds": 0}, "dependsOn": needs}


async def on_this_machine(work: Work, folder: Path, postgres: PostgresServer | None) -> Costs:
    flags = {} if postgres is None else {"db": postgres.new_database()}
    async with beforehand(folder, **flags) as run:
        return await costs(work, run, [os.getpid()])


async def on_temporal(work: Work, folder: Path, temporal: TemporalServer, count: int) -> Costs:
    prefix = folder.name
    command = (sys.executable, "-m", "beforehand", "worker", "--tools", "wait", "--temporal", temporal.address)
    os.environ["BEFOREHAND_TEMPORAL_PREFIX"] = prefix
    with workers(count, *command) as pids:
        async with beforehand(folder, engine="temporal", temporal=temporal.address, temporal_prefix=prefix) as run:
            return await costs(work, run, [os.getpid(), temporal.pid, *pids])


async def on_bare_temporal(work: Work, folder: Path, temporal: TemporalServer, count: int) -> Costs:
    import _bare_temporal as bare
    from temporalio.client import Client

    client = await Client.connect(temporal.address)
    runs, tools = f"{folder.name}.runs", f"{folder.name}.tools"
    with workers(count, sys.executable, bare.__file__, temporal.address, tools) as pids:
        async with bare.leader(client, runs):

            async def run(steps: int) -> None:
                name = f"bare-{time.perf_counter_ns()}"
                await client.execute_workflow(bare.Bare.run, args=[steps, tools], id=name, task_queue=runs)

            return await costs(work, run, [os.getpid(), temporal.pid, *pids])


# -- the table -------------------------------------------------------------------------------------------------------


def contestants(
    work: Work, counts: tuple[int, ...], postgres: PostgresServer | None, temporal: TemporalServer | None
) -> dict[str, Contest]:
    found: dict[str, Contest] = {"local, SQLite": lambda folder: on_this_machine(work, folder, None)}
    if postgres is not None:
        found["local, Postgres"] = lambda folder: on_this_machine(work, folder, postgres)
    if temporal is not None:
        for count in counts:
            label = f"{count} worker{'s' if count > 1 else ''}"
            found[f"Temporal, {label}"] = lambda folder, n=count: on_temporal(work, folder, temporal, n)
            found[f"bare Temporal, {label}"] = lambda folder, n=count: on_bare_temporal(work, folder, temporal, n)
    return found


def best(rounds: list[Costs]) -> Costs:
    def least(costs: list[Cost]) -> Cost:
        return Cost(min(one.ms for one in costs), min(one.cpu_ms for one in costs))

    return Costs(least([one.one_by_one for one in rounds]), least([one.at_once for one in rounds]))


def show(found: dict[str, Costs]) -> None:
    print(f"\n{'':<26}{'one after the other':>24}{'at once':>34}")
    print(f"{'per step':<26}{'ms':>12}{'CPU ms':>12}{'steps/s':>12}{'CPU ms':>12}{'x bare':>10}")
    for name, one in found.items():
        bare = found.get(f"bare {name}")
        ratio = f"{one.at_once.ms / bare.at_once.ms:.2f}" if bare is not None else ""
        print(
            f"{name:<26}{one.one_by_one.ms:>12.1f}{one.one_by_one.cpu_ms:>12.2f}"
            f"{1000 / one.at_once.ms:>12.0f}{one.at_once.cpu_ms:>12.2f}{ratio:>10}"
        )
    print("\nx bare: the time of a step at once, beside the bare workflow on as many workers; 1.3 is the limit.")


async def measure(work: Work, counts: tuple[int, ...], rounds: int, folder: Path | None) -> dict[str, Costs]:
    programs, program = find_programs(), find_temporal()
    postgres = PostgresServer(programs, durable=True) if can_run("Postgres", "psycopg", program=programs) else None
    temporal = TemporalServer(program) if can_run("Temporal", "temporalio", program=program) else None
    try:
        found: dict[str, list[Costs]] = {}
        for _ in range(rounds):
            for name, contest in contestants(work, counts, postgres, temporal).items():
                with tempfile.TemporaryDirectory(dir=folder) as home:
                    found.setdefault(name, []).append(await contest(Path(home)))
        return {name: best(costs) for name, costs in found.items()}
    finally:
        for server in (postgres, temporal):
            if server is not None:
                server.close()


def main() -> None:
    options = Options(__doc__)
    options.add_argument("--folder", type=Path, default=None, help="where the logs are written")
    options.add_size("--rounds", 3, 1)
    options.add_size("--workers", (1, 2, 3), (1,), "worker processes on Temporal")
    options.add_size("work", Work(one_by_one=30, plans=40, each=5), Work(one_by_one=2, plans=2, each=2))
    given = options.read()
    show(asyncio.run(measure(given.work, given.workers, given.rounds, given.folder)))


if __name__ == "__main__":
    main()
