"""What Beforehand adds to a server's pipes: noticing that the server is gone, and hearing what it says on stderr."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


@asynccontextmanager
async def watched(
    transport: "AbstractAsyncContextManager[TransportStreams]", gone: asyncio.Event
) -> "AsyncIterator[TransportStreams]":
    """The same transport; `gone` is set when the server's output ends."""
    import anyio

    async with transport as (read, write):
        send, receive = anyio.create_memory_object_stream[Any](0)

        async def forward() -> None:
            try:
                async with send:
                    async for message in read:
                        await send.send(message)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return
            finally:
                gone.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(forward)
            try:
                yield receive, write
            finally:
                tasks.cancel_scope.cancel()


class LastWords:
    """The last lines a server wrote to stderr, to tell why it could not be used."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=20)

    def clear(self) -> None:
        self._lines.clear()

    def telling(self) -> str:
        """The line most likely to tell what went wrong: the first that speaks of an error, else the last."""
        for line in self._lines:
            if "error" in line.lower():
                return line
        return self._lines[-1] if self._lines else ""

    @contextmanager
    def heard(self) -> Iterator[TextIO]:
        """A file for the server's stderr, listened to for as long as the context lasts."""
        loop = asyncio.get_running_loop()
        reading, writing = os.pipe()
        os.set_blocking(reading, False)

        def take() -> None:
            try:
                chunk = os.read(reading, 65_536)
            except BlockingIOError:
                return
            if not chunk:
                loop.remove_reader(reading)
            lines = (line.strip() for line in chunk.decode("utf-8", "replace").splitlines())
            self._lines.extend(line[:300] for line in lines if line)

        loop.add_reader(reading, take)
        try:
            with os.fdopen(writing, "w") as file:
                yield file
        finally:
            take()
            loop.remove_reader(reading)
            os.close(reading)
