"""The one decision function of a run: `decide(state, input) -> verdict`.

It reads no clock, draws no ids and does no I/O. The state given is moved on in place by the very events the verdict
holds, so that whoever replays them stands where the decision stood. `record` is the first half alone: it writes down
what a person said and starts nothing, for a process that does not run the plan.
"""

from collections.abc import Callable
from typing import Any

from beforehand.engine.adopting import adopt
from beforehand.engine.board import Board, add_proposals
from beforehand.engine.ending import (
    cancel_step,
    close_question,
    ended,
    fail_step,
    is_physical,
    put_in_doubt,
    settle_parent,
    settle_run,
    stop_again,
    stop_step,
)
from beforehand.engine.inputs import (
    Adopted,
    Advised,
    Answered,
    Begin,
    CancelAsked,
    MachineAsked,
    PauseAsked,
    ProbeStep,
    Recover,
    ReleaseAsked,
    RerunAsked,
    ResumeAsked,
    RetryAsked,
    RunCommand,
    RunInput,
    SetTimer,
    SkipAsked,
    StepEnded,
    StepJudged,
    StepLost,
    StepProbed,
    TimerFired,
)
from beforehand.engine.leasing import machine_asked
from beforehand.engine.references import MissingPartError
from beforehand.engine.silence import ask_about_silence
from beforehand.engine.starting import arguments, judged, start, start_eligible
from beforehand.engine.state import RunState, StepState
from beforehand.engine.steering import answered, cancel, pause, release, rerun, resume, retry, skip
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.event import Verdict
from beforehand.model.plan import StepStatus
from beforehand.ports.tool import ProbeAnswer

PROBE_AGAIN_MS = 1000


def decide(run: RunState, given: RunInput, catalog: ToolCatalog) -> Verdict[RunCommand]:
    """What follows from one input: events to make durable, then commands to carry out."""
    board = Board(run, catalog, given.ts)
    _HANDLERS[type(given)](board, given)
    start_eligible(board)
    settle_run(board)
    return Verdict(tuple(board.events), tuple(board.commands), tuple(board.reasons))


def record(run: RunState, given: RunInput, catalog: ToolCatalog) -> Verdict[RunCommand]:
    """What a person's word changes by itself; whoever takes the run up next starts what follows from it."""
    board = Board(run, catalog, given.ts)
    _HANDLERS[type(given)](board, given)
    return Verdict(tuple(board.events), (), tuple(board.reasons))


def _begin(board: Board, given: Begin) -> None:
    """Nothing to record: the steps that can start do so."""


def _take_up(board: Board, given: Recover) -> None:
    """After a restart: pure and idempotent steps run again under the same key, physical ones are asked about."""
    run = board.run
    run.land(*sorted(run.in_air))
    for name in given.asked & run.steps.keys():
        run.take_off(name)
    for state in list(run.steps.values()):
        if state.status is StepStatus.RUNNING and not state.children:
            attempt = (state.step.id, state.attempt)
            if attempt in given.never_begun:
                _hand_over(board, state)
            elif attempt not in given.under_way:
                _take_up_step(board, state)
            if state.stopping is not None and state.status is StepStatus.RUNNING:
                stop_again(board, state)
        elif state.retry_at is not None and state.status is StepStatus.READY:
            board.commands.append(SetTimer(f"retry:{state.step.id}:{state.attempt}", state.retry_at))
        elif state.children and not state.open_children:
            settle_parent(board, run.steps[state.children[0]])


def _hand_over(board: Board, state: StepState) -> None:
    """It was written down as started and nobody was told: it has not begun, and starts if it still should."""
    if state.stopping is not None:
        ended(board, StepEnded(board.ts, state.step.id, state.attempt, ok=False, untouched=True, stopped=True))
        return
    try:
        start(board, state, arguments(board.run, state), again=True, begun=False)
    except MissingPartError as error:
        put_in_doubt(board, state, error.says)


def _take_up_step(board: Board, state: StepState) -> None:
    spec = board.catalog.get(state.step.tool)
    if spec is None:
        put_in_doubt(board, state, f"The tool {state.step.tool!r} is no longer installed, so it cannot be asked.")
        return
    try:
        args = arguments(board.run, state)
    except MissingPartError as error:
        put_in_doubt(board, state, error.says)
        return
    if spec.effect != "physical":
        if state.stopping is not None:
            ended(board, StepEnded(board.ts, state.step.id, state.attempt, ok=False, stopped=True))
        else:
            start(board, state, args, again=True)
    elif spec.can_probe:
        board.run.take_off(state.step.id)
        key, expects = board.run.key_of(state.step.id, state.attempt), board.run.expects_of(state.step.id)
        board.commands.append(ProbeStep(key, state.step.id, state.attempt, state.step.tool, args, expects))
    else:
        put_in_doubt(board, state, "It had been started when the process ended, and its tool cannot be asked.")
        settle_parent(board, state)


