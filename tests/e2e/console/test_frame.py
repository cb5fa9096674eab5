"""The frame: Hold all that always works, the palette, the keys, the menu of a phone."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import expect
from tests.e2e.console.browser import PHONE, Pages, axe, open_screen
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]
TABS = 20


async def test_hold_all_works_with_twenty_tabs_open(demo: Up, pages: Pages) -> None:
    first = await pages.new(demo)
    await open_screen(first, "/")
    tabs = [first]
    for _ in range(TABS - 1):
        tabs.append(await pages.new(demo, like=first))
        await open_screen(tabs[-1], "/inbox")
    last = tabs[-1]
    await last.get_by_role("button", name="Hold all").click()
    dialog = last.get_by_role("dialog")
    await dialog.get_by_text("Done").wait_for()
    await dialog.get_by_text("cross_dock").first.wait_for()
    await dialog.get_by_text("not an emergency stop").wait_for()
    assert (await demo.call("GET", "/state"))["hold"] is not None
    # Every other tab says so too, and any of them may let everything go on.
    await first.bring_to_front()
    await first.get_by_role("button", name="Held").click()
    await first.get_by_role("button", name="Clear: let everything go on").click()
    await first.get_by_role("button", name="Hold all").wait_for()
    assert (await demo.call("GET", "/state")).get("hold") is None


async def test_all_tabs_share_one_stream(demo: Up, pages: Pages) -> None:
    first = await pages.new(demo)
    await open_screen(first, "/")
    for _ in range(5):
        await open_screen(await pages.new(demo, like=first), "/")
    said = await first.evaluate("async () => (await fetch('/api/v1/metrics')).text()")
    assert "beforehand_sse_clients 1\n" in said


async def test_a_command_past_its_deadline_is_withdrawn_loudly_and_never_done(demo: Up, pages: Pages) -> None:
    pages.expect("409|ERR_ABORTED")
    page = await pages.new(demo)
    await open_screen(page, "/")

    async def slow(route: Any) -> None:
        # The command reaches the server long after the page has given up on it; that the page asks is let through.
        held.append(route)
        if len(held) > 1:
            await route.continue_()

    held: list[Any] = []
    await page.route("**/api/v1/hold", slow)
    await page.get_by_role("button", name="Hold all").click()
    await page.get_by_text("Whether it was done is not known yet").wait_for()
    await page.get_by_text("The server says that it was not done, and will not do it.").wait_for()
    headers = held[0].request.headers
    answer = await page.request.post(
        "/api/v1/hold", headers={key: headers[key] for key in ("idempotency-key", "beforehand-deadline")}
    )
    assert (answer.status, (await answer.json())["code"]) == (409, "command.expired")
    assert (await demo.call("GET", "/state")).get("hold") is None


async def test_the_palette_and_the_keys_lead_everywhere(page: Any) -> None:
    await open_screen(page, "/")
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox").fill("inbox list")
    await axe(page)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/inbox")
    await page.keyboard.press("g")
    await page.keyboard.press("n")
    await page.wait_for_url("**/")
    await page.keyboard.press("c")
    await page.wait_for_url("**/new")
    await expect(page.get_by_role("textbox", name="What do you want?")).to_be_focused()
    await page.locator("main").focus()
    await page.keyboard.press("?")
    await page.get_by_role("dialog", name="Keys").wait_for()
    await page.keyboard.press("Escape")
    await page.get_by_role("dialog", name="Keys").wait_for(state="detached")
    for name, leads in (("fleet hold cross_dock", "**/floor?scene=cross_dock"), ("audit", "**/history?what=decisions")):
        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox").fill(name)
        await page.get_by_role("option", name=name, selected=True).wait_for()
        await page.keyboard.press("Enter")
        await page.wait_for_url(leads)


async def test_on_a_phone_the_menu_slides_in_and_needs_you_comes_first(demo: Up, pages: Pages) -> None:
    page = await pages.new(demo, viewport=PHONE, has_touch=True)
    await open_screen(page, "/")
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    first = await page.locator("main h2").first.inner_text()
    assert first.startswith("Needs you")
    await page.get_by_role("button", name="Menu").tap()
    await page.get_by_role("navigation").get_by_role("link", name="Inbox").tap()
    await page.wait_for_url("**/inbox")


async def test_on_a_phone_the_menu_has_the_theme_and_the_way_out(up: Start, pages: Pages) -> None:
    pages.expect("401")
    server = await up(tokens={"ann": "operator"})
    page = await pages.new(server, who="ann", viewport=PHONE, has_touch=True, color_scheme="light")
    await open_screen(page, "/")
    await page.get_by_role("button", name="Menu").tap()
    menu = page.get_by_role("navigation", name="Screens")
    await menu.get_by_role("button", name="Use the dark theme").tap()
    await page.locator(":root[data-theme=dark]").wait_for(state="attached")
    await menu.get_by_role("button", name="Log out").tap()
    await page.get_by_label("Token").wait_for()


@pytest.mark.parametrize("path", ["/", "/floor?robot=RB-01", "/scenes", "/history?what=events", "/setup?what=doctor"])
async def test_a_finger_finds_every_button_and_nothing_is_squeezed(demo: Up, pages: Pages, path: str) -> None:
    page = await pages.new(demo, viewport=PHONE, has_touch=True)
    await open_screen(page, path)
    await page.locator("main .button").first.wait_for()
    small = await page.locator(".button:visible").evaluate_all(
        "all => all.filter(one => one.offsetHeight < 44).map(one => one.textContent)"
    )
    assert small == []
    tall = await page.locator("main p:visible").evaluate_all(
        "all => all.filter(one => one.offsetWidth < 40 && one.offsetHeight > 60).map(one => one.textContent)"
    )
    assert tall == []


async def test_an_unknown_view_says_so(page: Any) -> None:
    await open_screen(page, "/no/such/view")
    await page.get_by_text("There is no such view").wait_for()


async def test_a_state_that_cannot_be_read_yet_says_why_and_comes_by_itself(up: Start, pages: Pages) -> None:
    pages.expect("503")
    server = await up("weld_star")
    page = await pages.new(server)
    refused = {"status": 503, "content_type": "application/problem+json", "body": '{"detail": "No server leads now."}'}
    await page.route("**/api/v1/state", lambda route: route.fulfill(**refused))
    await page.goto("/inbox")
    await page.locator("main").get_by_text("No server leads now.").wait_for()
    await page.locator("main").get_by_text("Trying again by itself.").wait_for()
    assert "No scene is live" not in await page.locator("header").inner_text()
    await page.unroute("**/api/v1/state")
    await page.locator("main").get_by_text("Nothing waits for you.").wait_for()
    await page.locator("header").get_by_text("weld_star").wait_for()
