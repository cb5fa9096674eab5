"""A cell drawn as SVG: positions and allowed moves, where the robot stands, and the way a plan takes.

Everything is placed here, labels included, so that the picture is whole before any script runs.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from beforehand.server.page.html import Html, el

WIDTH = 480.0
FLATTEST, TALLEST = 0.5, 0.75
SIDE, TOP = 54.0, 36.0
LETTER, LINE = 7.2, 13.0
LONG = 14
"""Names with more letters are written in two lines."""
REACH = 17.0
"""How far a label stays from the middle of its position."""
COVERED = 50.0
"""What a label pays for each thing it covers."""

Point = tuple[float, float]
Box = tuple[float, float, float, float]
Line = tuple[Point, Point]
Hop = tuple[str, str]
_RANK = {"ahead": 0, "done": 1, "now": 2}
_ROLES = {"home": "Home", "safe": "Safe", "work": "Work", "stand": "Tool stand"}


@dataclass(slots=True)
class Way:
    """What a plan does in the cell: each hop between positions and each stop, with how far it has come."""

    hops: dict[Hop, str] = field(default_factory=dict)
    stops: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def hop(self, start: str, end: str, state: str) -> None:
        hop = (start, end) if start <= end else (end, start)
        if _RANK[state] >= _RANK[self.hops.get(hop, "ahead")]:
            self.hops[hop] = state

    def stop(self, position: str, says: str, state: str) -> None:
        self.stops.setdefault(position, []).append((says, state))


def cell_map(document: Mapping[str, Any], standing: str | None, tool: str, way: Way) -> Html:
    roles = {place["name"]: place.get("role") or "work" for place in document["positions"]}
    spots, height = layout(document)
    moves = [(move["from"], move["to"], bool(move.get("one_way"))) for move in document["moves"]]
    lines = tuple((spots[start], spots[end]) for start, end, _ in moves)
    strong = frozenset(name for name in spots if name == standing or name in way.stops)
    labels = _kept_labels(tuple(spots.items()), lines, height, strong)
    return el(
        "svg",
        {
            "class": "cell-map",
            "viewBox": f"0 0 {WIDTH:g} {height:g}",
            "role": "img",
            "aria-label": _told(document["name"], standing, tool),
        },
        [_move(spots, move, way) for move in moves],
        [_position(name, spots[name], roles[name], way, name == standing) for name in spots],
        [_label(name, spots[name], box, name in strong) for name, box in labels.items()],
        _marker(spots[standing], tool) if standing in spots else None,
    )


def _told(name: str, standing: str | None, tool: str) -> str:
    where = f"the robot stands at {standing}" if standing else "the position of the robot is not known"
    return f"Map of {name}: {where}, holding {'nothing' if tool == 'none' else tool}"


# -- where things are ------------------------------------------------------------------------------------------------


def layout(document: Mapping[str, Any]) -> tuple[dict[str, Point], float]:
    """Every position's place in the picture, and the picture's height."""
    given = {place["name"]: (place.get("x"), place.get("y")) for place in document["positions"]}
    known = {name: (float(x), float(y)) for name, (x, y) in given.items() if x is not None and y is not None}
    if len(known) < len(given) or len(set(known.values())) < len(known):
        known = _layers(list(given), document["moves"])
    xs, ys = [x for x, _ in known.values()] or [0.0], [y for _, y in known.values()] or [0.0]
    wide, high = max(xs) - min(xs) or 1.0, max(ys) - min(ys) or 1.0
    height = min(WIDTH * TALLEST, max(WIDTH * FLATTEST, (WIDTH - 2 * SIDE) * high / wide + 2 * TOP))
    scale_x, scale_y = (WIDTH - 2 * SIDE) / wide, (height - 2 * TOP) / high
    spots = {
        name: (round(SIDE + (x - min(xs)) * scale_x, 1), round(height - TOP - (y - min(ys)) * scale_y, 1))
        for name, (x, y) in known.items()
    }
    return spots, round(height, 1)


def _layers(names: list[str], moves: Iterable[Mapping[str, Any]]) -> dict[str, Point]:
    """Positions without coordinates: in columns by their distance from the first one."""
    near: dict[str, list[str]] = {name: [] for name in names}
    for move in moves:
        near[move["from"]].append(move["to"])
        near[move["to"]].append(move["from"])
    depth: dict[str, int] = {}
    for first in names:
        queue = deque([first] if first not in depth else [])
        depth.setdefault(first, 0)
        while queue:
            here = queue.popleft()
            for other in sorted(near[here]):
                if other not in depth:
                    depth[other] = depth[here] + 1
                    queue.append(other)
    columns: dict[int, list[str]] = {}
    for name in names:
        columns.setdefault(depth[name], []).append(name)
    return {
        name: (float(column), -(place - (len(rows) - 1) / 2))
        for column, rows in columns.items()
        for place, name in enumerate(rows)
    }


@lru_cache(maxsize=64)
def _kept_labels(
    spots: tuple[tuple[str, Point], ...], lines: tuple[Line, ...], height: float, strong: frozenset[str]
) -> dict[str, Box]:
    """The same picture is asked for many times a minute."""
    return place_labels(dict(spots), lines, height, strong)


def place_labels(
    spots: Mapping[str, Point], lines: Sequence[Line], height: float, strong: Set[str] = frozenset()
) -> dict[str, Box]:
    """A box for every label that has room: of a few places round its position, the one that covers least.

    In a crowd a label would only cover others, so it is left out; the strong ones are always there, and placed first.
    """
    taken: list[Box] = [(x - 8, y - 8, x + 8, y + 8) for x, y in spots.values()]
    placed: dict[str, Box] = {}
    for name in sorted(spots, key=lambda name: name not in strong):
        rows = in_lines(name)
        choices = list(_around(spots[name], max(map(len, rows)) * LETTER, len(rows) * LINE))
        costs = [_cost(choice, taken, lines, height) for choice in choices]
        best = costs.index(min(costs))
        if name in strong or costs[best] < COVERED:
            placed[name] = choices[best]
            taken.append(choices[best])
    return placed


def in_lines(name: str) -> list[str]:
    """A long name cut in two where a part of it ends, as near to its middle as can be."""
    cuts = [at + 1 for at, letter in enumerate(name[:-1]) if letter in "_- "]
    if len(name) <= LONG or not cuts:
        return [name]
    cut = min(cuts, key=lambda at: abs(at - len(name) / 2))
    return [name[:cut], name[cut:]]


def _around(spot: Point, width: float, height: float) -> Iterable[Box]:
    x, y = spot
    half = height / 2
    yield x + REACH, y - half, x + REACH + width, y + half
    yield x - REACH - width, y - half, x - REACH, y + half
    for down in (REACH + half, -REACH - half):
        yield x - width / 2, y + down - half, x + width / 2, y + down + half
    for down in (half + 6, -half - 6):
        yield x + 12, y + down - half, x + 12 + width, y + down + half
        yield x - 12 - width, y + down - half, x - 12, y + down + half


def _cost(box: Box, taken: list[Box], lines: Sequence[Line], height: float) -> float:
    left, top, right, bottom = box
    out = max(0.0, 4 - left) + max(0.0, right + 4 - WIDTH) + max(0.0, 2 - top) + max(0.0, bottom + 2 - height)
    covered = sum(1 for other in taken if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom)
    return out * 20 + covered * COVERED + sum(4 for line in lines if _crosses(box, line))


def _crosses(box: Box, line: Line) -> bool:
    """Whether some point of the line, looked at every few units, lies in the box."""
    (x1, y1), (x2, y2) = line
    left, top, right, bottom = box
    if max(x1, x2) < left or min(x1, x2) > right or max(y1, y2) < top or min(y1, y2) > bottom:
        return False
    looks = max(1, int(max(abs(x2 - x1), abs(y2 - y1)) / 4))
    points = ((x1 + (x2 - x1) * at / looks, y1 + (y2 - y1) * at / looks) for at in range(looks + 1))
    return any(left <= x <= right and top <= y <= bottom for x, y in points)


# -- how things look -------------------------------------------------------------------------------------------------


def _move(spots: Mapping[str, Point], move: tuple[str, str, bool], way: Way) -> Html:
    start, end, one_way = move
    state = way.hops.get((start, end) if start <= end else (end, start))
    (x1, y1), (x2, y2) = spots[start], spots[end]
    line = el("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": f"move {state or ''}".strip()})
    if not one_way:
        return line
    return Html(line + el("path", {"d": _arrow(spots[start], spots[end]), "class": "one-way"}))


def _arrow(start: Point, end: Point) -> str:
    """The head of an arrow in the middle of a line."""
    (x1, y1), (x2, y2) = start, end
    x, y, length = (x1 + x2) / 2, (y1 + y2) / 2, math.hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length * 6, (y2 - y1) / length * 6
    tip, left, right = (x + ux, y + uy), (x - ux - uy, y - uy + ux), (x - ux + uy, y - uy - ux)
    return "M" + "L".join(f"{at[0]:.1f} {at[1]:.1f}" for at in (left, tip, right)) + "Z"


def _position(name: str, spot: Point, role: str, way: Way, here: bool) -> Html:
    stops = way.stops.get(name, [])
    state = max((state for _, state in stops), key=_RANK.__getitem__, default="")
    told = f"{name}: {_ROLES.get(role, role)}" + "".join(f"; {says}" for says, _ in stops)
    return el(
        "g",
        {
            "class": f"position {role} {state}{' here' if here else ''}".replace("  ", " ").strip(),
            "data-position": name,
        },
        el("title", {}, told),
        _shape(role, spot),
    )


def _shape(role: str, spot: Point) -> Html:
    x, y = spot
    if role == "work":
        return el("rect", {"x": x - 6.5, "y": y - 6.5, "width": 13, "height": 13, "rx": 2})
    if role == "stand":
        return el("path", {"d": f"M{x} {y - 8.5}L{x + 8.5} {y}L{x} {y + 8.5}L{x - 8.5} {y}Z"})
    if role == "home":
        return el("path", {"d": f"M{x} {y - 9}L{x + 8} {y - 1.5}V{y + 7}H{x - 8}V{y - 1.5}Z"})
    return el("circle", {"cx": x, "cy": y, "r": 6})


def _label(name: str, spot: Point, box: Box, strong: bool) -> Html:
    """The name, written away from its position whatever the width of the letters."""
    side = "start" if box[0] > spot[0] else "end" if box[2] < spot[0] else "middle"
    x = round({"start": box[0], "end": box[2], "middle": (box[0] + box[2]) / 2}[side], 1)
    rows = in_lines(name)
    parts = [el("tspan", {"x": x, "y": round(box[1] + LINE * (at + 1) - 3, 1)}, row) for at, row in enumerate(rows)]
    return el("text", {"class": f"{side} strong" if strong else side}, parts)


def _marker(spot: Point, tool: str) -> Html:
    x, y = spot
    held = None
    if tool != "none":
        held = el("path", {"class": "held", "d": f"M{x + 7} {y - 13}h8v8h-8z"}, el("title", {}, f"holds {tool}"))
    return el(
        "g",
        {"class": "robot-here", "data-x": x, "data-y": y},
        el("circle", {"class": "halo", "cx": x, "cy": y, "r": 14}),
        el("circle", {"class": "core", "cx": x, "cy": y, "r": 4.5}),
        held,
    )
