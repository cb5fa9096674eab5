"""Tasks that are told to end: heard at once, heard late, or never."""

import asyncio
from contextlib import suppress

import pytest

from beforehand.ports import tasks
from beforehand.ports.tasks import stop


async def deaf(times: int) -> None:
    """Work that a cancellation gets lost in, so often."""
    for _ in range(times):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
    await asyncio.sleep(600)


async def begun(*work: "asyncio.Task[None]") -> None:
    await asyncio.sleep(0)


async def test_a_task_that_lost_its_cancellation_is_told_again() -> None:
    working = asyncio.create_task(deaf(1))
    await begun(working)
    await stop([working], again_s=0.01)
    assert working.cancelled()


async def test_one_that_never_listens_is_left_behind() -> None:
    working = asyncio.create_task(deaf(tasks.TIMES))
    await begun(working)
    await stop([working], again_s=0.01)
    assert not working.done()
    working.cancel()


async def test_whoever_closes_can_be_cancelled_meanwhile() -> None:
    working = asyncio.create_task(deaf(1))
    closing = asyncio.create_task(stop([working]))
    await begun(working, closing)
    closing.cancel()
    await asyncio.wait([closing])
    assert closing.cancelled()
    working.cancel()


async def test_a_failure_on_the_way_out_is_nobody_elses() -> None:
    async def failing() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            raise ValueError("closed badly")

    working = asyncio.create_task(failing())
    await begun(working)
    await stop([working])
    with pytest.raises(ValueError, match="closed badly"):
        working.result()
