"""Every verb of robots and tasks that the other tests of the floor do not press."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.e2e.console.browser import Pages, open_screen
from tests.e2e.console.halls import hall
from tests.e2e.console.serving import Up

Start = Callable[..., Awaitable[Up]]


async def hall_with(up: Start, *, filled: bool, speed: float = 20) -> Up:
    """One robot, and a charger not far from it."""
    server = await up(speed=speed)
    document = hall("small", 1, filled=filled)
    document["worksites"].append({"worksiteId": "CHARGER", "worksiteType": "charger", "entryNodeId": "N1_1"})
    document["robots"][0]["battery"] = 0.5
    await server.call("PUT", "/scenes/small", document)
    await server.call("POST", "/scenes/small/activate")
    return server


async def failed_task(server: Up) -> str:
    """A task whose robot reported a fault on its way to the pallet: it is held, and a person is asked."""
    await server.heard("commandSent")
    await server.call("POST", "/robots/R-0000/faults", {"fault": "status5"})
    asked = await server.heard("decisionOpened")
    return str(asked["about"]["taskId"])


async def test_a_robot_is_taken_out_of_service_and_put_back(up: Start, pages: Pages) -> None:
    server = await hall_with(up, filled=False)
    page = await pages.new(server)
    await open_screen(page, "/floor?robot=R-0000")
    drawer = page.locator(".drawer")
    await drawer.get_by_role("button", name="Out of service").click()
    await drawer.get_by_role("button", name="In service", exact=True).wait_for()
    assert (await server.call("GET", "/robots/R-0000"))["outOfService"] is True
    await drawer.get_by_role("button", name="In service", exact=True).press("Enter")
    await drawer.get_by_role("button", name="Out of service").wait_for()
    assert (await server.call("GET", "/robots/R-0000"))["outOfService"] is False


async def test_an_idle_robot_charges_when_it_is_asked(up: Start, pages: Pages) -> None:
    server = await hall_with(up, filled=False, speed=2)
    page = await pages.new(server)
    await open_screen(page, "/floor?robot=R-0000")
    before = (await server.call("GET", "/state"))["seq"]
    await page.locator(".drawer").get_by_role("button", name="Charge", exact=True).click()
    told = await server.heard("robotUpdated", after=before, robotId="R-0000")
    assert told["data"]["phase"] == "charging"


@pytest.mark.parametrize("verb", ["Redo", "Resume", "Hand back"])
async def test_a_held_task_goes_on_as_it_is_told(up: Start, pages: Pages, verb: str) -> None:
    server = await hall_with(up, filled=True, speed=1)
    task = await failed_task(server)
    page = await pages.new(server)
    await open_screen(page, f"/floor?task={task}")
    drawer = page.locator(".drawer")
    await drawer.locator("[data-state=held]").first.wait_for()
    await server.call("PATCH", "/streams/across", {"enabled": False})
    await drawer.get_by_role("button", name=verb, exact=True).click()
    await drawer.locator("[data-state=held]").first.wait_for(state="detached")
    now: Any = await server.call("GET", f"/tasks/{task}")
    assert now["status"] != "held"


async def test_a_frozen_fleet_leads_to_the_question_that_is_open(up: Start, pages: Pages) -> None:
    server = await hall_with(up, filled=True, speed=1)
    task = await failed_task(server)
    page = await pages.new(server)
    await open_screen(page, "/")
    stuck = page.locator(".floor-stuck li").filter(has_text="R-0000")
    await stuck.first.wait_for()
    asked = page.locator("article.decision").filter(has_text=task)
    await asked.get_by_role("button", name="Done by hand").click()
    await asked.get_by_text("the present one when left out").wait_for()
    await asked.get_by_role("button", name="Redo").click()
    await server.heard("decisionAnswered")


async def test_what_is_on_the_fork_is_said_by_a_person(up: Start, pages: Pages) -> None:
    server = await hall_with(up, filled=False)
    page = await pages.new(server)
    await open_screen(page, "/floor?robot=R-0000")
    drawer = page.locator(".drawer")
    await drawer.get_by_text("Say what is on the fork").click()
    await drawer.get_by_role("button", name="A pallet is on it").click()
    # By the keyboard: a pointer that presses again at the same place within half a second is taken for a double tap.
    await drawer.get_by_role("button", name="Unloaded by hand").press("Enter")
    await page.get_by_role("dialog").get_by_role("button", name="The pallet is off").press("Enter")
    await drawer.get_by_role("button", name="It is empty").wait_for(state="detached")
    assert (await server.call("GET", "/robots/R-0000"))["loadState"] == "empty"
