"""Takes the pictures of the console in docs/screens: every screen of the demo, in the dark and the light theme.

    .venv/bin/python scripts/screenshots.py            needs what `make dev` installs, and chromium

The demo is started in an empty folder of its own; a run, a deny, a fault and a question give the screens something to
show.
"""

import asyncio
import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SHOWN = ROOT / "docs" / "screens"
SIZE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--no-first-run"]
SETTLE_MS = 1_500


def call(base: str, path: str, body: Any = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(
        f"{base}/api/v1{path}", data=data, method=method, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return json.loads(answer.read())


async def until_ready(base: str) -> None:
    """Until the demo has put its plans, its session and its question in."""
    async with asyncio.timeout(120):
        while True:
            with contextlib.suppress(OSError, ValueError):
                if len(call(base, "/inbox")) >= 2 and call(base, "/questions") and call(base, "/sessions"):
                    return
            await asyncio.sleep(0.3)


def prepare(base: str) -> dict[str, str]:
    """Something to look at on every screen; the addresses of the screens by name."""
    plans = {str(one["name"]): str(one["id"]) for one in call(base, "/plans")}
    weld = next(plan for name, plan in plans.items() if "weld" in name)
    files = next(plan for name, plan in plans.items() if "release" in name)
    run = call(base, f"/plans/{files}/runs", {"version": 1})["runId"]
    session, question = call(base, "/sessions")[0]["sessionId"], call(base, "/questions")[0]["questionId"]
    return {
        "now": "/",
        "inbox": "/inbox",
        "new": "/new",
        "plan": f"/plans/{weld}",
        "run": f"/runs/{run}",
        "floor": "/floor?robot=RB-03",
        "cells": "/cells/weld_star",
        "session": f"/sessions/{session}",
        "scenes": "/scenes",
        "scene": "/scenes/weld_star",
        "ask": f"/ask/{question}",
        "history": "/history?what=events",
        "setup": "/setup?what=tools",
    }


async def picture(browser: Any, base: str, screens: dict[str, str], theme: str, size: dict[str, int]) -> None:
    context = await browser.new_context(viewport=size, base_url=base, color_scheme=theme, reduced_motion="reduce")
    page = await context.new_page()
    for name, path in screens.items():
        await page.goto(path)
        await page.locator(".live.on").wait_for()
        await page.wait_for_timeout(SETTLE_MS)
        ending = "" if size is SIZE else "-phone"
        await page.screenshot(path=SHOWN / f"{name}-{theme}{ending}.png")
    await context.close()


def begin(port: int, folder: str) -> "subprocess.Popen[bytes]":
    script = str(ROOT / "scripts" / "demo.py")
    words = [sys.executable, script, "--port", str(port), "--folder", folder, "--no-open"]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


async def main() -> None:
    from playwright.async_api import async_playwright

    SHOWN.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        demo = begin(port, folder)
        try:
            base = f"http://127.0.0.1:{port}"
            await until_ready(base)
            screens = prepare(base)
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
                for theme in ("dark", "light"):
                    await picture(browser, base, screens, theme, SIZE)
                await picture(browser, base, {name: screens[name] for name in ("now", "plan")}, "light", PHONE)
                await browser.close()
        finally:
            demo.terminate()
            demo.wait(30)
    for file in sorted(SHOWN.glob("*.png")):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size // 1024} kB")


if __name__ == "__main__":
    asyncio.run(main())
