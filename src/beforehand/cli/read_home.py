"""Commands that only look: they read the log beside whoever leads it, and make no home where there is none."""

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from beforehand.cli.run_async import run_async

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings

T = TypeVar("T")


def read_home(settings: "Settings", question: Callable[["Runtime"], Awaitable[T]], nothing: Any) -> T:
    """What the log says; `nothing` where there is no log yet."""
    from beforehand.app.stores import store_exists

    if not store_exists(settings.database):
        return cast(T, nothing)

    async def ask() -> T:
        from beforehand.app.runtime import open_runtime

        async with open_runtime(settings, lead=False, with_servers=False) as runtime:
            return await question(runtime)

    return run_async(ask(), log_level=logging.ERROR)
