"""Logs in Postgres databases, by URL: `postgresql://user@host:5432/database`. Satisfies `ports.store.StoreScheme`."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

from beforehand.adapters.postgres.address import address_of
from beforehand.model.errors import BeforehandError
from beforehand.model.finding import Finding
from beforehand.model.versions import Upcasters
from beforehand.ports.private_files import PrivateFiles
from beforehand.ports.store import Leader, Part, Projection, Server, Standby, Store


async def open_store(
    url: str,
    *,
    project: Projection,
    lead: bool,
    now_ms: Callable[[], int],
    url_of_server: str | None,
    note: str,
    upcasters: Upcasters,
) -> Store:
    from beforehand.adapters.postgres.store import PostgresStore

    return await PostgresStore.open(
        url,
        project=project,
        lead=lead,
        now_ms=now_ms,
        url_of_server=url_of_server,
        note=note,
        upcasters=upcasters,
    )


async def stand_by(
    url: str,
    *,
    server_id: str,
    project: Projection,
    upcasters: Upcasters,
    now_ms: Callable[[], int],
) -> Standby | None:
    from beforehand.adapters.postgres.standing import PostgresStandby

    return await PostgresStandby.open(url, server_id=server_id, project=project, upcasters=upcasters, now_ms=now_ms)


def read_servers(url: str) -> list[Server]:
    from beforehand.adapters.postgres import checks

    try:
        return checks.read_servers(address_of(url))
    except BeforehandError:
        return []


def private_files(url: str) -> PrivateFiles | None:
    from beforehand.adapters.postgres.kept import KeptFiles

    return KeptFiles(address_of(url))


def store_exists(url: str) -> bool:
    from beforehand.adapters.postgres import checks

    return checks.is_laid_out(address_of(url))


def read_leader(url: str) -> Leader | None:
    from beforehand.adapters.postgres import checks

    try:
        return checks.read_leader(address_of(url))
    except BeforehandError:
        return None


def store_location(url: str) -> str:
    return address_of(url).where


def store_files(url: str) -> list[Path]:
    return []


def check_log(url: str) -> list[Finding]:
    from beforehand.adapters.postgres import checks

    return checks.check_log(address_of(url))


def check_room(url: str) -> list[Finding]:
    return []


def check_store(url: str) -> list[Finding]:
    from beforehand.adapters.postgres import checks

    return checks.check_server(address_of(url))


async def migrate_store(url: str) -> tuple[int, int]:
    from beforehand.adapters.postgres import copying

    return await copying.migrate_store(address_of(url))


async def mend_store(url: str) -> None:
    """Who takes the lead looks at the documents; pages and indexes are Postgres' own affair."""


async def give_room_back(url: str) -> None:
    """Postgres uses the room again by itself."""


async def copy_beside(url: str, target: Path) -> None:
    from beforehand.adapters.postgres import copying
    from beforehand.adapters.sqlite.copying import write_parts

    async with aclosing(copying.read_beside(address_of(url))) as parts:
        await write_parts(target, parts)


def read_parts(url: str) -> AsyncGenerator[Part, None]:
    from beforehand.adapters.postgres import copying

    return copying.read_parts(address_of(url))


async def write_parts(url: str, parts: AsyncIterator[Part]) -> None:
    from beforehand.adapters.postgres import copying

    await copying.write_parts(address_of(url), parts)
