"""Opening what answers questions to the past: tables beside the log, or the server of the settings."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beforehand.app.crafts import Crafts
from beforehand.app.settings import Settings
from beforehand.app.stores import store_files
from beforehand.loop.searchable import indexes_of
from beforehand.model.errors import BadInputError
from beforehand.ports.search import Field, Found, Index, Search
from beforehand.ports.store import Store

ENDING = ".search"


class _OpenedWhenAsked:
    """Most processes never search, so what searching needs is imported with the first question."""

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

    async def check(self, index: str, body: Mapping[str, Any]) -> None:
        await self._search.check(index, body)

    async def search(self, index: str, body: Mapping[str, Any]) -> Found:
        return await self._search.search(index, body)

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()


def open_search(settings: Settings, store: Store, crafts: Crafts, now_ms: Callable[[], int]) -> Search:
    """Search over a store; nothing is imported, read or sent before the first question. Whoever opens it closes it."""
    url = settings["search"]
    if url is not None and not str(url).startswith(("http://", "https://")):
        raise BadInputError("search is the http or https URL of a search server.", code="settings.search")

    def embedded() -> Search:
        from beforehand.adapters.search.embedded import EmbeddedSearch

        return EmbeddedSearch(store, searched(crafts), now_ms=now_ms, path=_beside_log(settings))

    def remote() -> Search:
        from beforehand.adapters.search.remote import RemoteSearch

        return RemoteSearch(str(url), now_ms=now_ms)

    return _OpenedWhenAsked(embedded if url is None else remote)


def searched(crafts: Crafts) -> tuple[Index, ...]:
    """The indexes of Beforehand's own and of the crafts; names that questions know come from them."""
    return indexes_of(crafts.searchables())


def _beside_log(settings: Settings) -> Path | None:
    """Where the tables lie; None, for a log that is in no file, is a folder that is gone with the process."""
    return next((path for path in store_files(settings.database) if path.name.endswith(ENDING)), None)
