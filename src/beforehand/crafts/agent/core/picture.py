"""The world seen from above, for whoever steers by sight: 512 pixels a side, x to the right, y up, everything named.

Rooms are pale, walls dark; furniture, what opens and what can be carried have a colour each; what nobody can see from
above, such as what blocks a door, is not drawn. What does not move is drawn once and kept; the body, its gaze, its
hands and its way come on top of it, and names that the body would hide step aside.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from beforehand.crafts.agent.core.floor_plan import FOR_LABELS, KEPT, LEFT, Sheet, empty_home, sheet_of
from beforehand.crafts.agent.core.font import set_text
from beforehand.crafts.agent.core.labels import Area, Label, Laid, lay, shared, shown_name
from beforehand.crafts.agent.core.raster import SIDE, Pixel, Raster
from beforehand.crafts.agent.core.stages import Going, rest_of
from beforehand.crafts.agent.core.words import HomeScene, Point
from beforehand.crafts.agent.core.world import STANDING, Place, World

GAZE_M, GAZE_DEG = 1.3, 14.0
BODY_PX, DOT_PX = 9.0, 4.0
DOT_EVERY_PX = 8.0


def picture_of(world: World, path: Sequence[Point] = ()) -> bytes:
    """The PNG of a world; `path` is the way the body is about to go."""
    furnished = _furnished(world)
    raster = furnished.raster.copy()
    sheet = furnished.sheet
    _draw_path(raster, [sheet.at(point) for point in path])
    held = _draw_body(raster, world, sheet)
    for laid in _labels_beside(furnished, _body_labels(world, sheet, held)):
        raster.text(laid.left, laid.top, laid.label.text, laid.label.colour, "rim")
    _draw_hands(raster, world)
    return raster.png()


def way_ahead(going: Going) -> tuple[Point, ...]:
    """What is left of the way the body walks now; nothing while it stands."""
    for tracked in going.actions:
        if tracked.stage == "moving" and tracked.motion is not None and "base" in tracked.holds:
            return rest_of(tracked.motion.points, going.world.at)
    return ()


# -- what is kept ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Furnished:
    """A home with its things where they are, and where their names go."""

    scene: HomeScene
    places: Mapping[str, Place]
    open: Mapping[str, bool]
    sheet: Sheet
    raster: Raster
    labels: tuple[Laid, ...]
    things: tuple[Area, ...]
    lines: tuple[Area, ...]


_KEPT: list[Furnished] = []


def _furnished(world: World) -> Furnished:
    for kept in _KEPT:
        if kept.scene is world.scene and kept.places == world.places and kept.open == world.open:
            return kept
    found = _furnish(world)
    _KEPT[KEPT - 1 :] = []
    _KEPT.insert(0, found)
    return found


def _furnish(world: World) -> Furnished:
    sheet = sheet_of(world.scene.bounds)
    empty, lines = empty_home(world.scene, sheet)
    raster = empty.copy()
    for name in sorted(world.places, key=lambda name: _height(world, name)):
        if world.places[name].support is not None and _is_dot(world, sheet, name):
            kind = "hidden" if world.lies_in_closed(name) else "carried" if world.thing(name).carried else "fixed"
            _draw_dot(raster, sheet.at(world.position(name)), kind)
        elif not world.places[name].hands:
            _draw_thing(raster, world, sheet, name)
    areas = {name: _area_of(world, sheet, name) for name, place in world.places.items() if not place.hands}
    labels = [_label_of(world, name, areas) for name in sorted(areas, key=lambda name: _size(areas[name]))]
    things = tuple(areas.values())
    return Furnished(
        world.scene,
        world.places,
        world.open,
        sheet,
        raster,
        tuple(lay(labels, things, lines, FOR_LABELS)),
        things,
        lines,
    )


def _size(area: Area) -> int:
    """Small things are named first: large ones have more to choose from."""
    return (area[2] - area[0]) * (area[3] - area[1])


def _height(world: World, name: str) -> int:
    """How many things are below it: what is on top is drawn last."""
    support = world.places[name].support
    return 0 if support is None else 1 + _height(world, support)


def _is_dot(world: World, sheet: Sheet, name: str) -> bool:
    """Whether a thing is too small to be drawn with its true sides, or lies hidden."""
    return min(world.thing(name).extent) * sheet.scale < 3 * DOT_PX or world.lies_in_closed(name) is not None


def _area_of(world: World, sheet: Sheet, name: str) -> Area:
    if world.places[name].support is None or not _is_dot(world, sheet, name):
        return _at_least(sheet.around(world.position(name), world.thing(name).extent))
    x, y = sheet.at(world.position(name))
    return (round(x - DOT_PX), round(y - DOT_PX), round(x + DOT_PX), round(y + DOT_PX))


def _at_least(area: Area, side: int = 7) -> Area:
    """An area that can be seen: grown about its middle where it is too small."""
    wide, high = max(side, area[2] - area[0]), max(side, area[3] - area[1])
    left, top = (area[0] + area[2] - wide) // 2, (area[1] + area[3] - high) // 2
    return (left, top, left + wide, top + high)


def _label_of(world: World, name: str, areas: Mapping[str, Area]) -> Label:
    thing, support = world.thing(name), world.places[name].support
    colour = "carried ink" if thing.carried else "opens ink" if thing.opens else "ink"
    inside = not thing.door and support is None
    return Label(shown_name(name), colour, areas[name], inside, areas.get(support) if support else None)


# -- things ----------------------------------------------------------------------------------------------------------


def _draw_thing(raster: Raster, world: World, sheet: Sheet, name: str) -> None:
    thing = world.thing(name)
    area = _at_least(sheet.around(world.position(name), thing.extent))
    if thing.door:
        _draw_door(raster, world, sheet, name)
    elif thing.carried:
        raster.box(*area, "carried")
        raster.frame(*area, "carried ink", 1)
    elif thing.opens:
        raster.box(*area, "open" if world.open[name] else "closed")
        raster.frame(*area, "opens rim", 2)
        if world.open[name]:
            _draw_gap(raster, area)
    else:
        raster.box(*area, "furniture")
        raster.frame(*area, "furniture rim", 1)


def _draw_gap(raster: Raster, area: Area) -> None:
    """What stands open has a gap in the middle of its front."""
    left, _, right, bottom = area
    third = (right - left) // 3
    raster.box(left + third, bottom - 2, right - third, bottom, "open")


DOTS = {"carried": ("rim", "carried"), "fixed": ("rim", "furniture rim"), "hidden": ("carried ink", "rim")}


def _draw_dot(raster: Raster, at: Pixel, kind: str) -> None:
    """A small thing; a ring where it lies behind a closed lid."""
    rim, fill = DOTS[kind]
    middle = (math.floor(at[0]) + 0.5, math.floor(at[1]) + 0.5)
    raster.disc(middle, DOT_PX + 0.5, rim)
    raster.disc(middle, DOT_PX - 0.5, fill)


def _draw_door(raster: Raster, world: World, sheet: Sheet, name: str) -> None:
    """Closed: a bar in the wall. Open: a pale sill, the leaf turned aside and the arc it goes along."""
    wide, deep = world.thing(name).extent
    x, y = world.position(name)
    level = wide >= deep
    half = max(wide, deep) / 2
    along = (half, 0.0) if level else (0.0, half)
    hinge, latch = (x - along[0], y - along[1]), (x + along[0], y + along[1])
    if not world.open[name]:
        raster.line(sheet.at(hinge), sheet.at(latch), 6, "opens rim")
        raster.line(sheet.at(hinge), sheet.at(latch), 3, "closed")
        return
    raster.line(sheet.at(hinge), sheet.at(latch), 4, "open")
    turned = _leaf_end(world, hinge, level, 2 * half)
    begin, length = sheet.at(hinge), 2 * half * sheet.scale
    angle, other = _angle(begin, sheet.at(latch)), _angle(begin, sheet.at(turned))
    swing = (other - angle + math.pi) % (2 * math.pi) - math.pi
    steps = max(4, round(length / 5))
    arc = [angle + swing * number / steps for number in range(steps + 1)]
    raster.dots(((begin[0] + length * math.cos(a), begin[1] + length * math.sin(a)) for a in arc), 1, "opens rim")
    raster.line(begin, sheet.at(turned), 4, "opens rim")
    raster.line(begin, sheet.at(turned), 2, "open")


def _leaf_end(world: World, hinge: Point, level: bool, length: float) -> Point:
    """Where an open leaf ends: up or to the right, the other way where the home ends there."""
    bounds = world.scene.bounds
    if level:
        return (hinge[0], hinge[1] + (length if hinge[1] + length <= bounds[3] else -length))
    return (hinge[0] + (length if hinge[0] + length <= bounds[2] else -length), hinge[1])


def _angle(start: Pixel, end: Pixel) -> float:
    return math.atan2(end[1] - start[1], end[0] - start[0])


# -- the body --------------------------------------------------------------------------------------------------------


def _draw_path(raster: Raster, points: Sequence[Pixel]) -> None:
    if len(points) < 2:
        return
    raster.dots(_every(points, DOT_EVERY_PX), 3, "body")
    raster.disc(points[-1], 5, "body")
    raster.disc(points[-1], 3, "rim")


def _every(points: Sequence[Pixel], distance: float) -> Iterable[Pixel]:
    """Points at equal distances along a way."""
    left = distance
    for start, end in pairwise(points):
        length = math.dist(start, end)
        while left <= length:
            part = left / length
            yield (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)
            left += distance
        left -= length


def _draw_body(raster: Raster, world: World, sheet: Sheet) -> list[tuple[str, Pixel]]:
    """The disc with its nose, the gaze and the hands; what is held, and where that is drawn."""
    centre, size = sheet.at(world.at), _body_px(world, sheet)
    reach = max(GAZE_M * sheet.scale, 3 * size)
    cone = [_from(centre, world.gaze + GAZE_DEG * part, reach) for part in (-1, -0.5, 0, 0.5, 1)]
    raster.polygon([centre, *cone], None)
    for grow, colour in ((2, "rim"), (1, "body rim")):
        _draw_nose(raster, centre, world.facing, size, grow, colour)
        raster.disc(centre, size + grow, colour)
    _draw_nose(raster, centre, world.facing, size, 0, "body")
    raster.disc(centre, size, "body")
    held: dict[str, list[Pixel]] = {}
    for hand, side in (("left", 62.0), ("right", -62.0)):
        if name := world.held(hand):
            held.setdefault(name, []).append(_from(centre, world.facing + side, size + 3))
    for spots in held.values():
        for spot in spots:
            _draw_dot(raster, spot, "carried")
    return [(name, spots[0]) for name, spots in held.items()]


def _body_px(world: World, sheet: Sheet) -> float:
    return max(BODY_PX, world.scene.agent.radius_m * sheet.scale)


def _from(centre: Pixel, degrees: float, distance: float) -> Pixel:
    angle = math.radians(degrees)
    return (centre[0] + distance * math.cos(angle), centre[1] - distance * math.sin(angle))


def _draw_nose(raster: Raster, centre: Pixel, facing: float, size: float, grow: int, colour: str) -> None:
    tip = _from(centre, facing, size * 1.75 + 2 * grow)
    raster.polygon([tip, *(_from(centre, facing + side, size + grow) for side in (48, -48))], colour)


def _body_labels(world: World, sheet: Sheet, held: Iterable[tuple[str, Pixel]]) -> list[Label]:
    x, y = sheet.at(world.at)
    size = _body_px(world, sheet) + 5
    about = (round(x - size), round(y - size), round(x + size), round(y + size))
    posture = "" if world.posture == STANDING else f" {world.posture}"
    dots = [
        Label(shown_name(name), "carried ink", (round(x - 6), round(y - 6), round(x + 6), round(y + 6)))
        for name, (x, y) in held
    ]
    return [*dots, Label(f"you{posture}", "body ink", about)]


def _labels_beside(furnished: Furnished, own: list[Label]) -> list[Laid]:
    """Every name with the body's own; those that the body would hide find another spot."""
    body = own[-1].about
    stay = [laid for laid in furnished.labels if not shared(laid.area, body)]
    moved = [laid.label for laid in furnished.labels if shared(laid.area, body)]
    things = (*furnished.things, body)
    return [*stay, *lay([*own, *moved], things, furnished.lines, FOR_LABELS, stay)]


def _draw_hands(raster: Raster, world: World) -> None:
    x = LEFT
    for hand in ("left", "right"):
        held = world.held(hand)
        lead = f"{hand} hand: "
        raster.text(x, SIDE - 30, lead, "quiet")
        x += set_text(lead + ".")[0] - 2
        raster.text(x, SIDE - 30, shown_name(held) if held else "empty", "carried ink" if held else "quiet")
        x = max(LEFT + 170, x + set_text(shown_name(held or "empty"))[0] + 18)
