"""The last phase of a tick where ground is shared out: grants become commands, waits become words.

It decides nothing that is not free and safe. What was granted is written to the robot's record before it is told, so
that after a crash all of it still counts as held. A grant that had no effect was perhaps lost and is said again.
"""

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.commands import send
from beforehand.crafts.fleet.core.errands import send_errand
from beforehand.crafts.fleet.core.rules import RUNNING
from beforehand.crafts.fleet.core.timers import stop_deadline
from beforehand.crafts.fleet.core.traffic.asking import ask, in_vain, says
from beforehand.crafts.fleet.core.traffic.flow import Flow
from beforehand.crafts.fleet.core.traffic.gathering import (
    begin,
    movers,
    stand_by,
    still_on,
    took_too_long,
    without_done,
)
from beforehand.crafts.fleet.core.traffic.memory import Gathering, Stood
from beforehand.crafts.fleet.core.traffic.posts import Post
from beforehand.crafts.fleet.core.traffic.yielding import give_way
from beforehand.model.fleet import Robot
from beforehand.model.robot import DriveOn

AGAIN_MS = 8_000
"""How long a robot may stand with ground ahead of it before it is told of that ground again."""

NOBODY = {"waits_for": None, "waits_says": None, "waits_since_ts_ms": None, "waits_on_purpose": None}


def traffic(board: Board) -> Board:
    memory = board.state.traffic
    if memory is None:
        return board
    _forget_ended(board)
    flow = Flow(board, memory)
    gathering, given_up = memory.gathering, memory.given_up
    if gathering is not None and took_too_long(flow, gathering):
        given_up = (gathering.leader, gathering.target)
    if not board.hold.person and _knows_where_all_are(board):
        gathering = _share_out(board, flow, gathering)
    _note_waits(board, flow)
    stood = _say_again(board, flow)
    if gathering is None:
        gathering = begin(flow, in_vain(flow), given_up)
    ask(flow, gathering)
    board.traffic = flow.remembered(stood, gathering=gathering, given_up=given_up)
    return board


def _share_out(board: Board, flow: Flow, gathering: Gathering | None) -> Gathering | None:
    """Grants what can be granted: to all, the oldest order first, or, while robots gather, to whose turn it is."""
    if gathering is not None and still_on(flow, gathering):
        gathering = without_done(flow, gathering)
        for post in movers(flow, gathering):
            _go_on(board, flow, post)
        stand_by(flow, gathering)
        return gathering
    for post in sorted(flow.posts.values(), key=lambda one: one.rank):
        _go_on(board, flow, post)
    give_way(flow)
    return None


def _go_on(board: Board, flow: Flow, post: Post) -> None:
    if _may_go(board, flow, post):
        flow.extend(post)
        _tell(board, flow, post)


def _knows_where_all_are(board: Board) -> bool:
    """Whether every robot has said where it is since the start, or is known not to answer: before that, nobody knows
    what ground is free."""
    robots = board.state.robots
    return all(board.seen(name).heard or board.robot(name).status == "offline" for name in robots)


def without_traffic(board: Board) -> Board:
    """After a start: what is left in the log of ground that is no longer shared out is forgotten."""
    if board.state.traffic is not None:
        return board
    for robot_id in board.state.robots:
        robot = board.robot(robot_id)
        if robot.way is not None or robot.waits_for is not None:
            board.change_robot(robot, way=None, way_at=None, yields_to=None, **NOBODY)
        asked = board.traffic_question(robot_id)
        if asked is not None:
            board.close_decision(asked)
    return board


def _forget_ended(board: Board) -> None:
    """A robot that has no order any more, and says so, holds only what it stands on."""
    for robot_id in board.state.robots:
        robot = board.robot(robot_id)
        if robot.way is None or robot.status == "offline" or robot.orphan_key is not None or _in_flight(board, robot):
            continue
        if board.seen(robot_id).report.task_status not in RUNNING:
            board.change_robot(robot, way=None, way_at=None, yields_to=None)


def _in_flight(board: Board, robot: Robot) -> bool:
    if robot.errand is not None and robot.errand.state in ("sent", "running", "canceling"):
        return True
    task = board.task(robot.task_id) if robot.task_id is not None else None
    return task is not None and task.command_state in ("sent", "running", "paused", "canceling")


