"""A script that finishes BabyAI missions by commands alone: it looks at the body, and says what to command next.

The mission is taken apart into its instructions, and the first that is not yet done is worked on: clear the way, fetch
what is needed, do it. What to do follows from the grid as it is, so the script remembers nothing.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from beforehand.adapters.minigrid.body import MiniGridBody
from beforehand.adapters.minigrid.grid import Cell, Grid
from beforehand.adapters.minigrid.ways import obstacles, way

WAIT = "skip(60, wake_on=change)"


def next_command(body: MiniGridBody) -> str:
    """The next command; `end()` when the mission is over, or nothing more can be done."""
    if body.grid.is_over:
        return "end()"
    if body.actions:
        action = body.actions[0]
        return WAIT if action.stage in ("moving", "acting") else f'stop("{action.text}")'
    try:
        return f'start("{next(_Errand(body.grid).actions())}")'
    except (_Hopeless, StopIteration):
        return "end()"


class _Hopeless(Exception):  # noqa: N818 - an answer on its way, not an error
    """The mission cannot be done: the only key to a room lies in that room."""


def _pending(instruction: Any) -> Any:
    """The single instruction to work on now."""
    order = {"BeforeInstr": ("a", "b"), "AfterInstr": ("b", "a"), "AndInstr": ("a", "b")}.get(
        type(instruction).__name__
    )
    if order is None:
        return instruction
    first, second = order
    part = second if getattr(instruction, f"{first}_done") == "success" else first
    return _pending(getattr(instruction, f"instr_{part}"))


class _Errand:
    """What to do now for the instruction that is to be done next; the first action that applies is the one."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.places = grid.places()
        self.things = grid.things()
        self.instruction = _pending(grid.env.instrs)
        self.unlocking: set[str] = set()

    def actions(self) -> Iterator[str]:
        kind = type(self.instruction).__name__
        if kind == "GoToInstr":
            yield from self._go(self._nearest(self.instruction.desc.obj_set))
        elif kind == "PickupInstr":
            yield from self._pick_up(self._nearest(self.instruction.desc.obj_set))
        elif kind == "OpenInstr":
            yield from self._open(self._nearest(self.instruction.desc.obj_set))
        elif kind == "PutNextInstr":
            yield from self._put_next()

    # -- the instructions ------------------------------------------------------------------------------------------

    def _go(self, thing: str) -> Iterator[str]:
        if thing == self.grid.held:
            yield from self._hand_empty()
        yield from self._cleared(self.grid.at, thing)
        yield f"walking to {thing}"

    def _pick_up(self, thing: str) -> Iterator[str]:
        if thing != self.grid.held:
            yield from self._cleared(self.grid.at, thing)
        yield from self._hand_empty()
        yield f"taking {thing}"

    def _open(self, door: str) -> Iterator[str]:
        thing = self.things[door]
        if thing.is_locked:
            yield from self._unlocked(door)
        yield from self._cleared(self.grid.at, door)
        yield f"closing {door}" if thing.is_open else f"opening {door}"

    def _put_next(self) -> Iterator[str]:
        move, fixed = self.instruction.desc_move.obj_set, self.instruction.desc_fixed.obj_set
        held = self.grid.env.carrying
        if any(held is thing for thing in move):
            other = self._nearest([thing for thing in fixed if thing is not held])
            yield from self._cleared(self.grid.at, other)
            yield f"placing {self.grid.held} next to {other}"
            return
        thing = self._nearest(move)
        other = self._nearest([other for other in fixed if self.grid.name_of(other) != thing], self.places[thing])
        if other == self.grid.held:
            yield from self._hand_empty()
        yield from self._cleared(self.grid.at, thing)
        yield from self._cleared(self.places[thing], other)
        yield from self._hand_empty()
        yield f"taking {thing}"

    # -- what has to be so first -----------------------------------------------------------------------------------

    def _hand_empty(self) -> Iterator[str]:
        if self.grid.held is not None:
            cell = self._aside()
            yield f"putting down {self.grid.held}" if cell is None else f"placing {self.grid.held} at {cell}"

    def _cleared(self, start: Cell, target: str) -> Iterator[str]:
        """Open and carry away what is in the way from a cell to a thing, the nearest first."""
        goal = self.places[target]
        for met in obstacles(self.grid, start, {goal}, without={start}) or ():
            thing = self.things[met]
            if thing.type == "door" and thing.is_locked:
                yield from self._unlocked(met)
            elif thing.type == "door":
                yield from self._cleared(self.grid.at, met)
                yield f"opening {met}"
            else:
                yield from self._hand_empty()
                yield from self._cleared(self.grid.at, met)
                yield f"taking {met}"

    def _unlocked(self, door: str) -> Iterator[str]:
        if door in self.unlocking:
            raise _Hopeless
        self.unlocking.add(door)
        color = self.things[door].color
        held = self.grid.env.carrying
        if held is None or (held.type, held.color) != ("key", color):
            yield from self._fetched_key(color, door)
        yield from self._cleared(self.grid.at, door)
        yield f"opening {door}"

    def _fetched_key(self, color: str, door: str) -> Iterator[str]:
        keys = [thing for thing in self._all("key") if thing.color == color]
        boxes = [*self._all("box")]
        if not keys and not boxes:
            raise _Hopeless
        if not keys:  # it has to be in a box
            box = self._nearest(boxes)
            yield from self._cleared(self.grid.at, box)
            yield f"opening {box}"
            return
        key = self._nearest(keys)
        yield from self._cleared(self.grid.at, key)
        yield from self._cleared(self.places[key], door)
        yield from self._hand_empty()
        yield f"taking {key}"

    # -- choosing --------------------------------------------------------------------------------------------------

    def _all(self, kind: str) -> Iterator[Any]:
        return (thing for thing in self.things.values() if thing.type == kind)

    def _nearest(self, things: Iterable[Any], start: Cell | None = None) -> str:
        """The thing with the least in the way, then the nearest; what the hand holds last."""
        begin = start or self.grid.at
        return min((self.grid.name_of(thing) for thing in things), key=lambda name: self._effort(begin, name))

    def _effort(self, start: Cell, name: str) -> tuple[int, int, int]:
        """How many locks, how many obstacles, how far."""
        goal = self.places.get(name)
        met = None if goal is None else obstacles(self.grid, start, {goal}, without={start})
        if goal is None or met is None:
            return (1_000, 0, 0)
        locked = sum(self.things[one].type == "door" and self.things[one].is_locked for one in met)
        return (locked, len(met), abs(goal[0] - start[0]) + abs(goal[1] - start[1]))

    def _aside(self) -> Cell | None:
        """An empty cell, as near as possible, where nothing is in the way of anything it was not before."""
        good = (cell for cell in sorted(self.grid.cells(), key=self._distance) if self._is_aside(cell))
        return next((cell for cell in good if self._can_face(cell)), None)

    def _can_face(self, cell: Cell) -> bool:
        return way(self.grid, lambda here, front: front == cell) is not None

    def _distance(self, cell: Cell) -> tuple[int, Cell]:
        return (abs(cell[0] - self.grid.at[0]) + abs(cell[1] - self.grid.at[1]), cell)

    def _is_aside(self, cell: Cell) -> bool:
        """Whether everybody could still walk round it: the free cells about it hang together without it."""
        if self.grid.content(cell) is not None or cell == self.grid.at:
            return False
        ring = [(cell[0] + dx, cell[1] + dy) for dx, dy in _RING]
        free = [self.grid.inside(near) and self._is_way(near) for near in ring]
        gaps = sum(free[at] and not free[at - 1] for at in range(8))
        return gaps <= 1

    def _is_way(self, cell: Cell) -> bool:
        content = self.grid.content(cell)
        return content is None or content.type == "door"


_RING = ((-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))
