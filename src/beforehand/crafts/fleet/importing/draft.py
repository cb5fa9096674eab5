"""A scene in the making: what a foreign map says is put in piece by piece, and what a scene cannot say is noted.

Names that are used twice, ways that lead nowhere and places that no robot could reach are left out with a note, so that
what comes out passes the check of a scene.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from beforehand.app.craft import Imported, Note
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.words import counted

LONGEST_NAME = 200
SHORTEST_M = 0.001
MOST_NOTES = 500
_NO_ENDS = "It does not say which points it leads from and to"


@dataclass(slots=True)
class Draft:
    name: str
    nodes: dict[str, tuple[float, float]] = field(default_factory=dict)
    ways: dict[tuple[str, str], float | None] = field(default_factory=dict)
    """From one node to another, and how many metres where the map says so."""
    sites: dict[str, dict[str, Any]] = field(default_factory=dict)
    robots: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    _tallies: dict[str, list[str]] = field(default_factory=dict)
    _paths: dict[str, str] = field(default_factory=dict)

    # What goes in

    def note(self, path: str, says: str) -> None:
        """Something that could not be carried over as it is."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(Note(path, says))

    def tally(self, says: str, path: str) -> None:
        """The same of many things: told once, with how many and where the first is."""
        self._tallies.setdefault(says, []).append(path)

    def tally_left(self, given: Mapping[str, Any], read: Iterable[str], of: str, path: str) -> None:
        """What a thing says beside what was read of it, and is not empty."""
        for key in [key for key in given if key not in set(read) and given[key] not in (None, "", [], {})]:
            self.tally(f"{str(key)[:60]} of {of} is not carried over", path)

    def add_node(self, name: str, x: Any, y: Any, path: str) -> None:
        place = (number(x), number(y))
        if not is_name(name):
            self.note(path, "It has no name that a scene could use, so it is left out.")
        elif name in self.nodes:
            self.note(path, f"{name} is given twice; the first one is kept.")
        elif place[0] is None or place[1] is None:
            self.note(path, f"{name} has no position in numbers, so it is left out.")
        else:
            self.nodes[name] = (round(place[0], 4), round(place[1], 4))

    def add_way(self, start: str, end: str, length_m: float | None, path: str) -> None:
        missing = [name for name in (start, end) if name not in self.nodes]
        if missing:
            told = f"It leads from {start} to {end}, and there is no {missing[0]}" if start and end else _NO_ENDS
            self.note(path, f"{told}; it is left out.")
        elif start == end:
            self.note(path, f"It leads from {start} to itself and is left out.")
        elif (start, end) in self.ways:
            self.note(path, f"There is a second way from {start} to {end}; the first one is kept.")
        else:
            self.ways[start, end] = self._length(start, end, length_m)

    def _length(self, start: str, end: str, length_m: float | None) -> float | None:
        straight = math.dist(self.nodes[start], self.nodes[end])
        given = length_m if length_m is not None and math.isfinite(length_m) and 0 < length_m <= 1e6 else None
        if given is None:
            return None if straight >= SHORTEST_M else SHORTEST_M
        return None if abs(given - straight) < 0.005 else round(max(given, SHORTEST_M), 3)

    def add_site(self, name: str, kind: str, node: str, path: str, **more: Any) -> None:
        place = more.get("actionNodeId", node)
        taken = next((other for other, site in self.sites.items() if _place(site) == place), None)
        if not is_name(name) or name in self.sites:
            self.note(
                path, f"The place {name[:80] or 'without a name'} cannot be used or is given twice; it is left out."
            )
        elif not {node, place} <= self.nodes.keys():
            self.note(path, f"{name} is at {node}, which is not on the map; it is left out.")
        elif taken is not None:
            self.note(path, f"{name} has the same place of work as {taken}, {place}; it is left out.")
        else:
            self.sites[name] = {"worksiteId": name, "worksiteType": kind, "entryNodeId": node, **more}
            self._paths[name] = path

    def is_place_of_work(self, node: str) -> bool:
        return any(_place(site) == node for site in self.sites.values())

    def add_robot(self, name: str, node: str | None, path: str, **more: Any) -> None:
        if not is_name(name) or name in self.robots:
            self.note(
                path, f"The robot {name[:80] or 'without a name'} cannot be used or is given twice; it is left out."
            )
        elif node is None or node not in self.nodes:
            self.note(path, f"There is no place on the map for the robot {name}; it is left out.")
        else:
            self.robots[name] = {"robotId": name, "nodeId": node, "loadState": "empty", **more}

    # What comes out

    def done(self, kind: str) -> Imported:
        """The scene, checked, and everything that was noted."""
        self._leave_out_unreachable()
        for says, paths in self._tallies.items():
            first = f"; the first is {paths[0]}" if len(paths) > 1 else ""
            self.note(paths[0], f"{says} ({counted(len(paths), 'time')}{first}).")
        if not self.robots:
            self.note("", "The map names no robots: add them to the scene.")
        self.note(
            "", "The map has no streams and says nothing of what lies where: add streams, and set each occupancy."
        )
        document: dict[str, Any] = {
            "kind": "fleet",
            "name": self.name,
            "nodes": [{"id": name, "x": x, "y": y} for name, (x, y) in self.nodes.items()],
            "edges": self._edges(),
            "worksites": list(self.sites.values()),
            "robots": list(self.robots.values()),
            "streams": [],
        }
        if self.settings:
            document["settings"] = self.settings
        read_fleet(document)
        counts = ((self.nodes, "node"), (self.sites, "worksite"), (self.robots, "robot"))
        says = ", ".join(counted(len(things), word) for things, word in counts)
        return Imported(kind, document, tuple(self.notes), says)

    def _edges(self) -> list[dict[str, Any]]:
        edges: list[dict[str, Any]] = []
        for (start, end), length in self.ways.items():
            back = self.ways.get((end, start), -1.0)
            both = back == length
            if both and end < start:
                continue  # Told from the other end.
            edge: dict[str, Any] = {"from": start, "to": end}
            edges.append(edge | ({} if both else {"oneWay": True}) | ({} if length is None else {"lengthM": length}))
        return edges

    def _leave_out_unreachable(self) -> None:
        starts = {str(robot["nodeId"]) for robot in self.robots.values()}
        reached = self._reached(starts) if starts else {node for way in self.ways for node in way}
        if not starts and len(self.nodes) == 1:
            reached = set(self.nodes)
        for name, site in list(self.sites.items()):
            if not {site["entryNodeId"], _place(site)} <= reached:
                who = "no robot can reach it" if starts else "no way leads there"
                self.note(self._paths[name], f"The place {name} is left out: {who}.")
                del self.sites[name]

    def _reached(self, starts: Iterable[str]) -> set[str]:
        ahead: dict[str, list[str]] = {}
        for start, end in self.ways:
            ahead.setdefault(start, []).append(end)
        seen, todo = set(starts), list(starts)
        while todo:
            for node in ahead.get(todo.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
        return seen


def _place(site: Mapping[str, Any]) -> str:
    return str(site.get("actionNodeId", site["entryNodeId"]))


def is_name(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and name == name.strip() and name.isprintable()


def number(value: Any) -> float | None:
    """A finite number of metres, or whatever unit, that a scene can hold; from a text too."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and abs(found) <= 1e7 else None


def bezier_m(points: Iterable[tuple[float, float]], pieces: int = 32) -> float:
    """The length of a cubic Bézier curve through its four control points."""
    a, b, c, d = points
    at = [
        tuple(
            (1 - t) ** 3 * a[axis] + 3 * (1 - t) ** 2 * t * b[axis] + 3 * (1 - t) * t**2 * c[axis] + t**3 * d[axis]
            for axis in (0, 1)
        )
        for t in (step / pieces for step in range(pieces + 1))
    ]
    return sum(math.dist(one, other) for one, other in pairwise(at))
