"""The listening side of the server: a socket of one's own, and a uvicorn that stops cleanly with streams open."""

import asyncio
import errno
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from beforehand.model.errors import BadInputError
from beforehand.ports.tasks import part
from beforehand.server.errors import PROBLEM, MalformedError, problem

STOP_WITHIN_S = 5
LINGER_S = 1.0
KEEP_ALIVE_S = 75
"""Longer than clients and proxies keep an idle connection: who closes first must be the one who sends next, since a
write over a connection that is just being closed may or may not have arrived."""
Hook = Callable[[], Awaitable[None]]


class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection whose requests can cut it off, for readers that do not read."""

    app_state: dict[str, Any]
    transport: asyncio.Transport
    refused = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.app_state = {**self.app_state, "abort": transport.abort}

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP gets the same kind of answer as everything else."""
        told = problem(MalformedError("This is not an HTTP request that can be read.", code="http.malformed"))
        head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: {PROBLEM}\r\nContent-Length: {len(told.body)}\r\n"
        self.transport.write(head.encode() + b"Connection: close\r\n\r\n" + bytes(told.body))
        self.refused = True
        if self.transport.can_write_eof():  # not over TLS
            self.transport.write_eof()
        # Closed at once, what is still unread would make the system throw the answer away.
        asyncio.get_running_loop().call_later(LINGER_S, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        if not self.refused:
            super().data_received(data)

    def shutdown(self) -> None:
        if self.refused:
            self.transport.abort()
        else:
            super().shutdown()


class Listener(uvicorn.Server):
    """A uvicorn that says when it listens, ends streams before it waits for them, and leaves signals alone."""

    def __init__(
        self,
        app: Any,
        *,
        started: Hook,
        stopping: Callable[[], None],
        tls: ssl.SSLContext | None = None,
        within_s: int = STOP_WITHIN_S,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=within_s,
                ssl_context_factory=(lambda config, default: tls) if tls is not None else None,
            )
        )
        self._when_started = started
        self._when_stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            await self._when_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._when_stopping()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until cancelled; what is being answered then is still answered, within its time."""
        serving = part(super().serve(sockets))
        try:
            await asyncio.wait([serving])
        finally:
            self.should_exit = True
            await serving

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Whoever started this process hears its signals, and cancels."""
        yield


def bind(host: str, port: int) -> socket.socket:
    """A socket bound to the address; BadInputError with a sentence when that cannot be."""
    if not 0 <= port <= 65_535:
        raise BadInputError(f"{port} cannot be a port; ports go from 0 to 65535.", code="server.address")
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, proto)
    except (OSError, UnicodeError) as error:
        raise BadInputError(f"{host}:{port} is not an address to listen on: {error}.", code="server.address") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise _unbound(host, port, error) from None
    bound.setblocking(False)
    return bound


def _unbound(host: str, port: int, error: OSError) -> BadInputError:
    if error.errno == errno.EADDRINUSE:
        return BadInputError(
            f"Port {port} on {host} is in use by another program.",
            code="server.port",
            hint="Name another one with --port, or stop that program.",
        )
    if error.errno == errno.EACCES:
        return BadInputError(
            f"Port {port} may not be used by this user.", code="server.port", hint="Ports from 1024 on are free to use."
        )
    return BadInputError(f"{host}:{port} is not an address to listen on: {error}.", code="server.address")


def is_local(bound: socket.socket) -> bool:
    """Whether only this machine can reach the socket."""
    return ipaddress.ip_address(str(bound.getsockname()[0]).partition("%")[0]).is_loopback


def url_from_elsewhere(bound: socket.socket, scheme: str = "http") -> str:
    """Where other machines find the socket, as far as this one knows."""
    host, port = bound.getsockname()[:2]
    if ipaddress.ip_address(str(host).partition("%")[0]).is_unspecified:
        return f"{scheme}://{socket.gethostname()}:{port}"
    return url_of(bound, scheme)


def url_of(bound: socket.socket, scheme: str = "http") -> str:
    """Where a browser on this machine finds the socket."""
    host, port = bound.getsockname()[:2]
    if ipaddress.ip_address(str(host).partition("%")[0]).is_unspecified:
        host = "127.0.0.1" if bound.family == socket.AF_INET else "::1"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
