"""Running a command's asynchronous part: one loop, logs on standard error, and a clean end when told to stop."""

import asyncio
import logging
import signal
import socket
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from beforehand.cli.exits import Stopped
from beforehand.cli.logs import quiet_logs
from beforehand.cli.signals import code_of, restore, stop_by_signal

T = TypeVar("T")


def run_async(main: Coroutine[Any, Any, T], *, log_level: int | None = logging.WARNING) -> T:
    """The result of `main`; Stopped when Ctrl-C or a termination signal ended it, after everything was closed.

    Without a `log_level` the logs stay as they were set up.
    """
    if log_level is not None:
        quiet_logs(level=log_level)
    stopped_by: int | None = None

    async def guarded() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None

        def stop(number: int) -> None:
            nonlocal stopped_by
            stopped_by = number
            loop.call_soon_threadsafe(task.cancel)  # the loop may be asleep

        with _woken_by_signals(loop):
            before = stop_by_signal(stop)
            try:
                return await main
            finally:
                restore(before)

    try:
        result = asyncio.run(guarded())
    except asyncio.CancelledError:
        if stopped_by is None:
            raise
        raise Stopped(code_of(stopped_by), "Stopped.") from None
    if stopped_by is not None:  # also where it was just done: the command has more to do, and is not to do it
        raise Stopped(code_of(stopped_by), "Stopped.")
    return result


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Have a signal wake the loop also where it comes in the very instant in which the loop falls asleep."""
    heard, told = socket.socketpair()
    with heard, told:
        heard.setblocking(False)
        told.setblocking(False)
        before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        loop.add_reader(heard, heard.recv, 64)
        try:
            yield
        finally:
            loop.remove_reader(heard)
            signal.set_wakeup_fd(before)
