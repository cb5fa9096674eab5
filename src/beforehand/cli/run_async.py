"""Running a command's asynchronous part: one loop, logs on standard error, and a clean end when told to stop."""

import asyncio
import logging
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from beforehand.cli.exits import INTERRUPTED, TERMINATED, Stopped
from beforehand.cli.logs import quiet_logs

T = TypeVar("T")


def run_async(main: Coroutine[Any, Any, T], *, log_level: int = logging.WARNING) -> T:
    """The result of `main`; Stopped when Ctrl-C or a termination signal ended it, after everything was closed."""
    quiet_logs(level=log_level)
    terminated = False

    async def guarded() -> T:
        nonlocal terminated
        task = asyncio.current_task()
        assert task is not None

        def stop() -> None:
            nonlocal terminated
            terminated = True
            task.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
        return await main

    try:
        return asyncio.run(guarded())
    except KeyboardInterrupt:
        raise Stopped(INTERRUPTED, "Stopped.") from None
    except asyncio.CancelledError:
        if not terminated:
            raise
        raise Stopped(TERMINATED, "Stopped.") from None
