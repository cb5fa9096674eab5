"""The way out where robots would make room for each other for ever: all gather at resting places, and one goes first.

Robots that wait in vain are sent to resting places one after the other, in the order in which they can be cleared, and
everybody else stands still meanwhile; so each finds its way free. Then the lanes are free too, and the robot whose
order is oldest drives to its target. Every gathering thus ends with an order done, and no dance can go on for ever. As
soon as the way to that target is free, nobody else need be moved.
"""

from collections.abc import Iterator, Sequence

from beforehand.crafts.fleet.core.errands import step_aside_to
from beforehand.crafts.fleet.core.traffic.clearing import Clearing
from beforehand.crafts.fleet.core.traffic.flow import Flow, Wait
from beforehand.crafts.fleet.core.traffic.memory import Gathering, Move
from beforehand.crafts.fleet.core.traffic.posts import Order, Post
from beforehand.crafts.fleet.core.traffic.searching import shortest, way_to
from beforehand.crafts.fleet.core.traffic.yielding import is_stuck_there

LONGEST_MS = 900_000
"""After this time a gathering is given up, and a person is asked."""


def begin(flow: Flow, names: Sequence[str], given_up: tuple[str, int] | None) -> Gathering | None:
    """A gathering for the first of these robots for which all can gather; None where there is none."""
    if not names or flow.troubles:
        return None
    found = (_gather(flow, name, flow.posts[name].order, given_up) for name in names)
    gathering = next((one for one in found if one is not None), None)
    if gathering is not None:
        for name in flow.posts:
            flow.board.change_robot(flow.board.robot(name), yields_to=None)
    return gathering


def _gather(flow: Flow, leader: str, order: Order | None, given_up: tuple[str, int] | None) -> Gathering | None:
    """Who has to go where, one after the other, so that this robot can go to its target; None where that cannot be."""
    if order is None or given_up == (leader, order.target):
        return None
    moves = list(_moves(flow))
    cleared = {move.robot_id for move in moves} == flow.posts.keys()
    if not cleared or any(is_stuck_there(flow, name) and not _is_there(flow.posts[name], at) for name, at in moves):
        return None
    aside = _off_the_target(flow, leader, order, moves)
    return None if aside is None else Gathering(leader, order.target, (*moves, *aside), flow.board.now)


def _moves(flow: Flow) -> Iterator[Move]:
    """How all can be cleared, one after the other."""
    stands = {name: post.stand for name, post in flow.posts.items()}
    clearing = Clearing(flow.ground, flow.memory.resting, stands, ())
    for name, escape in clearing.escapes.items():
        yield Move(name, escape.place)


def _off_the_target(flow: Flow, leader: str, order: Order, moves: list[Move]) -> list[Move] | None:
    """The further move of a robot that would rest on the leader's target; None where there is no place left for it."""
    used = {move.place for move in moves}
    for move in moves:
        body = flow.posts[move.robot_id].body
        if move.robot_id != leader and _on_target(flow, leader, order, move.place, body):
            left = sorted(flow.memory.resting - used)
            place = next((one for one in left if not _on_target(flow, leader, order, one, body)), None)
            return None if place is None else [Move(move.robot_id, place)]
    return []


def _on_target(flow: Flow, leader: str, order: Order, place: int, body: int) -> bool:
    return order.target in flow.ground.clashes(place, body, flow.posts[leader].body)


def still_on(flow: Flow, gathering: Gathering) -> bool:
    """Whether the gathering is still for something: its leader has not got to its target, and nobody is in trouble."""
    post = flow.posts[gathering.leader]
    order = post.order
    if order is None or order.ends or order.target != gathering.target or post.stand == order.target or flow.troubles:
        return False
    return not took_too_long(flow, gathering)


def took_too_long(flow: Flow, gathering: Gathering) -> bool:
    return flow.board.now - gathering.since_ms >= LONGEST_MS


def without_done(flow: Flow, gathering: Gathering) -> Gathering:
    """The gathering without the moves that are made."""
    moves = gathering.moves
    while moves and _is_there(flow.posts[moves[0].robot_id], moves[0].place):
        moves = moves[1:]
    return gathering._replace(moves=moves)


def _is_there(post: Post, place: int) -> bool:
    return post.waits and post.stand == place


def movers(flow: Flow, gathering: Gathering) -> Iterator[Post]:
    """Whose turn it is, with its way planned: the leader if its way is free, else the next that has to move."""
    leader = flow.posts[gathering.leader]
    if leader.order is not None and _plan(flow, leader, leader.order, gathering.target, over_all=False):
        yield leader
        if leader.robot_id in flow.granted or not leader.waits:
            return
    if not gathering.moves:
        return
    move = gathering.moves[0]
    post = flow.posts[move.robot_id]
    order = post.order
    if order is None and post.waits:
        step_aside_to(flow.board, flow.board.robot(move.robot_id), flow.ground.names[move.place])
    if order is None or order.ends or post.stand in (order.target, move.place):
        return  # Where it works just now it is left alone until that is done.
    if _plan(flow, post, order, move.place, over_all=True):
        yield post


def _plan(flow: Flow, post: Post, order: Order, place: int, over_all: bool) -> bool:
    """Plans the way to the place, past all who stand there or, if need be, over the ground that they still leave."""

    def free(piece: int) -> bool:
        return flow.owner(post, piece) is None

    way = way_to(flow.ground, post.stand, lambda node: node == place, free)
    if way is None and over_all:
        way = shortest(flow.ground, flow.board.state.routes, post.stand, place)
    if way is None:
        return False
    onward = () if place == order.target else shortest(flow.ground, flow.board.state.routes, place, order.target)
    if onward is None:
        return False
    flow.plan(post, order, (*way, *onward), stops_at=place)
    return True


def stand_by(flow: Flow, gathering: Gathering) -> None:
    """Everybody else waits meanwhile, and says for whom."""
    for name, post in flow.posts.items():
        going = gathering.leader
        if name == going and gathering.moves:
            going = gathering.moves[0].robot_id
        has_way = post.order is not None and not post.order.ends and post.stand != post.order.target
        if has_way and post.waits and name != going and name not in flow.granted:
            flow.waits[name] = Wait(going, None, "goes first")
