"""The console in a real browser, against a real server.

It is built first, if its sources have changed since; tests in other processes wait for that. A test asks for `up`,
which starts servers, and for `pages`, which opens pages; `page` is one page of a server with the demo's scenes.
"""

import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.e2e.console.browser import FLAGS, Pages
from tests.e2e.console.serving import Up, stop_all

HERE = Path(__file__).parent
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.needs("chromium", "playwright", "npm"))
            # A browser belongs to one event loop, so its tests run on that; the first marker is the one that counts.
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session")
def built(repository: Path) -> None:
    """All packages, for axe is among them, and the console itself."""
    for words in (["packages"], []):
        done = subprocess.run(
            [sys.executable, str(repository / "scripts" / "console.py"), *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest_asyncio.fixture(loop_scope="session")
async def up(built: None, tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Up]]]:
    """`await up("weld_star", speed=20, tokens={"ann": "operator"})`: a server of the test's own, stopped at its end."""
    servers: list[Up] = []

    async def start(*scenes: str, **options: Any) -> Up:
        servers.append(Up(tmp_path / f"server-{len(servers)}", *scenes, **options))
        return await servers[-1].start()

    yield start
    await stop_all(servers)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(executable: Callable[[str], Path]) -> AsyncIterator[Any]:
    """One browser for each process of tests."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=str(executable("chromium")), args=FLAGS)
        yield opened
        await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def pages(browser: Any, request: pytest.FixtureRequest) -> AsyncIterator[Pages]:
    """Pages of the test's own. What they show when it fails is a part of its report."""
    opened = Pages(browser)
    yield opened
    if request.node.stash.get(FAILED, False):
        sys.stdout.write(await opened.shown())
    await opened.close()
    assert opened.unexpected() == []


@pytest_asyncio.fixture(loop_scope="session")
async def demo(up: Callable[..., Awaitable[Up]]) -> Up:
    """The scenes of the demo, twenty times as fast as life."""
    return await up("weld_star", "cross_dock", speed=20)


@pytest_asyncio.fixture(loop_scope="session")
async def page(demo: Up, pages: Pages) -> Any:
    return await pages.new(demo)
