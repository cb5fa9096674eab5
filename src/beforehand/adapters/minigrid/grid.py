"""The grid of a mission as it is now: where the body stands, what lies where and what everything is called.

A thing is called by its colour and kind; where there are several alike they are numbered in the order of their rows.
A name stays with its thing. Every step is kept, so that the same steps lead to the same grid again.
"""

from collections.abc import Iterator
from typing import Any

from beforehand.adapters.minigrid.missions import open_mission

Cell = tuple[int, int]
LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, LOOK = range(7)
"""The steps, by MiniGrid's own numbers. LOOK is its `done`: nothing moves, and the mission is judged."""
AHEAD: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""One cell further, for each of the four directions."""
KINDS = ("ball", "box", "door", "key")


class Grid:
    def __init__(self, mission: str, seed: int, steps: str = "") -> None:
        self.mission, self.seed = mission, seed
        self.env = open_mission(mission, seed)
        self.steps: list[int] = []
        self.is_over = False
        self.is_reached = False
        self._names: dict[int, str] = {}
        self._named: list[Any] = []  # keeps what has a name, so that no other thing gets its number in memory
        self._name_first()
        for step in steps:
            self.step(int(step))

    # -- what there is ---------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The mission in words."""
        return str(self.env.mission)

    @property
    def at(self) -> Cell:
        x, y = self.env.agent_pos
        return (int(x), int(y))

    @property
    def direction(self) -> int:
        return int(self.env.agent_dir)

    @property
    def front(self) -> Cell:
        return ahead(self.at, self.direction)

    @property
    def held(self) -> str | None:
        """The name of what the hand holds."""
        return None if self.env.carrying is None else self.name_of(self.env.carrying)

    def inside(self, cell: Cell) -> bool:
        return bool(0 <= cell[0] < self.env.width and 0 <= cell[1] < self.env.height)

    def content(self, cell: Cell) -> Any:
        """What lies in a cell, as MiniGrid has it; None where it is empty."""
        return self.env.grid.get(*cell)

    def is_free(self, cell: Cell) -> bool:
        """Whether a body can step there."""
        if not self.inside(cell):
            return False
        content = self.content(cell)
        return content is None or bool(content.can_overlap() and content.type != "lava")

    def cells(self) -> Iterator[Cell]:
        """Every cell, row by row."""
        for y in range(self.env.height):
            for x in range(self.env.width):
                yield (x, y)

    def places(self) -> dict[str, Cell]:
        """Where each thing lies, by name; what the hand holds is not among them."""
        found = {}
        for cell in self.cells():
            content = self.content(cell)
            if content is not None and content.type in KINDS:
                found[self.name_of(content)] = cell
        return found

    def things(self) -> dict[str, Any]:
        """Every thing by name, what the hand holds first."""
        held = {} if self.env.carrying is None else {self.name_of(self.env.carrying): self.env.carrying}
        return held | {name: self.content(cell) for name, cell in self.places().items()}

    # -- names -----------------------------------------------------------------------------------------------------

    def name_of(self, thing: Any) -> str:
        known = self._names.get(id(thing))
        return known if known is not None else self._name(thing, first=False)

    def _name_first(self) -> None:
        found = [] if self.env.carrying is None else [self.env.carrying]
        found += [content for cell in self.cells() if (content := self.content(cell)) is not None]
        things = [content for content in found if content.type in KINDS]
        kinds = [_kind(thing) for thing in things]
        for thing in things:
            self._name(thing, first=kinds.count(_kind(thing)) > 1)

    def _name(self, thing: Any, *, first: bool) -> str:
        """Give a thing its name; `first` is for one of several alike, which are numbered from the first on."""
        kind, taken = _kind(thing), set(self._names.values())
        number = next(
            n for n in range(1, len(taken) + 2) if f"{kind} {n}" not in taken and (n > 1 or kind not in taken)
        )
        name = f"{kind} {number}" if first or number > 1 else kind
        self._names[id(thing)] = name
        self._named.append(thing)
        return name

    # -- what happens ----------------------------------------------------------------------------------------------

    def step(self, step: int) -> None:
        """One step of the mission; the first that ends it is judged, and what comes later changes nothing in that."""
        _, reward, terminated, truncated, _ = self.env.step(self.env.actions(step))
        self.steps.append(step)
        if step == TOGGLE:
            self.places()  # what was in a box gets its name when it is first seen
        if not self.is_over and (terminated or truncated):
            self.is_over = True
            self.is_reached = bool(terminated and reward > 0)


def ahead(cell: Cell, direction: int) -> Cell:
    dx, dy = AHEAD[direction]
    return (cell[0] + dx, cell[1] + dy)


def neighbours(cell: Cell) -> Iterator[Cell]:
    return (ahead(cell, direction) for direction in range(4))


def _kind(thing: Any) -> str:
    return f"{thing.color} {thing.type}"
