"""What goes wrong in a simulated home: a blocked door, a slippery thing, a thing that somebody moved or a door shut."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from beforehand.crafts.agent.core.pushing import in_doorway
from beforehand.crafts.agent.core.stages import Going, disturbed
from beforehand.crafts.agent.core.words import folded
from beforehand.model.reason import Reason, unknown

FaultKind = Literal["block", "unblock", "slip", "move", "shut"]
MOST_TIMES = 1_000
FAULTS: tuple[FaultKind, ...] = ("block", "unblock", "slip", "move", "shut")


@dataclass(frozen=True, slots=True)
class Fault:
    """`block`, `unblock` and `shut` are about a door; `slip` and `move` about a thing, `move` with where it goes."""

    fault: str
    about: str
    to: str | None = None
    times: int = 1

    def wire(self) -> dict[str, Any]:
        found = {"fault": self.fault, "about": self.about, "to": self.to, "times": self.times}
        return {key: value for key, value in found.items() if value is not None}


def read_fault(document: Mapping[str, Any]) -> Fault | Reason:
    """A fault from its data, or what is wrong with it."""
    strange = [key for key in document if key not in ("fault", "about", "to", "times")]
    if strange:
        told = unknown("key", strange[0], ("fault", "about", "to", "times"), inside="a fault")
        return Reason(code="fault.invalid", about=str(strange[0])[:60], says=told.says)
    kind, about, to, times = (document.get(key) for key in ("fault", "about", "to", "times"))
    if not isinstance(kind, str) or not isinstance(about, str) or not isinstance(to, str | None):
        says = "A fault has texts: fault, what it is about, and to where something is moved."
        return Reason(code="fault.invalid", about="fault", says=says)
    if times is not None and (isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES):
        says = f"times is a whole number from 1 to {MOST_TIMES}."
        return Reason(code="fault.invalid", about="times", says=says)
    return Fault(kind, about, to, 1 if times is None else times)


def happened(going: Going, fault: Fault) -> Going | Reason:
    """The world after something went wrong in it, or why it cannot."""
    if fault.fault not in FAULTS:
        return Reason(code="fault.unknown", about=fault.fault, says=unknown("fault", fault.fault, FAULTS).says)
    names = {folded(name): name for name in going.world.places}
    for given in (fault.about, fault.to):
        if given is not None and folded(given) not in names:
            return Reason(code="fault.unknown", about=given, says=unknown("object", given, names.values()).says)
    about = names[folded(fault.about)]
    if fault.fault in ("slip", "move"):
        return _thing(going, fault, about, names[folded(fault.to)] if fault.to else None)
    return _door(going, fault, about)


def _door(going: Going, fault: Fault, door: str) -> Going | Reason:
    world = going.world
    if not world.thing(door).door:
        return Reason(code="fault.no_door", about=door, says=f"{door} is not a door.")
    if fault.fault == "shut":
        between = in_doorway(world, door)
        if between:
            return Reason(code="fault.shut", about=door, says=f"{door} cannot shut: {between} is in the way.")
        return disturbed(replace(going, world=replace(world, open={**world.open, door: False})))
    blocked = world.blocked | {door} if fault.fault == "block" else world.blocked - {door}
    return disturbed(replace(going, world=replace(world, blocked=frozenset(blocked))))


def _thing(going: Going, fault: Fault, name: str, to: str | None) -> Going | Reason:
    world = going.world
    if not world.thing(name).carried:
        return Reason(code="fault.fixed", about=name, says=f"{name} cannot be carried.")
    if fault.fault == "slip":
        return replace(going, world=replace(world, slippery={**world.slippery, name: fault.times}))
    if to is None or world.places[name].hands or name in world.under(to) or world.thing(to).door:
        says = f"{name} can be moved onto another thing, not out of a hand and not onto itself or a door."
        return Reason(code="fault.move", about=name, says=says)
    return disturbed(replace(going, world=world.laid(name, to, "on")))
