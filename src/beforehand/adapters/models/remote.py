"""A model at a provider, through pydantic-ai: one request at a time, waiting politely where it is turned away.

It keeps nothing but its connections. The library is imported with the first ask, in a thread, because that takes a
second or more in which nothing else should stand still.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from beforehand.adapters.models.access import Access
from beforehand.adapters.models.repairing import Meter, Reply, settled
from beforehand.adapters.models.spans import request_span
from beforehand.ports.model import Answer, Ask

if TYPE_CHECKING:
    from beforehand.adapters.models.connection import Connection, TurnedAwayError

TRIES = 6
"""How often one request is sent, at most, while it is turned away."""
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
Sleep = Callable[[float], Awaitable[Any]]


class RemoteModel:
    def __init__(self, access: Access, *, sleep: Sleep = asyncio.sleep) -> None:
        self.name = access.name
        self._access = access
        self._sleep = sleep
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()

    async def answer(self, ask: Ask) -> Answer:
        """As the port says; the time the import takes is not the model's."""
        connection = await self._connected()
        meter = Meter(ask)
        return await settled(meter, Exchange(self._access, connection, meter, self._sleep).send)

    async def close(self) -> None:
        async with self._turn:
            if self._connection is not None:
                await self._connection.close()
                self._connection = None

    async def _connected(self) -> "Connection":
        async with self._turn:
            if self._connection is None:
                self._connection = await (await asyncio.to_thread(_connection, self._access)).open()
            return self._connection


def _connection(access: Access) -> "Connection":
    from beforehand.adapters.models.connection import Connection

    return Connection(access)


class Exchange:
    """One ask and all the requests it takes."""

    def __init__(self, access: Access, connection: "Connection", meter: Meter, sleep: Sleep) -> None:
        from beforehand.adapters.models.talk import Talk

        self._access = access
        self._connection = connection
        self._meter = meter
        self._talk = Talk(meter.ask)
        self._sleep = sleep

    async def send(self, problems: Sequence[str]) -> Reply:
        """The next answer of the model; while it is turned away, later, within the time and the tries there are."""
        from beforehand.adapters.models.connection import TurnedAwayError

        if problems:
            self._talk.correct(problems)
        tried = 0
        while True:
            self._meter.leave()
            try:
                with request_span(self._access, self._meter) as request:
                    response = await self._connection.request(self._meter, self._talk)
                    request.note({"gen_ai.response.model": response.model_name})
            except TurnedAwayError as turned_away:
                tried += 1
                await self._wait(tried, turned_away)
            else:
                self._connection.refuse_declined(response)
                return self._talk.hear(response)

    async def _wait(self, tried: int, turned_away: "TurnedAwayError") -> None:
        wait_s = turned_away.wait_s
        if wait_s is None:
            wait_s = min(FIRST_WAIT_S * 2 ** (tried - 1), LONGEST_WAIT_S)
        left = self._meter.ask.timeout_s - self._meter.total().seconds
        if tried == TRIES or wait_s > left:
            raise turned_away.error
        await self._sleep(wait_s)
