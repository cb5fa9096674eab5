"""The tables, how they came to be, and what to do where they are older or newer than this code.

They lie in a schema of their own, `beforehand`. Versions only go up: each migration is a list of statements, and all
that are missing run in one transaction. An empty database is laid out by whoever leads it first; an older one only by
`beforehand db migrate`, because other servers may still use it.
"""

from typing import TYPE_CHECKING, Any

from beforehand.adapters.postgres.connecting import SCHEMA
from beforehand.model.errors import UnavailableError

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

_NAME = 'TEXT COLLATE "C"'

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        f"CREATE TABLE events (seq BIGINT PRIMARY KEY, ts BIGINT NOT NULL, kind {_NAME} NOT NULL, scene {_NAME},"
        f" owner {_NAME} NOT NULL, run_id {_NAME}, task_id {_NAME}, line BYTEA NOT NULL, version INT NOT NULL)",
        # Every index ends in the number, so each serves `= ? AND seq > ? ORDER BY seq` without sorting.
        "CREATE INDEX events_kind ON events (kind, seq)",
        "CREATE INDEX events_scene ON events (scene, seq) WHERE scene IS NOT NULL",
        "CREATE INDEX events_owner ON events (owner, seq) WHERE owner <> ''",
        "CREATE INDEX events_run ON events (run_id, seq) WHERE run_id IS NOT NULL",
        "CREATE INDEX events_task ON events (task_id, seq) WHERE task_id IS NOT NULL",
        # `place` orders rows that one event made.
        f"CREATE TABLE rows (kind {_NAME} NOT NULL, id {_NAME} NOT NULL, parent {_NAME} NOT NULL, open INT NOT NULL,"
        " body BYTEA NOT NULL, ord BIGINT NOT NULL, place BIGINT GENERATED ALWAYS AS IDENTITY,"
        " PRIMARY KEY (kind, id)) WITH (fillfactor = 80)",
        "CREATE INDEX rows_kind ON rows (kind, ord, place)",
        "CREATE INDEX rows_parent ON rows (kind, parent, ord, place) WHERE parent <> ''",
        "CREATE INDEX rows_open ON rows (kind, ord, place) WHERE open = 1",
        f"CREATE TABLE snapshots (owner {_NAME} PRIMARY KEY, seq BIGINT NOT NULL, body BYTEA NOT NULL)",
        "CREATE TABLE lead (one INT PRIMARY KEY CHECK (one = 1), epoch BIGINT NOT NULL, pid BIGINT NOT NULL,"
        " host TEXT NOT NULL, url TEXT, since BIGINT NOT NULL, note TEXT NOT NULL)",
        # What rows and snapshots were written under, and every event with a number above `since`.
        f"CREATE TABLE versions (name {_NAME} PRIMARY KEY, version INT NOT NULL, since BIGINT NOT NULL)",
    ),
    (
        # The parts of the archive with their contents, so that every server of the database reads them.
        "CREATE TABLE archive (id BIGINT PRIMARY KEY, first BIGINT NOT NULL, last BIGINT NOT NULL,"
        " events BIGINT NOT NULL, from_ts BIGINT NOT NULL, to_ts BIGINT NOT NULL, size BIGINT NOT NULL,"
        " raw_size BIGINT NOT NULL, sha256 TEXT NOT NULL, versions TEXT NOT NULL, names BYTEA NOT NULL,"
        " cleared INT NOT NULL, deleted BIGINT NOT NULL, body BYTEA)",
        # They are compressed already.
        "ALTER TABLE archive ALTER COLUMN body SET STORAGE EXTERNAL",
        "ALTER TABLE archive ALTER COLUMN names SET STORAGE EXTERNAL",
    ),
    (
        # The lead is held for a time: its beats, the session that has the lock, and the machine its process is on.
        "ALTER TABLE lead ADD COLUMN machine TEXT NOT NULL DEFAULT '', ADD COLUMN session INT NOT NULL DEFAULT 0,"
        " ADD COLUMN beat BIGINT NOT NULL DEFAULT 0, ADD COLUMN released INT NOT NULL DEFAULT 1",
        # The servers there are, and what all of them must know alike but what is no part of the log.
        f"CREATE TABLE servers (id {_NAME} PRIMARY KEY, url TEXT, host TEXT NOT NULL, pid BIGINT NOT NULL,"
        " seen TIMESTAMPTZ NOT NULL)",
        f"CREATE TABLE kept (name {_NAME} PRIMARY KEY, body BYTEA NOT NULL, version BIGINT NOT NULL)",
    ),
    (
        # Which log this is: every key that reaches a machine begins with it.
        "CREATE TABLE identity (one INT PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, generation TEXT NOT NULL,"
        " legacy INT NOT NULL, place TEXT NOT NULL)",
    ),
    (
        # The links of the chain, and what is kept of it beside the events.
        "ALTER TABLE events ADD COLUMN chain BYTEA",
        "CREATE TABLE chain_marks (seq BIGINT NOT NULL, link BYTEA NOT NULL, why TEXT NOT NULL, note TEXT NOT NULL)",
    ),
)

