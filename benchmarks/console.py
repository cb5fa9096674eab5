"""The console in a real browser: size, first paint, frames a second, and memory that stays flat.

    python benchmarks/console.py [--smallest] [--robots 500,1000] [--events 360000]      needs chromium

Size and first paint are those of a real server with the demo's scenes. Frames and memory are taken against a stand-in
that serves the same built files and sends what a server would, so that the machine's cores are the browser's: a hall in
which every robot moves, told twice a second; and events as fast as they are taken. Frames are drawn in software here
(`--disable-gpu`); beside them stands a bare page that only counts frames.
"""

import asyncio
import contextlib
import gzip
import json
import math
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from _live_server import live_server
from _options import Options
from _parts import can_run

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "src" / "beforehand" / "server" / "console"
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--no-first-run"]
SIZE = {"width": 1440, "height": 900}
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
COUNT = """seconds => new Promise(done => {
  let frames = 0; const began = performance.now();
  const next = now => {
    frames += 1;
    now - began < seconds * 1000 ? requestAnimationFrame(next) : done(frames * 1000 / (now - began));
  };
  requestAnimationFrame(next);
})"""
NOTE = """const look = () => {
  if (document.querySelector('#needs-you')) window.usefulAt = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);"""


def hall(robots: int) -> dict[str, Any]:
    """A grid of ways with robots on it."""
    side = math.ceil(math.sqrt(robots)) + 1
    nodes = [{"id": f"N{x}_{y}", "x": x * 4.0, "y": y * 4.0} for x in range(side) for y in range(side)]
    edges = [{"from": f"N{x}_{y}", "to": f"N{x + 1}_{y}"} for x in range(side - 1) for y in range(side)]
    edges += [{"from": f"N{x}_{y}", "to": f"N{x}_{y + 1}"} for x in range(side) for y in range(side - 1)]
    named = [{"robotId": f"R-{at:04}", "nodeId": f"N{at % side}_{at // side}"} for at in range(robots)]
    return {
        "kind": "fleet",
        "name": "bench",
        "nodes": nodes,
        "edges": edges,
        "worksites": [],
        "robots": named,
        "streams": [],
    }


