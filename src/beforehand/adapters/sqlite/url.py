"""Logs in SQLite files, by URL: `sqlite:///path`, or just the path. Satisfies `ports.store.StoreScheme`."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path

from beforehand.adapters.log import one_server
from beforehand.model.errors import BadInputError
from beforehand.model.finding import Finding
from beforehand.model.versions import Upcasters
from beforehand.ports.store import Leader, Part, Projection, Store

stand_by = one_server.stand_by
read_servers = one_server.read_servers
private_files = one_server.private_files

_PREFIX = "sqlite:///"


def path_in(url: str) -> Path:
    """The file a URL names; three slashes are followed by the path, so a fourth makes it an absolute one."""
    if url.startswith("sqlite:") and not url.startswith(_PREFIX):
        raise BadInputError("A store in SQLite is named sqlite:///path, or just by its path.", code="settings.db")
    return Path(url.removeprefix(_PREFIX)).expanduser().absolute()


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
    from beforehand.adapters.sqlite.store import SqliteStore

    return await SqliteStore.open(
        path_in(url), project=project, lead=lead, now_ms=now_ms, url=url_of_server, note=note, upcasters=upcasters
    )


def store_exists(url: str) -> bool:
    path = path_in(url)
    try:
        return path.exists()
    except OSError as problem:  # a folder that may not even be looked into
        from beforehand.adapters.sqlite.schema import explained

        raise explained(problem, path) from problem


def read_leader(url: str) -> Leader | None:
    from beforehand.adapters.sqlite import lead

    return lead.read_leader(path_in(url))


def store_location(url: str) -> str:
    return str(path_in(url))


def store_files(url: str) -> list[Path]:
    path = path_in(url)
    beside = ("", "-wal", "-shm", "-journal", ".lock", ".mark", ".search", ".search-wal", ".search-shm", ".archive")
    return [path.with_name(path.name + end) for end in beside]


def check_log(url: str) -> list[Finding]:
    from beforehand.adapters.sqlite import checks

    return checks.check_log(path_in(url))


def check_room(url: str) -> list[Finding]:
    from beforehand.adapters.sqlite import checks

    return checks.check_room(path_in(url))


def check_store(url: str) -> list[Finding]:
    from beforehand.adapters.sqlite import checks

    return checks.check_file(path_in(url))


async def migrate_store(url: str) -> tuple[int, int]:
    from beforehand.adapters.sqlite import copying

    return await copying.migrate_store(path_in(url))


async def mend_store(url: str) -> None:
    from beforehand.adapters.sqlite import copying

    await asyncio.to_thread(copying.mend_store, path_in(url))


async def give_room_back(url: str) -> None:
    from beforehand.adapters.sqlite import copying

    await copying.give_room_back(path_in(url))


async def copy_beside(url: str, target: Path) -> None:
    from beforehand.adapters.sqlite import copying

    await copying.copy_beside(path_in(url), target)


def stand_in(path: Path) -> tuple[int, int]:
    from beforehand.adapters.sqlite import copy_check

    return copy_check.stand_in(path)


def check_copy(path: Path, stand: tuple[int, int]) -> str:
    from beforehand.adapters.sqlite import copy_check

    return copy_check.check_copy(path, stand)


def read_parts(url: str) -> AsyncGenerator[Part, None]:
    from beforehand.adapters.sqlite import copying

    return copying.read_parts(path_in(url))


async def write_parts(url: str, parts: AsyncIterator[Part]) -> None:
    from beforehand.adapters.sqlite import copying

    await copying.write_parts(path_in(url), parts)
