"""The contestants of `subgoals.py`, one per process: `_subgoal_contestants.py NAME --home DIR`.

Each answers questions in rounds of workers that deliver the same payload at once, and prints one line of JSON. Every
worker is handed its own small item and nothing else. Exit 3: not installed.
"""

import argparse
import asyncio
import json
import operator
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

PAYLOAD = {"rows": [{"taskId": f"hall-t{number}", "waitS": number * 1.5} for number in range(40)]}
WARM_UP = 2
"""Questions that are asked before the clock starts."""


class Shape(NamedTuple):
    rounds: int
    workers: int
    questions: int
    at_once: int = 1
    """How many of the questions go on at the same time."""


class Stopwatch:
    """Wall and processor time of the work itself, all threads, user and kernel."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def per_sub_goal(self, shape: Shape) -> dict[str, float]:
        wall, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
        count = shape.rounds * shape.workers * shape.questions
        return {"us": wall * 1e6 / count, "cpu_us": cpu * 1e6 / count}


async def timed(shape: Shape, one: Callable[[int], Coroutine[Any, Any, None]]) -> dict[str, float]:
    """Ask every question, as many at once as the shape says."""
    for number in range(WARM_UP):
        await one(-1 - number)
    watch = Stopwatch()
    for start in range(0, shape.questions, shape.at_once):
        await asyncio.gather(*map(one, range(start, start + shape.at_once)))
    return watch.per_sub_goal(shape)


# -- Beforehand ----------------------------------------------------------------------------------------------------


def planner_of(shape: Shape, watched: Callable[[Any], None] = lambda state: None) -> Any:
    """Gives out the same batch every round, and is done after the last; `watched` sees each state it plans from."""
    from beforehand.crafts.rounds.core.words import PlannedInputRef, PlannedSubGoal, PlannerDecision
    from beforehand.crafts.rounds.driver import Rules

    def plan(state: Any) -> PlannerDecision:
        watched(state)
        if state.round > shape.rounds:
            last = {"answer": PlannedInputRef(from_sub_goal=state.next_id - 1, slot="out")}
            return PlannerDecision(action="done", synthesis_inputs=last)
        goals = [
            PlannedSubGoal(worker="nothing", params={"n": state.next_id + at}, goal_type="deliverable")
            for at in range(shape.workers)
        ]
        return PlannerDecision(action="continue", sub_goals=tuple(goals))

    return Rules(plan, lambda question, values: "done")


class WaitedFor:
    """The same planner as one that is asked between two commits, as a model is."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules

    async def plan(self, state: Any) -> Any:
        return self.rules.plan(state)

    async def answer(self, question: str, values: Mapping[str, Any]) -> str:
        return str(self.rules.answer(question, values))

    async def close(self) -> None:
        """There is nothing to let go of."""


async def nothing(command: Any, state: Any) -> Mapping[str, Any]:
    return {"out": PAYLOAD}


async def ask(store: Any, shape: Shape, planner: Any, number: int) -> None:
    """One question, from the asking to the answer, everything in the log."""
    from beforehand.app.clock import WallClock
    from beforehand.crafts.rounds.core.state import QuestionState
    from beforehand.crafts.rounds.core.words import Worker
    from beforehand.crafts.rounds.driver import QuestionDriver

    worker = Worker(name="nothing", outputs=("out",), options=("n",))
    state = QuestionState(f"q{number}", "what?", {"nothing": worker}, max_rounds=shape.rounds + 1, text="what?")
    driver = QuestionDriver(state, store, WallClock(), planner, nothing)
    await driver.drive()
    assert driver.state.status == "done", driver.state.reason
    assert len(driver.state.finished) == shape.rounds * shape.workers


async def opened(home: Path) -> Any:
    """A real log with full sync and real rows."""
    from beforehand.adapters.sqlite.store import SqliteStore
    from beforehand.app.clock import WallClock
    from beforehand.crafts.rounds.rows import ROWS
    from beforehand.loop.rows import projection

    return await SqliteStore.open(home / "log.db", project=projection(ROWS), now_ms=WallClock().now_ms)


async def beforehand(shape: Shape, home: Path, *, waits: bool = False) -> dict[str, float]:
    store = await opened(home)
    planner = WaitedFor(planner_of(shape)) if waits else planner_of(shape)
    result = await timed(shape, lambda number: ask(store, shape, planner, number))
    await store.close()
    return result


# -- LangGraph -----------------------------------------------------------------------------------------------------


class Values(TypedDict):
    done: Annotated[list[Any], operator.add]
    round: int


def graph_of(shape: Shape) -> Any:
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    async def plan(state: Values) -> dict[str, Any]:
        return {"round": state["round"] + 1}

    async def work(item: dict[str, Any]) -> dict[str, Any]:
        return {"done": [PAYLOAD]}

    def route(state: Values) -> Any:
        return END if state["round"] > shape.rounds else [Send("work", {"n": n}) for n in range(shape.workers)]

    graph = StateGraph(Values)
    graph.add_node("plan", plan)
    graph.add_node("work", work)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", route)
    graph.add_edge("work", "plan")
    return graph


async def langgraph(shape: Shape, home: Path) -> dict[str, float]:
    return await _invoked(graph_of(shape).compile(), shape)


async def langgraph_sqlite(shape: Shape, home: Path, *, durability: str) -> dict[str, float]:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(home / "langgraph.db")) as saver:
        await saver.setup()
        await saver.conn.execute("PRAGMA synchronous = FULL")
        return await _invoked(graph_of(shape).compile(checkpointer=saver), shape, durability=durability)


async def _invoked(compiled: Any, shape: Shape, **how: Any) -> dict[str, float]:
    async def one(number: int) -> None:
        config = {"configurable": {"thread_id": str(number)}, "recursion_limit": 10_000}
        values = await compiled.ainvoke({"done": [], "round": 0}, config, **how)
        assert len(values["done"]) == shape.rounds * shape.workers

    return await timed(shape, one)


RUNS: dict[str, Callable[..., Coroutine[Any, Any, dict[str, float]]]] = {
    "beforehand": beforehand,
    "beforehand-waited": partial(beforehand, waits=True),
    "langgraph": langgraph,
    "langgraph-sqlite": partial(langgraph_sqlite, durability="sync"),
    "langgraph-sqlite-async": partial(langgraph_sqlite, durability="async"),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=RUNS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--home", type=Path, required=True)
    given = parser.parse_args()
    shape = Shape(given.rounds, given.workers, given.questions, given.at_once)
    try:
        result = asyncio.run(RUNS[given.name](shape, given.home))
    except ImportError as missing:
        if given.name.startswith("beforehand"):
            raise
        print(missing, file=sys.stderr)
        sys.exit(3)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
