"""An error thrown into a task from outside, where it waits right now."""

import asyncio
from typing import Any

from beforehand.ports import tasks
from beforehand.ports.tasks import Watched


class InjectedError(Exception):
    """What no code of the house expects."""


def watched_here() -> list[Watched]:
    """The register of tasks, as far as it is of this test's loop."""
    loop = asyncio.get_running_loop()
    return [one for one in list(tasks.register) if one.task is not None and one.task.get_loop() is loop]


def break_into(task: "asyncio.Task[Any]") -> bool:
    """Raise an error where a task waits, as deep as it goes; False where it waits for nothing."""
    while (waits_for := task._fut_waiter) is not None:  # type: ignore[attr-defined]
        if isinstance(waits_for, asyncio.Task):
            task = waits_for
        elif waits_for.done():
            return False
        else:
            waits_for.set_exception(InjectedError("injected"))
            return True
    return False
