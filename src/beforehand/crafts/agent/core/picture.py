"""The world seen from above, for whoever steers by sight: 512 pixels a side, x to the right, y up, everything named.

Rooms are pale, walls dark; furniture, what opens and what can be carried have a colour each; what nobody can see from
above, such as what blocks a door, is not drawn. What does not move is drawn once and kept; the body, its gaze, its
hands and its way come on top of it, and names that the body would hide step aside.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from beforehand.crafts.agent.core.font import HEIGHT, set_text
from beforehand.crafts.agent.core.labels import Area, Label, Laid, lay, shared, shown_name
from beforehand.crafts.agent.core.raster import SIDE, Colour, Palette, Pixel, Raster
from beforehand.crafts.agent.core.stages import Going, rest_of
from beforehand.crafts.agent.core.state_text import short
from beforehand.crafts.agent.core.words import Box, HomeScene, Point
from beforehand.crafts.agent.core.world import STANDING, Place, World

COLOURS: dict[str, Colour] = {
    "paper": (252, 252, 250),
    "ground": (240, 240, 236),
    "room 1": (233, 240, 247),
    "room 2": (247, 240, 228),
    "room 3": (234, 244, 233),
    "room 4": (243, 235, 245),
    "room 5": (230, 243, 243),
    "room 6": (248, 236, 234),
    "room name": (150, 156, 166),
    "rim": (255, 255, 255),
    "wall": (52, 58, 68),
    "faint": (196, 200, 206),
    "quiet": (110, 116, 126),
    "ink": (28, 33, 42),
    "furniture": (207, 211, 217),
    "furniture rim": (138, 145, 156),
    "closed": (222, 196, 158),
    "open": (250, 243, 228),
    "opens rim": (150, 104, 44),
    "opens ink": (108, 70, 20),
    "carried": (64, 150, 138),
    "carried ink": (12, 92, 84),
    "body": (214, 69, 43),
    "body rim": (120, 26, 10),
    "body ink": (168, 36, 14),
}
PALETTE = Palette(COLOURS, wash=(240, 110, 70), strength=0.30)
LEFT, TOP, RIGHT, BOTTOM = 26, 10, 10, 62
"""Room for the numbers at the left side and for the last lines below."""
GAZE_M, GAZE_DEG = 1.3, 14.0
BODY_PX, DOT_PX = 9.0, 4.0
DOT_EVERY_PX = 8.0
KEPT = 8


@dataclass(frozen=True, slots=True)
class Sheet:
    """How metres become pixels: as large as fits, in the middle."""

    scale: float
    x: float
    y: float

    def at(self, point: Point) -> Pixel:
        return (self.x + point[0] * self.scale, self.y - point[1] * self.scale)

    def area(self, bounds: Box) -> Area:
        left, bottom = self.at((bounds[0], bounds[1]))
        right, top = self.at((bounds[2], bounds[3]))
        return (round(left), round(top), round(right), round(bottom))

    def around(self, centre: Point, extent: tuple[float, float]) -> Area:
        (x, y), (width, depth) = centre, extent
        return self.area((x - width / 2, y - depth / 2, x + width / 2, y + depth / 2))


def sheet_of(bounds: Box) -> Sheet:
    width, height = SIDE - LEFT - RIGHT, SIDE - TOP - BOTTOM
    scale = min(width / (bounds[2] - bounds[0]), height / (bounds[3] - bounds[1]))
    spare_x, spare_y = width - scale * (bounds[2] - bounds[0]), height - scale * (bounds[3] - bounds[1])
    return Sheet(scale, LEFT + spare_x / 2 - bounds[0] * scale, SIDE - BOTTOM - spare_y / 2 + bounds[1] * scale)


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
_EMPTY: list[tuple[HomeScene, Raster, tuple[Area, ...]]] = []


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
    empty, lines = _empty(world.scene, sheet)
    raster = empty.copy()
    standing = [name for name in world.places if world.places[name].at is not None]
    for name in standing:
        _draw_thing(raster, world, sheet, name)
    for name, place in world.places.items():
        if place.support is not None:
            _draw_dot(raster, sheet.at(world.position(name)), world.lies_in_closed(name) is not None)
    areas = {name: _area_of(world, sheet, name) for name, place in world.places.items() if not place.hands}
    labels = [_label_of(world, name, areas) for name in sorted(areas, key=lambda name: _size(areas[name]))]
    things = tuple(areas.values())
    whole = (2, 2, SIDE - 2, SIDE - BOTTOM + HEIGHT + 4)
    return Furnished(
        world.scene, world.places, world.open, sheet, raster, tuple(lay(labels, things, lines, whole)), things, lines
    )


def _size(area: Area) -> int:
    """Small things are named first: large ones have more to choose from."""
    return (area[2] - area[0]) * (area[3] - area[1])


def _area_of(world: World, sheet: Sheet, name: str) -> Area:
    if world.places[name].support is None:
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
    colour = "carried ink" if thing.carried or support else "opens ink" if thing.opens else "ink"
    inside = not thing.door and support is None
    return Label(shown_name(name), colour, areas[name], inside, areas.get(support) if support else None)


# -- the empty home --------------------------------------------------------------------------------------------------


def _empty(scene: HomeScene, sheet: Sheet) -> tuple[Raster, tuple[Area, ...]]:
    """Rooms, walls and the frame, drawn once for a scene; and the lines in them that names keep off."""
    for known, raster, lines in _EMPTY:
        if known is scene:
            return raster, lines
    raster = Raster(PALETTE)
    ground = sheet.area(scene.bounds)
    raster.box(0, 0, SIDE, SIDE, "paper")
    raster.box(*ground, "ground")
    for number, room in enumerate(scene.rooms):
        raster.box(*sheet.area(room.bounds), f"room {number % 6 + 1}")
    names = [_draw_room_name(raster, scene, sheet, room.name, room.bounds) for room in scene.rooms]
    for start, end in scene.walls:
        raster.line(sheet.at(start), sheet.at(end), 4, "wall")
    left, top, right, bottom = ground
    raster.frame(left - 3, top - 3, right + 3, bottom + 3, "wall", 3)
    _draw_measures(raster, scene, sheet)
    _draw_legend(raster)
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    outer = zip(corners, (*corners[1:], corners[0]), strict=True)
    inner = ((sheet.at(start), sheet.at(end)) for start, end in scene.walls)
    lines = (*names, *(_line_area(start, end) for start, end in (*outer, *inner)))
    _EMPTY[KEPT - 1 :] = []
    _EMPTY.insert(0, (scene, raster, lines))
    return raster, lines


def _line_area(start: Pixel, end: Pixel) -> Area:
    (x, y), (x2, y2) = start, end
    return (round(min(x, x2)) - 2, round(min(y, y2)) - 2, round(max(x, x2)) + 2, round(max(y, y2)) + 2)


def _draw_room_name(raster: Raster, scene: HomeScene, sheet: Sheet, name: str, bounds: Box) -> Area:
    """In the room's emptiest strip, its middle before its ends."""
    left, top, right, bottom = sheet.area(bounds)
    text = shown_name(name)
    wide = set_text(text)[0]
    solids = [sheet.around(thing.at, thing.extent) for thing in scene.objects if thing.at]
    spots = [
        (round(left + 5 + (right - left - wide - 10) * across), round(top + 4 + (bottom - top - HEIGHT - 8) * down))
        for down in (0.5, 0.35, 0.65, 0.2, 0.8, 0.0, 1.0)
        for across in (0.5, 0.25, 0.75, 0.0, 1.0)
    ]
    areas = [(x, y, x + wide, y + HEIGHT) for x, y in spots]
    best = min(areas, key=lambda area: sum(shared(_wider(area), solid) for solid in solids))
    raster.text(best[0], best[1], text, "room name")
    return best


