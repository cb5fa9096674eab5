"""The last phases: what robots do for themselves when there is no work. Never a task, and given up for one.

Park places and chargers are reserved by the robot that drives there or stands there, one each.
"""

import math

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.commands import clear_errand
from beforehand.crafts.fleet.core.eligibility import is_offline
from beforehand.crafts.fleet.core.rules import RUNNING, drop_errand, is_loaded, is_there, reserve
from beforehand.model.fleet import Errand, Robot
from beforehand.model.reason import Reason
from beforehand.model.records import changed
from beforehand.model.robot import GoTarget

FULL = 0.99
SHOWN = 5


def parking(board: Board) -> Board:
    """Robots for which there was no work go to their park place, if there is one."""
    if board.hold:
        return board
    for robot_id in board.free:
        robot = board.robot(robot_id)
        rested = robot.errand_rest_ts_ms <= board.now
        if robot.task_id is None and robot.errand is None and rested and not needs_charge(board, robot):
            go_park(board, robot)
    return board


def charging(board: Board) -> Board:
    """Robots low on battery go to a charger before anything else; those that have enough leave it."""
    robots = board.untasked_robots()
    _grant_wishes(board, robots)
    if board.hold.person or not board.state.has_chargers:
        return board
    for robot_id in robots:
        robot = board.robot(robot_id)
        if robot.task_id is not None or robot.status != "online" or not board.seen(robot_id).heard:
            continue
        if robot.errand is not None and robot.errand.kind == "charge":
            _charged(board, robot)
        elif needs_charge(board, robot) and _may_drive(board, robot) and not go_charge(board, robot):
            _make_room(board)
    return board


def needs_charge(board: Board, robot: Robot) -> bool:
    battery = board.seen(robot.robot_id).report.battery
    if battery is None or not board.state.has_chargers:
        return False
    if battery < board.settings.charge_start_threshold:
        return True
    return robot.robot_id in board.short_of_charge and battery < FULL


def _may_drive(board: Board, robot: Robot) -> bool:
    if robot.held or robot.out_of_service or robot.orphan_key is not None or robot.phase == "error":
        return False
    if robot.errand_rest_ts_ms > board.now:
        return False
    report = board.seen(robot.robot_id).report
    return (
        robot.lost_ts_ms is None
        and report.node_id is not None
        and (report.task_status not in RUNNING or robot.errand is not None)
    )


def _charged(board: Board, robot: Robot) -> None:
    errand = robot.errand
    battery = board.seen(robot.robot_id).report.battery
    assert errand is not None
    if errand.state == "there" and battery is not None and battery >= (errand.level or FULL):
        board.change_robot(drop_errand(board, robot), phase="held" if robot.held else "idle")


def go_charge(board: Board, robot: Robot, ordered: bool = False) -> bool:
    """Sends the robot to the nearest charger that is free; false where there is none."""
    report = board.seen(robot.robot_id).report
    place = _nearest(board, robot, "charger")
    if place is None:
        return False
    if clear_errand(board, robot):
        stop = board.settings.charge_stop_threshold
        level = stop if report.battery is None or report.battery < stop - 1e-6 else FULL
        errand = Errand("charge", board.site(place).node_id, "", place, level=level, ordered=ordered)
        _start(board, board.robot(robot.robot_id), errand)
    return True


def go_park(board: Board, robot: Robot, ordered: bool = False) -> bool:
    """Sends the robot to its park place; false where there is none."""
    found = park_place(board, robot)
    if found is None:
        return False
    if clear_errand(board, robot):
        node_id, site_id = found
        _start(board, board.robot(robot.robot_id), Errand("park", node_id, "", site_id, ordered=ordered))
    return True


