"""Draws the two big example scenes, so that a change of their layout is a change of a few numbers here.

    python scripts/draw_scenes.py        writes scenes/cross_dock.yaml and scenes/hall.yaml

Pallets go round in circles in both, so there is always work to look at. Each thing is one line of the file.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

SCENES = Path(__file__).parent.parent / "scenes"
SETTINGS = {"dispatch": "optimal", "chargeStartThreshold": 0.25, "chargeStopThreshold": 0.8, "chargePerS": 0.002}


@dataclass
class Drawing:
    """A scene while it is drawn: the lists of the file, filled from left to right."""

    name: str
    says: str
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, Any]] = field(default_factory=list)
    worksites: list[dict[str, Any]] = field(default_factory=list)
    robots: list[dict[str, Any]] = field(default_factory=list)
    streams: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    def node(self, node_id: str, x: float, y: float) -> str:
        self.nodes.append({"id": node_id, "x": x, "y": y})
        return node_id

    def edge(self, one: str, other: str, *, one_way: bool = False) -> None:
        self.edges.append({"from": one, "to": other} | ({"oneWay": True} if one_way else {}))

    def chain(self, names: Iterable[str]) -> None:
        for one, other in pairwise(names):
            self.edge(one, other)

    def place(
        self, name: str, kind: str, group: str, entry: str, at: tuple[float, float], filled: bool = False
    ) -> None:
        """A worksite with its own node beside the aisle node `entry`."""
        action = self.node(f"AP_{name}", *at)
        self.edge(entry, action)
        self.worksites.append(
            {
                "worksiteId": name,
                "worksiteType": kind,
                "groupId": group,
                "entryNodeId": entry,
                "actionNodeId": action,
                "occupancy": "filled" if filled else "empty",
            }
        )

    def group(self, group: str) -> list[str]:
        return [site["worksiteId"] for site in self.worksites if site["groupId"] == group]

    def stream(self, stream_id: str, label: str, source: str, target: str, priority: int = 0) -> None:
        self.streams.append(
            {
                "streamId": stream_id,
                "kind": "pickDrop",
                "enabled": True,
                "priority": priority,
                "params": {
                    "pickGroup": self.group(source),
                    "dropGroup": self.group(target),
                    "pickPolicy": {"selection": "filled_only"},
                    "dropPolicy": {"selection": "first_available_in_order", "commitDistanceM": 8},
                },
                "meta": {"label": label},
            }
        )

    def park_robots(self, count: int) -> None:
        """One robot in each of the first parks, at charge levels that send them to the chargers one after another."""
        for index, park in enumerate(self.group("PARK")[:count], start=1):
            battery = round(0.95 - 0.06 * (index * 7 % 10), 2)
            robot = {"robotId": f"RB-{index:02d}", "nodeId": f"AP_{park}", "battery": battery, "loadState": "empty"}
            self.robots.append({**robot, "speedMps": 1.5})

    def write(self) -> None:
        lines = [f"# {line}" for line in self.says.splitlines()] + ["kind: fleet", f"name: {self.name}"]
        for part in ("nodes", "edges", "worksites", "robots"):
            lines += [f"{part}:"] + [f"  - {flow(item)}" for item in getattr(self, part)]
        lines.append("streams:")
        for stream in self.streams:
            lines += stream_lines(stream)
        lines.append(f"settings: {flow(self.settings)}")
        (SCENES / f"{self.name}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def flow(value: Any) -> str:
    """A value in YAML's one-line spelling."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def stream_lines(stream: dict[str, Any]) -> list[str]:
    head = [f"{key}: {flow(stream[key])}" for key in ("streamId", "kind", "enabled", "priority")]
    lines = [f"  - {head[0]}"] + [f"    {line}" for line in head[1:]] + ["    params:"]
    for key, value in stream["params"].items():
        lines += wrapped(key, value) if isinstance(value, list) else [f"      {key}: {flow(value)}"]
    return [*lines, f"    meta: {flow(stream['meta'])}"]


def wrapped(key: str, names: list[str], per_line: int = 10) -> list[str]:
    rows = [", ".join(names[start : start + per_line]) for start in range(0, len(names), per_line)]
    return [f"      {key}: [{rows[0]}" + ("]" if len(rows) == 1 else ",")] + [
        f"        {row}" + ("]" if index == len(rows) else ",") for index, row in enumerate(rows[1:], start=2)
    ]


