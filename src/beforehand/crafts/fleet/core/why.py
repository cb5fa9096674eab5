"""Why nothing happens: for every idle robot, waiting task and silent stream the rule that stops it, as Reasons.

The rules asked are the ones the tick itself asks, on a board nobody writes to.
"""

from collections.abc import Sequence
from itertools import islice

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.eligibility import Offer, cannot_take, fit, is_blocked, unfit
from beforehand.crafts.fleet.core.errands import no_errand
from beforehand.crafts.fleet.core.rules import SUSPECT_AFTER, TRAFFIC, can_pick
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.core.streams import KINDS, sources_of
from beforehand.crafts.fleet.core.work_queue import Queue, offer_for, offer_of, over_quota
from beforehand.model.errors import NotFoundError
from beforehand.model.fleet import Robot, Task
from beforehand.model.reason import Reason, name_list

SHOWN = 5
MOST_TRIED = 50


def why(state: FleetState, name: str, now_ms: int, kinds: tuple[str, ...] | None = None) -> list[Reason]:
    """Why the robot, task or stream of this name does what it does; `kinds` says which of these may be meant."""
    for kind, told in (("robots", why_robot), ("tasks", why_task), ("streams", why_stream)):
        if (kinds is None or kind in kinds) and name in getattr(state, kind):
            return told(state, name, now_ms)
    names = [*state.robots, *state.open_tasks, *state.streams]
    raise NotFoundError.unknown(
        "robot, task or stream", name, names, code=NotFoundError.code, plural="names", hint="Use one of these names."
    )


def why_everything(state: FleetState, now_ms: int) -> dict[str, list[Reason]]:
    """Whatever stands still, each with its reasons: robots without a task, tasks that wait, streams that are silent."""
    idle = [robot_id for robot_id, robot in state.robots.items() if robot.task_id is None]
    waiting = [task_id for task_id in state.open_tasks if _stands_still(state, state.tasks[task_id])]
    told = {name: why(state, name, now_ms) for name in (*idle, *waiting)}
    return told | {name: [*told.get(name, ()), *why_stream(state, name, now_ms)] for name in state.streams}


def _stands_still(state: FleetState, task: Task) -> bool:
    """Whether nothing is done for it: it is held, or its robot is blocked, paused, or waits for another one."""
    if task.status != "active" or task.robot_id is None:
        return task.status != "active"
    robot = state.robots[task.robot_id]
    return robot.status == "blocked" or robot.waits_for is not None or robot.held or task.command_state == "paused"


def why_robot(state: FleetState, robot_id: str, now_ms: int) -> list[Reason]:
    board = Board(state, (), now_ms)
    robot = board.robot(robot_id)
    if robot.task_id is not None:
        return why_task(state, robot.task_id, now_ms)
    if robot.waits_for is not None:
        return [_waits(board, robot, robot_id)]
    stopped = unfit(board, robot_id)
    if stopped is not None:
        return [stopped, *_kept_from_charging(board, stopped, robot_id), *_held(board)]
    if board.hold:
        return _held(board)
    return _no_work(board, robot_id)


def _waits(board: Board, robot: Robot, about: str) -> Reason:
    """For whom it waits, and whether somebody has to do something about it."""
    asked = board.traffic_question(robot.robot_id)
    ends = "It goes on by itself when the ground is free." if asked is None else "Answer it in the inbox."
    return _reason(TRAFFIC, about, f"{robot.robot_id} {robot.waits_says}.", ends)


def _no_work(board: Board, robot_id: str) -> list[Reason]:
    offers = list(islice(Queue(board), MOST_TRIED))
    if not offers:
        streams = list(board.state.streams)
        reasons = [reason for stream_id in streams[:SHOWN] for reason in _silent(board, stream_id)]
        return [_nothing_to_do(board, robot_id), *reasons]
    fitting = [offer for offer in offers if fit(board, robot_id, offer) is not None]
    if fitting:
        says = f"It gets {fitting[0].source_id} to {fitting[0].target_id} at the next tick."
        return [_reason("robot.next", robot_id, says, "")]
    return [_unfit_for(board, robot_id, offers[0])]


