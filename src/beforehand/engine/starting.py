"""Starting steps: what a step goes through between its needs being met and its tool being called.

needs met -> when? -> forEach? -> arguments filled in and checked -> a person asked? -> started
"""

from collections.abc import Callable
from itertools import islice
from typing import Any

from beforehand.engine.board import Board
from beforehand.engine.condition import parse_condition
from beforehand.engine.ending import fail_step, given_args, settle_parent
from beforehand.engine.inputs import JudgeStep, SetTimer, StartStep, StepJudged, timeout_key
from beforehand.engine.leasing import lacks_machine
from beforehand.engine.prose import prose_fits
from beforehand.engine.references import MissingPartError, Reference, describe, fill, part_of
from beforehand.engine.silence import patience_ms
from beforehand.engine.state import RunState, StepState, asks_of_items
from beforehand.engine.verb_values import ANSWER
from beforehand.model.decision import content_hash
from beforehand.model.plan import StepStatus
from beforehand.ports.tool import ToolSpec, Unknown

MAX_AT_ONCE = 1000
"""Steps of one run in flight at the same time."""
MAX_ITEMS = 10_000
"""Items one `forEach` may repeat over."""


def start_eligible(board: Board) -> None:
    """Start whatever may start, in the order it became able to."""
    run = board.run
    if run.paused or run.cancelling or run.stopped_by:
        return
    while run.eligible and not run.stopped_by and (room := MAX_AT_ONCE - run.running - len(run.in_air)) > 0:
        for name in list(islice(run.eligible, room)):
            if name in run.eligible and not run.stopped_by:
                consider(board, run.steps[name])


def consider(board: Board, state: StepState) -> None:
    """Take one step whose needs are met as far as it can go now."""
    run = board.run
    if not _applies(run, state):
        reason = _reason("step.not_needed", state, f"Its condition does not hold: {state.step.when}")
        board.update_step(state, StepStatus.SKIPPED, reason=reason)
        settle_parent(board, state)
        return
    if state.step.for_each is not None:
        _expand(board, state)
        return
    spec = board.catalog.get(state.step.tool)
    if spec is None:
        fail_step(board, state, f"The tool {state.step.tool!r} is no longer installed.")
        return
    try:
        args = arguments(run, state)
    except MissingPartError as error:
        fail_step(board, state, error.says)
        return
    complaints = board.catalog.complaints(state.step.tool, args, filled_in=True)
    if complaints:
        fail_step(board, state, "; ".join(f"{where} {what}" for where, what in complaints) + ".")
        return
    _ask_or_start(board, state, spec, args)


def arguments(run: RunState, state: StepState) -> dict[str, Any]:
    """The step's arguments with every reference filled in."""
    args: dict[str, Any] = fill(given_args(state), _look_up(run, state))
    return args


def _look_up(run: RunState, state: StepState) -> Callable[[Reference], Any]:
    def look_up(reference: Reference) -> Any:
        if state.parent is not None and reference.step == "item":
            return part_of(state.item, reference)
        if state.parent is not None and reference.step == "index":
            return part_of(state.place, reference)
        source = run.steps.get(reference.step)
        if source is None or not source.lets_go_on:  # arguments given for a retry are not validated with the plan
            why = "there is no such step" if source is None else "that step has not completed"
            raise MissingPartError(f"{reference} is not there: {why}.")
        return part_of(source.value, reference)

    return look_up


def _applies(run: RunState, state: StepState) -> bool:
    if state.step.when is None or asks_of_items(state.step):
        return True
    return parse_condition(state.step.when).holds(_look_up(run, state))


def _expand(board: Board, state: StepState) -> None:
    try:
        items = fill(state.step.for_each, _look_up(board.run, state))
    except MissingPartError as error:
        fail_step(board, state, error.says)
        return
    if isinstance(items, Unknown):
        board.end_step(state, StepStatus.COMPLETED, value=items)  # a preview cannot know how often
    elif not isinstance(items, list):
        fail_step(board, state, f"forEach needs a list, but {state.step.for_each} is {describe(items)}.")
    elif len(items) > MAX_ITEMS:
        fail_step(board, state, f"forEach would repeat {len(items)} times; {MAX_ITEMS} is the most.")
    elif not items:
        board.end_step(state, StepStatus.COMPLETED, value=[])
    else:
        data = {"taskId": board.run.plan.task_id, "stepId": state.step.id, "items": items}
        board.emit("stepExpanded", data, stepId=state.step.id)


