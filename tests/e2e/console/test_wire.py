"""From the browser to a forklift on the wire: a pallet reported, a pick that fails and is done again, a hold.

The forklift is another process and speaks Robokit over TCP. It does the same for every kind of stream; two of them are
looked at each time, the others in the long tests.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.e2e.console.browser import Pages, axe, open_screen
from tests.e2e.console.serving import Up
from tests.e2e.console.test_floor import click_on_map, drawn
from tests.e2e.console.wire import ROBOT, Wired, small_hall

Start = Callable[..., Awaitable[Up]]
Wire = Callable[..., Awaitable[tuple[Up, Wired]]]
BLIND = {"atS": 0.0, "robotId": ROBOT, "fault": "not_recognised"}
"""Its first pick fails: it does not see the pallet."""


@dataclass(frozen=True)
class Kind:
    """A kind of stream: what it is told beside its places, where people see pallets, and where those are taken."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    seen: tuple[str, ...] = ("PICK_1",)
    brought: tuple[str, ...] = ("DROP_1",)
    tasks: int = 1
    stops: int = 2
    """How many picks and drops a task has."""


KINDS = [
    Kind("pickDrop"),
    Kind("batch", {"batchSize": 2}, ("PICK_1", "PICK_2"), ("DROP_1", "DROP_2"), stops=4),
    Kind("roundRobin", {}, ("PICK_1", "PICK_2"), ("DROP_1", "DROP_2"), 2),
    Kind("replenish", {"threshold": 1}, ("PICK_2",)),
    Kind("buffered", {"bufferGroup": ["BUFFER"]}, tasks=2),
    Kind("shuttle", {"pickGroup": ["PICK_2"], "dropGroup": ["DROP_2"]}, ("PICK_2",), ("DROP_2",)),
]
IN_THE_GATE = ("pickDrop",)
WORKS = ("moving_to_pick", "picking", "moving_to_drop")


@pytest_asyncio.fixture(loop_scope="session")
async def wired(up: Start, tmp_path: Path) -> AsyncIterator[Wire]:
    """`server, robots = await wired(small_hall(…), BLIND)`: robots behind real ports, with faults of their own."""
    halls: list[Wired] = []

    async def start(scene: dict[str, Any], *faults: dict[str, Any]) -> tuple[Up, Wired]:
        halls.append(Wired(tmp_path / f"robots-{len(halls)}", scene, faults))
        server, linked = await asyncio.gather(up(), halls[-1].start())
        await server.call("PUT", f"/scenes/{scene['name']}", linked)
        await server.call("POST", f"/scenes/{scene['name']}/activate")
        return server, halls[-1]

    yield start
    for hall in halls:
        await hall.stop()


async def report_pallet(page: Any, scene: dict[str, Any], place: str) -> None:
    """Say by clicking that a pallet stands there."""
    node = next(one for one in scene["nodes"] if one["id"] == f"AP_{place}")
    await click_on_map(page, node["x"], node["y"])
    drawer = page.locator(".drawer")
    await drawer.get_by_role("heading", name=place).wait_for()
    await drawer.get_by_role("button", name="Filled").click()
    await page.get_by_role("dialog").get_by_role("button", name="Set to filled").click()
    await drawer.locator(".stage-done").wait_for()


async def redo(page: Any, server: Up) -> None:
    """The pick has failed, in the robot's own words: have it done again."""
    task = str((await server.heard("decisionOpened"))["about"]["taskId"])
    await page.locator("nav").get_by_role("link", name="Inbox").click()
    card = page.locator("article.decision").filter(has_text=task)
    await card.get_by_text(f"{ROBOT} did not recognise the pallet").first.wait_for()
    await card.get_by_role("button", name="Redo").click()
    await server.heard("decisionAnswered")
    await page.locator("nav").get_by_role("link", name="Floor").click()


async def hold_at_work(page: Any, kind: Kind) -> None:
    """Held while it works: it stands, the screen says so, and at which stop over which line; then it goes on."""
    works = ", ".join(f".floor-list [data-robot='{ROBOT}'][data-state={state}]" for state in WORKS)
    await page.locator(works).click()
    drawer = page.locator(".drawer")
    await drawer.get_by_role("button", name="Hold", exact=True).click()
    await drawer.locator("[data-robot-state=held]", has_text="is held by a person").wait_for()
    await drawer.locator(".stage-done").first.wait_for()
    assert await drawer.locator(".floor-stops li").count() == kind.stops
    await drawer.locator(".floor-link[data-answers=true]").get_by_text("beforehand (this server)").wait_for()
    assert await drawer.locator("[data-round=There]").count() == int(kind.name == "shuttle")
    await axe(page, ".drawer")
    await drawer.get_by_role("button", name="Release", exact=True).press("Enter")
    await drawer.locator("[data-robot-state]:not([data-robot-state=held])").wait_for()


@pytest.mark.parametrize(
    "kind",
    [pytest.param(one, id=one.name, marks=() if one.name in IN_THE_GATE else pytest.mark.soak) for one in KINDS],
)
async def test_a_pallet_reported_by_click_is_brought_over_the_wire(wired: Wire, pages: Pages, kind: Kind) -> None:
    scene = small_hall(kind.name, **kind.params)
    server, robots = await wired(scene, BLIND)
    page = await pages.new(server)
    await open_screen(page, "/floor")
    await drawn(page)
    for place in kind.seen:
        await report_pallet(page, scene, place)
    await redo(page, server)
    await hold_at_work(page, kind)
    await page.locator("[data-count=completed] dd", has_text=str(kind.tasks)).wait_for()
    for place in kind.brought:
        await page.locator(f".floor-sites [data-worksite={place}][data-occupancy=filled]").wait_for()
    for place in kind.seen:
        await page.locator(f".floor-sites [data-worksite={place}][data-occupancy=empty]").wait_for()
    sent = await server.call("GET", "/events?before=1000000&limit=1000&kinds=palletPicked")
    assert {event["about"]["robotId"] for event in sent} == {ROBOT}
    await robots.stop()
    await page.locator(".floor-link[data-answers=false]").get_by_text("nothing listens on this port").wait_for()
