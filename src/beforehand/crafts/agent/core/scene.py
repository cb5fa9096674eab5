"""Reading a scene of kind `home`: from any document to a HomeScene, or every problem with its path in the file.

Shape first, then sense: names that lead nowhere, things said twice, a body that starts inside a cupboard. What is legal
but odd, such as a thing that cannot be reached, is a warning: see `warnings.py`.
"""

import math
from collections.abc import Mapping
from typing import Any

from beforehand.crafts.agent.core.words import Body, Box, HomeScene, Point, Room, Segment, Thing, folded
from beforehand.model.errors import BadInputError
from beforehand.model.machine import SIM
from beforehand.model.paper import Paper
from beforehand.model.words import counted
from beforehand.ports.machines import MachineKinds

KEYS = ("kind", "name", "bounds", "walls", "rooms", "objects", "agent", "world")
OURS = ("bounds", "walls", "rooms", "objects", "agent")
"""The keys that describe our own world."""
THING_KEYS = ("name", "at", "on", "in", "size", "affords", "two_hands", "door", "open", "solid")
WORLD_KINDS = MachineKinds("world")
"""What a scene's `world` may name; `agent/worlds.py` adds to it."""
LONGEST_M = 10_000.0


def read_home(document: Any) -> HomeScene:
    """The scene a document holds; BadInputError with every problem when it is not a good one."""
    paper = Paper()
    fields = paper.mapping(document, "", KEYS, "A home scene")
    if fields is None:
        raise _bad(paper)
    if fields.get("kind", "home") != "home":
        paper.add("kind", f"This reads scenes of kind home, not {paper.shown(fields['kind'])}.", nearest=("home",))
    name = paper.name(fields.get("name"), "name", "The scene")
    world = fields.get("world")
    if world is not None:
        paper.problems += WORLD_KINDS.problems(world, "world")
    if _is_elsewhere(world):
        return _elsewhere(paper, fields, name)
    bounds = _box(paper, fields.get("bounds"), "bounds")
    walls = [_segment(paper, item, path) for path, item in paper.entries(fields.get("walls"), "walls")]
    rooms = [(path, _room(paper, item, path)) for path, item in paper.entries(fields.get("rooms"), "rooms")]
    things = [(path, _thing(paper, item, path)) for path, item in paper.entries(fields.get("objects"), "objects")]
    agent = _body(paper, fields.get("agent"))
    known = [(path, thing) for path, thing in things if thing is not None]
    _check_names(paper, [(path, room) for path, room in rooms if room], known)
    _check_doors(paper, known)
    _check_places(paper, bounds, known, agent)
    if paper.problems or bounds is None:
        raise _bad(paper)
    return HomeScene(
        name=name or "",
        bounds=bounds,
        walls=tuple(wall for wall in walls if wall),
        rooms=tuple(room for _, room in rooms if room),
        objects=tuple(thing for _, thing in known),
        agent=agent,
        world=world,
    )


def _is_elsewhere(world: Any) -> bool:
    """Whether the body lives in a world that is not ours."""
    kind = world.get("kind") if isinstance(world, Mapping) else world
    return isinstance(kind, str) and kind != SIM and kind in WORLD_KINDS.known()


def _elsewhere(paper: Paper, fields: Mapping[str, Any], name: str | None) -> HomeScene:
    """A scene that only names another world: what is in it stands there, and not in the scene."""
    for key in OURS:
        if fields.get(key) is not None:
            paper.add(key, f"{key} has no meaning here: the world that `world` names brings its own.")
    if paper.problems:
        raise _bad(paper)
    return HomeScene(name=name or "", world=fields["world"])


def _bad(paper: Paper) -> BadInputError:
    problems = sorted(paper.problems, key=lambda problem: ".unknown_" not in problem.code)
    says = problems[0].says if len(problems) == 1 else f"The scene has {len(problems)} problems."
    return BadInputError(says, code="scene.invalid", problems=problems)


# -- shape -----------------------------------------------------------------------------------------------------------


