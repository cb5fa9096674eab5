"""Plan review: what would happen is seen, everything about a plan can be changed, and only what is read is started."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen, until
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]


def step(name: str, tool: str = "wait", args: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": name, "tool": tool, "args": {"seconds": 0} if args is None else args, **fields}


FREE = [step("one"), step("two"), step("three")]
CHAIN = [step("first"), step("second", dependsOn=["first"]), step("third", dependsOn=["second"])]


async def plan_of(server: Up, *steps: dict[str, Any], name: str = "A plan") -> Any:
    return await server.call("POST", "/plans", {"plan": {"name": name, "steps": list(steps)}})


async def weld(server: Up) -> Any:
    return await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld at Pos_1"})


async def patch(page: Any, plan: str, version: int, *edits: dict[str, Any]) -> None:
    """Somebody else's edit."""
    answer = await page.request.patch(
        f"/api/v1/plans/{plan}", data={"edits": list(edits)}, headers={"If-Match": str(version)}
    )
    assert answer.ok, await answer.text()


async def opened(pages: Pages, server: Up, plan: Any, query: str = "", **options: Any) -> Any:
    page = await pages.new(server, **options)
    await open_screen(page, f"/plans/{plan['id']}{query}")
    await page.get_by_role("heading", level=1).wait_for()
    return page


async def order(page: Any) -> list[str]:
    return await page.locator("[data-step]").evaluate_all("rows => rows.map(row => row.dataset.step)")


def start(page: Any, version: int) -> Any:
    return page.get_by_role("button", name=f"Start version {version}")


async def is_version(page: Any, version: int) -> None:
    await start(page, version).wait_for()


def row(page: Any, name: str) -> Any:
    return page.locator(f"[data-step={name}]")


async def lift(page: Any, place: int, name: str) -> None:
    """Take a step up by keyboard. Arrow keys move it once its place is told and the page has had one more turn."""
    await page.get_by_role("button", name=f"Move step {place}, {name}").focus()
    await page.keyboard.press("Space")
    await page.get_by_text(f"Over place {place}.").wait_for(state="attached")
    await page.evaluate("() => new Promise(done => setTimeout(done))")


async def test_a_step_is_moved_by_pointer(up: Start, pages: Pages) -> None:
    server = await up()
    page = await opened(pages, server, await plan_of(server, *FREE))
    handle = page.get_by_role("button", name="Move step 3, three")
    target = page.get_by_role("button", name="Move step 1, one")
    await target.wait_for()
    at, to = await handle.bounding_box(), await target.bounding_box()
    await page.mouse.move(at["x"] + 10, at["y"] + 10)
    await page.mouse.down()
    await page.mouse.move(at["x"] + 10, at["y"] - 10, steps=3)
    await page.mouse.move(to["x"] + 10, to["y"] + 4, steps=8)
    await page.mouse.up()
    await is_version(page, 2)
    assert await order(page) == ["three", "one", "two"]


async def test_a_step_is_moved_by_keyboard(up: Start, pages: Pages) -> None:
    server = await up()
    page = await opened(pages, server, await plan_of(server, *FREE))
    await lift(page, 1, "one")
    await page.keyboard.press("ArrowDown")
    await page.get_by_text("Over place 2.").wait_for(state="attached")
    await page.keyboard.press("Space")
    await is_version(page, 2)
    assert await order(page) == ["two", "one", "three"]


async def test_an_illegal_move_is_refused_and_names_the_dependency(up: Start, pages: Pages) -> None:
    pages.expect("422")
    server = await up()
    page = await opened(pages, server, await plan_of(server, *CHAIN))
    await lift(page, 2, "second")
    await page.keyboard.press("ArrowUp")
    await page.get_by_text("second needs first before it").wait_for()
    await page.keyboard.press("Space")
    await (
        page.get_by_role("alert").get_by_text("second cannot come before first, which it depends on.").first.wait_for()
    )
    assert await order(page) == ["first", "second", "third"]
    await start(page, 1).wait_for()
    await page.get_by_role("button", name="Leave it as it was").click()


