"""Commands that only look: they read the log beside whoever leads it, and make no home where there is none."""

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from beforehand.cli.run_async import run_async

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.ports.store import Store

T = TypeVar("T")


def read_home(settings: "Settings", question: Callable[["Store"], Awaitable[T]], nothing: Any) -> T:
    """What the log says; `nothing` where there is no log yet."""
    from beforehand.app.stores import open_reading, store_exists

    if not store_exists(settings.database):
        return cast(T, nothing)

    async def ask() -> T:
        async with open_reading(settings.database) as store:
            return await question(store)

    return run_async(ask(), log_level=logging.ERROR)