def _numbers(paper: Paper, value: Any, path: str, count: int, what: str) -> tuple[float, ...] | None:
    if not isinstance(value, list | tuple) or len(value) != count:
        shown = (
            f"has {counted(len(value), 'entry', 'entries')}"
            if isinstance(value, list | tuple)
            else f"is {paper.shown(value)}"
        )
        paper.add(path, f"{what}, and {shown}.")
        return None
    found = [paper.number(item, f"{path}[{at}]", f"{path}[{at}]") for at, item in enumerate(value)]
    for at, item in enumerate(value):
        if item is None:
            paper.add(f"{path}[{at}]", f"{path}[{at}] must be a number, not null.")
        elif found[at] is not None and abs(found[at] or 0) > LONGEST_M:
            paper.add(f"{path}[{at}]", f"{path}[{at}] is further than {LONGEST_M:g} m.", code="scene.bad_number")
            return None
    read = tuple(float(item) for item in found if item is not None)
    return read if len(read) == count else None


def _point(paper: Paper, value: Any, path: str) -> Point | None:
    read = _numbers(paper, value, path, 2, f"{path} must be a point [x, y]")
    return None if read is None else (read[0], read[1])


def _box(paper: Paper, value: Any, path: str) -> Box | None:
    if value is None:
        paper.add(path, f"{path} is missing: [least x, least y, greatest x, greatest y] in metres.")
        return None
    read = _numbers(paper, value, path, 4, f"{path} must be [least x, least y, greatest x, greatest y]")
    if read is None:
        return None
    if read[0] >= read[2] or read[1] >= read[3]:
        paper.add(path, f"{path} has no inside: give the least x and y first.", code="scene.bad_number")
        return None
    return (read[0], read[1], read[2], read[3])


def _segment(paper: Paper, value: Any, path: str) -> Segment | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        paper.add(path, "A wall is two points, [[x, y], [x, y]].")
        return None
    ends = [_point(paper, item, f"{path}[{at}]") for at, item in enumerate(value)]
    if ends[0] is None or ends[1] is None:
        return None
    if ends[0] == ends[1]:
        paper.add(path, "A wall begins and ends at the same point.", code="scene.bad_number")
        return None
    return (ends[0], ends[1])


def _room(paper: Paper, value: Any, path: str) -> Room | None:
    fields = paper.mapping(value, path, ("name", "bounds"), "A room")
    if fields is None:
        return None
    name = paper.name(fields.get("name"), f"{path}.name", "A room")
    bounds = _box(paper, fields.get("bounds"), f"{path}.bounds")
    return None if name is None or bounds is None else Room(name=name, bounds=bounds)


def _thing(paper: Paper, value: Any, path: str) -> Thing | None:
    fields = paper.mapping(value, path, THING_KEYS, "An object")
    if fields is None:
        return None
    name = paper.name(fields.get("name"), f"{path}.name", "An object")
    given = [key for key in ("at", "on", "in") if fields.get(key) is not None]
    if len(given) != 1:
        both = "; it has " + " and ".join(given) if given else ""
        paper.add(path, f"{name or 'An object'} needs one of at, on and in to say where it is{both}.")
    at = _point(paper, fields["at"], f"{path}.at") if "at" in given else None
    on = paper.name(fields["on"], f"{path}.on", "A support") if "on" in given else None
    inside = paper.name(fields["in"], f"{path}.in", "A container") if "in" in given else None
    size = _size(paper, fields.get("size"), f"{path}.size")
    affords = [
        paper.name(item, where, "What it affords")
        for where, item in paper.entries(fields.get("affords"), f"{path}.affords")
    ]
    flags = {key: _flag(paper, fields.get(key), f"{path}.{key}") for key in ("two_hands", "door", "open", "solid")}
    if name is None:
        return None
    return Thing(
        name=name,
        at=at,
        on=on,
        **{"in": inside},
        size=size,
        affords=tuple(word.lower() for word in affords if word),
        two_hands=bool(flags["two_hands"]),
        door=bool(flags["door"]),
        open=flags["open"],
        solid=flags["solid"],
    )


def _size(paper: Paper, value: Any, path: str) -> tuple[float, float] | None:
    if value is None:
        return None
    read = _numbers(paper, value, path, 2, f"{path} must be [width, depth] in metres")
    if read is not None and min(read) <= 0:
        paper.add(path, f"{path} must be more than 0 both ways.", code="scene.bad_number")
        return None
    return None if read is None else (read[0], read[1])


