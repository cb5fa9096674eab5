"""The phase in which stream kinds follow their tasks: the spec's optional `onTick`.

A kind that has `on_tick` is asked in every tick about each of its tasks that has a robot and is not held. It only says
what it wants; the core does it if the rules allow it, and passes over what they do not.
"""

from beforehand.crafts.fleet.core.board import Board, Fault
from beforehand.crafts.fleet.core.cancel import give_up, retarget
from beforehand.crafts.fleet.core.faults import hold_for_person
from beforehand.crafts.fleet.core.rules import can_drop, is_loaded
from beforehand.crafts.fleet.core.streams import KINDS, TaskUpdate
from beforehand.crafts.fleet.core.work_queue import Queue
from beforehand.model.fleet import Task


def kinds_tick(board: Board) -> Board:
    kinds = {name for name, kind in KINDS.items() if hasattr(kind, "on_tick")}
    if not kinds:
        return board
    follows = {name for name, stream in board.state.streams.items() if stream.kind in kinds}
    if not follows:
        return board
    queue = Queue(board, only={})
    for task in [task for task in board.open_tasks() if task.stream_id in follows]:
        if task.status == "active" and task.robot_id is not None and task.command_state != "canceling":
            kind = KINDS[board.stream(str(task.stream_id)).kind]
            update = kind.on_tick(queue.view(str(task.stream_id)), task, board.robot(task.robot_id))  # type: ignore[attr-defined]
            if update is not None:
                _follow(board, task, update)
    return board


def _follow(board: Board, task: Task, update: TaskUpdate) -> None:
    if update.priority is not None:
        task = board.change_task(task, priority=update.priority)
    if update.hold is not None:
        hold_for_person(board, task, Fault(task.task_id, "stream.hold", update.hold, "doubt"))
    elif update.cancel is not None:
        if not is_loaded(board, task):
            give_up(board, task, "cancel", error_code="stream.cancel", error=update.cancel)
    elif update.target_id is not None and _may_go_there(board, task, update.target_id):
        retarget(board, task, update.target_id)


def _may_go_there(board: Board, task: Task, target_id: str) -> bool:
    groups = KINDS[board.stream(str(task.stream_id)).kind].groups(board.state.params[str(task.stream_id)])
    own = any(target_id in group for group in groups.values())
    return own and not task.committed and task.phase != "dropping" and can_drop(board, target_id)
