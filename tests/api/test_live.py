"""One connection for everything a console shows: the log without gaps, live frames between, and the server's time."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

import httpx2
import pytest
from tests.api.conftest import PATIENCE_S, bearer
from tests.api.listeners import lazy_listener, noted

from beforehand import __version__
from beforehand.server import live

TOTAL = 300


async def messages(server: Any, last: int | None = None, **query: Any) -> AsyncIterator[tuple[str, int | None, Any]]:
    """Each message: its name, its id, and its data."""
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    async with (
        asyncio.timeout(PATIENCE_S),
        server.http.stream("GET", "/live", params=query, headers=headers) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        name, number = "", None
        async for line in answer.aiter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "id":
                number = int(value)
            elif field == "data":
                yield name, number, json.loads(value)
                name, number = "", None


async def hello(server: Any, **query: Any) -> Any:
    async with aclosing(messages(server, **query)) as coming:
        name, number, data = await anext(coming)
    assert (name, number) == ("hello", None)
    return data


async def test_hello_says_when_where_and_which_log(server: Any) -> None:
    empty = await hello(server)
    log = (await server.http.get("/health")).json()["log"]
    told = (0, f"{log['identity']}.{log['generation']}", __version__)
    assert (empty["seq"], empty["log"], empty["version"]) == told
    await noted(server, 3)
    first, second = await hello(server), await hello(server, after=1)
    assert first["seq"] == second["seq"] == 3
    assert (first["log"], first["boot"]) == (empty["log"], empty["boot"]) == (second["log"], second["boot"])
    assert second["now"] >= first["now"] > 0


async def test_another_start_keeps_the_log_s_name_and_draws_a_boot(serve_with: Any) -> None:
    told = []
    for _ in range(2):
        async with serve_with() as server:
            await noted(server, 1)
            told.append(await hello(server))
    assert told[0]["log"] == told[1]["log"]
    assert told[0]["boot"] != told[1]["boot"]


async def test_without_a_place_it_begins_at_the_end(server: Any) -> None:
    await noted(server, 4)
    async with aclosing(messages(server)) as coming:
        assert (await anext(coming))[0] == "hello"
        await noted(server, 1)
        seen = await anext(message async for message in coming if message[0] == "")
    assert seen[1] == seen[2]["seq"] == 5
    assert seen[2]["says"]


async def test_the_header_wins_and_a_place_beyond_the_end_is_the_end(server: Any) -> None:
    await noted(server, 4)
    for given in ({"after": 2}, {"last": 2}, {"last": 2, "after": 0}):
        async with aclosing(messages(server, **given)) as coming:
            await anext(coming)
            assert [(await anext(coming))[1] for _ in range(2)] == [3, 4]
    async with aclosing(messages(server, after=10**30)) as coming:
        await anext(coming)
        await noted(server, 1)
        assert (await anext(message async for message in coming if message[0] == ""))[1] == 5
    await server.refused("GET", "/live?after=x", status=422)


async def test_it_resumes_without_gaps_while_events_and_frames_come(server: Any) -> None:
    """Followers break off again and again and resume by the last id they saw."""
    draw = random.Random(11)
    followers = [asyncio.create_task(_with_breaks(server, random.Random(draw.random()))) for _ in range(6)]
    for number in range(TOTAL // 10):
        server.runtime.telemetry.publish({"kind": "progress", "progress": number})
        await asyncio.gather(*(server.runtime.log("noted", {}, owner="test") for _ in range(10)))
    for seen in await asyncio.gather(*followers):
        assert seen == list(range(1, TOTAL + 1))


async def _with_breaks(server: Any, draw: random.Random) -> list[int]:
    seen: list[int] = []
    while len(seen) < TOTAL:
        wanted = min(draw.randint(1, 60), TOTAL - len(seen))
        async with aclosing(messages(server, last=seen[-1] if seen else 0)) as coming:
            while wanted:
                name, number, _ = await anext(coming)
                if name == "" and number is not None:
                    seen.append(number)
                    wanted -= 1
    return seen


async def test_frames_come_between_the_events(server: Any) -> None:
    async with aclosing(messages(server, after=0)) as coming:
        assert (await anext(coming))[0] == "hello"
        following = asyncio.create_task(anext(message async for message in coming if message[0] != "now"))
        await server.until(lambda: server.runtime.telemetry.listeners == 1)
        server.runtime.telemetry.publish({"kind": "robots", "speed": float("nan")}, "some scene")
        assert await following == ("frame", None, {"kind": "robots", "speed": None})
        await noted(server, 1)
        assert (await anext(message async for message in coming if message[0] != "now"))[:2] == ("", 1)
        server.runtime.telemetry.publish({"kind": "robots"})
        assert (await anext(message async for message in coming if message[0] != "now"))[0] == "frame"
    await server.until(lambda: server.runtime.telemetry.listeners == 0)
    await server.until(lambda: server.app.state.audience.following == 0)


async def test_a_quiet_one_tells_the_time_and_the_log_s_end(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "QUIET_S", 0.02)
    await noted(server, 2)
    async with aclosing(messages(server)) as coming:
        began = (await anext(coming))[2]["now"]
        name, number, data = await anext(coming)
    assert (name, number, data["seq"]) == ("now", None, 2)
    assert data["now"] >= began


async def test_a_revoked_token_ends_it(guarded: Any) -> None:
    began = asyncio.Event()

    async def listen() -> None:
        with suppress(httpx2.HTTPError):
            async with guarded.http.stream("GET", "/live", headers=bearer(guarded.tokens["viewer"])) as answer:
                async for _ in answer.aiter_bytes():
                    began.set()

    guarded.problem(await guarded.http.get("/live"), 401)
    listening = asyncio.create_task(listen())
    await began.wait()
    await guarded.http.delete("/tokens/viewer", headers=bearer(guarded.tokens["admin"]))
    async with asyncio.timeout(PATIENCE_S):
        await listening


async def test_a_reader_that_does_not_read_is_cut_off_and_slows_nobody(server: Any) -> None:
    async with lazy_listener(server, "/live?after=0"):
        reading = asyncio.create_task(_numbers(server, 40))
        await noted(server, 40, size=500_000)
        assert await reading == list(range(1, 41))
    await server.until(lambda: server.runtime.telemetry.listeners == 0)
    assert "beforehand_sse_cut_off_total 1\n" in (await server.http.get("/metrics")).text


async def _numbers(server: Any, count: int) -> list[int]:
    """The numbers of the first so many events."""
    found: list[int] = []
    async with aclosing(messages(server, after=0)) as coming:
        while len(found) < count:
            _, number, _ = await anext(coming)
            found += [] if number is None else [number]
    return found


async def test_it_ends_when_the_server_stops(serve_with: Any) -> None:
    ended = asyncio.Event()
    async with serve_with() as server:

        async def listen() -> None:
            async for name, _, _ in messages(server):
                assert name in ("hello", "now")
            ended.set()

        listening = asyncio.create_task(listen())
        await server.until(lambda: server.runtime.telemetry.listeners == 1)
        server.runtime.feed.close()
        await listening
    assert ended.is_set()
