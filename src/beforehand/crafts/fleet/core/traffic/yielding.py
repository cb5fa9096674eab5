"""Getting out of each other's way: who stands in the way without need is asked to move, and who cannot pass goes round.

A robot without an order drives to a resting place. Of robots that wait for each other in a ring the one with the
youngest order steps aside: its way now leads over a place beside the way of the one that waits for it, where it lets
that one by. Robots in trouble cannot be asked; whoever waits for one goes another way, if there is one.
"""

from collections.abc import Callable, Collection

from beforehand.crafts.fleet.core.commands import clear_errand
from beforehand.crafts.fleet.core.errands import step_aside_to
from beforehand.crafts.fleet.core.traffic.flow import Flow
from beforehand.crafts.fleet.core.traffic.posts import Post
from beforehand.crafts.fleet.core.traffic.searching import shortest, way_to

LOOKED_AT = 12
"""How many that wait are looked at in a tick."""
SEEN_AHEAD = 30
"""How many nodes ahead of a robot those who stand there are asked to move."""
FAR = 3_000
"""How many nodes are searched for a place beside the way."""


def give_way(flow: Flow) -> None:
    waiting = sorted(flow.waits, key=lambda name: flow.posts[name].rank)
    settled: set[str] = set()
    for name in waiting[:LOOKED_AT]:
        _help(flow, name, settled)
    for name in flow.granted:
        _warn(flow, flow.posts[name], settled)


def _warn(flow: Flow, post: Post, settled: set[str]) -> None:
    """Asks who stands in a robot's way with nothing to do to move before it comes there."""
    for piece in flow.ground.pieces_of(flow.plans[post.robot_id].rest[:SEEN_AHEAD]):
        for name in flow.taken[post.body].get(piece, ()):
            other = flow.posts[name]
            if other.order is None and name not in settled and name not in flow.troubles and other.waits:
                settled.add(name)
                if not is_stuck_there(flow, name) and not _has_its_place(flow, other, post):
                    _evade(flow, other, post)


def _help(flow: Flow, name: str, settled: set[str]) -> None:
    """Follows the waits from this robot to whoever could end them."""
    chain = [name]
    while chain[-1] not in settled:
        settled.add(chain[-1])
        blocker = flow.waited_for(chain[-1])
        if blocker is None:
            return
        if blocker in flow.troubles or is_stuck_there(flow, blocker):
            _go_round(flow, flow.posts[chain[-1]])
            return
        post = flow.posts[blocker]
        if blocker in flow.granted or not post.waits:
            return
        if post.order is None:
            waiting = flow.posts[chain[-1]]
            if _has_its_place(flow, post, waiting) and _aside(flow, waiting, post) is not None:
                clear_errand(flow.board, flow.board.robot(waiting.robot_id))
            elif not _evade(flow, post, waiting):
                _go_round(flow, waiting)
            return
        if blocker in chain:
            _open_ring(flow, chain[chain.index(blocker) :])
            return
        chain.append(blocker)


def is_stuck_there(flow: Flow, name: str) -> bool:
    """Whether it stays where it is for a while, for good reasons of its own: it charges."""
    errand = flow.board.robot(name).errand
    return errand is not None and errand.kind == "charge" and errand.state == "there"


def _has_its_place(flow: Flow, post: Post, other: Post) -> bool:
    """Whether a robot rests by now where the other one only wanted to be out of the way: one place is as good as
    another for that, and who rests is left in peace."""
    board, order = flow.board, other.order
    robot = board.robot(other.robot_id)
    errand = robot.errand
    if order is None or errand is None or errand.kind != "park" or errand.worksite_id is not None or errand.ordered:
        return False
    if errand.node_id == (board.state.robot_specs[robot.robot_id].park_node_id or board.settings.park_node_id):
        return False
    return order.target in flow.ground.clashes(post.stand, post.body, other.body)


