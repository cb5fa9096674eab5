"""The story of the first minute, from an empty folder: see it live, read the plan, play it, approve it, watch it.

Told three times: with the pointer, with the keyboard alone, and on a phone.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.e2e.console.browser import PHONE, Pages, open_screen, until
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]
WELD = {"scene": "weld_star", "text": "weld position 1 and 2"}


async def installation(up: Start) -> Up:
    server = await up("weld_star", "cross_dock", speed=20)
    await server.call("POST", "/plans", WELD)
    return server


async def ended(server: Up, page: Any) -> None:
    """The run ends well, the page says so, and the robot is where the preview said."""
    over = await server.heard("runFinished")
    assert over["data"]["status"] == "completed"
    await page.locator("main").get_by_text("Completed").first.wait_for()
    [cell] = (await server.call("GET", "/state"))["cells"]
    assert (cell["current_position"], cell["current_tool"]) == ("Pos_2", "Welder")


async def test_by_pointer(up: Start, pages: Pages) -> None:
    server = await installation(up)
    page = await pages.new(server)
    await open_screen(page, "/")
    await page.locator("#happening + ul").get_by_text("takes a pallet").first.wait_for()
    await page.get_by_role("link", name="Open the plan").click()
    await page.get_by_text("12 steps").first.wait_for()
    await page.get_by_role("button", name="Play").click()
    await page.get_by_text("The robot ends at Pos_2 with Welder.").wait_for()
    await page.get_by_role("button", name="Start version 1").click()
    await page.wait_for_url("**/runs/**")
    await ended(server, page)


async def test_by_keyboard_alone(up: Start, pages: Pages) -> None:
    server = await installation(up)
    page = await pages.new(server)
    await open_screen(page, "/")
    await page.keyboard.press("g")
    await page.keyboard.press("i")
    await page.get_by_role("heading", name="Inbox", exact=True).wait_for()  # the screen before has the same card
    await page.locator("article.decision").wait_for()
    await page.keyboard.press("j")
    await until(page, "() => document.activeElement.matches('article.decision')")
    await tab_to(page, "Open the plan")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/plans/**")
    await page.get_by_role("button", name="Start version 1").wait_for()
    await page.locator("main").focus()
    await tab_to(page, "Start version 1")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/runs/**")
    await ended(server, page)


async def test_on_a_phone(up: Start, pages: Pages) -> None:
    server = await installation(up)
    page = await pages.new(server, viewport=PHONE, has_touch=True, is_mobile=True)
    await open_screen(page, "/")
    await page.get_by_role("link", name="Open the plan").tap()
    start = page.get_by_role("button", name="Start version 1")
    await start.wait_for()
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    box = await start.bounding_box()
    assert box["height"] >= 44
    await start.tap()
    await page.wait_for_url("**/runs/**")
    await ended(server, page)
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


async def tab_to(page: Any, name: str) -> None:
    """Tab on until what has the focus is called so."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        if name in await page.evaluate("() => document.activeElement.innerText ?? ''"):
            return
    raise AssertionError(f"The keyboard does not reach {name!r}.")