def cross_dock() -> Drawing:
    """Twelve doors in the west, twelve in the east, three aisles between them, chargers south and parks north."""
    draw = Drawing(
        "cross_dock",
        "A cross-dock: full pallets go from the western doors to the eastern ones, empties come back the other way,\n"
        "round and round. Ten robots, four chargers in the south, ten parks in the north.",
    )
    rows = [3 * row for row in range(12)]
    west = [draw.node(f"LM_W{row:02d}", 6, y) for row, y in enumerate(rows, start=1)]
    east = [draw.node(f"LM_E{row:02d}", 54, y) for row, y in enumerate(rows, start=1)]
    draw.chain(west)
    draw.chain(east)
    for aisle, row in (("S", 1), ("C", 6), ("N", 10)):
        middle = [draw.node(f"LM_{aisle}{column}", 6 + 8 * column, rows[row]) for column in range(1, 6)]
        draw.chain([west[row], *middle, east[row]])
    for column in range(1, 6):
        draw.chain([f"LM_S{column}", f"LM_C{column}", f"LM_N{column}"])
    for row, y in enumerate(rows, start=1):
        draw.place(f"IN_{row:02d}", "buffer", "IN", west[row - 1], (2, y), filled=row % 4 != 0)
    for row, y in enumerate(rows, start=1):
        draw.place(f"OUT_{row:02d}", "buffer", "OUT", east[row - 1], (58, y), filled=row % 3 == 0)
    for index in range(1, 5):
        draw.place(f"CHARGER_{index:02d}", "charger", "CHARGER", f"LM_S{index}", (6 + 8 * index, -1))
    for index in range(10):
        column = index // 2 + 1
        draw.place(f"PARK_{index + 1:02d}", "park", "PARK", f"LM_N{column}", (5 + 8 * column + 2 * (index % 2), 34))
    draw.park_robots(10)
    draw.stream("full_out", "Full pallets out", "IN", "OUT", priority=1)
    draw.stream("empties_back", "Empties back", "OUT", "IN")
    draw.settings = SETTINGS
    return draw


def hall() -> Drawing:
    """Docks along the south wall, five double rack rows, chargers in the west, parks along the north wall."""
    draw = Drawing(
        "hall",
        "A hall of 200 worksites and 50 robots: docks in the south, racks in the middle, parks in the north.\n"
        "Pallets go from the inbound docks to the racks, from the racks to the outbound docks, and back round.",
    )
    columns = [4 * column for column in range(20)]
    crossings = {"W": -2, "L": 26, "R": 50, "E": 78}
    aisles = {"A": 6, "B": 15, "C": 24, "D": 33, "E": 42, "F": 51}
    for aisle, y in aisles.items():
        stops = {f"LM_{aisle}{number:02d}": x for number, x in enumerate(columns, start=1)}
        stops |= {f"LM_{aisle}_{crossing}": x for crossing, x in crossings.items()}
        draw.chain([draw.node(name, x, y) for name, x in sorted(stops.items(), key=lambda stop: stop[1])])
    for crossing in crossings:
        draw.chain([f"LM_{aisle}_{crossing}" for aisle in aisles])
    for dock in range(20):
        draw.place(f"IN_{dock + 1:02d}", "buffer", "IN", f"LM_A{dock // 2 + 1:02d}", (dock * 2 - 1.0, 1), dock % 10 < 7)
    for dock in range(20):
        x = 39 + dock * 2.0
        draw.place(f"OUT_{dock + 1:02d}", "buffer", "OUT", f"LM_A{dock // 2 + 11:02d}", (x, 1), dock % 10 < 4)
    for row, aisle in enumerate("BCDEF", start=1):
        for bay, x in enumerate(columns, start=1):
            entry, at = f"LM_{aisle}{bay:02d}", (x, aisles[aisle] - 3.0)
            draw.place(f"R{row}_{bay:02d}", "buffer", "RACK", entry, at, filled=(row + bay) % 2 == 1)
    for index, aisle in enumerate("AABBCCDDEE", start=1):
        at = (-6, aisles[aisle] + 2.0 * (index % 2))
        draw.place(f"CHARGER_{index:02d}", "charger", "CHARGER", f"LM_{aisle}_W", at)
    for index in range(50):
        x = round(index * 76 / 49, 1)
        draw.place(f"PARK_{index + 1:02d}", "park", "PARK", f"LM_F{round(x / 4) + 1:02d}", (x, 55))
    draw.park_robots(50)
    draw.stream("putaway", "Docks to racks", "IN", "RACK")
    draw.stream("retrieval", "Racks to docks", "RACK", "OUT")
    draw.stream("returns", "Back round", "OUT", "IN")
    draw.settings = SETTINGS
    return draw


if __name__ == "__main__":
    for drawing in (cross_dock(), hall()):
        drawing.write()
        print(f"scenes/{drawing.name}.yaml: {len(drawing.worksites)} worksites, {len(drawing.robots)} robots")
