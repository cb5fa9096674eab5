"""The last metre before the machine: whatever people do and whenever the process dies, nothing wrong is ever sent.

Two cells and a small fleet in a whole runtime on virtual time. People start plans over one or more of them, skip, retry
with other arguments, insert, edit and adopt, correct what a cell says, pause, resume, release, cancel, edit the map,
let machines go wrong, and crash the process, one of them often beginning before another is done. The machines are
watched (`watched.py`): at the instant of each command it must fit the true state and the present map, come from the run
that holds the machine, and stand in no other run's lease.
"""

import asyncio
import copy
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.properties.watched import YARD, EditedGraph, Watcher, YieldingStore

from beforehand.adapters.sim.cell_faults import CellFault
from beforehand.app import runs as run_verbs
from beforehand.app.crafts import load_crafts
from beforehand.app.examples import find_document
from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plan_changes import edit_plan
from beforehand.app.plans import create_plan, get_plan
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import recover_scenes, save_scene
from beforehand.app.settings import load_settings
from beforehand.crafts.cell import controllers, tools
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.graphs import GraphScenes
from beforehand.crafts.fleet import link_kinds
from beforehand.crafts.fleet.core.inputs import FleetVerb, TaskVerb
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.model.errors import BeforehandError
from beforehand.ports import tasks
from beforehand.testing import MemoryLog, VirtualClock

CELLS = ("weld_star", "weld_corridor")
TEXTS = ("weld 1", "go to 1", "weld 1 and 2", "attach the camera", "go home", "release the tool", "weld 3 and 1")
PLACES = ("Home", "Safe_Pos_1", "Pos_1", "Safe_Pos_2", "Tool_Weld_Position", "Tool_Camera_Position")
HELD = (None, "none", "Welder", "Camera")
FAULTS = ("fail", "fail", "verify", "power", "tool_missing", "stall")
SITES = ("A", "B", "C")
ARGUMENTS: tuple[dict[str, Any] | None, ...] = (
    None,
    {"target": "Safe_Pos_1"},
    {"target": "Home"},
    {"target": "Pos_1"},
    {"scene": "weld_corridor", "target": "Home"},
    {"scene": "weld_star", "target": "Safe_Pos_1"},
    {"target": "tack_weld", "position": "Pos_1"},
    {"target": "tack_weld", "position": "Pos_2", "stabilize": 1.5, "verify": "weld_quality_check"},
    {"target": "tool_attach", "position": "Tool_Weld_Position", "tool": "Welder"},
    {"target": "no_such_routine", "position": "Home"},
)
CYCLES = (None, None, None, 0, 1, 3, 9)
"""How many turns of the loop pass before somebody else acts; None: everything that can move without time does."""

Move = tuple[str, int, int, int | None]


