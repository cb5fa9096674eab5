"""Is the log well? Looked at off the loop, and not more often than anybody needs to know."""

import asyncio
import time

from beforehand.app.stores import check_log
from beforehand.model.finding import Finding
from beforehand.ports.tasks import part

FRESH_S = 2.0


class LogHealth:
    def __init__(self, url: str) -> None:
        self._url = url
        self._found: list[Finding] = []
        self._looked_at = float("-inf")
        self._looking: asyncio.Task[list[Finding]] | None = None

    async def findings(self, *, anew: bool = False) -> list[Finding]:
        """What is wrong with the log; nothing when it can be read and written. `anew` trusts no earlier look."""
        if not anew and time.monotonic() - self._looked_at < FRESH_S:
            return self._found
        if self._looking is None:
            self._looking = part(asyncio.to_thread(check_log, self._url))
        looking = self._looking
        self._found = [finding for finding in await asyncio.shield(looking) if finding.state == "broken"]
        self._looked_at = time.monotonic()
        self._looking = None
        return self._found
