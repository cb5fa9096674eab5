"""A command's asynchronous part ends when a signal comes, in whichever turn of the loop that is."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from beforehand.cli.exits import Stopped
from beforehand.cli.run_async import run_async


@pytest.fixture(autouse=True)
def _no_alarm() -> Iterator[None]:
    """What a first signal sets up for the worst case is taken back: this process goes on."""
    kept = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    yield
    signal.signal(signal.SIGALRM, kept[0])
    signal.setitimer(signal.ITIMER_REAL, *kept[1])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_everything_is_closed_before_it_ends(number: signal.Signals, code: int) -> None:
    closed = []

    async def main() -> None:
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(600)
        finally:
            await asyncio.sleep(0)
            closed.append("all")

    with pytest.raises(Stopped) as stopped:
        run_async(main())
    assert stopped.value.code == code
    assert closed == ["all"]


def test_a_signal_in_the_last_turn_is_not_lost() -> None:
    async def main() -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        return "done, and more to do"

    with pytest.raises(Stopped):
        run_async(main())


def test_what_was_set_for_signals_is_set_again() -> None:
    async def nothing() -> int:
        return 1

    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert run_async(nothing()) == 1
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
