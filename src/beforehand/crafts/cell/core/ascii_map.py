"""The cell as characters, for terminals: every position where it lies, the allowed moves between, the way taken.

H home   s safe   o work   T stand   + other   @ the robot   . allowed move   # the way
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from beforehand.model.cell import CellScene, Position

SIGNS = {"home": "H", "safe": "s", "work": "o", "stand": "T", None: "+"}
LABELLED = 24
"""Up to this many positions every one has its name beside it; above, only those on the way."""


def ascii_map(
    scene: CellScene, path: Sequence[str] = (), *, robot: str | None = None, width: int = 76, height: int = 22
) -> str:
    """The map with a way drawn on it; a plain list of places where the scene has no coordinates."""
    placed = {place.name: place for place in scene.positions if place.x is not None and place.y is not None}
    if not placed:
        way = " -> ".join(path) or ", ".join(sorted(place.name for place in scene.positions))
        return f"{scene.name}: {way}"
    canvas = _Canvas(placed.values(), width, height)
    on_way = {pair for a, b in pairwise(path) for pair in ((a, b), (b, a))}
    for taken in (False, True):
        for move in scene.moves:
            if ((move.source, move.target) in on_way) == taken and {move.source, move.target} <= placed.keys():
                canvas.line(placed[move.source], placed[move.target], "#" if taken else ".")
    for place in placed.values():
        canvas.sign(place, "@" if place.name == robot else SIGNS[place.role])
    named = (
        placed.values() if len(placed) <= LABELLED else [placed[name] for name in dict.fromkeys(path) if name in placed]
    )
    for place in sorted(named, key=lambda one: (one.name not in path, one.name)):
        canvas.label(place)
    legend = "H home  s safe  o work  T stand  . allowed move" + ("  # the way" if path else "")
    return "\n".join([scene.name, *canvas.rows(), legend + ("  @ robot" if robot else "")])


class _Canvas:
    def __init__(self, places: Iterable[Position], width: int, height: int) -> None:
        points = [(float(place.x or 0), float(place.y or 0)) for place in places]
        self.left, self.top = min(x for x, _ in points), max(y for _, y in points)
        self.wide = max(max(x for x, _ in points) - self.left, 1e-9)
        self.high = max(self.top - min(y for _, y in points), 1e-9)
        self.width, self.height = max(width, 20), max(height, 5)
        self.inner = max(self.width - 14, 6)
        """Names stand to the right of their sign, so the last columns are kept for them."""
        self.cells = [[" "] * self.width for _ in range(self.height)]

    def at(self, place: Position) -> tuple[int, int]:
        column = round((float(place.x or 0) - self.left) / self.wide * (self.inner - 1))
        row = round((self.top - float(place.y or 0)) / self.high * (self.height - 1))
        return row, column

    def line(self, start: Position, end: Position, sign: str) -> None:
        (row, column), (last_row, last_column) = self.at(start), self.at(end)
        steps = max(abs(last_row - row), abs(last_column - column), 1)
        for step in range(steps + 1):
            here = round(row + (last_row - row) * step / steps), round(column + (last_column - column) * step / steps)
            self.cells[here[0]][here[1]] = sign

    def sign(self, place: Position, sign: str) -> None:
        row, column = self.at(place)
        self.cells[row][column] = sign

    def label(self, place: Position) -> None:
        """The name beside its sign, as far as no sign or other name stands there."""
        row, column = self.at(place)
        start, end = column + 2, column + 2 + len(place.name)
        if end <= self.width and all(cell in " .#" for cell in self.cells[row][column + 1 : end + 1]):
            self.cells[row][start:end] = list(place.name)
        elif column >= len(place.name) + 1:
            start, end = column - 1 - len(place.name), column - 1
            if all(cell in " .#" for cell in self.cells[row][max(start - 1, 0) : column]):
                self.cells[row][start:end] = list(place.name)

    def rows(self) -> list[str]:
        return ["".join(row).rstrip() for row in self.cells]


def draw_preview(scene: CellScene, shown: Mapping[str, Any]) -> str:
    """The way of a preview on the map, from where the robot stands to where it ends."""
    moves = [row for row in shown["timeline"] if row.get("action") == "move"]
    path = [*(row["from"] for row in moves[:1]), *(row["position"] for row in moves)]
    return ascii_map(scene, path, robot=shown["end"].get("current_position"))
