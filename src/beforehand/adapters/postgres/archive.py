"""The parts of the archive as rows of a table in the same database, so that every server reads them.

A part and its contents are one commit; its events leave the log in commits of their own after that.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from beforehand.adapters.log.archive_file import LISTED, Written, damaged, listed, part_of
from beforehand.adapters.postgres.names import kept_name
from beforehand.adapters.postgres.reader import Reader
from beforehand.adapters.postgres.tables import add_marks, find_numbers, find_records
from beforehand.model.chain import ChainMark
from beforehand.ports.store import EVERYTHING, ArchivePart

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

_COLUMNS = ", ".join(LISTED[:-1])
_MARKS = ", ".join("%b" if name == "names" else "%s" for name in LISTED[:-1])
_LIST = (
    f"INSERT INTO archive ({_COLUMNS}, body, id) SELECT {_MARKS}, %b::bytea, COALESCE(MAX(id), 0) + 1 FROM archive"
    " RETURNING id"
)
_SIZE = "SELECT pg_total_relation_size('events') + pg_total_relation_size('rows') + pg_total_relation_size('snapshots')"


class Writing(Protocol):
    """Whoever may write: `act` is done in a transaction of its own, by the one that leads."""

    async def __call__(self, act: "Callable[[Line], Awaitable[Any]]") -> Any: ...


class TableShelf:
    def __init__(self, where: str, reader: Callable[[], Reader], write: Writing) -> None:
        self._where = where
        self._reader = reader
        self._write = write

    def where(self, part: ArchivePart) -> str:
        return f"of the events {part.first} to {part.last} in {self._where}"

    async def newest(self) -> int:
        return int(await self._value("SELECT COALESCE(MAX(id), 0) FROM archive"))

    async def parts(self) -> list[ArchivePart]:
        return await self._reader().ask(parts_in)

    async def body(self, part: ArchivePart) -> bytes:
        return await self._reader().ask(lambda line: body_of(line, part, self.where(part)))

    async def written(self, seqs: Sequence[int]) -> list[Written]:
        return await self._reader().ask(lambda line: find_numbers(line, seqs))

    async def unmoved(self, after: int, limit: int) -> list[Written]:
        return await self._reader().ask(lambda line: find_records(line, after, limit, EVERYTHING))

    async def keep(self, part: ArchivePart, body: bytes) -> int:
        return int(await self._write(lambda line: _list(line, part, body)))

    async def clear(self, seqs: Sequence[int]) -> None:
        await self._write(lambda line: line.execute("DELETE FROM events WHERE seq = ANY(%s)", (list(seqs),)))

    async def mark_cleared(self, part_id: int) -> None:
        await self._write(lambda line: line.execute("UPDATE archive SET cleared = 1 WHERE id = %s", (part_id,)))

    async def delete(
        self, part: ArchivePart, rows: Sequence[tuple[str, str]], now_ms: int, marks: Sequence[ChainMark]
    ) -> None:
        async def forget(line: "Line") -> None:
            await _list(line, part, None, now_ms)
            await line.execute("DELETE FROM archive WHERE id = %s", (part.id,))
            for kind, id in rows:
                await line.execute("DELETE FROM rows WHERE kind = %s AND id = %s", (kept_name(kind), kept_name(id)))
            await add_marks(line, marks)

        await self._write(forget)

    async def tidy(self) -> None:
        """A transaction leaves nothing behind."""

    async def give_back(self) -> bool:
        return False  # Postgres uses the room again by itself

    async def size(self) -> int:
        return int(await self._value(_SIZE))

    async def _value(self, question: str) -> Any:
        async def ask(line: "Line") -> Any:
            found = await (await line.execute(question)).fetchone()
            return found[0] if found else 0

        return await self._reader().ask(ask)


async def parts_in(line: "Line") -> list[ArchivePart]:
    asked = f"SELECT {', '.join(LISTED)} FROM archive ORDER BY first, id"
    return [part_of(found) for found in await (await line.execute(asked, binary=True)).fetchall()]


async def body_of(line: "Line", part: ArchivePart, where: str) -> bytes:
    found = await (await line.execute("SELECT body FROM archive WHERE id = %s", (part.id,), binary=True)).fetchone()
    if found is None or found[0] is None:
        raise damaged(where)
    return bytes(found[0])


async def _list(line: "Line", part: ArchivePart, body: bytes | None, deleted: int = 0) -> int:
    found = await (await line.execute(_LIST, [*listed(part, deleted), body])).fetchone()
    return int(found[0]) if found else 0
