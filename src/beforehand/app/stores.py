"""Which store a URL means."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.ports.store import Leader, Projection, Store


async def open_store(
    url: str,
    *,
    project: Projection,
    now_ms: Callable[[], int],
    lead: bool = True,
    served_at: str | None = None,
    note: str = "",
) -> Store:
    return await SqliteStore.open(url, project=project, lead=lead, now_ms=now_ms, url=served_at, note=note)


def store_exists(url: str) -> bool:
    return Path(url).exists()


@asynccontextmanager
async def open_reading(url: str) -> AsyncIterator[Store]:
    """A log for reading only, beside whoever leads it."""
    store = await open_store(url, project=lambda event: (), lead=False, now_ms=lambda: 0)
    try:
        yield store
    finally:
        await store.close()


def read_leader(url: str) -> Leader | None:
    from beforehand.adapters.sqlite.lead import read_leader

    return read_leader(Path(url))
