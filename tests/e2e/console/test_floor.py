"""The floor: robots on a map and in a list, what people ask of them, and why they do nothing."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.e2e.console.browser import PHONE, Pages, axe, no_barriers, open_screen, until
from tests.e2e.console.halls import hall
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]
REFUSED = "409|422"


async def drawn(page: Any) -> None:
    """The map has been told of positions and has drawn them."""
    await page.locator(".floor-note[data-fresh=true]").wait_for(state="attached")


async def click_on_map(page: Any, x: float, y: float) -> None:
    """Click where the map shows this place of the scene."""
    canvas = page.locator("canvas.map-canvas")
    view = await canvas.evaluate("({dataset}) => [dataset.scale, dataset.originX, dataset.originY].map(Number)")
    await canvas.click(position={"x": view[1] + x * view[0], "y": view[2] - y * view[0]})


async def let_go(page: Any) -> None:
    """Neither pointer nor focus is on anything: what held still for the reader goes on."""
    await page.mouse.move(5, 400)
    await page.evaluate("document.activeElement.blur()")


async def small_hall(up: Start, *, filled: bool = True, speed: float = 20) -> Up:
    """One robot, and pallets to carry if the hall is filled."""
    server = await up(speed=speed)
    await server.call("PUT", "/scenes/small", hall("small", 1, filled=filled))
    await server.call("POST", "/scenes/small/activate")
    return server


def node_of(document: dict[str, Any], worksite: str) -> tuple[float, float]:
    node = next(node for node in document["nodes"] if node["id"] == f"AP_{worksite}")
    return node["x"], node["y"]


async def test_robots_move_on_the_map_and_say_what_they_do(page: Any) -> None:
    await open_screen(page, "/floor")
    await drawn(page)
    assert await page.locator(".floor-list [data-robot]").count() == 10
    canvas = page.locator("canvas.map-canvas")
    picture = await canvas.evaluate("canvas => canvas.toDataURL()")
    other = "before => document.querySelector('canvas.map-canvas').toDataURL() !== before"
    await until(page, other, picture)
    await page.locator(".floor-says", has_text="takes a pallet from").first.wait_for()
    await until(page, "() => Number(document.querySelector('[data-count=completed] dd').textContent) >= 1")


async def test_the_map_is_moved_zoomed_and_fitted_by_keys(page: Any) -> None:
    await open_screen(page, "/floor")
    await drawn(page)
    canvas = page.locator("canvas.map-canvas")
    fitted = await canvas.get_attribute("data-scale")
    await canvas.focus()
    await page.keyboard.press("+")
    assert float(await canvas.get_attribute("data-scale")) > float(fitted)
    before = float(await canvas.get_attribute("data-origin-x"))
    await page.keyboard.press("ArrowRight")
    assert float(await canvas.get_attribute("data-origin-x")) < before
    await page.keyboard.press("0")
    assert await canvas.get_attribute("data-scale") == fitted


async def test_a_robot_is_held_and_released(page: Any, demo: Up) -> None:
    await open_screen(page, "/floor?robot=RB-03")
    drawer = page.locator(".drawer")
    for told in ("Battery", "confidence", "Last seen", "Task"):
        await drawer.get_by_text(told).first.wait_for()
    assert await drawer.get_by_role("button", name="Release").get_attribute("title") == "It is not held."
    await drawer.get_by_role("button", name="Hold").click()
    await drawer.locator("[data-robot-state=held]").wait_for()
    await drawer.locator(".stage-done").first.wait_for()
    assert (await demo.call("GET", "/robots/RB-03"))["held"] is True
    await drawer.get_by_role("button", name="Release", exact=True).press("Enter")
    await drawer.locator("[data-robot-state]:not([data-robot-state=held])").wait_for()


async def test_a_fleet_is_held_and_cleared(page: Any, demo: Up) -> None:
    await open_screen(page, "/floor")
    await drawn(page)
    await page.get_by_text("not an emergency stop").first.wait_for()
    await page.get_by_role("button", name="Hold cross_dock").click()
    clear = page.get_by_role("button", name="Clear cross_dock")
    await clear.wait_for()
    assert (await demo.call("GET", "/state?scene=cross_dock"))["fleets"][0]["held"] is True
    await page.locator(".floor-list [data-robot='RB-10']").click()
    await page.locator(".floor-why .reason", has_text="A person holds the fleet").first.wait_for()
    await clear.press("Enter")
    await page.get_by_role("button", name="Hold cross_dock").wait_for()


async def test_why_not_and_its_advice_followed_by_clicking(page: Any, demo: Up) -> None:
    await demo.call("POST", "/fleet/cross_dock/hold")
    await open_screen(page, "/floor?robot=RB-02")
    why = page.locator(".floor-why")
    await why.get_by_text("A person holds the fleet").first.wait_for()
    await why.get_by_role("button", name="Clear the hold").first.click()
    await page.get_by_role("button", name="Hold cross_dock").wait_for()
    await demo.call("POST", "/robots/RB-02/hold")
    await page.locator(".drawer [data-robot-state=held]").wait_for()
    await let_go(page)
    # By the keyboard: a pointer that presses again at the same place within half a second is taken for a double tap.
    await why.get_by_role("button", name="Release it").first.press("Enter")
    await page.locator(".drawer [data-robot-state]:not([data-robot-state=held])").wait_for()
    assert (await demo.call("GET", "/robots/RB-02"))["held"] is False


async def test_a_worksite_set_by_click_says_whom_it_affects_and_the_forklift_answers(up: Start, pages: Pages) -> None:
    server = await small_hall(up, filled=False)
    page = await pages.new(server)
    await open_screen(page, "/floor")
    await drawn(page)
    document = (await server.call("GET", "/scenes/small"))["document"]
    await click_on_map(page, *node_of(document, "IN_10_01B"))
    drawer = page.locator(".drawer")
    await drawer.get_by_role("heading", name="IN_10_01B").wait_for()
    await drawer.get_by_role("button", name="Filled").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("R-0000 takes a pallet from IN_10_01B").wait_for()
    assert (await server.call("GET", "/worksites/IN_10_01B"))["occupancy"] == "empty"
    await dialog.get_by_role("button", name="Set to filled").click()
    await page.locator(".floor-list [data-robot='R-0000'] .floor-says", has_text="IN_10_01B").wait_for()
    await drawer.locator(".stage-done").wait_for()
    await server.heard("palletPicked")


async def test_an_occupancy_can_be_left_as_it_is(page: Any, demo: Up) -> None:
    await demo.call("POST", "/fleet/cross_dock/hold")
    before = (await demo.call("GET", "/worksites/IN_05"))["occupancy"]
    await open_screen(page, "/floor?worksite=IN_05")
    await page.locator(".drawer").get_by_role("button", name="Unknown").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("Whom this affects").wait_for()
    await dialog.get_by_role("button", name="Back").click()
    assert (await demo.call("GET", "/worksites/IN_05"))["occupancy"] == before


async def loaded_task(server: Up) -> Any:
    """The task of the only robot, its pallet on the fork and the robot held."""
    await server.heard("palletPicked")
    await server.call("POST", "/robots/R-0000/hold")
    [task] = await server.call("GET", "/tasks?open=true")
    assert task["step"] == "drop"
    return task


async def test_a_task_is_aborted_to_a_place_chosen_on_the_map(up: Start, pages: Pages) -> None:
    server = await small_hall(up, speed=2)
    task = await loaded_task(server)
    page = await pages.new(server)
    await open_screen(page, "/floor?robot=R-0000")
    await page.locator(".drawer").get_by_role("button", name="Abort …").click()
    await page.get_by_role("button", name="Choose another place on the map").click()
    await page.get_by_text(f"Choose the place for the pallet of {task['taskId']}").wait_for()
    await drawn(page)
    document = (await server.call("GET", "/scenes/small"))["document"]
    await click_on_map(page, *node_of(document, "OUT_30_01B"))
    await page.get_by_role("dialog").get_by_role("button", name="Drop it at OUT_30_01B").click()
    await page.locator(".drawer .floor-task", has_text="OUT_30_01B").wait_for()
    now = await server.call("GET", f"/tasks/{task['taskId']}")
    assert "OUT_30_01B" in (now["targetId"], now.get("nextTargetId"))


async def test_a_step_done_by_hand_ends_the_task(up: Start, pages: Pages) -> None:
    server = await small_hall(up, speed=2)
    task = await loaded_task(server)
    await server.call("PATCH", "/streams/across", {"enabled": False})
    page = await pages.new(server)
    await open_screen(page, f"/floor?task={task['taskId']}")
    drawer = page.locator(".drawer")
    for name in ("Hand back", "Cancel"):
        button = drawer.get_by_role("button", name=name, exact=True)
        assert "on the fork" in await button.get_attribute("title")
    await drawer.get_by_role("button", name="Done by hand").click()
    await page.get_by_role("dialog").get_by_role("button", name="The drop is done").click()
    await drawer.locator("[data-state=completed]").wait_for()
    assert (await server.call("GET", f"/tasks/{task['taskId']}"))["status"] == "completed"


async def test_a_task_is_cancelled_and_what_is_refused_says_so(up: Start, pages: Pages) -> None:
    pages.expect(REFUSED)
    server = await small_hall(up, speed=1)
    await server.heard("taskCreated")
    page = await pages.new(server)
    await open_screen(page, "/floor?robot=R-0000")
    drawer = page.locator(".drawer")
    await drawer.get_by_role("button", name="Park").click()
    await drawer.get_by_role("alert").get_by_text("It works on").wait_for()
    await server.call("PATCH", "/streams/across", {"enabled": False})
    await drawer.get_by_role("button", name="Cancel", exact=True).click()
    await server.heard("taskUpdated")
    await until(page, "() => document.querySelector('.drawer .floor-task') === null")


async def test_a_silent_robot_stays_and_says_when_it_was_seen(page: Any) -> None:
    await open_screen(page, "/floor?robot=RB-05")
    drawer = page.locator(".drawer")
    await drawer.get_by_text("Simulate a fault").click()
    await drawer.get_by_label("What happens").select_option("offline")
    await drawer.get_by_label("For seconds").fill("600")
    await drawer.get_by_role("button", name="Let it happen").click()
    row = page.locator(".floor-list [data-robot='RB-05'][data-state=offline]")
    await row.get_by_text("Last seen").wait_for()
    await page.locator("[data-count=silent] dd", has_text="1").wait_for()
    assert await page.locator(".floor-list [data-robot]").count() == 10


async def test_what_stands_still_is_told_on_now_with_its_button(page: Any, demo: Up) -> None:
    await demo.call("POST", "/robots/RB-04/hold")
    await open_screen(page, "/")
    stuck = page.locator("[data-stuck='RB-04']")
    await stuck.get_by_text("A person holds").first.wait_for()
    await stuck.get_by_role("button", name="Release it").first.click()
    await page.locator("[data-stuck='RB-04'].floor-gone").wait_for()
    await let_go(page)
    await stuck.wait_for(state="detached")
    assert (await demo.call("GET", "/robots/RB-04"))["held"] is False


async def test_it_works_by_keyboard(page: Any) -> None:
    await open_screen(page, "/floor")
    await drawn(page)
    await page.keyboard.press("/")
    await page.keyboard.type("RB-07")
    await until(page, "() => document.querySelectorAll('.floor-list [data-robot]').length === 1")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.locator(".drawer h2", has_text="RB-07").wait_for()
    await page.keyboard.press("Escape")
    await page.locator(".drawer").wait_for(state="detached")
    assert await page.evaluate("document.activeElement.dataset.robot") == "RB-07"
    await page.keyboard.press("j")
    assert await page.evaluate("document.activeElement.matches('[data-step]')")


async def test_a_thousand_robots_are_drawn(up: Start, pages: Pages) -> None:
    server = await up()
    await server.call("PUT", "/scenes/big", hall("big", 1000))
    await server.call("POST", "/scenes/big/activate")
    page = await pages.new(server, reduced_motion="no-preference")
    await open_screen(page, "/floor")
    await drawn(page)
    assert await page.locator(".floor-list [data-robot]").count() == 1000
    await page.locator("canvas.map-canvas[data-fps]").wait_for()
    await page.get_by_label("Search robots").fill("R-0999")
    await page.locator("[data-robot='R-0999']").click()
    await page.locator(".drawer h2", has_text="R-0999").wait_for()


async def test_a_wall_shows_the_map_alone(page: Any) -> None:
    await open_screen(page, "/floor?wall=yes")
    await drawn(page)
    assert not await page.locator(".floor-list").is_visible()
    await page.get_by_role("button", name="Leave").click()
    await page.locator(".floor-list").wait_for()


async def test_the_list_shows_whole_names_and_reasons_on_a_phone(up: Start, pages: Pages) -> None:
    server = await up("cross_dock", speed=20)
    page = await pages.new(server, viewport=PHONE)
    await server.call("POST", "/robots/RB-02/faults?scene=cross_dock", {"fault": "status5"})
    await server.heard("decisionOpened", robotId="RB-02")
    await open_screen(page, "/floor")
    row = page.locator("[data-robot=RB-02][data-state=error]")
    await row.wait_for()
    robot = await server.call("GET", "/robots/RB-02")
    assert robot["says"].removeprefix("RB-02 ") in await row.inner_text()
    cut = await page.locator(".floor-site > span:not(.hidden-text)").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth || one.offsetHeight > 30).map(o => o.textContent)"
    )
    assert cut == []


async def test_a_hall_without_robots_leads_to_its_scene(up: Start, pages: Pages) -> None:
    server = await up()
    await server.call("PUT", "/scenes/bare", hall("bare", 0))
    await server.call("POST", "/scenes/bare/activate")
    page = await pages.new(server)
    await open_screen(page, "/floor")
    await page.get_by_role("link", name="Add robots to the scene").click()
    await page.wait_for_url("**/scenes/bare")


async def test_a_viewer_is_told_why_nothing_can_be_asked(up: Start, pages: Pages) -> None:
    server = await up("cross_dock", tokens={"vic": "viewer"})
    page = await pages.new(server, who="vic")
    await open_screen(page, "/floor?robot=RB-01")
    hold = page.locator(".drawer").get_by_role("button", name="Hold", exact=True)
    assert "operator" in await hold.get_attribute("title")
    await page.goto("/floor?worksite=IN_01")
    await page.locator(".drawer").get_by_text("this needs the role operator").wait_for()


async def test_nothing_bars_the_way(page: Any) -> None:
    for path in ("/floor", "/floor?robot=RB-01", "/floor?worksite=IN_01"):
        await open_screen(page, path)
        await drawn(page)
        await no_barriers(page)


async def test_it_fits_a_phone(demo: Up, pages: Pages) -> None:
    page = await pages.new(demo, viewport=PHONE, has_touch=True)
    await open_screen(page, "/floor")
    await drawn(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    await page.locator(".floor-list [data-robot='RB-02']").tap()
    await page.locator(".drawer h2", has_text="RB-02").wait_for()
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    await axe(page)
