"""Commands that only look: they read the log beside whoever leads it, and make no home where there is none."""

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from beforehand.cli.run_async import run_async

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.model.versions import Upcasters
    from beforehand.ports.store import Store

T = TypeVar("T")


def read_home(
    settings: "Settings", question: Callable[["Store"], Awaitable[T]], nothing: Any, *, of_crafts: bool = False
) -> T:
    """What the log says; `nothing` where there is no log yet.

    `of_crafts`: the question is about what crafts wrote, so older events of theirs come out in their present form.
    """
    from beforehand.app.stores import open_reading, store_exists

    if not store_exists(settings.database):
        return cast(T, nothing)

    async def ask() -> T:
        async with open_reading(settings.database, _upcasters() if of_crafts else None) as store:
            return await question(store)

    return run_async(ask(), log_level=logging.ERROR)


def _upcasters() -> "Upcasters":
    from beforehand.app.crafts import load_crafts

    return load_crafts().upcasters()
