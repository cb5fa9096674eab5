"""The plan of a home without its things: rooms, walls, the frame with its metres, the legend.

It is the same as long as the scene is, so it is drawn once for a scene and kept. A sheet says where metres come to lie
on the picture; the colours of the whole picture stand here together.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from beforehand.crafts.agent.core.font import HEIGHT, set_text
from beforehand.crafts.agent.core.labels import Area, shared, shown_name
from beforehand.crafts.agent.core.raster import SIDE, Colour, Palette, Pixel, Raster
from beforehand.crafts.agent.core.words import Box, HomeScene, Point, Thing
from beforehand.ports.state_text import short

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
FOR_LABELS: Area = (2, 2, SIDE - 2, SIDE - BOTTOM + HEIGHT + 4)
KEPT = 8
"""How many scenes, and how many arrangements of things, are kept drawn."""
_EMPTY: list[tuple[HomeScene, Raster, tuple[Area, ...]]] = []


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


def empty_home(scene: HomeScene, sheet: Sheet) -> tuple[Raster, tuple[Area, ...]]:
    """Rooms, walls and the frame, drawn once for a scene; and what names keep off."""
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
    outside = ((0, 0, SIDE, top), (0, bottom, SIDE, SIDE), (0, 0, left, SIDE), (right, 0, SIDE, SIDE))
    lines = (*names, *outside, *(_line_area(sheet.at(start), sheet.at(end)) for start, end in scene.walls))
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
    solids = [sheet.around(thing.at, _needs(thing)) for thing in scene.objects if thing.at]
    spots = [
        (round(left + 5 + (right - left - wide - 10) * across), round(top + 4 + (bottom - top - HEIGHT - 8) * down))
        for down in (0.5, 0.35, 0.65, 0.2, 0.8, 0.0, 1.0)
        for across in (0.5, 0.25, 0.75, 0.0, 1.0)
    ]
    areas = [(x, y, x + wide, y + HEIGHT) for x, y in spots]
    best = min(areas, key=lambda area: sum(shared(_wider(area), solid) for solid in solids))
    raster.text(best[0], best[1], text, "room name")
    return best


def _needs(thing: Thing) -> tuple[float, float]:
    """How much room a thing takes: a door as much as its leaf, whichever way it turns."""
    wide, deep = thing.extent
    return (2 * max(wide, deep),) * 2 if thing.door else (wide, deep)


def _wider(area: Area, by: int = 10) -> Area:
    return (area[0] - by, area[1] - by, area[2] + by, area[3] + by)


def _draw_measures(raster: Raster, scene: HomeScene, sheet: Sheet) -> None:
    """Numbers of metres along x and y, and a bar to compare with."""
    left, _, right, bottom = sheet.area(scene.bounds)
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
