"""What people may ask for, and when: one table of verb and situation, each entry an effect or a refusal.

Asking for what is already so changes nothing and is not refused. A refusal is a Reason; nothing is half done.
"""

from collections.abc import Callable
from typing import Any

from beforehand.crafts.fleet.core.batches import load_after
from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.cancel import ABORTED, CANCELED, give_up, may_run, retarget, taken_up
from beforehand.crafts.fleet.core.carrying import does_not_fit
from beforehand.crafts.fleet.core.inputs import (
    AnswerDecision,
    FleetVerb,
    NotSent,
    PatchStream,
    PatchWorksite,
    RequestTransport,
    RobotVerb,
    TaskVerb,
)
from beforehand.crafts.fleet.core.patches import other_target, patch_stream, patch_worksite, request_transport
from beforehand.crafts.fleet.core.progress import step_done
from beforehand.crafts.fleet.core.recovery import take_back
from beforehand.crafts.fleet.core.robot_verbs import ROBOT_VERBS, fleet_verb
from beforehand.crafts.fleet.core.rules import (
    IN_FLIGHT,
    RUNNING,
    asks_of_another_step,
    can_drop,
    doubt_sensor,
    is_loaded,
    is_there,
    needed_place,
    phase_of,
    settle_questions,
    speaks_of_another,
    target_node,
    thaw,
)
from beforehand.crafts.fleet.core.timers import start_timers
from beforehand.model.decision import Answer
from beforehand.model.event import iso
from beforehand.model.fleet import Task
from beforehand.model.reason import unknown
from beforehand.model.robot import Ack, CancelTarget, Telemetry

Effect = Callable[[Board, Task, Any], None]


def people(board: Board) -> Board:
    """The phase that carries out what people asked for since the last tick, in the order they asked."""
    for given in board.words:
        match given:
            case TaskVerb():
                task_verb(board, given)
            case RobotVerb():
                _robot_verb(board, given)
            case FleetVerb():
                fleet_verb(board, given.verb)
            case PatchWorksite():
                patch_worksite(board, given)
            case PatchStream():
                patch_stream(board, given)
            case AnswerDecision():
                _answer(board, given)
            case RequestTransport():
                request_transport(board, given)
            case NotSent():
                take_back(board, given.keys)
            case Telemetry() | Ack():
                pass  # what robots say is taken in before
    return board


def _robot_verb(board: Board, given: RobotVerb) -> None:
    if given.robot_id not in board.state.robots:
        board.refuse("robot.unknown", given.robot_id, unknown("robot", given.robot_id, board.state.robots).says)
    elif given.verb not in ROBOT_VERBS:
        board.refuse("verb.unknown", given.robot_id, unknown("verb", given.verb, ROBOT_VERBS).says)
    else:
        ROBOT_VERBS[given.verb](board, board.robot(given.robot_id), given.value)


def _answer(board: Board, given: AnswerDecision) -> None:
    decision = board.decision(given.decision_id)
    if decision is None:
        says = f"There is no open decision {given.decision_id}; it may have been answered."
        board.refuse("decision.closed", given.decision_id, says, "Look at the inbox again.")
        return
    if given.verb not in decision.verbs:
        board.refuse("decision.verb", given.decision_id, unknown("verb", given.verb, decision.verbs).says)
        return
    task_id = decision.about.get("taskId")
    if task_id is not None and board.knows_task(task_id) and asks_of_another_step(decision, board.task(task_id)):
        step, place = decision.evidence["step"], decision.evidence["place"]
        says = f"The {step} at {place}, which was asked about, is over by now."
        board.refuse("decision.closed", given.decision_id, says, "Look at the inbox again.")
        return
    refused = len(board.reasons)
    answer = Answer(verb=given.verb, value=given.value, note=given.note, by=given.by, at=iso(board.now))
    board.close_decision(decision, answer)
    if "taskId" in decision.about:
        step = decision.evidence.get("step") if given.verb == "done-by-hand" else None
        value = step if given.value is None else given.value  # Who was asked of a step means that step.
        task_verb(board, TaskVerb(decision.about["taskId"], given.verb, value))
    else:
        _robot_verb(board, RobotVerb(decision.about["robotId"], given.verb, given.value))
    if len(board.reasons) > refused:
        # The verb was refused, so the question stands as it was.
        board.events = [event for event in board.events if event.about.get("decisionId") != decision.id]
        board.decisions_now[decision.id] = decision


# Tasks


def task_verb(board: Board, given: TaskVerb) -> None:
    if not board.knows_task(given.task_id):
        says = unknown("task", given.task_id, board.state.open_tasks, plural="open tasks").says
        board.refuse("task.unknown", given.task_id, says)
        return
    if given.verb not in TASK_VERBS:
        board.refuse("verb.unknown", given.task_id, unknown("verb", given.verb, TASK_VERBS).says)
        return
    task = board.task(given.task_id)
    entry = TABLE[given.verb][situation(board, task)]
    if isinstance(entry, tuple):
        code, says, try_next = entry
        if code:
            board.refuse(code, task.task_id, says.format(task=task), try_next)
    else:
        entry(board, task, given.value)


