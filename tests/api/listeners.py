"""What the tests of both streams do: write into the log, and listen without ever reading."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit


async def noted(server: Any, count: int, size: int = 0, **about: Any) -> None:
    """Write `count` events into the log."""
    for number in range(count):
        await server.runtime.log("noted", {"number": number, "text": "x" * size}, owner="test", **about)


@asynccontextmanager
async def lazy_listener(server: Any, path: str) -> AsyncIterator[None]:
    """Beside somebody who asked for a stream and reads nothing; at the end that one has been cut off."""
    audience, parts = server.app.state.audience, urlsplit(server.url)
    audience.patience_s = 0.3
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.setblocking(False)
        await asyncio.get_running_loop().sock_connect(lazy, (parts.hostname, parts.port))
        request = f"GET /api/v1{path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
        await asyncio.get_running_loop().sock_sendall(lazy, request)
        await server.until(lambda: audience.following == 1)
        yield
        await server.until(lambda: audience.cut_off == 1)
        await server.until(lambda: audience.following == 0)
