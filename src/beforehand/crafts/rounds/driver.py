"""The driver of one question: the planner, workers and people in, decided one at a time and made durable, and only then
carried out.

It stands on the one loop and decides nothing. Planner and workers are tasks beside the decisions, none waiting for
another; whoever stops a question stops them.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from beforehand.crafts.rounds.core.deciding import decide
from beforehand.crafts.rounds.core.inputs import (
    Asked,
    CallPlanner,
    Command,
    PlannerDecided,
    PlannerFailed,
    QuestionInput,
    RunWorker,
    StopWorker,
    Synthesise,
    Synthesised,
    SynthesisFailed,
    TakenUp,
    WorkerFailed,
    WorkerFinished,
)
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import PlannerDecision
from beforehand.loop.loop import Loop, stop
from beforehand.model.errors import BeforehandError, Fault, UnavailableError
from beforehand.model.event import Verdict
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.store import Store

log = Log("beforehand.rounds")


class Thinking(Protocol):
    """Who plans and who puts answers into words: rules, or a model."""

    async def plan(self, state: QuestionState) -> PlannerDecision:
        """The next decision; a BeforehandError where there is none."""

    async def answer(self, question: str, values: Mapping[str, Any]) -> str:
        """The answer in words, from these values and nothing else."""

    async def close(self) -> None: ...


Working = Callable[[RunWorker, QuestionState], Coroutine[Any, Any, Mapping[str, Any]]]
"""Calls a worker and gives what it delivers; a BeforehandError where it fails."""


class QuestionDriver:
    def __init__(
        self,
        state: QuestionState,
        store: Store,
        clock: Clock,
        thinking: Thinking,
        working: Working,
        *,
        taken_up: bool = False,
    ) -> None:
        self.state = state
        self._clock = clock
        self._thinking = thinking
        self._working = working
        self._taken_up = taken_up
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._loop: Loop[QuestionInput, Command] = Loop(
            state.owner, store, clock, decide=self._decide, carry_out=self._carry_out, gone=self._gone
        )

    async def request(self, given: QuestionInput) -> Verdict[Command]:
        return await self._loop.request(given)

    async def drive(self) -> None:
        """Work until the question is over, or until cancelled."""
        try:
            self._loop.put(TakenUp() if self._taken_up else Asked())
            await self._loop.run(lambda: not self.state.is_open)
        finally:
            await stop(list(self._tasks.values()))
            await self._thinking.close()
            await self._loop.close()

    def _decide(self, given: QuestionInput) -> Verdict[Command]:
        self.state, verdict = decide(self.state, given, self._clock.now_ms())
        return verdict

    def _gone(self) -> UnavailableError:
        return UnavailableError(f"The question {self.state.question_id} is over.", code="question.over")

    # -- carrying out ----------------------------------------------------------------------------------------------

    def _carry_out(self, command: Command) -> None:
        match command:
            case CallPlanner():
                self._beside(command.key, self._plan(command))
            case RunWorker():
                self._beside(command.key, self._work(command))
            case Synthesise():
                self._beside(command.key, self._answer(command))
            case StopWorker():
                task = self._tasks.get(command.key)
                if task is not None:
                    task.cancel()
            case _:
                pass  # a decision was opened with its event; the inbox has it

    def _beside(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        task = self._tasks[key] = asyncio.create_task(work)
        task.add_done_callback(lambda done: self._tasks.pop(key, None) if self._tasks.get(key) is done else None)

    async def _plan(self, command: CallPlanner) -> None:
        try:
            decision = await self._thinking.plan(self.state)
        except Exception as error:  # whoever plans is not the question: it ends, and keeps what was finished
            self._loop.put(PlannerFailed(command.round, self._said(error)))
        else:
            self._loop.put(PlannerDecided(command.round, decision))

    async def _work(self, command: RunWorker) -> None:
        try:
            outputs = await self._working(command, self.state)
        except Exception as error:  # one worker fails alone
            transient = isinstance(error, UnavailableError) or (isinstance(error, Fault) and error.transient)
            self._loop.put(WorkerFailed(command.sub_goal, self._said(error), transient))
        else:
            self._loop.put(WorkerFinished(command.sub_goal, outputs))

    async def _answer(self, command: Synthesise) -> None:
        try:
            text = await self._thinking.answer(command.question, command.values)
        except Exception as error:  # what was found is told as it is
            self._loop.put(SynthesisFailed(self._said(error)))
        else:
            self._loop.put(Synthesised(text))

    def _said(self, error: Exception) -> str:
        if isinstance(error, BeforehandError):
            return f"{error.says} {error.hint}".strip()
        log.exception("a planner or a worker met a bug", question=self.state.question_id)
        return f"{type(error).__name__}: {error}"
