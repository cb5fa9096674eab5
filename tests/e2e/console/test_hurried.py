"""Hurried operators, strangers and people who mean harm: nothing is done twice, late, or in another one's name."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.e2e.console.browser import GONE, Pages, open_screen, until
from tests.e2e.console.halls import hall
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]
WAIT = {"id": "w", "tool": "wait", "args": {"seconds": 60}}
HOSTILE = '<img src=x onerror="window.harmed=1"><script>window.harmed=2</script> [a](javascript:window.harmed=3)'
TABLET = {"viewport": {"width": 1024, "height": 768}, "has_touch": True}
ADDRESSES = [
    "/plans/%E0%A4%A",
    "/runs/a%2Fb",
    "/inbox/%25",
    "/history/replay?at=-1",
    "/history/replay?at=abc",
    "/history?what=nothing&limit=-5",
    "/floor?robot=..&scene=..%2F",
    "/floor?task=..&worksite=%00",
    "/cells/..%2F..",
    "/scenes/%3Cb%3E",
    "/sessions/x?tick=abc",
    "/ask/..%2F",
    "/setup?what=__proto__",
    "/history?what=constructor",
    "/plans/x?version=NaN&tab=constructor",
    "/help/..%2F..%2Fetc%2Fpasswd",
]


async def plan_of(server: Up, name: str, *steps: dict[str, Any]) -> Any:
    return await server.call("POST", "/plans", {"plan": {"name": name, "steps": list(steps)}})


async def tap(page: Any, at: dict[str, float], when: float) -> None:
    """A finger at this place. The event carries its own time, however long the test takes to send it."""
    wire = await page.context.new_cdp_session(page)
    for kind, points, later in (("touchStart", [at], 0.0), ("touchEnd", [], 0.02)):
        await wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points, "timestamp": when + later})


@pytest.mark.parametrize("pause_s", [0.0, 0.15, 0.3])
async def test_two_taps_on_start_start_one_plan_once(up: Start, pages: Pages, pause_s: float) -> None:
    server = await up()
    for number in range(3):
        await plan_of(server, f"Wait {number}", WAIT)
    page = await pages.new(server, **TABLET)
    writes: list[str] = []
    page.on("request", lambda asked: writes.append(asked.url) if asked.method == "POST" else None)
    await open_screen(page, "/")
    box = await page.get_by_role("button", name="Start").first.bounding_box()
    at, first = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}, time.time()
    happening = page.locator("#happening + ul").get_by_text("Wait 0")
    await tap(page, at, first)
    if pause_s:  # by then another card may lie there
        await happening.wait_for()
    await tap(page, at, first + pause_s)
    await happening.wait_for()
    assert len(writes) == 1
    assert len(await server.call("GET", "/runs")) == 1


async def test_an_answer_that_came_second_is_told_so(up: Start, pages: Pages) -> None:
    pages.expect("409")
    server = await up()
    plan = await plan_of(server, "Ask", {"id": "q", "tool": "ask_person", "args": {"question": "Which?"}})
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    decision = (await server.heard("decisionOpened", runId=run["runId"]))["about"]["decisionId"]
    page = await pages.new(server)

    async def late(route: Any) -> None:
        if route.request.method == "POST":
            await server.call("POST", f"/inbox/{decision}", {"verb": "answer", "value": "theirs"})
        await route.continue_()

    await page.route("**/api/v1/inbox/*", late)
    await open_screen(page, f"/inbox/{decision}")
    await page.get_by_role("button", name="Answer").click()
    await page.locator("form .input").first.fill("mine")
    await page.locator("form").get_by_role("button", name="Answer").click()
    await page.get_by_text("was answered with 'answer' already").wait_for()
    await page.get_by_text("theirs").wait_for()


async def test_hold_all_is_within_reach_while_a_dialog_is_open(up: Start, pages: Pages) -> None:
    server = await up("cross_dock", speed=20)
    page = await pages.new(server, **TABLET)
    await open_screen(page, "/floor")
    await page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    await keys.wait_for()
    assert await keys.get_by_role("button", name="Close").evaluate("it => it === document.activeElement")
    await keys.get_by_role("button", name="Hold all").tap()
    await page.get_by_role("dialog", name="Everything is held").wait_for()


async def test_a_command_to_a_server_that_stands_still_is_withdrawn_and_never_done(up: Start, pages: Pages) -> None:
    pages.expect(f"{GONE}|409")
    server = await up("cross_dock", speed=20)
    page = await pages.new(server, **TABLET)
    await open_screen(page, "/")
    assert server.process is not None
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        await page.locator("header").get_by_role("button", name="Hold all").tap()
        await page.locator(".live.off").wait_for()
        await page.get_by_text("Whether it was done is not known yet").wait_for()
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    await page.get_by_text("The server says that it was not done, and will not do it.").wait_for()
    await page.locator(".live.on").wait_for()
    assert (await server.call("GET", "/state")).get("hold") is None


async def test_hold_all_is_tried_where_nothing_is_heard_and_says_what_it_holds(up: Start, pages: Pages) -> None:
    pages.expect(f"{GONE}|409")
    server = await up("cross_dock", "weld_star", speed=20)
    page = await pages.new(server, **TABLET)
    await open_screen(page, "/")
    assert server.process is not None
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        await page.locator(".live.off").wait_for()
        await page.locator("header").get_by_role("button", name="Hold all").tap()
        await page.get_by_role("dialog", name="Hold all was not acknowledged").wait_for()
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    await page.get_by_role("dialog", name="Nothing was held by this").wait_for()
    await page.get_by_role("button", name="Hold all again").tap()
    dialog = page.get_by_role("dialog", name="Everything is held")
    await dialog.wait_for()
    held = (await server.call("GET", "/state"))["hold"]["what"]
    told = await dialog.locator("li").all_inner_texts()
    assert told == [f"{thing['kind']} {thing['scene']}: {thing['what']}" for thing in held]
    assert {thing["kind"] for thing in held} == {"cell", "fleet"}
    assert await dialog.evaluate("box => box.scrollWidth <= box.clientWidth"), "its words are cut"


async def test_what_cannot_be_done_says_why_when_it_is_pressed(up: Start, pages: Pages) -> None:
    server = await up("cross_dock", tokens={"vic": "viewer"})
    page = await pages.new(server, who="vic", **TABLET)
    await open_screen(page, "/floor?robot=RB-01")
    said = page.locator(".why-not")
    assert not await said.is_visible()
    await page.locator(".drawer").get_by_role("button", name="Hold", exact=True).tap(force=True)
    await said.get_by_text("You are logged in as vic with the role viewer; this needs the role operator.").wait_for()
    await page.locator("h1").tap()
    await said.wait_for(state="hidden")


async def test_a_command_that_was_done_and_answered_late_is_found_out_and_done_once(up: Start, pages: Pages) -> None:
    from playwright.async_api import Error as PlaywrightError

    pages.expect(GONE)
    server = await up("cross_dock", speed=20)
    page = await pages.new(server)
    asked: list[str] = []
    told = asyncio.Event()

    async def slowly(route: Any) -> None:
        asked.append(route.request.headers["idempotency-key"])
        answer = await route.fetch()
        if len(asked) == 1:
            await told.wait()
        with suppress(PlaywrightError):
            await route.fulfill(response=answer)

    await page.route("**/api/v1/robots/RB-03/hold*", slowly)
    await open_screen(page, "/floor?robot=RB-03")
    drawer = page.locator(".drawer")
    await drawer.get_by_role("button", name="Hold", exact=True).click()
    await drawer.get_by_text("Whether it was done is not known yet").wait_for()
    told.set()
    await drawer.locator(".stage-done").first.wait_for()
    assert asked[0] == asked[1]
    assert (await server.call("GET", "/robots/RB-03"))["held"] is True


async def test_a_revoked_token_leads_to_the_login_and_the_stream_rests(up: Start, pages: Pages) -> None:
    pages.expect("401|Failed to load resource|MIME type")
    server = await up("cross_dock", tokens={"ann": "operator", "root": "admin"})
    page = await pages.new(server, who="ann")
    await open_screen(page, "/")
    await server.call("DELETE", "/tokens/ann", who="root")
    await page.get_by_label("Token").wait_for()
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    await asyncio.sleep(3)
    assert asked == []


async def test_another_person_in_the_same_browser_is_that_person_in_every_window(up: Start, pages: Pages) -> None:
    pages.expect("401|Failed to load resource|MIME type")
    server = await up("cross_dock", tokens={"ann": "operator", "vic": "viewer"})
    await plan_of_as(server, "ann")
    first = await pages.new(server, who="ann")
    second = await pages.new(server, like=first)
    await open_screen(first, "/")
    await open_screen(second, "/inbox")
    await first.get_by_role("button", name="Log out").click()
    await first.get_by_label("Token").fill(server.tokens["vic"])
    await first.get_by_role("button", name="Log in").click()
    await first.locator(".live.on").wait_for()
    await second.locator(".live.on").wait_for()
    start = second.get_by_role("button", name="Start")
    await start.and_(second.locator("[aria-disabled=true]")).wait_for()
    await start.focus()
    await second.keyboard.press("Enter")
    await second.get_by_text("with the role viewer").first.wait_for()
    assert await server.call("GET", "/runs", who="ann") == []


async def plan_of_as(server: Up, who: str) -> None:
    await server.call("POST", "/plans", {"plan": {"name": "Wait", "steps": [WAIT]}}, who=who)


async def test_an_address_that_means_nothing_is_told_and_harms_nothing(page: Any, pages: Pages) -> None:
    pages.expect("Failed to load resource")
    for path in ADDRESSES:
        await open_screen(page, path)
        await until(page, "() => document.querySelector('main').innerText.trim().length > 20")
        assert "defect of the console" not in await page.locator("main").inner_text(), path


async def test_words_that_others_wrote_are_only_words(up: Start, pages: Pages) -> None:
    server = await up()
    steps = [{"id": "q", "tool": "ask_person", "description": HOSTILE, "args": {"question": HOSTILE}}]
    plan = await plan_of(server, HOSTILE[:120], *steps)
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    await server.heard("decisionOpened", runId=run["runId"])
    page = await pages.new(server)
    for path in ("/", "/inbox", f"/plans/{plan['id']}", f"/runs/{run['runId']}", "/history", "/history/shift"):
        await open_screen(page, path)
        await page.locator("main").get_by_text("<img src=x").first.wait_for()
        assert await page.evaluate("() => window.harmed") is None


async def test_two_presses_on_deny_leave_its_form_open_and_a_lost_server_is_sent_nothing(
    up: Start, pages: Pages
) -> None:
    pages.expect(GONE)
    server = await up()
    plan = await plan_of(server, "Write", {**WAIT, "requiresApproval": True})
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    await server.heard("decisionOpened", runId=run["runId"])
    page = await pages.new(server)
    await open_screen(page, "/inbox")
    await page.get_by_role("button", name="Deny").dblclick()
    form = page.locator("form.inbox-answer")
    await form.get_by_label("Note").fill("not today")
    await server.stop()
    await page.locator(".live.off").wait_for()
    writes: list[str] = []
    page.on("request", lambda asked: writes.append(asked.url) if asked.method == "POST" else None)
    await form.get_by_label("Note").press("Enter")
    await form.get_by_role("button", name="Deny").click(force=True)
    await page.locator(".why-not").get_by_text("The server cannot be reached at the moment.").wait_for()
    assert writes == []
    await server.start()
    await page.locator(".live.on").wait_for()
    await form.get_by_label("Note").press("Enter")
    await page.get_by_text("Answered: Deny.").or_(page.get_by_text("Nothing waits for you.")).wait_for()
    answered = await server.call("GET", f"/inbox/{run['runId']}-d1")
    assert answered["answer"]["note"] == "not today"


async def test_what_could_not_be_read_while_the_server_was_lost_is_read_when_it_is_back(
    up: Start, pages: Pages
) -> None:
    pages.expect(GONE)
    server = await up()
    await plan_of(server, "Written down", WAIT)
    page = await pages.new(server)
    await open_screen(page, "/history?what=plans")
    await page.locator("main").get_by_text("Written down").wait_for()
    await page.get_by_role("link", name="Now").click()
    await server.stop()
    await page.locator(".live.off").wait_for()
    await page.go_back()
    await page.locator("main").get_by_text("The server cannot be reached.").wait_for()
    await server.start()
    await page.locator(".live.on").wait_for()
    await page.locator("main").get_by_text("Written down").wait_for()


async def test_what_is_told_of_a_hold_is_what_this_one_holds(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    page = await pages.new(server)
    await open_screen(page, "/")
    await page.locator("header").get_by_role("button", name="Hold all").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("cell weld_star").wait_for()
    await dialog.get_by_text("Done", exact=True).wait_for()
    await server.call("POST", "/clear")
    await page.get_by_role("dialog", name="Nothing is held").wait_for()
    assert await dialog.locator("li").count() == 0
    await dialog.get_by_role("button", name="Close").click()
    await server.call("PUT", "/scenes/one_more", hall("one_more", 1))
    await server.call("POST", "/scenes/one_more/activate")
    await server.call("POST", "/hold")
    await page.locator("header").get_by_role("button", name="Held").click()
    await dialog.get_by_text("fleet one_more").wait_for()
    await dialog.get_by_text("cell weld_star").wait_for()


async def test_whom_a_worksite_affects_is_told_for_what_was_pressed_first(up: Start, pages: Pages) -> None:
    server = await up("cross_dock", speed=20)
    place = (await server.call("GET", "/worksites"))[0]["worksiteId"]
    page = await pages.new(server)
    let_go = asyncio.Event()
    asked: list[Any] = []

    async def slowly(route: Any) -> None:
        asked.append(route.request.post_data_json)
        await let_go.wait()
        await route.continue_()

    await page.route("**/dry-run*", slowly)
    await open_screen(page, f"/floor?scene=cross_dock&worksite={place}")
    drawer = page.locator(".drawer")
    async with page.expect_request("**/dry-run*"):
        await drawer.get_by_role("button", name="Unknown").click()
    await drawer.get_by_role("button", name="Empty").click()
    let_go.set()
    await page.get_by_role("dialog", name=f"Set {place} to unknown?").wait_for()
    assert asked == [{"occupancy": "unknown"}]
