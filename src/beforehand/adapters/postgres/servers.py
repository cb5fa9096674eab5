"""The servers that use a log: each signs once a second, and one that has not for a while counts no more."""

from typing import TYPE_CHECKING

from beforehand.ports.store import Server

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

SERVER = "server"
"""How a server signs that it leads; commands that lead for a moment sign otherwise."""
_WITHIN = "seen BETWEEN clock_timestamp() - interval '{0} seconds' AND clock_timestamp() + interval '{0} seconds'"
"""A signature from the future is from before the database's clock was set back, and says nothing of now."""
SERVERS = f"SELECT id, url, host, pid FROM servers WHERE {_WITHIN.format(5)} ORDER BY url, id"
_WAITING = f"SELECT EXISTS (SELECT FROM servers WHERE {_WITHIN.format(2)})"
_SIGN = (
    "INSERT INTO servers (id, url, host, pid, seen) VALUES (%s, %s, %s, %s, clock_timestamp()) ON CONFLICT (id)"
    " DO UPDATE SET url = excluded.url, seen = excluded.seen"
)
_FORGET = "DELETE FROM servers WHERE abs(extract(epoch FROM clock_timestamp() - seen)) > 60"


async def sign(line: "Line", server: Server) -> None:
    """Say that this server is there."""
    await line.execute(_SIGN, server)
    await line.execute(_FORGET)


async def sign_off(line: "Line", server_id: str) -> None:
    await line.execute("DELETE FROM servers WHERE id = %s", (server_id,))


async def servers_in(line: "Line") -> tuple[Server, ...]:
    """The servers there are."""
    return tuple(Server(*found) for found in await (await line.execute(SERVERS)).fetchall())


async def servers_wait(line: "Line") -> bool:
    """Whether a server is there that will lead when nobody else does."""
    found = await (await line.execute(_WAITING)).fetchone()
    return bool(found and found[0])
