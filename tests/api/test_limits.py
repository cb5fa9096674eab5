"""What nobody may do to the server: too large, too slow, too much unread; and how it says that it is ill."""

import asyncio
import json
import shutil
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.sqlite import checks
from beforehand.app import log_health
from beforehand.loop import feed
from beforehand.server import requests, sse

Usage = namedtuple("Usage", "total used free")

LAZY = 8
"""How many clients ask for the log and never read it."""


async def test_a_plan_of_more_than_ten_thousand_steps_is_too_large(server: Any) -> None:
    steps = [server.step(f"s{n}") for n in range(10_001)]
    told = await server.refused("POST", "/plans", {"plan": {"steps": steps}}, status=413)
    assert told["code"] == "plan.too_large"
    assert "10001 steps" in told["detail"]
    plan = await server.call("POST", "/plans", {"plan": {"steps": steps[:-1]}}, status=201)
    add = {"edits": [{"op": "add", "step": steps[-1]}]}
    assert (await server.http.patch(f"/plans/{plan['id']}", json=add, headers={"If-Match": "1"})).status_code == 413


async def test_a_body_of_more_than_8_mib_is_too_large(server: Any) -> None:
    step = server.step("w", "write_file", {"path": "a", "content": "x" * (8 * 1024 * 1024)})
    assert "8 MiB" in (await server.refused("POST", "/plans", {"plan": {"steps": [step]}}, status=413))["detail"]


async def test_of_many_problems_the_first_hundred_are_told(server: Any) -> None:
    steps = [server.step(f"s{n}", "no_such_tool", {}) for n in range(250)]
    told = await server.refused("POST", "/plans", {"plan": {"steps": steps}}, status=422)
    assert len(told["problems"]) == 100
    assert told["problemCount"] == 250
    assert "250 problems" in told["detail"]


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
async def test_a_body_that_does_not_come_ends(
    server: Any, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "BODY_S", 0.2)
    reader, writer = await asyncio.open_connection(*server.url.removeprefix("http://").split(":"))
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(
        b"POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n%b\r\n{" % more.encode()
    )
    async with asyncio.timeout(30):
        answer = await reader.read()  # until the server hangs up
    writer.close()
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"input.too_slow" in answer


@pytest.mark.parametrize("workspace", ["x" * 300, "x/" * 3000, "a\0b", "no/such"])
async def test_a_workspace_that_cannot_be_is_a_clear_refusal(server: Any, workspace: str) -> None:
    body = {"plan": {"steps": [server.step("a")]}, "workspace": workspace}
    told = await server.refused("POST", "/plans", body, status=422)
    assert told["code"] == "workspace.missing"
    assert len(told["detail"]) < 300


async def test_a_plans_events_are_found_by_its_task(server: Any) -> None:
    plan = await server.plan(server.step("a"), taskId="order-7")
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    await server.ended(run["runId"])
    await server.plan(server.step("b"))
    found = [event["kind"] for event in await server.call("GET", "/events?limit=1000&task=order-7")]
    assert found[:4] == ["planCreated", "decisionOpened", "decisionAnswered", "runStarted"]
    assert found[-1] == "runFinished"
    assert "stepUpdated" in found


async def test_who_does_not_read_takes_no_memory(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that never read a log with big plans share what waits for them, and are dropped soon."""
    monkeypatch.setattr(sse, "SHORT_PATIENCE_S", 0.2)
    monkeypatch.setattr(feed, "KEPT", 1)
    step = server.step("w", "write_file", {"path": "a", "content": "x" * 3_000_000})
    for _ in range(3):
        await server.plan(step)
    await server.plan(server.step("last"))
    address = server.url.removeprefix("http://").split(":")
    writers = []
    for _ in range(LAZY):
        _, writer = await asyncio.open_connection(*address, limit=1024)
        writer.transport.pause_reading()
        writer.write(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        writers.append(writer)
    audience = server.app.state.audience
    await server.until(lambda: audience.following == LAZY)
    await server.until(lambda: len(server.runtime.feed._read) > 0)
    assert len(server.runtime.feed._read) <= 4
    await server.until(lambda: audience.cut_off == LAZY)
    await server.until(lambda: audience.following == 0)
    for writer in writers:
        writer.transport.abort()


async def test_a_big_event_reaches_who_reads(server: Any) -> None:
    content = "y" * 6_000_000
    await server.plan(server.step("w", "write_file", {"path": "a", "content": content}))
    (event,) = await server.take(1)
    assert event["data"]["steps"][0]["args"]["content"] == content


async def test_a_damaged_log_is_no_good_health(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_health, "FRESH_S", 0)
    for _ in range(30):
        await server.plan(server.step("w", "write_file", {"path": "a", "content": "x" * 5000}))
    assert (await server.call("GET", "/health"))["status"] == "ok"
    assert await server.call("GET", "/health/ready") == {"status": "ok"}
    home = server.runtime.settings.home
    for name in ("log.db", "log.db-wal"):
        with (home / name).open("r+b") as file:
            file.seek(8192)
            file.write(bytes(range(256)) * 200)
    told = await server.refused("GET", "/health", status=503)
    assert "log" in told["detail"]
    assert told["hint"]
    await server.refused("GET", "/health/ready", status=503)
    assert await server.call("GET", "/health/live") == {"status": "ok"}


async def test_a_full_disk_is_no_good_health(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_health, "FRESH_S", 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(1, 1, 0))
    assert "full" in (await server.refused("GET", "/health", status=503))["detail"]


async def test_a_log_that_is_gone_is_no_good_health(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_health, "FRESH_S", 0)
    log = server.runtime.settings.home / "log.db"
    log.rename(log.with_name("elsewhere"))
    assert "gone" in (await server.refused("GET", "/health", status=503))["detail"]
    log.with_name("elsewhere").rename(log)
    assert (await server.call("GET", "/health"))["status"] == "ok"


async def test_health_needs_no_token(serve_with: Callable[..., Any]) -> None:
    async with serve_with(token="s3cret") as server:
        for path in ("/health", "/health/live", "/health/ready"):
            assert (await server.call("GET", path))["status"] == "ok"


def test_a_large_log_is_looked_at_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    monkeypatch.setattr(checks, "SMALL_LOG", 0)
    path = tmp_path / "log.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, line BLOB)")
    connection.executemany("INSERT INTO events VALUES (?, ?)", [(n, json.dumps({"seq": n})) for n in range(5)])
    connection.commit()
    assert checks.check_log(path)[0].state == "ok"
    connection.execute("UPDATE events SET line = 'half' WHERE seq = 4")
    connection.commit()
    connection.close()
    assert checks.check_log(path)[0].state == "broken"
