"""Where every pallet really is: at a worksite or on a robot's fork, never in two places and never nowhere.

This is the truth the core cannot see. It begins as the scene's occupancies say and changes only when a fork lifts or
lowers a pallet, or a person brings or takes one.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from beforehand.model.fleet import FleetScene
from beforehand.model.words import counted

_NO_PALLETS = ("charger", "park")


class Place(NamedTuple):
    kind: Literal["worksite", "robot"]
    id: str


class Pallets:
    def __init__(self, scene: FleetScene) -> None:
        self._sites: dict[str, list[str]] = {}
        """The worksites that a robot at this node can reach."""
        self._standing: dict[str, str | None] = {}
        self._carried: dict[str, list[str]] = {}
        """What is on each robot, in the order it was lifted."""
        self._capacity = {robot.robot_id: robot.capacity for robot in scene.robots}
        self._count = 0
        for site in scene.worksites:
            if site.worksite_type not in _NO_PALLETS:
                self._sites.setdefault(site.node_id, []).append(site.worksite_id)
                self._standing[site.worksite_id] = self._new() if site.initial_occupancy == "filled" else None
        for robot in scene.robots:
            if robot.load_state == "loaded":
                self._carried[robot.robot_id] = [self._new()]

    def where(self) -> dict[str, Place]:
        """Every pallet and its place, in the order of their numbers."""
        found = {pallet: Place("worksite", site) for site, pallet in self._standing.items() if pallet}
        found |= {pallet: Place("robot", robot) for robot, many in self._carried.items() for pallet in many}
        return dict(sorted(found.items(), key=lambda item: int(item[0].split("-")[1])))

    def on(self, robot_id: str) -> bool:
        return bool(self._carried.get(robot_id))

    def at(self, worksite_id: str) -> bool:
        return self._standing.get(worksite_id) is not None

    def lift(self, robot_id: str, node_id: str) -> str | None:
        """Take the pallet at this node on the fork; a sentence where that cannot be."""
        carried = self._carried.get(robot_id, [])
        if len(carried) >= self._capacity.get(robot_id, 1):
            if len(carried) == 1:
                return f"There is already a pallet on the fork of {robot_id}."
            return f"{robot_id} already carries {counted(len(carried), 'pallet')}."
        site = next((site for site in self._sites.get(node_id, ()) if self._standing[site]), None)
        if site is None:
            return f"There is no pallet at {node_id}."
        self._carried[robot_id] = [*carried, str(self._standing[site])]
        self._standing[site] = None
        return None

    def lower(self, robot_id: str, node_id: str) -> str | None:
        """Put the pallet that was lifted first down at this node; a sentence where that cannot be."""
        if not self.on(robot_id):
            return f"There is no pallet on the fork of {robot_id}."
        sites = self._sites.get(node_id, ())
        if not sites:
            return f"There is no place for a pallet at {node_id}."
        site = next((site for site in sites if not self._standing[site]), None)
        if site is None:
            return f"There already is a pallet at {node_id}."
        self._standing[site], *left = self._carried.pop(robot_id)
        if left:
            self._carried[robot_id] = left
        return None

    def set_at(self, worksite_id: str, present: bool) -> None:
        """A person brings a pallet or takes it away; nothing happens where it already is so."""
        if worksite_id in self._standing and self.at(worksite_id) != present:
            self._standing[worksite_id] = self._new() if present else None

    def set_on(self, robot_id: str, present: bool) -> None:
        """A person puts a pallet on a robot's fork by hand, or takes all that is on it off."""
        if present and not self.on(robot_id):
            self._carried[robot_id] = [self._new()]
        elif not present:
            self._carried.pop(robot_id, None)

    def snapshot(self) -> dict[str, Any]:
        return {
            "standing": dict(self._standing),
            "carried": {robot: list(many) for robot, many in self._carried.items()},
            "count": self._count,
        }

    def restore(self, data: Mapping[str, Any], robot_ids: Mapping[str, object]) -> None:
        """What `snapshot` gave; places and robots that the scene no longer has are passed over."""
        self._count = int(data["count"])
        for site in self._standing:
            self._standing[site] = data["standing"].get(site)
        carried = data["carried"].items()
        # Before robots could carry several, there was one name and no list.
        self._carried = {
            robot: [many] if isinstance(many, str) else list(many) for robot, many in carried if robot in robot_ids
        }

    def _new(self) -> str:
        self._count += 1
        return f"pallet-{self._count}"
