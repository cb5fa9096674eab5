"""Stores by URL: the one place that knows which kinds of stores there are.

`sqlite:///path`, or just a path, is a log in a file; `memory:` is one that is gone with the process. What a kind can do
is a module of its adapter's folder, imported when one of its URLs is used.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from beforehand.model.errors import BadInputError
from beforehand.model.event import Event
from beforehand.model.finding import Finding
from beforehand.model.versions import UPCASTERS, Upcasters
from beforehand.ports.store import Leader, Projection, Row, Store, StoreScheme


def _memory() -> StoreScheme:
    from beforehand.adapters.memory import url

    return url


def _sqlite() -> StoreScheme:
    from beforehand.adapters.sqlite import url

    return url


SCHEMES: Mapping[str, Callable[[], StoreScheme]] = {"memory": _memory, "sqlite": _sqlite}


def scheme_of(url: str) -> StoreScheme:
    """What knows the store a URL names; BadInputError when nobody does."""
    scheme, colon, rest = url.partition(":")
    if colon and scheme in SCHEMES:
        return SCHEMES[scheme]()
    if colon and rest.startswith("//"):
        raise BadInputError.unknown(
            "kind of store",
            scheme,
            SCHEMES,
            code="settings.db",
            plural="kinds of stores",
            hint="Or give the path of a file.",
        )
    return _sqlite()


async def open_store(
    url: str,
    *,
    project: Projection,
    lead: bool = True,
    now_ms: Callable[[], int],
    url_of_server: str | None = None,
    note: str = "",
    upcasters: Upcasters | None = None,
) -> Store:
    """Open a store for leading or for reading; NotLeadingError when another process leads it already.

    `upcasters` are those that crafts bring for their own kinds of events; Beforehand's own are always there.
    """
    return await scheme_of(url).open_store(
        url,
        project=project,
        lead=lead,
        now_ms=now_ms,
        url_of_server=url_of_server,
        note=note,
        upcasters={**(upcasters or {}), **UPCASTERS},
    )


@asynccontextmanager
async def open_reading(url: str) -> AsyncIterator[Store]:
    """A store for reading only, beside whoever leads it; crafts are loaded only where it was written by older code."""
    store = await open_store(url, project=_all_rows, lead=False, now_ms=lambda: 0)
    try:
        yield store
    finally:
        await store.close()


def store_in_memory(project: Projection, rows: Iterable[Row] = ()) -> Store:
    """A store that is gone with the process, with rows that are there from the start."""
    from beforehand.adapters.memory.url import seeded_store

    return seeded_store(project, rows)


def _all_rows(event: Event) -> Iterable[Row]:
    from beforehand.app.crafts import load_crafts

    return load_crafts().projection()(event)


def store_exists(url: str) -> bool:
    """Whether there is a store to read, without opening it."""
    return scheme_of(url).store_exists(url)


def read_leader(url: str) -> Leader | None:
    """Who leads a store, without opening it; None when nobody ever did or it cannot be read."""
    return scheme_of(url).read_leader(url)


def store_location(url: str) -> str:
    """Where a store is, as it may stand in a sentence: no password is in it."""
    return scheme_of(url).store_location(url)


def store_files(url: str) -> list[Path]:
    """The files a store consists of, and those that may appear beside them."""
    return scheme_of(url).store_files(url)


def check_log(url: str) -> list[Finding]:
    """Whether the log that is there can be read and written, found out quickly; nothing is changed."""
    return scheme_of(url).check_log(url)


def check_store(url: str) -> list[Finding]:
    """How the things stand that this kind of store needs."""
    return scheme_of(url).check_store(url)
