"""History: what happened and who decided, filtered, saved as a file, replayed, and handed to the next shift."""

import csv
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest_asyncio
from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen, until
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]
NOTE = "Not on a Sunday, please."
DENIED = {"id": "write", "tool": "write_file", "args": {"path": "a.txt", "content": "x"}, "requiresApproval": True}
FAILING = {"id": "read", "tool": "read_file", "args": {"path": "missing.txt"}}
ASKING = {"id": "ask", "tool": "ask_person", "args": {"question": "Which pallet is broken?"}}


async def run_of(server: Up, name: str, step: dict[str, Any]) -> Any:
    plan = await server.call("POST", "/plans", {"plan": {"name": name, "steps": [step]}})
    return await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})


@pytest_asyncio.fixture(loop_scope="session")
async def past(up: Start) -> Up:
    """A server on which a run failed, one was denied with a note, and one waits for an answer."""
    server = await up("weld_star", "cross_dock", speed=20)
    failed = await run_of(server, "Read it", FAILING)
    await server.heard("runFinished", runId=failed["runId"])
    denied = await run_of(server, "Write it", DENIED)
    asked = await server.heard("decisionOpened", runId=denied["runId"])
    await server.call("POST", f"/inbox/{asked['data']['id']}", {"verb": "deny", "note": NOTE})
    await server.heard("runFinished", runId=denied["runId"])
    waiting = await run_of(server, "Ask them", ASKING)
    await server.heard("decisionOpened", runId=waiting["runId"])
    await server.heard("palletPicked")
    return server


def rows(page: Any) -> Any:
    return page.locator(".history-table tbody tr")


def content(file: Path) -> str:
    return file.read_text(encoding="utf-8")


async def saved(page: Any, label: str) -> str:
    async with page.expect_download() as waiting:
        await page.get_by_role("button", name=label).click()
    return content(await (await waiting.value).path())


async def test_runs_are_filtered_in_the_url_linked_and_saved_as_files(past: Up, pages: Pages) -> None:
    page = await pages.new(past)
    await open_screen(page, "/history")
    await rows(page).filter(has_text="Ask them").wait_for()
    assert await rows(page).count() == 3
    await page.get_by_label("State").select_option("failed")
    await until(page, "() => document.querySelectorAll('.history-table tbody tr').length === 1")
    assert "status=failed" in page.url
    await rows(page).get_by_text("missing.txt").wait_for()

    table = list(csv.DictReader((await saved(page, "Save as CSV")).splitlines()))
    assert [row["name"] for row in table] == ["Read it"]
    assert "missing.txt" in table[0]["why"]
    assert [run["name"] for run in json.loads(await saved(page, "Save as JSON"))] == ["Read it"]

    await page.keyboard.press("/")
    await page.keyboard.type("nothing like it")
    await page.get_by_text("Nothing passes these filters.").wait_for()
    await page.reload()
    await page.get_by_text("Nothing passes these filters.").wait_for()
    await page.locator(".empty").get_by_role("link", name="No filters").click()
    await rows(page).filter(has_text="Write it").get_by_role("link", name="Write it").click()
    await page.wait_for_url("**/runs/*")


async def test_decisions_say_who_when_what_was_seen_and_the_note(past: Up, pages: Pages) -> None:
    page = await pages.new(past)
    await open_screen(page, "/history")
    await page.get_by_label("What of the past").get_by_role("link", name="Decisions").click()
    denied = rows(page).filter(has_text="Answered: deny")
    await denied.get_by_text(NOTE).wait_for()
    await denied.get_by_text("local").wait_for()
    assert await denied.locator("[data-state=denied]").count() == 1
    await denied.get_by_text("What was seen").click()
    await denied.locator(".call-tool", has_text="write_file").wait_for()
    await page.get_by_label("State").select_option("waiting")
    await rows(page).get_by_text("Which pallet is broken?").wait_for()
    assert await rows(page).count() == 1


async def test_every_tab_has_its_rows_or_says_what_to_do(past: Up, pages: Pages) -> None:
    page = await pages.new(past)
    for what, first in (("tasks", "cross_dock-t1"), ("plans", "Read it")):
        await open_screen(page, f"/history?what={what}")
        await rows(page).filter(has_text=first).first.wait_for()
    for what, to in (("sessions", "/new"), ("questions", "/ask")):
        await open_screen(page, f"/history?what={what}")
        await page.locator(f".empty a[href='{to}']").wait_for()
    await open_screen(page, "/history?what=tasks&scene=weld_star")
    await page.get_by_text("Nothing passes these filters.").wait_for()
    await page.get_by_label("When").select_option("1h")
    await page.wait_for_url("**span=1h**")


