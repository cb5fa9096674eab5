"""The console as a whole: it comes up from an empty folder, hears the server, and comes back by itself."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.e2e.console.browser import GONE, Pages, axe, is_live, open_screen
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]


async def test_it_opens_on_any_screen_without_a_complaint(page: Any) -> None:
    for path in ("/", "/inbox", "/floor"):
        await open_screen(page, path)
        assert await page.title()
    await axe(page)


async def test_a_server_that_was_killed_is_heard_again(demo: Up, pages: Pages) -> None:
    pages.expect(GONE)
    page = await pages.new(demo)
    await open_screen(page, "/")
    await demo.kill()
    await page.locator(".live.off").wait_for()
    await demo.start()
    await is_live(page)


async def test_with_tokens_a_person_logs_in_first(up: Start, pages: Pages) -> None:
    pages.expect("401")
    server = await up(tokens={"ann": "operator"})
    stranger = await pages.new(server)
    await stranger.goto("/inbox")
    await stranger.get_by_label("Token").wait_for()
    ann = await pages.new(server, who="ann")
    await open_screen(ann, "/inbox")
    beside = await pages.new(server, like=ann)
    await open_screen(beside, "/")
