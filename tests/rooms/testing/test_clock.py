import asyncio

import pytest

from beforehand.testing import StandstillError, VirtualClock


async def test_time_stands_still_until_it_is_told_to_pass() -> None:
    clock = VirtualClock(0)
    woken: list[tuple[str, int]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now_ms()))

    tasks = [asyncio.ensure_future(sleeper(name, s)) for name, s in (("late", 5), ("soon", 1), ("also soon", 1))]
    await clock.settle()
    assert woken == []
    await clock.advance(2)
    assert woken == [("soon", 1000), ("also soon", 1000)]
    assert clock.now_ms() == 2000
    await clock.advance(3)
    assert woken[-1] == ("late", 5000)
    await asyncio.gather(*tasks)


async def test_running_jumps_from_sleeper_to_sleeper() -> None:
    clock = VirtualClock(0)

    async def work() -> str:
        for _ in range(1000):
            await clock.sleep(86_400)
        return "done"

    assert await clock.run(work()) == "done"
    assert clock.now_ms() == 1000 * 86_400_000


async def test_work_that_can_never_end_is_told() -> None:
    clock = VirtualClock()

    async def work() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(StandstillError):
        await clock.run(work())


async def test_a_sleeper_that_is_cancelled_wakes_nobody_and_what_fails_is_raised() -> None:
    clock = VirtualClock(0)
    task = asyncio.ensure_future(clock.sleep(5))
    await clock.settle()
    task.cancel()
    await clock.settle()
    assert clock.next_ms() is None

    async def work() -> None:
        await clock.sleep_until(-5)
        raise KeyError("x")

    with pytest.raises(KeyError):
        await clock.run(work())