async def test_steps_are_skipped_removed_and_added(up: Start, pages: Pages) -> None:
    pages.expect("422")
    server = await up()
    plan = await plan_of(server, *CHAIN)
    page = await opened(pages, server, plan)
    await page.get_by_role("button", name="Skip second").click()
    await is_version(page, 2)
    await page.get_by_role("button", name="Unskip second").click()
    await is_version(page, 3)
    await page.get_by_role("button", name="Remove second").click()
    await page.get_by_text("third depends on second, which would be removed.").first.wait_for()
    await page.get_by_role("button", name="Leave it as it was").click()
    await page.get_by_role("button", name="Remove third").click()
    await is_version(page, 4)
    await page.get_by_role("button", name="Add a step").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Tool", exact=True).select_option("write_file")
    await dialog.get_by_label("Path").fill("new.txt")
    await dialog.get_by_label("Content").fill("hello\n")
    await dialog.get_by_role("button", name="Add the step").click()
    await is_version(page, 5)
    assert await order(page) == ["first", "second", "write_file"]
    made = await server.call("GET", f"/plans/{plan['id']}")
    assert made["steps"][2]["args"] == {"path": "new.txt", "content": "hello\n"}
    assert made["steps"][2]["dependsOn"] == ["second"]


async def test_a_step_is_edited_by_the_form_of_its_tool(up: Start, pages: Pages) -> None:
    pages.expect("422")
    server = await up()
    plan = await plan_of(server, step("pause", args={"seconds": 1}), name="Wait")
    page = await opened(pages, server, plan)
    await row(page, "pause").click()
    drawer = page.get_by_role("complementary", name="Details")
    await drawer.get_by_role("button", name="Edit").click()
    await drawer.get_by_label("In words").fill("Wait for the paint")
    await drawer.get_by_label("Seconds").fill("-4")
    await drawer.get_by_label("Seconds").evaluate("field => field.removeAttribute('min')")
    await drawer.get_by_role("button", name="Save as a new version").click()
    await drawer.get_by_role("alert").wait_for()
    await drawer.get_by_label("Seconds").fill("2.5")
    await drawer.get_by_role("button", name="Save as a new version").click()
    await is_version(page, 2)
    changed = (await server.call("GET", f"/plans/{plan['id']}"))["steps"][0]
    assert (changed["args"], changed["description"]) == ({"seconds": 2.5}, "Wait for the paint")
    await page.keyboard.press("Escape")
    await page.get_by_role("tab", name="Versions").click()
    await page.get_by_text("Wait for the paint").wait_for()


async def test_an_edit_that_is_refused_is_told_where_it_was_pressed(up: Start, pages: Pages) -> None:
    pages.expect("422")
    server = await up("weld_star")
    page = await opened(pages, server, await weld(server), "?step=step_3")
    drawer = page.locator(".drawer")
    await drawer.get_by_role("button", name="Edit", exact=True).click()
    await drawer.get_by_label("Waits for").fill("nowhere")
    await drawer.get_by_role("button", name="Save as a new version").click()
    refusal = drawer.get_by_role("alert")
    await refusal.wait_for()
    place = "box => { const { top } = box.getBoundingClientRect(); return top > 60 && top < innerHeight; }"
    assert await refusal.evaluate(place), "it is out of sight"
    assert await drawer.get_by_label("Waits for").input_value() == "nowhere"


async def test_a_plan_lasts_as_long_as_its_preview_says(up: Start, pages: Pages) -> None:
    server = await up()
    waits = [step("a", args={"seconds": 90}), step("b", args={"seconds": 90})]
    page = await opened(pages, server, await plan_of(server, *waits))
    await page.locator(".plan-facts").get_by_text("about 1 min 30 s").wait_for()


async def test_a_cells_plan_is_regenerated_with_a_note_and_mended_when_a_step_goes(up: Start, pages: Pages) -> None:
    pages.expect("422")
    server = await up("weld_star")
    page = await opened(pages, server, await weld(server))
    await page.get_by_text("move a machine, which cannot be undone").wait_for()
    await page.get_by_role("button", name="Regenerate").click()
    await page.get_by_label("What should be different").fill("the same again")
    await page.get_by_role("button", name="Make it anew").click()
    await is_version(page, 2)
    await page.get_by_role("button", name="Remove Move to Pos_1").click()
    await page.get_by_role("button", name="Take this repair").click()
    await is_version(page, 3)


