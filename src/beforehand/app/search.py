"""Opening what answers questions to the past: tables beside the log, or the server of the settings."""

from collections.abc import Callable
from pathlib import Path

from beforehand.app.crafts import Crafts
from beforehand.app.settings import Settings
from beforehand.app.stores import store_files
from beforehand.loop.searchable import indexes_of
from beforehand.model.errors import BadInputError
from beforehand.ports.search import Index, Search
from beforehand.ports.store import Store

ENDING = ".search"


def open_search(settings: Settings, store: Store, crafts: Crafts, now_ms: Callable[[], int]) -> Search:
    """Search over a store; nothing is read or sent before the first question. Whoever opens it closes it."""
    url = settings["search"]
    if url is None:
        from beforehand.adapters.search.embedded import EmbeddedSearch

        return EmbeddedSearch(store, searched(crafts), now_ms=now_ms, path=_beside_log(settings))
    if not str(url).startswith(("http://", "https://")):
        raise BadInputError("search is the http or https URL of a search server.", code="settings.search")
    from beforehand.adapters.search.remote import RemoteSearch

    return RemoteSearch(str(url), now_ms=now_ms)


def searched(crafts: Crafts) -> tuple[Index, ...]:
    """The indexes of Beforehand's own and of the crafts; names that questions know come from them."""
    return indexes_of(crafts.searchables())


def _beside_log(settings: Settings) -> Path | None:
    """Where the tables lie; None, for a log that is in no file, is a folder that is gone with the process."""
    return next((path for path in store_files(settings.database) if path.name.endswith(ENDING)), None)
