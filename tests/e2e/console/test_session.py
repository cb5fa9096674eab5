"""An agent's session in the console: begun, steered by the four commands, looked back at, ended."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]


async def begun(server: Up, **more: Any) -> str:
    made = await server.call("POST", "/sessions", {"scene": "apartment", "goal": "sit on the bed", **more})
    return str(made["sessionId"])


async def test_a_session_is_steered_by_hand_until_its_goal(up: Start, pages: Pages) -> None:
    server = await up("apartment")
    page = await pages.new(server)
    await open_screen(page, f"/sessions/{await begun(server)}")
    await page.get_by_label("The action to start").fill("sitting on bed1")
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.get_by_role("button", name="Stop sitting on bed1").wait_for()
    await page.get_by_role("button", name="Wait 20 s").click()
    await page.get_by_text("Goal reached").wait_for()
    await page.locator(".agent-lane").wait_for()
    await page.get_by_role("button", name="Stop sitting on bed1").click()
    await page.get_by_role("button", name="Stop sitting on bed1").wait_for(state="detached")
    await page.get_by_role("button", name="End the session").click()
    await page.get_by_text("The session is over.").wait_for()


async def test_a_session_that_another_one_steers_is_taken_over(up: Start, pages: Pages) -> None:
    server = await up("apartment")
    page = await pages.new(server)
    pages.expect("409")
    session = await begun(server, leaseS=3600)
    await open_screen(page, f"/sessions/{session}")
    await page.get_by_text("The body is held by an open command (local).").wait_for()
    await page.get_by_role("button", name="Wait 1 s").click()
    await page.get_by_text("Take it over first").first.wait_for()
    await page.get_by_role("button", name="Take over").click()
    await page.get_by_text("The body is held by local.").wait_for()
    await page.get_by_role("button", name="Wait 1 s").click()
    await page.locator(".agent-commands").get_by_text("skip(1)").wait_for()
    await page.get_by_role("button", name="End the session").click()
    await page.get_by_text("The session is over.").wait_for()


async def test_a_command_that_is_refused_says_why(up: Start, pages: Pages) -> None:
    server = await up("apartment")
    page = await pages.new(server)
    await open_screen(page, f"/sessions/{await begun(server)}")
    await page.get_by_text("Write a command out").click()
    await page.get_by_label("Command", exact=True).fill("start(taking the moon)")
    await page.keyboard.press("Enter")
    await page.locator(".told.bad").get_by_text("moon").first.wait_for()
    await page.locator(".agent-commands").get_by_text("Refused", exact=True).wait_for()


async def test_any_moment_can_be_looked_at_again(up: Start, pages: Pages) -> None:
    server = await up("apartment")
    session = await begun(server)
    for command in ('start("sitting on bed1")', "skip(4)"):
        await server.call("POST", f"/sessions/{session}/commands", {"command": command})
    page = await pages.new(server)
    await open_screen(page, f"/sessions/{session}")
    await page.get_by_text("moving, 4.0s").wait_for()
    moment = page.get_by_label("Moment of the session")
    await moment.focus()
    await page.keyboard.press("Home")
    await page.get_by_text("Position: origin (0, 0)").wait_for()
    assert "tick=0" in page.url
    await page.get_by_role("button", name="Now", exact=True).click()
    await page.get_by_text("moving, 4.0s").wait_for()


async def test_it_has_no_barriers_and_fits_a_phone(up: Start, pages: Pages) -> None:
    server = await up("apartment")
    session = await begun(server)
    await server.call("POST", f"/sessions/{session}/commands", {"command": 'start("taking cup1")'})
    page = await pages.new(server)
    await open_screen(page, f"/sessions/{session}")
    await page.locator(".agent-lane").wait_for()
    await no_barriers(page)
    await page.set_viewport_size(PHONE)
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
