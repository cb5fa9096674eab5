"""Setting up and Help: the doctor, tools, tokens with their roles, settings, and the documentation."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]


async def test_a_token_is_made_shown_once_and_revoked(up: Start, pages: Pages) -> None:
    server = await up(tokens={"ann": "admin"})
    page = await pages.new(server, who="ann")
    await open_screen(page, "/setup?what=tokens")
    await page.get_by_label("Name").fill("bob")
    await page.get_by_label("Role").select_option("viewer")
    await page.get_by_role("button", name="Make a token").click()
    secret = await page.locator(".setup-secret").inner_text()
    assert len(secret) > 20
    row = page.get_by_role("row", name="bob")
    await row.get_by_role("button", name="Revoke").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await row.wait_for(state="detached")
    assert [token["name"] for token in await server.call("GET", "/tokens", who="ann")] == ["ann"]


async def test_an_operator_is_told_that_tokens_need_an_admin(up: Start, pages: Pages) -> None:
    pages.expect("403")
    server = await up(tokens={"ann": "admin", "ole": "operator"})
    page = await pages.new(server, who="ole")
    await open_screen(page, "/setup?what=tokens")
    await page.get_by_text("admin").first.wait_for()
    assert await page.get_by_role("row", name="ann").count() == 0


async def test_tools_are_found_by_their_words_and_show_what_they_take(page: Any) -> None:
    await open_screen(page, "/setup?what=tools")
    await page.get_by_label("Search the tools").fill("write_file")
    await page.locator("summary").filter(has_text="write_file").click()
    await page.get_by_role("cell", name="content", exact=True).wait_for()
    await page.get_by_text("May destroy").first.wait_for()


async def test_a_simulated_machine_is_given_a_fault(demo: Up, page: Any) -> None:
    await open_screen(page, "/setup?what=faults")
    fleet = page.get_by_role("region", name="cross_dock")
    await fleet.get_by_label("Robot").select_option("RB-03")
    assert not await page.get_by_text("No simulated machine is live.").is_visible()
    await fleet.get_by_label("What happens").select_option("Goes silent")
    await fleet.get_by_role("button", name="Let it happen").click()
    await fleet.get_by_text("Acknowledged").wait_for()
    await demo.heard("robotUpdated", robotId="RB-03")
    cell = page.get_by_role("region", name="weld_star")
    await cell.get_by_role("button", name="Let it happen").click()
    await cell.get_by_text("Acknowledged").wait_for()


async def test_without_machines_there_is_a_way_to_the_scenes(up: Start, pages: Pages) -> None:
    page = await pages.new(await up())
    await open_screen(page, "/setup?what=faults")
    await page.get_by_role("link", name="Make a scene live").click()
    await page.wait_for_url("**/scenes")


async def test_help_leads_from_page_to_page(page: Any) -> None:
    await open_screen(page, "/help")
    await (
        page.get_by_role("navigation", name="Pages of the documentation")
        .get_by_role("link", name="Robot cells")
        .click()
    )
    await page.get_by_role("heading", name="Robot cells").wait_for()
    await page.get_by_role("link", name="scenes", exact=True).first.click()
    await page.wait_for_url("**/help/scenes")


@pytest.mark.parametrize("what", ["doctor", "tools", "plugins", "tokens", "settings", "faults"])
async def test_no_barriers_and_no_overflow(page: Any, what: str) -> None:
    await open_screen(page, f"/setup?what={what}")
    await page.locator(".setup-body section").first.wait_for()
    await no_barriers(page)
    await page.set_viewport_size(PHONE)
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