def park_place(board: Board, robot: Robot) -> tuple[str, str | None] | None:
    """Its own park node, else the scene's, else the nearest free park place. A node that is no worksite is shared."""
    wanted = board.state.robot_specs[robot.robot_id].park_node_id or board.settings.park_node_id
    if wanted is not None and _distance(board, robot, wanted) < math.inf:
        places = [place for place in board.state.places.get("park", ()) if board.site(place).node_id == wanted]
        if not places:
            return wanted, None
        for place in places:
            if board.site(place).reserved_by in (None, robot.robot_id):
                return wanted, place
    nearest = _nearest(board, robot, "park")
    return None if nearest is None else (board.site(nearest).node_id, nearest)


def _nearest(board: Board, robot: Robot, kind: str) -> str | None:
    best: tuple[float, str] | None = None
    for site_id in board.state.places.get(kind, ()):
        site = board.site(site_id)
        if user_of(board, site_id, robot.robot_id) is None:
            distance = _distance(board, robot, site.node_id)
            if distance < math.inf and (best is None or (distance, site_id) < best):
                best = (distance, site_id)
    return None if best is None else best[1]


def user_of(board: Board, site_id: str, robot_id: str) -> str | None:
    """The other robot that has this charger or park place reserved, or that stands on the charger."""
    site = board.site(site_id)
    if site.occupancy == "reserved" and site.reserved_by != robot_id:
        return site.reserved_by
    there = _on_chargers(board).get(site.node_id) if site.worksite_type == "charger" else None
    return there if there != robot_id else None


def _on_chargers(board: Board) -> dict[str, str]:
    if board.on_chargers is None:
        nodes = _charger_nodes(board)
        board.on_chargers = {}
        for robot_id in board.state.robots:
            report = board.seen(robot_id).report
            if report.node_id in nodes and report.next_node_id is None:
                board.on_chargers.setdefault(str(report.node_id), robot_id)
    return board.on_chargers


def no_charger(board: Board, robot: Robot) -> Reason | None:
    """Why the robot cannot go to charge now, or None."""
    if _nearest(board, robot, "charger") is not None:
        return None
    in_reach = [
        site_id
        for site_id in board.state.places.get("charger", ())
        if _distance(board, robot, board.site(site_id).node_id) < math.inf
    ]
    if not in_reach:
        return _no("charger.no_route", robot, "It can reach no charger.", "Look at the edges to them.")
    users = [f"{site_id} is used by {user_of(board, site_id, robot.robot_id)}" for site_id in in_reach[:SHOWN]]
    says = f"No charger is free for it: {', '.join(users)}."
    return _no("charger.taken", robot, says, "Wait, or send one of them away.")


def _make_room(board: Board) -> None:
    """A robot that has charged and has nowhere to go leaves the charger when another one needs it."""
    for node_id, robot_id in _on_chargers(board).items():
        robot = board.robot(robot_id)
        idle = robot.task_id is None and robot.errand is None and robot.status == "online"
        if not idle or needs_charge(board, robot) or not _may_drive(board, robot):
            continue
        aside = board.state.robot_specs[robot_id].node_id
        if aside not in _charger_nodes(board) and _distance(board, robot, aside) < math.inf and aside != node_id:
            _start(board, robot, Errand("park", aside, ""))
            return


def _charger_nodes(board: Board) -> set[str]:
    return {board.site(site_id).node_id for site_id in board.state.places.get("charger", ())}


def _distance(board: Board, robot: Robot, node_id: str) -> float:
    report = board.seen(robot.robot_id).report
    if report.node_id is None:
        return math.inf
    return board.state.routes.left(report.node_id, report.next_node_id, report.x, report.y, node_id)


def _start(board: Board, robot: Robot, errand: Errand) -> None:
    """Reserves the place and sends the robot; one that already stands there stays."""
    if errand.worksite_id is not None and board.site(errand.worksite_id).reserved_by is None:
        reserve(board, errand.worksite_id, robot.robot_id)
    number = robot.errands + 1
    key = board.state.log.key(f"{board.state.scene.name}-{robot.robot_id}:{errand.kind}:{number}")
    there = is_there(board, robot.robot_id, errand.node_id)
    waits = board.state.traffic is not None
    """Whether it is sent by traffic, once there is ground for it."""
    resting = "charging" if errand.kind == "charge" else "idle"
    phase = resting if there or errand.kind == "charge" else "parking"
    state = "there" if there else "due" if waits else "sent"
    errand = changed(errand, key=key, state=state, sent_ts_ms=board.now)
    board.change_robot(robot, errand=errand, errands=number, errand_rest_ts_ms=0, phase=phase, error=None)
    if state == "sent":
        board.commands.append(GoTarget(key, robot.robot_id, {"id": errand.node_id}))


