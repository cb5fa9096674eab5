"""One tick of traffic: every robot's post, what is held by whom, and the granting of more ground.

Ground is granted along a robot's way up to a node where it may stand: everything up to there is free, and everybody
could still be cleared out of the way afterwards. Older orders come first. A robot that gets nothing says for whom it
waits; one that has waited long has a claim on what it needs next, against all it does not wait for itself.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.traffic.clearing import Clearing
from beforehand.crafts.fleet.core.traffic.memory import Asides, Plan, Stood, TrafficMemory
from beforehand.crafts.fleet.core.traffic.posts import Order, Post, post_of
from beforehand.crafts.fleet.core.traffic.searching import shortest
from beforehand.crafts.fleet.core.traffic.trouble import trouble_of

AHEAD_S = 3.0
"""A robot gets more ground before it has less than this ahead of it, so that it need not brake."""
MOST_STEPS = 60
CLAIM_MS = 30_000
ASIDES = 10
"""How often room is made on a robot's way to one target, twice for each robot more, before it makes no headway."""


class Wait(NamedTuple):
    """Who is in the way, and with what."""

    robot_id: str
    piece: int | None
    why: str = "holds"


class Flow:
    """The working copy of one tick."""

    def __init__(self, board: Board, memory: TrafficMemory) -> None:
        self.board = board
        self.memory = memory
        self.ground = memory.ground
        self.plans = dict(memory.plans)
        self.reached = dict(memory.reached)
        self.posts: dict[str, Post] = {}
        for robot_id in board.state.robots:
            self.posts[robot_id] = self._post(robot_id)
        stands = {name: post.stand for name, post in self.posts.items()}
        self.troubles = {name: says for name in self.posts if (says := trouble_of(board, name)) is not None}
        if memory.clearing is None:
            self.clearing = Clearing(self.ground, memory.resting, stands, self.troubles.keys())
        else:
            self.clearing = memory.clearing.later(stands, self.troubles.keys())
        self.taken: list[dict[int, list[str]]] = [{} for _ in self.ground.bodies]
        for post in self.posts.values():
            self._take(post, post.held)
        self.waits: dict[str, Wait] = {}
        self.claims: list[tuple[str, frozenset[int]]] = []
        self.granted: dict[str, tuple[int, ...]] = {}
        self.asides = dict(memory.asides)
        self.done_yielding: set[str] = set()
        """Those that go on from where they had stepped aside, or never had to."""

    def _post(self, robot_id: str) -> Post:
        robot = self.board.robot(robot_id)
        way_at = robot.way_at or 0
        if robot.way is None:
            self.reached.pop(robot_id, None)
        post = post_of(self.board, self.ground, robot, self.reached.get(robot_id, 0))
        if post.way:
            self.reached[robot_id] = way_at + post.at
        return post

    def _take(self, post: Post, pieces: set[int]) -> None:
        for body, taken in enumerate(self.taken):
            for piece in pieces:
                for clashing in self.ground.clashes(piece, post.body, body):
                    taken.setdefault(clashing, []).append(post.robot_id)

    def owner(self, post: Post, piece: int) -> str | None:
        """The other robot because of which this one may not have a piece."""
        for name in self.taken[post.body].get(piece, ()):
            if name != post.robot_id:
                return name
        return None

    # -- plans

    def rest_of(self, post: Post, order: Order) -> tuple[int, ...]:
        """The way from where its ground ends to its target."""
        plan = self.plans.get(post.robot_id)
        if plan is None or plan.target != order.target or plan.after != post.stand:
            found = shortest(self.ground, self.board.state.routes, post.stand, order.target)
            plan = self.plans[post.robot_id] = Plan(order.target, post.stand, found or ())
        return plan.rest

    def plan(self, post: Post, order: Order, rest: Sequence[int], stops_at: int | None = None) -> None:
        self.plans[post.robot_id] = Plan(order.target, post.stand, tuple(rest), stops_at)

    def coming(self, post: Post) -> set[int]:
        """Every piece that the robot has or means to have."""
        rest = self.rest_of(post, post.order) if post.order is not None and not post.order.ends else ()
        return post.held | set(self.ground.pieces_of((post.stand, *rest)))

    def clash(self, post: Post, pieces: set[int] | frozenset[int], other: Post) -> bool:
        """Whether something that the other robot means to have clashes with these pieces of this one."""
        theirs = self.coming(other)
        return any(not theirs.isdisjoint(self.ground.clashes(piece, post.body, other.body)) for piece in pieces)

    # -- granting

    def extend(self, post: Post) -> None:
        """Grants what can be granted to a robot that has an order; notes for whom it waits where that is nothing."""
        order = post.order
        assert order is not None
        rest = self.rest_of(post, order)
        ahead_m = self._ahead(post)
        enough_m = self._enough(post.robot_id)
        if not rest or ahead_m >= enough_m:
            return
        good, wait = self._walk(post, rest, ahead_m, enough_m)
        if good:
            self._grant(post, order, rest, good)
        elif wait is not None and post.waits:
            self.waits[post.robot_id] = wait
            self._claim(post, rest)

    def _ahead(self, post: Post) -> float:
        if post.following is None and post.node == post.stand:
            return 0.0
        nodes = post.way[post.at :] or [post.node, post.stand]
        steps = [self.ground.step(one, two) for one, two in pairwise(nodes)]
        first = 1 if post.following is not None else 0
        return sum(step.length_m for step in steps[first:] if step is not None)

    def _enough(self, robot_id: str) -> float:
        settings, spec = self.board.settings, self.board.state.robot_specs[robot_id]
        return spec.speed_mps * (AHEAD_S + 2 * settings.tick_s) + spec.length_m

    def _walk(self, post: Post, rest: tuple[int, ...], ahead_m: float, enough_m: float) -> tuple[int, Wait | None]:
        """How many nodes of the rest may be granted, and what stopped it there."""
        good, last = 0, post.stand
        stops_at = self.plans[post.robot_id].stops_at
        undecided = False
        for number, node in enumerate(rest[:MOST_STEPS], 1):
            step = self.ground.step(last, node)
            if step is None:
                return good, None
            wait = self._in_the_way(post, step.edge) or self._in_the_way(post, node) or self._goes_first(post, last)
            if wait is not None:
                return good, wait
            allowed = self.clearing.allows(post.robot_id, node)
            undecided = undecided or allowed is None
            ahead_m += step.length_m
            last = node
            if allowed:
                good = number
                if ahead_m >= enough_m or node == stops_at:
                    return good, None
        return good, None if undecided or good else self._shut_in(post, rest)

    def _in_the_way(self, post: Post, piece: int) -> Wait | None:
        owner = self.owner(post, piece)
        if owner is not None:
            return Wait(owner, piece)
        # Who makes room for others is not kept from it.
        for name, claimed in self.claims if self.board.robot(post.robot_id).yields_to is None else ():
            if piece in claimed and post.robot_id not in self.chain(name):
                return Wait(name, piece, "has waited longer for")
        return None

    def _goes_first(self, post: Post, node: int) -> Wait | None:
        """The robot that this one has stepped aside for, while that has still to come by."""
        plan, name = self.plans[post.robot_id], self.board.robot(post.robot_id).yields_to
        if name is None or name not in self.posts or node != post.stand:
            return None
        if plan.stops_at is not None and plan.stops_at in plan.rest:
            return None  # It is still on its way to where it steps aside.
        other = self.posts[name]
        if other.order is None or other.order.ends or name in self.troubles or self._stands_in_way(post, name):
            return None
        ahead = set(self.ground.pieces_of((post.stand, *plan.rest[:MOST_STEPS]))) - {post.stand}
        return Wait(name, None, "goes first") if self.clash(post, ahead, other) else None

    def _stands_in_way(self, post: Post, name: str) -> bool:
        """Whether the other one waits, itself or through others, for this one to leave where it stands; or lets it by
        on purpose, so that it can."""
        if self.board.robot(name).yields_to == post.robot_id and self.clash(post, {post.stand}, self.posts[name]):
            return True
        waiting = (one for one in (name, *self.chain(name)) if self.waited_for(one) == post.robot_id)
        return any(self.clash(post, {post.stand}, self.posts[one]) for one in waiting)

    def _shut_in(self, post: Post, rest: tuple[int, ...]) -> Wait | None:
        """For whom a robot waits that finds no node ahead where it could stand without shutting somebody in."""
        for piece in self.ground.pieces_of((post.stand, *rest)):
            owner = self.owner(post, piece) or next(
                (
                    name
                    for name, other in self.posts.items()
                    if name != post.robot_id and piece in self.ground.clashes(other.stand, other.body, post.body)
                ),
                None,
            )
            if owner is not None:
                return Wait(owner, piece, "is in its way on")
        return None if self.clearing.harmed is None else Wait(self.clearing.harmed, None, "could not get out any more")

    def _claim(self, post: Post, rest: tuple[int, ...]) -> None:
        since = self.board.robot(post.robot_id).waits_since_ts_ms
        if since is not None and self.board.now - since >= CLAIM_MS and post.robot_id not in self.troubles:
            pieces = self.ground.pieces_of((post.stand, *rest[:3]))
            clashing = (self.ground.clashes(piece, post.body, body) for piece in pieces for body in self._bodies())
            self.claims.append((post.robot_id, frozenset().union(*clashing)))

    def _bodies(self) -> range:
        return range(len(self.ground.bodies))

    def chain(self, name: str) -> list[str]:
        """Those that a robot waits for: the one in its way, the one in that one's way, and so on."""
        found: list[str] = []
        following = self.waited_for(name)
        while following is not None and following not in found:
            found.append(following)
            following = self.waited_for(following)
        return found

    def waited_for(self, name: str) -> str | None:
        wait = self.waits.get(name)
        if wait is not None:
            return wait.robot_id
        return None if name in self.granted else self.board.robot(name).waits_for

    def _grant(self, post: Post, order: Order, rest: tuple[int, ...], many: int) -> None:
        nodes = rest[:many]
        self.granted[post.robot_id] = nodes
        plan = self.plans[post.robot_id]
        stops_at = None if plan.stops_at in nodes else plan.stops_at
        if plan.stops_at is None:
            self.done_yielding.add(post.robot_id)
        self._take(post, set(self.ground.pieces_of((post.stand, *nodes))) - post.held)
        self.plans[post.robot_id] = Plan(order.target, nodes[-1], rest[many:], stops_at)

    # -- making room

    def count_aside(self, post: Post) -> None:
        """Notes that room was made on this robot's way once more."""
        if post.order is not None:
            self.asides[post.robot_id] = Asides(post.order.target, self._times_aside(post) + 1)

    def makes_no_headway(self, post: Post) -> bool:
        """Whether room has been made on its way more often than it should take with so many robots."""
        return self._times_aside(post) >= ASIDES + 2 * len(self.posts)

    def _times_aside(self, post: Post) -> int:
        known = self.asides.get(post.robot_id)
        return known.times if known and post.order is not None and known.target == post.order.target else 0

    # -- what is remembered

    def remembered(self, stood: dict[str, Stood], **changes: object) -> TrafficMemory:
        plans = {name: plan for name, plan in self.plans.items() if self.posts[name].order is not None}
        kept = {"clearing": self.clearing, "reached": self.reached, "asides": self.asides}
        return self.memory.with_plans(plans=plans, stood=stood, **kept, **changes)
