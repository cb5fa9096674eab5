"""Somebody else's code: whatever it raises, and however long it takes, is an error in a sentence and no more."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from beforehand.model.errors import BadInputError, ForeignError
from beforehand.model.reason import Problem
from beforehand.ports.foreign import contain, contained, guarded, is_ours, loaded, made, started, why

BRIEFLY_S = 0.02


def ends_all() -> Any:
    raise SystemExit(0)


def breaks() -> Any:
    raise TypeError("the wire is cut")


async def ends_all_later() -> None:
    await asyncio.sleep(0)
    raise SystemExit(0)


@pytest.fixture
def never() -> Any:
    """A call that comes back only when the test is over."""
    over = threading.Event()
    yield over.wait
    over.set()


def test_what_would_end_the_process_is_an_error() -> None:
    with pytest.raises(ForeignError, match=r"^It tried to end the whole process \(SystemExit: 0\)\.$"), contained():
        ends_all()
    with pytest.raises(TypeError), contained():
        breaks()
    with pytest.raises(KeyboardInterrupt), contained():
        raise KeyboardInterrupt


async def test_a_task_of_its_own_does_not_end_the_loop() -> None:
    task = asyncio.create_task(contain(ends_all_later()))
    await asyncio.wait([task])
    assert isinstance(task.exception(), ForeignError)


async def test_a_cancellation_goes_through() -> None:
    task = asyncio.create_task(contain(asyncio.sleep(3600)))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (ends_all, "The link wire failed: It tried to end the whole process (SystemExit: 0)."),
        (breaks, "The link wire failed: TypeError: the wire is cut."),
        (lambda: 1 / 0, "The link wire failed: ZeroDivisionError: division by zero."),
    ],
)
def test_an_error_is_told_with_who_it_was_and_what_to_do(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(ForeignError) as told, guarded("The link wire"):
        call()
    assert told.value.says == says
    assert "Correct the plug-in" in told.value.hint


def test_an_error_of_ours_speaks_for_itself() -> None:
    with pytest.raises(BadInputError, match=r"^No\.$"), guarded("The link wire"):
        raise BadInputError("No.")
    problems = [Problem(code="x", about="x", says=f"Wrong {number}.") for number in range(5)]
    assert why(BadInputError("5 problems.", problems=problems)) == "Wrong 0. Wrong 1. Wrong 2. (And 2 more.)"


@pytest.mark.parametrize("call", [ends_all, breaks])
async def test_a_factory_in_its_thread_fails_as_if_it_were_here(call: Callable[[], Any]) -> None:
    with pytest.raises((ForeignError, TypeError)):
        await made(call, ours=False)
    with pytest.raises((ForeignError, TypeError)):
        loaded(call)


async def test_a_factory_that_never_comes_back_is_left_behind(never: Any) -> None:
    with pytest.raises(ForeignError, match=r"It did not start within 0\.02 s\."):
        await made(never, ours=False, within_s=BRIEFLY_S)
    with pytest.raises(ForeignError, match="It did not start"):
        loaded(never, within_s=BRIEFLY_S)


async def test_others_go_on_while_a_factory_takes_its_time(never: Any) -> None:
    making = asyncio.create_task(made(never, ours=False, within_s=60))
    for _ in range(3):
        await asyncio.sleep(0)
    assert not making.done()
    making.cancel()
    await asyncio.wait([making])


async def test_a_factory_that_needs_the_loop_has_it() -> None:
    assert await made(asyncio.get_running_loop, ours=False) is asyncio.get_running_loop()


async def test_ours_is_called_right_here() -> None:
    assert await made(threading.current_thread, ours=True) is threading.current_thread()
    assert await made(threading.current_thread, ours=False) is not threading.current_thread()
    assert loaded(threading.current_thread, ours=True) is threading.current_thread()
    assert (is_ours(why), is_ours(breaks), is_ours(object())) == (True, False, False)


async def test_a_start_that_takes_too_long_is_given_up() -> None:
    ended = asyncio.Event()

    async def hangs() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    with pytest.raises(ForeignError, match="It did not start within"):
        await started(hangs(), ours=False, within_s=BRIEFLY_S)
    async with asyncio.timeout(60):
        await ended.wait()


async def test_a_start_says_what_went_wrong() -> None:
    async def cancels_itself() -> None:
        raise asyncio.CancelledError

    assert await started(asyncio.sleep(0, "value"), ours=False) == "value"
    with pytest.raises(ForeignError, match="SystemExit"):
        await started(ends_all_later(), ours=False)
    with pytest.raises(ForeignError, match="It was cancelled, and not by us"):
        await started(cancels_itself(), ours=False)
