"""Ask: a question answered with table and chart, followed up, asked back, refused; its rounds with their wires."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest_asyncio
from playwright.async_api import expect
from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen, until
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]


@pytest_asyncio.fixture(loop_scope="session")
async def hall(up: Start) -> Up:
    """A fleet that has been at work."""
    server = await up("cross_dock", speed=20)
    await server.heard("taskCreated")
    return server


@pytest_asyncio.fixture(loop_scope="session")
async def ask(hall: Up, pages: Pages) -> Any:
    page = await pages.new(hall)
    await open_screen(page, "/ask")
    return page


async def asks(page: Any, text: str, label: str = "What do you want to know?") -> Any:
    """The last question on the page, once it was asked by the keyboard."""
    await page.get_by_label(label).fill(text)
    await page.keyboard.press("Enter")
    turn = page.get_by_role("article").last
    await turn.get_by_role("heading", name=text).wait_for()
    return turn


async def test_a_question_with_a_chart_a_table_and_a_follow_up(ask: Any) -> None:
    turn = await asks(ask, "tasks per robot today")
    await turn.locator(".uplot canvas").wait_for()
    await turn.get_by_role("link", name="RB-01").wait_for()
    chart = turn.get_by_role("application")
    await chart.focus()
    await ask.keyboard.press("ArrowRight")
    await expect(turn.locator(".chart-value")).to_contain_text("RB-")
    turn = await asks(ask, "and per hour?", "Go on from here")
    await turn.locator("[data-chart=true] .uplot").wait_for()
    await expect(ask.get_by_role("article")).to_have_count(2)
    await expect(ask.get_by_role("article").first).to_contain_text("tasks per robot today")


async def test_a_table_is_sorted_and_saved_and_its_next_page_shown(ask: Any) -> None:
    turn = await asks(ask, "list tasks today")
    ids = turn.locator("tbody td:first-child")
    await ids.first.wait_for()
    await turn.get_by_role("button", name="robot id").click()
    await expect(turn.get_by_role("columnheader", name="robot id")).to_have_attribute("aria-sort", "ascending")
    async with ask.expect_download() as saved:
        await turn.get_by_role("button", name="CSV").click()
    text = (await (await saved.value).path()).read_text()
    assert text.startswith("task id,robot id,")
    async with ask.expect_download() as replay:
        await turn.get_by_role("link", name="Replay file").click()
    assert (await replay.value).suggested_filename.startswith("question_")


async def test_the_next_page_goes_on_where_the_one_before_ended(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    for _ in range(12):
        await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld 1"})
    page = await pages.new(server)
    await open_screen(page, "/ask")
    turn = await asks(page, "list decisions today")
    await turn.locator(".ask-answer", has_text="12 decisions; these are 1 to 10.").wait_for()
    await page.get_by_role("button", name="next page").click()
    last = page.get_by_role("article").last
    await last.locator(".ask-answer", has_text="12 decisions; these are 11 to 12.").wait_for()


async def test_its_rounds_are_drawn_with_wires(ask: Any) -> None:
    turn = await asks(ask, "tasks per robot today")
    await turn.locator(".uplot").wait_for()
    await turn.get_by_text("4 rounds, 4 sub-goals").click()
    await turn.get_by_role("heading", name="Round 3").wait_for()
    await expect(turn.locator(".rounds-wires path.live")).to_have_count(5)
    await turn.get_by_text("analysis_result from 1 metadata_lookup").first.wait_for()
    await turn.get_by_text("The query that made it").click()
    await turn.get_by_role("paragraph").get_by_text("The number of tasks").wait_for()


async def test_what_is_unclear_is_answered_in_place(ask: Any, hall: Up) -> None:
    turn = await asks(ask, "duration per robot")
    await turn.get_by_text("This could be about tasks or stretches; say which.").first.wait_for()
    await turn.locator("[data-state=waiting]").first.wait_for()
    [decision] = await hall.call("GET", "/inbox")
    assert decision["about"]["questionId"] in ask.url
    beside = await ask.context.new_page()
    await open_screen(beside, "/")
    await beside.locator(f'a[href="{ask.url.removeprefix(hall.url)}"]').first.wait_for()
    await turn.get_by_role("button", name="stretches").click()
    await turn.locator("[data-chart]").wait_for()
    assert await hall.call("GET", "/inbox") == []


async def test_what_is_unclear_is_answered_in_ones_own_words(ask: Any) -> None:
    turn = await asks(ask, "duration per robot")
    await turn.get_by_role("button", name="Answer").click()
    await turn.get_by_label("Answer").fill("stretches")
    await ask.keyboard.press("Enter")
    await turn.locator("[data-chart]").wait_for()


async def test_a_question_is_cancelled_and_nothing_can_follow_it_before(ask: Any) -> None:
    turn = await asks(ask, "duration per robot")
    await turn.get_by_role("button", name="stretches").wait_for()
    await ask.get_by_text("This question is still being answered.").wait_for()
    await turn.get_by_role("button", name="Cancel").click()
    await turn.locator("[data-state=failed]").first.wait_for()
    await turn.get_by_text("cancelled it.").first.wait_for()


async def test_a_refused_question_says_what_could_be_asked(ask: Any) -> None:
    turn = await asks(ask, "dance with me")
    told = turn.locator(".told.bad")
    await told.get_by_text("'dance' was not understood, and nothing is guessed.").wait_for()
    await expect(turn).to_have_attribute("data-status", "failed")


async def test_an_example_is_asked_by_pressing_it(ask: Any) -> None:
    await ask.get_by_role("button", name="how many picks at").click()
    await ask.wait_for_url("**/ask/question_*")
    await ask.locator("[data-status=done] .ask-answer").wait_for()
    await expect(ask.get_by_role("complementary").get_by_role("link").first).to_contain_text("how many picks at")


async def test_a_viewer_reads_answers_and_is_told_why_nothing_can_be_asked(up: Start, pages: Pages) -> None:
    server = await up("weld_star", tokens={"vic": "viewer", "ann": "operator"})
    asked = await server.call("POST", "/questions", {"text": "runs per hour today"}, who="ann")
    page = await pages.new(server, who="vic")
    await open_screen(page, f"/ask/{asked['questionId']}")
    await page.locator(".uplot").wait_for()
    await page.get_by_text("this needs the role operator").first.wait_for()


async def test_there_are_no_barriers(hall: Up, pages: Pages) -> None:
    page = await pages.new(hall)
    await open_screen(page, "/ask")
    await no_barriers(page)
    turn = await asks(page, "tasks per robot today")
    await turn.get_by_text("4 rounds, 4 sub-goals").click()
    await turn.get_by_text("The query that made it").click()
    await no_barriers(page)
    await open_screen(page, "/ask")
    turn = await asks(page, "duration per robot")
    await turn.get_by_role("button", name="stretches").wait_for()
    await no_barriers(page)
    await page.set_viewport_size(PHONE)
    await until(page, "() => document.documentElement.scrollWidth <= innerWidth")
