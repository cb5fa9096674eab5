"""What people may ask of a robot or of the whole fleet: hold and release, park, charge, in and out of service."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.cancel import give_up
from beforehand.crafts.fleet.core.commands import clear_errand
from beforehand.crafts.fleet.core.errands import no_errand
from beforehand.crafts.fleet.core.rules import FORK, LOADED, is_loaded, phase_of, settle_question, thaw_robot
from beforehand.crafts.fleet.core.standing import pause, unpause
from beforehand.crafts.fleet.core.state import Hold
from beforehand.model.fleet import Phase, Robot
from beforehand.model.reason import unknown

STAY_MS = 60_000
"""How long a robot that was told to stay does not go to park."""


def _hold(board: Board, robot: Robot, value: Any) -> None:
    if robot.held:
        return
    board.change_robot(robot, held=True, phase="held")
    pause(board, robot.robot_id)


def _release(board: Board, robot: Robot, value: Any) -> None:
    """Ends a hold, and an error the robot stands in without a task."""
    settled = board.question_of(robot.robot_id)
    if settled is not None and settled.evidence.get("code") not in (LOADED, FORK):
        board.close_decision(settled)
    thaw_robot(board, robot.robot_id)
    if robot.lost_ts_ms is not None:
        robot = board.change_robot(robot, lost_ts_ms=board.now)  # Somebody looked: it has its time again.
    if robot.held or (robot.task_id is None and robot.error is not None):
        fresh = {"failed_at": None, "errand_rest_ts_ms": 0, "errand_failures": None}
        robot = board.change_robot(robot, held=False, error=None if robot.task_id is None else robot.error, **fresh)
        board.change_robot(robot, phase=resting_phase(board, robot))
    unpause(board, robot.robot_id)


def resting_phase(board: Board, robot: Robot) -> Phase:
    """The phase a robot is in once nobody holds it."""
    if robot.task_id is not None:
        task = board.task(robot.task_id)
        if task.status in ("held", "stale"):
            return "error" if task.waits_for == "person" and task.error is not None else "held"
        return phase_of(task, task.phase in ("picking", "dropping"))
    if robot.errand is None:
        return "idle"
    if robot.errand.kind == "charge":
        return "charging"
    return "idle" if robot.errand.state == "there" else "parking"


def _errand(kind: Literal["park", "charge"]) -> Callable[[Board, Robot, Any], None]:
    def wish(board: Board, robot: Robot, value: Any) -> None:
        if robot.wish == kind or (robot.errand is not None and robot.errand.kind == kind):
            return
        refused = no_errand(board, robot, kind)
        if refused is not None:
            board.reasons.append(refused)
        else:
            board.change_robot(robot, wish=kind)

    return wish


def _out_of_service(board: Board, robot: Robot, value: Any) -> None:
    """No new work; a task is handed back, unless its pallet is on the fork: that one is finished first."""
    if robot.out_of_service:
        return
    robot = board.change_robot(robot, out_of_service=True, wish=None)
    asked = board.question_of(robot.robot_id)
    if asked is not None:
        board.close_decision(asked)
    thaw_robot(board, robot.robot_id)  # Also where this is the answer to that question, which is closed by then.
    if robot.task_id is None:
        return
    task = board.task(robot.task_id)
    if not is_loaded(board, task):
        give_up(board, task, "hand-back")


def _in_service(board: Board, robot: Robot, value: Any) -> None:
    if robot.out_of_service:
        board.change_robot(robot, out_of_service=False)


def _set_load(board: Board, robot: Robot, value: Any) -> None:
    """What a person sees on the fork counts only where no sensor says otherwise and no task is under way."""
    if value not in ("empty", "loaded"):
        board.refuse("load.value", robot.robot_id, "A load is empty or loaded.")
    elif robot.task_id is not None:
        board.refuse("robot.busy", robot.robot_id, f"{robot.robot_id} works on {robot.task_id}.", "Finish that first.")
    elif board.seen(robot.robot_id).report.sure_load not in (None, value):
        sensed = board.seen(robot.robot_id).report.sure_load
        says = f"The sensor of {robot.robot_id} says its fork is {sensed}, and the sensor overrules a person."
        board.refuse("load.sensed", robot.robot_id, says, "Look at the fork and the sensor.")
    else:
        if robot.load_state != value:
            robot = board.change_robot(robot, load_state=value, load_state_source="manual", load_state_confidence="low")
        if value == "empty":
            settle_question(board, settle_question(board, robot, LOADED), FORK)


def _unloaded(board: Board, robot: Robot, value: Any) -> None:
    _set_load(board, robot, "empty")


def _wait(board: Board, robot: Robot, value: Any) -> None:
    """It waits for the robot that is in its way, however long that takes."""
    board.change_robot(robot, waits_on_purpose=robot.waits_for)


def _stay(board: Board, robot: Robot, value: Any) -> None:
    """It gives up what it drives for itself, and stays where it is for a while."""
    if robot.task_id is None and clear_errand(board, robot):
        robot = board.robot(robot.robot_id)
        board.change_robot(robot, phase="held" if robot.held else "idle", errand_rest_ts_ms=board.now + STAY_MS)


def _hand_back(board: Board, robot: Robot, value: Any) -> None:
    """Another robot gets its task, unless its pallet is on the fork by now."""
    if robot.task_id is None:
        return
    task = board.task(robot.task_id)
    if is_loaded(board, task):
        says = f"{robot.robot_id} has the pallet of {task.task_id} on its fork by now."
        board.refuse("task.loaded", robot.robot_id, says, "Let it wait.")
    else:
        give_up(board, task, "hand-back")


ROBOT_VERBS: dict[str, Callable[[Board, Robot, Any], None]] = {
    "hold": _hold,
    "release": _release,
    "park": _errand("park"),
    "charge": _errand("charge"),
    "out-of-service": _out_of_service,
    "in-service": _in_service,
    "set-load": _set_load,
    "unloaded": _unloaded,
    "wait": _wait,
    "stay": _stay,
    "hand-back": _hand_back,
}


def fleet_verb(board: Board, verb: str) -> None:
    """`hold` stops all that drives and all dispatch; `clear` lifts that, while held tasks still wait for an answer.

    `let-go` lifts a person's hold only: what is frozen after an error stays so.
    """
    if verb == "hold":
        if not board.hold.person:
            board.set_hold(replace(board.hold, person=True))
            for robot_id in board.state.robots:
                pause(board, robot_id)
    elif verb in ("clear", "let-go"):
        was_held = board.hold.person
        board.set_hold(Hold() if verb == "clear" else replace(board.hold, person=False))
        if was_held:
            for robot_id in board.state.robots:
                unpause(board, robot_id)
    else:
        board.refuse("verb.unknown", board.state.scene.name, unknown("verb", verb, ("hold", "clear")).says)
