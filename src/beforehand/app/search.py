"""Opening what answers questions to the past: tables beside the log, or the server of the settings."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beforehand.app.crafts import Crafts
from beforehand.app.settings import Settings
from beforehand.app.stores import store_files
from beforehand.loop.searchable import indexes_of
from beforehand.model.errors import BadInputError
from beforehand.model.versions import UPCASTERS, present_versions
from beforehand.ports.search import Field, Found, Index, Search
from beforehand.ports.store import Store

if TYPE_CHECKING:
    from beforehand.adapters.search.embedded import EmbeddedSearch

ENDING = ".search"


class _OpenedWhenAsked:
    """Most processes never search, so what searching needs is imported when it is first used."""

    def __init__(self, opening: Callable[[], Search]) -> None:
        self._opening = opening
        self._opened: Search | None = None

    @property
    def _search(self) -> Search:
        if self._opened is None:
            self._opened = self._opening()
        return self._opened

    async def fields(self, index: str) -> Sequence[Field]:
        return await self._search.fields(index)

    async def names(self) -> Sequence[str]:
        return await self._search.names()

    async def values(self, index: str, fields: Sequence[str], most: int) -> Mapping[str, Sequence[str]]:
        return await self._search.values(index, fields, most)

    async def check(self, index: str, body: Mapping[str, Any]) -> None:
        await self._search.check(index, body)

    async def search(self, index: str, body: Mapping[str, Any]) -> Found:
        return await self._search.search(index, body)

    async def keep_up(self) -> None:
        await self._search.keep_up()

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()


def open_search(
    settings: Settings, store: Store, crafts: Crafts, now_ms: Callable[[], int], *, serves: bool = False
) -> Search:
    """Search over a store; nothing is imported, read or sent before it is used. Whoever opens it closes it.

    One that `serves` has a long log read by another process, where that can read it too.
    """
    url = settings["search"]
    if url is not None and not str(url).startswith(("http://", "https://")):
        raise BadInputError("search is the http or https URL of a search server.", code="settings.search")

    def embedded() -> Search:
        from beforehand.app.reading_aside import read_aside

        path = _beside_log(settings)
        aside = partial(read_aside, settings.database) if serves and path is not None else None
        return open_tables(store, crafts, now_ms, path, aside)

    def remote() -> Search:
        from beforehand.adapters.search.remote import RemoteSearch

        return RemoteSearch(str(url), now_ms=now_ms)

    return _OpenedWhenAsked(embedded if url is None else remote)


def open_tables(
    store: Store,
    crafts: Crafts,
    now_ms: Callable[[], int],
    path: Path | None,
    aside: Callable[[Path, str], Awaitable[bool]] | None = None,
) -> "EmbeddedSearch":
    """Search in tables made from a store's events."""
    from beforehand.adapters.search.embedded import EmbeddedSearch

    versions = present_versions({**crafts.upcasters(), **UPCASTERS})
    return EmbeddedSearch(store, searched(crafts), now_ms=now_ms, path=path, versions=versions, aside=aside)


def searched(crafts: Crafts) -> tuple[Index, ...]:
    """The indexes of Beforehand's own and of the crafts; names that questions know come from them."""
    return indexes_of(crafts.searchables())


def _beside_log(settings: Settings) -> Path | None:
    """Where the tables lie; None, for a log in no file or where none can be written, is a folder that is gone later."""
    path = next((path for path in store_files(settings.database) if path.name.endswith(ENDING)), None)
    return path if path is not None and os.access(path.parent, os.W_OK) else None
