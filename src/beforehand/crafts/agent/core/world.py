"""The world as it is at one tick: where the body is and how it stands, what each hand holds, where every thing lies.

A world is plain frozen data over its scene; whatever changes it gives a new one. Time is counted in ticks of 50 ms, so
the same commands give the same world, bit for bit.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from beforehand.crafts.agent.core.geometry import Solid, box, wall
from beforehand.crafts.agent.core.paths import Floor
from beforehand.crafts.agent.core.words import Box, HomeScene, Point, Relation, Thing
from beforehand.ports.body import TICKS_PER_S

SLOT_M = 0.3
STANDING = "standing"


def ticks(seconds: float) -> int:
    """Seconds as whole ticks, the nearest number of them."""
    return round(seconds * TICKS_PER_S)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thing is: on the floor at a point, on or in another thing, or in a hand."""

    at: Point | None = None
    support: str | None = None
    relation: Relation = "on"
    slot: int = 0
    hands: tuple[str, ...] = ()

    def wire(self) -> dict[str, Any]:
        if self.hands:
            return {"hands": list(self.hands)}
        if self.at is not None:
            return {"at": list(self.at)}
        return {self.relation: self.support, "slot": self.slot}

    @staticmethod
    def read(data: Mapping[str, Any]) -> "Place":
        if "hands" in data:
            return Place(hands=tuple(data["hands"]))
        if "at" in data:
            return Place(at=(data["at"][0], data["at"][1]))
        relation: Relation = "on" if "on" in data else "in"
        return Place(support=data[relation], relation=relation, slot=data["slot"])


@dataclass(frozen=True, slots=True)
class World:
    scene: HomeScene
    at: Point
    facing: float
    gaze: float
    places: Mapping[str, Place]
    open: Mapping[str, bool]
    posture: str = STANDING
    rests_on: str | None = None
    blocked: frozenset[str] = frozenset()
    """Doors that something stands in, which nobody knows before getting there."""
    slippery: Mapping[str, int] = field(default_factory=dict)
    """How many more times a thing slips out of the hand."""

    def thing(self, name: str) -> Thing:
        return _things(self.scene)[name]

    def held(self, hand: str) -> str | None:
        """What a hand holds, `left` or `right`."""
        for name, place in self.places.items():
            if place.hands and hand in place.hands:
                return name
        return None

    def under(self, name: str) -> tuple[str, ...]:
        """A thing, what it lies on or in, and so on down to what stands on the floor or is in a hand."""
        found = [name]
        while (support := self.places[found[-1]].support) is not None:
            found.append(support)
        return tuple(found)

    def on_floor(self, name: str) -> str:
        """The thing on the floor or in a hand that carries this one, or the thing itself."""
        return self.under(name)[-1]

    def position(self, name: str) -> Point:
        """Where a thing is on the map; what the body holds is where the body is."""
        place = self.places[name]
        if place.at is not None:
            return place.at
        if place.support is None:
            return self.at
        under = self.position(place.support)
        return _slot(under, self.thing(place.support).extent, place.slot)

    def closed_around(self, name: str) -> Iterator[str]:
        """The closed things that this one lies in, the innermost first."""
        place = self.places[name]
        while place.support is not None:
            if place.relation == "in" and self.open.get(place.support) is False:
                yield place.support
            place = self.places[place.support]

    def lies_in_closed(self, name: str) -> str | None:
        """The closed thing that this one lies in, if any."""
        return next(self.closed_around(name), None)

    def posed(self, at: Point, facing: float, gaze: float) -> "World":
        """The same world with the body in another pose; written out, since it happens at every tick."""
        if at == self.at and facing == self.facing and gaze == self.gaze:
            return self
        rest = (self.places, self.open, self.posture, self.rests_on, self.blocked, self.slippery)
        return World(self.scene, at, facing, gaze, *rest)

    def put(self, name: str, place: Place) -> "World":
        return replace(self, places={**self.places, name: place})

    def laid(self, name: str, support: str, relation: Relation) -> "World":
        """The same world with the thing on or in another one, at its first free spot."""
        taken = {place.slot for other, place in self.places.items() if place.support == support and other != name}
        slot = next(number for number in range(len(taken) + 1) if number not in taken)
        return self.put(name, Place(support=support, relation=relation, slot=slot))

    def solid(self, name: str) -> Solid:
        """The box of a thing that stands on the floor."""
        return box(name, self.position(name), self.thing(name).extent)

    def solids(self) -> Iterable[Solid]:
        """Everything a body has to go round now."""
        for number, segment in enumerate(self.scene.walls):
            yield wall(f"wall {number + 1}", segment)
        for name, place in self.places.items():
            thing = self.thing(name)
            if place.at is not None and (thing.in_the_way or (thing.door and not self.open[name])):
                yield self.solid(name)

    # -- as data ---------------------------------------------------------------------------------------------------

    def wire(self) -> dict[str, Any]:
        return {
            "at": list(self.at),
            "facing": self.facing,
            "gaze": self.gaze,
            "posture": self.posture,
            "restsOn": self.rests_on,
            "places": {name: place.wire() for name, place in self.places.items()},
            "open": dict(self.open),
            "blocked": sorted(self.blocked),
            "slippery": dict(self.slippery),
        }


