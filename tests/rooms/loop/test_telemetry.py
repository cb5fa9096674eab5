"""Live frames are followed until whoever follows is cancelled, in whichever turn of the loop that is."""

import asyncio

import pytest

from beforehand.loop.telemetry import Telemetry


@pytest.mark.parametrize("turns", range(6))
async def test_a_follower_ends_although_a_frame_comes_when_it_is_cancelled(turns: int) -> None:
    telemetry = Telemetry()

    async def follow() -> None:
        async for _ in telemetry.follow():
            pass

    following = asyncio.create_task(follow())
    await asyncio.sleep(0)
    assert telemetry.listeners == 1
    telemetry.publish({"kind": "progress"})
    for _ in range(turns):
        await asyncio.sleep(0)
    following.cancel()
    await asyncio.wait([following], timeout=10)
    assert following.cancelled()
    assert telemetry.listeners == 0
