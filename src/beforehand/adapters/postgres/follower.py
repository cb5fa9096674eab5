"""Who only reads is told of the leader's commits: Postgres notifies, and the log is read from where it was left off.

A line that breaks is replaced; what was committed meanwhile is told first, so nobody sees a gap.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.connecting import connect
from beforehand.adapters.postgres.tables import CHANNEL
from beforehand.model.errors import UnavailableError
from beforehand.ports.store import Record
from beforehand.ports.tasks import SERVER, lasting, stop

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

_RETRY_S = 0.5
_CHUNK = 1000

Page = Callable[[int, int], Awaitable[list[Record]]]


class Follower:
    def __init__(self, address: Address, last: int, page: Page, tell: Callable[[Sequence[Record]], None]) -> None:
        """Tell everything above the number `last`; `page` reads records above a number, at most so many."""
        self._address = address
        self._told = last
        self._page = page
        self._tell = tell
        self._task = lasting(self._follow, "reading what the leader writes", SERVER)

    async def close(self) -> None:
        """Tell nothing more."""
        await stop([self._task])

    async def _follow(self) -> None:
        from psycopg import Error

        while True:
            with suppress(UnavailableError, Error, OSError):
                line = await connect(self._address)
                try:
                    await self._listen(line)
                finally:
                    await line.close()
            await asyncio.sleep(_RETRY_S)

    async def _listen(self, line: "Line") -> None:
        await line.execute(f"LISTEN {CHANNEL}")
        await self.catch_up()
        async for _ in line.notifies():
            await self.catch_up()

    async def catch_up(self) -> None:
        """Tell everything that is in the log by now."""
        while records := await self._page(self._told, _CHUNK):
            self._told = records[-1].seq
            self._tell(records)