def _lost(board: Board, given: StepLost) -> None:
    state = board.run.steps.get(given.step_id)
    if state is None or state.status is not StepStatus.RUNNING or state.attempt != given.attempt or state.children:
        return
    if not given.begun:
        _hand_over(board, state)
        settle_parent(board, state)
        return
    _take_up_step(board, state)
    if state.stopping is not None and state.status is StepStatus.RUNNING:
        stop_again(board, state)


def _probed(board: Board, given: StepProbed) -> None:
    run = board.run
    run.land(given.step_id)
    state = run.steps.get(given.step_id)
    if state is None or state.status is not StepStatus.RUNNING or state.attempt != given.attempt:
        return
    answer = given.answer
    if answer.state != "running":
        close_question(board, state)
    if answer.state != "running" and not (answer.from_log or run.is_of_this_log(given.step_id)):
        put_in_doubt(board, state, _of_another_log(answer), answer.difference)
    elif answer.state == "happened":
        board.end_step(state, StepStatus.COMPLETED, value=answer.value)
        settle_parent(board, state)
    elif answer.state == "not_begun":
        _never_happened(board, state)
    elif answer.state == "failed" and state.stopping is not None:
        put_in_doubt(board, state, f"It was told to stop in the middle. {answer.says}".strip())
    elif answer.state == "failed":
        fail_step(board, state, answer.says or "The machine says that it failed.")
    elif answer.state == "running":
        run.take_off(given.step_id)
        ask_about_silence(board, state)
        board.commands.append(SetTimer(f"probe:{given.step_id}:{given.attempt}", board.ts + PROBE_AGAIN_MS))
    else:
        says = answer.says or "The machine could not say whether it happened."
        put_in_doubt(board, state, says, answer.difference)


def _of_another_log(answer: ProbeAnswer) -> str:
    """The log was restored, copied or cut short since: what the machine did after that is in no log that we have."""
    told = {"happened": "it was done", "not_begun": "it was not begun", "failed": "it failed"}.get(answer.state)
    restored = "his log was restored, copied or cut short after the step had been sent."
    says = f"The machine says that {told}, but t{restored}" if told else f"T{restored}"
    return f"{says} {answer.says}".strip()


def _never_happened(board: Board, state: StepState) -> None:
    """Started as far as the log knows, and not as far as the machine does: it may start, if it still should."""
    if state.stopping in ("cancel", "skip", "stop"):
        ended(board, StepEnded(board.ts, state.step.id, state.attempt, ok=False, untouched=True, stopped=True))
    elif board.run.cancelling or board.run.stopped_by:
        cancel_step(board, state)
    else:
        board.update_step(state, StepStatus.PENDING)


def _timer_fired(board: Board, given: TimerFired) -> None:
    kind, _, rest = given.key.partition(":")
    name, _, attempt = rest.rpartition(":")
    state = board.run.steps.get(name)
    if state is None or str(state.attempt) != attempt:
        return
    if kind == "timeout" and state.status is StepStatus.RUNNING and state.stopping is None:
        if is_physical(board, state):
            ask_about_silence(board, state)
        else:
            stop_step(board, state, "timeout")
    elif kind == "retry" and state.retry_at is not None:
        board.update_step(state, StepStatus.READY)
    elif kind == "probe" and state.status is StepStatus.RUNNING:
        _take_up_step(board, state)


_HANDLERS: dict[type, Callable[[Board, Any], None]] = {
    Begin: _begin,
    Recover: _take_up,
    StepEnded: ended,
    StepLost: _lost,
    StepJudged: judged,
    StepProbed: _probed,
    TimerFired: _timer_fired,
    Answered: answered,
    Advised: add_proposals,
    PauseAsked: pause,
    ReleaseAsked: release,
    MachineAsked: machine_asked,
    ResumeAsked: resume,
    CancelAsked: cancel,
    RetryAsked: retry,
    SkipAsked: skip,
    RerunAsked: rerun,
    Adopted: adopt,
}
