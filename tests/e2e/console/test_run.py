"""A run: followed live, steered as a whole and step by step, told truly when it has ended or nobody knows."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.e2e.console.browser import GONE, PHONE, Pages, no_barriers, open_screen
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]


def step(name: str, tool: str = "wait", args: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": name, "tool": tool, "args": {"seconds": 0} if args is None else args, **fields}


LONG = step("long", args={"seconds": 600})
AFTER = step("after", dependsOn=["long"])
MISSING = step("read", "read_file", {"path": "missing.txt"})


async def run_of(server: Up, *steps: dict[str, Any]) -> Any:
    plan = await server.call("POST", "/plans", {"plan": {"name": "A plan", "steps": list(steps)}})
    return await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})


async def opened(pages: Pages, server: Up, run: Any, query: str = "", **options: Any) -> Any:
    page = await pages.new(server, **options)
    await open_screen(page, f"/runs/{run['runId']}{query}")
    await page.get_by_role("heading", level=1).wait_for()
    return page


async def is_now(page: Any, status: str) -> None:
    await page.locator(f"header .state[data-state={status}]").wait_for()


def row(page: Any, name: str, status: str) -> Any:
    return page.locator(f"[data-step={name}]").filter(has=page.locator(f".state[data-state={status}]"))


def drawer(page: Any) -> Any:
    return page.get_by_role("complementary", name="Details")


async def test_a_run_is_paused_resumed_and_cancelled(up: Start, pages: Pages) -> None:
    server = await up()
    page = await opened(pages, server, await run_of(server, LONG, AFTER))
    await row(page, "long", "running").wait_for()
    await page.get_by_role("button", name="Pause").click()
    await is_now(page, "paused")
    await page.get_by_role("button", name="Resume").click()
    await is_now(page, "running")
    await page.get_by_role("button", name="Stop after this step").click()
    await page.get_by_role("button", name="Resume").wait_for()
    await page.get_by_role("button", name="Cancel", exact=True).click()
    await page.get_by_role("button", name="Cancel the run").click()
    await is_now(page, "cancelled")
    await row(page, "after", "cancelled").wait_for()
    assert await page.locator("[data-count=completed]").count() == 0


async def test_a_failed_step_is_retried_with_other_arguments_by_form(up: Start, pages: Pages) -> None:
    server = await up()
    (server.workspace / "there.txt").write_text("here\n", encoding="utf-8")
    page = await opened(pages, server, await run_of(server, MISSING))
    await is_now(page, "failed")
    await row(page, "read", "failed").click()
    await drawer(page).get_by_role("button", name="Retry with other arguments").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Path").fill("there.txt")
    await dialog.get_by_role("button", name="Retry").click()
    await is_now(page, "completed")
    await drawer(page).get_by_text("planned: missing.txt").wait_for()
    await drawer(page).get_by_text("attempt 2").wait_for()


async def test_a_step_is_skipped_and_the_rest_run_again_from_here(up: Start, pages: Pages) -> None:
    server = await up()
    page = await opened(pages, server, await run_of(server, LONG, AFTER))
    await row(page, "long", "running").click()
    await drawer(page).get_by_role("button", name="Skip").click()
    await is_now(page, "completed")
    await row(page, "long", "skipped").wait_for()
    await page.keyboard.press("Escape")
    await row(page, "after", "completed").click()
    await drawer(page).get_by_role("button", name="Run again from here").click()
    await page.get_by_role("button", name="Run again", exact=True).click()
    await drawer(page).get_by_text("Step after is completed.").nth(1).wait_for()


async def test_what_was_denied_stands_apart_from_what_was_done(up: Start, pages: Pages) -> None:
    server = await up()
    run = await run_of(server, step("fine"), step("asked", requiresApproval=True))
    page = await opened(pages, server, run)
    card = page.locator("article.decision")
    await card.get_by_role("button", name="Deny").click()
    await card.locator("form").get_by_role("button", name="Deny").click()
    await is_now(page, "partial")
    await page.locator("[data-count=denied]").get_by_text("1 denied").wait_for()
    await page.locator("[data-count=completed]").get_by_text("1 completed").wait_for()
    await page.get_by_role("tab", name="Log").click()
    await page.get_by_label("Search in the log").fill("denied")
    await page.get_by_text("Step asked was denied").wait_for()


async def test_a_running_plan_goes_on_with_a_newer_version(up: Start, pages: Pages) -> None:
    server = await up()
    run = await run_of(server, LONG, AFTER)
    page = await opened(pages, server, run)
    edits = {"edits": [{"op": "add", "step": step("extra", dependsOn=["after"])}]}
    path = f"/api/v1/plans/{run['planId']}"
    answer = await page.request.patch(path, data=edits, headers={"If-Match": "1"})
    assert answer.ok, await answer.text()
    await page.get_by_role("button", name="Go on with version 2").click()
    await page.locator("[data-step=extra]").wait_for()
    assert (await server.call("GET", f"/runs/{run['runId']}"))["version"] == 2


async def test_a_step_is_in_doubt_after_the_server_was_killed(up: Start, pages: Pages) -> None:
    pages.expect(GONE)
    # So slow that it is killed long before the power goes, which only the robot then knows of.
    server = await up("weld_star", speed=0.2)
    plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld at Pos_1"})
    await server.call("POST", "/cells/weld_star/faults", {"fault": "power"})
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    page = await opened(pages, server, run)
    await page.locator("[data-step=step_1]").wait_for()
    await server.kill()
    await page.locator(".live.off").wait_for()
    await server.start()
    await page.locator(".live.on").wait_for()
    card = page.locator("article.decision")
    await card.wait_for()
    await row(page, "step_1", "inDoubt").wait_for()
    await is_now(page, "waiting")
    await card.get_by_text("Power was lost on the way").first.wait_for()
    assert await card.locator(".button.first").count() == 0, "where nobody can know, no verb stands out"
    await page.get_by_role("button", name="Release its machines").click()
    await page.get_by_text("holds cell:weld_star").wait_for(state="detached")


async def test_the_graph_and_the_time_follow_the_run(up: Start, pages: Pages) -> None:
    server = await up("weld_star", speed=20)
    plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld at Pos_1"})
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    page = await opened(pages, server, run, "?view=graph")
    await page.locator(".react-flow__node", has_text="Completed").wait_for()
    await is_now(page, "completed")
    await page.get_by_role("tab", name="Graph").focus()
    await page.keyboard.press("ArrowRight")
    bar = page.get_by_role("button", name="Attach Welder,")
    await bar.click()
    await drawer(page).get_by_text("Step step_3 is completed.").wait_for()


async def test_there_are_no_barriers(up: Start, pages: Pages) -> None:
    server = await up()
    run = await run_of(server, step("fine"), MISSING, step("asked", requiresApproval=True))
    page = await opened(pages, server, run, "?step=read")
    await page.locator("article.decision").wait_for()
    await drawer(page).wait_for()
    await no_barriers(page)
    for view in ("Graph", "Timeline", "Log"):
        await page.get_by_role("tab", name=view).click()
        await no_barriers(page)


async def test_a_phone_shows_everything_without_scrolling_sideways(up: Start, pages: Pages) -> None:
    server = await up()
    page = await opened(pages, server, await run_of(server, step("fine"), MISSING), viewport=PHONE)
    await is_now(page, "failed")
    assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
