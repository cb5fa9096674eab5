"""Logs in memory, by URL: `memory:` is a new one each time. Satisfies `ports.store.StoreScheme`."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from pathlib import Path

from beforehand.adapters.log import one_server
from beforehand.adapters.log.refusals import only_in_memory
from beforehand.adapters.memory.log import WHERE
from beforehand.adapters.memory.store import MemoryStore
from beforehand.model.finding import Finding
from beforehand.model.versions import Upcasters
from beforehand.ports.store import Leader, Part, Projection, Row, Store

stand_by = one_server.stand_by
read_servers = one_server.read_servers
private_files = one_server.private_files


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
    return MemoryStore(project, lead=lead, now_ms=now_ms, url=url_of_server, note=note, upcasters=upcasters)


def store_exists(url: str) -> bool:
    return False


def read_leader(url: str) -> Leader | None:
    return None


def store_location(url: str) -> str:
    return WHERE


def check_store(url: str) -> list[Finding]:
    return []


def store_files(url: str) -> list[Path]:
    return []


def check_log(url: str) -> list[Finding]:
    return []


def check_room(url: str) -> list[Finding]:
    return []


async def migrate_store(url: str) -> tuple[int, int]:
    raise only_in_memory()


async def mend_store(url: str) -> None:
    """Nothing of it outlives its process."""


async def give_room_back(url: str) -> None:
    raise only_in_memory()


async def copy_beside(url: str, target: Path) -> None:
    raise only_in_memory()


def read_parts(url: str) -> AsyncGenerator[Part, None]:
    raise only_in_memory()


async def write_parts(url: str, parts: AsyncIterator[Part]) -> None:
    raise only_in_memory()


def seeded_store(project: Projection, rows: Iterable[Row]) -> Store:
    """A log of its own with rows that are there from the start."""
    store = MemoryStore(project)
    store.seed(rows)
    return store
