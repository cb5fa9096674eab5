"""What the tests of the console do in a browser: open a screen, log in, look for barriers, take a picture."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import REPOSITORY
from tests.e2e.console.serving import Up

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-compositing",
    "--disable-accelerated-2d-canvas",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
AXE = REPOSITORY / "web" / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = REPOSITORY / "tests" / ".cache" / "shots"
PATIENCE_MS = 30_000
DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
GONE = "ERR_|net::|Failed to fetch|Failed to load|Unable to preload|dynamically imported module"
"""What a page complains of while its server is gone, also in the middle of loading a screen's files."""
UNTIL = """([holds, given]) => new Promise((done, giveUp) => {
    setTimeout(() => giveUp(new Error("it never held")), 30000);
    const look = () => (holds(given) ? done() : requestAnimationFrame(look));
    look();
})"""


@dataclass
class Pages:
    """The pages of one test. What one of them complains about on its console fails the test, unless it is expected."""

    browser: Any
    contexts: list[Any] = field(default_factory=list)
    """One for each person; nothing of a context, such as a login or a setting, is seen in another."""
    complaints: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def expect(self, pattern: str) -> None:
        """Complaints in which this regular expression is found are part of the test, such as a server that is gone."""
        self.expected.append(pattern)

    async def new(self, server: Up, *, who: str | None = None, like: Any = None, **options: Any) -> Any:
        """A page: as a person of its own who shows the token of `who`, or one more tab beside the page `like`."""
        if like is None:
            asked = {"viewport": DESK, "base_url": server.url, "reduced_motion": "reduce", **options}
            context = await self.browser.new_context(**asked)
            self.contexts.append(context)
            if who is not None:
                answer = await context.request.post("/api/v1/login", data={"token": server.tokens[who]})
                assert answer.ok, await answer.text()
        else:
            context = like.context
        page = await context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        return page

    async def shown(self) -> str:
        """Where each page is and the words on it."""
        told = []
        for page in [page for context in self.contexts for page in context.pages]:
            try:
                words = await page.locator("body").inner_text(timeout=5_000)
            except Exception as error:  # whatever is wrong with a page, the others are told
                words = str(error)
            told.append(f"-- {page.url}\n{words}")
        return "\n".join(told)

    async def close(self) -> None:
        for context in self.contexts:
            await context.close()

    def unexpected(self) -> list[str]:
        return [told for told in self.complaints if not any(re.search(known, told) for known in self.expected)]


async def open_screen(page: Any, path: str) -> None:
    """Go to a screen, and wait until it is drawn and hears the server: before that no key or file reaches it."""
    await page.goto(path)
    await is_drawn(page)
    await is_live(page)


async def is_drawn(page: Any) -> None:
    """Wait until the screen itself is there, and not only the frame around it."""
    await page.locator("main > :not(.loading)").first.wait_for()


async def is_live(page: Any) -> None:
    """Wait until the top bar says that the server is heard."""
    await page.locator(".live.on").wait_for()


async def until(page: Any, holds: str, given: Any = None) -> None:
    """Wait for what a function of the page's says; the page's own policy lets no text be evaluated there."""
    await page.evaluate(f"given => ({UNTIL})([{holds}, given])", given)


async def axe(page: Any, within: str | None = None) -> None:
    """AssertionError with every barrier that axe calls serious or critical, and where it is."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(f"{AXE.read_text(encoding='utf-8')}\n;undefined")
    options = {"resultTypes": ["violations"], "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
    where = f"document.querySelector({json.dumps(within)})" if within else "document"
    found = await page.evaluate(f"options => axe.run({where}, options)", options)
    barriers = [
        f"{one['impact']} {one['id']}: {one['help']}\n" + "\n".join(f"    {_place(node)}" for node in one["nodes"][:5])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert barriers == [], "\n".join([page.url, *barriers])


def _place(node: Any) -> str:
    why = " ".join(check["message"] for check in [*node["any"], *node["all"], *node["none"]][:1])
    return f"{' '.join(map(str, node['target']))}  {node['html'][:120]}  {why}"


async def _in_theme(page: Any, theme: str) -> None:
    """`dark` or `light`, as the reader's system asks for it.

    A busy Chromium now and then does not tell a page of the change, so the page is turned to, as a reader would.
    """
    await page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    await page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    await page.locator(f":root[data-theme={theme}]").wait_for(state="attached")


async def no_barriers(page: Any) -> None:
    """Whatever is shown now has none in either theme."""
    for theme in ("dark", "light"):
        await _in_theme(page, theme)
        await axe(page)


async def shot(page: Any, name: str) -> Path:
    """A picture to look at, in tests/.cache/shots."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    path = SHOTS / f"{name}.png"
    await page.screenshot(path=path, full_page=False)
    return path
