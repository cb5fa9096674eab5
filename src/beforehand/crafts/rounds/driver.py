"""The driver of one question: the planner, workers and people in, decided one at a time and made durable, and only then
carried out.

It stands on the one loop and decides nothing. A model and workers are tasks beside the decisions, none waiting for
another; whoever stops a question stops them. Rules need no waiting: what they say is decided in the same turn, and
written together with what they were asked for.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from beforehand.crafts.rounds.core.deciding import decide
from beforehand.crafts.rounds.core.inputs import (
    Asked,
    CallPlanner,
    Command,
    Noted,
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
from beforehand.loop.loop import Loop
from beforehand.model.errors import BeforehandError, Fault, NotUnderstoodError, UnavailableError
from beforehand.model.event import Verdict
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tasks import part, stop
from beforehand.ports.tracing import Value, span

log = Log("beforehand.rounds")


@dataclass(frozen=True, slots=True)
class Rules:
    """Who plans and who puts answers into words without asking anybody: functions that are the same every time."""

    plan: Callable[[QuestionState], PlannerDecision]
    answer: Callable[[str, Mapping[str, Any]], str]


class Thinking(Protocol):
    """Who plans and who puts answers into words and has to be waited for, such as a model."""

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
        thinking: Thinking | Rules,
        working: Working,
        *,
        taken_up: bool = False,
        note: str = "",
    ) -> None:
        self.state = state
        self._clock = clock
        self._thinking = thinking
        self._working = working
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._loop: Loop[QuestionInput, Command] = Loop(
            state.owner, store, clock, decide=self._decide, carry_out=self._carry_out, gone=self._gone
        )
        if note:
            self._loop.put(Noted(note))
        if taken_up:
            self._loop.put(TakenUp())  # before anything that anybody asks of it
        self._is_begun = taken_up

    async def begin(self) -> None:
        """Begin the question, before anything that anybody asks of it; it is durable when this returns."""
        self._is_begun = True
        await self._loop.request(Asked())

    async def request(self, given: QuestionInput) -> Verdict[Command]:
        return await self._loop.request(given)

    async def settled(self) -> None:
        """Return once the question is over or waits for a person."""
        await self._loop.wait_until(lambda: not self.state.is_open or bool(self.state.decisions))

    async def drive(self) -> None:
        """Work until the question is over, or until cancelled; one that was not begun begins now."""
        if not self._is_begun:
            self._loop.put(Asked())
        try:
            await self._loop.run(lambda: not self.state.is_open)
        finally:
            await stop(list(self._tasks.values()))
            if not isinstance(self._thinking, Rules):
                await self._thinking.close()
            await self._loop.close()

    def _decide(self, given: QuestionInput) -> Verdict[Command]:
        verdict = self._decided(given)
        return self._with_rules(verdict, self._thinking) if isinstance(self._thinking, Rules) else verdict

    def _decided(self, given: QuestionInput) -> Verdict[Command]:
        self.state, verdict = decide(self.state, given, self._clock.now_ms())
        return verdict

    def _with_rules(self, verdict: Verdict[Command], rules: Rules) -> Verdict[Command]:
        """The verdict with all that rules say to it: nothing of it is carried out before all of it is durable."""
        events, commands = list(verdict.events), []
        waiting = deque(verdict.commands)
        while waiting:
            command = waiting.popleft()
            if isinstance(command, CallPlanner | Synthesise):
                further = self._decided(self._by_rules(command, rules))
                events += further.events
                waiting += further.commands
            else:
                commands.append(command)
        return Verdict(tuple(events), tuple(commands), verdict.reasons)

    def _by_rules(self, command: CallPlanner | Synthesise, rules: Rules) -> QuestionInput:
        try:
            if isinstance(command, CallPlanner):
                return PlannerDecided(command.round, rules.plan(self.state))
            return Synthesised(rules.answer(command.question, command.values))
        except Exception as error:
            return self._failed(command, error)

    def _failed(self, command: CallPlanner | Synthesise, error: Exception) -> QuestionInput:
        """Whoever plans is not the question: it ends, and keeps what was finished. What was found is told as it is."""
        said = self._said(error)
        return PlannerFailed(command.round, said) if isinstance(command, CallPlanner) else SynthesisFailed(said)

    def _gone(self) -> UnavailableError:
        return UnavailableError(f"The question {self.state.question_id} is over.", code="question.over")

    # -- carrying out ----------------------------------------------------------------------------------------------

    def _carry_out(self, command: Command) -> None:
        match command:
            case CallPlanner() | Synthesise():
                assert not isinstance(self._thinking, Rules)  # they have been heard already
                self._beside(command.key, self._think(command, self._thinking))
            case RunWorker():
                self._beside(command.key, self._work(command))
            case StopWorker():
                task = self._tasks.get(command.key)
                if task is not None:
                    task.cancel()
            case _:
                pass  # a decision was opened with its event; the inbox has it

    def _beside(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks[key] = part(work)
        self._loop.answer_for(self._tasks[key])

    def _came(self, key: str, given: QuestionInput) -> None:
        """What a task beside the decisions came to; it is over with that."""
        self._tasks.pop(key, None)
        self._loop.put(given)

    async def _think(self, command: CallPlanner | Synthesise, thinking: Thinking) -> None:
        try:
            self._came(command.key, await self._thought(command, thinking))
        except Exception as error:
            self._came(command.key, self._failed(command, error))

    async def _thought(self, command: CallPlanner | Synthesise, thinking: Thinking) -> QuestionInput:
        if isinstance(command, CallPlanner):
            return PlannerDecided(command.round, await thinking.plan(self.state))
        return Synthesised(await thinking.answer(command.question, command.values))

    async def _work(self, command: RunWorker) -> None:
        about: dict[str, Value] = {
            "beforehand.questionId": self.state.question_id,
            "beforehand.subGoal": command.sub_goal,
            "beforehand.worker": command.worker,
            "beforehand.round": self.state.round,
        }
        try:
            with span(f"sub-goal {command.worker}", about):
                outputs = await self._working(command, self.state)
        except Exception as error:  # one worker fails alone
            transient = isinstance(error, UnavailableError) or (isinstance(error, Fault) and error.transient)
            refused = isinstance(error, NotUnderstoodError)
            self._came(command.key, WorkerFailed(command.sub_goal, self._said(error), transient, refused))
        else:
            self._came(command.key, WorkerFinished(command.sub_goal, outputs))

    def _said(self, error: Exception) -> str:
        if isinstance(error, BeforehandError):
            return f"{error.says} {error.hint}".strip()
        log.exception("a planner or a worker met a bug", question=self.state.question_id)
        return f"{type(error).__name__}: {error}"
