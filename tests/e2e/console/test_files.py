"""Files that scenes name: kept by upload, refused with every problem, and who names which."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest_asyncio
from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen
from tests.e2e.console.serving import Up
from tests.e2e.console.wire import small_hall

Start = Callable[..., Awaitable[Up]]
PLT = {"length": 1.2, "width": 0.8}


@pytest_asyncio.fixture(loop_scope="session")
async def hall(up: Start) -> Up:
    """A scene that names a recognition file which nobody has kept yet."""
    server = await up(tokens={"root": "admin", "vic": "viewer"})
    await server.call("PUT", "/scenes/wired", small_hall("pickDrop"), who="root")
    return server


def chosen(name: str, document: Any) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": json.dumps(document).encode()}


async def test_a_file_that_a_scene_names_is_uploaded(hall: Up, pages: Pages) -> None:
    pages.expect("422")
    page = await pages.new(hall, who="root")
    await open_screen(page, "/scenes/wired")
    line = page.locator("[data-file='plt/p0001.plt']")
    await line.get_by_text("Not kept").wait_for()
    upload = page.get_by_label("Upload a file")
    await upload.set_input_files(chosen("p0001.plt", {"length": -1}))
    assert await page.get_by_label("Scenes call it").input_value() == "plt/p0001.plt"
    await page.get_by_role("button", name="Keep it").click()
    await page.get_by_role("alert").get_by_text("-1 is impossible: a length is a number above 0.").first.wait_for()
    await upload.set_input_files(chosen("p0001.plt", PLT))
    await page.get_by_role("button", name="Keep it").press("Enter")
    await line.get_by_text("recognition file").wait_for()
    await line.get_by_text("What is in it").click()
    await line.get_by_text("1.2").wait_for()
    assert [one["name"] for one in await hall.call("GET", "/files", who="root")] == ["plt/p0001.plt"]


async def test_who_names_what_and_what_is_wrong_by_now_is_told(hall: Up, pages: Pages) -> None:
    await hall.call("PUT", "/files/plt/other.plt", PLT, who="root")
    page = await pages.new(hall, who="vic")
    await open_screen(page, "/scenes")
    files = page.locator(".files")
    await files.locator("[data-file='plt/p0001.plt']").get_by_role("link", name="wired").wait_for()
    await files.locator("[data-file='plt/other.plt']").get_by_text("No scene names it.").wait_for()
    await files.get_by_text("streams[0].params.pickParams.recfile").wait_for()
    assert await page.get_by_label("Upload a file").is_disabled()
    await files.get_by_text("this needs the role admin").first.wait_for()
    await no_barriers(page)
    await page.set_viewport_size(PHONE)
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
