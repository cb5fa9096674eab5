"""Whether everybody could still get out of the way: the check that keeps robots from shutting each other in.

A robot counts as standing at the end of the ground it was granted, since it can always go that far. Robots are cleared
one after the other: each has to find a way to a free resting place past those that still stand. Because a robot at a
resting place is in nobody's way, clearing one never hinders the next, so the order need not be searched for. Ground is
granted only where nobody who could be cleared before no longer can be.
"""

from collections.abc import Collection, Mapping
from copy import copy
from typing import NamedTuple

from beforehand.crafts.fleet.core.traffic.ground import Ground

CHECKS = 40
"""How often in a tick everybody is looked at anew, so that a tick stays short; who is not looked at waits a tick."""


class Escape(NamedTuple):
    """How a robot gets out of the way."""

    place: int
    pieces: frozenset[int]
    """What it drives over."""


class Clearing:
    """Who stands where, and how each who can be cleared is. Robots that cannot move just stand there."""

    def __init__(
        self,
        ground: Ground,
        resting: frozenset[int],
        stands: Mapping[str, int],
        stuck: Collection[str],
        escapes: Mapping[str, Escape] | None = None,
    ) -> None:
        """`escapes` are those of a while ago; where they are still open, nothing is searched for."""
        self.ground = ground
        self.resting = resting
        self.stands = dict(stands)
        self.stuck = frozenset(stuck)
        self.escapes = dict(escapes or {})
        self.checks = CHECKS
        self.harmed: str | None = None
        """Who could no longer be cleared by what was last not allowed."""
        self._covers: dict[tuple[int, int], int] = {}
        """How many robots cover a piece, by the body of who asks and the piece."""
        for robot_id, node in self.stands.items():
            self._cover(robot_id, node, 1)
        self._clear_all()

    def later(self, stands: Mapping[str, int], stuck: Collection[str]) -> "Clearing":
        """The same a while later, for changing; worked out anew only where somebody stands elsewhere than thought."""
        if stands != self.stands or self.stuck != stuck:
            return Clearing(self.ground, self.resting, stands, stuck, self.escapes)
        same = copy(self)
        same.stands, same.escapes, same._covers = dict(self.stands), dict(self.escapes), dict(self._covers)
        same.checks = CHECKS
        return same

    def allows(self, robot_id: str, node: int) -> bool | None:
        """Whether the robot may come to stand there; if so, it does from now on. None: asked too often for now."""
        before = self.stands[robot_id]
        self._move(robot_id, before, node)
        escape = self._escape(robot_id, {one.place for name, one in self.escapes.items() if name != robot_id})
        if escape is not None:
            self.escapes[robot_id] = escape  # It can be cleared first, and then nothing has changed for the others.
            return True
        if robot_id not in self.escapes and self._harms_nobody(robot_id, node):
            return True
        if self.checks == 0:
            self._move(robot_id, node, before)
            return None
        self.checks -= 1
        kept = dict(self.escapes)
        self._clear_all()
        if kept.keys() <= self.escapes.keys():
            return True
        self.harmed = next((name for name in kept if name not in self.escapes and name != robot_id), None)
        self.escapes = kept
        self._move(robot_id, node, before)
        return False

    def _harms_nobody(self, robot_id: str, node: int) -> bool:
        """Whether a robot that cannot be cleared anyway stands in the way of nobody's escape."""
        mine = self.ground.body_of[robot_id]
        for name, escape in self.escapes.items():
            if not escape.pieces.isdisjoint(self.ground.clashes(node, mine, self.ground.body_of[name])):
                return False
        return True

    def _move(self, robot_id: str, before: int, node: int) -> None:
        self._cover(robot_id, before, -1)
        self._cover(robot_id, node, 1)
        self.stands[robot_id] = node

    def _cover(self, robot_id: str, node: int, by: int) -> None:
        mine, covers = self.ground.body_of[robot_id], self._covers
        for body in range(len(self.ground.bodies)):
            for piece in self.ground.clashes(node, mine, body):
                covers[body, piece] = covers.get((body, piece), 0) + by

    def _clear_all(self) -> None:
        """Clears robot after robot for as long as another one can be."""
        old, self.escapes = self.escapes, {}
        truly = dict(self.stands)
        left = [name for name in self.stands if name not in self.stuck]
        left.sort(key=lambda name: (self.stands[name] not in self.resting, name not in old))
        while left:
            still = [name for name in left if not self._clear(name, old.get(name))]
            if len(still) == len(left):
                break
            left = still
        for name in self.escapes:
            self._move(name, self.stands[name], truly[name])

    def _clear(self, name: str, known: Escape | None) -> bool:
        if known is not None and self._still_open(name, known):
            escape: Escape | None = known
        else:
            escape = self._escape(name, ())
        if escape is None:
            return False
        self.escapes[name] = escape
        self._move(name, self.stands[name], escape.place)
        return True

    def _still_open(self, name: str, escape: Escape) -> bool:
        body, own = self._own(name)
        if self.stands[name] not in escape.pieces:
            return False
        return all(self._covers.get((body, piece), 0) <= (piece in own) for piece in escape.pieces)

    def _own(self, name: str) -> tuple[int, frozenset[int]]:
        body = self.ground.body_of[name]
        return body, self.ground.clashes(self.stands[name], body, body)

    def _escape(self, name: str, claimed: Collection[int]) -> Escape | None:
        """The way to the nearest resting place that is free, by the number of nodes."""
        start = self.stands[name]
        if start in self.resting:
            return None if start in claimed else Escape(start, frozenset({start}))
        body, own = self._own(name)
        covers, out = self._covers, self.ground.out
        came_by: dict[int, tuple[int, int]] = {start: (-1, -1)}
        todo = [start]
        while todo:
            ahead: list[int] = []
            for node in todo:
                for step in out[node]:
                    there = step.node
                    if there in came_by:
                        continue
                    if covers.get((body, there), 0) > (there in own):
                        continue
                    if covers.get((body, step.edge), 0) > (step.edge in own):
                        continue
                    came_by[there] = (node, step.edge)
                    if there in self.resting and there not in claimed:
                        return Escape(there, _pieces_back(there, came_by))
                    ahead.append(there)
            todo = ahead
        return None


def _pieces_back(node: int, came_by: Mapping[int, tuple[int, int]]) -> frozenset[int]:
    pieces = []
    while node >= 0:
        before, edge = came_by[node]
        pieces += [node] if before < 0 else [node, edge]
        node = before
    return frozenset(pieces)
