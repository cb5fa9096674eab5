"""One MCP server, kept connected by one task of its own.

The connection is opened, held and closed inside that task, as the protocol's client needs; calls come from any task. A
server that goes away ends the task, and the next call starts it anew.
"""

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from beforehand.adapters.mcp.config import McpServerConfig
from beforehand.adapters.mcp.transport import LastWords, watched
from beforehand.model.errors import UnavailableError
from beforehand.ports.tasks import job

if TYPE_CHECKING:
    import anyio
    from mcp import Client

SIGN_OF_LIFE_S = 5.0

# The client library logs a server's odd output with tracebacks; without a log set up they would land on the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())


@dataclass(eq=False)
class _Link:
    """One connection, from its start to its end."""

    opened: "asyncio.Future[Client]"
    scope: "anyio.CancelScope"
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    @property
    def is_up(self) -> bool:
        return self.opened.done() and not self.stop.is_set() and self.task is not None and not self.task.done()

    async def end(self) -> None:
        """A server that runs is asked to go; one that is still starting is not waited for."""
        self.stop.set()
        if not self.opened.done():
            self.scope.cancel()
        if self.task is not None:
            await asyncio.wait([self.task])


class McpConnection:
    def __init__(self, config: McpServerConfig) -> None:
        self.config = config
        self._link: _Link | None = None
        self._changing = asyncio.Lock()
        self._last_words = LastWords()
        self._is_suspect = False

    async def client(self) -> "Client":
        """The connected client, connecting first where needed; UnavailableError says why it cannot."""
        async with self._changing:
            link = self._link
            if link is not None and link.is_up and await self._answers(link):
                return link.opened.result()
            await self._end()
            return await self._open()

    async def close(self) -> None:
        async with self._changing:
            await self._end()

    async def drop(self, client: "Client") -> None:
        """Give up a connection that has turned out broken, unless it has been replaced already."""
        async with self._changing:
            if self._link is not None and self._link.opened.done() and self._link.opened.result() is client:
                await self._end()

    def suspect(self) -> None:
        """After a call that timed out: ask the server for a sign of life before it is used again."""
        self._is_suspect = True

    async def _open(self) -> "Client":
        import anyio

        link = _Link(asyncio.get_running_loop().create_future(), anyio.CancelScope())
        self._link, self._is_suspect = link, False
        self._last_words.clear()
        link.task = job(self._keep(link), f"the MCP server {self.config.name}")
        try:
            async with asyncio.timeout(self.config.start_timeout_s):
                return await asyncio.shield(link.opened)
        except TimeoutError:
            await self._end()
            raise self._unavailable(f"it did not answer within {self.config.start_timeout_s:g} s") from None
        except asyncio.CancelledError:
            await self._end()
            raise
        except Exception as error:
            await self._end()
            raise self._unavailable(root_cause(error)) from error

    async def _end(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.end()

    async def _keep(self, link: _Link) -> None:
        try:
            with link.scope:
                async with AsyncExitStack() as stack:
                    client = await self._connected(stack, link)
                    if not link.opened.done():
                        link.opened.set_result(client)
                    await link.stop.wait()
        except Exception as error:  # whatever a server's end looks like, the next call starts it anew
            if not link.opened.done():
                link.opened.set_exception(error)
        finally:
            link.stop.set()
            if not link.opened.done():
                link.opened.set_exception(ConnectionError("it went away while it was starting"))
            link.opened.exception()  # looked at, so that nobody is warned about a failure nobody waited for

    async def _connected(self, stack: AsyncExitStack, link: _Link) -> "Client":
        from mcp import Client

        client = Client(await self._transport(stack, link.stop), read_timeout_seconds=self.config.start_timeout_s)
        return await stack.enter_async_context(client)

    async def _transport(self, stack: AsyncExitStack, gone: asyncio.Event) -> Any:
        from mcp.client.stdio import StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        config = self.config
        if config.url is not None:
            http = create_mcp_http_client(headers=config.headers or None)
            await stack.enter_async_context(http)
            return streamable_http_client(config.url, http_client=http)
        parameters = StdioServerParameters(
            command=config.command or "", args=list(config.args), env=config.env, cwd=config.cwd
        )
        return watched(stdio_client(parameters, errlog=stack.enter_context(self._last_words.heard())), gone)

    async def _answers(self, link: _Link) -> bool:
        if not self._is_suspect:
            return True
        try:
            async with asyncio.timeout(SIGN_OF_LIFE_S):
                await link.opened.result().list_tools(cache_mode="bypass")
        except Exception:  # no answer is no answer, whatever it looks like
            return False
        self._is_suspect = False
        return True

    def _unavailable(self, why: str) -> UnavailableError:
        said = self._last_words.telling()
        return UnavailableError(
            f"The MCP server {self.config.name} cannot be used: {why}." + (f" It said: {said}" if said else ""),
            code="mcp.unavailable",
            hint=f"Check the setting mcp.{self.config.name} ({self.config.where()}).",
        )


def root_cause(error: BaseException) -> str:
    """The first plain reason inside nested groups of errors, for a sentence."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError):
        return f"the program {error.filename} is not there"
    said = (str(error) or type(error).__name__).rstrip(".")
    return {"Connection closed": "it ended without answering"}.get(said, said)
