"""What `beforehand doctor` and `/health` ask about a log in a Postgres database; nothing is changed."""

import json
from typing import TYPE_CHECKING, Any

from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.connecting import SCHEMA, looking
from beforehand.adapters.postgres.lead import LEADER, leader_of
from beforehand.adapters.postgres.schema import newest, refuse_other
from beforehand.adapters.postgres.servers import SERVERS
from beforehand.model.errors import BeforehandError
from beforehand.model.finding import Finding
from beforehand.model.words import counted
from beforehand.ports.store import Leader, Server

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST_SERVER = 130000


def is_laid_out(address: Address) -> bool:
    """Whether there are tables of a log."""
    with looking(address) as line:
        return _version(line) > 0


def read_leader(address: Address) -> Leader | None:
    """Who leads the log; None when nobody ever did."""
    with looking(address) as line:
        return leader_of(line.execute(LEADER).fetchone()) if _version(line) else None


def read_servers(address: Address) -> list[Server]:
    """The servers that use the log, seen within the last seconds."""
    with looking(address) as line:
        return [Server(*found) for found in line.execute(SERVERS).fetchall()] if _version(line) == newest() else []


def check_server(address: Address) -> list[Finding]:
    """The server, how safely it keeps what it is given, and the tables."""
    try:
        with looking(address) as line:
            return [_server(line, address), _durability(line), _tables(line, address)]
    except BeforehandError as error:
        return [Finding("postgres", "broken", error.says, error.hint)]


def check_log(address: Address) -> list[Finding]:
    """Whether the log can be read and written, quickly enough to be asked every few seconds."""
    try:
        with looking(address) as line:
            newest_lines = line.execute("SELECT line FROM events ORDER BY seq DESC LIMIT 200").fetchall()
            for (found,) in newest_lines:
                json.loads(bytes(found))
            reading_only = _value(line, "SELECT pg_is_in_recovery()")
    except BeforehandError as error:
        return [Finding("log", "broken", error.says, error.hint)]
    except ValueError as error:
        return [Finding("log", "broken", f"The newest events in {address.where} cannot be read: {error}.", "")]
    if reading_only:
        says = f"{address.where} is a copy that can only be read."
        return [Finding("log", "broken", says, "Name the server that takes writes.")]
    return [Finding("log", "ok", f"{counted(len(newest_lines), 'event')} at the end of the log can be read.")]


def _server(line: "Connection[Any]", address: Address) -> Finding:
    version = line.info.server_version
    encrypted = _value(line, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
    how = "encrypted" if encrypted else "not encrypted"
    says = f"Postgres {version // 10000}.{version % 10000} at {address.where}, {how}."
    if version < OLDEST_SERVER:
        return Finding("postgres", "broken", says, "Use Postgres 13 or newer.")
    return Finding("postgres", "ok", says)


def _durability(line: "Connection[Any]") -> Finding:
    """Whether a commit outlives a loss of power; the session itself always waits for the disk."""
    off = [name for name in ("fsync", "full_page_writes") if _value(line, f"SHOW {name}") != "on"]
    if off:
        says = f"The server runs with {' and '.join(off)} off: a loss of power may destroy the log."
        return Finding("durability", "broken", says, "Switch that on in postgresql.conf.")
    return Finding("durability", "ok", "What is committed is on the server's disk.")


def _tables(line: "Connection[Any]", address: Address) -> Finding:
    have = _version(line)
    refuse_other(have, address.where)
    if not have:
        return Finding("tables", "ok", "No tables yet; the first start makes them.")
    return Finding("tables", "ok", f"The tables are of version {newest()}.")


def _version(line: "Connection[Any]") -> int:
    if not _value(line, f"SELECT to_regclass('{SCHEMA}.schema_version') IS NOT NULL"):
        return 0
    return int(_value(line, "SELECT max(version) FROM schema_version") or 0)


def _value(line: "Connection[Any]", question: str) -> Any:
    found = line.execute(question).fetchone()
    return found[0] if found else None
