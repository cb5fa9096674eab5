"""Live frames: everybody gets those of what they look at, the newest of them where they do not keep up."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from beforehand.loop.telemetry import QUEUE, Telemetry

Frames = AsyncIterator[bytes | None]


async def looking(telemetry: Telemetry, scene: str | None = None) -> tuple[Frames, "asyncio.Task[bytes | None]"]:
    """Somebody who has begun to look, and what they see next."""
    frames = telemetry.follow(scene, idle_s=None)
    coming = asyncio.ensure_future(anext(frames))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    return frames, coming


async def ended(*everybody: Any) -> None:
    for frames in everybody:
        await frames.aclose()


async def test_a_frame_goes_to_those_who_look_at_its_scene_or_at_everything() -> None:
    telemetry = Telemetry()
    assert not telemetry.is_wanted("hall")
    (hall, in_hall), (yard, in_yard), (all_of_it, anywhere) = [
        await looking(telemetry, scene) for scene in ("hall", "yard", None)
    ]
    assert telemetry.listeners == 3
    assert telemetry.wanted() == {"hall", "yard", None}
    telemetry.publish({"robot": "RB-01"}, "hall")
    assert await in_hall == await anywhere == b'data: {"robot":"RB-01"}\n\n'
    assert not in_yard.done()
    telemetry.publish({"robot": "RB-02"}, "yard")
    assert await in_yard == b'data: {"robot":"RB-02"}\n\n'
    await ended(hall, yard, all_of_it)
    assert telemetry.listeners == 0


async def test_nobody_is_told_that_a_scene_is_wanted_that_none_looks_at() -> None:
    telemetry = Telemetry()
    hall, coming = await looking(telemetry, "hall")
    assert telemetry.is_wanted("hall")
    assert not telemetry.is_wanted("yard")
    coming.cancel()
    await asyncio.wait([coming])
    everything, coming = await looking(telemetry)
    assert telemetry.is_wanted("yard")
    coming.cancel()
    await asyncio.wait([coming])
    await ended(hall, everything)


async def test_a_frame_of_another_server_goes_only_to_those_who_look_at_just_that() -> None:
    telemetry = Telemetry()
    (hall, in_hall), (everything, anywhere) = await looking(telemetry, "hall"), await looking(telemetry)
    telemetry.pass_on(b"data: 1\n\n", "hall")
    assert await in_hall == b"data: 1\n\n"
    assert not anywhere.done(), "whoever looks at everything gets it from the other server's own stream of everything"
    telemetry.pass_on(b"data: 2\n\n", None)
    assert await anywhere == b"data: 2\n\n"
    await ended(hall, everything)


async def test_who_does_not_keep_up_misses_the_oldest() -> None:
    telemetry = Telemetry()
    frames, first = await looking(telemetry)
    for number in range(QUEUE + 2):
        telemetry.publish({"n": number})
    seen = [await first, *[await anext(frames) for _ in range(QUEUE - 1)]]
    assert seen[-1] == b'data: {"n":%d}\n\n' % (QUEUE + 1)
    assert len(set(seen)) == QUEUE
    await ended(frames)


async def test_who_sees_nothing_for_a_while_hears_so_and_closing_ends_it() -> None:
    telemetry = Telemetry()
    frames = telemetry.follow("hall", idle_s=0.001)
    assert await anext(frames) is None
    assert await anext(frames) is None
    telemetry.close()
    assert [frame async for frame in frames] == []
    assert telemetry.listeners == 0


async def test_a_number_that_json_does_not_have_is_sent_as_nothing() -> None:
    telemetry = Telemetry()
    frames, coming = await looking(telemetry)
    telemetry.publish({"battery": float("nan")})
    assert await coming == b'data: {"battery":null}\n\n'
    await ended(frames)