def situation(board: Board, task: Task) -> str:
    """Which column of the table a task is in."""
    if task.ended_ts_ms is not None:
        return task.status
    if task.robot_id is None:
        return "waiting"
    stopped = task.status in ("held", "stale")
    return ("held" if stopped else "active") + (" loaded" if is_loaded(board, task) else "")


def _resume(board: Board, task: Task, value: Any) -> None:
    """Goes on with the order the robot still has, or sends it anew where the robot has none."""
    if _goes_elsewhere(board, task) or _place_is_wrong(board, task):
        return
    task = _reactivate(board, task)
    if task.robot_id is None or task.command_state not in IN_FLIGHT:
        if task.in_doubt and may_run(board, task):
            taken_up(board, task)
        elif task.command_state == "none":
            give_up(board, task, "resend")
        return
    report = board.seen(task.robot_id).report
    still_has_it = report.task_status in RUNNING and not speaks_of_another(task.command_key, report, task.trace)
    if not still_has_it or task.command_state == "canceling":
        give_up(board, task, "resend")
    elif task.in_doubt:
        board.change_task(task, in_doubt=None)


def _redo(board: Board, task: Task, value: Any) -> None:
    if not (_goes_elsewhere(board, task) or _place_is_wrong(board, task)):
        give_up(board, _reactivate(board, task), "resend", retries=0)


def _goes_elsewhere(board: Board, task: Task) -> bool:
    """Take a pallet whose drop is taken and not committed to another place of its stream, where there is one by now."""
    place, wanted = needed_place(task)
    arrived = is_there(board, str(task.robot_id), target_node(board, task))
    if task.step != "drop" or task.committed or arrived or board.site(place).lies == wanted:
        return False
    other = other_target(board, task)
    if other is None or other == task.target_id:
        return False
    retarget(board, _reactivate(board, task), other)
    return True


def _place_is_wrong(board: Board, task: Task) -> bool:
    """Refuse to go on where the books say that the fork work cannot work out."""
    place, wanted = needed_place(task)
    site = board.site(place)
    if site.lies == wanted:
        return False
    says = f"{site.worksite_id} is {site.lies}, and the {task.step} needs it {wanted}."
    try_next = f"Correct it (`beforehand worksites set {site.worksite_id} {wanted}`), or abort the task."
    board.refuse("worksite.wrong", task.task_id, says, try_next)
    return True


def _reactivate(board: Board, task: Task) -> Task:
    assert task.robot_id is not None
    thaw(board, task.task_id)
    settle_questions(board, task.task_id)
    phase = phase_of(task, is_there(board, task.robot_id, target_node(board, task)))
    robot = board.robot(task.robot_id)
    board.change_robot(robot, phase="held" if robot.held else phase, error=None)
    changes: dict[str, Any] = {}
    if task.lease_remaining_ms == 0 or task.status == "stale":
        changes = {"lease_remaining_ms": round(board.settings.lease_s * 1000)}
    task = board.change_task(task, **changes)
    return start_timers(
        board, task, status="active", waits_for=None, retry_ts_ms=None, error=None, error_code=None, phase=phase
    )


def _done_by_hand(board: Board, task: Task, value: Any) -> None:
    """A person did the step: the pallet is booked, and the robot, if it is at it, is told to leave it."""
    assert task.robot_id is not None
    if _was_done(board, task, value) or _cannot_be_done(board, task):
        return
    report = board.seen(task.robot_id).report
    sensed = report.sure_load
    if sensed not in (None, load_after(task)) and task.in_doubt:
        doubt_sensor(board, report)  # Who was asked has looked.
    elif sensed not in (None, load_after(task)):
        says = f"The sensor of {task.robot_id} says its fork is {sensed}, so the {task.step} is not done."
        board.refuse("load.sensed", task.task_id, says, "Look at the fork and the sensor.")
        return
    task = _reactivate(board, task)
    was_at_it, key = task.command_state in IN_FLIGHT, task.command_key
    done = step_done(board, task, "manual")
    if done.ended_ts_ms is None:
        done = board.change_task(done, by_hand=True)
    if not was_at_it or task.robot_id is None:
        return
    if done.ended_ts_ms is not None:
        robot = board.change_robot(board.robot(task.robot_id), orphan_key=key)
        if robot.status != "offline":
            board.commands.append(CancelTarget(f"{key}:cancel", robot.robot_id))
    else:
        give_up(board, board.change_task(done, command_state="sent", command_key=key), "next")