def _unfit_for(board: Board, robot_id: str, offer: Offer) -> Reason:
    refused = cannot_take(board, robot_id, offer)
    if refused is not None:
        return refused
    if robot_id in board.short_of_charge:
        says = f"Its battery does not last for {offer.source_id} to {offer.target_id} and then to a charger."
        return _reason("robot.battery_short", robot_id, says, "Let it charge.")
    says = f"It cannot reach {offer.source_id}, or {offer.target_id} from there."
    return _reason("robot.no_route", robot_id, says, "Look at the edges between them.")


def _nothing_to_do(board: Board, robot_id: str) -> Reason:
    streams = [board.stream(stream_id) for stream_id in board.state.streams]
    if not streams:
        says, try_next = "the scene has no streams", "Add one, or ask for a transport."
    elif not any(stream.enabled for stream in streams):
        says, try_next = "every stream is switched off", "Enable one."
    elif not any(stream.enabled and _has_pallet(board, stream.stream_id) for stream in streams):
        says, try_next = "no stream has a pallet to move", "Fill a pick place."
    else:
        says, try_next = "no stream may move its pallets now", "See what each stream says: `beforehand streams why ID`."
    return _reason("fleet.no_work", robot_id, f"There is no work for {robot_id}: {says}.", try_next)


def _has_pallet(board: Board, stream_id: str) -> bool:
    handler, params = KINDS[board.stream(stream_id).kind], board.state.params[stream_id]
    return any(can_pick(board, site_id) for site_id in sources_of(handler, params))


def _kept_from_charging(board: Board, stopped: Reason, robot_id: str) -> list[Reason]:
    """Where a robot needs charge and is not on its way to a charger: what keeps it."""
    if stopped.code != "robot.battery_low":
        return []
    kept = no_errand(board, board.robot(robot_id), "charge")
    return [kept] if kept is not None else []


def why_task(state: FleetState, task_id: str, now_ms: int) -> list[Reason]:
    board = Board(state, (), now_ms)
    task = board.task(task_id)
    if task.ended_ts_ms is not None:
        return [_reason(task.error_code or f"task.{task.status}", task_id, task.error or f"It is {task.status}.", "")]
    if task.status in ("held", "stale"):
        ends = {
            "person": _answers(board, task_id),
            "robot": "It continues automatically when the robot is back.",
            "retry": "It is tried again automatically.",
            None: "Resume or abort it.",
        }[task.waits_for]
        return [_reason(task.error_code or "task.held", task_id, task.error or f"It is {task.status}.", ends)]
    if task.robot_id is None:
        reasons = [_cannot_take(board, robot_id, task) for robot_id in state.robots]
        waits = _reason("task.no_robot", task_id, "It waits for a robot that may take work.", "")
        return [waits, *_held(board), *(reason for reason in reasons if reason is not None)]
    return _under_way(board, task_id)


def _answers(board: Board, task_id: str) -> str:
    """What the inbox offers for a task that waits for a person."""
    asked = board.decision_about("taskId", task_id)
    if asked is None:
        return "Resume or abort it."
    *others, last = asked.verbs
    return f"Answer it in the inbox: {name_list(others)} or {last}."


def _cannot_take(board: Board, robot_id: str, task: Task) -> Reason | None:
    """Why this robot does not get this task, or None."""
    stopped = unfit(board, robot_id)
    if stopped is not None:
        return stopped
    offer = offer_of(task)
    if offer.shuns(robot_id, board.now):
        left = (offer.not_until_ms - board.now) / 1000
        says = f"It handed {task.task_id} back and does not get it again for {left:.0f} s."
        return _reason("robot.handed_back", robot_id, says, "Wait, or let another robot take it.")
    if fit(board, robot_id, offer) is not None:
        return None
    return _unfit_for(board, robot_id, offer)


