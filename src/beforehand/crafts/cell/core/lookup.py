"""A scene's names, ready to be asked: positions, tools, routines, where each runs, and what follows it there."""

from collections.abc import Iterator
from typing import NamedTuple

from beforehand.crafts.cell.core.topology import Topology
from beforehand.model.cell import MOVE_SAFE, CellScene, Position, Routine, Support, ToolStand


class Follower(NamedTuple):
    """A routine that comes right behind another one at the same position, as that one's `action_after` says."""

    routine: str
    position: str
    tool: str | None
    """What it needs; None when any tool, or none, may stay on."""
    at_once: bool
    """Whether the robot holds what it needs by then: nothing may come between. Else only the tool change does."""


class Lookup:
    """Built once per scene; the first of two things with one name counts."""

    def __init__(self, scene: CellScene, topology: Topology | None = None) -> None:
        self.scene = scene
        self.topology = topology or Topology(scene)
        self.positions: dict[str, Position] = {}
        self.tools: dict[str, ToolStand] = {}
        self.routines: dict[str, Routine] = {}
        self.supports: dict[str, dict[str, Support]] = {}
        for place in scene.positions:
            self.positions.setdefault(place.name, place)
        for tool in scene.tools:
            self.tools.setdefault(tool.name, tool)
        for routine in scene.routines:
            self.routines.setdefault(routine.name, routine)
            places = self.supports.setdefault(routine.name, {})
            for support in routine.supported_at:
                places.setdefault(support.position, support)

    def support(self, routine: str, position: str) -> Support | None:
        return self.supports.get(routine, {}).get(position)

    def follower(self, support: Support | None, held: str) -> Follower | None:
        """The routine that comes behind one with this support, for a robot that then holds this tool.

        A scene is read only where every follower runs at that position and none follows itself (`action_after.py`).
        """
        after = support.action_after if support else None
        if support is None or not after or after == MOVE_SAFE:
            return None
        tool = self.routines[after].tool_needed
        return Follower(after, support.position, tool, at_once=tool in (None, held))

    def chain(self, support: Support | None) -> Iterator[Routine]:
        """All routines that follow, one behind the other."""
        while support and support.action_after and support.action_after != MOVE_SAFE:
            routine = self.routines[support.action_after]
            yield routine
            support = self.support(routine.name, support.position)

    def stand(self, tool: str) -> str | None:
        """The tool's stand, if the scene has one and it is a position."""
        known = self.tools.get(tool)
        return known.stand if known and known.stand in self.positions else None

    def tools_at(self, position: str) -> list[str]:
        return sorted(tool.name for tool in self.tools.values() if tool.stand == position)

    def safe_neighbour(self, position: str) -> str | None:
        """The smallest-named position of role `safe` that one move leads to."""
        near = self.topology.neighbours(position)
        return next((name for name in near if self.positions[name].role == "safe"), None)
