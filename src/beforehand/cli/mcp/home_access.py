"""Where an MCP client's questions are answered: by the server of the home, else by reading the home's log here.

Whoever called over HTTP with a token is, at the server too, the caller with that token, and may do what it may.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from beforehand.app.dry_run import open_for_looking
from beforehand.app.runtime import Runtime
from beforehand.app.settings import Settings
from beforehand.app.tokens import may
from beforehand.cli.asking import server_of
from beforehand.cli.backend import STARTING_PAUSE_S, STARTING_TRIES, Call, open_backend
from beforehand.cli.remote_backend import RemoteBackend
from beforehand.model.errors import ForbiddenError, NotLeadingError
from beforehand.ports.store import Leader

NOTE = "beforehand mcp"
Here = Callable[[Runtime], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class HomeAccess:
    settings: Settings
    role: str = "admin"
    by: str = "mcp client"

    def for_caller(self, name: str, role: str, token: str | None) -> "HomeAccess":
        """The same home for somebody who has called over HTTP."""
        values = self.settings.values if token is None else {**self.settings.values, "token": token}
        return HomeAccess(replace(self.settings, values=values), role, name)

    async def look(self, path: str, here: Here, *, with_servers: bool = False) -> Any:
        """What the home's server answers, else what `here` reads; `with_servers` has the tools of MCP servers there."""
        leader = await self.server()
        if leader is not None:
            async with RemoteBackend(str(leader.url), self.settings) as server:
                return await server.call("GET", path)
        async with open_for_looking(self.settings, with_servers=with_servers) as runtime:
            return await here(runtime)

    @asynccontextmanager
    async def news(self, *kinds: str) -> AsyncIterator[AsyncIterator[Any]]:
        """Events of these kinds from now on, as the home's server sends them; none where no server runs."""
        leader = await self.server()
        if leader is None:
            yield _nothing()
            return
        async with RemoteBackend(str(leader.url), self.settings) as server:
            newest = await server.call("GET", "/events?limit=1")
            yield server.log(newest[-1]["seq"] if newest else 0, kinds=",".join(kinds))

    async def perform(self, here: Here, method: str, path: str, body: Any = None) -> Any:
        self.require_operator("writing")
        for tried in range(STARTING_TRIES):
            try:
                async with open_backend(self.settings, note=NOTE) as backend:
                    return await backend.perform(here, Call(method, path, body))
            except NotLeadingError as error:
                unsigned = not error.extra.get("note")  # somebody makes the home, and has not said yet who it is
                if not (unsigned or error.extra["note"] == NOTE) or tried == STARTING_TRIES - 1:
                    raise
            await asyncio.sleep(STARTING_PAUSE_S)  # another client writes, which is done in a moment
        raise AssertionError("Every try returns or raises.")

    async def server(self) -> Leader | None:
        """The server that leads the home, if one runs."""
        return await asyncio.to_thread(server_of, self.settings)

    def require_operator(self, for_what: str) -> None:
        if not may(self.role, "operator"):
            says = f"The token {self.by!r} has the role {self.role}; {for_what} needs operator."
            raise ForbiddenError(says, code="auth.role")


async def _nothing() -> AsyncIterator[Any]:
    none: tuple[Any, ...] = ()
    for event in none:
        yield event
