"""The one way to end tasks: they are cancelled, and waited for.

A cancellation can get lost inside a library (on Python 3.11 `asyncio.wait_for` swallows one that comes in the very turn
in which what it waits for is done), so it is said again. Whoever closes something never waits for ever.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from beforehand.ports.log import Log

log = Log("beforehand.tasks")

AGAIN_S = 10.0
"""How long a task may take to end in an orderly way before it is told again."""
TIMES = 3


async def stop(tasks: "Iterable[asyncio.Future[Any]]", *, again_s: float | None = None) -> None:
    """Cancel tasks and wait until they have ended; one that never listens is left behind."""
    still = {task for task in tasks if not task.done()}
    for _ in range(TIMES):
        if not still:
            return
        for task in still:
            task.cancel()
        ended, still = await asyncio.wait(still, timeout=AGAIN_S if again_s is None else again_s)
        for task in ended:
            if not task.cancelled():
                task.exception()  # looked at: what a task says that is told to end is nobody's trouble
    for task in still:
        log.warning("a task did not end when it was told to", task=repr(task))
