"""Live frames: positions and progress, encoded once, sent to whoever looks, and forgotten.

A listener that does not keep up misses frames; the next ones are newer anyway.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from pydantic_core import to_json

QUEUE = 64


class Telemetry:
    def __init__(self) -> None:
        self._listeners: set[tuple[str | None, asyncio.Queue[bytes | None]]] = set()

    @property
    def listeners(self) -> int:
        """How many follow the live frames."""
        return len(self._listeners)

    def is_wanted(self, scene: str | None = None) -> bool:
        """Whether anybody looks at that scene, or at everything."""
        return any(only is None or only == scene for only, _ in self._listeners)

    def publish(self, frame: Mapping[str, Any], scene: str | None = None) -> None:
        """Send one frame to all who look at that scene, or at everything."""
        wanted = [queue for only, queue in self._listeners if only is None or only == scene]
        if not wanted:
            return
        line = b"data: " + to_json(frame, inf_nan_mode="null") + b"\n\n"
        for queue in wanted:
            _put(queue, line)

    def wanted(self) -> set[str | None]:
        """What somebody looks at: scenes, and None for everything."""
        return {only for only, _ in self._listeners}

    def pass_on(self, line: bytes, only: str | None) -> None:
        """Send a frame of another server, as it came, to all here who look at just that."""
        for queue in [queue for wanted, queue in self._listeners if wanted == only]:
            _put(queue, line)

    async def follow(self, scene: str | None = None, *, idle_s: float | None = 15.0) -> AsyncIterator[bytes | None]:
        """Frames from now on; None when nothing came for `idle_s`, if that is given."""
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(QUEUE)
        me = (scene, queue)
        self._listeners.add(me)
        try:
            while True:
                try:
                    async with asyncio.timeout(idle_s):
                        frame = await queue.get()
                except TimeoutError:
                    yield None
                    continue
                if frame is None:
                    return
                yield frame
        finally:
            self._listeners.discard(me)

    def close(self) -> None:
        """End every subscription."""
        for _, queue in self._listeners:
            _put(queue, None)


def _put(queue: "asyncio.Queue[bytes | None]", line: bytes | None) -> None:
    """A full queue loses its oldest: newer frames count."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(line)
