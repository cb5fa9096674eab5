"""Cells: the map follows the robot, its state is set after a question, and plans are made from words."""

from typing import Any

from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen, until
from tests.e2e.console.serving import Up


async def test_words_become_a_plan_to_read_first(page: Any) -> None:
    await open_screen(page, "/cells/weld_star")
    await page.locator("svg.cell-map[data-position=Home]").wait_for()
    await page.get_by_label("What should it do?").fill("weld at position 2")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/plans/plan_*")
    await page.go_back()
    await page.get_by_role("link", name="Review the plan").wait_for()
    await page.locator(".cell-body .cell-move.ahead").first.wait_for(state="attached")


async def test_words_that_are_not_understood_are_refused_with_a_sentence(page: Any, pages: Pages) -> None:
    pages.expect("422")
    await open_screen(page, "/cells/weld_star")
    await page.get_by_label("What should it do?").fill("fly to the moon")
    await page.get_by_role("button", name="Plan it").click()
    await page.locator(".cell-words").get_by_role("alert").wait_for()


async def test_the_state_is_set_after_a_question(page: Any, demo: Up) -> None:
    await open_screen(page, "/cells/weld_star")
    await page.get_by_text("Say where the robot stands").click()
    await page.get_by_label("Position", exact=True).select_option("Safe_Pos_1")
    await page.get_by_role("button", name="Set the state").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("Safe_Pos_1").wait_for()
    assert (await demo.call("GET", "/cells/weld_star"))["current_position"] == "Home"
    await dialog.get_by_role("button", name="Yes, I see it there").click()
    await page.locator("svg.cell-map[data-position=Safe_Pos_1]").wait_for()
    assert (await demo.call("GET", "/cells/weld_star"))["current_position"] == "Safe_Pos_1"


async def test_a_sequence_is_followed_stopped_after_its_step_and_goes_on(up: Any, pages: Pages) -> None:
    pages.expect("409")
    server = await up("weld_star", speed=2)
    plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld at position 2"})
    page = await pages.new(server)
    await open_screen(page, "/cells/weld_star")
    await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    await page.locator(".cell-now", has_text="Step").wait_for()
    await page.get_by_text("Say where the robot stands").click()
    await page.get_by_label("Position", exact=True).select_option("Pos_3")
    await page.get_by_role("button", name="Set the state").click()
    await page.get_by_role("button", name="Yes, I see it there").click()
    await page.locator(".cell-more").get_by_role("alert").wait_for()
    await page.get_by_role("button", name="Stop after this step").click()
    await page.get_by_role("button", name="Go on").wait_for()
    await page.get_by_role("button", name="Go on").click()
    await page.locator("svg.cell-map[data-position=Pos_2][data-tool=Welder]").wait_for()


async def test_a_fault_of_the_simulated_controller_is_asked_about(page: Any, demo: Up) -> None:
    await open_screen(page, "/cells/weld_star")
    await page.get_by_text("Simulate a fault").click()
    await page.get_by_label("What happens").select_option("fail")
    await page.get_by_role("button", name="Let it happen").click()
    await page.locator(".cell-more .stage-acknowledged").wait_for()
    plan = await demo.call("POST", "/plans", {"scene": "weld_star", "text": "weld at position 2"})
    await demo.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    await until(page, "() => document.querySelector('.waiting')?.textContent.trim() !== '0'")


async def test_nothing_bars_the_way(page: Any) -> None:
    await open_screen(page, "/cells")
    await page.locator("svg.cell-map").first.wait_for()
    await no_barriers(page)


async def test_it_fits_a_phone(demo: Up, pages: Pages) -> None:
    page = await pages.new(demo, viewport=PHONE, has_touch=True)
    await open_screen(page, "/cells/weld_star")
    await page.locator("svg.cell-map").wait_for()
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
