"""The contestants of `subgoals.py`, one per process: `_subgoal_contestants.py NAME SHAPE --home DIR`.

Each answers questions in rounds of workers that deliver the same payload at once, and prints one line of JSON. Every
worker is handed its own small item and nothing else.
"""

import argparse
import asyncio
import json
import operator
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from _contest import Figures, Stopwatch

PAYLOAD = {"rows": [{"taskId": f"hall-t{number}", "waitS": number * 1.5} for number in range(40)]}
WARM_UP = 2
"""Questions that are asked before the clock starts."""


class Shape(NamedTuple):
    rounds: int
    workers: int
    questions: int
    at_once: int = 1
    """How many of the questions go on at the same time."""


async def timed(shape: Shape, one: Callable[[int], Coroutine[Any, Any, None]]) -> Figures:
    """Ask every question, as many at once as the shape says."""
    for number in range(WARM_UP):
        await one(-1 - number)
    watch = Stopwatch()
    for start in range(0, shape.questions, shape.at_once):
        await asyncio.gather(*map(one, range(start, start + shape.at_once)))
    wall_s, cpu_s = watch.per(shape.rounds * shape.workers * shape.questions)
    return {"us": wall_s * 1e6, "cpu_us": cpu_s * 1e6}


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


async def beforehand(shape: Shape, home: Path, *, waits: bool = False) -> Figures:
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


async def langgraph(shape: Shape, home: Path) -> Figures:
    return await _invoked(graph_of(shape).compile(), shape)


async def langgraph_sqlite(shape: Shape, home: Path, *, durability: str) -> Figures:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(home / "langgraph.db")) as saver:
        await saver.setup()
        await saver.conn.execute("PRAGMA synchronous = FULL")
        return await _invoked(graph_of(shape).compile(checkpointer=saver), shape, durability=durability)


async def _invoked(compiled: Any, shape: Shape, **how: Any) -> Figures:
    async def one(number: int) -> None:
        config = {"configurable": {"thread_id": str(number)}, "recursion_limit": 10_000}
        values = await compiled.ainvoke({"done": [], "round": 0}, config, **how)
        assert len(values["done"]) == shape.rounds * shape.workers

    return await timed(shape, one)


RUNS: dict[str, Callable[..., Coroutine[Any, Any, Figures]]] = {
    "beforehand": beforehand,
    "beforehand-waited": partial(beforehand, waits=True),
    "langgraph": langgraph,
    "langgraph-sqlite": partial(langgraph_sqlite, durability="sync"),
    "langgraph-sqlite-async": partial(langgraph_sqlite, durability="async"),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=RUNS)
    parser.add_argument("shape", type=int, nargs=len(Shape._fields))
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--began", type=float, help="when the process was started; not asked for here")
    given = parser.parse_args()
    print(json.dumps(asyncio.run(RUNS[given.name](Shape(*given.shape), given.home))))


if __name__ == "__main__":
    main()
