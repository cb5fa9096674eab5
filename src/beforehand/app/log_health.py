"""Is the log well? Looked at off the loop, and not more often than anybody needs to know."""

import asyncio
import time
from collections.abc import Callable

from beforehand.app.stores import check_log, check_room
from beforehand.model.finding import Finding
from beforehand.ports.tasks import part

FRESH_S = 2.0


class LogHealth:
    def __init__(self, url: str) -> None:
        self._log = _Look(lambda: check_log(url))
        self._room = _Look(lambda: check_room(url))

    async def findings(self) -> list[Finding]:
        """What is wrong with the log; nothing when it can be read and written."""
        return await self._log.broken()

    async def room(self) -> list[Finding]:
        """Why nothing more finds room; a look at the disk alone, quick enough for every write."""
        return await self._room.broken() and await self._room.broken(anew=True)  # there may be room by now


class _Look:
    def __init__(self, look: Callable[[], list[Finding]]) -> None:
        self._look = look
        self._found: list[Finding] = []
        self._looked_at = float("-inf")
        self._looking: asyncio.Task[list[Finding]] | None = None

    async def broken(self, *, anew: bool = False) -> list[Finding]:
        """What is broken, as of a moment ago; `anew` trusts no earlier look."""
        if not anew and time.monotonic() - self._looked_at < FRESH_S:
            return self._found
        if self._looking is None:
            self._looking = part(asyncio.to_thread(self._look))
        looking = self._looking
        try:
            self._found = [finding for finding in await asyncio.shield(looking) if finding.state == "broken"]
            self._looked_at = time.monotonic()
        finally:
            if looking.done():
                self._looking = None
        return self._found
