"""Questions to the database, over a few connections of their own, so that no reader waits for the writer.

A connection that broke is replaced, and its question asked once more: asking changes nothing. A database that was just
there and does not answer is waited for a little, since most are back at once; then every question is refused at once.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from beforehand.adapters.log.refusals import closed, half_a_character
from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.connecting import connect
from beforehand.adapters.postgres.faults import explained
from beforehand.model.errors import UnavailableError
from beforehand.ports.tasks import part

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

T = TypeVar("T")
_MOST = 3
PATIENCE_S = 5.0
_AGAIN_S = 0.1


class Reader:
    def __init__(
        self, address: Address, prepare: "Callable[[Line], Awaitable[None]] | None" = None, most: int = _MOST
    ) -> None:
        """At most `most` connections; each has something to `prepare` before its first question."""
        self._address = address
        self._prepare = prepare
        self._room = asyncio.Semaphore(most)
        self._free: list[Line] = []
        self._asked: set[asyncio.Future[Any]] = set()
        self._closed = False
        self._was_there = False
        self._away_since: float | None = None

    async def ask(self, question: "Callable[[Line], Awaitable[T]]") -> T:
        """What the question finds; it is finished even if the caller is cancelled."""
        if self._closed:
            raise closed(self._address.where)
        asked = part(self._patiently(question))
        self._asked.add(asked)
        asked.add_done_callback(self._answered)
        return await asyncio.shield(asked)

    def _answered(self, asked: "asyncio.Future[Any]") -> None:
        self._asked.discard(asked)
        if not asked.cancelled():
            asked.exception()  # looked at: who asked may not wait any more

    async def close(self) -> None:
        """Wait for what is being read, then close the connections."""
        self._closed = True
        await asyncio.gather(*self._asked, return_exceptions=True)
        for line in self._free:
            await line.close()

    async def _patiently(self, question: "Callable[[Line], Awaitable[T]]") -> T:
        while True:
            try:
                found = await self._answer(question)
            except UnavailableError as error:
                if error.code != "store.unreachable" or not self._may_be_back():
                    raise
            else:
                self._was_there, self._away_since = True, None
                return found
            await asyncio.sleep(_AGAIN_S)

    def _may_be_back(self) -> bool:
        """Whether it was there a moment ago."""
        now = asyncio.get_running_loop().time()
        if self._away_since is None:
            self._away_since = now
        return self._was_there and not self._closed and now < self._away_since + PATIENCE_S

    async def _answer(self, question: "Callable[[Line], Awaitable[T]]") -> T:
        from psycopg import Error

        async with self._room:
            try:
                return await self._over_a_line(question)
            except Error as problem:
                raise explained(problem, self._address.where, self._address.password) from problem
            except UnicodeEncodeError as problem:
                raise half_a_character() from problem

    async def _over_a_line(self, question: "Callable[[Line], Awaitable[T]]") -> T:
        from psycopg import OperationalError

        if self._free:
            line = self._free.pop()
            try:
                return await self._over(line, question)
            except OperationalError:
                if not line.closed:
                    raise
                stale, self._free = self._free, []
                for other in stale:
                    await other.close()
        return await self._over(await self._connected(), question)

    async def _connected(self) -> "Line":
        line = await connect(self._address)
        try:
            if self._prepare is not None:
                await self._prepare(line)
        except BaseException:
            await line.close()
            raise
        return line

    async def _over(self, line: "Line", question: "Callable[[Line], Awaitable[T]]") -> T:
        try:
            return await question(line)
        finally:
            if line.closed:
                await line.close()
            else:
                self._free.append(line)