def first_world(scene: HomeScene) -> World:
    """The world as its scene describes it."""
    places: dict[str, Place] = {}
    count: dict[str, int] = {}
    for thing in scene.objects:
        if thing.support is None:
            places[thing.name] = Place(at=thing.at)
            continue
        slot = count.get(thing.support, 0)
        count[thing.support] = slot + 1
        places[thing.name] = Place(support=thing.support, relation="on" if thing.on else "in", slot=slot)
    opened = {thing.name: (thing.door if thing.open is None else thing.open) for thing in scene.objects if thing.opens}
    facing = scene.agent.facing % 360.0
    return World(scene, scene.agent.at, facing, facing, places, opened)


def restore_world(scene: HomeScene, data: Mapping[str, Any]) -> World:
    """A world from its data; things that the scene has and the data has not are where the scene says."""
    first = first_world(scene)
    places = {name: Place.read(data["places"].get(name, place.wire())) for name, place in first.places.items()}
    places = {
        name: first.places[name] if place.support is not None and place.support not in places else place
        for name, place in places.items()
    }
    return replace(
        first,
        at=(data["at"][0], data["at"][1]),
        facing=data["facing"],
        gaze=data["gaze"],
        posture=data["posture"],
        rests_on=data["restsOn"] if data["restsOn"] in places else None,
        places=places,
        open={name: data["open"].get(name, is_open) for name, is_open in first.open.items()},
        blocked=frozenset(data["blocked"]) & first.open.keys(),
        slippery={name: times for name, times in data["slippery"].items() if name in places},
    )


def floor_of(world: World) -> Floor:
    """The floor among what is solid now; bodies in the same surroundings share it."""
    return floor_among(tuple(world.solids()), world.scene)


def floor_among(solids: tuple[Solid, ...], scene: HomeScene) -> Floor:
    return _floor(solids, scene.agent.radius_m, scene.bounds)


@lru_cache(maxsize=64)
def _floor(solids: tuple[Solid, ...], radius_m: float, bounds: Box) -> Floor:
    return Floor(solids, radius_m, bounds)


def _things(scene: HomeScene) -> dict[str, Thing]:
    """The things of a scene by name, worked out once."""
    known = _THINGS.get(id(scene))
    if known is None or known[0] is not scene:
        if len(_THINGS) > 64:
            _THINGS.clear()
        known = _THINGS[id(scene)] = (scene, scene.things)
    return known[1]


_THINGS: dict[int, tuple[HomeScene, dict[str, Thing]]] = {}


def _slot(centre: Point, extent: tuple[float, float], slot: int) -> Point:
    """A spot on something, counted from its middle outwards along its longer side, then in further rows."""
    columns, rows = max(1, math.floor(extent[0] / SLOT_M)), max(1, math.floor(extent[1] / SLOT_M))
    column, row = slot % columns, slot // columns % rows
    return (centre[0] + _outwards(column) * SLOT_M, centre[1] + _outwards(row) * SLOT_M)


def _outwards(number: int) -> float:
    """0, 1, -1, 2, -2 and so on."""
    return float((number + 1) // 2 if number % 2 else -(number // 2))
