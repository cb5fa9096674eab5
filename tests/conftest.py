"""What tests may ask of the machine.

A test that needs something from outside Python says so: `@pytest.mark.needs("chromium")`, or the fixture `executable`
for its path. Where the thing is missing the test is skipped by name, with a sentence; with CI=true it fails instead.
"""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Speed depends on who else uses the machine, so no example is judged by its time.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("house")

REPOSITORY = Path(__file__).resolve().parents[1]


def find_executable(*names: str) -> str | None:
    """The first of `names` on the path; the environment's own scripts, such as Node from PyPI, count too."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def find_module(name: str) -> str | None:
    return name if importlib.util.find_spec(name) else None


FINDERS: dict[str, tuple[Callable[[], str | None], str]] = {
    "chromium": (lambda: find_executable("chromium"), "install the Debian package chromium"),
    "node": (lambda: find_executable("node"), "run make setup, which installs Node from PyPI"),
    "npm": (lambda: find_executable("npm"), "run make setup, which installs Node from PyPI"),
    "git": (lambda: find_executable("git"), "install the Debian package git"),
    "mosquitto": (lambda: find_executable("mosquitto"), "install the Debian package mosquitto"),
    "arcadedb": (lambda: find_module("arcadedb_embedded"), "run make setup, which installs arcadedb-embedded"),
    "playwright": (lambda: find_module("playwright"), "run make setup, which installs playwright"),
}


def require(thing: str) -> str:
    """Where `thing` is; without it the test is skipped, or fails where nothing may be missing."""
    if thing not in FINDERS:
        pytest.fail(f"No test can need {thing!r}; known are {', '.join(sorted(FINDERS))}.")
    find, remedy = FINDERS[thing]
    found = find()
    if found is None:
        missing = f"{thing} is missing on this machine; {remedy}."
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*things): skip, or fail with CI=true, where one of them is missing")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for thing in marker.args:
            require(thing)


@pytest.fixture(scope="session")
def executable() -> Callable[[str], Path]:
    """`executable("npm")`: the path of a program the test needs."""
    return lambda name: Path(require(name))


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY
