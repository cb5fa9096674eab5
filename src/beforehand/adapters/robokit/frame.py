"""Robokit frames: sixteen bytes of header, then JSON.

0x5A, a version, a sequence number that the answer repeats, the length of what follows, the number of the question, and
six reserved bytes. Pure: bytes go in as they come, whole frames come out. Whatever is no frame is passed over until
the next one begins, so that garbage never becomes a message and never ends the reading.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MARK = 0x5A
VERSIONS = (1, 2)
HEADER = struct.Struct("!BBHLH6s")
LONGEST = 1024 * 1024
"""No robot has more than this to say at once; a header that claims more is garbage."""
_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Frame:
    """One message. `number` says what it is about; an answer's is that of its question plus 10000."""

    number: int
    sequence: int = 0
    body: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1


def encode(frame: Frame) -> bytes:
    """The frame as it goes over the wire; an empty body is no bytes at all."""
    text = json.dumps(frame.body, ensure_ascii=False, separators=(",", ":")).encode() if frame.body else b""
    return HEADER.pack(MARK, frame.version, frame.sequence, len(text), frame.number, bytes(6)) + text


class FrameParser:
    """Frames out of a stream of bytes that may come in any pieces and hold anything."""

    def __init__(self) -> None:
        self._held = bytearray()
        self.passed_over = 0
        """How many bytes were no part of any frame."""

    @property
    def waiting(self) -> int:
        """Bytes of a frame that has begun and not ended."""
        return len(self._held)

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes in; every frame that is whole by now."""
        self._held += data
        frames: list[Frame] = []
        while self._find_mark() and len(self._held) >= HEADER.size:
            found = self._take()
            if found is None:
                break
            if isinstance(found, Frame):
                frames.append(found)
        return frames

    def _find_mark(self) -> bool:
        at = self._held.find(MARK)
        self._pass_over(len(self._held) if at < 0 else at)
        return at >= 0

    def _take(self) -> Frame | bool | None:
        """The frame that begins here; True where none does, None where more bytes must come to tell."""
        _, version, sequence, length, number, reserved = HEADER.unpack_from(self._held)
        if version not in VERSIONS or length > LONGEST or not self._begins_well(length):
            self._pass_over(1)
            return True
        end = HEADER.size + length
        if len(self._held) < end:
            return None
        body = _read(bytes(self._held[HEADER.size : HEADER.size + _json_length(length, reserved)]))
        if body is None:
            self._pass_over(1)
            return True
        del self._held[:end]
        return Frame(number, sequence, body, version)

    def _begins_well(self, length: int) -> bool:
        """Whether what follows the header can be an object: known from its first byte, long before its last."""
        follows = self._held[HEADER.size : HEADER.size + 1]
        return not length or not follows or follows == b"{" or follows in _SPACE

    def _pass_over(self, count: int) -> None:
        self.passed_over += count
        del self._held[:count]


def _json_length(length: int, reserved: bytes) -> int:
    """Some robots put raw data behind the JSON and say in the reserved bytes where the JSON ends."""
    said = int.from_bytes(reserved[2:4], "big")
    return said if 0 < said < length else length


def _read(text: bytes) -> dict[str, Any] | None:
    """The object in these bytes; None where there is none. Robots do not always write clean UTF-8 in their alarms."""
    if not text.strip():
        return {}
    try:
        found = json.loads(text.decode("utf-8", errors="replace"), parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