_TABLES = "SELECT count(*) FROM information_schema.tables WHERE table_schema = %s"
_LAID_OUT = f"SELECT to_regclass('{SCHEMA}.schema_version') IS NOT NULL"


def newest() -> int:
    """The version of the tables that this code uses."""
    return len(MIGRATIONS)


async def version_of(line: "Line", where: str) -> int:
    """The version of the tables; 0 where there are none. Tables of another program are refused."""
    if await _value(line, _LAID_OUT):
        return int(await _value(line, "SELECT max(version) FROM schema_version") or 0)
    if await _value(line, _TABLES, (SCHEMA,)):
        raise foreign(where)
    return 0


async def migrate(line: "Line", where: str) -> tuple[int, int]:
    """Bring the tables to this version, all or nothing; gives the version there was and the one there is."""
    have = await version_of(line, where)
    refuse_newer(have, where)
    if have == newest():
        return have, have
    await _refuse_encoding(line, where)
    async with line.transaction():
        await line.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        for statements in MIGRATIONS[have:]:
            for statement in statements:
                await line.execute(statement)
        await line.execute("CREATE TABLE IF NOT EXISTS schema_version (version INT NOT NULL)")
        await line.execute("DELETE FROM schema_version")
        await line.execute("INSERT INTO schema_version VALUES (%s)", (newest(),))
    return have, newest()


def refuse_other(have: int, where: str) -> None:
    """Tables that are there must be of this version."""
    refuse_newer(have, where)
    if 0 < have < newest():
        raise UnavailableError(
            f"The tables in {where} are of version {have}; this Beforehand uses version {newest()}.",
            code="store.too_old",
            hint="Stop every server that uses them, then: beforehand db migrate",
        )


def refuse_newer(have: int, where: str) -> None:
    if have > newest():
        raise UnavailableError(
            f"The tables in {where} are of version {have}, made by a newer Beforehand; this one knows up to "
            f"version {newest()}.",
            code="store.too_new",
            hint="Use that newer version, or another database.",
        )


def foreign(where: str) -> UnavailableError:
    return UnavailableError(
        f"{where} has a schema named {SCHEMA} that is not a Beforehand log.",
        code="store.foreign",
        hint="Name another database.",
    )


async def _refuse_encoding(line: "Line", where: str) -> None:
    encoding = await _value(line, "SHOW server_encoding")
    if encoding != "UTF8":
        raise UnavailableError(
            f"The database {where} keeps texts as {encoding}, in which not every text can be written.",
            code="store.encoding",
            hint="Make a database with the encoding UTF8.",
        )


async def _value(line: "Line", question: str, values: tuple[Any, ...] = ()) -> Any:
    found = await (await line.execute(question, values)).fetchone()
    return found[0] if found else None
