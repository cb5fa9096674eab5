"""Dispatch: whatever has all its inputs goes, whatever waits for a failure fails, and the planner is called last.

A sub-goal goes the moment its last input is there, without waiting for its siblings. A failure reaches everything that
waits for it in the same step, so nothing can pend for ever. The planner is called when nothing runs and nothing that
waits can go.
"""

from typing import Any

from beforehand.crafts.rounds.core.board import Board, inputs_of
from beforehand.crafts.rounds.core.state import QuestionState, SubGoal
from beforehand.crafts.rounds.core.words import NEEDS_CLARIFICATION, Precondition, same

ANSWER_SCHEMA: dict[str, Any] = {
    "type": ["string", "number", "boolean", "array", "object"],
    "description": "The answer, which the question goes on with.",
}


def dispatch(board: Board) -> None:
    """Everything that can go or must fail, until nothing changes any more."""
    going = True
    while going:
        pending = [each for each in board.state.sub_goals.values() if each.status == "pending"]
        moved = [_moved(board, sub_goal) for sub_goal in pending]
        going = any(moved)


def _moved(board: Board, sub_goal: SubGoal) -> bool:
    """Whether a pending sub-goal is not pending any more."""
    waits = False
    for ref in sub_goal.inputs.values():
        source = board.state.sub_goals.get(board.state.resolved(ref.from_sub_goal))
        if source is None:
            continue  # the context, which is always there
        if source.status == "failed":
            _suffer(board, sub_goal, source)
            return True
        if source.status == "success" and ref.slot not in source.outputs:
            says = f"Sub-goal {source.id} ({source.worker}) stands in and has no slot {ref.slot!r}."
            board.fail(sub_goal, says)
            return True
        waits = waits or source.status != "success"
    if waits or is_held(board.state, sub_goal):
        return False
    _go(board, sub_goal)
    return True


def _suffer(board: Board, sub_goal: SubGoal, source: SubGoal) -> None:
    root = board.state.sub_goals[source.root or source.id]
    says = f"It waits for sub-goal {root.id} ({root.worker}), which failed: {root.error}"
    board.fail(sub_goal, says, root=root.id)


def is_held(state: QuestionState, sub_goal: SubGoal) -> bool:
    """Whether the planner has not looked yet at an exclusive sub-goal of the same batch."""
    before = (state.sub_goals[id] for id in sub_goal.behind)
    return any(each.is_open or each.ended_round >= state.round for each in before)


def _go(board: Board, sub_goal: SubGoal) -> None:
    worker = board.state.workers[sub_goal.worker]
    unmet = [need for need in worker.preconditions if not holds(board.state, sub_goal, need)]
    if unmet:
        needs = " and ".join(_unmet(board.state, sub_goal, need) for need in unmet)
        board.fail(sub_goal, f"The preconditions of {worker.name} are not met: {needs}.")
    elif worker.asks:
        _ask(board, sub_goal)
    elif worker.destructive:
        _ask_leave(board, sub_goal)
    else:
        board.start(sub_goal)


def holds(state: QuestionState, sub_goal: SubGoal, need: Precondition) -> bool:
    """Whether a precondition is met: by the sub-goal's own inputs, else the newest output, else the context."""
    if need.slot == NEEDS_CLARIFICATION and state.forces:
        return True
    found = _found(state, sub_goal, need.slot)
    return bool(found) and (not need.has_value or same(found[0], need.equals))


def _found(state: QuestionState, sub_goal: SubGoal, slot: str) -> tuple[Any, ...]:
    """The value of a slot, or nothing."""
    wired = [ref for ref in sub_goal.inputs.values() if ref.slot == slot]
    ref = sub_goal.inputs.get(slot) or (wired[0] if wired else state.newest(slot))
    return () if ref is None else (state.value_of(ref),)


def _unmet(state: QuestionState, sub_goal: SubGoal, need: Precondition) -> str:
    if not _found(state, sub_goal, need.slot):
        return f"there is no {need.slot}"
    return f"it needs {need.in_words()}"


def _ask(board: Board, sub_goal: SubGoal) -> None:
    """The worker is a question to a person."""
    given = {**sub_goal.params, **inputs_of(board.state, sub_goal)}
    asked = (given.get(name) for name in ("question", "clarification_question", "unclear"))
    asks = next(filter(None, asked), None) or sub_goal.description or board.state.question
    effects = {"answer": "The question goes on with your answer.", "skip": "It goes on without an answer."}
    title = str(asks)[:500]
    board.ask(sub_goal, board.decision(sub_goal, "question", title, effects, values={"answer": ANSWER_SCHEMA}))


def _ask_leave(board: Board, sub_goal: SubGoal) -> None:
    effects = {"approve": f"{sub_goal.worker} is called with these inputs.", "deny": "It is not called."}
    title = f"Approve: {sub_goal.worker} for “{board.state.question[:200]}”"
    board.ask(sub_goal, board.decision(sub_goal, "approval", title, effects))