def _ask_or_start(board: Board, state: StepState, spec: ToolSpec, args: dict[str, Any]) -> None:
    if lacks_machine(board, state, spec, args):
        return
    if spec.asks_person:
        _ask_question(board, state, args)
        return
    if not state.step.requires_approval and spec.destructive == "never":
        start(board, state, args)
        return
    covers = content_hash({"tool": state.step.tool, "args": args})
    if state.cleared == covers:
        start(board, state, args)  # judged once, at its first start
        return
    board.run.take_off(state.step.id)
    key = board.run.key_of(state.step.id, state.attempt + 1)
    board.commands.append(JudgeStep(key, state.step.id, state.step.tool, covers, args))


def judged(board: Board, done: StepJudged) -> None:
    """The tool has said what the call would do: ask a person, or go on."""
    run = board.run
    run.land(done.step_id)
    state = run.steps.get(done.step_id)
    if state is None or done.step_id not in run.eligible or run.paused or run.cancelling or run.stopped_by:
        return
    spec = board.catalog.get(state.step.tool)
    if spec is None:
        return
    try:
        args = arguments(run, state)
    except MissingPartError:
        return
    if content_hash({"tool": state.step.tool, "args": args}) != done.covers:
        return  # the arguments changed while it was asked; it is considered anew
    if done.judgement.refused:
        fail_step(board, state, done.judgement.refused)  # nobody is asked about what cannot work
    elif state.step.requires_approval or spec.destructive == "always" or done.judgement.destructive:
        _ask_approval(board, state, spec, args, done)
    else:
        start(board, state, args, cleared=done.covers, seen=done.judgement.state)


def _ask_approval(board: Board, state: StepState, spec: ToolSpec, args: dict[str, Any], done: StepJudged) -> None:
    judgement = done.judgement
    what = state.step.description or f"{state.step.tool} in {state.step.id}"
    evidence = {"tool": state.step.tool, "args": args, **judgement.evidence}
    if judgement.says:
        evidence["says"] = judgement.says
    if not prose_fits(state.step.description, spec, args):
        evidence["mismatch"] = True
    says = "It waits for a person's approval."
    reason = _reason("step.needs_approval", state, says, "Answer in the inbox.")
    board.update_step(state, StepStatus.READY, reason=reason, seen=judgement.state or "")
    board.open_decision(
        "approval",
        state,
        title=f"Approve: {what}",
        effects={
            "approve": "The step runs with these arguments.",
            "deny": "The step is not done, and what needs it stays undone.",
        },
        evidence=evidence,
        covers=done.covers,
    )


def _ask_question(board: Board, state: StepState, args: dict[str, Any]) -> None:
    question = str(args.get("question", ""))
    reason = _reason("step.asks_person", state, "It waits for a person's answer.", "Answer in the inbox.")
    board.update_step(state, StepStatus.READY, reason=reason)
    board.open_decision(
        "question",
        state,
        title=question[:500],
        effects={
            "answer": "The answer given as value becomes the step's value.",
            "skip": "The step is skipped, its value null.",
        },
        values={"answer": ANSWER},
        evidence={"question": question},
        covers=content_hash(args),
    )


def start(
    board: Board,
    state: StepState,
    args: dict[str, Any],
    *,
    again: bool = False,
    begun: bool = True,
    cleared: str | None = None,
    seen: str | None = None,
) -> None:
    """Call the tool; `again` repeats the attempt that was in the air before a crash, under the same key.

    Where that attempt had not `begun`, it is held to what was approved as at first.
    """
    attempt = state.attempt if again else state.attempt + 1
    key = board.run.key_of(state.step.id, attempt)
    if not again:
        board.update_step(state, StepStatus.RUNNING, attempt=attempt, key=key, cleared=cleared, seen=seen)
    expects = board.run.expects_of(state.step.id)
    approved = None if again and begun else state.seen or None
    board.commands.append(StartStep(key, state.step.id, attempt, state.step.tool, args, approved, expects))
    patience = patience_ms(board.catalog.get(state.step.tool), state.step.timeout_s)
    if patience is not None:
        board.commands.append(SetTimer(timeout_key(state.step.id, attempt), board.ts + patience))


def _reason(code: str, state: StepState, says: str, try_next: str = "") -> dict[str, Any]:
    return {"code": code, "about": state.step.id, "says": says, "tryNext": try_next}