class People:
    """Everybody who can lay a hand on the runtime, and the process itself, which may die."""

    def __init__(self, folder: Path) -> None:
        flags = {"home": str(folder / "home"), "workspace": str(folder)}
        self.settings = load_settings(flags, {}, folder / "none.toml")
        self.clock = VirtualClock()
        self.log = MemoryLog()
        self.graph = EditedGraph()
        self.watcher = Watcher(self.graph)
        self.stack = AsyncExitStack()
        self.under_way: set[asyncio.Task[None]] = set()
        self.bugs: list[BaseException] = []
        self.refused: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.runtime: Runtime

    def _store(self) -> YieldingStore:
        return YieldingStore(load_crafts().projection(), shared=self.log)

    async def open(self, *scenes: Any) -> None:
        self.watcher.store = store = self._store()
        opening = open_runtime(self.settings, clock=self.clock, store=store, with_servers=False)
        self.runtime = await self.stack.enter_async_context(opening)
        self.cells.graph = GraphScenes(self.graph)
        for scene in scenes:
            await save_scene(self.runtime, None, scene, activate=True)
        await recover_scenes(self.runtime)
        await run_verbs.recover_runs(self.runtime)

    @property
    def cells(self) -> Cells:
        return self.runtime.service(Cells)

    async def act(self, move: Move) -> None:
        """One of them does something; how many turns pass before the next does is part of the story."""
        name, first, second, cycles = move
        if name in ("time", "crash", "edit_map"):
            await getattr(self, name)(first, second)
        else:
            task = asyncio.create_task(self._try(name, first, second))
            self.under_way.add(task)
            task.add_done_callback(self.under_way.discard)
        if cycles is None:
            await self.clock.settle()
        for _ in range(cycles or 0):
            await asyncio.sleep(0)

    async def _try(self, name: str, first: int, second: int) -> None:
        try:
            await getattr(self, name)(first, second)
            self.done[name] += 1
        except BeforehandError as refusal:
            self.refused[f"{name}: {refusal.code}"] += 1
        except asyncio.CancelledError:
            raise
        except BaseException as bug:  # everything else is one
            self.bugs.append(bug)

    # -- plans ---------------------------------------------------------------------------------------------------

    async def start_words(self, first: int, second: int) -> None:
        given = PlanInput(scene=CELLS[first % 2], text=TEXTS[second % len(TEXTS)])
        await self._start((await create_plan(self.runtime, given))[0])

    async def start_mixed(self, first: int, second: int) -> None:
        """One plan over both cells and the fleet, each part beside the others or behind them."""
        steps = []
        for number, cell in enumerate(CELLS):
            text = TEXTS[(first + number * second) % len(TEXTS)]
            plan, _ = await create_plan(self.runtime, PlanInput(scene=cell, text=text))
            steps += [_in_cell(step.wire(), cell, number, ask=bool(first % 2)) for step in plan.steps]
        if second % 2 and steps:
            steps.append(_transport(second))
        await self._start((await create_plan(self.runtime, PlanInput({"steps": steps})))[0])

    async def start_late(self, first: int, second: int) -> None:
        """A plan that learns only on the way which cell it works in."""
        target = PLACES[second % len(PLACES)]
        steps = [
            {"id": "which", "tool": "ask_person", "args": {"question": "Which cell?"}},
            {"id": "move", "tool": "cell.move", "args": {"scene": "$which", "target": target}, "onFailure": "ask"},
        ]
        await self._start((await create_plan(self.runtime, PlanInput({"steps": steps})))[0])

    async def start_transport(self, first: int, second: int) -> None:
        plan, _ = await create_plan(self.runtime, PlanInput({"steps": [_transport(first + second)]}))
        await self._start(plan)

    async def _start(self, plan: Any) -> None:
        await run_verbs.start_run(self.runtime, plan.id, plan.version)

    async def start_again(self, first: int, second: int) -> None:
        """A review that was left open is answered with start."""
        reviews = [item for item in await list_decisions(self.runtime) if item["kind"] == "review"]
        if reviews:
            about = _pick(reviews, first)["about"]
            await run_verbs.start_run(self.runtime, about["planId"], about["version"])

    async def edit_and_adopt(self, first: int, second: int) -> None:
        run = await self._run(first)
        plan = await get_plan(self.runtime, run["planId"])
        step = _pick(plan.steps, second)
        added = {"id": f"added_{first}_{second}", "tool": "cell.move", "args": {"target": PLACES[second % 6]}}
        edits = (
            {"op": "remove", "id": step.id},
            {"op": "skip", "id": step.id},
            {"op": "move", "id": step.id, "before": plan.steps[0].id},
            {"op": "add", "step": added, "after": step.id},
            {"op": "edit", "id": step.id, "set": {"args": {**step.args, "target": PLACES[second % 6]}}},
        )
        edit = edits[(first + second) % len(edits)]
        if second % 2:
            await run_verbs.pause_run(self.runtime, run["runId"])
        plan, _ = await edit_plan(self.runtime, plan.id, plan.version, [edit], repair=bool(second % 3))
        await run_verbs.adopt_version(self.runtime, run["runId"], plan.version)

    # -- runs ----------------------------------------------------------------------------------------------------

    async def _run(self, number: int) -> dict[str, Any]:
        """Mostly one that goes on."""
        runs = await run_verbs.list_runs(self.runtime, open=True if number % 4 else None)
        return await run_verbs.run_document(self.runtime, _pick(runs or [{"runId": "none"}], number)["runId"])

    async def pause(self, first: int, second: int) -> None:
        await run_verbs.pause_run(self.runtime, (await self._run(first))["runId"])

    async def resume(self, first: int, second: int) -> None:
        await run_verbs.resume_run(self.runtime, (await self._run(first))["runId"])

    async def release(self, first: int, second: int) -> None:
        await run_verbs.release_run(self.runtime, (await self._run(first))["runId"])

    async def cancel(self, first: int, second: int) -> None:
        await run_verbs.cancel_run(self.runtime, (await self._run(first))["runId"])

    async def skip(self, first: int, second: int) -> None:
        run = await self._run(first)
        left = [step for step in run["steps"] if step["status"] not in ("completed", "skipped")]
        await run_verbs.skip_step(self.runtime, run["runId"], _pick(left or run["steps"], second)["id"])

    async def retry(self, first: int, second: int) -> None:
        run = await self._run(first)
        ended = [step for step in run["steps"] if step["status"] in ("failed", "cancelled")] or run["steps"]
        args = ARGUMENTS[second % len(ARGUMENTS)] if first % 2 else None
        await run_verbs.retry_step(self.runtime, run["runId"], _pick(ended, second)["id"], args=args)

    async def run_again(self, first: int, second: int) -> None:
        run = await self._run(first)
        await run_verbs.rerun_from(self.runtime, run["runId"], _pick(run["steps"], second)["id"])

    async def answer(self, first: int, second: int) -> None:
        asked = [item for item in await list_decisions(self.runtime) if item["kind"] != "review"]
        if not asked:
            return
        decision = _pick(asked, first)
        verb = _pick(decision["verbs"], second)
        await answer_decision(self.runtime, decision["id"], verb, value=_value(verb, first, second))

    async def meddle(self, first: int, second: int) -> None:
        """A run is paused, somebody lays hands on its plan or its cell once nothing moves, and it goes on."""
        run = await self._run(first | 1)
        await run_verbs.pause_run(self.runtime, run["runId"])
        await self.clock.sleep(8)
        await (self.correct, self.skip, self.correct, self.run_again)[second % 4](first, second)
        await run_verbs.resume_run(self.runtime, run["runId"])

    # -- the world -----------------------------------------------------------------------------------------------

    async def correct(self, first: int, second: int) -> None:
        """A person says where a robot stands and what it holds."""
        await self.cells.set_state(CELLS[first % 2], _pick((None, *PLACES), second), _pick(HELD, first // 2))

    async def go_wrong(self, first: int, second: int) -> None:
        fault = CellFault.model_validate({"fault": FAULTS[second % len(FAULTS)]})
        await self.cells.inject(CELLS[first % 2], fault)

    async def edit_map(self, first: int, second: int) -> None:
        """Somebody takes a move out of the graph database, or puts all back. It happens between two of our turns:
        what changes after it was read and before the command is out, nobody can see."""
        await self.clock.settle()
        document = copy.deepcopy(dict(find_document(CELLS[first % 2])))
        if second % 4:
            del document["moves"][second % len(document["moves"])]
        await self.graph.write(read_cell(document))

    async def hands_in_the_yard(self, first: int, second: int) -> None:
        fleets = self.runtime.service(Fleets)
        if second % 3 == 0:
            await fleets.request("yard", FleetVerb(("hold", "clear")[first % 2]))
        for task_id in list(fleets.state_of("yard").open_tasks)[:1]:
            await fleets.request("yard", TaskVerb(task_id, ("cancel", "hold", "resume", "hand-back")[second % 4]))

    async def time(self, first: int, second: int) -> None:
        """Time passes: from a moment to a few minutes."""
        end = self.clock.now_ms() + (100, 700, 2_000, 5_000, 15_000, 60_000)[(first + second) % 6]
        await self.clock.settle()
        while (due := self.clock.next_ms()) is not None and due <= end:
            await self.clock.jump()

    async def crash(self, first: int, second: int) -> None:
        """The process dies: what is not written yet never is. The machines go on, and a new process begins."""
        self.watcher.store.break_down()
        await self.close()
        self.watcher.store.mend()
        self.stack = AsyncExitStack()
        if first % 3 == 0:  # nobody looks for a while
            await self.time(first, second)
        await self.open()

    async def close(self) -> None:
        for task in self.under_way:
            task.cancel()
        await asyncio.gather(*self.under_way, return_exceptions=True)
        await self.stack.aclose()


def _pick(items: Any, number: int) -> Any:
    return items[number % len(items)]


def _in_cell(step: dict[str, Any], cell: str, number: int, *, ask: bool) -> dict[str, Any]:
    """A step of a cell's own plan as a step of a bigger one."""
    needs = [f"c{number}_{name}" for name in step.get("dependsOn", ())]
    made = {"id": f"c{number}_{step['id']}", "tool": step["tool"], "args": {**step["args"], "scene": cell}}
    return {**made, "dependsOn": needs, "onFailure": "ask" if ask else "continue"}


def _transport(number: int) -> dict[str, Any]:
    places = {"from": SITES[number % 3], "to": SITES[(number + 1 + number // 3 % 2) % 3]}
    return {"id": "bring", "tool": "fleet.transport", "args": {"scene": "yard", **places}, "onFailure": "ask"}


def _value(verb: str, first: int, second: int) -> Any:
    args = ARGUMENTS[(first + second) % len(ARGUMENTS)] if first % 2 else None
    if verb == "retry":
        return None if args is None else {"args": args}
    if verb == "insert":
        return {"steps": [{"id": f"in_{first}_{second}", "tool": "cell.move", "args": args or ARGUMENTS[1]}]}
    return CELLS[second % 2] if verb == "answer" else None


STARTS = ("start_words", "start_words", "start_mixed", "start_late", "start_transport")
VERBS = ("meddle",) * 3 + ("pause", "resume", "release", "cancel", "skip", "retry", "run_again", "edit_and_adopt")
VERBS += ("answer", "answer")
WORLD = ("time", "time", "time", "time", "correct", "go_wrong", "edit_map", "hands_in_the_yard", "crash", "start_again")
NUMBERS = st.integers(0, 47)
MOVES = st.tuples(st.sampled_from(STARTS + VERBS + WORLD + WORLD), NUMBERS, NUMBERS, st.sampled_from(CYCLES))
FIRST = st.tuples(st.sampled_from(STARTS), NUMBERS, NUMBERS, st.none())


async def story(first: Move, moves: list[Move]) -> People:
    with tempfile.TemporaryDirectory() as folder:
        people = People(Path(folder))
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(controllers._FACTORIES, "sim", people.watcher.cell_factory)
            patch.setitem(link_kinds._FACTORIES, "sim", people.watcher.link_factory)
            await people.open(*(find_document(name) for name in CELLS), YARD.wire())
            for move in (first, *moves):
                await people.act(move)
                await _nothing_wrong(people)
            await people.time(5, 0)
            await _nothing_wrong(people)
            await people.close()
    return people


async def _nothing_wrong(people: People) -> None:
    assert people.watcher.wrong == [], people.watcher.wrong
    assert [item["title"] for item in await list_decisions(people.runtime) if item["kind"] == "bug"] == []
    for bug in people.bugs:
        raise bug


@pytest.fixture(autouse=True)
def _no_wall_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for the wall: what is told to stop is not waited for, as when a process is killed."""
    monkeypatch.setattr(run_verbs, "STOP_PATIENCE_S", 0.0)
    monkeypatch.setattr(tools, "FINISH_S", 0.0)
    monkeypatch.setattr(tasks, "AGAIN_S", 0.05)


@settings(max_examples=18, phases=[Phase.explicit, Phase.generate])
@given(first=FIRST, moves=st.lists(MOVES, min_size=3, max_size=25))
def test_nothing_wrong_is_ever_sent(first: Move, moves: list[Move]) -> None:
    asyncio.run(story(first, moves))


@pytest.mark.soak
@settings(max_examples=5_000)
@given(first=FIRST, moves=st.lists(MOVES, min_size=3, max_size=60))
def test_nothing_wrong_is_ever_sent_in_long_stories(first: Move, moves: list[Move]) -> None:
    asyncio.run(story(first, moves))
