"""What a waiting robot says, and when a person is asked: behind a robot in trouble, and where a wait ends by nothing.

The question closes itself as soon as the robot no longer waits so.
"""

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.rules import TRAFFIC, is_loaded
from beforehand.crafts.fleet.core.traffic.flow import Flow, Wait
from beforehand.crafts.fleet.core.traffic.memory import Gathering
from beforehand.crafts.fleet.core.traffic.yielding import is_stuck_there
from beforehand.model.fleet import Robot

TROUBLE_MS = 10_000
"""How long a robot waits for one in trouble before a person is asked."""
GATHER_MS = 50_000
"""How long robots wait for each other in a ring before all make room for one of them."""
STUCK_MS = 60_000
"""How long where nobody is in trouble and all the same nobody can move."""


def says(flow: Flow, wait: Wait) -> str:
    """For whom a robot waits, as the end of a sentence that begins with its name."""
    name = wait.robot_id
    trouble = flow.troubles.get(name)
    where = "" if wait.piece is None else f" {flow.ground.name(wait.piece)}"
    told = f"waits for {name}, which {wait.why}{_what(flow, wait) or where}"
    if trouble is not None:
        return f"{told} and {trouble}"
    return f"{told} and charges there" if is_stuck_there(flow, name) else told


def _what(flow: Flow, wait: Wait) -> str:
    """The piece that the other one truly holds, which need not be the one that is wanted."""
    if wait.piece is None or wait.why != "holds":
        return ""
    post = flow.posts[wait.robot_id]
    if wait.piece in post.held:
        return f" {flow.ground.name(wait.piece)}"
    bodies = range(len(flow.ground.bodies))
    for piece in sorted(post.held):
        if any(wait.piece in flow.ground.clashes(piece, post.body, body) for body in bodies):
            return f" {flow.ground.name(piece)}"
    return ""


def in_vain(flow: Flow) -> list[str]:
    """Those that have waited for a while for each other, or make no headway for all the room that is made for them;
    the oldest order first."""
    board = flow.board
    found = []
    for name, post in flow.posts.items():
        robot = board.robot(name)
        waited_ms = board.now - (robot.waits_since_ts_ms or board.now)
        waits = robot.waits_for is not None and waited_ms >= GATHER_MS and _in_vain(flow, name)
        if waits or flow.makes_no_headway(post):
            found.append(name)
    return sorted(found, key=lambda name: flow.posts[name].rank)


def ask(flow: Flow, gathering: Gathering | None) -> None:
    """Asks about those that wait in vain, and withdraws what has settled itself."""
    board = flow.board
    for robot_id in flow.posts:
        robot = board.robot(robot_id)
        asked = board.traffic_question(robot_id) if board.has_traffic_questions() else None
        if asked is not None and asked.about.get("waitsFor") != robot.waits_for:
            board.close_decision(asked)
            asked = None
        if robot.waits_for is None or asked is not None or robot.waits_on_purpose == robot.waits_for:
            continue
        waited_ms = board.now - (robot.waits_since_ts_ms or board.now)
        if robot.waits_for in flow.troubles:
            if waited_ms >= TROUBLE_MS:
                _open(board, robot, f"{robot.waits_for} {flow.troubles[robot.waits_for]}")
        elif gathering is None and waited_ms >= STUCK_MS and _in_vain(flow, robot_id):
            _open(board, robot, f"{robot.waits_for} cannot get out of its way")


def _in_vain(flow: Flow, robot_id: str) -> bool:
    """Whether those it waits for wait in a ring, or stand there and have nowhere to go."""
    chain = flow.chain(robot_id)
    last = flow.posts[chain[-1]]
    if last.robot_id in flow.troubles or last.robot_id in flow.granted or not last.waits:
        return False
    ring = flow.waited_for(last.robot_id) in (robot_id, *chain)
    if ring:
        return robot_id == min((robot_id, *chain), key=lambda name: flow.posts[name].rank)
    return last.order is None and len(chain) == 1 and not is_stuck_there(flow, last.robot_id)


def _open(board: Board, robot: Robot, trouble: str) -> None:
    task = board.task(robot.task_id) if robot.task_id is not None else None
    effects = {"wait": f"{robot.robot_id} waits until the way is free, and nobody is asked about this wait again."}
    if task is not None and not is_loaded(board, task):
        effects["hand-back"] = f"Another robot gets {task.task_id}."
    elif task is None:
        effects["stay"] = f"{robot.robot_id} gives up its drive and stays where it is."
    about = {"robotId": robot.robot_id, "waitsFor": robot.waits_for}
    evidence = {"code": TRAFFIC, "wait": f"{robot.robot_id} {robot.waits_says}."}
    title = f"{robot.robot_id} cannot go on: {trouble}."
    board.open_decision(title, about, evidence, effects)