def _flag(paper: Paper, value: Any, path: str) -> bool | None:
    if value is not None and not isinstance(value, bool):
        paper.add(path, f"{path.rpartition('.')[2]} is true or false, not {paper.shown(value)}.")
        return None
    return value


def _body(paper: Paper, value: Any) -> Body:
    if value is None:
        return Body()
    fields = paper.mapping(value, "agent", ("at", "facing", "speed_mps", "radius_m"), "The agent")
    if fields is None:
        return Body()
    at = _point(paper, fields["at"], "agent.at") if fields.get("at") is not None else Body().at
    facing = paper.number(fields.get("facing"), "agent.facing", "facing")
    speed = paper.number(fields.get("speed_mps"), "agent.speed_mps", "speedMps", least=0)
    radius = paper.number(fields.get("radius_m"), "agent.radius_m", "radiusM", least=0)
    for name, number, most in (("speedMps", speed, 100), ("radiusM", radius, 5)):
        if number is not None and not 0.01 <= number <= most:
            paper.add(f"agent.{name}", f"{name} must lie between 0.01 and {most}.", code="scene.bad_number")
    return Body(
        at=at or Body().at,
        facing=math.fmod(facing or 0.0, 360.0),
        speed_mps=speed or Body().speed_mps,
        radius_m=radius or Body().radius_m,
    )


# -- sense -----------------------------------------------------------------------------------------------------------


def _check_names(paper: Paper, rooms: list[tuple[str, Room]], things: list[tuple[str, Thing]]) -> None:
    names = paper.unique([(f"{path}.name", thing.name) for path, thing in things], "object")
    paper.unique([(f"{path}.name", room.name) for path, room in rooms], "room")
    alike = {"origin": "the origin of the coordinates", "none": "the word for an empty hand"}
    known = {thing.name for _, thing in things}
    called = [*((path, thing.name) for path, thing in things), *((path, room.name) for path, room in rooms)]
    for path, name in ((f"{path}.name", name) for path, name in called):
        first = alike.setdefault(folded(name), name)
        if not folded(name):
            paper.add(path, f"{name} has no letter or number in it to be called by.")
        elif first != name or (path.startswith("rooms") and name in known):
            paper.add(path, f"{name} reads the same as {first}: names differ in more than case and spacing.")
    by_name = {thing.name: thing for _, thing in things}
    for path, thing in things:
        paper.known(thing.on, f"{path}.on", "object", names)
        paper.known(thing.in_, f"{path}.in", "object", names)
        if _in_circle(thing, by_name):
            paper.add(path, f"{thing.name} lies on or in itself.")


def _check_doors(paper: Paper, things: list[tuple[str, Thing]]) -> None:
    doors = {thing.name for _, thing in things if thing.door}
    for path, thing in things:
        if thing.door and (thing.at is None or thing.carried):
            paper.add(path, f"{thing.name} is a door: it stands on the floor and cannot be taken.")
        if thing.support in doors:
            paper.add(path, f"{thing.name} cannot lie on or in {thing.support}, which is a door.")


def _in_circle(thing: Thing, by_name: dict[str, Thing]) -> bool:
    seen = {thing.name}
    below = thing.support
    while below in by_name and below not in seen:
        seen.add(below)
        below = by_name[below].support
    return below == thing.name


def _check_places(paper: Paper, bounds: Box | None, things: list[tuple[str, Thing]], agent: Body) -> None:
    if bounds is None:
        return
    for path, thing in things:
        if thing.at is not None and not _within(thing.at, bounds):
            paper.add(f"{path}.at", f"{thing.name} stands outside the bounds.", code="scene.bad_number")
        closed = thing.door and thing.open is False
        if thing.at and (thing.in_the_way or closed) and _inside(agent.at, thing.at, thing.extent):
            paper.add("agent.at", f"The agent would start inside {thing.name}.", code="scene.bad_number")
    if not _within(agent.at, bounds):
        paper.add("agent.at", "The agent starts outside the bounds.", code="scene.bad_number")


def _within(point: Point, bounds: Box) -> bool:
    return bounds[0] <= point[0] <= bounds[2] and bounds[1] <= point[1] <= bounds[3]


def _inside(point: Point, at: Point, size: tuple[float, float]) -> bool:
    return abs(point[0] - at[0]) < size[0] / 2 and abs(point[1] - at[1]) < size[1] / 2