async def test_the_log_is_paged_searched_and_leads_into_the_replay(past: Up, pages: Pages) -> None:
    page = await pages.new(past)
    await open_screen(page, "/history?what=events")
    lines = page.locator(".history-event")
    await lines.first.wait_for()
    first = await lines.first.text_content()
    await page.get_by_role("button", name="Older").click()
    await page.wait_for_url("**before=**")
    await until(page, "old => document.querySelector('.history-event')?.textContent !== old", first)
    await open_screen(page, "/history?what=events&text=sunday+deny&status=decisionAnswered")
    await page.get_by_text("No event passes these filters.").wait_for()
    await open_screen(page, "/history?what=events&status=decisionAnswered&text=deny")
    await lines.first.wait_for()
    assert await lines.count() == 1
    told = json.loads(await saved(page, "Save as JSON"))
    assert [event["kind"] for event in told] == ["decisionAnswered"]
    await lines.locator("a[data-step]").click()
    await page.wait_for_url(f"**/history/replay?at={told[0]['seq']}")
    await page.get_by_role("heading", name=f"As it was after event {told[0]['seq']}").wait_for()


async def test_the_past_is_scrubbed_stepped_and_played(past: Up, pages: Pages) -> None:
    opened = await past.heard("decisionOpened")
    asked = await past.call("GET", "/inbox")
    before = next(event for event in await past.call("GET", "/events?kinds=decisionOpened&limit=100")
                  if event["about"]["decisionId"] == asked[0]["id"])  # fmt: skip
    page = await pages.new(past)
    await open_screen(page, f"/history/replay?at={before['seq']}")
    await page.get_by_text("Decisions waiting: 1").wait_for()
    await page.locator(".replay-events [aria-current]").get_by_text(before["says"]).wait_for()
    await page.keyboard.press("ArrowLeft")
    await page.get_by_role("heading", name=f"As it was after event {before['seq'] - 1}").wait_for()
    await page.get_by_text("Decisions waiting: 0").wait_for()
    await page.wait_for_url(f"**at={before['seq'] - 1}")
    await page.get_by_label("Map of cross_dock").wait_for()
    await page.get_by_label("Map of weld_star").wait_for()

    await page.get_by_role("slider").fill(str(opened["seq"] - 1))
    await page.get_by_role("heading", name=f"As it was after event {opened['seq']}").wait_for()
    await page.keyboard.press("Home")
    await page.get_by_role("heading", name="As it was after event 1", exact=True).wait_for()
    await page.get_by_text("No scene was live.").wait_for()
    await page.get_by_label("Speed").select_option("100")
    await page.get_by_role("button", name="Play").click()
    await page.get_by_role("button", name="Pause").wait_for()
    await until(page, "() => Number(document.querySelector('[data-at]').dataset.at) > 20")
    await page.locator("h1").click()
    await page.keyboard.press("Space")
    await page.get_by_role("button", name="Play").wait_for()


async def test_a_run_is_replayed_by_its_own_events(past: Up, pages: Pages) -> None:
    page = await pages.new(past)
    await open_screen(page, "/history?status=failed")
    await rows(page).get_by_role("link", name="Replay").first.click()
    await page.wait_for_url("**/history/replay?run=**")
    await page.get_by_text("1 of ").wait_for()
    await page.get_by_role("button", name="Last").click()
    last = page.locator(".replay-events li").last
    await page.locator(".replay-events li:last-child[aria-current]").wait_for()
    assert "Read it" in str(await last.text_content())


async def test_the_shift_page_says_what_was_done_what_failed_and_who_decided(past: Up, pages: Pages) -> None:
    await past.call("POST", "/hold")
    page = await pages.new(past)
    await open_screen(page, "/history/shift")
    paper = page.locator("article.shift")
    await paper.get_by_text("Which pallet is broken?").wait_for()
    await paper.get_by_text("Everything is held", exact=True).wait_for()
    await (
        paper.locator("section", has=page.get_by_role("heading", name="What failed, and why"))
        .get_by_text("missing.txt")
        .wait_for()
    )
    decided = paper.locator("section", has=page.get_by_role("heading", name="Decisions"))
    await decided.get_by_text(NOTE).wait_for()
    await paper.locator("section", has=page.get_by_role("heading", name="Holds")).locator("li").first.wait_for()
    await page.emulate_media(media="print")
    assert not await page.get_by_role("button", name="Print").is_visible()
    assert not await page.locator(".rail").is_visible()
    assert await paper.get_by_text("Shift handover").is_visible()
    await page.emulate_media(media="screen")
    await open_screen(page, "/history/shift?from=2020-01-01T06:00:00Z&to=2020-01-01T14:00:00Z")
    await page.get_by_text("Nothing was done in this shift.").wait_for()


async def test_nothing_is_in_the_way_of_anybody(past: Up, pages: Pages) -> None:
    page = await pages.new(past)
    ready = {
        "/history?what=decisions": ".history-table",
        "/history?what=events": ".history-event",
        "/history/replay": "[data-at] svg",
        "/history/shift": "article.shift",
    }
    for path, seen in ready.items():
        await open_screen(page, path)
        await page.locator(seen).first.wait_for()
        await no_barriers(page)
    await page.set_viewport_size(PHONE)
    for path, seen in ready.items():
        await open_screen(page, path)
        await page.locator(seen).first.wait_for()
        assert await page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"], path
