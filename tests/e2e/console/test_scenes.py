"""Streams and scenes: streams steered and tried out, a scene's text checked as one types, and made live on purpose."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import yaml
from tests.conftest import REPOSITORY
from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen, until
from tests.e2e.console.serving import Up

from beforehand.app.examples import find_document

Start = Callable[..., Awaitable[Up]]
TINY = "kind: cell\nname: tiny\npositions: [{name: Home, x: 0, y: 0, role: home}]\nmoves: []\nroutines: []\n"


def text(page: Any) -> Any:
    return page.get_by_label("YAML or JSON")


async def retype(page: Any, old: str, new: str) -> None:
    await text(page).fill((await text(page).input_value()).replace(old, new, 1))


async def press(page: Any, label: str, yes: str) -> None:
    """A button that asks first, and its yes."""
    await page.get_by_role("button", name=label, exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name=yes, exact=True).click()


async def test_a_stream_says_its_candidates_or_why_none_and_is_steered(up: Start, pages: Pages) -> None:
    server = await up("cross_dock")
    page = await pages.new(server)
    await open_screen(page, "/scenes")
    line = page.locator(".streams-line").filter(has_text="full_out")
    await line.locator(".streams-now :is(.chip, p)").first.wait_for()
    await line.get_by_role("button", name="Full pallets out").click()
    await page.wait_for_url("**/scenes?stream=full_out&scene=cross_dock")
    drawer = page.get_by_label("Details", exact=True)

    await drawer.get_by_role("button", name="Disable").click()
    await drawer.get_by_role("button", name="Enable", exact=True).wait_for()
    await drawer.get_by_text("It is switched off.").first.wait_for()
    assert not (await server.call("GET", "/streams/full_out"))["enabled"]

    await drawer.get_by_label("Priority", exact=True).fill("7")
    await drawer.get_by_role("button", name="Set").click()
    await drawer.get_by_text("Done", exact=True).wait_for()
    assert (await server.call("GET", "/streams/full_out"))["priority"] == 7

    await drawer.get_by_role("button", name="Dry run").click()
    await drawer.locator(".told", has_text="It would start").wait_for()
    assert not (await server.call("GET", "/streams/full_out"))["enabled"]
    await page.keyboard.press("Escape")
    await drawer.wait_for(state="detached")
    assert "stream" not in page.url


async def test_a_stream_is_opened_and_enabled_by_keyboard(up: Start, pages: Pages) -> None:
    server = await up("cross_dock")
    await server.call("PATCH", "/streams/empties_back", {"enabled": False})
    page = await pages.new(server)
    await open_screen(page, "/scenes/cross_dock")
    await page.locator(".streams-open").filter(has_text="empties_back").focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Details", exact=True).get_by_role("button", name="Enable", exact=True).focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Details", exact=True).get_by_role("button", name="Disable").wait_for()
    assert (await server.call("GET", "/streams/empties_back"))["enabled"]


async def test_a_scene_is_checked_as_one_types_and_a_problem_leads_to_its_line(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    page = await pages.new(server)
    await open_screen(page, "/scenes/weld_star")
    await page.get_by_text("It can be saved").wait_for()
    await page.get_by_role("heading", name="Warnings").wait_for()
    await retype(page, "stand: Tool_Weld_Position", "stand: Nowhere")
    await page.get_by_role("heading", name="Problems").wait_for()
    jump = page.get_by_role("button", name="Line").filter(has_text="tools[0]")
    number = int(str(await jump.text_content()).split()[1])
    lines = (await text(page).input_value()).split("\n")
    assert "Nowhere" in lines[number - 1]
    assert await page.locator(".scenes-gutter .error").first.text_content() == str(number)
    await jump.click()
    picked = "field => field.value.slice(field.selectionStart, field.selectionEnd)"
    assert await text(page).evaluate(picked) == lines[number - 1]
    await page.locator(".diff-line.added", has_text="Nowhere").wait_for()
    save = page.get_by_role("button", name="Save", exact=True)
    assert await save.get_attribute("aria-disabled") == "true"
    assert "problems" in str(await save.get_attribute("title"))
    await page.get_by_role("button", name="Back to what is saved").click()
    await page.get_by_text("This is what is saved.").wait_for()
    seq = (await server.call("GET", "/health"))["seq"]
    kinds = {event["kind"] for event in await server.call("GET", f"/events?before={seq + 1}&limit=50")}
    assert "requestDone" not in kinds


async def test_a_live_scene_saved_is_not_yet_active_and_is_activated_on_purpose(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    page = await pages.new(server)
    await open_screen(page, "/scenes/weld_star")
    await retype(page, "name: Pos_4, x: 8", "name: Pos_4, x: 9")
    await page.locator(".diff-line.removed", has_text="x: 8").wait_for()
    await page.locator(".scenes-save button[aria-disabled=false]").click()
    await page.get_by_text("Saved since, not yet active").wait_for()
    await page.get_by_text("What is saved is not what is live").wait_for()
    await page.get_by_role("button", name="Activate again").click()
    dialog = page.get_by_role("dialog")
    await dialog.locator(".diff-line.added", has_text="x: 9").wait_for()
    await dialog.get_by_role("button", name="Activate", exact=True).click()
    await page.get_by_text("Saved since, not yet active").wait_for(state="detached")
    assert "changed" not in await server.call("GET", "/scenes/weld_star")


async def test_a_new_scene_is_written_saved_made_live_and_let_rest(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    page = await pages.new(server)
    await open_screen(page, "/scenes")
    await page.get_by_role("link", name="New scene").click()
    await page.get_by_label("Start from").select_option("copy:weld_star")
    await until(page, "() => document.querySelector('textarea')?.value.includes('name: weld_star_copy')")
    await text(page).fill(TINY.replace("tiny", "weld_star"))
    await page.get_by_text("There is a scene called weld_star already").first.wait_for()
    await text(page).fill(TINY)
    await page.locator(".scenes-save button[aria-disabled=false]").first.click()
    await page.wait_for_url("**/scenes/tiny")
    await page.get_by_text("Not live", exact=True).wait_for()
    assert not (await server.call("GET", "/scenes/tiny"))["active"]
    await press(page, "Activate", "Activate")
    await page.locator("main").get_by_text("Live", exact=True).wait_for()
    await press(page, "Deactivate", "Deactivate")
    await page.get_by_text("Not live", exact=True).wait_for()


async def test_there_is_no_yes_before_it_is_read_what_would_be_activated(up: Start, pages: Pages) -> None:
    server = await up("weld_star")
    await server.call("PUT", "/scenes/tiny", TINY)
    page = await pages.new(server)
    await open_screen(page, "/scenes/tiny")
    await page.get_by_text("It can be saved").wait_for()
    let_go = asyncio.Event()

    async def slowly(route: Any) -> None:
        await let_go.wait()
        await route.continue_()

    await page.route("**/scenes/check", slowly)
    await page.get_by_role("button", name="Activate", exact=True).click()
    yes = page.get_by_role("dialog").get_by_role("button", name="Activate", exact=True)
    assert await yes.get_attribute("aria-disabled") == "true"
    await yes.click(force=True)
    assert not (await server.call("GET", "/scenes/tiny"))["active"]
    let_go.set()
    await yes.click()
    await page.locator("main").get_by_text("Live", exact=True).wait_for()


async def test_refusals_are_shown_as_they_were_said(up: Start, pages: Pages) -> None:
    pages.expect("409")
    server = await up("weld_star")
    plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld at Pos_1"})
    await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1})
    page = await pages.new(server)
    await open_screen(page, "/scenes/weld_star")
    await press(page, "Deactivate", "Deactivate")
    await page.get_by_role("alert").get_by_text("works in weld_star and has not ended").wait_for()
    await page.get_by_text("Let it end, or cancel it").wait_for()

    await server.call("PUT", "/scenes/tiny", TINY)
    shared = (
        "RB-01 of tiny is the machine that hall knows as RB-07 (host x). A machine is in one active scene at a time."
    )
    body = {
        "type": "",
        "title": "",
        "status": 409,
        "detail": shared,
        "code": "machine.shared",
        "hint": "Deactivate hall.",
    }
    await page.route("**/scenes/tiny/activate", lambda route: route.fulfill(status=409, json=body))
    await open_screen(page, "/scenes/tiny")
    await press(page, "Activate", "Activate")
    await page.get_by_role("alert").get_by_text(shared).wait_for()
    await page.get_by_text("Deactivate hall.").wait_for()


async def test_tab_indents_and_escape_lets_the_keyboard_leave(up: Start, pages: Pages) -> None:
    page = await pages.new(await up("weld_star"))
    await open_screen(page, "/scenes/weld_star")
    await text(page).focus()
    await page.keyboard.press("Control+Home")
    await page.keyboard.press("Tab")
    assert (await text(page).input_value()).startswith("  kind: cell")
    await page.keyboard.press("Shift+Tab")
    assert (await text(page).input_value()).startswith("kind: cell")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Tab")
    assert await page.evaluate("() => document.activeElement.tagName") != "TEXTAREA"


async def test_a_viewer_reads_and_is_told_why_nothing_can_be_changed(up: Start, pages: Pages) -> None:
    server = await up("cross_dock", tokens={"vera": "viewer", "ann": "admin"})
    page = await pages.new(server, who="vera")
    await open_screen(page, "/scenes?stream=full_out")
    disable = page.get_by_label("Details", exact=True).get_by_role("button", name="Disable")
    assert "needs the role operator" in str(await disable.get_attribute("title"))
    await open_screen(page, "/scenes/cross_dock")
    await text(page).wait_for()
    stop = page.get_by_role("button", name="Deactivate", exact=True)
    assert "needs the role admin" in str(await stop.get_attribute("title"))


async def test_nothing_is_in_the_way_of_anybody(up: Start, pages: Pages) -> None:
    page = await pages.new(await up("weld_star", "cross_dock"))
    await open_screen(page, "/scenes?stream=full_out&scene=cross_dock")
    await page.get_by_label("Details", exact=True).get_by_role("heading", name="Now").wait_for()
    await no_barriers(page)
    await open_screen(page, "/scenes/weld_star")
    await page.get_by_text("It can be saved").wait_for()
    await no_barriers(page)
    await open_screen(page, "/scenes?new=cell")
    await page.get_by_role("heading", name="Problems").wait_for()
    await no_barriers(page)
    await page.set_viewport_size(PHONE)
    await open_screen(page, "/scenes/weld_star")
    await page.get_by_text("It can be saved").wait_for()
    assert await page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    await no_barriers(page)


class Strangers(Up):
    """A server beside a plug-in that goes wrong, which is installed and not forked."""

    def _begin(self) -> "subprocess.Popen[str]":
        packages = self.home.parent / "packages"
        told = packages / "strangers-1.0.dist-info"
        if not told.exists():
            shutil.copytree(REPOSITORY / "tests" / "fixtures" / "strangers", packages)
            told.mkdir()
            (told / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n", encoding="utf-8")
            points = "[beforehand.plugins]\nstrangers = strangers:register\n"
            (told / "entry_points.txt").write_text(points, encoding="utf-8")
        clean = {key: value for key, value in os.environ.items() if not key.startswith("BEFOREHAND_")}
        path = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH")]))
        with self.log.open("a", encoding="utf-8") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "beforehand", *self.command, "--port", str(self.port)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self.workspace,
                env=clean | {"PYTHONPATH": path, "STRANGERS": "misbehave"},
            )


async def test_a_scene_that_is_active_and_not_live_says_why_and_is_let_rest(
    built: None, pages: Pages, tmp_path: Path
) -> None:
    document = find_document("line_pick_drop")
    document["robots"][0]["link"] = "breaks"
    (tmp_path / "line.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    server = Strangers(tmp_path / "strangers", str(tmp_path / "line.yaml"))
    try:
        await server.start()
        page = await pages.new(server)
        await open_screen(page, "/scenes")
        card = page.locator(".scenes-card")
        await card.get_by_text("Active, not live").wait_for()
        says = "line_pick_drop is active and not live: The robot link breaks failed: TypeError: the wire is cut."
        await card.get_by_text(says).wait_for()
        await no_barriers(page)
        pages.expect("409")
        await press(page, "Try again", "Activate")
        await page.get_by_role("alert").get_by_text("TypeError: the wire is cut.").first.wait_for()
        await open_screen(page, "/inbox")
        asked = page.get_by_role("article", name="line_pick_drop is active and not live")
        await asked.get_by_text(says).wait_for()
        await asked.get_by_role("button", name="Deactivate").click()
        await asked.locator("form").get_by_role("button", name="Deactivate").click()
        await asked.get_by_text("Answered: Deactivate").wait_for()
        await open_screen(page, "/scenes")
        await card.get_by_text("Not live", exact=True).wait_for()
        assert (await server.call("GET", "/scenes/line_pick_drop"))["active"] is False
    finally:
        await server.stop()
