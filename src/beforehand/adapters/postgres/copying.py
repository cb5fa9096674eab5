"""A whole log going out of a database or into one, as it lies there; and its tables brought up to date.

The lock is held meanwhile, so nobody leads the log while it is copied.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from beforehand.adapters.log.refusals import not_empty
from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.connecting import connect
from beforehand.adapters.postgres.faults import explained
from beforehand.adapters.postgres.names import kept_name, true_name
from beforehand.adapters.postgres.opening import locked
from beforehand.adapters.postgres.schema import migrate, refuse_other, version_of
from beforehand.model.errors import UnavailableError
from beforehand.ports.store import COLUMNS, Part

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

_CHUNK = 1000
_FEW = 4
"""Parts of the archive are large."""
_ORDER = {"events": "seq", "rows": "ord, place"}
_NAMES = frozenset({"kind", "scene", "owner", "run_id", "task_id", "id", "parent", "name"})
_HOLDS_ANYTHING = "SELECT EXISTS (SELECT FROM events) OR EXISTS (SELECT FROM rows) OR EXISTS (SELECT FROM archive)"


async def migrate_store(address: Address) -> tuple[int, int]:
    async with _session(address) as line:
        return await migrate(line, address.where)


async def read_parts(address: Address) -> AsyncGenerator[Part, None]:
    async with _session(address) as line:
        async for part in _all_parts(line, address.where):
            yield part


async def read_beside(address: Address) -> AsyncGenerator[Part, None]:
    """The same beside whoever leads, as everything stands when the reading begins."""
    from psycopg import Error

    line = await connect(address)
    try:
        async for part in _all_parts(line, address.where):
            yield part
    except Error as problem:
        raise explained(problem, address.where, address.password) from problem
    finally:
        await line.close()


async def _all_parts(line: "Line", where: str) -> AsyncIterator[Part]:
    have = await version_of(line, where)
    refuse_other(have, where)
    if not have:
        raise UnavailableError(f"There is no log at {where}.", code="store.missing", hint="Name the database it is in.")
    async with line.transaction():
        await line.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        for table in COLUMNS:
            async for part in _read(line, table):
                yield part


async def _read(line: "Line", table: str) -> AsyncIterator[Part]:
    columns = COLUMNS[table]
    order = f" ORDER BY {_ORDER[table]}" if table in _ORDER else ""
    async with line.cursor(name=f"copy_{table}", binary=True) as found:
        await found.execute(f"SELECT {', '.join(columns)} FROM {table}{order}")
        while rows := await found.fetchmany(_FEW if table == "archive" else _CHUNK):
            yield Part(table, [_given(columns, row) for row in rows])


async def write_parts(address: Address, parts: AsyncIterator[Part]) -> None:
    async with _session(address) as line, line.transaction():
        await migrate(line, address.where)
        found = await (await line.execute(_HOLDS_ANYTHING)).fetchone()
        if found and found[0]:
            raise not_empty(address.where)
        for table in ("snapshots", "versions", "identity", "chain_marks", "lead"):
            await line.execute(f"DELETE FROM {table}")
        async for part in parts:
            await _write(line, part)


async def _write(line: "Line", part: Part) -> None:
    columns = COLUMNS[part.table]
    into = f"COPY {part.table} ({', '.join(columns)}) FROM STDIN"
    async with line.cursor() as cursor, cursor.copy(into) as copy:
        for row in part.rows:
            await copy.write_row(_kept(columns, row))


def _given(columns: tuple[str, ...], row: tuple[Any, ...]) -> tuple[Any, ...]:
    named = zip(columns, row, strict=True)
    return tuple(true_name(value) if name in _NAMES and isinstance(value, str) else value for name, value in named)


def _kept(columns: tuple[str, ...], row: tuple[Any, ...]) -> tuple[Any, ...]:
    named = zip(columns, row, strict=True)
    return tuple(kept_name(value) if name in _NAMES and isinstance(value, str) else value for name, value in named)


@asynccontextmanager
async def _session(address: Address) -> "AsyncIterator[Line]":
    from psycopg import Error

    try:
        async with locked(address) as line:
            yield line
    except Error as problem:
        raise explained(problem, address.where, address.password) from problem
