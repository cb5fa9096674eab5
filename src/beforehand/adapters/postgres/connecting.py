"""Connections to the database, each with its session set up alike: in the loop for the store, and for a quick look."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.faults import explained, no_driver

if TYPE_CHECKING:
    from psycopg import AsyncConnection, Connection

    Line = AsyncConnection[Any]

SCHEMA = "beforehand"

# A commit counts when it is on the server's disk, whatever the server does for others. A client whose machine is gone
# loses its session, and with it the lead, within seconds; one that is merely idle keeps it.
_SESSION = (
    f"SET search_path = {SCHEMA}; SET synchronous_commit = on; SET client_min_messages = warning;"
    " SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 2;"
    " SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('idle_session_timeout', 'statement_timeout',"
    " 'idle_in_transaction_session_timeout', 'transaction_timeout')"
)


async def connect(address: Address) -> "Line":
    """A connection of its own; every statement commits by itself unless a transaction was begun."""
    try:
        from psycopg import AsyncConnection, Error
    except ImportError as missing:
        raise no_driver() from missing
    try:
        line = await AsyncConnection.connect(autocommit=True, **address.parameters)
        try:
            await line.execute(_SESSION)
        except BaseException:
            await line.close()
            raise
    except (Error, OSError) as problem:
        raise explained(problem, address.where, address.password) from None
    return line


@contextmanager
def looking(address: Address) -> "Iterator[Connection[Any]]":
    """A connection for one quick look, outside the event loop."""
    try:
        import psycopg
    except ImportError as missing:
        raise no_driver() from missing
    try:
        with psycopg.connect(autocommit=True, **address.parameters) as line:
            line.execute(_SESSION)
            yield line
    except (psycopg.Error, OSError) as problem:
        raise explained(problem, address.where, address.password) from None