def _wider(area: Area, by: int = 10) -> Area:
    return (area[0] - by, area[1] - by, area[2] + by, area[3] + by)


def _draw_measures(raster: Raster, scene: HomeScene, sheet: Sheet) -> None:
    """Numbers of metres along x and y, and a bar to compare with."""
    left, top, right, bottom = sheet.area(scene.bounds)
    step = _step(sheet.scale)
    for metres in _marks(scene.bounds[0], scene.bounds[2], step):
        x = round(sheet.at((metres, 0))[0])
        raster.box(x - 1, bottom + 3, x + 1, bottom + 7, "quiet")
        wide = set_text(short(metres))[0]
        raster.text(min(x - wide // 2, right - wide + 3), bottom + 9, short(metres), "quiet")
    for metres in _marks(scene.bounds[1], scene.bounds[3], step):
        y = round(sheet.at((0, metres))[1])
        raster.box(left - 7, y - 1, left - 3, y + 1, "quiet")
        raster.text(left - 9 - set_text(short(metres))[0], max(0, y - 5), short(metres), "quiet")
    _draw_bar(raster, sheet, step)


def _step(scale: float) -> float:
    """A round number of metres that is wide enough for its number."""
    power = 10.0 ** math.floor(math.log10(36 / scale))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor * scale >= 36)


def _marks(least: float, greatest: float, step: float) -> Iterator[float]:
    for number in range(math.ceil(least / step), math.floor(greatest / step) + 1):
        yield number * step


def _draw_bar(raster: Raster, sheet: Sheet, step: float) -> None:
    text = f"{short(step)} m"
    right = SIDE - RIGHT
    left = round(right - step * sheet.scale)
    raster.box(left, SIDE - 24, right, SIDE - 22, "ink")
    for x in (left, right - 2):
        raster.box(x, SIDE - 27, x + 2, SIDE - 19, "ink")
    raster.text(left - set_text(text)[0] - 6, SIDE - 28, text, "ink")


LEGEND = (
    ("furniture", "furniture rim", "fixed"),
    ("closed", "opens rim", "closed"),
    ("open", "opens rim", "open"),
    ("carried", "carried ink", "can be carried"),
)


def _draw_legend(raster: Raster) -> None:
    x = LEFT
    for fill, rim, text in LEGEND:
        raster.box(x, SIDE - 14, x + 11, SIDE - 4, fill)
        raster.frame(x, SIDE - 14, x + 11, SIDE - 4, rim, 2)
        raster.text(x + 15, SIDE - 14, text, "quiet")
        x += 15 + set_text(text)[0] + 16
    raster.text(x, SIDE - 14, "x right, y up", "quiet")


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


def _draw_dot(raster: Raster, at: Pixel, hidden: bool) -> None:
    """A small thing; a ring where it lies behind a closed lid."""
    middle = (math.floor(at[0]) + 0.5, math.floor(at[1]) + 0.5)
    raster.disc(middle, DOT_PX + 0.5, "carried ink" if hidden else "rim")
    raster.disc(middle, DOT_PX - 0.5, "rim" if hidden else "carried")


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
            _draw_dot(raster, spot, hidden=False)
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
    sheet = (2, 2, SIDE - 2, SIDE - BOTTOM + HEIGHT + 4)
    things = (*furnished.things, body)
    return [*stay, *lay([*own, *moved], things, furnished.lines, sheet, stay)]


def _draw_hands(raster: Raster, world: World) -> None:
    x = LEFT
    for hand in ("left", "right"):
        held = world.held(hand)
        lead = f"{hand} hand: "
        raster.text(x, SIDE - 30, lead, "quiet")
        x += set_text(lead + ".")[0] - 2
        raster.text(x, SIDE - 30, shown_name(held) if held else "empty", "carried ink" if held else "quiet")
        x = max(LEFT + 170, x + set_text(shown_name(held or "empty"))[0] + 18)
