"""A picture of indexed colours, 512 pixels a side: boxes, polygons, discs and text, written as a PNG.

Each row begins with the byte that a PNG wants there, so the pixels are the file's data as they stand. A wash lays a
hue over what is there already: every colour has its washed one in the palette.
"""

import math
import struct
import zlib
from collections.abc import Iterable, Sequence

from beforehand.crafts.agent.core.font import rim_of, set_text

SIDE = 512
_STRIDE = SIDE + 1
Pixel = tuple[float, float]
Colour = tuple[int, int, int]
HALF = 0.5


class Palette:
    """The colours by name, and each of them once more under a wash of one hue."""

    def __init__(self, colours: dict[str, Colour], wash: Colour, strength: float) -> None:
        self.number = {name: number for number, name in enumerate(colours)}
        plain = list(colours.values())
        washed = [_mixed(colour, wash, strength) for colour in plain]
        self.chunk = _chunk(b"PLTE", bytes(part for colour in (*plain, *washed) for part in colour))
        count = len(plain)
        self.washing = bytes(range(count, 2 * count)) + bytes(range(count, 256))

    def __getitem__(self, name: str) -> int:
        return self.number[name]


def _mixed(colour: Colour, other: Colour, part: float) -> Colour:
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(colour, other, strict=True))
    return red, green, blue


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = _chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 3, 0, 0, 0))
_END = _chunk(b"IEND", b"")


class Raster:
    """Pixels to draw on; x to the right and y down, both from 0. What lies outside is left out."""

    def __init__(self, palette: Palette, pixels: bytearray | None = None) -> None:
        self.palette = palette
        self.pixels = bytearray(_STRIDE * SIDE) if pixels is None else pixels

    def copy(self) -> "Raster":
        return Raster(self.palette, bytearray(self.pixels))

    def png(self) -> bytes:
        data = zlib.compress(self.pixels, 3)
        return b"".join((_SIGNATURE, _HEADER, self.palette.chunk, _chunk(b"IDAT", data), _END))

    # -- areas -----------------------------------------------------------------------------------------------------

    def span(self, y: int, left: int, right: int, colour: str | None) -> None:
        """One row from left up to right, without right; a wash where no colour is given."""
        left, right = max(0, left), min(SIDE, right)
        if not 0 <= y < SIDE or left >= right:
            return
        begin, end = y * _STRIDE + 1 + left, y * _STRIDE + 1 + right
        if colour is None:
            self.pixels[begin:end] = self.pixels[begin:end].translate(self.palette.washing)
        else:
            self.pixels[begin:end] = bytes((self.palette[colour],)) * (right - left)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        for y in range(max(0, round(top)), min(SIDE, round(bottom))):
            self.span(y, round(left), round(right), colour)

    def frame(self, left: float, top: float, right: float, bottom: float, colour: str, width: int = 1) -> None:
        """The rim of a box, inside it."""
        self.box(left, top, right, top + width, colour)
        self.box(left, bottom - width, right, bottom, colour)
        self.box(left, top, left + width, bottom, colour)
        self.box(right - width, top, right, bottom, colour)

    def polygon(self, points: Sequence[Pixel], colour: str | None) -> None:
        """Every pixel whose middle lies inside; a wash where no colour is given."""
        heights = [y for _, y in points]
        sides = list(zip(points, (*points[1:], points[0]), strict=True))
        for row in range(max(0, math.floor(min(heights))), min(SIDE, math.ceil(max(heights)) + 1)):
            middle = row + HALF
            met = sorted(
                x + (middle - y) * (x2 - x) / (y2 - y) for (x, y), (x2, y2) in sides if (y <= middle) != (y2 <= middle)
            )
            for left, right in zip(met[::2], met[1::2], strict=False):
                self.span(row, math.ceil(left - HALF), math.ceil(right - HALF), colour)

    def disc(self, centre: Pixel, radius: float, colour: str) -> None:
        x, y = centre
        for row in range(max(0, math.floor(y - radius)), min(SIDE, math.ceil(y + radius) + 1)):
            away = row + HALF - y
            if abs(away) < radius:
                half = math.sqrt(radius * radius - away * away)
                self.span(row, math.ceil(x - half - HALF), math.ceil(x + half - HALF), colour)

    # -- lines -----------------------------------------------------------------------------------------------------

    def line(self, start: Pixel, end: Pixel, width: float, colour: str) -> None:
        length = math.dist(start, end) or 1.0
        dx, dy = (end[0] - start[0]) / length * width / 2, (end[1] - start[1]) / length * width / 2
        corners = [
            (start[0] - dy, start[1] + dx),
            (end[0] - dy, end[1] + dx),
            (end[0] + dy, end[1] - dx),
            (start[0] + dy, start[1] - dx),
        ]
        self.polygon(corners, colour)

    def dots(self, points: Iterable[Pixel], size: int, colour: str) -> None:
        for x, y in points:
            left, top = round(x - size / 2), round(y - size / 2)
            self.box(left, top, left + size, top + size, colour)

    def text(self, left: int, top: int, text: str, colour: str, rim: str | None = None) -> None:
        """A line of text from its upper left corner, with a rim where one is asked for."""
        if rim is not None:
            self._spots(left, top, rim_of(text), self.palette[rim])
        self._spots(left, top, set_text(text)[1], self.palette[colour])

    def _spots(self, left: int, top: int, spots: Iterable[tuple[int, int]], number: int) -> None:
        pixels = self.pixels
        for dx, dy in spots:
            x, y = left + dx, top + dy
            if 0 <= x < SIDE and 0 <= y < SIDE:
                pixels[y * _STRIDE + 1 + x] = number
