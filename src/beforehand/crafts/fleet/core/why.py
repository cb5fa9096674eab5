"""Why nothing happens: for every idle robot, waiting task and silent stream the rule that stops it, as Reasons.

The rules asked are the ones the tick itself asks, on a board nobody writes to.
"""

from itertools import islice

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.dispatch import Queue, over_quota
from beforehand.crafts.fleet.core.eligibility import fit, unfit
from beforehand.crafts.fleet.core.rules import SUSPECT_AFTER
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.core.streams import KINDS
from beforehand.model.errors import NotFoundError
from beforehand.model.reason import Reason, name_list

SHOWN = 5


def why(state: FleetState, name: str, now_ms: int) -> list[Reason]:
    """Why the robot, task or stream of this name does what it does."""
    if name in state.robots:
        return why_robot(state, name, now_ms)
    if name in state.tasks:
        return why_task(state, name, now_ms)
    if name in state.streams:
        return why_stream(state, name, now_ms)
    names = [*state.robots, *state.open_tasks, *state.streams]
    raise NotFoundError.unknown(
        "robot, task or stream", name, names, code=NotFoundError.code, plural="names", hint="Use one of these names."
    )


def why_everything(state: FleetState, now_ms: int) -> dict[str, list[Reason]]:
    """Whatever stands still, each with its reasons: robots without a task, tasks that wait, streams that are silent."""
    idle = [robot_id for robot_id, robot in state.robots.items() if robot.task_id is None]
    waiting = [task_id for task_id in state.open_tasks if state.tasks[task_id].status != "active"]
    return {name: why(state, name, now_ms) for name in (*idle, *waiting, *state.streams)}


def why_robot(state: FleetState, robot_id: str, now_ms: int) -> list[Reason]:
    board = Board(state, (), now_ms)
    robot = board.robot(robot_id)
    if robot.task_id is not None:
        return why_task(state, robot.task_id, now_ms)
    stopped = unfit(board, robot_id)
    if stopped is not None:
        return [stopped, *_held(board)]
    if board.hold:
        return _held(board)
    return _no_work(board, robot_id)


def _no_work(board: Board, robot_id: str) -> list[Reason]:
    offers = list(islice(Queue(board), 50))
    if not offers:
        streams = list(board.state.streams)
        reasons = [reason for stream_id in streams[:SHOWN] for reason in _silent(board, stream_id)]
        says = f"There is no work for {robot_id}: no stream has a pallet to move."
        if not streams:
            says = f"There is no work for {robot_id}: the scene has no streams."
        return [_reason("fleet.no_work", robot_id, says, "Fill a pick place or free a drop place."), *reasons]
    fitting = [offer for offer in offers if fit(board, robot_id, offer) is not None]
    if fitting:
        says = f"It gets {fitting[0].source_id} to {fitting[0].target_id} at the next tick."
        return [_reason("robot.next", robot_id, says, "")]
    if robot_id in board.short_of_charge:
        says = f"Its battery does not last for {offers[0].source_id} to {offers[0].target_id} and then to a charger."
        return [_reason("robot.battery_short", robot_id, says, "Let it charge.")]
    says = f"It cannot reach {offers[0].source_id}, or {offers[0].target_id} from there."
    return [_reason("robot.no_route", robot_id, says, "Look at the edges between them.")]


def why_task(state: FleetState, task_id: str, now_ms: int) -> list[Reason]:
    board = Board(state, (), now_ms)
    task = board.task(task_id)
    if task.ended_ts_ms is not None:
        return [_reason(task.error_code or f"task.{task.status}", task_id, task.error or f"It is {task.status}.", "")]
    if task.status in ("held", "stale"):
        ends = {
            "person": "Answer it in the inbox: resume, redo, finish by hand or abort it.",
            "robot": "It continues automatically when the robot is back.",
            "retry": "It is tried again automatically.",
            None: "Resume or abort it.",
        }[task.waits_for]
        return [_reason(task.error_code or "task.held", task_id, task.error or f"It is {task.status}.", ends)]
    if task.robot_id is None:
        reasons = [reason for robot_id in state.robots if (reason := unfit(board, robot_id)) is not None]
        return [
            _reason("task.no_robot", task_id, "It waits for a robot that may take work.", ""),
            *_held(board),
            *reasons,
        ]
    return _under_way(board, task_id)