def send_errand(board: Board, robot: Robot, way: tuple[str, ...], horizon: tuple[str, ...]) -> None:
    """Sends a robot on its errand over the ground that it was granted."""
    errand = robot.errand
    assert errand is not None
    board.change_robot(robot, errand=changed(errand, state="sent", sent_ts_ms=board.now))
    payload = {"id": errand.node_id}
    board.commands.append(GoTarget(errand.key, robot.robot_id, payload, way=way, horizon=horizon))


def step_aside_to(board: Board, robot: Robot, node_id: str) -> None:
    """Has a robot that has nothing to do leave for a place where it is in nobody's way."""
    robot = drop_errand(board, robot)
    _start(board, robot, Errand("park", node_id, ""))


def _grant_wishes(board: Board, robots: list[str]) -> None:
    """Errands a person asked for begin as soon as the robot has let go of what it did before."""
    if board.hold.person:
        return
    for robot_id in robots:
        robot = board.robot(robot_id)
        if robot.wish is None or robot.task_id is not None or robot.held or robot.status == "offline":
            continue
        if board.seen(robot_id).heard and clear_errand(board, robot):
            wish = robot.wish
            robot = board.change_robot(board.robot(robot_id), wish=None)
            (go_charge if wish == "charge" else go_park)(board, robot, ordered=True)


def _no(code: str, robot: Robot, says: str, try_next: str) -> Reason:
    return Reason(code=code, about=robot.robot_id, says=says, try_next=try_next)


def no_errand(board: Board, robot: Robot, kind: str) -> Reason | None:
    """Why an order to park or to charge would come to nothing now, or None."""
    if robot.task_id is not None:
        says, try_next = f"It works on {robot.task_id}.", f"First: `beforehand tasks hand-back {robot.task_id}`."
        if is_loaded(board, board.task(robot.task_id)):
            says, try_next = f"It carries the pallet of {robot.task_id}.", "Wait until it has dropped it."
        return _no("robot.busy", robot, says, try_next)
    if robot.held or board.hold.person:
        says = "A person holds it." if robot.held else "A person holds the fleet."
        return _no("robot.held", robot, says, "Release it first." if robot.held else "Clear the hold first.")
    if robot.status == "offline":
        return is_offline(robot.robot_id)
    if robot.phase == "error":
        return _no("robot.error", robot, f"It stands in error: {robot.error}", "See to it, then release it.")
    if robot.lost_ts_ms is not None:
        return _no("robot.lost", robot, "It does not know where it is.", "Put it on a node of the map.")
    return _no_charge(board, robot) if kind == "charge" else _no_park(board, robot)


def _no_charge(board: Board, robot: Robot) -> Reason | None:
    if not board.state.has_chargers:
        return _no("scene.no_charger", robot, "The scene has no charger.", "Add one to the scene.")
    battery = board.seen(robot.robot_id).report.battery
    if battery is not None and battery >= FULL:
        return _no("robot.battery_full", robot, f"Its battery is full: {battery:.0%}.", "")
    return no_charger(board, robot)


def _no_park(board: Board, robot: Robot) -> Reason | None:
    own = board.state.robot_specs[robot.robot_id].park_node_id or board.settings.park_node_id
    if own is None and "park" not in board.state.places:
        return _no("scene.no_park", robot, "The scene has no park place for it.", "Add one to the scene.")
    if park_place(board, robot) is None:
        says = "There is no park place for it that is free and that it can reach."
        return _no("park.taken", robot, says, "Wait until one is free.")
    return None
