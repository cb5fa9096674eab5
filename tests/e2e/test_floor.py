"""A person watches the floor and the cell on the first page; what is asked of machines is followed to its end."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beforehand.app.settings import load_settings
from beforehand.app.tokens import Tokens

pytestmark = [pytest.mark.needs("chromium", "playwright"), pytest.mark.xdist_group("browser")]

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
RUN = """
import asyncio, sys
from beforehand.app.logs import configure_logs
from beforehand.app.settings import load_settings
from beforehand.server.serve import serve

home, token, *scenes = sys.argv[1:]
flags = {"home": home, "workspace": home, "port": 0, "speed": 20, "token": token or None}
configure_logs()
asyncio.run(serve(load_settings(flags, {}), scenes=scenes, ready=lambda url: print(url, flush=True)))
"""
UNTIL = """([holds, given]) => new Promise((done, giveUp) => {
    setTimeout(() => giveUp(new Error("it never held")), 30000);
    const look = () => (holds(given) ? done() : requestAnimationFrame(look));
    look();
})"""
PLACES = "rows => Object.fromEntries(rows.map(row => [row.dataset.robot, `${row.dataset.x} ${row.dataset.y}`]))"


class Floor:
    """A server with simulated machines, twenty times as fast as real ones."""

    def __init__(self, folder: Path, *scenes: str, token: str = "") -> None:
        self.token = token
        (folder / "home").mkdir()
        settings = load_settings({"home": str(folder / "home")}, {})
        self.looker = Tokens(settings).add("looker", "viewer", 0) if token else ""
        with (folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", RUN, str(folder / "home"), token, *scenes],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=folder,
            )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        assert self.url, (folder / "log").read_text()

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=60)

    def call(self, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())


@pytest.fixture
def floor(tmp_path: Path) -> Iterator[Floor]:
    server = Floor(tmp_path, "cross_dock", "weld_star")
    yield server
    server.stop()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Floor]:
    server = Floor(tmp_path, "cross_dock", token="the admin's")
    yield server
    server.stop()


@pytest.fixture
def page(executable: Callable[[str], Path]) -> Iterator[Any]:
    """A page in Chromium; whatever it complains about on its console fails the test."""
    from playwright.sync_api import sync_playwright

    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(executable("chromium")), args=FLAGS)
        page: Any = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.complaints = complaints
        yield page
        browser.close()
    assert complaints == []


def until(page: Any, holds: str, given: Any = None) -> None:
    """Wait for what a function of the page's says; the page's own policy lets no text be evaluated there."""
    page.evaluate(f"given => ({UNTIL})([{holds}, given])", given)


def until_moved(page: Any, before: dict[str, str], robots: int = 1) -> None:
    """Wait until so many robots are elsewhere."""
    rows = f"({PLACES})([...document.querySelectorAll('[data-robot]')])"
    elsewhere = f"Object.entries({rows}).filter(([name, place]) => before[name] !== place)"
    until(page, f"([before, robots]) => {elsewhere}.length >= robots", [before, robots])


def frames(page: Any, more: int) -> None:
    """Wait until the map has been told of positions so many times more."""
    canvas = page.locator("[data-floor] canvas")
    canvas.and_(page.locator("[data-frames]")).wait_for()
    wanted = int(canvas.get_attribute("data-frames")) + more
    until(page, "wanted => Number(document.querySelector('[data-floor] canvas').dataset.frames) >= wanted", wanted)


def places(page: Any) -> dict[str, str]:
    found: dict[str, str] = page.locator("[data-robot]").evaluate_all(PLACES)
    return found


def drawn(page: Any) -> str:
    """What is on the canvas now."""
    shown: str = page.locator("[data-floor] canvas").evaluate("canvas => canvas.toDataURL()")
    return shown


def test_robots_move_on_the_map_and_say_what_they_do(floor: Floor, page: Any) -> None:
    page.goto(floor.url)
    frames(page, 1)
    assert page.locator("[data-robot]").count() == 10
    before, picture = places(page), drawn(page)
    row = page.locator("[data-robot]", has_text="takes a pallet from").first
    row.get_by_text("drives to").wait_for()
    until_moved(page, before, robots=3)
    assert drawn(page) != picture
    until(page, "() => Number(document.querySelector('[data-count=completed] dd').textContent) >= 1")
    assert page.locator("[data-site='OUT_01']").get_attribute("data-occupancy") in ("empty", "filled", "reserved")
    page.locator(".other-work", has_text="under way in cross_dock").wait_for()
    assert page.get_by_text("Nothing runs.").count() == 0


def test_holding_all_stops_the_robots_and_clearing_lets_them_go_on(floor: Floor, page: Any) -> None:
    page.goto(floor.url)
    frames(page, 2)
    page.get_by_text("This is not an emergency stop.").wait_for()
    assert page.get_by_role("button", name="Clear").is_disabled()
    page.get_by_role("button", name="Hold all").click()
    page.locator(".floor-state .mark", has_text="Held").wait_for()
    page.locator("[data-asked=fleet][data-stage=done]", has_text="nothing moves").wait_for()
    assert floor.call("/state?scene=cross_dock")["fleets"][0]["held"] is True
    standing, tasks = places(page), floor.call("/tasks")
    frames(page, 4)
    assert places(page) == standing
    assert {task["taskId"] for task in floor.call("/tasks")} == {task["taskId"] for task in tasks}
    assert int(page.locator("[data-count=held] dd").inner_text()) > 0

    page.get_by_role("button", name="Clear").click()
    page.locator("[data-asked=fleet][data-stage=done]", has_text="work goes on").wait_for()
    until_moved(page, standing)


def click_on_map(page: Any, x: float, y: float) -> None:
    """Click where the map shows this place of the scene."""
    canvas = page.locator("[data-floor] canvas")
    view = canvas.evaluate("({dataset}) => [dataset.scale, dataset.originX, dataset.originY].map(Number)")
    canvas.click(position={"x": view[1] + x * view[0], "y": view[2] - y * view[0]})


def test_a_robot_clicked_on_the_map_says_why(floor: Floor, page: Any) -> None:
    floor.call("/fleet/cross_dock/hold", {})
    page.goto(floor.url)
    frames(page, 3)
    spot = places(page)["RB-10"].split()
    click_on_map(page, *map(float, spot))
    page.locator(".floor-panel h4", has_text="RB-10").wait_for()
    page.locator(".panel-why li", has_text="A person holds the fleet").first.wait_for()


def test_a_robot_says_why_and_does_what_it_is_asked(floor: Floor, page: Any) -> None:
    page.goto(floor.url)
    frames(page, 1)
    row = page.locator("[data-robot='RB-03']")
    row.focus()
    row.press("Enter")
    panel = page.locator(".floor-panel")
    panel.locator("h4", has_text="RB-03").wait_for()
    panel.locator(".panel-why li").first.wait_for()
    for told in ("Battery", "Load", "confidence", "Last seen", "Task"):
        assert told in panel.inner_text()
    panel.get_by_role("button", name="Hold").click()
    panel.locator(".asked[data-stage=done]", has_text="RB-03 stands").wait_for()
    panel.locator(".panel-state", has_text="Held").wait_for()
    panel.locator(".panel-why li", has_text="A person holds RB-03").wait_for()
    panel.get_by_role("button", name="Release").click()
    panel.locator(".asked[data-stage=done]", has_text="RB-03 goes on").wait_for()
    panel.press("Escape")
    row.wait_for()
    assert page.evaluate("document.activeElement.dataset.robot") == "RB-03"


def test_what_is_refused_says_so_where_it_was_asked(floor: Floor, page: Any) -> None:
    page.goto(floor.url)
    frames(page, 1)
    floor.call("/fleet/cross_dock/hold", {})
    busy = floor.call("/tasks")[0]["robotId"]
    page.locator(f"[data-robot='{busy}']").click()
    with page.expect_response(lambda answer: answer.url.endswith("/park?scene=cross_dock")) as answer:
        page.locator(".floor-panel").get_by_role("button", name="Park").click()
    assert answer.value.status == 409
    page.locator(".floor-panel .asked[data-stage=refused]", has_text="It works on").wait_for()
    page.complaints.clear()  # a browser tells every refusal on its console


def test_a_worksite_clicked_on_the_map_can_be_set(floor: Floor, page: Any) -> None:
    page.goto(floor.url)
    frames(page, 1)
    floor.call("/fleet/cross_dock/hold", {})
    page.locator("[data-floor][data-held=yes]").wait_for()
    crowded = {robot["nodeId"].removeprefix("AP_") for robot in floor.call("/robots?scene=cross_dock")}
    free = next(
        site["worksiteId"]
        for site in floor.call("/worksites?scene=cross_dock")
        if site["occupancy"] == "filled" and site["worksiteType"] == "buffer" and site["worksiteId"] not in crowded
    )
    nodes = {node["id"]: node for node in floor.call("/scenes/cross_dock")["document"]["nodes"]}
    page.locator(f"[data-site='{free}'][data-occupancy=filled]").wait_for()
    click_on_map(page, nodes[f"AP_{free}"]["x"], nodes[f"AP_{free}"]["y"])
    panel = page.locator(".floor-panel")
    panel.get_by_text("a pallet").wait_for()
    panel.get_by_role("button", name="Unknown").click()
    panel.locator(".asked[data-stage=done]", has_text=f"{free} counts as unknown").wait_for()
    panel.locator("dd", has_text="not known").wait_for()
    assert floor.call(f"/worksites/{free}?scene=cross_dock")["occupancy"] == "unknown"
    panel.get_by_role("button", name="All").click()
    page.locator(f"[data-site='{free}'][data-occupancy=unknown]").wait_for()


def test_a_silent_robot_stays_on_the_map_and_says_when_it_was_seen(floor: Floor, page: Any) -> None:
    page.goto(floor.url)
    frames(page, 1)
    floor.call("/robots/RB-05/faults?scene=cross_dock", {"fault": "offline"})
    row = page.locator("[data-robot='RB-05'][data-phase=silent]")
    row.wait_for()
    row.get_by_text("last seen").wait_for()
    page.locator("[data-count=silent] dd", has_text="1").wait_for()
    assert page.locator("[data-robot]").count() == 10


def test_approving_the_weld_plan_moves_the_robot_of_the_cell(floor: Floor, page: Any) -> None:
    page.goto(floor.url)
    cell = page.locator("[data-cell=weld_star]")
    cell.and_(page.locator("[data-position=Home]")).wait_for()
    assert cell.locator(".move.ahead").count() == 0
    floor.call("/plans", {"scene": "weld_star", "text": "weld at position 2"})
    cell.locator(".move.ahead").first.wait_for()
    cell.get_by_text("8 steps").wait_for()
    at_home = cell.locator(".robot-here").evaluate("marker => [marker.dataset.x, marker.dataset.y]")

    page.locator(".decision", has_text="weld at position 2").get_by_role("button", name="Start").click()
    page.locator("[data-cell=weld_star][data-position=Pos_2][data-tool=Welder]").wait_for()
    assert cell.locator(".robot-here").evaluate("marker => [marker.dataset.x, marker.dataset.y]") != at_home
    page.locator(".run", has_text="weld at position 2").locator("header .mark", has_text="Completed").wait_for()


def test_a_token_that_may_only_look_is_told_why_it_cannot_ask(guarded: Floor, page: Any) -> None:
    page.goto(guarded.url)
    page.get_by_label("Token").fill(guarded.looker)
    page.get_by_role("button", name="Log in").click()
    frames(page, 1)
    hold = page.get_by_role("button", name="Hold all")
    assert hold.is_disabled()
    assert "operator" in hold.get_attribute("title")
    page.locator("[data-robot='RB-01']").click()
    page.locator(".panel-why li").first.wait_for()
    assert page.locator(".floor-panel").get_by_role("button", name="Charge").is_disabled()


STYLED = "[...document.querySelectorAll('link[rel=stylesheet]')].every(link => link.sheet)"
"""A page is measured as a person sees it: never before its styles are there."""


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_it_fits_a_phone_and_keeps_its_place(floor: Floor, page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(floor.url, wait_until="commit")
    page.locator("[data-floor] canvas").wait_for()
    page.wait_for_function(STYLED)
    height = page.locator("[data-floor] .floor-map").bounding_box()["height"]
    frames(page, 2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("[data-floor] .floor-map").bounding_box()["height"] == pytest.approx(height, abs=2)
    assert page.locator("[data-robot]").count() == 10