async def test_the_preview_is_played_and_scrubbed(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    page = await opened(pages, server, await weld(server))
    preview = page.get_by_role("region", name="Preview")
    slider = preview.get_by_role("slider", name="Time in the preview")
    await slider.wait_for()
    await slider.focus()
    await page.keyboard.press("End")
    await preview.get_by_role("list", name="At this moment").get_by_text("Tack Weld at Pos_1.").wait_for()
    await preview.get_by_text("The robot ends at Pos_1 with Welder.").wait_for()
    await until(page, "() => new URLSearchParams(location.search).has('at')")
    await page.keyboard.press("Home")
    await preview.get_by_role("button", name="The next step").click()
    await preview.get_by_role("list", name="At this moment").get_by_text("step_2").wait_for()
    before = float(await slider.input_value())
    await preview.get_by_role("button", name="Play").click()
    await until(page, "from => Number(document.querySelector('input[type=range]').value) > from", before)
    await preview.get_by_role("button", name="Pause").click()
    await preview.get_by_role("button", name="Play").wait_for()


async def test_looking_at_a_plan_leaves_nothing_in_the_log(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    plan = await weld(server)
    before = (await server.call("GET", "/state"))["seq"]
    page = await opened(pages, server, plan)
    await page.get_by_label("Time in the preview").wait_for()
    assert (await server.call("GET", "/state"))["seq"] == before


async def test_a_write_is_previewed_as_a_diff_and_called_destructive(up: Start, pages: Pages) -> None:
    server = await up()
    (server.workspace / "a.txt").write_text("old\n", encoding="utf-8")
    write = {"path": "a.txt", "content": "new\n"}
    plan = await plan_of(server, step("over", "write_file", write, description="Read the file a.txt"))
    page = await opened(pages, server, plan)
    await page.locator(".diff-line.removed", has_text="old").wait_for()
    risks = page.get_by_role("region", name="Risks")
    await risks.get_by_text("1 step overwrites or deletes something.").wait_for()
    await risks.get_by_text("1 step does not do what its words say.").wait_for()


async def test_what_is_read_is_started_and_its_run_is_shown(up: Start, pages: Pages) -> None:
    server = await up()
    plan = await plan_of(server, *CHAIN)
    page = await opened(pages, server, plan)
    await start(page, 1).click()
    await page.wait_for_url("**/runs/*")
    await page.locator("header .state[data-state=completed]").wait_for()
    await page.go_back()
    await page.get_by_text("was started already").first.wait_for()
    await page.get_by_role("link", name="Go to its run").wait_for()


async def test_a_version_that_changes_under_the_pointer_starts_nothing(up: Start, pages: Pages) -> None:
    server = await up()
    plan = await plan_of(server, *FREE)
    page = await opened(pages, server, plan)
    other = await pages.new(server)
    await start(page, 1).hover()
    await patch(other, plan["id"], 1, {"op": "skip", "id": "two"})
    button = page.get_by_role("button", name="Version 2 is newer")
    await button.wait_for()
    await page.mouse.down()
    await page.mouse.up()
    await button.click(force=True)
    await page.get_by_text("Version 2 was made since; you read version 1.").wait_for()
    assert await server.call("GET", "/runs") == []
    await page.get_by_role("link", name="What changed").click()
    await page.locator(".plan-change", has_text="two").wait_for()
    await page.get_by_role("button", name="Read version 2").first.click()
    await start(page, 2).click()
    await page.wait_for_url("**/runs/*")


class Slow:
    """Edits of this page reach the server one by one, each when it is let go."""

    def __init__(self, page: Any) -> None:
        self.go = asyncio.Semaphore(0)
        self.page = page

    async def begin(self) -> None:
        await self.page.route("**/api/v1/plans/*", self._pass)

    async def _pass(self, route: Any) -> None:
        if route.request.method == "PATCH":
            await self.go.acquire()
        await route.continue_()


async def test_an_edit_pressed_while_another_is_kept_waits_for_it(up: Start, pages: Pages) -> None:
    server = await up()
    plan = await plan_of(server, *FREE)
    page = await opened(pages, server, plan)
    slow = Slow(page)
    await slow.begin()
    stage = page.locator(".plan-edit-stage")
    await page.get_by_role("button", name="Skip one").click()
    await stage.get_by_text("The edit is being kept …").wait_for()
    assert "being kept" in await start(page, 1).get_attribute("title")
    await page.get_by_role("button", name="Remove two").click()
    await stage.get_by_text("one more waits for it").wait_for()
    await page.get_by_role("button", name="Remove two").press("Enter")
    await stage.get_by_text("That one is under way already").wait_for()
    slow.go.release()
    await is_version(page, 2)
    slow.go.release()
    await is_version(page, 3)
    steps = (await server.call("GET", f"/plans/{plan['id']}"))["steps"]
    assert [(one["id"], one["status"]) for one in steps] == [("one", "skipped"), ("three", "pending")]
    await until(page, "() => document.querySelector('.plan-edit-stage').textContent === ''")


async def test_an_edit_that_waited_for_a_refused_one_is_not_sent_and_that_is_said(up: Start, pages: Pages) -> None:
    pages.expect("409")
    server = await up()
    plan = await plan_of(server, *FREE)
    page = await opened(pages, server, plan)
    slow = Slow(page)
    await slow.begin()
    await page.get_by_role("button", name="Skip one").click()
    await page.get_by_role("button", name="Skip two").click()
    await page.locator(".plan-edit-stage", has_text="one more waits").wait_for()
    await patch(page, plan["id"], 1, {"op": "remove", "id": "three"})
    slow.go.release()
    both = page.get_by_role("dialog", name="Somebody else changed this plan")
    await both.get_by_text("The edit pressed after it was not sent.").wait_for()
    await both.get_by_role("button", name="Take theirs").click()
    await is_version(page, 2)
    steps = (await server.call("GET", f"/plans/{plan['id']}"))["steps"]
    assert [one["status"] for one in steps] == ["pending", "pending"]


async def test_two_people_edit_the_same_plan(up: Start, pages: Pages) -> None:
    pages.expect("409")
    server = await up()
    plan = await plan_of(server, step("pause", args={"seconds": 1}))
    page = await opened(pages, server, plan)
    other = await pages.new(server)
    await row(page, "pause").click()
    drawer = page.get_by_role("complementary", name="Details")
    await drawer.get_by_role("button", name="Edit").click()
    await drawer.get_by_label("In words").fill("mine")
    await patch(other, plan["id"], 1, {"op": "edit", "id": "pause", "set": {"args": {"seconds": 9}}})
    await drawer.get_by_role("button", name="Save as a new version").click()
    both = page.get_by_role("dialog", name="Somebody else changed this plan")
    await both.get_by_role("region", name="Theirs").get_by_text("9", exact=True).first.wait_for()
    await both.get_by_role("region", name="Mine").get_by_text("mine").first.wait_for()
    await both.get_by_role("button", name="Apply mine on top").click()
    await is_version(page, 3)
    made = (await server.call("GET", f"/plans/{plan['id']}"))["steps"][0]
    assert (made["description"], made["args"]) == ("mine", {"seconds": 9})


async def test_theirs_is_taken(up: Start, pages: Pages) -> None:
    pages.expect("409")
    server = await up()
    plan = await plan_of(server, *FREE)
    page = await opened(pages, server, plan)
    other = await pages.new(server)
    await patch(other, plan["id"], 1, {"op": "remove", "id": "three"})
    await page.get_by_role("button", name="Skip one").click()
    await page.get_by_role("button", name="Take theirs").click()
    await is_version(page, 2)
    assert await order(page) == ["one", "two"]


async def test_a_changed_world_is_told_before_the_start(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    page = await opened(pages, server, await weld(server))
    await start(page, 1).wait_for()
    await server.call("PATCH", "/cells/weld_star", {"position": "Safe_Pos_1"})
    warned = page.get_by_role("status", name="Why it would not start now")
    await warned.get_by_text("The world has changed since this was planned.").wait_for()
    await start(page, 1).click(force=True)
    assert await server.call("GET", "/runs") == []
    await warned.get_by_role("button", name="Regenerate").click()
    await page.get_by_role("button", name="Make it anew").click()
    await is_version(page, 2)
    await warned.wait_for(state="detached")


async def test_a_plan_is_cancelled_with_a_note(up: Start, pages: Pages) -> None:
    server = await up()
    plan = await plan_of(server, *FREE)
    page = await opened(pages, server, plan)
    await page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("The plan is discarded; nothing runs.").wait_for()
    await dialog.get_by_label("Note").fill("not today")
    await dialog.get_by_role("button", name="Cancel the plan").click()
    await page.locator("header .state[data-state=cancelled]").wait_for()
    told = await server.heard("decisionAnswered")
    assert told["data"]["answer"]["note"] == "not today"


async def test_the_graph_folds_steps_under_their_goal(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    page = await opened(pages, server, await weld(server), "?view=graph")
    folded = page.locator(".react-flow__node")
    await folded.get_by_text("7 steps, folded").wait_for()
    assert await folded.count() == 1
    await folded.focus()
    await page.keyboard.press("Enter")
    await until(page, "() => document.querySelectorAll('.react-flow__node').length === 7")
    await page.locator(".react-flow__node", has_text="Attach Welder").click()
    await page.get_by_role("complementary", name="Details").get_by_text("tool_attach").wait_for()


async def test_a_plan_is_compared_with_its_run(up: Start, pages: Pages) -> None:
    server = await up()
    plan = await plan_of(server, *CHAIN)
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    await server.heard("runFinished", runId=run["runId"])
    page = await opened(pages, server, plan, "?view=versions")
    await page.get_by_label("To", exact=True).select_option(f"run {run['runId']}")
    await page.get_by_role("row").filter(has_text="as planned").nth(2).wait_for()


async def test_a_viewer_reads_and_is_told_why_nothing_can_be_changed(up: Start, pages: Pages) -> None:
    pages.expect("403")
    server = await up(tokens={"ann": "viewer", "bob": "operator"})
    plan = await server.call("POST", "/plans", {"plan": {"name": "A plan", "steps": FREE}}, who="bob")
    page = await pages.new(server, who="ann")
    await open_screen(page, f"/plans/{plan['id']}")
    await until(page, "() => document.querySelector('.plan-actions button')?.getAttribute('aria-disabled') === 'true'")
    assert "viewer" in await start(page, 1).get_attribute("title")
    await page.get_by_role("button", name="Skip one").click(force=True)
    assert (await server.call("GET", f"/plans/{plan['id']}", who="ann"))["version"] == 1


async def test_two_hundred_steps_are_shown_and_moved(up: Start, pages: Pages) -> None:
    server = await up()
    many = [step(f"s{at}", dependsOn=[f"s{at - 2}"] if at > 1 else []) for at in range(200)]
    page = await opened(pages, server, await plan_of(server, *many))
    await until(page, "() => document.querySelectorAll('[data-step]').length === 200")
    await page.get_by_role("tab", name="Graph").click()
    await page.locator(".react-flow__node").first.wait_for()
    await page.get_by_role("tab", name="Steps").click()
    await row(page, "s198").click()
    drawer = page.get_by_role("complementary", name="Details")
    await drawer.get_by_role("button", name="Move down").click()
    await is_version(page, 2)
    assert (await order(page))[-2:] == ["s199", "s198"]


async def test_there_are_no_barriers(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    plan = await weld(server)
    for view in ("steps", "graph", "versions", "origin"):
        page = await opened(pages, server, plan, f"?view={view}&step=step_3")
        await page.get_by_role("slider").wait_for()
        await no_barriers(page)


async def test_a_phone_shows_everything_without_scrolling_sideways(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    page = await opened(pages, server, await weld(server), viewport=PHONE)
    await page.get_by_role("slider").wait_for()
    assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    await row(page, "step_1").click()
    await page.get_by_role("complementary", name="Details").get_by_role("button", name="Skip").wait_for()
