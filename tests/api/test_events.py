"""The log's stream: gap-free, resumed without loss however often it breaks, filtered, and never slowed by anyone."""

import asyncio
import json
import random
from typing import Any

import pytest
from tests.api.listeners import lazy_listener, noted

TOTAL = 600


async def test_the_stream_is_the_whole_log_and_then_what_comes(server: Any) -> None:
    await noted(server, 3)
    reading = asyncio.create_task(server.take(6))
    await server.until(lambda: server.app.state.audience.following == 1)
    await noted(server, 3)
    events = await reading
    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5, 6]
    assert {"seq", "ts", "kind", "correlationId", "about", "data"} <= events[0].keys()
    await server.until(lambda: server.app.state.audience.following == 0)


async def test_it_resumes_by_either_number_and_the_header_wins(server: Any) -> None:
    await noted(server, 5)
    assert [event["seq"] for event in await server.take(2, after=3)] == [4, 5]
    assert [event["seq"] for event in await server.take(2, last=3)] == [4, 5]
    assert [event["seq"] for event in await server.take(1, last=4, after=1)] == [5]


async def test_a_number_beyond_the_end_means_the_end(server: Any) -> None:
    await noted(server, 2)
    for beyond in (3, 10**6, 10**30):
        reading = asyncio.create_task(server.take(1, after=beyond))
        await server.until(lambda: server.app.state.audience.following == 1)
        await noted(server, 1)
        (event,) = await reading
        assert event["seq"] == await server.runtime.store.last_seq()
        await server.until(lambda: server.app.state.audience.following == 0)


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "1e3", "0x1", "1_000", "NaN", "٣", "1 2"])
async def test_a_bad_number_is_refused(server: Any, number: str) -> None:
    await server.refused("GET", f"/events?after={number}", status=422)
    answer = await server.http.get("/events", headers=[(b"Last-Event-ID", number.encode())])
    server.problem(answer, 422)


async def test_filters_let_through_what_they_say(server: Any) -> None:
    run = await server.start(server.step("a"))
    other = await server.start(server.step("b"))
    await server.ended(run["runId"])
    await server.ended(other["runId"])
    await noted(server, 1, taskId="t1")
    last = await server.runtime.store.last_seq()
    whole = await server.take(last)
    by_run = [event for event in whole if event["about"].get("runId") == run["runId"]]
    assert await server.take(len(by_run), run=run["runId"]) == by_run
    kinds = [event for event in whole if event["kind"] in ("planCreated", "runFinished")]
    assert await server.take(4, kinds="planCreated,runFinished") == kinds
    assert await server.take(4, kinds=["planCreated", " runFinished "]) == kinds
    assert [event["seq"] for event in await server.take(1, task="t1")] == [last]
    assert await server.take(2, kinds="runFinished", run="") == [e for e in whole if e["kind"] == "runFinished"]


async def test_a_scene_filters_too(server: Any) -> None:
    await server.runtime.log("noted", {}, owner="test", scene="one")
    await server.runtime.log("noted", {}, owner="test", scene="two")
    assert [event["seq"] for event in await server.take(1, scene="two")] == [2]