def _under_way(board: Board, task_id: str) -> list[Reason]:
    task = board.task(task_id)
    assert task.robot_id is not None
    robot = board.robot(task.robot_id)
    place = task.source_id if task.step == "pick" else task.target_id
    if robot.held or board.hold.person:
        who = "A person holds the fleet." if board.hold.person else f"A person holds {robot.robot_id}."
        return [_reason("task.paused", task_id, who, "Release it." if robot.held else "Clear the hold.")]
    if robot.status == "blocked":
        return [_reason("robot.blocked", task_id, f"Something blocks the way of {robot.robot_id}.", "Clear the way.")]
    if task.command_state == "due":
        says = f"{robot.robot_id} has to let go of another order before it takes this one."
        return [_reason("task.due", task_id, says, "")]
    if task.command_state == "canceling":
        return [_reason("task.canceling", task_id, f"{robot.robot_id} has been told to cancel and stops soon.", "")]
    if task.command_state == "sent":
        says = f"{robot.robot_id} was sent to {place} and has not begun yet."
        return [_reason("task.sent", task_id, says, "")]
    if task.command_state == "paused":
        return [_reason("task.paused", task_id, f"{robot.robot_id} is paused at the robot.", "Let it go on there.")]
    return [_reason("task.under_way", task_id, f"{robot.robot_id} is on the {task.step} at {place}.", "")]


def why_stream(state: FleetState, stream_id: str, now_ms: int) -> list[Reason]:
    board = Board(state, (), now_ms)
    return _silent(board, stream_id)


def _silent(board: Board, stream_id: str) -> list[Reason]:
    stream = board.stream(stream_id)
    if not stream.enabled:
        return [_reason("stream.disabled", stream_id, "It is switched off.", "Enable it.")]
    if board.hold:
        return _held(board)
    if board.settings.arbitration == "quota" and over_quota(board, stream):
        says = f"It has started its {stream.quota} tasks of this window of {board.settings.quota_window_s:g} s."
        return [_reason("stream.quota", stream_id, says, "Wait for the next window or raise the quota.")]
    handler = KINDS[stream.kind]
    suspects = _suspects(board, stream_id)
    view = Queue(board).view(stream_id)
    candidate = next(handler.evaluate(view), None)
    if candidate is None:
        return [_reason("stream.no_candidate", stream_id, handler.silence(view), "Correct a worksite."), *suspects]
    busy = [reason for robot_id in board.state.robots if (reason := unfit(board, robot_id)) is not None]
    if len(busy) == len(board.state.robots):
        says = f"{candidate.source_id} waits for a robot: none may take work now."
        return [_reason("stream.no_robot", stream_id, says, "See why each robot cannot."), *busy[:SHOWN]]
    says = f"{candidate.source_id} to {candidate.target_id} is next."
    return [_reason("stream.next", stream_id, says, ""), *suspects]


def _suspects(board: Board, stream_id: str) -> list[Reason]:
    found = []
    groups = KINDS[board.stream(stream_id).kind].groups(board.state.params[stream_id])
    for site_id in dict.fromkeys(site for group in groups.values() for site in group):
        site = board.site(site_id)
        if site.failures >= SUSPECT_AFTER:
            says = f"{site_id} is not used: {site.failures} steps failed there in a row."
            found.append(_reason("worksite.suspect", site_id, says, "Look at it and set its occupancy."))
        elif site.failures and site.rest_until_ts_ms > board.now:
            says = f"{site_id} is not used for a while because a step failed there."
            found.append(_reason("worksite.resting", site_id, says, "Wait, or set its occupancy."))
    return found[:SHOWN]


def _held(board: Board) -> list[Reason]:
    reasons = []
    if board.hold.person:
        says = "A person holds the fleet; nothing moves."
        reasons.append(_reason("fleet.held", board.state.scene.name, says, "Clear the hold."))
    if board.hold.tasks:
        says = f"The fleet is frozen after an error of {name_list(board.hold.tasks)}; no new work is assigned."
        reasons.append(_reason("fleet.frozen", board.state.scene.name, says, "Resume or abort what is held."))
    return reasons


def _reason(code: str, about: str, says: str, try_next: str) -> Reason:
    return Reason(code=code, about=about, says=says, try_next=try_next)
