"""Several servers on one database: each looks who leads and who else is there, and takes over when the lead is free."""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from beforehand.adapters.postgres.address import Address, address_of
from beforehand.adapters.postgres.connecting import connect
from beforehand.adapters.postgres.lead import LEADER, leader_of
from beforehand.adapters.postgres.lease import Lease, Stillness, lease_in
from beforehand.adapters.postgres.servers import SERVER, servers_in, sign, sign_off
from beforehand.adapters.postgres.store import PostgresStore
from beforehand.model.errors import BeforehandError, NotLeadingError, UnavailableError
from beforehand.model.versions import Upcasters
from beforehand.ports.store import Leader, Projection, Server, Store
from beforehand.ports.tasks import SERVER as THIS_SERVER
from beforehand.ports.tasks import lasting, stop

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

LOOK_S = 0.25
STARTING_S = 30.0
"""How long the first look waits for whoever is just making the tables."""


class PostgresStandby:
    """Satisfies `ports.store.Standby`."""

    def __init__(self, address: Address, store: PostgresStore, server_id: str, now_ms: Callable[[], int]) -> None:
        self._address = address
        self._store = store
        self._id = server_id
        self.url: str | None = None
        self._now_ms = now_ms
        self._still = Stillness()
        self._over: Lease | None = None
        self._free = asyncio.Event()
        self.leader: Leader | None = None
        self.servers: Sequence[Server] = ()
        self._task = lasting(self._watch, "the watch over who leads", THIS_SERVER)

    @classmethod
    async def open(
        cls, url: str, *, server_id: str, project: Projection, upcasters: Upcasters, now_ms: Callable[[], int]
    ) -> "PostgresStandby":
        """The store, led at once where the lead is free, else only read; it is watched from now on."""
        address = address_of(url)
        store = await _opened(address, url, project=project, upcasters=upcasters, now_ms=now_ms)
        return cls(address, store, server_id, now_ms)

    @property
    def store(self) -> Store:
        return self._store

    @property
    def leads(self) -> bool:
        return self._store.is_leading and not self._store.lost.is_set()

    async def until_free(self) -> None:
        self._free.clear()
        await self._free.wait()

    async def take_over(self) -> None:
        assert self._over is not None
        await self._store.take_over(self._over, now_ms=self._now_ms(), note=SERVER)

    async def until_lost(self) -> None:
        await self._store.lost.wait()

    async def close(self) -> None:
        await stop([self._task])
        await self._store.close()
        await self._sign_off()

    async def _sign_off(self) -> None:
        from psycopg import Error

        with suppress(UnavailableError, Error, OSError):  # it is forgotten by itself
            line = await connect(self._address)
            try:
                await sign_off(line, self._id)
            finally:
                await line.close()

    async def _watch(self) -> None:
        from psycopg import Error

        while True:
            with suppress(UnavailableError, Error, OSError):
                line = await connect(self._address)
                try:
                    await self._look_over(line)
                finally:
                    await line.close()
            await asyncio.sleep(LOOK_S)

    async def _look_over(self, line: "Line") -> None:
        looks, signed = 0, self.url
        while True:
            if looks % 4 == 0 or signed != self.url:
                signed = self.url
                await sign(line, Server(self._id, signed, socket.gethostname(), os.getpid()))
                self.servers = await servers_in(line)
            self.leader = leader_of(await (await line.execute(LEADER)).fetchone())
            lease = await lease_in(line)
            if lease is not None and self._still.look(lease):
                self._over = lease
                self._free.set()
            looks += 1
            await asyncio.sleep(LOOK_S)


async def _opened(
    address: Address, url: str, *, project: Projection, upcasters: Upcasters, now_ms: Callable[[], int]
) -> PostgresStore:
    """Led where that needs no waiting; a log that another server is just making is waited for."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + STARTING_S
    while True:
        lead = await _is_free(address)
        try:
            return await PostgresStore.open(
                url, project=project, lead=lead, now_ms=now_ms, note=SERVER, upcasters=upcasters
            )
        except NotLeadingError:
            pass
        except BeforehandError as error:
            if error.code != "store.missing" or loop.time() > give_up:
                raise
        await asyncio.sleep(LOOK_S)


async def _is_free(address: Address) -> bool:
    """Whether somebody must lead the log before it can be read, or its last leader acts no more for certain."""
    line = await connect(address)
    try:
        there = await (await line.execute("SELECT to_regclass('kept') IS NOT NULL")).fetchone()
        lease = await lease_in(line) if there and there[0] else None
        return lease is None or lease.is_over
    finally:
        await line.close()
