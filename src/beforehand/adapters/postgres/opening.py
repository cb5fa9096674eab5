"""Taking the lead of a log, or looking into it beside whoever leads."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from beforehand.adapters.log.refusals import led_by_another, servers_first
from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.connecting import connect
from beforehand.adapters.postgres.faults import explained
from beforehand.adapters.postgres.heart import Heart
from beforehand.adapters.postgres.lead import end_session, give_back, leader_in, lock, take_lead, waited_out
from beforehand.adapters.postgres.lease import Lease, now_s
from beforehand.adapters.postgres.schema import migrate, newest, refuse_other, version_of
from beforehand.adapters.postgres.servers import SERVER, servers_wait
from beforehand.adapters.postgres.tables import last_link, last_seq
from beforehand.adapters.postgres.upgrade import bring_up_to_date, has_older_data, upgraded_at
from beforehand.model.errors import UnavailableError
from beforehand.model.versions import Upcasters
from beforehand.ports.store import Projection

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

T = TypeVar("T")


class Opening(NamedTuple):
    """How a log is to be opened."""

    address: Address
    project: Projection
    upcasters: Upcasters
    since: int
    url: str | None = None
    note: str = ""


class Lead(NamedTuple):
    """What leading holds on to: the session with the lock, the epoch it writes under, and where the log stands."""

    line: "Line"
    epoch: int
    upgraded_at: int
    end: tuple[int, bytes | None]
    """The number and the link of the newest event."""
    heart: Heart


class Look(NamedTuple):
    """How a log stands that is only read."""

    is_older: bool
    upgraded_at: int
    last_seq: int


async def take(opening: Opening, lost: Callable[[], None], over: Lease | None = None) -> Lead:
    """Become the leader of a log that is up to date, or leave everything as it was.

    `over` is a lead that was watched until it was over; any other one is waited out here. `lost` is called, in any
    thread, when another process leads.
    """
    address = opening.address
    line = await connect(address)

    async def taken() -> Lead:
        if over is not None:
            await end_session(line, over)
        await _lock_or_refuse(line, address.where)
        have = await version_of(line, address.where)
        refuse_other(have, address.where)
        if have < newest():
            await migrate(line, address.where)
        await has_older_data(line, address.where, opening.upcasters)  # of newer code: it is refused before anything
        if opening.note != SERVER and await servers_wait(line):
            raise servers_first(address.where)
        last = over or await waited_out(line)
        began_s = now_s()
        epoch = await take_lead(line, last, since=opening.since, url=opening.url, note=opening.note)
        if epoch is None:
            raise led_by_another(address.where, await leader_in(line))
        heart = Heart(address, epoch, began_s, lost)
        try:
            upgraded = await bring_up_to_date(line, address.where, opening.project, opening.upcasters)
            return Lead(line, epoch, upgraded, (await last_seq(line), await last_link(line)), heart)
        except BaseException:
            heart.stop()
            await give_back(line, epoch)
            raise

    try:
        return await _explaining(address, taken)
    except BaseException:
        await line.close()
        raise


async def look(opening: Opening) -> Look:
    """Make sure there is a log that can be read."""
    address = opening.address
    line = await connect(address)

    async def looked() -> Look:
        have = await version_of(line, address.where)
        refuse_other(have, address.where)
        if not have:
            raise UnavailableError(
                f"There is no log at {address.where} yet.",
                code="store.missing",
                hint="Start Beforehand once with this database, or name another one.",
            )
        is_older = await has_older_data(line, address.where, opening.upcasters)
        return Look(is_older, await upgraded_at(line), await last_seq(line))

    try:
        return await _explaining(address, looked)
    finally:
        await line.close()


@asynccontextmanager
async def locked(address: Address) -> "AsyncIterator[Line]":
    """A session that holds the lock, so that nobody leads meanwhile; refused while somebody does."""
    line = await connect(address)
    try:
        await _lock_or_refuse(line, address.where)
        yield line
    finally:
        await line.close()


async def _lock_or_refuse(line: "Line", where: str) -> None:
    if not await lock(line):
        raise led_by_another(where, await leader_in(line))


async def _explaining(address: Address, act: Callable[[], Awaitable[T]]) -> T:
    from psycopg import Error

    try:
        return await act()
    except (Error, OSError) as problem:
        raise explained(problem, address.where, address.password) from problem
