"""The hall of a scene as its vehicles need it: the ways, the worksites by their nodes, the chargers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, inf

from beforehand.adapters.sim.roads import Roads
from beforehand.adapters.vda5050.orders import Stop
from beforehand.adapters.vda5050.reading import Reading
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.model.robot import GoTarget


@dataclass(frozen=True, slots=True)
class Hall:
    """What all vehicles of a scene share."""

    scene: str
    roads: Roads
    stations: Mapping[str, str]
    """The worksite whose place of work a node is."""
    chargers: frozenset[str]
    poll_ms: int = 2_000
    """A vehicle that has been silent so long is asked for its state."""
    log: LogIdentity = UNNAMED
    """Whose orders are ours."""

    def gave(self, order_id: str) -> bool:
        """Whether an order is this scene's own; one of another log, or of this one before it was restored, is not."""
        ours = self.log.owns(order_id)
        return ours and order_id.removeprefix(self.log.key("")).startswith(f"{self.scene}-")

    def way(self, start: str, target: str) -> tuple[Stop, ...] | None:
        roads = self.roads
        route = roads.route(start, target)
        if route is None:
            return None
        return self.along((start, *route))

    def way_of(self, command: GoTarget, start: str) -> tuple[Stop, ...] | None:
        """The way of a command: the one it names, or the shortest from here."""
        if command.way is not None:
            return self.along((*command.way, *command.horizon))
        return self.way(start, str(command.payload["id"]))

    def along(self, nodes: Sequence[str]) -> tuple[Stop, ...]:
        """The stops of a way that is given node by node."""
        roads = self.roads
        stops = [Stop(nodes[0], *roads.at[nodes[0]])]
        for node in nodes[1:]:
            road = roads.road(stops[-1].node_id, node)
            stops.append(Stop(node, *roads.at[node], road.length_m if road else 0.0))
        return tuple(stops)

    def left_m(self, reading: Reading, target: str) -> float:
        """How far it still has to go along its way."""
        roads = self.roads
        if reading.node_id is None:
            return inf
        if reading.next_node_id is None:
            return roads.distance(reading.node_id, target)
        x, y = roads.at[reading.next_node_id]
        return hypot(reading.x - x, reading.y - y) + roads.distance(reading.next_node_id, target)