def _evade(flow: Flow, post: Post, other: Post) -> bool:
    """Sends a robot that has nothing to do to where it is not in the other one's way."""
    board = flow.board
    robot = board.robot(post.robot_id)
    if board.hold.person or robot.paused or post.robot_id in flow.granted:
        return False
    # One that the other has shut in is sent all the same: then the two wait for each other, and the other makes room.
    way = _aside(flow, post, other) or _aside(flow, post, other, past={other.robot_id})
    if way is None:
        return False
    step_aside_to(board, robot, flow.ground.names[way[-1]])
    board.change_robot(board.robot(post.robot_id), yields_to=other.robot_id)
    flow.count_aside(other)
    return True


def _open_ring(flow: Flow, ring: list[str]) -> None:
    """Has one of those that wait for each other step aside, the youngest that can."""
    waits_for = dict(zip(ring, [*ring[1:], ring[0]], strict=True))
    before = {blocker: name for name, blocker in waits_for.items()}
    youngest = sorted(ring, key=lambda one: flow.posts[one].rank, reverse=True)
    if any(_step_aside(flow, flow.posts[name], flow.posts[before[name]]) for name in youngest):
        return
    # Nobody of the ring gets out past those who stand round it: one sets out all the same, and they make room for it.
    still = {name for name, post in flow.posts.items() if post.waits and name not in flow.troubles}
    for name in youngest:
        past = still - {before[name]}
        if _step_aside(flow, flow.posts[name], flow.posts[before[name]], past):
            return


def _step_aside(flow: Flow, post: Post, other: Post, past: Collection[str] = ()) -> bool:
    order = post.order
    if order is None or order.ends or post.robot_id in flow.troubles:
        return False
    way = _aside(flow, post, other, past)
    if way is None:
        return False
    onward = shortest(flow.ground, flow.board.state.routes, way[-1], order.target)
    if onward is None:
        return False
    flow.plan(post, order, (*way, *onward), stops_at=way[-1])
    flow.board.change_robot(flow.board.robot(post.robot_id), yields_to=other.robot_id)
    flow.count_aside(post)
    return True


def _aside(flow: Flow, post: Post, other: Post, past: Collection[str] = ()) -> tuple[int, ...] | None:
    """The way to the nearest place that is not in the other robot's way; a resting place if one can be reached. `past`
    are robots that count as not there."""
    coming = flow.coming(other)
    target = post.order.target if post.order is not None else None

    def beside(node: int) -> bool:
        return node != target and coming.isdisjoint(flow.ground.clashes(node, post.body, other.body))

    def free(piece: int) -> bool:
        return piece != target and all(
            name == post.robot_id or name in past for name in flow.taken[post.body].get(piece, ())
        )

    resting, aims = flow.memory.resting, _aims(flow, post)
    wishes: tuple[Callable[[int], bool], ...] = (
        lambda node: node in resting and node not in aims and beside(node),
        lambda node: node in resting and beside(node),
        beside,
    )
    found = (way_to(flow.ground, post.stand, wish, free, FAR) for wish in wishes)
    return next((way for way in found if way is not None), None)


def _aims(flow: Flow, post: Post) -> set[int]:
    """Where the other robots are going."""
    aims: set[int] = set()
    for name, other in flow.posts.items():
        if name != post.robot_id and other.order is not None:
            plan = flow.plans.get(name)
            aims |= {other.order.target} | (
                {plan.stops_at} if plan is not None and plan.stops_at is not None else set()
            )
    return aims


def _go_round(flow: Flow, post: Post) -> bool:
    """Plans another way past all that stand there for longer; false where there is none."""
    order = post.order
    if order is None or order.ends or post.robot_id in flow.granted:
        return False
    lasting = {name for name in flow.posts if name in flow.troubles or is_stuck_there(flow, name)}
    lasting |= {name for name, other in flow.posts.items() if other.order is None and other.waits}
    lasting.discard(post.robot_id)

    def free(piece: int) -> bool:
        return lasting.isdisjoint(flow.taken[post.body].get(piece, ()))

    found = way_to(flow.ground, post.stand, lambda node: node == order.target, free)
    if found is None or found == flow.plans[post.robot_id].rest:
        return False
    flow.plan(post, order, found)
    return True
