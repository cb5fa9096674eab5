"""A machine that is slow in one place, for tests that hold only as long as everything is quick: `make slow`.

Loaded as a plug-in (`-p tests.slow`) with SLOW=PLACE:SECONDS, several with commas between them. Each delay is drawn
anew, between nothing and SECONDS. The places:

    files   the console's own files come late, so a screen is drawn long after the frame around it
    api     what a page asks the server for comes late, and in another order than it was asked for
    look    the test looks late: what it waits for has been there for a while, and may be over
    call    the test's own calls to the server come late
    page    the page itself computes at a part of its speed; here SECONDS is how many times slower
"""

import asyncio
import os
import random
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

PLACES = ("files", "api", "look", "call", "page")


def asked() -> dict[str, float]:
    """How slow each place is."""
    parts = [part.partition(":") for part in os.environ.get("SLOW", "").split(",") if part]
    unknown = [place for place, _, _ in parts if place not in PLACES]
    if unknown or not parts:
        raise pytest.UsageError(f"SLOW is {os.environ.get('SLOW')!r}; it is made of {', '.join(PLACES)} with a number.")
    return {place: float(much) for place, _, much in parts}


@pytest.fixture(autouse=True)
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = asked()
    drawn = random.Random(os.environ.get("SEED", "0"))

    def late(does: Callable[..., Any], place: str) -> Callable[..., Any]:
        async def lately(*given: Any, **named: Any) -> Any:
            await asyncio.sleep(drawn.uniform(0, slow[place]))
            return await does(*given, **named)

        return lately

    if "call" in slow:
        monkeypatch.setattr(httpx2.AsyncClient, "request", late(httpx2.AsyncClient.request, "call"))
    if "look" in slow:
        _look_late(monkeypatch, late)
    if slow.keys() & {"files", "api", "page"}:
        _serve_late(monkeypatch, slow, drawn)


def _look_late(monkeypatch: pytest.MonkeyPatch, late: Callable[..., Any]) -> None:
    from playwright.async_api import Locator, LocatorAssertions, Page

    for looks in (Locator, LocatorAssertions, Page):
        for name in dir(looks):
            if name.startswith(("wait_for", "to_", "not_to_", "inner_", "all_", "count", "evaluate", "is_", "input_")):
                monkeypatch.setattr(looks, name, late(getattr(looks, name), "look"))


def _serve_late(monkeypatch: pytest.MonkeyPatch, slow: dict[str, float], drawn: random.Random) -> None:
    from tests.e2e.console.browser import Pages

    opens = Pages.new

    async def new(self: Pages, *given: Any, **named: Any) -> Any:
        page = await opens(self, *given, **named)
        for place, files in (("files", "**/assets/**"), ("api", "**/api/v1/**")):
            if place in slow:
                await page.route(files, _held(slow[place], drawn))
        if "page" in slow:
            session = await page.context.new_cdp_session(page)
            await session.send("Emulation.setCPUThrottlingRate", {"rate": slow["page"]})
        return page

    monkeypatch.setattr(Pages, "new", new)


def _held(longest_s: float, drawn: random.Random) -> Callable[[Any], Any]:
    async def hold(route: Any) -> None:
        from playwright.async_api import Error

        await asyncio.sleep(drawn.uniform(0, longest_s))
        try:
            await route.fallback()
        except Error:  # the page was closed meanwhile
            return

    return hold
