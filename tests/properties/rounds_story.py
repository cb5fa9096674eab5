"""A random question that is killed on its way: what its planner, workers and people do, and what must hold at the end.

All of it follows from a seed. `python -m tests.properties.rounds_story FOLDER SEED LIFE` lives one life of it, with its
log and a diary of every call in a folder, until it is over or killed.
"""

import asyncio
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.clock import WallClock
from beforehand.crafts.rounds.core.board import SUB_GOAL_UPDATED
from beforehand.crafts.rounds.core.folding import from_events
from beforehand.crafts.rounds.core.inputs import Answered, RunWorker
from beforehand.crafts.rounds.core.replay import play, recorded, result_of
from beforehand.crafts.rounds.core.replay_file import read_replay
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import PlannedInputRef, PlannedSubGoal, PlannerDecision, Worker
from beforehand.crafts.rounds.driver import QuestionDriver, Rules
from beforehand.crafts.rounds.rows import ROWS
from beforehand.loop.rows import projection
from beforehand.model.errors import Fault, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import Store

QUESTION = "q1"
PATIENCE = 100_000
EFFECTS = ("pure", "idempotent", "physical")


@dataclass
class Story:
    """Planner, workers and people of one seed; `note` is told every call before it is made."""

    seed: int
    note: Callable[[str], object]
    life: int = 0
    pause_s: float = 0.0
    answers: set["asyncio.Task[None]"] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.chance = random.Random(f"{self.seed}/{self.life}")

    def workers(self) -> dict[str, Worker]:
        drawn = random.Random(self.seed)
        made = {}
        for name in ("one", "two", "three", "four"):
            exclusive, destructive, asks = (drawn.random() < share for share in (0.1, 0.1, 0.1))
            made[name] = Worker(
                name=name,
                outputs=("out",),
                effect=drawn.choice(EFFECTS),  # type: ignore[arg-type]
                exclusive=exclusive,
                destructive=destructive,
                asks=asks,
            )
        return made

    def begun(self) -> QuestionState:
        return QuestionState(QUESTION, "what?", self.workers(), max_rounds=6, text="what?")

    # -- Thinking ----------------------------------------------------------------------------------------------------

    def thinking(self) -> "Story | Rules":
        """Of every third seed rules plan, which are not waited for."""
        return Rules(self.decide, lambda question, values: "in words") if self.seed % 3 == 0 else self

    async def plan(self, state: QuestionState) -> PlannerDecision:
        await self._work()
        return self.decide(state)

    def decide(self, state: QuestionState) -> PlannerDecision:
        chance = self.chance
        if chance.random() < 0.02:
            raise UnavailableError("The planner does not answer.", code="model.unavailable")
        if state.round == state.max_rounds or chance.random() < 0.1:
            return PlannerDecision(action="done")
        goals = [self._goal(state, place) for place in range(chance.randint(1, 6))]
        return PlannerDecision(action="continue", sub_goals=tuple(goals))

    def _goal(self, state: QuestionState, place: int) -> PlannedSubGoal:
        chance, id = self.chance, state.next_id + place
        before = [other for other in range(max(1, id - 4), id) if chance.random() < 0.3]
        failed = [each.id for each in state.sub_goals.values() if each.status == "failed"]
        retry = {"retry_of": chance.choice(failed)} if failed and chance.random() < 0.5 else {}
        return PlannedSubGoal(
            worker=chance.choice(["one", "two", "three", "four"]),
            inputs={f"from_{other}": PlannedInputRef(from_sub_goal=other, slot="out") for other in before},
            params={"n": id, **retry},
            goal_type=chance.choice(["support", "deliverable"]),
        )

    async def answer(self, question: str, values: Mapping[str, Any]) -> str:
        await self._work()
        return "in words"

    async def close(self) -> None: ...

    # -- workers and people ------------------------------------------------------------------------------------------

    async def work(self, command: RunWorker, state: QuestionState) -> Mapping[str, Any]:
        self.note(f"call {command.key} {command.worker}")
        await self._work()
        if self.chance.random() < 0.15:
            raise Fault("It broke.", transient=self.chance.random() < 0.5)
        return {"out": f"{command.key} of {self.chance.random()}"}

    async def _work(self) -> None:
        for _ in range(self.chance.randint(0, 4)):
            await asyncio.sleep(self.pause_s)

    async def live(self, store: Store, turns: int = PATIENCE) -> bool:
        """Go on with the question from what the log holds, for so many turns; whether it is over."""
        state = from_events(await store.events(limit=PATIENCE))
        if state is not None and not state.is_open:
            return True
        self.note(f"life {' '.join(map(str, () if state is None else state.finished))}")
        begun, taken_up = state or self.begun(), state is not None
        driver = QuestionDriver(begun, store, WallClock(), self.thinking(), self.work, taken_up=taken_up)
        driving = asyncio.create_task(driver.drive())
        while not driving.done() and turns:
            turns -= 1
            await self._say_something(driver)
            await asyncio.sleep(self.pause_s)
        if not driving.done():
            driving.cancel()
            await asyncio.wait([driving])
            return False
        driving.result()
        return True

    async def _say_something(self, driver: QuestionDriver) -> None:
        for decision in list(driver.state.decisions.values()):
            if self.chance.random() < 0.3:
                given = Answered(decision.id, self.chance.choice(decision.verbs), "said", by="somebody")
                task = asyncio.create_task(_said(driver, given))
                self.answers.add(task)
                task.add_done_callback(self.answers.discard)


async def _said(driver: QuestionDriver, given: Answered) -> None:
    with suppress(UnavailableError):  # it ended, or was killed, in between
        await driver.request(given)


def check(events: Sequence[Event], diary: Sequence[str], workers: Mapping[str, Worker]) -> None:
    """The question is over, and nothing that had ended was done again."""
    state = from_events(events)
    assert state is not None
    assert not state.is_open, "it is over"
    told = [event.data for event in events if event.kind == SUB_GOAL_UPDATED]
    for id, times in Counter(data["id"] for data in told if data["status"] == "success").items():
        assert times == 1, f"sub-goal {id} succeeded {times} times"
    for data in told:
        if data["status"] == "success":
            assert state.sub_goals[data["id"]].outputs == data["outputs"], "what was finished is kept as it was"
    finished: set[str] = set()
    this_life: set[str] = set()
    calls: Counter[str] = Counter()
    for line in diary:
        what, *rest = line.split()
        if what == "life":
            assert finished <= set(rest), "a finished sub-goal was forgotten"
            finished, this_life = set(rest), set()
            continue
        key, worker = rest
        assert key.split("/")[1] not in finished, f"{key} was done again"
        assert key not in this_life, f"{key} was called twice in one life"
        this_life.add(key)
        calls[key] += 1
        assert workers[worker].effect != "physical" or calls[key] == 1, f"{key} was done again unasked"
    assert result_of(play(read_replay(recorded(state)))) == result_of(state)


# -- a life as a process ---------------------------------------------------------------------------------------------


async def main(folder: Path, seed: int, life: int) -> None:
    diary = os.open(folder / "diary", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    store = await open_log(folder)
    story = Story(seed, lambda line: os.write(diary, f"{line}\n".encode()), life, pause_s=0.001)
    sys.stdout.write("alive\n")
    sys.stdout.flush()
    await story.live(store)
    await store.close()


async def open_log(folder: Path, *, lead: bool = True) -> SqliteStore:
    return await SqliteStore.open(folder / "log.db", project=projection(ROWS), lead=lead, now_ms=WallClock().now_ms)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