def _was_done(board: Board, task: Task, value: Any) -> bool:
    """Whether the step meant is booked already: said twice, a step is done once."""
    step = value.get("step") if isinstance(value, dict) else value
    if step not in (None, "pick", "drop"):
        board.refuse("step.unknown", task.task_id, f"There is no step {step}; a task has a pick and a drop.")
        return True
    if step is not None:
        if step == "drop" and task.step == "pick":
            says = f"The pick of {task.task_id} is not done, so its drop cannot be."
            board.refuse("task.step", task.task_id, says, "Say first that the pick is done.")
        return bool(step != task.step)
    if task.by_hand:
        says = f"The pick of {task.task_id} is booked as done by hand, and its drop has not begun."
        try_next = "If the drop is done too, say done-by-hand with the value drop."
        board.refuse("task.step_done", task.task_id, says, try_next)
    return bool(task.by_hand)


def _cannot_be_done(board: Board, task: Task) -> bool:
    """Refuse a step by hand that the books contradict, and say how to put them right."""
    place, wanted = needed_place(task)
    lies = board.site(place).lies
    if lies == wanted or (task.step == "drop" and lies == "unknown"):
        return False
    done, there = ("picked", "it stood there") if task.step == "pick" else ("dropped", "it is this pallet")
    says = f"{place} is {lies}, so nothing can have been {done} there."
    try_next = f"If {there}: `beforehand worksites set {place} {wanted}`, then say done-by-hand again."
    board.refuse("worksite.wrong", task.task_id, says, try_next)
    return True


def _abort(board: Board, task: Task, value: Any) -> None:
    target = value.get("targetId") if isinstance(value, dict) else value
    if target is not None:
        says = f"No pallet of {task.task_id} is on a fork, so there is nothing to drop at {str(target)[:80]}."
        board.refuse("task.not_loaded", task.task_id, says, "Abort it without naming a place.")
        return
    give_up(board, task, "fail", error_code=ABORTED, error="A person aborted it.")


def _abort_loaded(board: Board, task: Task, value: Any) -> None:
    """With another drop place the pallet goes there; without one the task fails and the robot keeps the pallet."""
    target = value.get("targetId") if isinstance(value, dict) else value
    if target is None:
        give_up(board, task, "fail-loaded", error_code=ABORTED, error="A person aborted it.")
        return
    if task.step == "pick":
        says = f"{task.robot_id} carries pallets of {task.task_id} and has still some to pick."
        try_next = "Abort it without naming a place, or resume it and name the place at the drop."
        board.refuse("task.picking", task.task_id, says, try_next)
        return
    if target == task.target_id:
        _redo(board, task, None)
        return
    if not isinstance(target, str) or target not in board.state.worksites:
        board.refuse("worksite.unknown", task.task_id, unknown("worksite", target, board.state.worksites).says)
        return
    kind = board.site(target).worksite_type
    if not can_drop(board, target) or kind in ("charger", "park"):
        says = f"{target} cannot take the pallet: it is {board.site(target).occupancy}."
        board.refuse("worksite.not_free", task.task_id, says, "Choose an empty place that nobody has reserved.")
        return
    misfit = does_not_fit(board.state, task.source_id, target)
    if misfit is not None:
        board.refuse(misfit.code, task.task_id, misfit.says, misfit.try_next)
        return
    retarget(board, _reactivate(board, task), target)


def _cancel(board: Board, task: Task, value: Any) -> None:
    give_up(board, task, "cancel", error_code=CANCELED, error="A person cancelled it.")


def _hand_back(board: Board, task: Task, value: Any) -> None:
    give_up(board, task, "hand-back")


NOTHING = ("", "", "")
"""Already so: nothing changes and nothing is refused."""
OVER = ("task.over", "{task.task_id} is {task.status}; that cannot be changed any more.", "")
NO_ROBOT = ("task.waiting", "{task.task_id} has no robot yet.", "Wait until it is given to one.")
LOADED = (
    "task.loaded",
    "{task.robot_id} carries the pallet of {task.task_id}.",
    "Abort it with another drop place (`beforehand tasks abort ID --value WORKSITE`), or finish it (done-by-hand).",
)
Entry = Effect | tuple[str, str, str]


def _row(
    waiting: Entry, active: Entry, loaded: Entry, held: Entry, held_loaded: Entry, **over: Entry
) -> dict[str, Entry]:
    ended = {"completed": OVER, "failed": OVER, "canceled": OVER}
    return {
        "waiting": waiting,
        "active": active,
        "active loaded": loaded,
        "held": held,
        "held loaded": held_loaded,
        **(ended | over),
    }


# The columns: waiting for a robot; active, then active with the pallet on the fork; held or stale, the same twice.
TABLE: dict[str, dict[str, Entry]] = {
    "resume": _row(NOTHING, NOTHING, NOTHING, _resume, _resume),
    "redo": _row(NO_ROBOT, _redo, _redo, _redo, _redo),
    "done-by-hand": _row(NO_ROBOT, _done_by_hand, _done_by_hand, _done_by_hand, _done_by_hand),
    "abort": _row(_abort, _abort, _abort_loaded, _abort, _abort_loaded, failed=NOTHING),
    "cancel": _row(_cancel, _cancel, LOADED, _cancel, LOADED, canceled=NOTHING),
    "hand-back": _row(NOTHING, _hand_back, LOADED, _hand_back, LOADED),
}
TASK_VERBS = tuple(TABLE)