def _may_go(board: Board, flow: Flow, post: Post) -> bool:
    robot, order = board.robot(post.robot_id), post.order
    if order is None or order.ends or post.robot_id in flow.troubles or robot.paused or robot.orphan_key is not None:
        return False
    return order.sent or board.seen(post.robot_id).report.task_status not in RUNNING


def _tell(board: Board, flow: Flow, post: Post) -> None:
    """Tells the robot what it was granted; a new order goes out with its first ground."""
    order, robot = post.order, board.robot(post.robot_id)
    assert order is not None
    nodes = flow.granted.get(post.robot_id)
    names = flow.ground.names
    if order.sent:
        if nodes is not None:
            way = tuple(names[node] for node in (*post.way[post.behind :], *nodes))
            robot = board.change_robot(robot, way=way, way_at=(robot.way_at or 0) + post.behind)
            board.commands.append(_drive_on(flow, post, robot, f"{order.key}:way:{_end(robot)}"))
    elif nodes is not None or post.stand == order.target:
        start = (post.node,) if post.following is None else (post.node, post.following)
        way = tuple(names[node] for node in (*start, *(nodes or ())))
        robot = board.change_robot(robot, way=way, way_at=0)
        flow.reached[post.robot_id] = 0
        horizon = _horizon(flow, post.robot_id)
        if robot.errand is not None:
            send_errand(board, robot, way, horizon)
        else:
            send(board, board.task(str(robot.task_id)), robot, way, horizon)


def _end(robot: Robot) -> int:
    return (robot.way_at or 0) + len(robot.way or ())


def _drive_on(flow: Flow, post: Post, robot: Robot, key: str) -> DriveOn:
    assert post.order is not None
    assert robot.way is not None
    return DriveOn(key, robot.robot_id, post.order.key, robot.way_at or 0, robot.way, _horizon(flow, robot.robot_id))


def _horizon(flow: Flow, robot_id: str) -> tuple[str, ...]:
    plan = flow.plans.get(robot_id)
    return () if plan is None else tuple(flow.ground.names[node] for node in plan.rest)


def _note_waits(board: Board, flow: Flow) -> None:
    """Writes down who waits for whom, where that has changed."""
    for robot_id, post in flow.posts.items():
        robot = board.robot(robot_id)
        wait = flow.waits.get(robot_id)
        if wait is not None:
            told = says(flow, wait)
            if robot.waits_for != wait.robot_id or robot.waits_says != told:
                since = board.now if robot.waits_since_ts_ms is None else robot.waits_since_ts_ms
                board.change_robot(robot, waits_for=wait.robot_id, waits_says=told, waits_since_ts_ms=since)
                _stop_clock(board, robot)
        elif robot.waits_for is not None and _goes_on(flow, post):
            board.change_robot(robot, **NOBODY)
        if robot_id in flow.done_yielding and robot.yields_to is not None:
            board.change_robot(board.robot(robot_id), yields_to=None)


def _goes_on(flow: Flow, post: Post) -> bool:
    return post.order is None or post.order.ends or post.robot_id in flow.granted or not post.waits


def _stop_clock(board: Board, robot: Robot) -> None:
    """What a robot waits for others does not count as time it takes for its step."""
    task = board.task(robot.task_id) if robot.task_id is not None else None
    if task is not None and task.deadline_ts_ms is not None and task.command_state == "running":
        stop_deadline(board, task)


def _say_again(board: Board, flow: Flow) -> dict[str, Stood]:
    """Tells those again of their ground that do not drive on it; since when the others have stood."""
    stood: dict[str, Stood] = {}
    for robot_id, post in flow.posts.items():
        robot = board.robot(robot_id)
        status = board.seen(robot_id).report.task_status
        starts = post.order is not None and post.order.sent and post.way and post.following is None
        if not starts or post.waits or status != 2 or robot.paused or robot_id in flow.troubles:
            continue
        before = flow.memory.stood.get(robot_id)
        stood[robot_id] = before if before is not None and before.node == post.node else Stood(post.node, board.now)
        if board.now - stood[robot_id].since_ms >= AGAIN_MS and robot_id not in flow.granted:
            assert post.order is not None
            board.commands.append(_drive_on(flow, post, robot, f"{post.order.key}:way:{_end(robot)}:{board.now}"))
            stood[robot_id] = Stood(post.node, board.now)
    return stood
