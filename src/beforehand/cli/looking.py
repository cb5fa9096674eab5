"""Commands that only look: they read the log beside whoever leads it, and make no home where there is none."""

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from beforehand.cli.work import work

if TYPE_CHECKING:
    from beforehand.app.house import House
    from beforehand.app.settings import Settings

T = TypeVar("T")


def look(settings: "Settings", question: Callable[["House"], Awaitable[T]], nothing: Any) -> T:
    """What the log says; `nothing` where there is no log yet."""
    if not settings.database.exists():
        return cast(T, nothing)

    async def ask() -> T:
        from beforehand.app.house import open_house

        async with open_house(settings, lead=False, with_servers=False) as house:
            return await question(house)

    return work(ask(), log_level=logging.ERROR)
