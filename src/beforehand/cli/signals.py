"""Ctrl-C, a termination signal and a terminal that is lost end every command, whenever they come.

Where nothing is open that has to be closed they end the process at once. Work that has to be closed is told to stop
(`run_async`), and a second signal, or the end of a long patience, ends the process all the same. Neither raises an
exception in the middle of whatever is just being done: in an import or a callback it would be shown, or get lost.
"""

import os
import signal

TYPE_CHECKING = False  # not that of `typing`: until this is loaded a signal shows where Python was
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, NoReturn

    Handlers = dict[signal.Signals, Any]

NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE_S = 90
"""Longer than any orderly end takes: a worker gives the calls under way half a minute."""
_SHOW_CURSOR = b"\x1b[?25h"


def code_of(number: int) -> int:
    """The exit code of a command that a signal ended: 130 for Ctrl-C, 143 to terminate it, 129 for a lost terminal."""
    return 128 + number


def heed_signals() -> None:
    """From now on each of them ends the process at once, with a word and its exit code."""
    _handle(end_at_once)


def stop_by_signal(stop: "Callable[[int], None]") -> "Handlers":
    """Have the first signal call `stop`, and the next end the process at once; gives what was set before."""

    def tell(number: int, frame: "FrameType | None") -> None:
        heed_signals()
        if hasattr(signal, "SIGHUP"):  # a terminal is lost once, and both the system and the shell tell it
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGALRM, lambda *_: end_at_once(number))
        signal.alarm(PATIENCE_S)
        stop(number)

    return _handle(tell)


def restore(before: "Handlers") -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def _handle(handler: "Callable[[int, FrameType | None], None]") -> "Handlers":
    """Set a handler for all; a signal that was ignored when the process began stays so, as `nohup` wants it."""
    heard = [number for number in NUMBERS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in heard}


def end_at_once(number: int, _: "FrameType | None" = None) -> "NoReturn":
    """Say so and end, without taking the interpreter down. Streams may be in use just now, so none is touched."""
    try:
        os.write(2, (_SHOW_CURSOR if os.isatty(2) else b"") + b"Stopped.\n")
    finally:
        os._exit(code_of(number))
