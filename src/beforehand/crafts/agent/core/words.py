"""The words of a home: its walls, rooms and things, and the body that moves among them.

A thing stands on the floor (`at`, its centre), or lies `on` or `in` another one. What stands on the floor is in the
way, unless it can be carried off or says otherwise; a door is in the way while it is closed.
"""

import re
import unicodedata
from typing import Any, Literal

from pydantic import Field

from beforehand.model.base import WireModel
from beforehand.model.machine import Machine
from beforehand.model.paper import Number

Point = tuple[float, float]
Segment = tuple[Point, Point]
Box = tuple[float, float, float, float]
"""The least x, the least y, the greatest x, the greatest y."""
ORIGIN: Point = (0.0, 0.0)
Relation = Literal["on", "in"]
SMALL = (0.1, 0.1)
LARGE = (0.6, 0.6)


def folded(name: str) -> str:
    """A name as it is compared: without case, spacing, dashes and a trailing dot; wide letters are plain ones."""
    return re.sub(r"[\s_\-]+", "", unicodedata.normalize("NFKC", name).casefold()).rstrip(".")


class Thing(WireModel):
    name: str
    at: Point | None = None
    on: str | None = None
    in_: str | None = Field(default=None, alias="in")
    size: tuple[Number, Number] | None = None
    affords: tuple[str, ...] = ()
    two_hands: bool = False
    door: bool = False
    open: bool | None = None
    """For what can be opened: whether it is; doors are open and other things closed unless they say so."""
    solid: bool | None = None

    @property
    def support(self) -> str | None:
        """The thing it lies on or in."""
        return self.on or self.in_

    @property
    def opens(self) -> bool:
        return self.door or self.open is not None or "open" in self.affords or "close" in self.affords

    @property
    def carried(self) -> bool:
        return "take" in self.affords

    @property
    def in_the_way(self) -> bool:
        """Whether a body has to go round it; for doors the world knows."""
        return not self.door and (not self.carried if self.solid is None else self.solid)

    @property
    def extent(self) -> tuple[Number, Number]:
        return self.size or (SMALL if self.carried else LARGE)


class Room(WireModel):
    name: str
    bounds: Box


class Body(WireModel):
    at: Point = ORIGIN
    facing: float = 0.0
    """Degrees: 0 looks along x, 90 along y."""
    speed_mps: float = 1.2
    radius_m: float = 0.2


class HomeScene(WireModel):
    kind: Literal["home"] = "home"
    name: str
    bounds: Box
    walls: tuple[Segment, ...] = ()
    rooms: tuple[Room, ...] = ()
    objects: tuple[Thing, ...] = ()
    agent: Body = Body()
    world: Machine | None = None
    """What the body lives in: a kind, or a mapping with the kind and what it needs; our own world when absent."""

    def thing(self, name: str) -> Thing:
        return self.things[name]

    @property
    def things(self) -> dict[str, Thing]:
        return {thing.name: thing for thing in self.objects}

    def wire(self) -> dict[str, Any]:
        """The document as it is written, what stands at its usual value left out."""
        document = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        return {"kind": "home", **document}
