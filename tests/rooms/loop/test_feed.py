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
    async with asyncio.timeout(10):
        assert await waiting == []
    await quiet.aclose()  # type: ignore[attr-defined]


async def test_news_comes_as_server_sent_events_with_their_number_and_in_words() -> None:
    store = MemoryStore()
    feed = Feed(store, lambda line: line.replace(b"thing", b"a thing"))
    assert feed.newest == 0
    await store.append([event(1)])
    assert feed.newest == 1
    [(record, sent)] = await anext(feed.follow(0))
    assert sent.startswith(b"id: 1\ndata: {")
    assert sent.endswith(b"}\n\n")
    assert b"a thing" in sent
    assert b"a thing" not in record.line


async def test_a_batch_ends_when_it_holds_much_and_what_is_kept_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """However large events are, a follower who does not read holds on to little, and so does the feed."""
    store = MemoryStore()
    feed = Feed(store)
    await store.append([event(n) for n in range(4)])
    size = len((await anext(feed.follow(0)))[0][0].line)
    monkeypatch.setattr(feed_module, "BATCH_BYTES", 2 * size)
    assert [len(batch) for batch in [await anext(feed.follow(n)) for n in (0, 1, 3)]] == [2, 2, 1]
    monkeypatch.setattr(feed_module, "KEPT_BYTES", 2 * size)
    await store.append([event(4)])
    monkeypatch.setattr(store, "records", None)  # nobody needs the store for what is kept
    assert await taken(feed.follow(3), 2) == [4, 5]
    with pytest.raises(TypeError):
        await anext(feed.follow(2))


async def test_an_event_larger_than_all_that_is_kept_is_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "KEPT_BYTES", 1)
    store = MemoryStore()
    feed = Feed(store)
    await store.append([event(1)])
    assert await taken(feed.follow(0), 1) == [1]


async def test_many_who_read_the_same_from_the_store_share_it() -> None:
    store = MemoryStore()
    await store.append([event(n) for n in range(3)])
    feed, made = Feed(store, lambda line: made.append(line) or line), []  # type: ignore[func-returns-value]
    first, second = feed.follow(0), feed.follow(0)
    assert await anext(first) == await anext(second)
    assert len(made) == 3, "it is put into words once"


async def test_under_load_news_rests_and_then_goes_out_together(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])
    monkeypatch.setattr(feed_module, "REST_S", 60)
    store = MemoryStore()
    feed = Feed(store)
    follower = feed.follow(0)
    first = asyncio.ensure_future(anext(follower))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    await store.append([event(1)])
    assert [record.seq for record, _ in await first] == [1], "after a rest it goes out at once"
    second = asyncio.ensure_future(anext(follower))  # type: ignore[arg-type]
    for number in (2, 3):
        now[0] += 29
        await store.append([event(number)])
        assert not second.done()
    now[0] += 3
    assert [record.seq for record, _ in await second] == [2, 3]


async def test_nobody_hears_anything_after_it_was_closed() -> None:
    store = MemoryStore()
    feed = Feed(store)
    feed.close()
    await store.append([event(1)])
    assert feed.newest == 0
    assert [batch async for batch in feed.follow(0)] == []