def _under_way(board: Board, task_id: str) -> list[Reason]:
    task = board.task(task_id)
    assert task.robot_id is not None
    robot = board.robot(task.robot_id)
    place = task.source_id if task.step == "pick" else task.target_id
    held = [("A person holds the fleet.", "Clear the hold.")] if board.hold.person else []
    held += [(f"A person holds {robot.robot_id}.", "Release it.")] if robot.held else []
    if held:
        return [_reason("task.paused", task_id, says, advice) for says, advice in held]
    if robot.waits_for is not None:
        return [_waits(board, robot, task_id)]
    if robot.status == "blocked":
        return [is_blocked(board, robot.robot_id, task_id)]
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
        return [
            _reason(
                "stream.disabled",
                stream_id,
                "It is switched off.",
                f"Enable it: `beforehand streams enable {stream_id}`.",
            )
        ]
    if board.hold:
        return _held(board)
    handler = KINDS[stream.kind]
    suspects = _suspects(board, stream_id)
    view = Queue(board).view(stream_id)
    candidate = next(handler.evaluate(view), None)
    if candidate is None:
        try_next = "If that is wrong: `beforehand worksites set ID filled|empty`."
        return [_reason("stream.no_candidate", stream_id, handler.silence(view), try_next), *suspects]
    if board.settings.arbitration == "quota" and over_quota(board, stream):
        says = f"It has started its {stream.quota} tasks of this window of {board.settings.quota_window_s:g} s."
        return [_reason("stream.quota", stream_id, says, "Wait for the next window, or raise the quota in the scene.")]
    busy = [reason for robot_id in board.state.robots if (reason := unfit(board, robot_id)) is not None]
    if not board.state.robots:
        says = f"{candidate.source_id} waits for a robot, and the scene has none."
        return [_reason("fleet.no_robots", stream_id, says, "Add robots to the scene.")]
    if len(busy) == len(board.state.robots):
        says = f"{candidate.source_id} waits for a robot: none may take work now."
        return [
            _reason("stream.no_robot", stream_id, says, "See why each robot cannot: `beforehand robots why ID`."),
            *busy[:SHOWN],
        ]
    offers = [offer_for(board, one) for one in islice(handler.evaluate(view), MOST_TRIED)]
    return [*_who_takes(board, stream_id, offers), *suspects]


def _who_takes(board: Board, stream_id: str, offers: Sequence[Offer]) -> list[Reason]:
    """The first of its pallets that a free robot could take; where none could, what each lacks for the first."""
    free = [robot_id for robot_id in board.state.robots if unfit(board, robot_id) is None]
    for offer in offers:
        if any(fit(board, robot_id, offer) is not None for robot_id in free):
            return [_reason("stream.next", stream_id, f"{offer.source_id} to {offer.target_id} is next.", "")]
    says = f"{offers[0].source_id} waits for a robot: none of those that are free can take it."
    lacks = [_unfit_for(board, robot_id, offers[0]) for robot_id in free[:SHOWN]]
    return [_reason("stream.no_robot", stream_id, says, "Look at what each robot lacks."), *lacks]


def _suspects(board: Board, stream_id: str) -> list[Reason]:
    found = []
    groups = KINDS[board.stream(stream_id).kind].groups(board.state.params[stream_id])
    for site_id in dict.fromkeys(site for group in groups.values() for site in group):
        site = board.site(site_id)
        if site.failures >= SUSPECT_AFTER:
            says = f"{site_id} is not used: {site.failures} steps failed there in a row."
            found.append(
                _reason(
                    "worksite.suspect",
                    site_id,
                    says,
                    f"Look at it, then: `beforehand worksites set {site_id} filled|empty`.",
                )
            )
        elif site.failures and site.rest_until_ts_ms > board.now:
            says = f"{site_id} is not used for a while because a step failed there."
            found.append(
                _reason(
                    "worksite.resting",
                    site_id,
                    says,
                    f"Wait, or: `beforehand worksites set {site_id} filled|empty`.",
                )
            )
    return found[:SHOWN]


def _held(board: Board) -> list[Reason]:
    reasons = []
    if board.hold.person:
        says = "A person holds the fleet; nothing moves."
        reasons.append(
            _reason(
                "fleet.held",
                board.state.scene.name,
                says,
                f"Clear it: `beforehand fleet clear {board.state.scene.name}`.",
            )
        )
    if board.hold.tasks or board.hold.robots:
        broken = name_list((*board.hold.tasks, *board.hold.robots))
        says = f"The fleet is frozen after an error of {broken}; no new work is assigned."
        reasons.append(
            _reason(
                "fleet.frozen",
                board.state.scene.name,
                says,
                "Answer what is held: `beforehand inbox`.",
            )
        )
    return reasons


def _reason(code: str, about: str, says: str, try_next: str) -> Reason:
    return Reason(code=code, about=about, says=says, try_next=try_next)
