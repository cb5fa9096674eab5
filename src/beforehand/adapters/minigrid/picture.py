"""The grid seen from above as a PNG of 512 pixels a side, drawn by MiniGrid."""

import struct
import zlib
from typing import Any

import numpy as np

from beforehand.adapters.minigrid.grid import Grid

SIDE = 512
FINEST = 32
"""Cells are drawn with so many pixels a side at most, and made larger by whole numbers: drawing is what takes time."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def picture_of(grid: Grid) -> bytes:
    """The whole grid, as large as it fits, in the middle of a white square."""
    env = grid.env
    tile = max(1, SIDE // max(env.width, env.height))
    times = -(-tile // FINEST)
    drawn = np.asarray(env.get_frame(highlight=False, tile_size=tile // times), dtype=np.uint8)
    drawn = drawn.repeat(times, axis=0).repeat(times, axis=1)
    square = np.full((SIDE, SIDE, 3), 255, dtype=np.uint8)
    top, left = (SIDE - drawn.shape[0]) // 2, (SIDE - drawn.shape[1]) // 2
    square[top : top + drawn.shape[0], left : left + drawn.shape[1]] = drawn
    return _png(square)


def _png(pixels: "np.ndarray[Any, np.dtype[np.uint8]]") -> bytes:
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, width * 3)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
