"""A replay file: a whole session, enough to run it again without a model and to the byte.

A worker's n-th call takes its n-th result, the last one repeating. Results come in the order of the calls, unless the
file says in which order sub-goals ended. `recorded` writes such a file from a session that was; what only a model or a
person could say (the answer in words, why it was stopped) stands in it, too.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from beforehand.crafts.rounds.core.deciding import decide
from beforehand.crafts.rounds.core.inputs import (
    Asked,
    AskPerson,
    CalledOff,
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
    WorkerFailed,
    WorkerFinished,
)
from beforehand.crafts.rounds.core.replay_file import Note, NotPutIntoWords, Replay, ReplayWorker, Result
from beforehand.crafts.rounds.core.state import QuestionState, SubGoal
from beforehand.crafts.rounds.core.synthesis import NOT_IN_WORDS, in_plain_words
from beforehand.crafts.rounds.core.words import WITHOUT_MODEL, Worker

REPLAYED = "replay"


# -- running it ------------------------------------------------------------------------------------------------------

GivesResult = Callable[[RunWorker], Result | None]
"""The result of a call; None where there is none yet."""


def play(replay: Replay) -> QuestionState:
    """The session once more, from its beginning to its end."""
    return _Player(_begin(replay), replay, _results_in_turn(replay)).play()


def _begin(replay: Replay) -> QuestionState:
    workers = {worker.name: worker.registered() for worker in replay.workers}
    question = " ".join(replay.question.split())
    return QuestionState(REPLAYED, question, workers, dict(replay.context), replay.max_rounds, text=replay.question)


def _results_in_turn(replay: Replay) -> GivesResult:
    results = {worker.name: deque(worker.results) for worker in replay.workers}

    def result_of(call: RunWorker) -> Result:
        left = results[call.worker]
        if not left:
            return Result(error=f"The replay file has no result for {call.worker}.")
        return left.popleft() if len(left) > 1 else left[0]

    return result_of


class _Player:
    """One session in virtual time: one input after another, no clock and no tasks."""

    def __init__(self, state: QuestionState, replay: Replay, result_of: GivesResult) -> None:
        self.state = state
        self.replay = replay
        self.result_of = result_of
        self.calls: list[RunWorker] = []
        self._decisions = deque(replay.decisions)
        self._order = deque(replay.order or ())
        self._results: dict[int, Result | None] = {}
        self._noted = deque(replay.noted)
        self._inputs: deque[QuestionInput] = deque([Asked()])

    def play(self) -> QuestionState:
        while self.state.is_open:
            self.state, verdict = decide(self.state, self._next(), 0)
            for command in verdict.commands:
                self._carry_out(command)
        return self.state

    def _next(self) -> QuestionInput:
        if self._noted and self._noted[0].at == len(self.state.warnings):
            return Noted(self._noted.popleft().says)
        return self._inputs.popleft() if self._inputs else self._next_result()

    def _carry_out(self, command: Command) -> None:
        match command:
            case CallPlanner():
                self._inputs.append(self._decision(command.round))
            case RunWorker():
                self.calls.append(command)
                self._results[command.sub_goal] = self.result_of(command)
            case Synthesise():
                self._inputs.append(self._words(command))
            case StopWorker() | AskPerson():
                pass  # no worker runs on, and no person is asked

    def _decision(self, round: int) -> QuestionInput:
        if self._decisions:
            return PlannerDecided(round, self._decisions.popleft())
        if self.replay.stopped is not None:
            return CalledOff(self.replay.stopped)
        return PlannerFailed(round, "the replay file has no more decisions.")

    def _words(self, wanted: Synthesise) -> QuestionInput:
        told = self.replay.answer
        if told is None and self.replay.stopped is not None:
            return CalledOff(self.replay.stopped)
        if isinstance(told, NotPutIntoWords):
            return SynthesisFailed(told.error)
        return Synthesised(in_plain_words(wanted.values) if told is None else told)

    def _next_result(self) -> QuestionInput:
        """Whoever ends next: as the file says, else whoever was called first."""
        while self._order and self._order[0] not in self._results:
            self._order.popleft()
        ready = [id for id, result in self._results.items() if result is not None]
        is_stopped = self.replay.stopped is not None and self.replay.order is not None and not self._order
        if not ready or is_stopped:
            return CalledOff(self.replay.stopped or "The replay file has no more results.")
        id = self._order.popleft() if self._order else ready[0]
        result = self._results.pop(id)
        if result is None or result.error is not None:
            return WorkerFailed(id, (result.error if result is not None else None) or "It has no result.")
        return WorkerFinished(id, result.outputs or {})


# -- what came of it -------------------------------------------------------------------------------------------------


def result_of(state: QuestionState) -> dict[str, Any]:
    """What `rounds replay` prints."""
    told: dict[str, Any] = {
        "status": state.status,
        "round": state.round,
        "sub_goals": [_shown(state.sub_goals[id]) for id in sorted(state.sub_goals)],
        "completed_outputs": {str(id): dict(outputs) for id, outputs in state.completed_outputs().items()},
        "synthesis_inputs": {name: ref.wire() for name, ref in state.synthesis_inputs.items()},
    }
    if state.answer is not None:
        told["answer"] = state.answer
    if state.partial_response is not None:
        told["partial_response"] = state.partial_response
    return told | {"warnings": list(state.warnings), "planner_reasoning": state.planner_reasoning}


def _shown(sub_goal: SubGoal) -> dict[str, Any]:
    status = "pending" if sub_goal.is_open else sub_goal.status
    told: dict[str, Any] = {"id": sub_goal.id, "worker": sub_goal.worker, "status": status}
    if status == "failed":
        told["error"] = sub_goal.error
    if status == "success":
        told["outputs"] = dict(sub_goal.outputs)
    return told | {"round": sub_goal.round}


# -- writing it ------------------------------------------------------------------------------------------------------


def recorded(state: QuestionState) -> dict[str, Any]:
    """A session that has ended as a replay file."""
    replay = Replay(
        question=state.question,
        max_rounds=state.max_rounds,
        context=state.context,
        workers=tuple(_written(worker) for worker in state.workers.values()),
        decisions=state.decided,
        order=state.ended,
        stopped=state.reason or None,
        answer=_words_of(state),
        noted=tuple(Note(at=at, says=says) for at, says in enumerate(state.warnings) if says.startswith(WITHOUT_MODEL)),
    )
    player = _Player(_begin(replay), replay, lambda call: _result(state.sub_goals.get(call.sub_goal)))
    player.play()
    found: dict[str, list[Result]] = {}
    for call in player.calls:
        if (result := _result(state.sub_goals.get(call.sub_goal))) is not None:
            found.setdefault(call.worker, []).append(result)
    workers = [each.model_copy(update={"results": tuple(found.get(each.name, ()))}) for each in replay.workers]
    return _plainest(state, replay.model_copy(update={"workers": tuple(workers)}))


def _words_of(state: QuestionState) -> str | NotPutIntoWords | None:
    failed = [says for says in state.warnings if says.startswith(NOT_IN_WORDS)]
    return NotPutIntoWords(error=failed[-1].removeprefix(NOT_IN_WORDS)) if failed else state.answer


def _written(worker: Worker) -> ReplayWorker:
    return ReplayWorker(
        name=worker.name,
        description=worker.description,
        preconditions=worker.preconditions,
        outputs=worker.outputs,
        exclusive=worker.exclusive,
    )


def _result(sub_goal: SubGoal | None) -> Result | None:
    if sub_goal is None or sub_goal.is_open:
        return None
    return Result(outputs=sub_goal.outputs) if sub_goal.status == "success" else Result(error=sub_goal.error)


def _plainest(state: QuestionState, replay: Replay) -> dict[str, Any]:
    """The file without what follows from the rest anyhow."""
    wanted = result_of(state)
    for name, nothing in (("stopped", None), ("answer", None), ("order", None)):
        without = replay.model_copy(update={name: nothing})
        if result_of(play(without)) == wanted:
            replay = without
    return _document(replay)


def _document(replay: Replay) -> dict[str, Any]:
    written: dict[str, Any] = {
        "question": replay.question,
        "max_rounds": replay.max_rounds,
        "context": dict(replay.context),
        "workers": [_worker_document(worker) for worker in replay.workers],
        "decisions": [decision.wire() for decision in replay.decisions],
    }
    answer = replay.answer.wire() if isinstance(replay.answer, NotPutIntoWords) else replay.answer
    order = None if replay.order is None else list(replay.order)
    noted = [note.wire() for note in replay.noted] or None
    more = {"order": order, "stopped": replay.stopped, "answer": answer, "noted": noted}
    return written | {name: value for name, value in more.items() if value is not None}


def _worker_document(worker: ReplayWorker) -> dict[str, Any]:
    return {
        "name": worker.name,
        "description": worker.description,
        "preconditions": [need.wire() for need in worker.preconditions],
        "outputs": list(worker.outputs),
        **({"exclusive": True} if worker.exclusive else {}),
        "results": [
            {"error": each.error} if each.error is not None else {"outputs": dict(each.outputs or {})}
            for each in worker.results
        ],
    }
