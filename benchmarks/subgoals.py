"""What a sub-goal costs: three rounds of twenty workers that do nothing, and what the planner reads of their outputs.

    python benchmarks/subgoals.py [--rounds 3] [--workers 20] [--times 20]

CPU per sub-goal of a question with its log on disk, beside LangGraph's Send without a checkpointer and with its SQLite
one (where `make bench-peers` has installed it). And the size of the planner's prompt beside one with whole payloads.
"""

import argparse
import asyncio
import json
import operator
import resource
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict

from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.clock import WallClock
from beforehand.app.crafts import load_crafts
from beforehand.crafts.rounds.core.inputs import RunWorker
from beforehand.crafts.rounds.core.prompt import prompt_of
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import PlannedInputRef, PlannedSubGoal, PlannerDecision, Worker
from beforehand.crafts.rounds.driver import QuestionDriver

PAYLOAD = {"rows": [{"taskId": f"hall-t{number}", "waitS": number * 1.5} for number in range(40)]}


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Planner:
    """Gives out the same batch every round, and is done after the last."""

    def __init__(self, rounds: int, workers: int) -> None:
        self.rounds, self.workers = rounds, workers
        self.prompts: list[int] = []
        self.payloads: list[int] = []

    async def plan(self, state: QuestionState) -> PlannerDecision:
        told = prompt_of(state)
        self.prompts.append(len(told.question) + len(told.now))
        self.payloads.append(len(json.dumps({str(id): dict(out) for id, out in state.completed_outputs().items()})))
        if state.round > self.rounds:
            last = {"answer": PlannedInputRef(from_sub_goal=state.next_id - 1, slot="out")}
            return PlannerDecision(action="done", synthesis_inputs=last)
        goals = [
            PlannedSubGoal(worker="nothing", params={"n": state.next_id + at}, goal_type="deliverable")
            for at in range(self.workers)
        ]
        return PlannerDecision(action="continue", sub_goals=tuple(goals))

    async def answer(self, question: str, values: Mapping[str, Any]) -> str:
        return "done"

    async def close(self) -> None:
        """There is nothing to let go of."""


async def nothing(command: RunWorker, state: QuestionState) -> Mapping[str, Any]:
    return {"out": PAYLOAD}


async def ours(folder: Path, rounds: int, workers: int, times: int) -> tuple[float, Planner]:
    clock = WallClock()
    store = await SqliteStore.open(folder / "log.db", project=load_crafts().projection(), now_ms=clock.now_ms)
    planner = Planner(rounds, workers)
    worker = Worker(name="nothing", outputs=("out",), options=("n",))
    began = cpu_s()
    for number in range(times):
        state = QuestionState(f"q{number}", "what?", {"nothing": worker}, max_rounds=rounds + 1, text="what?")
        await QuestionDriver(state, store, clock, planner, nothing).drive()
    took = cpu_s() - began
    await store.close()
    return took / (times * rounds * workers), planner


class Values(TypedDict):
    done: Annotated[list[Any], operator.add]
    round: int


async def langgraph(folder: Path, rounds: int, workers: int, times: int, *, durable: bool) -> float:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Send

    async def plan(state: Values) -> dict[str, Any]:
        return {"round": state["round"] + 1}

    async def work(state: Values) -> dict[str, Any]:
        return {"done": [PAYLOAD]}

    def route(state: Values) -> Any:
        return END if state["round"] > rounds else [Send("work", state) for _ in range(workers)]

    graph = StateGraph(Values)
    graph.add_node("plan", plan)
    graph.add_node("work", work)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", route)
    graph.add_edge("work", "plan")

    async def run(compiled: Any) -> float:
        began = cpu_s()
        for number in range(times):
            config = {"configurable": {"thread_id": str(number)}, "recursion_limit": 1000}
            await compiled.ainvoke({"done": [], "round": 0}, config, **({"durability": "sync"} if durable else {}))
        return (cpu_s() - began) / (times * rounds * workers)

    if not durable:
        return await run(graph.compile())
    async with AsyncSqliteSaver.from_conn_string(str(folder / "langgraph.db")) as saver:
        await saver.setup()
        return await run(graph.compile(checkpointer=saver))


def row(what: str, value: str, beside: str = "") -> None:
    print(f"{what:<52} {value:>14}  {beside}")


async def measure(rounds: int, workers: int, times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        own, planner = min(
            [await ours(Path(folder) / str(go), rounds, workers, times) for go in _folders(Path(folder), 3)],
            key=lambda found: found[0],
        )
        row("a sub-goal with its log on disk", f"{own * 1e6:.0f} µs CPU")
        for durable in (False, True):
            try:
                peer = await langgraph(Path(folder), rounds, workers, max(2, times // 4), durable=durable)
            except ImportError:
                row("LangGraph Send", "not here", "make bench-peers installs it")
                break
            name = "LangGraph Send with its SQLite checkpointer" if durable else "LangGraph Send without durability"
            row(name, f"{peer * 1e6:.0f} µs CPU", f"ratio {peer / own:.1f}")
    prompt, whole = max(planner.prompts), max(planner.payloads)
    row(
        "the planner's prompt in the last round",
        f"{prompt} chars",
        f"whole payloads: {whole}, ratio {whole / prompt:.1f}",
    )


def _folders(folder: Path, count: int) -> list[int]:
    for number in range(count):
        (folder / str(number)).mkdir()
    return list(range(count))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--times", type=int, default=20)
    given = parser.parse_args()
    asyncio.run(measure(given.rounds, given.workers, given.times))


if __name__ == "__main__":
    main()
