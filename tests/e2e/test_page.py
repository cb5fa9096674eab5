"""A person opens the page, reads the demo's plan, sees what it would do, approves it and watches it complete."""

import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

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

home, workspace, port, token = sys.argv[1:]
flags = {"home": home, "workspace": workspace, "port": int(port), "token": token or None}
configure_logs()
asyncio.run(serve(load_settings(flags, {}), ready=lambda url: print(url, flush=True)))
"""


class Served:
    """A server process over one home, which can be stopped and started again on the same port."""

    def __init__(self, folder: Path, token: str = "") -> None:
        self.folder, self.token, self.port = folder, token, 0
        self.process: subprocess.Popen[str] | None = None
        self.url = self.start()

    def start(self) -> str:
        given = [str(self.folder / "home"), str(self.folder / "workspace"), str(self.port), self.token]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", RUN, *given], stdout=subprocess.PIPE, stderr=log, text=True, cwd=self.folder
            )
        assert self.process.stdout is not None
        url = self.process.stdout.readline().strip()
        assert url, (self.folder / "log").read_text()
        self.port = int(url.rpartition(":")[2])
        return url

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.communicate(timeout=60)
            self.process = None

    def call(self, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())


@pytest.fixture
def served(tmp_path: Path, repository: Path) -> Iterator[Served]:
    shutil.copytree(repository / "examples" / "demo" / "workspace", tmp_path / "workspace")
    server = Served(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def demo(repository: Path) -> Any:
    return yaml.safe_load((repository / "examples" / "demo" / "plan.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def page(executable: Callable[[str], Path]) -> Iterator[Any]:
    """A page in Chromium; whatever it complains about on its console fails the test."""
    from playwright.sync_api import sync_playwright

    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(executable("chromium")), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.complaints = complaints
        yield page
        browser.close()


def test_a_person_reviews_the_demo_and_watches_it_complete(served: Served, demo: Any, page: Any) -> None:
    page.goto(served.url)
    page.get_by_text("Nothing waits for you.").wait_for()
    page.locator("#live.on").wait_for()
    served.call("/plans", {"plan": demo})

    review = page.locator(".decision", has_text="Review: Prepare release 2.0.0")
    review.wait_for()
    assert review.locator(".steps-told li").count() == 8
    assert page.locator("#waiting").inner_text() == "1 needs you"
    review.get_by_role("button", name="See what it would do").click()
    review.locator(".diff .in", has_text='"version": "2.0.0"').first.wait_for()
    assert "1.4.2" in (served.folder / "workspace" / "settings.json").read_text()

    review.get_by_role("button", name="Start").click()
    run = page.locator(".run", has_text="Prepare release 2.0.0")
    run.get_by_text("Waits for you").first.wait_for()
    approval = page.locator(".decision", has_text="Set the version in the settings")
    approval.locator(".diff .out", has_text="1.4.2").wait_for()
    approval.get_by_role("button", name="Approve").click()
    page.locator(".decision", has_text="Delete the settings of the old layout").get_by_role(
        "button", name="Approve"
    ).click()

    run.locator("header .mark", has_text="Completed").wait_for()
    page.get_by_text("Nothing waits for you.").wait_for()
    assert "2.0.0" in (served.folder / "workspace" / "settings.json").read_text()
    assert not (served.folder / "workspace" / "old_settings.ini").exists()
    assert page.complaints == []


def test_a_question_is_answered_in_words_and_typing_is_not_disturbed(served: Served, page: Any) -> None:
    page.goto(served.url)
    page.locator("#live.on").wait_for()
    ask = {"id": "ask", "tool": "ask_person", "args": {"question": "Which colour?"}}
    plan = served.call("/plans", {"plan": {"name": "Paint", "steps": [ask]}})
    run = served.call(f"/plans/{plan['id']}/runs", {"version": 1})
    card = page.locator(".decision", has_text="Which colour?")
    card.get_by_role("button", name="Answer").click()
    card.get_by_text("Write an answer first.").wait_for()
    card.get_by_label("Your answer").fill("bl")
    other = served.call("/plans", {"plan": {"name": "Meanwhile", "steps": [ask]}})
    page.locator(".decision", has_text="Meanwhile").wait_for()
    card.get_by_label("Your answer").press_sequentially("ue")
    card.get_by_label("Your answer").press("Enter")
    page.locator(".run", has_text="Paint").locator("header .mark", has_text="Completed").wait_for()
    assert served.call(f"/runs/{run['runId']}")["steps"][0]["result"]["value"] == "blue"
    assert other["decision"]["id"] in {one["id"] for one in served.call("/inbox")}
    assert page.complaints == []


def test_the_page_says_when_the_server_is_gone_and_catches_up(served: Served, demo: Any, page: Any) -> None:
    page.goto(served.url)
    page.locator("#live.on").wait_for()
    served.stop()
    page.locator("#live.off").wait_for()
    served.start()
    served.call("/plans", {"plan": demo})
    page.locator("#live.on").wait_for()
    page.locator(".decision", has_text="Prepare release 2.0.0").wait_for()


def test_what_somebody_wrote_stays_text(served: Served, page: Any) -> None:
    evil = "<img src=x onerror=document.title='owned'>"
    served.call("/plans", {"plan": {"name": evil, "steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}})
    page.goto(served.url)
    page.locator("h3", has_text="<img src=x").wait_for()
    assert page.title() != "owned"


def test_a_refusal_is_shown_where_it_was_asked(served: Served, demo: Any, page: Any) -> None:
    plan = served.call("/plans", {"plan": demo})
    page.goto(served.url)
    page.locator("#live.on").wait_for()
    page.route("**/page/now", lambda route: route.abort())
    served.call(f"/plans/{plan['id']}/runs", {"version": 1})
    review = page.locator(".decision", has_text="Review: Prepare release")
    review.get_by_role("button", name="Start").click()
    review.locator(".said.wrong", has_text="answered").wait_for()


def test_with_tokens_a_person_logs_in_and_out(tmp_path: Path, page: Any) -> None:
    (tmp_path / "workspace").mkdir()
    served = Served(tmp_path, token="open sesame; ü")
    try:
        page.goto(served.url)
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Log in").click()
        page.get_by_text("not known").wait_for()
        page.get_by_label("Token").fill("open sesame; ü")
        page.get_by_role("button", name="Log in").click()
        page.locator("#live.on").wait_for()
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Token").wait_for()
    finally:
        served.stop()


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_it_fits_a_phone_in_both_schemes(served: Served, demo: Any, page: Any, scheme: str) -> None:
    plan = served.call("/plans", {"plan": demo})
    served.call(f"/plans/{plan['id']}/runs", {"version": 1})
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(served.url)
    page.locator(".decision .diff").first.wait_for()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 200) == (scheme == "dark")
