"""How far a shift in virtual time has come, on the terminal, for those that take a while to work out."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from beforehand.crafts.fleet.core.simulate import Watch
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.model.words import counted

QUICK_S = 0.5
"""What is worked out faster needs no bar."""


@contextmanager
def shift_bar(for_s: float | None) -> Iterator[Watch | None]:
    """A bar on standard error, gone when the shift is over; None where that is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(TextColumn("{task.description}"), BarColumn(), console=Console(stderr=True), transient=True)
    shown = bar.add_task("", total=for_s)
    began = time.monotonic()

    def watch(state: FleetState, now_ms: int) -> None:
        if time.monotonic() - began < QUICK_S:
            return
        bar.start()  # Starting twice does nothing.
        hours, rest = divmod(now_ms // 1000, 3600)
        says = f"{hours}:{rest // 60:02}:{rest % 60:02} virtual, {counted(state.completed, 'task')} completed"
        bar.update(shown, description=says, completed=now_ms / 1000 if for_s is not None else 0)

    try:
        yield watch
    finally:
        bar.stop()