def robots_at(document: dict[str, Any], moment: float) -> list[dict[str, Any]]:
    """Every robot goes round its own square of ways."""
    places = {node["id"]: node for node in document["nodes"]}
    shown = []
    for number, robot in enumerate(document["robots"]):
        here = places[robot["nodeId"]]
        turn = (moment / 4 + number * 0.13) % 4
        leg, part = int(turn), turn % 1 * 4
        x, y = [(part, 0), (4, part), (4 - part, 4), (0, 4 - part)][leg]
        shown.append(
            {
                "robotId": robot["robotId"],
                "x": round(here["x"] + x, 3),
                "y": round(here["y"] + y, 3),
                "heading": leg * math.pi / 2,
                "nodeId": robot["nodeId"],
                "battery": 0.7,
                "phase": "moving_to_drop",
                "status": "online",
                "lastSeenTsMs": now_ms(),
            }
        )
    return shown


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class StandIn:
    """The built files and the few calls the floor needs, over plain HTTP/1.1."""

    def __init__(self, robots: int, events: int = 0) -> None:
        self.document = hall(robots)
        self.events = events
        self.sent = 0
        self.reached = asyncio.Condition()

    async def __aenter__(self) -> str:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        self.server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ")[1]
            if path.startswith("/api/v1/live"):
                await self._live(writer)
            else:
                body, kind = self._answer(path.partition("?")[0])
                told = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                writer.write(told.encode() + b"Connection: close\r\n\r\n" + body)
                await writer.drain()
        writer.close()

    def _answer(self, path: str) -> tuple[bytes, str]:
        if path.startswith("/api/"):
            return json.dumps(self._call(path.removeprefix("/api/v1"))).encode(), "application/json"
        file = BUILT / path.lstrip("/")
        file = file if file.is_file() else BUILT / "index.html"
        return file.read_bytes(), TYPES.get(file.suffix, "text/plain")

    def _call(self, path: str) -> Any:
        scene = {"name": "bench", "kind": "fleet", "active": True, "savedAt": "2026-01-01T00:00:00.000Z"}
        if path == "/me":
            return {"name": "local", "role": "admin"}
        if path == "/state":
            robots = [
                {**one, "scene": "bench", "says": "It moves.", "loadState": "empty"}
                for one in robots_at(self.document, 0)
            ]
            names = ("worksites", "streams", "tasks", "runs", "decisions", "sessions", "cells", "questions")
            lists: dict[str, Any] = {name: [] for name in names}
            fleets = [{"scene": "bench", "held": False, "person": False, "heldTasks": [], "heldRobots": []}]
            return {"seq": 0, "scenes": [scene], "robots": robots, "fleets": fleets, **lists}
        return {**scene, "document": self.document} if path == "/scenes/bench" else []

    async def _live(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n")
        hello = {"now": now_ms(), "seq": 0, "boot": "b", "version": "0", "log": "l"}
        writer.write(b"event: hello\ndata: %s\n\n" % json.dumps(hello).encode())
        async for piece in self._events() if self.events else self._frames():
            writer.write(piece)
            await writer.drain()

    async def _frames(self) -> AsyncIterator[bytes]:
        began = time.monotonic()
        while True:
            frame = {"kind": "robots", "scene": "bench", "ts": now_ms()}
            frame["robots"] = robots_at(self.document, time.monotonic() - began)
            yield b"event: frame\ndata: %s\n\n" % json.dumps(frame).encode()
            await asyncio.sleep(0.5)

    async def _events(self) -> AsyncIterator[bytes]:
        robots = robots_at(self.document, 0)
        for seq in range(1, self.events + 1):
            robot = {**robots[seq % len(robots)], "battery": seq % 100 / 100}
            about = {"robotId": robot["robotId"]}
            event = {"seq": seq, "ts": "2026-01-01T00:00:00.000Z", "kind": "robotUpdated", "scene": "bench"}
            event |= {"correlationId": "c", "about": about, "data": robot, "says": f"{robot['robotId']} drives on."}
            await self._note(seq)
            yield b"id: %d\ndata: %s\n\n" % (seq, json.dumps(event).encode())
        while True:
            yield b'event: now\ndata: {"now": %d, "seq": %d}\n\n' % (now_ms(), self.events)
            await asyncio.sleep(0.5)

    async def _note(self, seq: int) -> None:
        self.sent = seq
        if seq % 100 == 0:
            async with self.reached:
                self.reached.notify_all()

    async def until(self, seq: float) -> None:
        async with self.reached:
            await self.reached.wait_for(lambda: self.sent >= seq)


def line(what: str, value: str, aim: str = "") -> None:
    print(f"{what:<58}{value:>14}   {aim}")


async def first_screen(browser: Any, times: int, folder: Path) -> None:
    async with live_server(folder / "home", "--scene", "weld_star", "--scene", "cross_dock") as base:
        took = []
        for _ in range(times):
            context = await browser.new_context(viewport=SIZE)
            page = await context.new_page()
            sizes: list[int] = []
            page.on("response", lambda answer: sizes.append(_packed(answer.url)))  # noqa: B023
            await page.add_init_script(NOTE)
            await page.goto(base)
            await page.locator("#needs-you").wait_for()
            took.append(await page.evaluate("() => window.usefulAt"))
            total = sum(sizes)
            await context.close()
        line("first screen, packed files", f"{total / 1000:.0f} kB", "< 250 kB")
        line(f"first useful paint, best of {times}", f"{min(took) / 1000:.2f} s", "< 1 s")


def _packed(url: str) -> int:
    path = url.split("/", 3)[-1].partition("?")[0]
    file = BUILT / (path or "index.html")
    return len(gzip.compress(file.read_bytes())) if file.is_file() else 0


async def frames(browser: Any, robots: int, seconds: float) -> None:
    async with StandIn(robots) as base:
        page = await browser.new_page(viewport=SIZE)
        await page.goto(f"{base}/floor")
        await page.locator("canvas").first.wait_for()
        await page.wait_for_timeout(seconds * 300)  # until all is loaded and moves
        line(f"floor, {robots} moving robots", f"{await page.evaluate(COUNT, seconds):.0f} fps", ">= 45")
        await page.close()


async def memory(browser: Any, events: int) -> None:
    stand_in = StandIn(200, events)
    async with stand_in as base:
        page = await browser.new_page(viewport=SIZE)
        session = await page.context.new_cdp_session(page)
        began = time.monotonic()
        await page.goto(base)
        heaps = []
        for part in (0.1, 0.4, 0.7, 1.0):
            await stand_in.until(events * part)
            await session.send("HeapProfiler.collectGarbage")
            used = await session.send("Runtime.getHeapUsage")
            heaps.append(used["usedSize"] / 1e6)
        line(f"{events:,} events taken", f"{events / (time.monotonic() - began):,.0f} /s")
        line("heap after a tenth and at the end", f"{heaps[0]:.1f} -> {heaps[-1]:.1f} MB", "flat")
        await page.close()


async def measure(given: Any) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with tempfile.TemporaryDirectory() as folder:
            await first_screen(browser, given.times, Path(folder))
        bare = await browser.new_page(viewport=SIZE)
        line("a bare page", f"{await bare.evaluate(COUNT, given.seconds / 3):.0f} fps")
        await bare.close()
        for robots in given.robots:
            await frames(browser, robots, given.seconds)
        await memory(browser, given.events)
        await browser.close()


def main() -> None:
    options = Options(__doc__)
    options.add_size("--times", 3, 1, "how often the first screen is opened")
    options.add_size("--robots", (500, 1000), (5,))
    options.add_size("--seconds", 6.0, 0.3, "how long frames are counted")
    options.add_size("--events", 360_000, 500)
    given = options.read()
    line("what", "measured", "aim")
    if not (BUILT / "index.html").is_file():
        print("The console: left out, since it is not built; make console builds it.")
    elif can_run("The console", "playwright", program=CHROMIUM):
        asyncio.run(measure(given))


if __name__ == "__main__":
    main()
