"""The feed: everybody gets every event once and in order, from wherever they begin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from beforehand.loop import feed as feed_module
from beforehand.loop.feed import Feed
from beforehand.model.event import Event
from beforehand.ports.store import EventFilter
from beforehand.testing import MemoryStore


def event(number: int, scene: str = "a") -> Event:
    return Event("thing", {"number": number}, {"number": number}, ts=number, scene=scene)


async def taken(batches: AsyncIterator[list[Any]], count: int) -> list[int]:
    numbers: list[int] = []
    async with asyncio.timeout(10), aclosing(batches) as coming:  # type: ignore[type-var]
        async for batch in coming:
            numbers += [record.seq for record, _ in batch]
            if len(numbers) >= count:
                break
    return numbers


async def test_who_comes_late_gets_it_all_and_who_waits_gets_the_news() -> None:
    store = MemoryStore()
    await store.append([event(n) for n in range(5)])
    feed = Feed(store)
    early = asyncio.create_task(taken(feed.follow(0), 8))
    await asyncio.sleep(0)
    await store.append([event(n) for n in range(5, 8)])
    assert await early == list(range(1, 9))
    assert await taken(feed.follow(6), 2) == [7, 8]
    assert await taken(feed.follow(0), 8) == list(range(1, 9))


async def test_filters_pass_only_what_they_name() -> None:
    store = MemoryStore()
    feed = Feed(store)
    await store.append([event(n, "ab"[n % 2]) for n in range(10)])
    assert await taken(feed.follow(0, EventFilter(scene="b")), 5) == [2, 4, 6, 8, 10]


async def test_old_news_comes_from_the_store_without_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "KEPT", 3)
    monkeypatch.setattr(feed_module, "BATCH", 2)
    store = MemoryStore()
    feed = Feed(store)
    for number in range(20):
        await store.append([event(number)])
    assert await taken(feed.follow(0), 20) == list(range(1, 21))


async def test_closing_ends_every_subscription_and_quiet_ones_hear_so() -> None:
    store = MemoryStore()
    feed = Feed(store)
    quiet = feed.follow(0, idle_s=0.0)
    assert await anext(quiet) == []
    waiting = asyncio.create_task(taken(feed.follow(0), 1))
    await asyncio.sleep(0)
    feed.close()
    assert await asyncio.wait_for(waiting, 10) == []
    await quiet.aclose()  # type: ignore[attr-defined]
