"""The inbox and *Now*: decisions answered in place, by pointer and by keyboard, each with the form its verb needs."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen, until
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]
OVERWRITE = {"id": "write", "tool": "write_file", "args": {"path": "a.txt", "content": "new\n"}}
ASK = {"id": "ask", "tool": "ask_person", "args": {"question": "Which colour?"}}
FAILING = {"id": "read", "tool": "read_file", "args": {"path": "missing.txt"}, "onFailure": "ask"}


async def plan_of(server: Up, name: str, *steps: dict[str, Any], start: bool = True) -> Any:
    made = await server.call("POST", "/plans", {"plan": {"name": name, "steps": list(steps)}})
    return await server.call("POST", f"/plans/{made['id']}/runs", {"version": 1}) if start else made


def card(page: Any, title: str) -> Any:
    return page.locator("article.decision").filter(has_text=title)


async def test_a_plan_is_started_from_now_and_seen_to_happen(up: Start, pages: Pages) -> None:
    server = await up()
    await plan_of(server, "Wait a little", {"id": "w", "tool": "wait", "args": {"seconds": 30}}, start=False)
    page = await pages.new(server)
    await open_screen(page, "/")
    await card(page, "Wait a little").get_by_role("button", name="Start").click()
    await page.locator("#happening + ul").get_by_text("Wait a little").wait_for()
    await page.mouse.move(0, 0)


async def test_an_approval_shows_the_call_and_the_change_and_is_denied_with_a_note(up: Start, pages: Pages) -> None:
    server = await up()
    (server.workspace / "a.txt").write_text("old\n", encoding="utf-8")
    run = await plan_of(server, "Overwrite", OVERWRITE)
    opened = await server.heard("decisionOpened", runId=run["runId"])
    page = await pages.new(server)
    await open_screen(page, "/inbox")
    asked = card(page, "a.txt")
    await asked.locator(".call-tool").get_by_text("write_file").wait_for()
    await asked.get_by_role("link", name="Overwrite", exact=True).wait_for()
    await asked.locator(".diff-line.removed", has_text="old").wait_for()
    await asked.get_by_role("button", name="Deny").click()
    await asked.get_by_label("Note").fill("not today")
    await asked.locator("form").get_by_role("button", name="Deny").click()
    await asked.get_by_text("Answered: Deny").wait_for()
    told = await server.heard("decisionAnswered", decisionId=opened["about"]["decisionId"])
    assert told["data"]["answer"]["note"] == "not today"
    assert (server.workspace / "a.txt").read_text(encoding="utf-8") == "old\n"


async def test_a_card_counts_every_step_and_opens_with_enter(up: Start, pages: Pages) -> None:
    server = await up()
    steps = [{"id": f"s{at}", "tool": "wait", "args": {"seconds": 0}} for at in range(250)]
    made = await plan_of(server, "Many", *steps, start=False)
    page = await pages.new(server)
    await open_screen(page, "/inbox")
    many = card(page, "Many")
    await many.get_by_text("Steps: 250").wait_for()
    await many.get_by_text("And 244 more in the plan.").wait_for()
    await page.locator("main").focus()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**/inbox/{made['id']}-v1")


async def test_a_question_is_answered_by_keyboard_alone(up: Start, pages: Pages) -> None:
    server = await up()
    run = await plan_of(server, "Ask me", ASK)
    await server.heard("decisionOpened", runId=run["runId"])
    page = await pages.new(server)
    await open_screen(page, "/inbox")
    await card(page, "Which colour?").wait_for()
    await page.keyboard.press("j")
    await until(page, "() => document.activeElement.matches('article.decision')")
    await page.get_by_role("button", name="Answer").focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Answer", exact=True).focus()
    await page.keyboard.type("blue")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    ended = await server.heard("runFinished", runId=run["runId"])
    assert ended["data"]["status"] == "completed"


async def test_a_failed_step_is_tried_again_with_other_arguments_by_a_form(up: Start, pages: Pages) -> None:
    server = await up()
    (server.workspace / "there.txt").write_text("here\n", encoding="utf-8")
    run = await plan_of(server, "Read", FAILING)
    await server.heard("decisionOpened", runId=run["runId"])
    page = await pages.new(server)
    await open_screen(page, "/inbox")
    asked = card(page, "missing.txt")
    await asked.get_by_role("button", name="Retry").first.click()
    path = asked.get_by_label("Path")
    assert await path.input_value() == "missing.txt"
    await path.fill("there.txt")
    await asked.locator("form").get_by_role("button", name="Retry").click()
    ended = await server.heard("runFinished", runId=run["runId"])
    assert ended["data"]["status"] == "completed"


async def test_a_step_is_put_in_before_the_one_that_failed_by_a_form(up: Start, pages: Pages) -> None:
    server = await up()
    run = await plan_of(server, "Read", FAILING)
    await server.heard("decisionOpened", runId=run["runId"])
    page = await pages.new(server)
    await open_screen(page, "/inbox")
    asked = card(page, "missing.txt")
    await asked.get_by_role("button", name="Insert").first.click()
    await asked.get_by_label("Tool").select_option("write_file")
    await asked.get_by_label("Path").fill("missing.txt")
    await asked.get_by_label("Content").fill("found\n")
    await asked.locator("form").get_by_role("button", name="Insert").click()
    ended = await server.heard("runFinished", runId=run["runId"])
    assert ended["data"]["status"] == "completed"
    assert (server.workspace / "missing.txt").read_text(encoding="utf-8") == "found\n"


async def test_after_an_answer_the_focus_is_on_the_next_decision(up: Start, pages: Pages) -> None:
    server = await up()
    for name in ("First plan", "Second plan"):
        await plan_of(server, name, {"id": "w", "tool": "wait", "args": {"seconds": 0}}, start=False)
    page = await pages.new(server)
    await open_screen(page, "/inbox")
    await card(page, "First plan").get_by_role("button", name="Start").click()
    await until(page, "() => document.activeElement.getAttribute('aria-label')?.includes('Second plan')")


async def test_no_card_comes_or_goes_under_the_pointer(up: Start, pages: Pages) -> None:
    server = await up()
    wait = {"id": "w", "tool": "wait", "args": {"seconds": 0}}
    first = await plan_of(server, "First plan", wait, start=False)
    page = await pages.new(server)
    await open_screen(page, "/inbox")
    await card(page, "First plan").hover()
    await plan_of(server, "Another plan", wait, start=False)
    await page.get_by_role("button", name="Show new ones: 1").wait_for()
    assert await card(page, "Another plan").count() == 0
    await server.call("POST", f"/plans/{first['id']}/runs", {"version": 1})
    await card(page, "First plan").get_by_text("Answered or withdrawn meanwhile").wait_for()
    await page.mouse.move(0, 0)
    await card(page, "Another plan").wait_for()
    await card(page, "First plan").wait_for(state="detached")


async def test_what_was_answered_stays_readable(up: Start, pages: Pages) -> None:
    server = await up()
    made = await plan_of(server, "Old plan", {"id": "w", "tool": "wait", "args": {"seconds": 0}}, start=False)
    decision = (await server.call("GET", "/inbox"))[0]
    await server.call("POST", f"/inbox/{decision['id']}", {"verb": "cancel", "note": "too late"})
    page = await pages.new(server)
    await open_screen(page, f"/inbox/{decision['id']}")
    await page.get_by_text("too late").wait_for()
    await page.get_by_text("Cancel", exact=True).wait_for()
    assert made["id"] in await page.content() or await page.get_by_text("wait").count()


async def test_a_viewer_sees_why_there_is_nothing_to_press(up: Start, pages: Pages) -> None:
    server = await up(tokens={"eve": "viewer", "ann": "admin"})
    plan = {"name": "Look", "steps": [{"id": "w", "tool": "wait", "args": {"seconds": 0}}]}
    await server.call("POST", "/plans", {"plan": plan}, who="ann")
    page = await pages.new(server, who="eve")
    await open_screen(page, "/inbox")
    start = card(page, "Look").get_by_role("button", name="Start")
    assert await start.get_attribute("aria-disabled") == "true"
    await start.click(force=True)
    await card(page, "Look").get_by_text("role viewer").wait_for()
    assert len(await server.call("GET", "/inbox", who="eve")) == 1


@pytest.mark.parametrize("path", ["/", "/inbox"])
async def test_no_barriers_in_either_theme(up: Start, pages: Pages, path: str) -> None:
    server = await up("cross_dock", speed=20)
    (server.workspace / "a.txt").write_text("old\n", encoding="utf-8")
    run = await plan_of(server, "Overwrite", OVERWRITE)
    await server.heard("decisionOpened", runId=run["runId"])
    page = await pages.new(server)
    await open_screen(page, path)
    await card(page, "a.txt").get_by_role("button", name="Deny").click()
    await no_barriers(page)
    await page.set_viewport_size(PHONE)
    wide = await page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= PHONE["width"]
