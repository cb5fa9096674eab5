"""Waits that stand still while a task is paused, and go on with what was left when it is not.

The lease, how long a task may hold its places, stands still only for what people pause: a robot that is silent or in
somebody's way holds its places all the same, and in the end a person is asked.
"""

from typing import Any

from beforehand.crafts.fleet.core.board import Board
from beforehand.model.fleet import Task


def stop_timers(board: Board, task: Task, **changes: Any) -> Task:
    """The task with its waits stopped; stopping twice changes nothing more."""
    remaining = task.remaining_ms
    if task.deadline_ts_ms is not None:
        remaining = max(0, task.deadline_ts_ms - board.now)
    lease = task.lease_remaining_ms
    if task.lease_ts_ms is not None:
        lease = max(0, task.lease_ts_ms - board.now)
    return board.change_task(
        task, deadline_ts_ms=None, remaining_ms=remaining, lease_ts_ms=None, lease_remaining_ms=lease, **changes
    )


def stop_deadline(board: Board, task: Task, **changes: Any) -> Task:
    """The task with its present wait stopped while its lease runs on."""
    remaining = task.remaining_ms
    if task.deadline_ts_ms is not None:
        remaining = max(0, task.deadline_ts_ms - board.now)
    return board.change_task(task, deadline_ts_ms=None, remaining_ms=remaining, **changes)


def start_timers(board: Board, task: Task, **changes: Any) -> Task:
    """The task with its waits running again."""
    deadline = board.now + task.remaining_ms if task.remaining_ms is not None else task.deadline_ts_ms
    lease = board.now + task.lease_remaining_ms if task.lease_remaining_ms is not None else task.lease_ts_ms
    return board.change_task(
        task, deadline_ts_ms=deadline, remaining_ms=None, lease_ts_ms=lease, lease_remaining_ms=None, **changes
    )
