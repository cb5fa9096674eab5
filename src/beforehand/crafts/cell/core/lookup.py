"""A scene's names, ready to be asked: positions, tools, routines, where each runs, and the nearest safe place."""

from beforehand.crafts.cell.core.topology import Topology
from beforehand.model.cell import CellScene, Position, Routine, Support, ToolStand


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