async def test_a_storm_of_reconnects_loses_and_doubles_nothing(server: Any) -> None:
    """Followers break off after a random number of events and resume by the last id they saw, while others write."""
    draw = random.Random(7)
    followers = [asyncio.create_task(_with_breaks(server, random.Random(draw.random()))) for _ in range(12)]
    for _ in range(TOTAL // 20):
        await asyncio.gather(*(server.runtime.log("noted", {}, owner="test") for _ in range(20)))
    for seen in await asyncio.gather(*followers):
        assert seen == list(range(1, TOTAL + 1))


async def _with_breaks(server: Any, draw: random.Random) -> list[int]:
    seen: list[int] = []
    while len(seen) < TOTAL:
        wanted = min(draw.randint(1, 80), TOTAL - len(seen))
        seen += [event["seq"] for event in await server.take(wanted, last=seen[-1] if seen else 0)]
    return seen


async def test_a_connection_torn_in_the_middle_of_an_event_resumes(server: Any) -> None:
    await noted(server, 50, size=2_000)
    draw = random.Random(3)
    seen: list[int] = []
    while len(seen) < 50:
        raw = await _raw_bytes(server, seen[-1] if seen else 0, draw.randint(300, 20_000))
        whole = raw[: raw.rfind(b"\n\n") + 2]
        seen += [int(line[4:]) for line in whole.split(b"\n") if line.startswith(b"id: ")]
    assert seen == list(range(1, 51))


async def _raw_bytes(server: Any, after: int, most: int) -> bytes:
    """So many bytes of the stream's body, then the connection is torn."""
    raw = b""
    async with server.http.stream("GET", "/events", params={"after": after}) as answer:
        async for part in answer.aiter_bytes():
            raw += part
            if len(raw) >= most or b'"seq":50' in raw:
                return raw[:most] if b'"seq":50,' not in raw else raw
    return raw


async def test_a_reader_that_does_not_read_is_cut_off_and_slows_nobody(server: Any) -> None:
    async with lazy_listener(server, "/events"):
        reading = asyncio.create_task(server.take(40))
        await noted(server, 40, size=500_000)
        assert [event["seq"] for event in await reading] == list(range(1, 41))
    assert "beforehand_sse_cut_off_total 1\n" in (await server.http.get("/metrics")).text


async def test_a_quiet_stream_is_kept_alive_by_comments(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from beforehand.server import sse

    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.05)
    async with asyncio.timeout(10), server.http.stream("GET", "/events?kinds=nothing") as answer:
        lines = answer.aiter_lines()
        assert (await anext(lines)).startswith(":")


async def test_live_frames_are_sent_as_they_come(server: Any) -> None:
    async with asyncio.timeout(10), server.http.stream("GET", "/telemetry") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        await server.until(lambda: server.runtime.telemetry.listeners == 1)
        server.runtime.telemetry.publish({"kind": "progress", "progress": 40.0, "speed": float("nan")})
        line = await anext(line async for line in answer.aiter_lines() if line.startswith("data"))
        assert json.loads(line.removeprefix("data: ")) == {"kind": "progress", "progress": 40.0, "speed": None}
    await server.until(lambda: server.runtime.telemetry.listeners == 0)
    await server.refused("GET", "/telemetry?scene=nowhere", status=404)


async def test_the_correlation_id_goes_from_the_request_to_the_last_event(server: Any) -> None:
    body = {"plan": {"steps": [server.step("a")]}}
    answer = await server.http.post("/plans", json=body, headers={"X-Correlation-Id": "order-4711"})
    assert answer.headers["x-correlation-id"] == "order-4711"
    plan = answer.json()
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    await server.ended(run["runId"])
    events = await server.take(await server.runtime.store.last_seq())
    assert {event["correlationId"] for event in events} == {"order-4711"}
    drawn = await server.http.get("/health", headers={"X-Correlation-Id": "two words"})
    assert drawn.headers["x-correlation-id"].startswith("req_")


async def test_recent_events_are_a_list_with_sentences(server: Any) -> None:
    plan = await server.plan(server.step("a"), name="Greet")
    await server.call("PUT", "/templates/kept", {"steps": [server.step("a")]})
    events = await server.call("GET", "/events?limit=100")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["says"] == "A plan came in: Greet, 1 step."
    assert events[1]["says"] == "A person is asked: Review: Greet (1 step, version 1)."
    assert events[-2]["says"] == "The template kept was kept."
    assert events[-1]["says"] == "local asked for it: PUT /templates/kept."
    assert await server.call("GET", f"/events?before={events[-1]['seq']}&limit=2") == events[-3:-1]
    assert await server.call("GET", "/events?limit=5&kinds=planCreated") == events[:1]
    assert await server.call("GET", "/events?before=1") == []
    assert await server.call("GET", f"/events?before={10**20}&limit=2") == events[-2:]
    assert (await server.take(1, after=0))[0] == events[0]
    assert plan["id"] == events[0]["about"]["planId"]
    assert await server.call("GET", "/events?after=0&limit=2") == events[:2]
    assert await server.call("GET", "/events?after=1&limit=1") == events[1:2]
    assert await server.call("GET", f"/events?after=1&before={events[-1]['seq']}") == events[1:-1]
    assert await server.call("GET", "/events?after=1&before=2") == []
    assert await server.call("GET", f"/events?after={10**20}&limit=2") == []
    for query in ("before=x", "limit=0", "limit=1001", "before=-1", "after=x&limit=1"):
        await server.refused("GET", f"/events?{query}", status=422)
